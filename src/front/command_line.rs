//! NVIDIA's command line: what the inputs are, where the output goes, and for which GPU.
//!
//! All arguments are kept as they came; only the words of inputs and of the output are replaced where other files stand
//! for them. Nothing is refused: the real assembler decides what is wrong with its command line. What follows an option
//! that is not known here may be its value or an input, so such a command is left alone, and so is one that the assembler
//! will complain of. An unknown option whose value is in the same argument is kept like others.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The options that take a value, which is the next argument or follows an equals sign: long and short names.
const WITH_VALUE: [(&str, &str); 26] = [
    ("Ofast-compile", "Ofc"),
    ("allow-expensive-optimizations", "allow-expensive-optimizations"),
    ("apply-controls", "apply-controls"),
    ("def-load-cache", "dlcm"),
    ("def-store-cache", "dscm"),
    ("device-function-maxrregcount", "func-maxrregcount"),
    ("device-stack-protector", "device-stack-protector"),
    ("enable-func-clone-sc", "enable-func-clone-sc"),
    ("entry", "e"),
    ("fmad", "fmad"),
    ("force-load-cache", "flcm"),
    ("force-store-cache", "fscm"),
    ("gpu-name", "arch"),
    ("input-as-string", "ias"),
    ("machine", "m"),
    ("maxntid", "maxntid"),
    ("maxrregcount", "maxrregcount"),
    ("minnctapersm", "minnctapersm"),
    // Its short form, `-O3`, is one argument.
    ("opt-level", ""),
    ("options-file", "optf"),
    ("output-file", "o"),
    ("position-independent-code", "pic"),
    // In no list of the assembler's; Triton has it.
    ("regAllocOptLevel", "regAllocOptLevel"),
    ("register-usage-level", "regUsageLevel"),
    ("sanitize", "sanitize"),
    ("split-compile", "split-compile"),
];

/// The other options that the assemblers tell of: they have no value.
const WITHOUT_VALUE: [(&str, &str); 35] = [
    ("compile-as-tools-patch", "astoolspatch"),
    ("compile-only", "c"),
    ("compiler-annotations", "annotate"),
    ("device-debug", "g"),
    ("disable-optimizer-constants", "disable-optimizer-consts"),
    ("disable-warnings", "w"),
    ("dont-merge-basicblocks", "no-bb-merge"),
    ("extensible-whole-program", "ewp"),
    ("g-tensor-memory-access-check", "g-tmem-access-check"),
    ("generate-line-info", "lineinfo"),
    ("gno-fabric-access-check", "gno-fabric-access-check"),
    ("gno-tensor-memory-access-check", "gno-tmem-access-check"),
    ("jobserver", "jobserver"),
    ("legacy-bar-warp-wide-behavior", "legacy-bar-warp-wide-behavior"),
    ("make-errors-visible-at-exit", "make-errors-visible-at-exit"),
    // With its value in the same argument.
    ("", "m32"),
    ("", "m64"),
    ("optimize-float-atomics", "opt-fp-atomics"),
    ("override-directive-values", "override-directive-values"),
    ("preserve-relocs", "preserve-relocs"),
    ("return-at-end", "ret-end"),
    ("sp-bounds-check", "sp-bounds-check"),
    ("suppress-async-bulk-multicast-advisory-warning", "suppress-async-bulk-multicast-advisory-warning"),
    ("suppress-debug-info", "suppress-debug-info"),
    ("suppress-double-demote-warning", "suppress-double-demote-warning"),
    ("suppress-position-independent-code-warning", "suppress-position-independent-code-warning"),
    ("suppress-sparse-mma-advisory-info", "suppress-sparse-mma-advisory-info"),
    ("suppress-stack-size-warning", "suppress-stack-size-warning"),
    ("verbose", "v"),
    ("verbose2", "v2"),
    ("version", "V"),
    ("warn-on-double-precision-use", "warn-double-usage"),
    ("warn-on-local-memory-usage", "warn-lmem-usage"),
    ("warn-on-spills", "warn-spills"),
    ("warning-as-error", "Werror"),
];

/// Options that are in no list of the assembler's, with which it writes further files or answers at once.
const UNTOLD: [&str; 2] = ["fdevice-time-trace", "query-controls"];

/// Options that only ask for something to be printed.
const ASKS: [(&str, &str); 3] = [("help", "h"), ("list-arch", "arch-ls"), ("list-version", "version-ls")];

/// How deep files of options may name each other.
const MOST_FILES: usize = 20;

/// Where the assembler writes if nothing is said.
const DEFAULT_OUTPUT: &str = "elf.o";

