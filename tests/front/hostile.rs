//! The front when things go wrong: each run ends as that of the real assembler would have.

use crate::{Bench, run, said, silent, write_executable};
use std::fs;
use std::os::unix::process::ExitStatusExt;
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
fn an_assembler_that_fails_ends_the_build_as_it_would_alone() {
    let Some(bench) = Bench::new("13.5") else { return };
    let fake = bench.path("fake");
    for keep in ["better", "always"] {
        write_executable(&fake, "#!/bin/sh\necho out\necho 'fatal: no licence' >&2\nexit 3\n");
        let output =
            run(bench.front("-arch=sm_75 blend.s -o x").env("PTXOPT_PTXAS", &fake).env("PTXOPT_KEEP", keep));
        assert_eq!((output.status.code(), &*said(&output)), (Some(3), "fatal: no licence\n"));
        assert_eq!(output.stdout, b"out\n");
    }
}

#[test]
fn an_assembler_that_a_signal_ends_ends_the_front_by_the_same() {
    let Some(bench) = Bench::new("13.5") else { return };
    let fake = bench.path("fake");
    bench.write("plain75.ptx", &crate::PLAIN.replace("sm_61", "sm_75"));
    // Segmentation faults are those for which Rust has a handler.
    for (name, signal) in [("KILL", 9), ("SEGV", 11), ("TERM", 15)] {
        write_executable(&fake, &format!("#!/bin/sh\nkill -{name} $$\n"));
        for (line, input) in [
            ("-arch=sm_75 blend.s -o x", None),
            ("-arch=sm_75 plain75.ptx -o x", None),
            ("-arch=sm_75 - -o x", Some("blend.s")),
            ("-arch=sm_75 - -o x", Some("plain75.ptx")),
            ("--version", None),
        ] {
            for keep in ["better", "always"] {
                let mut command = bench.front(line);
                if let Some(input) = input {
                    command.stdin(fs::File::open(bench.path(input)).expect("it is there"));
                }
                let output = run(command.env("PTXOPT_PTXAS", &fake).env("PTXOPT_KEEP", keep));
                assert_eq!((output.status.signal(), &*said(&output)), (Some(signal), ""), "{line} {keep}");
                assert!(!bench.path("x").exists());
            }
        }
    }
}

#[test]
fn where_the_assembler_fails_but_at_what_came_a_line_says_so() {
    let Some(bench) = Bench::new("13.5") else { return };
    let fake = bench.path("fake");
    let real = bench.real.display();
    let bug = "the assembler takes it as it came and not as it would be written: a bug of ptxopt, please report it: exit status: 1: no";
    for (keep, what, then, why) in [
        (
            "better",
            "*/before*",
            "printf 'info\\nfatal: no' >&2; exit 1",
            "it cannot be measured: exit status: 1: fatal: no",
        ),
        ("better", "*/before*", "kill -9 $$", "it cannot be measured: signal: 9 (SIGKILL)"),
        ("better", "*/after*", "echo no >&2; exit 1", bug),
        ("better", "*/after*", "kill -9 $$", "the assembler was ended: signal: 9 (SIGKILL)"),
        // The last run.
        (
            "better",
            "*/out/*-o\\ f*",
            "kill -9 $$",
            "what was measured cannot be written: signal: 9 (SIGKILL)",
        ),
        ("always", "*/out/*", "echo no >&2; exit 1", bug),
        ("always", "*/out/*", "kill -9 $$", "the assembler was ended: signal: 9 (SIGKILL)"),
    ] {
        let _none = fs::remove_file(bench.path("log"));
        write_executable(
            &fake,
            &format!("#!/bin/sh\ncase \"$*\" in {what}) {then};; esac\nexec {real} \"$@\"\n"),
        );
        let mut command = bench.front("-arch=sm_75 blend.s -o front.cubin");
        command.env("PTXOPT_PTXAS", &fake).env("PTXOPT_KEEP", keep).env("PTXOPT_LOG", "log");
        as_it_came(&bench, "-arch=sm_75 blend.s", &run(&mut command), why);
        let log = String::from_utf8(bench.read("log")).expect("it is text");
        assert!(log.starts_with(&format!("blend.s for sm_75: assembled as it is: {why}")), "{log}");
    }
}

