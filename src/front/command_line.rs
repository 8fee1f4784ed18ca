//! NVIDIA's command line: what the inputs are, where the output goes, and for which GPU.
//!
//! All arguments are kept as they came; only the words of inputs and of the output are replaced where other files stand
//! for them. Nothing is refused: the real assembler decides what is wrong with its command line. What follows an option
//! that is not known here may be its value or an input, so such a command is left alone, and so is one that the assembler
//! will complain of. An unknown option whose value is in the same argument is kept like others.

use super::options::{Name, Switch, is_flag, is_question, is_untold, option, takes_value};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// How deep files of options may name each other.
const MOST_FILES: usize = 20;

/// Where the assembler writes if nothing is said.
const DEFAULT_OUTPUT: &str = "elf.o";

/// What a command line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// The version.
    Version,
    /// Something else that is answered without assembling.
    Answer,
    /// Something that is assembled as it is, or refused.
    Untouched(Untouched),
    /// Assembling.
    Assembly(Assembly),
}

/// A command whose inputs are not optimised.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Untouched {
    /// The inputs and the GPU, as far as they were found.
    pub(super) of: String,
    pub(super) why: String,
    /// Whether the user may have expected something else.
    pub(super) is_odd: bool,
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

impl Asked {
    /// What is assembled, or was to be: the inputs and the GPU.
    pub(super) fn of(&self) -> Option<String> {
        match self {
            Self::Version | Self::Answer => None,
            Self::Untouched(untouched) => Some(untouched.of.clone()),
            Self::Assembly(assembly) => Some(assembly.of()),
        }
    }
}

/// Inputs and the GPU, as they are named in the log.
fn of(inputs: &[Source], gpu: Option<&str>) -> String {
    let names: Vec<String> = inputs.iter().map(ToString::to_string).collect();
    let names = if names.is_empty() { "no known input".to_owned() } else { names.join(", ") };
    gpu.map_or_else(|| names.clone(), |gpu| format!("{names} for {gpu}"))
}

impl Assembly {
    /// The inputs and the GPU.
    pub(super) fn of(&self) -> String {
        of(&self.inputs, Some(&self.gpu))
    }

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
        return reader.found.untouched(&why, true);
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
        if self.asks {
            return Asked::Answer;
        }
        if self.version {
            return Asked::Version;
        }
        if self.inputs.is_empty() {
            return self.untouched("nothing is to be assembled", false);
        }
        if self.odd_output {
            return self.untouched("the output is named twice, or not at all", false);
        }
        if self.debug {
            // That names the registers of the text as it came.
            return self.untouched("`-g` asks for debug information", false);
        }
        if self.inputs.iter().filter(|input| **input == Source::Stdin).count() > 1 {
            return self.untouched("standard input is named twice", true);
        }
        let Some(gpu) = self.gpu.clone() else {
            return self.untouched("no `--gpu-name` says for which GPU", true);
        };
        if !gpu.starts_with("sm_") {
            return self.untouched("of a virtual architecture, no code is generated", false);
        }
        let output = self.output.unwrap_or_else(|| PathBuf::from(DEFAULT_OUTPUT));
        let (words, inputs, verbose) = (self.words, self.inputs, self.verbose);
        Asked::Assembly(Assembly { words, inputs, output, gpu, verbose })
    }

    fn untouched(&self, why: &str, is_odd: bool) -> Asked {
        let of = of(&self.inputs, self.gpu.as_deref());
        Asked::Untouched(Untouched { of, why: why.to_owned(), is_odd })
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
        found.asks |= is_question(name);
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
            assert!(untouched(wrong).is_odd, "{wrong}");
        }
        // The assembler opens a file of this name.
        assert_eq!(names(&assembly("@more -arch sm_80")), ["@more"]);
    }

    fn untouched(line: &str) -> Untouched {
        let asked = understood(line);
        let Asked::Untouched(untouched) = asked else { panic!("{line}: {asked:?}") };
        untouched
    }

    #[test]
    fn what_is_not_to_be_optimised_is_left_to_the_assembler() {
        for (line, of, why) in [
            ("", "no known input", "nothing is to be assembled"),
            ("-arch sm_90", "no known input for sm_90", "nothing is to be assembled"),
            ("-arch", "no known input", "nothing is to be assembled"),
            ("-g -arch=sm_90 k.ptx", "k.ptx for sm_90", "`-g` asks"),
            ("--device-debug k.ptx -", "k.ptx, <stdin>", "`-g` asks"),
            ("-arch compute_90 k.ptx", "k.ptx for compute_90", "of a virtual architecture"),
            ("-arch sm_90 k.ptx -v -o", "k.ptx for sm_90", "the output is named twice, or not at all"),
            ("-arch sm_90 k.ptx -v -o x -o y", "k.ptx for sm_90", "the output is named twice"),
        ] {
            let untouched = untouched(line);
            assert_eq!((&*untouched.of, untouched.is_odd), (of, false), "{line}");
            assert!(untouched.why.starts_with(why), "{line}: {}", untouched.why);
        }
        for (line, of) in [
            ("k.ptx", "k.ptx"),
            ("-ias .version -arch sm_90", "no known input"),
            ("-arch sm_90 - -", "<stdin>, <stdin> for sm_90"),
            ("-arch sm_90 k.ptx --tool-name foo", "k.ptx for sm_90"),
            ("-arch sm_90 k.ptx -fdevice-time-trace=t.json", "k.ptx for sm_90"),
        ] {
            let untouched = untouched(line);
            assert_eq!((&*untouched.of, untouched.is_odd), (of, true), "{line}");
        }
    }

    #[test]
    fn what_only_asks_is_answered_by_the_assembler() {
        for line in ["--help", "-h", "--list-arch", "-V -h"] {
            assert_eq!(understood(line), Asked::Answer, "{line}");
        }
        for line in ["--version", "-V", "-V k.ptx"] {
            assert_eq!(understood(line), Asked::Version, "{line}");
        }
    }
}
