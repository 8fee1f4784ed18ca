//! The builder without Cargo: what it writes, and what it tells.

use super::*;
use std::fs;
use tempfile::TempDir;

const MODULE: &str = ".version 8.0\n.target sm_75\n.func (.reg .b32 %d) f(.reg .b32 %a, .reg .b32 %b)\n{\n\
    \tvavrg4.u32.u32.u32 %d, %a, %b, %a;\n\tret;\n}\n";

/// A package with a file of PTX and an empty folder for results.
struct Package(TempDir);

impl Package {
    fn new(name: &str, text: &str) -> Self {
        let package = Self(tempfile::tempdir().expect("a folder can be made"));
        fs::create_dir(package.path("out")).expect("a folder can be made");
        package.write(name, text);
        package
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("a file can be written");
    }

    /// What became of it, and what Cargo is told, both without the folder of the test.
    fn run(&self, ptx: &Ptx, variables: &[(&str, &str)]) -> (Result<Vec<String>, String>, String) {
        let variable = |name: &str| match name {
            "OUT_DIR" => Some(self.path("out").into_os_string()),
            _ => variables.iter().find(|(other, _)| *other == name).map(|(_, value)| OsString::from(*value)),
        };
        let mut told = Vec::new();
        let done = ptx.run(&variable, &mut told);
        let bare = |text: String| text.replace(&format!("{}/", self.0.path().display()), "");
        let done = done.map(|paths| paths.iter().map(|path| bare(path.display().to_string())).collect());
        (done.map_err(|error| bare(error.to_string())), bare(String::from_utf8(told).expect("it is text")))
    }

    fn written(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path("out")).expect("it is a folder");
        entries.map(|entry| entry.expect("it can be listed").file_name().to_string_lossy().into()).collect()
    }
}

/// What Cargo is told of the environment.
fn of_the_environment() -> String {
    ["PTXOPT_DISABLE", "PTXOPT_KEEP", "PTXOPT_PTXAS", "CUDA_HOME", "CUDA_PATH"]
        .map(|name| format!("cargo::rerun-if-env-changed={name}\n"))
        .concat()
}

#[test]
fn a_file_is_optimised_for_the_gpu_and_watched() {
    let package = Package::new("k.ptx", MODULE);
    let (done, told) = package.run(Ptx::new().file(package.path("k.ptx")).gpu("sm_86"), &[]);
    assert_eq!(done.expect("it is PTX"), ["out/k.ptx"]);
    assert_eq!(told, format!("cargo::rerun-if-changed=k.ptx\n{}", of_the_environment()));
    let options = Options::new().gpu("sm_86").expect("there is one");
    let expected = crate::optimize(MODULE.as_bytes(), &options).expect("it is PTX").text;
    assert_eq!(fs::read(package.path("out/k.ptx")).ok(), expected);
    assert!(expected.is_some());
}

#[test]
fn the_options_are_those_of_the_library() {
    let package = Package::new("k.ptx", MODULE);
    let options = Options::new().leave("f", "it is measured by hand");
    let (done, _) = package.run(Ptx::new().file(package.path("k.ptx")).options(options), &[]);
    assert!(done.is_ok());
    assert_eq!(fs::read_to_string(package.path("out/k.ptx")).expect("it is written"), MODULE);
}

#[test]
fn switched_off_it_copies() {
    let package = Package::new("k.ptx", MODULE);
    for (value, copied) in [("1", true), ("0", false), ("", false)] {
        let (done, _) = package.run(Ptx::new().file(package.path("k.ptx")), &[(DISABLE, value)]);
        assert!(done.is_ok());
        let written = fs::read_to_string(package.path("out/k.ptx")).expect("it is written");
        assert_eq!(written == MODULE, copied, "{value}");
    }
}

#[test]
fn what_the_script_has_made_is_replaced_and_not_watched() {
    let package = Package::new("out/k.ptx", MODULE);
    let (done, told) = package.run(Ptx::new().file(package.path("out/k.ptx")), &[]);
    assert_eq!(done.expect("it is PTX"), ["out/k.ptx"]);
    assert_eq!(told, of_the_environment());
    assert_ne!(fs::read_to_string(package.path("out/k.ptx")).expect("it is written"), MODULE);
}