/// What a command line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// The version.
    Version,
    /// Something in which there is nothing to optimise, or, with a reason, something that is assembled as it is.
    Untouched(Option<String>),
    /// Assembling.
    Assembly(Assembly),
}

/// A command that assembles.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Assembly {
    words: Vec<Word>,
    /// The inputs, in their order; at least one.
    pub(super) inputs: Vec<Source>,
    /// Where the result goes.
    pub(super) output: PathBuf,
    /// The GPU, such as `sm_90a`.
    pub(super) gpu: String,
    /// Whether it prints statistics.
    pub(super) verbose: bool,
}

/// An input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// Standard input, written `-`.
    Stdin,
    /// A file.
    File(PathBuf),
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Stdin => f.write_str("<stdin>"),
            Self::File(path) => path.display().fmt(f),
        }
    }
}

/// An argument.
#[derive(Debug, PartialEq, Eq)]
enum Word {
    Kept(OsString),
    /// The next input.
    Input(OsString),
    /// Part of the option that names the output.
    Output(OsString),
}

impl Assembly {
    /// The arguments with other files as inputs, where there are some, and with another output, if one is given.
    pub(super) fn arguments(&self, inputs: &[Option<PathBuf>], output: Option<&Path>) -> Vec<OsString> {
        let mut inputs = inputs.iter();
        let mut arguments = Vec::new();
        for word in &self.words {
            match word {
                Word::Output(_) if output.is_some() => {}
                Word::Kept(word) | Word::Output(word) => arguments.push(word.clone()),
                Word::Input(word) => {
                    let other = inputs.next().and_then(Option::as_ref);
                    arguments.push(other.map_or_else(|| word.clone(), |path| path.clone().into_os_string()));
                }
            }
        }
        if let Some(output) = output {
            arguments.extend(["--output-file".into(), output.as_os_str().to_owned()]);
        }
        arguments
    }
}

/// What a command line asks for; files of options are read by `read`.
pub(super) fn understand(arguments: &[OsString], read: &dyn Fn(&str) -> Option<String>) -> Asked {
    let mut reader = Reader { read, files: 0, found: Found::default() };
    if let Err(why) = reader.arguments(arguments) {
        return Asked::Untouched(Some(why));
    }
    reader.found.asked()
}

/// What was found on a command line.
#[derive(Default)]
struct Found {
    words: Vec<Word>,
    inputs: Vec<Source>,
    output: Option<PathBuf>,
    gpu: Option<String>,
    verbose: bool,
    version: bool,
    asks: bool,
    debug: bool,
    /// Whether the assembler will complain of how the output is named.
    odd_output: bool,
}

impl Found {
    fn asked(self) -> Asked {
        if self.asks || self.inputs.is_empty() && !self.version {
            return Asked::Untouched(None);
        }
        if self.version {
            return Asked::Version;
        }
        if self.odd_output {
            return Asked::Untouched(None);
        }
        if self.debug {
            // Debug information names the registers of the text as it came.
            return Asked::Untouched(None);
        }
        if self.inputs.iter().filter(|input| **input == Source::Stdin).count() > 1 {
            return Asked::Untouched(Some("standard input is named twice".to_owned()));
        }
        let Some(gpu) = self.gpu else {
            return Asked::Untouched(Some("no `--gpu-name` says for which GPU".to_owned()));
        };
        if !gpu.starts_with("sm_") {
            // Of a virtual architecture, no code is generated.
            return Asked::Untouched(None);
        }
        let output = self.output.unwrap_or_else(|| PathBuf::from(DEFAULT_OUTPUT));
        let (words, inputs, verbose) = (self.words, self.inputs, self.verbose);
        Asked::Assembly(Assembly { words, inputs, output, gpu, verbose })
    }
}

struct Reader<'r> {
    read: &'r dyn Fn(&str) -> Option<String>,
    files: usize,
    found: Found,
}

