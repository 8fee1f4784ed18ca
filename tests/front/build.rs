//! What gets worse goes back, and what a build may ask for besides.

use crate::{BLEND, Bench, LONGER, run, said, silent};
use ptxopt::measure::{cubin, rolled};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

#[test]
fn a_function_that_gets_longer_goes_back() {
    let Some(bench) = Bench::new("12.9") else { return };
    for verbose in ["", " -v"] {
        let line = |input: &str, output: &str| format!("-arch=sm_61 {input} -o {output}{verbose}");
        assert!(bench.real(&line("longer.ptx", "real.cubin")).status.success());
        assert!(run(&mut bench.front(&line("longer.ptx", "front.cubin"))).status.success());
        assert_eq!(bench.read("front.cubin"), bench.read("real.cubin"));
        let always = run(bench.front(&line("longer.ptx", "always.cubin")).env("PTXOPT_KEEP", "always"));
        assert!(always.status.success());
        assert_ne!(bench.read("always.cubin"), bench.read("real.cubin"), "unmeasured, it changes");
    }
}

#[test]
fn a_function_that_gets_longer_because_its_loop_is_unrolled_is_kept() {
    let Some(bench) = Bench::new("12.9") else { return };
    let line = |output: &str| format!("-arch=sm_61 unrolled.ptx -o {output}");
    assert!(bench.real(&line("real.cubin")).status.success());
    assert!(run(bench.front(&line("front.cubin")).env("PTXOPT_LOG", "log")).status.success());
    let log = String::from_utf8(bench.read("log")).expect("it is text");
    assert!(log.contains("`sums` got longer since a loop became short enough to be unrolled: "), "{log}");
    let [before, after] = ["real.cubin", "front.cubin"].map(|name| lengths(&bench, name, 61)["sums"]);
    assert!(before < after, "{before} -> {after}: it is not unrolled");
}

#[test]
fn only_the_function_that_gets_longer_goes_back() {
    let Some(bench) = Bench::new("12.9") else { return };
    let other = BLEND.split_once(".visible").expect("it has an entry").1;
    bench.write("both.ptx", &format!("{LONGER}\n.visible{other}"));
    bench.optimised("both.ptx", "half.ptx", "sm_61", &["--leave", "longer"]);
    silent(&bench.real("-arch=sm_61 half.ptx -o real.cubin"));
    silent(&run(bench.front("-arch=sm_61 both.ptx -o front.cubin").env("PTXOPT_LOG", "log")));
    assert_eq!(bench.read("front.cubin"), bench.read("real.cubin"));
    let log = String::from_utf8(bench.read("log")).expect("it is text");
    assert!(
        log.starts_with("both.ptx for sm_61: ") && log.contains("`longer` stays: it would get worse: "),
        "{log}"
    );
}

/// How many machine instructions each function of a cubin has.
fn lengths(bench: &Bench, name: &str, gpu: u32) -> BTreeMap<String, usize> {
    let functions = cubin::functions(&bench.read(name), gpu).expect("it is a cubin");
    functions.into_iter().map(|function| (function.name, function.instructions.len())).collect()
}

#[test]
fn no_function_of_the_modules_by_hand_gets_longer_and_most_get_shorter() {
    let Some(bench) = Bench::new("12.9") else { return };
    let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/modules/by-hand");
    let (mut functions, mut shorter) = (0, 0);
    for entry in fs::read_dir(modules).expect("the folder is part of the repository") {
        let path = entry.expect("it can be listed").path();
        // The assembler unrolls loops that became short enough.
        let text = rolled(&fs::read(&path).expect("it can be read")).expect("it is a module");
        fs::write(bench.path("module.ptx"), text).expect("it can be written");
        for gpu in [61, 90] {
            // Those that call what another module has are not linked.
            let line = |output: &str| format!("-c -arch=sm_{gpu} module.ptx -o {output}");
            assert!(bench.real(&line("real.cubin")).status.success(), "{}", path.display());
            assert!(run(&mut bench.front(&line("front.cubin"))).status.success(), "{}", path.display());
            let (before, after) = (lengths(&bench, "real.cubin", gpu), lengths(&bench, "front.cubin", gpu));
            assert!(before.keys().eq(after.keys()), "{}", path.display());
            for (name, before) in before {
                let after = after[&name];
                assert!(after <= before, "`{name}` of {}: {before} became {after}", path.display());
                functions += 1;
                shorter += u32::from(after < before);
            }
        }
    }
    assert!(shorter > functions / 2, "{shorter} of {functions} functions get shorter");
}

