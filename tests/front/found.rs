//! Which program the front takes for NVIDIA's assembler: never itself, under whatever name and however it is started.

use crate::write_executable;
use crate::{Bench, run, said, silent};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

const FRONT: &str = env!("CARGO_BIN_EXE_ptxopt-ptxas");
const LINE: &str = "-arch=sm_75 blend.s -o x.cubin";

/// A folder with a `ptxas`.
fn folder(bench: &Bench, name: &str, make: impl FnOnce(&Path)) -> String {
    fs::create_dir_all(bench.path(name)).expect("a folder can be made");
    make(&bench.path(name).join("ptxas"));
    bench.path(name).display().to_string()
}

/// The front again. Another process writes it, as with scripts.
fn copy(path: &Path) {
    assert!(Command::new("cp").arg(FRONT).arg(path).status().expect("there is such a program").success());
}

/// Several, each with another kind of front: a link, a copy, a script that starts it, and a script that starts that.
fn fronts(bench: &Bench) -> [String; 4] {
    let script = |starts: &str| format!("#!/bin/sh\nexec {starts} \"$@\"\n");
    let wrapper = folder(bench, "wrapper", |path| write_executable(path, &script(FRONT)));
    [
        folder(bench, "link", |path| symlink(FRONT, path).expect("a link can be made")),
        folder(bench, "copy", copy),
        folder(bench, "outer", |path| write_executable(path, &script(&format!("{wrapper}/ptxas")))),
        wrapper,
    ]
}

/// A command that finds programs, `ptxas` among them, in these folders and then in those of the system.
fn with_path(bench: &Bench, name: &Path, line: &str, path: &[&str]) -> Command {
    let mut command = bench.at(name, line);
    let path = [path, &["/usr/bin", "/bin"]].concat().join(":");
    command.env("PATH", path).env_remove("CUDA_HOME").env_remove("CUDA_PATH");
    command
}

fn told(command: &mut Command, why: &str) {
    let output = run(command);
    assert_eq!(output.status.code(), Some(127), "{}", said(&output));
    assert!(said(&output).contains(why) && said(&output).lines().count() == 1, "{}", said(&output));
}

#[test]
fn an_assembler_is_found_by_a_relative_path() {
    let Some(bench) = Bench::new("13.5") else { return };
    symlink(&bench.real, bench.path("ptxas")).expect("a link can be made");
    for named in ["./ptxas", "."] {
        silent(&run(bench.front(LINE).env("PTXOPT_PTXAS", named)));
    }
}

#[test]
fn an_assembler_is_found_in_path_by_its_name_behind_ptxopt() {
    let Some(bench) = Bench::new("13.5") else { return };
    let real = folder(&bench, "real", |path| symlink(&bench.real, path).expect("a link can be made"));
    symlink(&bench.real, bench.path("real/other-ptxas")).expect("a link can be made");
    // Of the folder in which the build runs, `PATH` says nothing.
    write_executable(&bench.path("ptxas"), "#!/bin/sh\nexit 3\n");
    let measure = "blend.s --gpu sm_75 -o x.ptx --measure";
    let ptxopt = Path::new(env!("CARGO_BIN_EXE_ptxopt"));
    for front in fronts(&bench) {
        for name in ["ptxas", "other-ptxas"] {
            let path = [&*front, &*real];
            silent(&run(with_path(&bench, FRONT.as_ref(), LINE, &path).env("PTXOPT_PTXAS", name)));
            let output = run(with_path(&bench, ptxopt, measure, &path).env("PTXOPT_PTXAS", name));
            assert!(output.status.success() && said(&output).contains(" -> "), "{}", said(&output));
            let line = format!("{measure} --ptxas {name}");
            assert_eq!(said(&run(&mut with_path(&bench, ptxopt, &line, &path))), said(&output));
        }
    }
}

#[test]
fn a_name_that_is_not_in_path_or_only_that_of_ptxopt_is_told() {
    let Some(bench) = Bench::new("13.5") else { return };
    let [link, copy, outer, wrapper] = fronts(&bench);
    let names = "there is no assembler `ptxas`, which `PTXOPT_PTXAS` names, in `PATH`";
    let again = format!("{names}, only programs that start ptxopt again");
    for (front, why) in [(link, names), (copy, &again), (outer, &again), (wrapper, &again)] {
        told(with_path(&bench, FRONT.as_ref(), LINE, &[&front]).env("PTXOPT_PTXAS", "ptxas"), why);
    }
    let line = "blend.s --gpu sm_75 -o x.ptx --measure --ptxas no-ptxas";
    let output = run(&mut with_path(&bench, env!("CARGO_BIN_EXE_ptxopt").as_ref(), line, &[]));
    assert!(said(&output).contains("there is no assembler `no-ptxas` in `PATH`"), "{}", said(&output));
}