impl Reader<'_> {
    fn arguments(&mut self, arguments: &[OsString]) -> Result<(), String> {
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match option(argument)? {
                None => self.input(argument),
                Some(Switch { name, value: Some(value) }) if !is_untold(name) => {
                    self.option(name, &[argument], Some(OsStr::new(value)))?;
                }
                Some(Switch { name, value: None }) if takes_value(name) => match arguments.next() {
                    Some(value) => self.option(name, &[argument, value], Some(value))?,
                    None => self.option(name, &[argument], None)?,
                },
                Some(Switch { name, value: None }) if is_flag(name) => {
                    self.option(name, &[argument], None)?;
                }
                Some(_) => return Err(format!("the option `{}` is not known", argument.display())),
            }
        }
        Ok(())
    }

    fn input(&mut self, argument: &OsString) {
        let stdin = argument == "-";
        self.found.inputs.push(if stdin { Source::Stdin } else { Source::File(argument.into()) });
        self.found.words.push(Word::Input(argument.clone()));
    }

    fn option(&mut self, name: Name<'_>, words: &[&OsString], value: Option<&OsStr>) -> Result<(), String> {
        let found = &mut self.found;
        let text = || value.and_then(OsStr::to_str);
        if name.is("options-file", "optf") {
            let files = text().ok_or("the file of options has no name that is text")?;
            return files.split(',').try_for_each(|file| self.file(file));
        }
        if name.is("input-as-string", "ias") {
            return Err("PTX stands on the command line".to_owned());
        }
        if name.is("output-file", "o") {
            found.odd_output |= value.is_none() || found.output.is_some();
            found.output = value.map(PathBuf::from);
            found.words.extend(words.iter().map(|&word| Word::Output(word.clone())));
            return Ok(());
        }
        if name.is("gpu-name", "arch") {
            found.gpu = text().map(str::to_owned);
        }
        found.verbose |= name.is("verbose", "v") || name.is("verbose2", "v2");
        found.version |= name.is("version", "V");
        found.debug |= name.is("device-debug", "g");
        found.asks |= ASKS.iter().any(|(long, short)| name.is(long, short));
        found.words.extend(words.iter().map(|&word| Word::Kept(word.clone())));
        Ok(())
    }

    fn file(&mut self, file: &str) -> Result<(), String> {
        self.files += 1;
        if self.files > MOST_FILES {
            return Err("files of options name each other".to_owned());
        }
        let text = (self.read)(file).ok_or_else(|| format!("the options in `{file}` cannot be read"))?;
        let arguments = split(&text).ok_or_else(|| format!("the options in `{file}` are oddly quoted"))?;
        self.arguments(&arguments)
    }
}

/// An option, with its value if that is in the same argument.
struct Switch<'a> {
    name: Name<'a>,
    value: Option<&'a str>,
}

/// The name of an option.
#[derive(Clone, Copy)]
enum Name<'a> {
    /// After two dashes.
    Long(&'a str),
    /// After one.
    Short(&'a str),
}

impl Name<'_> {
    fn is(self, long: &str, short: &str) -> bool {
        match self {
            Self::Long(name) => name == long && !long.is_empty(),
            Self::Short(name) => name == short && !short.is_empty(),
        }
    }
}

fn takes_value(name: Name<'_>) -> bool {
    WITH_VALUE.iter().any(|(long, short)| name.is(long, short))
}

fn is_untold(name: Name<'_>) -> bool {
    UNTOLD.iter().any(|untold| name.is(untold, untold))
}

fn is_flag(name: Name<'_>) -> bool {
    let level = |short: &str| short.strip_prefix('O').is_some_and(|level| level.parse::<u8>().is_ok());
    WITHOUT_VALUE.iter().chain(&ASKS).any(|(long, short)| name.is(long, short))
        || matches!(name, Name::Short(short) if level(short))
}

/// The option that an argument is; `None` for an input.
fn option(argument: &OsStr) -> Result<Option<Switch<'_>>, String> {
    if !argument.as_encoded_bytes().starts_with(b"-") || argument == "-" {
        return Ok(None);
    }
    let text = argument.to_str().ok_or("an option is not text")?;
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    let name = match name.strip_prefix("--") {
        Some(long) => Name::Long(long),
        None => Name::Short(&name[1..]),
    };
    Ok(Some(Switch { name, value }))
}