#[test]
fn where_the_assembler_fails_at_what_came_this_is_in_the_log_alone() {
    let Some(bench) = Bench::new("13.5") else { return };
    let fake = bench.path("fake");
    write_executable(&fake, "#!/bin/sh\necho 'fatal: no licence' >&2\nexit 3\n");
    for keep in ["better", "always"] {
        let mut command = bench.front("-arch=sm_75 blend.s -o x");
        command.env("PTXOPT_PTXAS", &fake).env("PTXOPT_KEEP", keep).env("PTXOPT_LOG", keep);
        assert_eq!(said(&run(&mut command)), "fatal: no licence\n");
        let log = String::from_utf8(bench.read(keep)).expect("it is text");
        assert_eq!(
            log,
            "blend.s for sm_75: the assembler fails at it as it came: exit status: 3: fatal: no licence\n"
        );
    }
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
    // The assembler does not need a blank between these two words.
    bench.write("glued.ptx", &crate::BLEND.replace("\n.address_size 64\n", ".address_size 64\n"));
    let line = "-arch=sm_75 glued.ptx";
    let output = run(&mut bench.front(&format!("{line} -o front.cubin")));
    as_it_came(&bench, line, &output, "`glued.ptx` is assembled as it is: line ");
}

#[test]
fn without_the_name_of_a_gpu_what_came_is_assembled_for_the_assemblers_own_and_a_line_says_so() {
    let Some(bench) = Bench::new("13.5") else { return };
    let output = run(&mut bench.front("blend.s -o front.cubin"));
    as_it_came(&bench, "blend.s", &output, "assembled as it is: no `--gpu-name` says for which GPU");
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
    silent(&run(&mut bench.front("-arch=sm_75 blend.s -o told.cubin")));
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
#[cfg(target_os = "linux")]
fn a_device_that_is_full_is_noticed_where_only_what_came_is_larger_than_the_assemblers_buffer() {
    let Some(bench) = Bench::new("13.5") else { return };
    bench.optimised("blend.s", "small.s", "sm_75", &[]);
    let onto = |input: &str| bench.real(&format!("-arch=sm_75 {input} -o /dev/full"));
    assert!(onto("small.s").status.success(), "the assembler does not notice");
    let real = onto("blend.s");
    assert!(!real.status.success());
    for (keep, verbose) in [("better", ""), ("better", " -v"), ("always", ""), ("always", " -v")] {
        let mut command = bench.front(&format!("-arch=sm_75 blend.s -o /dev/full{verbose}"));
        let front = run(command.env("PTXOPT_KEEP", keep).env("PTXOPT_LOG", "log"));
        assert_eq!(front.status.code(), real.status.code(), "{keep}{verbose}");
        assert!(said(&front).ends_with(&said(&real)), "{keep}{verbose}: {}", said(&front));
    }
    let log = String::from_utf8(bench.read("log")).expect("it is text");
    let why = "blend.s for sm_75: the assembler fails at it as it came: ";
    assert!(log.lines().count() == 4 && log.lines().all(|line| line.starts_with(why)), "{log}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_device_that_the_assembler_does_not_notice_is_told() {
    let Some(bench) = Bench::new("12.9") else { return };
    let front = run(&mut bench.front("-arch=sm_75 blend.s -o /dev/full"));
    assert!(front.status.success() && bench.real("-arch=sm_75 blend.s -o /dev/full").status.success());
    let told = "ptxopt: assembled as it is: `/dev/full` cannot be written: ";
    assert!(said(&front).starts_with(told) && said(&front).lines().count() == 1, "{}", said(&front));
}

#[test]
fn a_pipe_gets_the_cubin_of_the_optimised_text() {
    let Some(bench) = Bench::new("13.5") else { return };
    silent(&run(&mut bench.front("-arch=sm_75 blend.s -o file.cubin")));
    for (keep, verbose) in [("better", ""), ("better", " -v"), ("always", "")] {
        let mut command = bench.front(&format!("-arch=sm_75 blend.s -o /dev/stdout{verbose}"));
        let output = run(command.env("PTXOPT_KEEP", keep));
        assert!(output.status.success(), "{}", said(&output));
        if verbose.is_empty() {
            assert_eq!(output.stdout, bench.read("file.cubin"), "{keep}");
        }
        assert!(output.stdout.starts_with(b"\x7fELF"), "{keep}{verbose}");
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
