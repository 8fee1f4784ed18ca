//! The front when things go wrong: each run ends as that of the real assembler would have.

use crate::{Bench, run, said, write_executable};
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const FRONT: &str = env!("CARGO_BIN_EXE_ptxopt-ptxas");

/// The result is the assembler's own for the text that came, with one line that says why.
pub(crate) fn as_it_came(bench: &Bench, line: &str, output: &Output, why: &str) {
    let real = bench.real(&format!("{line} -o real.cubin"));
    assert_eq!(output.status.code(), real.status.code());
    assert_eq!(bench.read("front.cubin"), bench.read("real.cubin"));
    let said = said(output);
    assert!(said.starts_with("ptxopt: ") && said.contains(why) && said.lines().count() == 1, "{said}");
}

#[test]
fn a_failure_of_the_assembler_is_its_own() {
    let Some(bench) = Bench::new("13.5") else { return };
    bench.write("wrong.ptx", &crate::BLEND.replace("ret;", "bra nowhere;"));
    for line in [
        "-arch=sm_75 wrong.ptx",
        "-arch=sm_52 blend.s",
        "-arch=sm_75 missing.ptx",
        "-arch=sm_75 blend.s --nonsense",
    ] {
        let (real, front) = (bench.real(line), run(&mut bench.front(line)));
        assert_eq!(front.status.code(), real.status.code(), "{line}");
        assert_eq!(real.status.code(), Some(255), "{line}");
        assert!(said(&front).ends_with(&said(&real)), "{line}: {}", said(&front));
        assert!(!bench.path("elf.o").exists());
    }
}

#[test]
fn an_assembler_that_fails_or_is_killed_ends_the_build_as_it_would_alone() {
    let Some(bench) = Bench::new("13.5") else { return };
    let fake = bench.path("fake");
    for keep in ["better", "always"] {
        write_executable(&fake, "#!/bin/sh\necho out\necho 'fatal: no licence' >&2\nexit 3\n");
        let output =
            run(bench.front("-arch=sm_75 blend.s -o x").env("PTXOPT_PTXAS", &fake).env("PTXOPT_KEEP", keep));
        assert_eq!((output.status.code(), &*said(&output)), (Some(3), "fatal: no licence\n"));
        assert_eq!(output.stdout, b"out\n");
        write_executable(&fake, "#!/bin/sh\nkill -9 $$\n");
        let output =
            run(bench.front("-arch=sm_75 blend.s -o x").env("PTXOPT_PTXAS", &fake).env("PTXOPT_KEEP", keep));
        assert!(!output.status.success());
        assert!(!bench.path("x").exists());
    }
    // It takes only what came.
    let real = bench.real.display();
    let script = format!(
        "#!/bin/sh\ngrep -q vavrg4 blend.s && case \"$*\" in */*blend.s*) echo no >&2; exit 1;; esac\nexec {real} \"$@\"\n"
    );
    write_executable(&fake, &script);
    let output = run(bench.front("-arch=sm_75 blend.s -o front.cubin").env("PTXOPT_PTXAS", &fake));
    as_it_came(&bench, "-arch=sm_75 blend.s", &output, "a bug of ptxopt");
}

