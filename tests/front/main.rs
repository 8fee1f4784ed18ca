//! `ptxopt-ptxas` in the place of NVIDIA's assembler, with the real one: what a build gets is what the real one makes, of
//! a text that is never worse.
//!
//! Where the assembler is absent these tests say so and pass, unless `PTXOPT_REQUIRE_ASSEMBLER` is set.

#![cfg(unix)]

#[path = "../support/assemblers.rs"]
mod assemblers;
mod build;
#[path = "../support/executable.rs"]
mod executable;
mod found;
mod hostile;
#[cfg(target_os = "linux")]
mod killed;
mod lines;
mod others;

pub(crate) use executable::write_executable;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// Video instructions, of which something can be made for any GPU.
pub(crate) const BLEND: &str = include_str!("../cli/blend.ptx");

/// It becomes longer.
pub(crate) const LONGER: &str = include_str!("../support/longer.ptx");

/// Its loop becomes short enough to be unrolled, and the function longer, with the assembler of CUDA 12.9.
pub(crate) const UNROLLED: &str = include_str!("../corpus/modules/by-hand/sums.ptx");

/// A module in which there is nothing to do.
pub(crate) const PLAIN: &str = "\
.version 7.0
.target sm_61
.address_size 64
.visible .entry plain(.param .u64 p)
{
	.reg .b32 %r<2>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [p];
	ld.global.u32 %r1, [%rd1];
	add.u32 %r1, %r1, 1;
	st.global.u32 [%rd1], %r1;
	ret;
}
";

/// A folder with the inputs of a test, and the assembler.
pub(crate) struct Bench {
    folder: TempDir,
    pub(crate) real: PathBuf,
}

impl Bench {
    /// With an assembler of this version; `None`, and a line that says so, where it is absent and may be.
    pub(crate) fn new(version: &str) -> Option<Self> {
        let real = assemblers::folder().join(version).join("ptxas");
        if !real.is_file() {
            assert!(std::env::var_os("PTXOPT_REQUIRE_ASSEMBLER").is_none(), "there is no {}", real.display());
            skipped(&format!(
                "NVIDIA's assembler is not in {}; `sh .ci/tools` puts it there",
                real.display()
            ));
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder can be made");
        let bench = Self { folder, real };
        for (name, text) in
            [("blend.s", BLEND), ("longer.ptx", LONGER), ("unrolled.ptx", UNROLLED), ("plain.ptx", PLAIN)]
        {
            bench.write(name, text);
        }
        Some(bench)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).expect("a file can be written");
        path
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The front, which finds the assembler by the variable of the environment.
    pub(crate) fn front(&self, line: &str) -> Command {
        let mut command = self.at(Path::new(env!("CARGO_BIN_EXE_ptxopt-ptxas")), line);
        command.env("PTXOPT_PTXAS", &self.real);
        command
    }

    /// The assembler itself.
    pub(crate) fn real(&self, line: &str) -> Output {
        run(&mut self.at(&self.real, line))
    }

    /// A program in the folder of the test, and nothing of the environment that could change what it does.
    pub(crate) fn at(&self, program: &Path, line: &str) -> Command {
        let mut command = Command::new(program);
        command.args(line.split_whitespace()).current_dir(self.folder.path());
        for name in ["PTXAS", "KEEP", "DISABLE", "LOG", "REMARKS", "SECONDS", "MEMORY"] {
            command.env_remove(format!("PTXOPT_{name}"));
        }
        command
    }

    /// What ptxopt makes of a file for a GPU, under a new name.
    pub(crate) fn optimised(&self, from: &str, to: &str, gpu: &str, options: &[&str]) {
        let ptxopt = Path::new(env!("CARGO_BIN_EXE_ptxopt"));
        let mut command = self.at(ptxopt, &format!("{from} -o {to} --gpu {gpu}"));
        assert!(run(command.args(options)).status.success());
        assert_ne!(self.read(from), self.read(to), "there is something to do");
    }
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command) -> Output {
    command.output().expect("the program starts")
}

pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Success, without a word.
pub(crate) fn silent(output: &Output) {
    assert_eq!((output.status.code(), &*said(output), &*output.stdout), (Some(0), "", &b""[..]));
}

/// Says why a test did nothing. Not by a macro of the standard library: the test harness would keep that to itself.
pub(crate) fn skipped(why: &str) {
    std::io::stderr().write_all(format!("SKIPPED: {why}\n").as_bytes()).expect("stderr can be written");
}
