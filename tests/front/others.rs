//! Compilers that run the front in the place of the assembler: by the very commands that `README.md` and
//! `docs/build.md` show.

use crate::{Bench, run, said, skipped};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The block of shell commands below a heading of `README.md` or `docs/build.md`.
fn shown(heading: &str) -> String {
    let pages = [include_str!("../../README.md"), include_str!("../../docs/build.md")];
    let sections = pages.iter().filter_map(|page| page.split_once(&format!("# {heading}\n")));
    let blocks = sections.filter_map(|(_, section)| section.split("\n#").next()?.split_once("```sh\n"));
    let commands = blocks.filter_map(|(_, block)| block.split_once("```"));
    let commands: Vec<&str> = commands.map(|(commands, _)| commands).collect();
    let [commands] = commands[..] else { panic!("commands for {heading}: {commands:?}") };
    commands.to_owned()
}

/// Runs commands in the folder of a test, with the front in `PATH`, and before it what else they need.
fn shell(bench: &Bench, commands: &str, before: &Path) -> Command {
    let front = Path::new(env!("CARGO_BIN_EXE_ptxopt-ptxas")).parent().expect("it is in a folder").to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = [before.to_owned(), front].into_iter().chain(std::env::split_paths(&path));
    let path = std::env::join_paths(folders).expect("no folder has a colon in its name");
    let mut command = bench.at(Path::new("sh"), "");
    command.args(["-e", "-c", commands]).env("PATH", path).env("PTXOPT_LOG", bench.path("log"));
    command
}

/// The lines of the log, each with the numbers of machine instructions before and after.
fn changes(bench: &Bench) -> Vec<(String, Vec<u32>)> {
    let log = String::from_utf8(bench.read("log")).expect("it is text");
    let numbers = |line: &str| line.split(' ').filter_map(|word| word.parse().ok()).collect();
    log.lines().map(|line| (line.to_owned(), numbers(line))).collect()
}

const CUDA: &str = r#"
extern "C" __attribute__((global)) void average(unsigned *words) {
  unsigned result;
  asm("vavrg4.u32.u32.u32 %0, %1, %2, %1;" : "=r"(result) : "r"(words[0]), "r"(words[1]));
  words[0] = result;
}
"#;

#[test]
fn clang_compiles_through_the_front() {
    let Some(bench) = Bench::new("12.9") else { return };
    let runs = |name: &&str| {
        Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success())
    };
    let Some(clang) = ["clang-19", "clang"].into_iter().find(runs) else {
        return skipped("there is no `clang-19`, as in Debian's package of that name");
    };
    bench.write("kernel.cu", CUDA);
    std::fs::create_dir(bench.path("bin")).expect("a folder can be made");
    // There is nothing of CUDA here but the assembler; the kernel needs no header and no library.
    let script = format!("#!/bin/sh\nexec {clang} -nocudainc -nocudalib \"$@\"\n");
    crate::write_executable(&bench.path("bin/clang"), &script);
    std::os::unix::fs::symlink(&bench.real, bench.path("bin/ptxas")).expect("a link can be made");
    let output = run(&mut shell(&bench, &shown("clang"), &bench.path("bin")));
    assert!(output.status.success(), "{}", said(&output));
    let changes = changes(&bench);
    let [(line, numbers)] = &changes[..] else { panic!("{changes:?}") };
    assert!(line.contains(" for sm_75: ") && numbers.len() == 2 && numbers[1] < numbers[0], "{line}");
    assert!(bench.read("kernel.cubin").starts_with(b"\x7fELF"));
}