#[test]
fn what_is_unknown_is_a_warning_with_its_place() {
    let package = Package::new("k.ptx", &MODULE.replace("\tret", "\tfrobnicate.b32;\n\tret"));
    let (done, told) = package.run(Ptx::new().file(package.path("k.ptx")), &[]);
    assert!(done.is_ok());
    let warnings: Vec<&str> = told.lines().filter(|line| line.starts_with("cargo::warning=")).collect();
    assert!(warnings.len() == 1 && warnings[0].starts_with("cargo::warning=k.ptx:6:2: unknown"), "{told}");
}

#[test]
fn what_is_refused_is_copied_with_a_warning_and_does_not_fail_the_build() {
    let package = Package::new("k.ptx", MODULE);
    let wrong = MODULE.replace("sm_75\n", "sm_75.address_size 64\n");
    let foreign = "; ModuleID = 'kernel.ll'\n";
    package.write("wrong.ptx", &wrong);
    package.write("foreign.ptx", foreign);
    let mut ptx = Ptx::new();
    ptx.files(["wrong.ptx", "foreign.ptx", "k.ptx"].map(|name| package.path(name)));
    let (done, told) = package.run(&ptx, &[]);
    assert_eq!(done.expect("nothing is in the way"), ["out/wrong.ptx", "out/foreign.ptx", "out/k.ptx"]);
    let out = |name| fs::read_to_string(package.path("out").join(name)).expect("it is written");
    assert_eq!((out("wrong.ptx"), out("foreign.ptx")), (wrong, foreign.to_owned()));
    assert_ne!(out("k.ptx"), MODULE, "the others are optimised");
    let warnings: Vec<&str> = told.lines().filter_map(|line| line.strip_prefix("cargo::warning=")).collect();
    let place = |name: &str| warnings.iter().any(|warning| warning.starts_with(name));
    assert!(place("wrong.ptx:2:") && place("foreign.ptx:1:1: this is "), "{told}");
    assert!(place("wrong.ptx: left as it is: ") && place("foreign.ptx: left as it is: "), "{told}");
    assert!(!place("k.ptx"), "{told}");
}

#[test]
fn what_is_wrong_is_shown_with_its_line_and_nothing_is_written_where_that_was_asked_for() {
    let package = Package::new("k.ptx", MODULE);
    package.write("bad.ptx", &MODULE.replace("%b, %a;", "%b, %a"));
    let mut ptx = Ptx::new();
    ptx.files([package.path("k.ptx"), package.path("bad.ptx"), package.path("missing.ptx")]);
    ptx.options(Options::new().strict(true));
    let (done, told) = package.run(&ptx, &[]);
    let error = done.expect_err("a semicolon is missing");
    for part in ["bad.ptx:5:", "vavrg4.u32.u32.u32 %d, %a, %b, %a", "^", "cannot read `missing.ptx`: "] {
        assert!(error.contains(part), "{error}");
    }
    assert!(error.ends_with('\n') && !error.contains('\x1b'), "{error}");
    assert_eq!(package.written(), [""; 0]);
    assert!(told.contains("rerun-if-changed=bad.ptx\n"), "mended, it is tried again: {told}");
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let package = Package::new("k.ptx", MODULE);
    let k = package.path("k.ptx");
    let mut clash = Ptx::new();
    clash.file(&k).file(package.path("other/k.ptx"));
    for (ptx, why) in [
        (Ptx::new().file(&k).gpu("sm_9000"), "`sm_9000`: there is no such GPU"),
        (Ptx::new().file(&k).gpu("sm_70"), "`k.ptx` is for `.target sm_75`"),
        (&mut clash, "`k.ptx` and `other/k.ptx` would be written to the same file"),
        (Ptx::new().file(&k).out_dir(package.path("no/such")), "cannot write `no/such/k.ptx`"),
        (Ptx::new().file(package.path("..")), "is not a file"),
        (Ptx::new().file(package.path("out")), "it is a directory"),
        (Ptx::new().file("a\nb.ptx"), "Cargo cannot be told of a file with this name"),
    ] {
        let (done, _) = package.run(ptx, &[]);
        let error = done.expect_err("it is refused");
        assert!(error.starts_with("error: ") && error.contains(why), "{error}");
        assert_eq!(package.written(), [""; 0]);
    }
    let nowhere = Ptx::new().run(&|_| None, &mut Vec::new()).expect_err("it has no place");
    assert!(nowhere.to_string().contains("`OUT_DIR` is not set"), "{nowhere}");
}

