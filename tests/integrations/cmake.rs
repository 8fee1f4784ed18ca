//! Projects of CMake that optimise their kernels: each result is made when it must be, and not otherwise.

use crate::{change, copy_of, done, later, printed, program, ptxopt, root, run, skipped, tool};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;
use tempfile::TempDir;

/// Generators, and the folder of results that each adds for a configuration.
const GENERATORS: [(&str, &str); 3] =
    [("Ninja", ""), ("Unix Makefiles", ""), ("Ninja Multi-Config", "/Release")];

/// A copy of an example that is built by one generator, with a ptxopt that counts.
struct Project {
    _folder: TempDir,
    /// Of the sources.
    path: PathBuf,
    cmake: PathBuf,
    results: PathBuf,
    /// Counts and runs ptxopt.
    counting: PathBuf,
    log: PathBuf,
    configured: Vec<String>,
}

impl Project {
    fn new(example: &str, (generator, results): (&str, &str), configured: &[String]) -> Option<Self> {
        let (cmake, ninja) = (tool("cmake")?, tool("ninja")?);
        let folder = tempfile::tempdir().expect("a folder can be made");
        let path = copy_of(example, folder.path());
        let module = path.join("cmake");
        fs::create_dir(&module).expect("a folder can be made");
        fs::copy(root().join("packaging/cmake/FindPtxopt.cmake"), module.join("FindPtxopt.cmake"))
            .expect("it can be copied");
        let (counting, log) = (folder.path().join("ptxopt"), folder.path().join("log"));
        program(
            &counting,
            &format!("#!/bin/sh\necho \"$@\" >>{}\nexec {} \"$@\"\n", log.display(), ptxopt().display()),
        );
        let mut configured = configured.to_vec();
        // Not what a developer has in `PATH`.
        if !configured
            .iter()
            .any(|option| option.contains("Ptxopt_PTXAS") || option.contains("CUDA_COMPILER"))
        {
            configured.push("-DPtxopt_PTXAS=OFF".to_owned());
        }
        configured.push("-G".to_owned());
        configured.push(generator.to_owned());
        configured.push(format!("-DPtxopt_EXECUTABLE={}", counting.display()));
        if generator.starts_with("Ninja") {
            configured.push(format!("-DCMAKE_MAKE_PROGRAM={}", ninja.display()));
        }
        if results.is_empty() {
            configured.push("-DCMAKE_BUILD_TYPE=Release".to_owned());
        }
        let results = path.join(format!("build/kernels{results}"));
        Some(Self { _folder: folder, path, cmake, results, counting, log, configured })
    }

    fn configure(&self) -> Command {
        let mut command = self.cmake(&["-S", ".", "-B", "build"]);
        command.args(&self.configured);
        command
    }

