//! The Python package: built as a wheel, installed in an environment of its own, and used.

use crate::{change, copy_of, done, find, printed, ptxopt, root, run, skipped, tool};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// An environment of Python in which nothing is installed but the wheel.
#[derive(Debug)]
pub(crate) struct Environment {
    folder: PathBuf,
}

/// The environment, made once in a run of the tests; or what is missing for it.
pub(crate) fn made() -> &'static Result<Environment, String> {
    static MADE: OnceLock<Result<Environment, String>> = OnceLock::new();
    MADE.get_or_init(Environment::make)
}

impl Environment {
    /// `None` where a tool is absent.
    fn get() -> Option<&'static Self> {
        made().as_ref().inspect_err(|why| skipped(why)).ok()
    }

    fn make() -> Result<Self, String> {
        let maturin = find("maturin")?;
        let python = ["python3", "python"].into_iter().find(|python| has_venv(python)).ok_or(
            "there is no `python3` with `venv` and `pip`, as in Debian's `python3-venv` and `python3-pip`",
        )?;
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python");
        let _none = fs::remove_dir_all(&folder);
        // What is in the wheel is asked, not how fast it is: a release is built without `--profile`.
        let mut build = Command::new(maturin);
        // Not where the tests are compiled, some of which run the command at this moment.
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("packaged");
        build.args(["build", "--locked", "--profile", "plain", "--target-dir"]).arg(target);
        build.arg("--out").arg(&folder).current_dir(root().join("packaging/python"));
        done(&mut build);
        let wheel = fs::read_dir(&folder).expect("it is a folder").next().expect("a wheel was made");
        let wheel = wheel.expect("it can be listed").path();
        let environment = folder.join("env");
        done(Command::new(python).args(["-m", "venv", "--without-pip"]).arg(&environment));
        let mut install = Command::new(python);
        install.args(["-m", "pip", "--python"]).arg(environment.join("bin/python"));
        done(install.args(["install", "--quiet", "--no-index", "--disable-pip-version-check"]).arg(wheel));
        Ok(Self { folder })
    }

    /// A program of the environment, in a folder, as where the environment is active.
    fn at(&self, program: &str, folder: &Path) -> Command {
        let bin = self.folder.join("env/bin");
        let mut command = Command::new(bin.join(program));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths([bin].into_iter().chain(std::env::split_paths(&path)));
        command.env("PATH", path.expect("no folder has a colon in its name")).current_dir(folder);
        for name in ["PTXOPT_PTXAS", "PTXOPT_DISABLE", "PTXOPT_KEEP", "PYTHONPATH", "PYTHONHOME"] {
            command.env_remove(name);
        }
        command
    }
}

fn has_venv(python: &str) -> bool {
    let mut command = Command::new(python);
    command.args(["-c", "import venv, pip"]).output().is_ok_and(|output| output.status.success())
}

/// The kernel of another example.
fn blend(folder: &Path) -> PathBuf {
    let path = folder.join("blend.ptx");
    fs::copy(root().join("tests/cli/blend.ptx"), &path).expect("it can be copied");
    path
}

#[test]
fn both_commands_are_installed_and_the_package_runs_as_one() {
    let Some(python) = Environment::get() else { return };
    let folder = tempfile::tempdir().expect("a folder can be made");
    let version = done(python.at("ptxopt", folder.path()).arg("--version"));
    assert_eq!(version, format!("ptxopt {}\n", env!("CARGO_PKG_VERSION")));
    let about = "import importlib.metadata; print(importlib.metadata.metadata('ptxopt')['Keywords'])";
    let keywords = done(python.at("python", folder.path()).args(["-c", about]));
    assert_eq!(keywords, "ptx,cuda,gpu,simd,optimizer\n");
    let said =
        run(python.at("ptxopt-ptxas", folder.path()).env("PTXOPT_PTXAS", "/no/such/ptxas").arg("x.ptx"));
    assert!(!said.status.success() && printed(&said).contains("/no/such/ptxas"), "{}", printed(&said));

    let input = blend(folder.path());
    let module =
        |arguments: &[&str]| run(python.at("python", folder.path()).args(["-m", "ptxopt"]).args(arguments));
    let output = module(&["blend.ptx", "--gpu", "sm_86"]);
    let expected = run(Command::new(ptxopt()).arg(&input).args(["--gpu", "sm_86"]));
    assert!(output.status.success(), "{}", printed(&output));
    assert_eq!(printed(&output), printed(&expected));
    change(&input, "ret;", "bra nowhere;");
    assert_eq!(module(&["blend.ptx"]).status.code(), Some(1));
}

