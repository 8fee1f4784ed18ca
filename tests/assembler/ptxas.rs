//! Runs NVIDIA's assembler, and compares what it makes.

use crate::assemblers::{self, VERSIONS};
use object::{Object, ObjectSection};
use ptxopt::measure::Measured;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// The assemblers that were found, the newest first, each with the lowest target that it takes.
pub(crate) struct Assemblers {
    list: Vec<(PathBuf, u32)>,
    measuring: assemblers::Assemblers,
}

impl Assemblers {
    /// `None`, and a line that says so, where they are absent and may be.
    pub(crate) fn find() -> Option<Self> {
        let folder = assemblers::folder();
        if let Some(measuring) = assemblers::Assemblers::installed() {
            let list =
                VERSIONS.map(|(version, lowest)| (folder.join(version).join("ptxas"), lowest)).to_vec();
            return Some(Self { list, measuring });
        }
        let required = std::env::var_os("PTXOPT_REQUIRE_ASSEMBLER").is_some();
        assert!(!required, "NVIDIA's assembler is not in {}", folder.display());
        // Not by a macro of the standard library: the test harness would keep that to itself.
        let folder = folder.display();
        let line = format!("SKIPPED: NVIDIA's assembler is not in {folder}; `sh .ci/tools` puts it there\n");
        std::io::stderr().write_all(line.as_bytes()).expect("stderr can be written");
        None
    }

    /// Assembles with the newest assembler that takes `target`, such as `sm_90a`.
    pub(crate) fn assemble(&self, text: &[u8], target: &str) -> Result<MachineCode, String> {
        MachineCode::read(&self.cubin(text, target)?, "")
    }

    /// Assembles like that, and returns what each of some kernels became.
    pub(crate) fn assemble_each(
        &self,
        text: &[u8],
        target: &str,
        kernels: &[String],
    ) -> Result<Vec<MachineCode>, String> {
        let cubin = self.cubin(text, target)?;
        kernels.iter().map(|kernel| MachineCode::read(&cubin, &format!(".{kernel}"))).collect()
    }

    fn cubin(&self, text: &[u8], target: &str) -> Result<Vec<u8>, String> {
        let number: String = target.chars().filter(char::is_ascii_digit).collect();
        let number: u32 = number.parse().map_err(|_| format!("`{target}` is no target"))?;
        let fitting = self.list.iter().find(|(_, lowest)| *lowest <= number);
        let (program, lowest) = fitting.unwrap_or(&self.list[self.list.len() - 1]);
        let target = if number < *lowest { format!("sm_{lowest}") } else { target.replace("compute", "sm") };
        // A module may call what another one defines, and then it must not be linked; a few forms need to be.
        let code = run(program, text, &target, &["-c"]).or_else(|_| run(program, text, &target, &[]))?;
        Ok(code.0)
    }

    /// What the newest assembler that takes `target` says against a text; `None` if nothing.
    pub(crate) fn refusal(&self, text: &[u8], target: &str) -> Option<String> {
        let number: String = target.chars().filter(char::is_ascii_digit).collect();
        let number: u32 = number.parse().unwrap_or(75);
        let fitting = self.list.iter().find(|(_, lowest)| *lowest <= number);
        let (program, lowest) = fitting.unwrap_or(&self.list[self.list.len() - 1]);
        let target = if number < *lowest { format!("sm_{lowest}") } else { target.replace("compute", "sm") };
        let quick = run(program, text, &target, &["-c", "-O0"]);
        quick.or_else(|_| run(program, text, &target, &["-O0"])).err()
    }

    /// The listing of what one version of the assembler makes of `text`.
    pub(crate) fn disassembled(&self, version: &str, text: &[u8], target: &str) -> Result<String, String> {
        let at =
            VERSIONS.iter().position(|(known, _)| *known == version).expect("the version is a known one");
        let (cubin, _) = run(&self.list[at].0, text, target, &[])?;
        let folder = tempfile::tempdir().expect("a folder for temporary files can be made");
        let input = folder.path().join("in.cubin");
        std::fs::write(&input, cubin).expect("a temporary file can be written");
        let program = self.list[0].0.with_file_name("nvdisasm");
        let result = Command::new(&program)
            .arg("-c")
            .arg(&input)
            .output()
            .map_err(|error| format!("{} does not run: {error}", program.display()))?;
        Ok(String::from_utf8_lossy(&result.stdout).into_owned())
    }

    /// What the newest assembler that takes `target` makes of each function of `text`; several tests measure the
    /// same texts, which are assembled once.
    pub(crate) fn measure(&self, text: &[u8], target: &str) -> Result<Measured, String> {
        static KNOWN: Mutex<BTreeMap<(u64, String), Result<Measured, String>>> = Mutex::new(BTreeMap::new());
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let key = (hasher.finish(), target.to_owned());
        if let Some(known) = KNOWN.lock().expect("no thread panics").get(&key) {
            return known.clone();
        }
        let found = self.measuring.measure(text, target).map_err(|failure| failure.to_string());
        KNOWN.lock().expect("no thread panics").insert(key, found.clone());
        found
    }

    /// Those that measure.
    pub(crate) fn measuring(&self) -> &assemblers::Assemblers {
        &self.measuring
    }
}

/// The cubin, and what the assembler said.
fn run(program: &Path, text: &[u8], target: &str, options: &[&str]) -> Result<(Vec<u8>, String), String> {
    let folder = tempfile::tempdir().expect("a folder for temporary files can be made");
    let (input, output) = (folder.path().join("in.ptx"), folder.path().join("out.cubin"));
    std::fs::write(&input, text).expect("a temporary file can be written");
    let result = Command::new(program)
        .args(options)
        .arg(format!("-arch={target}"))
        .arg("-o")
        .args([&output, &input])
        .output()
        .map_err(|error| format!("{} does not run: {error}", program.display()))?;
    let said = String::from_utf8_lossy(&[result.stdout, result.stderr].concat()).into_owned();
    if !result.status.success() {
        return Err(said.replace(&*input.to_string_lossy(), "in.ptx"));
    }
    Ok((std::fs::read(&output).map_err(|error| error.to_string())?, said))
}

/// The instructions of a cubin and what they refer to, section by section, without the names of the sections.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct MachineCode {
    sections: Vec<Vec<u8>>,
}

impl MachineCode {
    /// Of the sections whose names end like that.
    fn read(cubin: &[u8], end: &str) -> Result<Self, String> {
        let file =
            object::File::parse(cubin).map_err(|error| format!("the cubin cannot be read: {error}"))?;
        let mut sections = Vec::new();
        for section in file.sections() {
            let name = section.name().unwrap_or_default();
            let is_code = name.starts_with(".text") || name.starts_with(".nv.constant");
            if is_code && name.ends_with(end) {
                sections.push(section.data().map_err(|error| error.to_string())?.to_vec());
            }
        }
        Ok(Self { sections })
    }

    /// How many bytes of instructions and constants there are.
    pub(crate) fn len(&self) -> usize {
        self.sections.iter().map(Vec::len).sum()
    }
}

/// The first word of the module's `.target`.
pub(crate) fn target(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let line = text.split(".target").nth(1).unwrap_or_default();
    line.trim_start().split([',', ' ', '\t', '\r', '\n']).next().unwrap_or_default().to_owned()
}