/// The arguments in a file: between blanks, which double quotes and backslashes make part of an argument. `None` where
/// the assemblers do not agree with that, or refuse it: a quote that is not closed or comes after a backslash, and a
/// backslash at the end.
fn split(text: &str) -> Option<Vec<OsString>> {
    let mut arguments = Vec::new();
    let (mut argument, mut begun, mut quoted) = (String::new(), false, false);
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => (begun, quoted) = (true, !quoted),
            '\\' => {
                begun = true;
                argument.push(characters.next().filter(|&next| next != '"')?);
            }
            // No blank for the assemblers.
            '\u{c}' => return None,
            blank if blank.is_ascii_whitespace() && !quoted => {
                if std::mem::take(&mut begun) {
                    arguments.push(std::mem::take(&mut argument).into());
                }
            }
            other => {
                begun = true;
                argument.push(other);
            }
        }
    }
    if begun {
        arguments.push(argument.into());
    }
    (!quoted).then_some(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn understood(line: &str) -> Asked {
        let files = |name: &str| match name {
            "more" => Some("--gpu-name sm_80 \"a b.ptx\" c\\ d.ptx\n-o out.cubin".to_owned()),
            "itself" => Some("-optf itself".to_owned()),
            "open" => Some("k.ptx -arch sm_80 -o \"x".to_owned()),
            "escaped" => Some("k.ptx -arch sm_80 -o \\\"x\\\"".to_owned()),
            "ends" => Some("k.ptx -arch sm_80 -o x\\".to_owned()),
            _ => None,
        };
        understand(&split(line).expect("it is well quoted"), &files)
    }

    fn assembly(line: &str) -> Assembly {
        let asked = understood(line);
        let Asked::Assembly(assembly) = asked else { panic!("{line}: {asked:?}") };
        assembly
    }

    fn names(assembly: &Assembly) -> Vec<String> {
        assembly.inputs.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_lines_of_clang_triton_and_nvcc_are_understood() {
        for (line, gpu, input, output, verbose) in [
            ("-m64 -O3 --gpu-name sm_75 --output-file k.cubin k.s", "sm_75", "k.s", "k.cubin", false),
            ("-m64 -O3 -v --gpu-name sm_86 --output-file /t/k.o /t/k.s", "sm_86", "/t/k.s", "/t/k.o", true),
            ("-lineinfo -v --gpu-name=sm_90a f.ptx -o f.ptx.o", "sm_90a", "f.ptx", "f.ptx.o", true),
            ("-arch=sm_90 -m64 --generate-line-info k.ptx -o k.cubin", "sm_90", "k.ptx", "k.cubin", false),
            ("-arch sm_90 -m 64 -maxrregcount 32 k.ptx", "sm_90", "k.ptx", "elf.o", false),
            ("-O3 -dlcm ca -e main,other -arch=sm_52 -", "sm_52", "<stdin>", "elf.o", false),
            ("-arch sm_70 --gpu-name=sm_75 --opt-level 3 -Ofc max k.ptx", "sm_75", "k.ptx", "elf.o", false),
        ] {
            let assembly = assembly(line);
            assert_eq!(names(&assembly), [input], "{line}");
            assert_eq!((&*assembly.gpu, assembly.verbose), (gpu, verbose), "{line}");
            assert_eq!(assembly.output, Path::new(output), "{line}");
        }
    }

    #[test]
    fn arguments_come_back_as_they_were_but_for_files() {
        let line = "-lineinfo a.ptx -arch=sm_90 -o x.cubin -v b.ptx";
        let assembly = assembly(line);
        assert_eq!(Some(assembly.arguments(&[None, None], None)), split(line));
        let changed = assembly.arguments(&[None, Some("/tmp/b.ptx".into())], Some(Path::new("/tmp/y")));
        assert_eq!(Some(changed), split("-lineinfo a.ptx -arch=sm_90 -v /tmp/b.ptx --output-file /tmp/y"));
    }

    #[test]
    fn files_of_options_are_read_as_the_assembler_reads_them() {
        let all = assembly("-v -optf=more -O2");
        assert_eq!(names(&all), ["a b.ptx", "c d.ptx"]);
        assert_eq!((&*all.gpu, all.output.as_path()), ("sm_80", Path::new("out.cubin")));
        for wrong in [
            "--options-file nowhere",
            "-optf itself k.ptx -arch sm_80",
            "-optf open",
            "-optf escaped",
            "-optf ends",
        ] {
            assert!(matches!(understood(wrong), Asked::Untouched(Some(_))), "{wrong}");
        }
        // The assembler opens a file of this name.
        assert_eq!(names(&assembly("@more -arch sm_80")), ["@more"]);
    }

    #[test]
    fn what_is_not_to_be_optimised_is_left_to_the_assembler() {
        for line in [
            "",
            "--help",
            "-h",
            "-arch sm_90",
            "--list-arch",
            "-g -arch=sm_90 k.ptx",
            "--device-debug -arch=sm_90 k.ptx",
            "-arch compute_90 k.ptx",
            "-arch sm_90 k.ptx -v -o",
            "-arch sm_90 k.ptx -v -o x -o y",
        ] {
            assert_eq!(understood(line), Asked::Untouched(None), "{line}");
        }
        for line in [
            "k.ptx",
            "-ias .version -arch sm_90",
            "-arch sm_90 - -",
            "-arch",
            "-arch sm_90 k.ptx --tool-name foo",
            "-arch sm_90 k.ptx -fdevice-time-trace=t.json",
        ] {
            let quiet = line == "-arch";
            assert!(matches!(understood(line), Asked::Untouched(why) if why.is_none() == quiet), "{line}");
        }
        for line in ["--version", "-V", "-V k.ptx"] {
            assert_eq!(understood(line), Asked::Version, "{line}");
        }
    }
}