#[test]
fn a_program_optimises_what_it_has_at_hand() {
    let Some(python) = Environment::get() else { return };
    let folder = tempfile::tempdir().expect("a folder can be made");
    let example = copy_of("python", folder.path());
    let input = blend(&example);
    done(python.at("python", &example).arg("library.py"));
    let expected = run(Command::new(ptxopt()).arg(&input).args(["--gpu", "sm_86"]));
    assert_eq!(fs::read(example.join("library.ptx")).ok(), Some(expected.stdout));
}

#[test]
fn triton_compiles_through_the_installed_front() {
    let triton = root().join("target/triton-3.9.0");
    if !triton.join("triton").is_dir() {
        return skipped("there is no Triton; `sh .ci/tools --integrations` installs it");
    }
    let Some(python) = Environment::get() else { return };
    let folder = tempfile::tempdir().expect("a folder can be made");
    let example = copy_of("python", folder.path());
    let mut command = python.at("python", &example);
    command.env("PYTHONPATH", triton).env("TRITON_CACHE_DIR", example.join("cache"));
    done(command.env("PTXOPT_LOG", example.join("log")).arg("kernels.py"));
    let log = fs::read_to_string(example.join("log")).expect("the front wrote it");
    let lines: Vec<&str> = log.lines().collect();
    assert!(
        lines.len() == 2 && lines[0].contains(" for sm_80: ") && lines[1].contains(" for sm_100a: "),
        "{log}"
    );
}

#[test]
fn cmake_finds_what_is_installed_in_an_active_environment() {
    let (Some(python), Some(cmake)) = (Environment::get(), tool("cmake")) else { return };
    let folder = tempfile::tempdir().expect("a folder can be made");
    let example = copy_of("cmake/files", folder.path());
    let configure = || {
        // By its absolute path, in the environment of the program that is started instead.
        let shown = python.at("python", &example);
        let mut command = Command::new(&cmake);
        command.args(["-S", ".", "-B", "build", "-G", "Unix Makefiles"]).current_dir(&example);
        command.envs(shown.get_envs().filter_map(|(name, value)| Some((name, value?))));
        run(&mut command)
    };
    let lists = example.join("CMakeLists.txt");
    change(&lists, "find_package(Ptxopt REQUIRED)", "find_package(Ptxopt 0.1 REQUIRED)");
    let configured = configure();
    let said = printed(&configured);
    let installed = python.folder.join("env/bin/ptxopt");
    assert!(configured.status.success() && said.contains("Found Ptxopt: "), "{said}");
    let cache = fs::read_to_string(example.join("build/CMakeCache.txt")).expect("it is configured");
    let found = cache.lines().find_map(|line| line.strip_prefix("Ptxopt_EXECUTABLE:FILEPATH="));
    assert_eq!(found.map(Path::new).and_then(|path| path.canonicalize().ok()), installed.canonicalize().ok());
    done(Command::new(cmake.clone()).args(["--build", "build"]).current_dir(&example));
    change(&lists, "Ptxopt 0.1", "Ptxopt 99");
    fs::remove_dir_all(example.join("build")).expect("it is ours");
    assert!(!configure().status.success(), "there is no such version");
}