#[test]
fn an_assembler_that_succeeds_without_a_cubin_is_not_believed() {
    let Some(bench) = Bench::new("13.5") else { return };
    let fake = bench.path("fake");
    let real = bench.real.display();
    // As where the disk is full: of what came it would have told.
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *--verbose*) ;; */out/*) : >front.cubin; exit 0;; esac\nexec {real} \"$@\"\n"
    );
    write_executable(&fake, &script);
    for keep in ["better", "always"] {
        let mut command = bench.front("-arch=sm_75 blend.s -o front.cubin");
        let output = run(command.env("PTXOPT_PTXAS", &fake).env("PTXOPT_KEEP", keep));
        as_it_came(&bench, "-arch=sm_75 blend.s", &output, "`front.cubin` is no cubin");
    }
}

#[test]
fn options_from_a_pipe_are_read_by_the_assembler_alone() {
    let Some(bench) = Bench::new("13.5") else { return };
    bench.write("options", "-o front.cubin");
    let mut command = bench.front("-arch=sm_75 blend.s --options-file /dev/stdin");
    let piped = Command::new("cat").arg(bench.path("options")).stdout(Stdio::piped()).spawn();
    let mut piped = piped.expect("there is `cat`");
    command.stdin(piped.stdout.take().expect("it is piped"));
    let output = run(&mut command);
    assert!(piped.wait().expect("it ends").success());
    as_it_came(&bench, "-arch=sm_75 blend.s", &output, "/dev/stdin");
}

#[test]
fn the_output_of_a_line_that_the_assembler_refuses_is_not_written() {
    let Some(bench) = Bench::new("13.5") else { return };
    let line = "-arch=sm_75 blend.s -v -o";
    let (real, front) = (bench.real(line), run(&mut bench.front(line)));
    assert_eq!((front.status.code(), said(&front)), (real.status.code(), said(&real)));
    assert_eq!(real.status.code(), Some(255));
    assert!(!bench.path("elf.o").exists());
}

#[test]
fn what_ptxopt_refuses_and_the_assembler_takes_is_assembled() {
    let Some(bench) = Bench::new("13.5") else { return };
    // The assembler knows this one directive of the preprocessor.
    bench.write(
        "marked.ptx",
        &crate::BLEND.replace(".address_size 64\n", ".address_size 64\n#line 1 \"k.cu\"\n"),
    );
    let line = "-arch=sm_75 marked.ptx";
    let output = run(&mut bench.front(&format!("{line} -o front.cubin")));
    as_it_came(&bench, line, &output, "`marked.ptx` is assembled as it is: line ");
}

#[test]
fn an_optimiser_without_time_or_memory_costs_nothing_but_the_gain() {
    let Some(bench) = Bench::new("13.5") else { return };
    let line = "-arch=sm_75 blend.s";
    for (name, value, why) in [
        ("PTXOPT_SECONDS", "0", "has not ended after 0 s"),
        // Where the memory runs out decides whether an allocation fails or a thread does not start.
        ("PTXOPT_MEMORY", "20", "the optimiser ended with "),
        ("PTXOPT_MEMORY", "much", "`PTXOPT_MEMORY=much` is no number"),
        ("PTXOPT_KEEP", "some", "`PTXOPT_KEEP=some` is neither"),
        ("TMPDIR", "/nowhere", "temporary files cannot be made"),
    ] {
        let output = run(bench.front(&format!("{line} -o front.cubin")).env(name, value));
        as_it_came(&bench, line, &output, why);
    }
}

#[test]
fn what_cannot_be_told_does_not_stop_a_build() {
    let Some(bench) = Bench::new("13.5") else { return };
    crate::silent(&run(&mut bench.front("-arch=sm_75 blend.s -o told.cubin")));
    for (name, what) in [("PTXOPT_LOG", "the log"), ("PTXOPT_REMARKS", "remarks on")] {
        let output = run(bench.front("-arch=sm_75 blend.s -o untold.cubin").env(name, "/dev/null/x"));
        assert!(output.status.success());
        assert!(said(&output).starts_with(&format!("ptxopt: {what}")), "{}", said(&output));
        assert_eq!(bench.read("untold.cubin"), bench.read("told.cubin"));
    }
}

#[test]
fn where_large_files_cannot_be_written_the_assembler_still_writes_its_own() {
    let Some(bench) = Bench::new("13.5") else { return };
    // The optimised text is larger than what may be written, the cubin is not.
    let comment = format!("// {}\n", "a long line ".repeat(200)).repeat(100);
    bench.write("large.ptx", &(comment + crate::BLEND));
    let line = "-arch=sm_75 large.ptx";
    let mut command = bench.at(Path::new("sh"), "");
    command.args(["-c", &format!("ulimit -f 100; exec {FRONT} {line} -o front.cubin")]);
    let output = run(command.env("PTXOPT_PTXAS", &bench.real));
    as_it_came(&bench, line, &output, "`large.ptx` is assembled as it is: ");
}

#[test]
#[cfg(target_os = "linux")]
fn an_output_that_cannot_be_written_is_the_assemblers_to_report() {
    let Some(bench) = Bench::new("13.5") else { return };
    fs::create_dir(bench.path("folder")).expect("a folder can be made");
    // The cubin of several functions is larger than the assembler's buffer, whose last part it does not check.
    let entry = crate::BLEND.split_once(".visible").expect("it has an entry").1;
    let more: String =
        (0..20).map(|n| format!(".visible{}", entry.replace("blend", &format!("blend{n}")))).collect();
    bench.write("many.ptx", &format!("{}{more}", crate::BLEND));
    for output in ["/dev/full", "/nowhere/x.cubin", "folder"] {
        for verbose in ["", " -v"] {
            let line = format!("-arch=sm_75 many.ptx -o {output}{verbose}");
            let (real, front) = (bench.real(&line), run(&mut bench.front(&line)));
            assert_eq!(front.status.code(), real.status.code(), "{line}: {}", said(&front));
            assert!(!real.status.success(), "{line}");
            let fatal = |said: String| -> Vec<String> {
                said.lines().filter(|line| line.contains("fatal")).map(str::to_owned).collect()
            };
            assert_eq!(fatal(said(&front)), fatal(said(&real)), "{line}");
        }
    }
}

#[test]
fn no_temporary_file_is_left() {
    let Some(bench) = Bench::new("13.5") else { return };
    fs::create_dir(bench.path("tmp")).expect("a folder can be made");
    bench.write("plain75.ptx", &crate::PLAIN.replace("sm_61", "sm_75"));
    bench.write("wrong.ptx", &crate::BLEND.replace("ret;", "bra nowhere;"));
    for input in ["blend.s", "plain75.ptx", "wrong.ptx"] {
        let _any = run(bench.front(&format!("-arch=sm_75 {input} -o x")).env("TMPDIR", bench.path("tmp")));
        assert_eq!(fs::read_dir(bench.path("tmp")).expect("it is there").count(), 0, "{input}");
    }
}