    fn cmake(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.cmake);
        command.args(arguments).current_dir(&self.path).env("CLICOLOR", "0");
        // What a developer has set would be another build than this one.
        for name in ["CMAKE_GENERATOR", "CMAKE_BUILD_TYPE", "CUDACXX", "CUDAARCHS", "MAKEFLAGS"] {
            command.env_remove(name);
        }
        for name in ["PTXOPT_DISABLE", "PTXOPT_KEEP", "CUDA_HOME", "CUDA_PATH"] {
            command.env_remove(name);
        }
        command
    }

    fn build(&self) -> Command {
        self.cmake(&["--build", "build", "--config", "Release"])
    }

    /// Builds, and says which files were optimised.
    fn built(&self) -> Vec<String> {
        let _none = fs::remove_file(&self.log);
        done(&mut self.build());
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let mut optimised: Vec<String> = log
            .lines()
            .map(|line| {
                assert!(line.contains("--gpu=sm_86 --out-dir "), "{line}");
                Path::new(line).file_name().expect("it ends with the input").to_string_lossy().into_owned()
            })
            .collect();
        optimised.sort();
        optimised
    }

    /// With which assembler the results were measured when it was built last.
    fn measured(&self) -> Option<String> {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let (_, ptxas) = log.split_once("--keep-better --ptxas=")?;
        ptxas.split(' ').next().map(str::to_owned)
    }

    fn source(&self, name: &str) -> String {
        fs::read_to_string(self.path.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Changes what the function is called with.
    fn call_with(&self, arguments: &str) {
        change(&self.path.join("CMakeLists.txt"), "GPU sm_86", arguments);
    }

    fn result(&self, name: &str) -> String {
        let path = self.results.join(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }
}

/// Makes a file newer than all that was built.
fn touch(path: &Path) {
    later();
    let file = fs::File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    file.set_modified(SystemTime::now()).expect("it is ours");
}

#[test]
fn files_are_optimised_when_they_or_ptxopt_change_and_not_otherwise() {
    for generator in GENERATORS {
        let Some(project) = Project::new("cmake/files", generator, &[]) else { return };
        done(&mut project.configure());
        assert_eq!(project.built(), ["average.ptx", "blend.ptx"], "{generator:?}");
        for name in ["average.ptx", "blend.ptx"] {
            assert!(!project.result(name).contains("vavrg4"), "{}", project.result(name));
        }
        assert_eq!(project.built(), [""; 0], "{generator:?}");
        touch(&project.path.join("average.ptx"));
        assert_eq!(project.built(), ["average.ptx"], "{generator:?}");
        touch(&project.counting);
        assert_eq!(project.built(), ["average.ptx", "blend.ptx"], "{generator:?}");
        assert_eq!(project.built(), [""; 0], "{generator:?}");

        done(&mut project.cmake(&["--install", "build", "--config", "Release", "--prefix", "installed"]));
        let installed = fs::read_to_string(project.path.join("installed/share/kernels/blend.ptx"));
        assert_eq!(installed.ok(), Some(project.result("blend.ptx")), "{generator:?}");
    }
}

#[test]
fn what_is_refused_is_copied_with_a_warning_until_it_is_mended() {
    for generator in GENERATORS {
        let Some(project) = Project::new("cmake/files", generator, &[]) else { return };
        let source = project.path.join("average.ptx");
        // NVIDIA's assembler takes it.
        change(&source, ".target sm_75\n", ".target sm_75");
        done(&mut project.configure());
        let said = done(&mut project.build());
        for part in ["average.ptx:3:28", "average.ptx is copied as it is: ptxopt ended with 1"] {
            assert!(said.contains(part), "{generator:?}: {said}");
        }
        assert_eq!(project.result("average.ptx"), project.source("average.ptx"));
        assert_ne!(project.result("blend.ptx"), project.source("blend.ptx"), "the others are optimised");
        assert_eq!(project.built(), [""; 0], "{generator:?}");
        change(&source, ".target sm_75", ".target sm_75\n");
        assert_eq!(project.built(), ["average.ptx"], "{generator:?}");
        assert!(!project.result("average.ptx").contains("vavrg4"));
    }
}

#[test]
fn a_ptxopt_that_crashes_fails_no_build() {
    let Some(project) = Project::new("cmake/files", GENERATORS[0], &[]) else { return };
    done(&mut project.configure());
    program(&project.counting, "#!/bin/sh\nkill -ABRT $$\n");
    let said = done(&mut project.build());
    assert!(said.contains("blend.ptx is copied as it is: ptxopt ended with "), "{said}");
    assert_eq!(project.result("blend.ptx"), project.source("blend.ptx"));
}

#[test]
fn switched_off_it_copies() {
    for generator in GENERATORS {
        let Some(project) = Project::new("cmake/files", generator, &[]) else { return };
        done(&mut project.configure());
        for (value, copied) in [("1", true), ("0", false), ("", false)] {
            let said = done(project.build().arg("--clean-first").env("PTXOPT_DISABLE", value));
            let same = project.result("blend.ptx") == project.source("blend.ptx");
            assert_eq!(same, copied, "{generator:?}, {value:?}: {said}");
            assert!(!said.contains("copied as it is"), "{said}");
            assert_eq!(project.built(), [""; 0], "{generator:?}, {value:?}");
        }
    }
}

#[test]
fn only_what_the_assembler_finds_better_is_kept_where_that_is_asked_for() {
    let Some(cuda) = cuda_folder() else { return };
    for (ptxas, said, optimised) in [
        (cuda.join("bin/ptxas"), "", true),
        ("/no/such/ptxas".into(), "blend.ptx is copied as it is: ptxopt ended with 3", false),
    ] {
        let Some(project) = Project::new("cmake/files", GENERATORS[0], &[]) else { return };
        project.call_with(&format!("GPU sm_86 OPTIONS --keep-better --ptxas \"{}\"", ptxas.display()));
        done(&mut project.configure());
        let printed = done(&mut project.build());
        assert!(printed.contains(said), "{printed}");
        let changed = project.result("blend.ptx") != project.source("blend.ptx");
        assert_eq!(changed, optimised, "{printed}");
    }
}

/// An assembler that a project without CUDA is told of.
fn assembler(path: &Path) -> Vec<String> {
    vec![format!("-DPtxopt_PTXAS={}", path.display())]
}

#[test]
fn where_there_is_an_assembler_it_decides_what_is_kept_unless_all_is() {
    let Some(cuda) = cuda_folder() else { return };
    let ptxas = cuda.join("bin/ptxas");
    for (keep, measured) in [("", Some(ptxas.display().to_string())), ("always", None)] {
        let Some(project) = Project::new("cmake/files", GENERATORS[0], &assembler(&ptxas)) else { return };
        done(&mut project.configure());
        done(project.build().env("PTXOPT_KEEP", keep));
        assert_eq!(project.measured(), measured, "{keep}");
        assert_ne!(project.result("blend.ptx"), project.source("blend.ptx"));
    }
}

#[test]
fn an_assembler_that_rejects_a_source_keeps_nothing_from_being_optimised() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let ptxas = folder.path().join("ptxas");
    program(&ptxas, "#!/bin/sh\necho 'ptxas fatal : Unsupported .version' >&2\nexit 255\n");
    let Some(project) = Project::new("cmake/files", GENERATORS[0], &assembler(&ptxas)) else { return };
    done(&mut project.configure());
    let said = done(&mut project.build());
    assert_eq!(project.measured(), Some(ptxas.display().to_string()));
    assert_ne!(project.result("blend.ptx"), project.source("blend.ptx"));
    assert!(!said.contains("Unsupported"), "{said}");
}

#[test]
fn what_was_asked_for_wrongly_fails_the_build() {
    for (arguments, why) in [
        ("GPU sm_9000", "there is no such GPU"),
        ("GPU sm_70", "such code does not run on sm_70"),
        ("OPTIONS --no-such-option", "unexpected argument '--no-such-option'"),
    ] {
        let Some(project) = Project::new("cmake/files", GENERATORS[0], &[]) else { return };
        project.call_with(arguments);
        done(&mut project.configure());
        let output = run(&mut project.build());
        let said = printed(&output);
        assert!(!output.status.success() && said.contains(why), "{said}");
        assert!(!project.results.join("blend.ptx").exists());
    }
}

#[test]
fn strictly_what_is_wrong_fails_the_build_with_its_line_until_it_is_mended() {
    for generator in GENERATORS {
        let Some(project) = Project::new("cmake/files", generator, &[]) else { return };
        project.call_with("GPU sm_86 OPTIONS --strict");
        done(&mut project.configure());
        project.built();
        let before = project.result("average.ptx");
        let source = project.path.join("average.ptx");
        change(&source, "vavrg4.u32.u32.u32 %r4, %r2, %r3, %r2;", "vavrg4.u32.u32.u32 %r4, %r2, %r3;");
        let output = run(&mut project.build());
        let said = printed(&output);
        assert!(!output.status.success(), "{said}");
        for part in
            ["average.ptx:19:2", "19 |     vavrg4.u32.u32.u32 %r4, %r2, %r3;", "is not valid PTX: 1 error"]
        {
            assert!(said.contains(part), "{generator:?}: {said}");
        }
        assert_eq!(project.result("average.ptx"), before);
        assert!(!run(&mut project.build()).status.success(), "it is not forgotten");
        change(&source, "%r3;", "%r3, %r2;");
        assert_eq!(project.built(), ["average.ptx"], "{generator:?}");
    }
}

/// The folder of a CUDA with a compiler.
fn cuda_folder() -> Option<PathBuf> {
    let folder = root().join("target/cuda-13.5/nvidia/cu13");
    if !folder.join("bin/nvcc").is_file() {
        skipped("there is no CUDA with a compiler; `sh .ci/tools --integrations` installs it");
        return None;
    }
    Some(folder)
}

/// How CMake is told of it.
fn cuda() -> Option<Vec<String>> {
    let nvcc = cuda_folder()?.join("bin/nvcc");
    if Command::new("c++").arg("--version").output().is_err() {
        skipped("there is no `c++`, which nvcc needs, as in Debian's package `g++`");
        return None;
    }
    let nvcc = format!("-DCMAKE_CUDA_COMPILER={}", nvcc.display());
    Some(vec![nvcc, "-DCMAKE_CUDA_ARCHITECTURES=86".to_owned()])
}

#[test]
fn what_nvcc_compiles_to_ptx_is_optimised_when_it_changes() {
    let Some(cuda) = cuda() else { return };
    for generator in GENERATORS {
        let Some(project) = Project::new("cmake/cuda", generator, &cuda) else { return };
        done(&mut project.configure());
        assert_eq!(project.built(), ["average.ptx", "brightest.ptx"], "{generator:?}");
        assert!(!project.result("average.ptx").contains("vavrg4"));
        assert!(project.result("brightest.ptx").contains("%opt"), "{}", project.result("brightest.ptx"));
        assert!(project.measured().is_some_and(|ptxas| ptxas.ends_with("bin/ptxas")), "{generator:?}");
        assert_eq!(project.built(), [""; 0], "{generator:?}");
        touch(&project.path.join("image/average.cu"));
        assert_eq!(project.built(), ["average.ptx"], "{generator:?}");
        touch(&project.counting);
        assert_eq!(project.built(), ["average.ptx", "brightest.ptx"], "{generator:?}");
        assert_eq!(project.built(), [""; 0], "{generator:?}");
    }
}

#[test]
fn what_the_build_makes_is_optimised_after_it() {
    for generator in GENERATORS {
        let Some(project) = Project::new("cmake/files", generator, &[]) else { return };
        let made = "add_custom_command(OUTPUT made.ptx DEPENDS blend.ptx\n  COMMAND ${CMAKE_COMMAND} -E copy \
                    ${CMAKE_CURRENT_SOURCE_DIR}/blend.ptx made.ptx)\nptxopt_optimize(kernels SOURCES made.ptx";
        change(&project.path.join("CMakeLists.txt"), "ptxopt_optimize(kernels SOURCES blend.ptx", made);
        done(&mut project.configure());
        assert_eq!(project.built(), ["average.ptx", "made.ptx"], "{generator:?}");
        assert_eq!(project.built(), [""; 0], "{generator:?}");
        touch(&project.path.join("blend.ptx"));
        assert_eq!(project.built(), ["made.ptx"], "{generator:?}");
    }
}

#[test]
fn configurations_have_results_of_their_own() {
    let Some(project) = Project::new("cmake/files", ("Ninja Multi-Config", "/Debug"), &[]) else { return };
    done(&mut project.configure());
    assert_eq!(project.built().len(), 2, "for Release");
    assert!(!project.results.exists());
    done(&mut project.cmake(&["--build", "build", "--config", "Debug"]));
    let names = |results: &str| -> BTreeSet<_> {
        let entries = fs::read_dir(project.path.join("build/kernels").join(results)).expect("it was made");
        entries.map(|entry| entry.expect("it can be listed").file_name()).collect()
    };
    assert_eq!(names("Debug"), names("Release"));
}

#[test]
fn what_cannot_be_meant_is_refused_when_the_project_is_configured() {
    for (from, to, why) in [
        ("SOURCES blend.ptx", "blend.ptx", "usage: ptxopt_optimize("),
        ("blend.ptx", "other/average.ptx", "two sources have the same name"),
        ("blend.ptx", "$<TARGET_OBJECTS:device>", "there is no library device"),
        ("blend.ptx", "$<CONFIG>.ptx", "only $<TARGET_OBJECTS:library> can be"),
        ("find_package(Ptxopt REQUIRED)", "find_package(Ptxopt 99 REQUIRED)", "required is at least \"99\""),
    ] {
        let Some(project) = Project::new("cmake/files", GENERATORS[0], &[]) else { return };
        change(&project.path.join("CMakeLists.txt"), from, to);
        let output = run(&mut project.configure());
        let said = printed(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(!output.status.success() && said.contains(why), "{to}: {said}");
    }
}

#[test]
fn what_is_not_ptxopt_is_not_found() {
    let Some(project) = Project::new("cmake/files", GENERATORS[0], &[]) else { return };
    program(&project.counting, "#!/bin/sh\necho something else\n");
    let output = run(&mut project.configure());
    assert!(
        !output.status.success() && printed(&output).contains("Could NOT find Ptxopt"),
        "{}",
        printed(&output)
    );
}