#[test]
fn an_assembler_that_is_named_and_is_missing_or_ptxopt_itself_is_told() {
    let Some(bench) = Bench::new("13.5") else { return };
    let named = |name: &Path, why: &str| told(bench.front(LINE).env("PTXOPT_PTXAS", name), why);
    named("/nowhere/ptxas".as_ref(), "there is no assembler `/nowhere/ptxas`");
    for itself in [FRONT, env!("CARGO_BIN_EXE_ptxopt")] {
        named(itself.as_ref(), "which is ptxopt itself");
    }
    let [link, copy, outer, wrapper] = fronts(&bench);
    for (front, why) in [
        (link, "which is ptxopt itself"),
        // It is the copy that says so.
        (copy, "which is ptxopt itself"),
        (outer, "which starts ptxopt again"),
        (wrapper, "which starts ptxopt again"),
    ] {
        named(front.as_ref(), why);
    }
    assert!(!bench.path("x.cubin").exists());
}

#[test]
fn where_only_ptxopt_is_found_this_is_told() {
    let Some(bench) = Bench::new("13.5") else { return };
    let front = Path::new(FRONT);
    let none = "there is no `ptxas` of NVIDIA in `PATH`";
    told(&mut with_path(&bench, front, LINE, &["/nowhere"]), none);
    let [link, others @ ..] = fronts(&bench);
    told(&mut with_path(&bench, front, LINE, &[&link]), none);
    for other in &others {
        told(&mut with_path(&bench, front, LINE, &[other]), "only programs that start ptxopt again");
    }
    assert!(!bench.path("x.cubin").exists());
}

#[test]
fn the_assembler_is_found_behind_links_copies_and_wrappers_of_ptxopt() {
    let Some(bench) = Bench::new("13.5") else { return };
    let real = folder(&bench, "real", |path| symlink(&bench.real, path).expect("a link can be made"));
    let [link, copy, outer, wrapper] = fronts(&bench);
    silent(&run(&mut bench.front("-arch=sm_75 blend.s -o front.cubin")));
    for path in [
        &[&*link, &*real][..],
        &[&copy, &real],
        &[&wrapper, &real],
        &[&outer, &real],
        &[&outer, &wrapper, &real],
        &[&wrapper, &outer, &copy, &link, &real],
        &[&copy, &outer, &copy, &wrapper, &real],
    ] {
        // The program is searched for in this `PATH` too, as a build would.
        for name in ["ptxas", FRONT] {
            let _none = fs::remove_file(bench.path("x.cubin"));
            silent(&run(&mut with_path(&bench, name.as_ref(), LINE, path)));
            assert_eq!(bench.read("x.cubin"), bench.read("front.cubin"), "{name} with {path:?}");
            let version = run(&mut with_path(&bench, name.as_ref(), "--version", path));
            let version = String::from_utf8(version.stdout).expect("it is text");
            assert_eq!(version.matches("Optimised by ptxopt").count(), 1, "{path:?}: {version}");
        }
    }
}

#[test]
fn the_version_is_that_of_the_build_wherever_that_is() {
    let Some(bench) = Bench::new("13.5") else { return };
    let version = |front: &Path| {
        let output = run(bench.at(front, "--version").env("PTXOPT_PTXAS", &bench.real));
        assert!(output.status.success(), "{}", said(&output));
        String::from_utf8(output.stdout).expect("it is text")
    };
    let copied = bench.path("copied");
    copy(&copied);
    assert_eq!(version(&copied), version(Path::new(FRONT)));
    // What follows the program is not loaded; it could be any other change.
    let rebuilt = bench.path("rebuilt");
    let script = "cat \"$0\" - >\"$1\" && chmod 755 \"$1\"";
    let mut shell = Command::new("sh");
    shell
        .args(["-c", script, FRONT])
        .arg(&rebuilt)
        .stdin(fs::File::open(bench.path("blend.s")).expect("it is there"));
    assert!(shell.status().expect("there is a shell").success());
    assert_ne!(version(&rebuilt), version(Path::new(FRONT)));
}

#[test]
fn the_assembler_is_found_in_the_folder_of_cuda() {
    let Some(bench) = Bench::new("13.5") else { return };
    folder(&bench, "cuda/bin", |path| symlink(&bench.real, path).expect("a link can be made"));
    for front in fronts(&bench) {
        let _none = fs::remove_file(bench.path("x.cubin"));
        let mut command = with_path(&bench, "ptxas".as_ref(), LINE, &[&front]);
        silent(&run(command.env("CUDA_HOME", bench.path("cuda"))));
        assert!(bench.path("x.cubin").exists());
    }
}

#[test]
fn measuring_asks_the_assembler_and_not_a_front_before_it() {
    let Some(bench) = Bench::new("13.5") else { return };
    let real = folder(&bench, "real", |path| symlink(&bench.real, path).expect("a link can be made"));
    let table = |path: &[&str]| {
        let line = "blend.s --gpu sm_75 -o x.ptx --measure";
        let output = run(&mut with_path(&bench, env!("CARGO_BIN_EXE_ptxopt").as_ref(), line, path));
        assert!(output.status.success(), "{}", said(&output));
        said(&output)
    };
    let expected = table(&[&real]);
    assert!(expected.contains(" -> "), "{expected}");
    for front in fronts(&bench) {
        assert_eq!(table(&[&front, &real]), expected, "{front}");
    }
}
