//! A front that is killed leaves no process and no file behind, and ends by the signal.

use crate::{Bench, run, said};
use std::fs;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A module that takes seconds.
fn slow() -> String {
    let operations =
        ["vadd4.u32.u32.u32.sat", "vavrg4.u32.u32.u32", "vmax4.s32.s32.s32", "vabsdiff4.u32.u32.u32"];
    let lines: String = (0..1000)
        .map(|n| format!("{} %r{}, %r{}, %r{n}, %r{};\n", operations[n % 4], n + 2, n + 1, n + 1))
        .collect();
    format!(
        ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry slow(.param .u64 p)\n{{\n\
         .reg .b32 %r<1002>;\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [p];\nld.global.u32 %r0, [%rd1];\n\
         ld.global.u32 %r1, [%rd1+4];\n{lines}st.global.u32 [%rd1], %r1001;\nret;\n}}\n"
    )
}

/// What `find` finds, within a minute.
fn until<T>(what: &str, mut find: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The optimiser that a front started.
fn optimiser(front: &Child) -> String {
    let children = format!("/proc/{0}/task/{0}/children", front.id());
    until("there is no optimiser", || {
        let children = fs::read_to_string(&children).ok()?;
        let is_it = |child: &&str| {
            let words = fs::read(format!("/proc/{child}/cmdline")).unwrap_or_default();
            words.split(|&byte| byte == 0).any(|word| word == b"optimise")
        };
        children.split_whitespace().find(is_it).map(str::to_owned)
    })
}

/// Whether a process runs: not those that nobody has asked for their status yet.
fn runs(process: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    status.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

fn kill(signal: i32, process: &str) {
    let killed = Command::new("sh").args(["-c", &format!("kill -{signal} {process}")]).status();
    assert!(killed.expect("a shell starts").success());
}

/// Starts the front, whose temporary files are in a folder of the test.
fn started(bench: &Bench, line: &str, change: impl FnOnce(&mut Command)) -> Child {
    let _there = fs::create_dir(bench.path("tmp"));
    let mut command = bench.front(line);
    command.env("TMPDIR", bench.path("tmp")).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own, as those that a shell starts have.
    command.process_group(0);
    change(&mut command);
    command.spawn().expect("the front starts")
}

fn ended(front: Child) -> Output {
    front.wait_with_output().expect("the front ends")
}

fn nothing_is_left(bench: &Bench, processes: &[String]) {
    until("a file is left", || (fs::read_dir(bench.path("tmp")).ok()?.count() == 0).then_some(()));
    until("a process is left", || (!processes.iter().any(|process| runs(process))).then_some(()));
}

#[test]
fn a_killed_optimiser_costs_nothing_but_the_gain() {
    let Some(bench) = Bench::new("13.5") else { return };
    bench.write("slow.ptx", &slow());
    let front = started(&bench, "-arch=sm_75 slow.ptx -o front.cubin", |_| {});
    kill(9, &optimiser(&front));
    let output = ended(front);
    crate::hostile::as_it_came(&bench, "-arch=sm_75 slow.ptx", &output, "the optimiser ended with signal: 9");
    nothing_is_left(&bench, &[]);
}

#[test]
fn a_front_that_is_killed_while_it_optimises_leaves_nothing() {
    let Some(bench) = Bench::new("13.5") else { return };
    bench.write("slow.ptx", &slow());
    for signal in [1, 2, 9, 15] {
        let front = started(&bench, "-arch=sm_75 slow.ptx -o front.cubin", |_| {});
        let optimiser = optimiser(&front);
        kill(signal, &front.id().to_string());
        let output = ended(front);
        assert_eq!((output.status.signal(), &*said(&output)), (Some(signal), ""));
        nothing_is_left(&bench, &[optimiser]);
        assert!(!bench.path("front.cubin").exists());
    }
}

#[test]
fn a_front_that_is_killed_while_the_assembler_runs_leaves_nothing() {
    let Some(bench) = Bench::new("13.5") else { return };
    let endless = bench.path("endless");
    crate::write_executable(&endless, "#!/bin/sh\necho $$ >>processes\nexec sleep 1000\n");
    // By itself, and from a terminal: then all processes of the group are meant.
    for (signal, of, keep) in
        [(2, "", "better"), (15, "", "always"), (9, "", "better"), (2, "-", "always"), (9, "-", "better")]
    {
        bench.write("processes", "");
        let front = started(&bench, "-arch=sm_75 blend.s -o front.cubin", |command| {
            command.env("PTXOPT_PTXAS", &endless).env("PTXOPT_KEEP", keep);
        });
        let count = if keep == "better" { 2 } else { 1 };
        let assemblers: Vec<String> = until("the assembler does not start", || {
            let said = String::from_utf8(bench.read("processes")).ok()?;
            (said.lines().count() == count).then(|| said.lines().map(str::to_owned).collect())
        });
        assert!(assemblers.iter().all(|process| runs(process)));
        kill(signal, &format!("{of}{}", front.id()));
        assert_eq!(ended(front).status.signal(), Some(signal));
        nothing_is_left(&bench, &assemblers);
    }
}

#[test]
fn the_assembler_that_a_front_becomes_has_no_children_that_it_did_not_start() {
    let Some(bench) = Bench::new("13.5") else { return };
    let fake = bench.path("fake");
    crate::write_executable(
        &fake,
        "#!/bin/sh\nread children </proc/$$/task/$$/children\necho \"[$children]\"\n",
    );
    bench.write("plain75.ptx", &crate::PLAIN.replace("sm_61", "sm_75"));
    let output = run(bench.front("-arch=sm_75 plain75.ptx -o x").env("PTXOPT_PTXAS", &fake));
    assert_eq!((&*output.stdout, &*said(&output)), (&b"[]\n"[..], ""));
}

#[test]
fn only_folders_of_the_front_are_deleted_for_it() {
    let Some(bench) = Bench::new("13.5") else { return };
    for (name, is_left) in [("folder", true), ("ptxopt-folder", false)] {
        fs::create_dir(bench.path(name)).expect("a folder can be made");
        let mut keeper = bench.front(&format!("--ptxopt-child keep 1 {name}"));
        assert!(run(keeper.stdin(Stdio::null())).status.success());
        assert_eq!(bench.path(name).exists(), is_left, "{name}");
    }
}