#[test]
fn an_unchanged_module_is_assembled_once_and_a_changed_one_as_often_as_needed() {
    let Some(bench) = Bench::new("13.5") else { return };
    bench.write("plain75.ptx", &crate::PLAIN.replace("sm_61", "sm_75"));
    let counting = bench.path("counting");
    let script = format!("#!/bin/sh\necho \"$@\" >>calls\nexec {} \"$@\"\n", bench.real.display());
    crate::write_executable(&counting, &script);
    for (line, keep, calls) in [
        ("-arch=sm_75 plain75.ptx", "", 1),
        // Before and after, and once more without `-v`, which the assembler would mention in the cubin.
        ("-arch=sm_75 blend.s", "", 3),
        ("-v -arch=sm_75 blend.s", "", 2),
        ("-arch=sm_75 blend.s", "always", 1),
    ] {
        let _none = fs::remove_file(bench.path("calls"));
        let mut command = bench.front(&format!("{line} -o x.cubin"));
        let output = run(command.env("PTXOPT_PTXAS", &counting).env("PTXOPT_KEEP", keep));
        assert!(output.status.success(), "{line}: {}", said(&output));
        let counted = String::from_utf8(bench.read("calls")).expect("it is text").lines().count();
        assert_eq!(counted, calls, "{line} {keep}");
    }
}

#[test]
fn the_log_and_the_remarks_say_what_was_done() {
    let Some(bench) = Bench::new("13.5") else { return };
    for line in ["-arch=sm_75 blend.s -o x.cubin", "-arch=sm_90 blend.s -o x.cubin"] {
        silent(&run(bench.front(line).env("PTXOPT_LOG", "log").env("PTXOPT_REMARKS", "remarks/of/all")));
    }
    let log = String::from_utf8(bench.read("log")).expect("it is text");
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines.len(), 2, "{log}");
    for (line, gpu) in lines.iter().zip(["sm_75", "sm_90"]) {
        let counts = line.strip_prefix(&format!("blend.s for {gpu}: ")).expect("it names input and GPU");
        let numbers: Vec<u32> = counts.split(' ').filter_map(|word| word.parse().ok()).collect();
        assert!(numbers.len() == 2 && numbers[1] < numbers[0], "{line}");
    }
    let remarks = fs::read_dir(bench.path("remarks/of/all")).expect("the folder was made");
    let mut names: Vec<String> = remarks
        .map(|entry| entry.expect("it can be listed").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert!(
        names.len() == 2 && names[0].starts_with("blend.s.sm_75.") && names[1].starts_with("blend.s.sm_90.")
    );
    let remarks = String::from_utf8(bench.read(&format!("remarks/of/all/{}", names[0]))).expect("it is text");
    assert!(
        remarks.lines().all(|line| line.starts_with("{\"kind\":")) && remarks.contains("vavrg4"),
        "{remarks}"
    );
}

#[test]
fn the_log_says_why_nothing_was_optimised() {
    let Some(bench) = Bench::new("13.5") else { return };
    let usual = "-arch=sm_75 blend.s -o x.cubin";
    let debug = format!("{usual} -g");
    for (line, variable, logged) in [
        (&*debug, ("", ""), "blend.s for sm_75: not optimised: `-g` asks for debug information"),
        ("blend.s -o x.cubin", ("", ""), "blend.s: not optimised: no `--gpu-name` says for which GPU"),
        (
            "-arch=sm_75 blend.s --nonsense",
            ("", ""),
            "blend.s for sm_75: not optimised: the option `--nonsense` is not known",
        ),
        (
            "-arch=sm_75 blend.s -o x -o y",
            ("", ""),
            "blend.s for sm_75: not optimised: the output is named twice, or not at all",
        ),
        ("-arch=sm_75", ("", ""), "no known input for sm_75: not optimised: nothing is to be assembled"),
        (usual, ("PTXOPT_DISABLE", "1"), "blend.s for sm_75: not optimised: `PTXOPT_DISABLE=1`"),
        (
            usual,
            ("PTXOPT_KEEP", "some"),
            "blend.s for sm_75: not optimised: `PTXOPT_KEEP=some` is neither `better` nor `always`",
        ),
        (
            usual,
            ("TMPDIR", "/nowhere"),
            "blend.s for sm_75: assembled as it is: temporary files cannot be made: ",
        ),
    ] {
        let _none = fs::remove_file(bench.path("log"));
        let mut command = bench.front(line);
        if !variable.0.is_empty() {
            command.env(variable.0, variable.1);
        }
        assert_eq!(
            run(command.env("PTXOPT_LOG", "log")).status.code(),
            bench.real(line).status.code(),
            "{line}"
        );
        let log = String::from_utf8(bench.read("log")).expect("it is text");
        assert!(log.starts_with(logged) && log.lines().count() == 1, "{line}: {log}");
    }
}

#[test]
fn what_assembles_nothing_is_not_in_the_log() {
    let Some(bench) = Bench::new("13.5") else { return };
    for disabled in ["0", "1"] {
        for line in ["--version", "--help", "--list-arch"] {
            let output = run(bench.front(line).env("PTXOPT_LOG", "log").env("PTXOPT_DISABLE", disabled));
            assert!(output.status.success(), "{line}");
        }
    }
    assert!(!bench.path("log").exists());
}

#[test]
fn with_ptxopt_switched_off_the_assembler_is_alone() {
    let Some(bench) = Bench::new("13.5") else { return };
    silent(&bench.real("-arch=sm_75 blend.s -o real.cubin"));
    silent(&run(bench.front("-arch=sm_75 blend.s -o front.cubin").env("PTXOPT_DISABLE", "1")));
    assert_eq!(bench.read("front.cubin"), bench.read("real.cubin"));
}