#[test]
fn a_panic_is_no_panic_of_the_script() {
    assert_eq!(guarded(|| 1), Ok(1));
    // Not by `panic!`, whose message would be in the output of the tests.
    assert_eq!(guarded(|| -> u8 { std::panic::resume_unwind(Box::new(())) }), Err(()));
}

/// A script in place of the assembler, which says its release and rejects all it is given, and writes down that it did.
#[cfg(unix)]
fn rejecting(package: &Package) -> PathBuf {
    use crate::executable::write_executable;
    fs::create_dir_all(package.path("cuda/bin")).expect("a folder can be made");
    let (program, started) = (package.path("cuda/bin/ptxas"), package.path("started"));
    let script = format!(
        "#!/bin/sh\ncase $1 in --version) echo 'Ptx optimizing assembler'; echo 'release 13.5, V13.5.37'; exit 0;; \
         esac\ntouch '{}'\necho 'ptxas fatal : Unsupported .version' >&2\nexit 255\n",
        started.display()
    );
    write_executable(&program, &script);
    program
}

#[cfg(unix)]
#[test]
fn an_assembler_at_hand_is_asked_unless_all_is_kept_and_where_it_rejects_the_file_the_result_stays() {
    for (variable, keep, asked) in
        [("PTXOPT_PTXAS", "", true), ("CUDA_HOME", "", true), ("PTXOPT_PTXAS", "always", false)]
    {
        let package = Package::new("k.ptx", MODULE);
        let program = rejecting(&package);
        let program = program.to_str().expect("the name is UTF-8");
        let value = if variable == "CUDA_HOME" { program.trim_end_matches("/bin/ptxas") } else { program };
        let variables = [(variable, value), ("PTXOPT_KEEP", keep)];
        let (done, told) = package.run(Ptx::new().file(package.path("k.ptx")), &variables);
        assert!(done.is_ok() && !told.contains("warning"), "{told}");
        assert_ne!(fs::read_to_string(package.path("out/k.ptx")).expect("it is written"), MODULE);
        assert_eq!(package.path("started").exists(), asked, "{variable} {keep}");
        assert_eq!(told.contains("rerun-if-changed=cuda/bin/ptxas\n"), asked, "{told}");
    }
}

#[cfg(unix)]
#[test]
fn what_does_not_change_is_not_assembled() {
    let plain = MODULE.replace("vavrg4.u32.u32.u32 %d, %a, %b, %a", "add.u32 %d, %a, %b");
    let package = Package::new("k.ptx", &plain);
    let program = rejecting(&package);
    let variables = [("PTXOPT_PTXAS", program.to_str().expect("the name is UTF-8"))];
    let (done, _) = package.run(Ptx::new().file(package.path("k.ptx")), &variables);
    assert!(done.is_ok() && !package.path("started").exists());
    assert_eq!(fs::read_to_string(package.path("out/k.ptx")).expect("it is written"), plain);
}

#[test]
fn an_assembler_that_is_named_and_missing_is_a_warning() {
    let package = Package::new("k.ptx", MODULE);
    let variables = [("PTXOPT_PTXAS", "/no/such/ptxas")];
    let (done, told) = package.run(Ptx::new().file(package.path("k.ptx")), &variables);
    assert!(done.is_ok());
    assert!(
        told.contains("cargo::warning=nothing is measured: there is no assembler `/no/such/ptxas`"),
        "{told}"
    );
    assert_ne!(fs::read_to_string(package.path("out/k.ptx")).expect("it is written"), MODULE);
}

#[cfg(unix)]
#[test]
fn a_script_that_was_started_as_the_assembler_starts_none() {
    let package = Package::new("k.ptx", MODULE);
    let program = rejecting(&package);
    let program = program.to_str().expect("the name is UTF-8");
    let variables = [("PTXOPT_PTXAS", program), ("PTXOPT_STARTED_PTXAS", program)];
    let (done, told) = package.run(Ptx::new().file(package.path("k.ptx")), &variables);
    assert!(done.is_ok() && !package.path("started").exists() && !told.contains("warning"), "{told}");
}