/// Its wheel has no compiler for CUDA, but what comes after it.
#[test]
fn nvcc_assembles_through_the_front() {
    let Some(bench) = Bench::new("13.5") else { return };
    let cuda = crate::assemblers::folder().join("13.5/nvidia/cu13");
    let Ok(cuda) = cuda.canonicalize().and_then(|cuda| cuda.join("bin/nvcc").metadata().map(|_| cuda)) else {
        return skipped("there is no nvcc in the folder of CUDA 13.5; `sh .ci/tools` puts it there");
    };
    bench.write("kernel.ptx", crate::BLEND);
    let output = run(shell(&bench, &shown("nvcc"), &bench.path("bin")).env("CUDA_HOME", cuda));
    assert!(output.status.success(), "{}", said(&output));
    let changes = changes(&bench);
    let [(line, numbers)] = &changes[..] else { panic!("{changes:?}") };
    assert!(
        line.starts_with("kernel.ptx for sm_75: ") && numbers.len() == 2 && numbers[1] < numbers[0],
        "{line}"
    );
    bench.optimised("kernel.ptx", "optimised.ptx", "sm_75", &[]);
    assert!(bench.real("-arch=sm_75 -m64 optimised.ptx -o real.cubin").status.success());
    assert_eq!(bench.read("kernel.cubin"), bench.read("real.cubin"));
}

/// A kernel on bytes, compiled ahead of time for GPUs of both of Triton's assemblers.
const TRITON: &str = r#"
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

@triton.jit
def brightest(a, b, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.maximum(tl.load(a + i), tl.load(b + i)))

signature = {"a": "*u8", "b": "*u8", "out": "*u8", "BLOCK": "constexpr"}
aligned = {(k,): [["tt.divisibility", 16]] for k in range(3)}
for gpu in [80, 90, 100, 120]:
    source = ASTSource(brightest, signature, constexprs={"BLOCK": 512}, attrs=aligned)
    made = triton.compile(source, target=GPUTarget("cuda", gpu, 32))
    open(f"{gpu}.cubin", "wb").write(made.asm["cubin"])
"#;

/// Where `sh .ci/tools --integrations` installs Triton.
fn triton() -> PathBuf {
    let installed = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/triton-3.9.0");
    std::env::var_os("PTXOPT_TRITON").map_or(installed, PathBuf::from)
}

#[test]
fn triton_compiles_through_the_front_and_knows_its_cubins_from_others() {
    let Some(bench) = Bench::new("13.5") else { return };
    let packages = triton();
    if !packages.join("triton").is_dir() {
        return skipped("there is no Triton; `sh .ci/tools --integrations` installs it");
    }
    bench.write("kernels.py", TRITON);
    std::fs::create_dir(bench.path("bin")).expect("a folder can be made");
    let compile = |commands: &str| {
        let mut command = shell(&bench, commands, &bench.path("bin"));
        command.env("PYTHONPATH", &packages).env("TRITON_CACHE_DIR", bench.path("cache"));
        command.env("TRITON_DEFAULT_FP_FUSION", "1");
        let output = run(&mut command);
        assert!(output.status.success(), "{}", said(&output));
        [80, 90, 100, 120].map(|gpu| bench.read(&format!("{gpu}.cubin")))
    };
    // What Triton's own assemblers made is in its cache, and not what comes next.
    let alone = compile("python3 kernels.py");
    let through = compile(&shown("Triton"));
    let changes = changes(&bench);
    for (gpu, (line, numbers)) in ["sm_80", "sm_90a", "sm_100a", "sm_120a"].iter().zip(&changes) {
        assert!(
            line.contains(&format!(" for {gpu}: ")) && numbers.len() == 2 && numbers[1] < numbers[0],
            "{line}"
        );
    }
    assert_eq!(changes.len(), 4, "{changes:?}");
    assert!(alone.iter().zip(&through).all(|(alone, through)| alone != through));
    assert_eq!(compile(&shown("Triton")), through);
    assert_eq!(self::changes(&bench).len(), 4, "the second time, Triton finds all of them in its cache");
    assert_eq!(compile("python3 kernels.py"), alone);
    // Later GPUs have the same assembler as above, and so what is in the cache; that before sm_90 has its own.
    let both = compile(&shown("Both assemblers of Triton"));
    assert!(both[0] != through[0] && both[1..] == through[1..]);
    assert_eq!(self::changes(&bench).len(), 5);
}
