//! Where outputs go: pipes and descriptors as well as files, remarks that cannot be written, and readers of remarks.

#![cfg(unix)]

use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

const GOOD: &[u8] = b".version 8.0\n.target sm_75\n.visible .entry good()\n{\n\tret;\n}\n";

/// Runs a script of bash in `directory`, where `in.ptx` is a module and `$PTXOPT` the command.
fn script(directory: &TempDir, script: &str) -> Output {
    std::fs::write(directory.path().join("in.ptx"), GOOD).expect("it can be written");
    let mut bash = Command::new("bash");
    bash.current_dir(directory).env("PTXOPT", env!("CARGO_BIN_EXE_ptxopt")).args(["-c", script]);
    bash.output().expect("there is a bash")
}

fn directory() -> TempDir {
    tempfile::tempdir().expect("a directory can be made")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn standard_output_has_many_names() {
    let directory = directory();
    for name in ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        for script_text in [
            format!("\"$PTXOPT\" in.ptx -o {name}"),
            format!("\"$PTXOPT\" in.ptx -o {name} | cat"),
            // What was written before stays, and so does the file itself.
            format!("(printf x; \"$PTXOPT\" in.ptx -o {name}) >out; tail -c +2 out"),
            format!("printf x >out; \"$PTXOPT\" in.ptx -o {name} >>out; tail -c +2 out"),
        ] {
            let output = script(&directory, &script_text);
            assert_eq!(
                (output.status.code(), text(&output.stderr)),
                (Some(0), String::new()),
                "{script_text}"
            );
            assert_eq!(text(&output.stdout), text(GOOD), "{script_text}");
        }
    }
}

#[test]
fn other_descriptors_are_written_to_where_they_are() {
    let directory = directory();
    for script_text in [
        "\"$PTXOPT\" in.ptx -o /dev/fd/3 3>out; cat out",
        "exec 3>out; printf x >&3; \"$PTXOPT\" in.ptx -o /dev/fd/3; tail -c +2 out",
        "\"$PTXOPT\" in.ptx -o /dev/fd/3 3>&1 | cat",
        "\"$PTXOPT\" in.ptx -o /dev/stderr 2>&1",
        // In a shell of its own: this one would keep the pipe open.
        "(\"$PTXOPT\" in.ptx -o >(cat >pipe; echo done >>pipe))\n\
         for _ in {1..600}; do grep -q done pipe 2>/dev/null && break; sleep 0.05; done; grep -v done pipe",
    ] {
        let output = script(&directory, script_text);
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()), "{script_text}");
        assert_eq!(text(&output.stdout), text(GOOD), "{script_text}");
    }
}

#[test]
fn remarks_that_cannot_be_written_keep_the_output_from_being() {
    let directory = directory();
    let before = "printf before >out.ptx; mkdir there; printf x >sealed; chmod 444 sealed\n";
    for remarks in ["missing/out.json", "there", "sealed"] {
        let run = format!(
            "{before}\"$PTXOPT\" in.ptx -o out.ptx --remarks json --remarks-output {remarks}; echo $?; cat out.ptx"
        );
        let output = script(&directory, &run);
        assert_eq!(text(&output.stdout), "3\nbefore", "{remarks}");
        assert!(text(&output.stderr).contains(&format!("error: cannot write `{remarks}`: ")), "{remarks}");
    }
}

#[test]
fn a_report_that_cannot_be_written_keeps_the_output_from_being() {
    let directory = directory();
    let before = "printf before >out.ptx; mkdir there; printf x >sealed; chmod 444 sealed\n";
    for report in ["missing/out.html", "there", "sealed"] {
        let run = format!("{before}\"$PTXOPT\" in.ptx -o out.ptx --report {report}; echo $?; cat out.ptx");
        let output = script(&directory, &run);
        assert_eq!(text(&output.stdout), "3\nbefore", "{report}");
        assert!(text(&output.stderr).contains(&format!("error: cannot write `{report}`: ")), "{report}");
    }
}

#[test]
fn a_report_replaces_neither_inputs_nor_outputs_nor_remarks() {
    for (arguments, message) in [
        ("in.ptx -o out.ptx --report ./in.ptx", "the report would replace the input `in.ptx`"),
        ("in.ptx -o out.html --report lnk", "the result and the report would both go to `out.html`"),
        ("in.ptx --report -", "the result and the report would both go to standard output"),
        (
            "in.ptx -o out.ptx --remarks json --remarks-output x --report x",
            "the remarks and the report would both go to `x`",
        ),
        (
            "in.ptx -o out.ptx --remarks json --remarks-output - --report -",
            "the remarks and the report would both go to standard output",
        ),
        (
            "in.ptx --out-dir new --report new/in.ptx",
            "the result and the report would both go to `new/in.ptx`",
        ),
    ] {
        let directory = directory();
        let run = format!("ln -s out.html lnk; \"$PTXOPT\" {arguments}; echo $?; ls");
        let ran = script(&directory, &run);
        assert_eq!(text(&ran.stdout), "2\nin.ptx\nlnk\n", "{arguments}");
        let message = format!("error: {message}\n");
        assert!(text(&ran.stderr).starts_with(&message), "{}", text(&ran.stderr));
    }
}

#[test]
fn a_report_goes_where_remarks_may_go() {
    let directory = directory();
    let run = "\"$PTXOPT\" in.ptx -o out.ptx --report - | head -c 15; echo\n\
               \"$PTXOPT\" in.ptx --out-dir new --report new/page.html && ls new\n\
               printf 'not PTX' >bad.ptx; printf before >page.html\n\
               \"$PTXOPT\" bad.ptx -o bad.out --report page.html 2>/dev/null; echo $?; cat page.html";
    let ran = script(&directory, run);
    assert_eq!(text(&ran.stdout), "<!DOCTYPE html>\nin.ptx\npage.html\n1\nbefore");
}

#[test]
fn remarks_may_go_to_the_new_directory_of_the_outputs() {
    let directory = directory();
    let run = "\"$PTXOPT\" in.ptx --out-dir new --remarks json --remarks-output new/remarks.json && ls new";
    let output = script(&directory, run);
    assert_eq!(
        (text(&output.stdout).as_str(), text(&output.stderr).as_str()),
        ("in.ptx\nremarks.json\n", "")
    );
}

#[test]
fn links_to_a_missing_file_do_not_hide_that_outputs_are_the_same() {
    let links = "mkdir w; ln -s out.ptx lnk; ln -s ../w/../lnk w/far; ln -s w also\n";
    for (output, remarks) in [
        ("out.ptx", "lnk"),
        ("lnk", "out.ptx"),
        ("lnk", "w/far"),
        ("w/far", "./out.ptx"),
        ("w/new", "also/new"),
        ("w/../new", "$PWD/new"),
    ] {
        let directory = directory();
        let run = format!(
            "{links}\"$PTXOPT\" in.ptx -o {output} --remarks text --remarks-output {remarks}; echo $?; ls"
        );
        let ran = script(&directory, &run);
        assert_eq!(text(&ran.stdout), "2\nalso\nin.ptx\nlnk\nw\n", "{output} {remarks}");
        let message = format!("error: the result and the remarks would both go to `{output}`\n");
        assert!(text(&ran.stderr).starts_with(&message), "{}", text(&ran.stderr));
    }
}

#[test]
fn links_do_not_hide_that_remarks_would_replace_a_result_in_a_new_directory() {
    let directory = directory();
    let run = "ln -s ./new/in.ptx lnk; mkdir there\n\
               \"$PTXOPT\" in.ptx --out-dir there/../new --remarks text --remarks-output lnk; echo $?; ls";
    let ran = script(&directory, run);
    assert_eq!(text(&ran.stdout), "2\nin.ptx\nlnk\nthere\n");
    let message = "error: the result and the remarks would both go to `there/../new/in.ptx`\n";
    assert!(text(&ran.stderr).starts_with(message), "{}", text(&ran.stderr));
}

#[test]
fn links_do_not_hide_that_results_are_the_same() {
    let files = "mkdir e w; cp in.ptx e/a.ptx; cp in.ptx e/b.ptx\n";
    for links in [
        "ln -s q.ptx w/a.ptx; ln -s ../w/q.ptx w/b.ptx",
        "printf before >w/q.ptx; ln -s q.ptx w/a.ptx; ln -s ../w/q.ptx w/b.ptx",
        "ln -s b.ptx w/a.ptx",
        "ln -s a.ptx w/b.ptx",
    ] {
        let directory = directory();
        let run = format!(
            "{files}{links}; ls w >before; \"$PTXOPT\" e/a.ptx e/b.ptx --out-dir w; echo $?\n\
             ls w | diff before -; cat w/q.ptx 2>&1 | grep -v 'No such'"
        );
        let ran = script(&directory, &run);
        let kept = if links.starts_with("printf") { "2\nbefore\n" } else { "2\n" };
        assert_eq!(text(&ran.stdout), kept, "{links}");
        let message = "error: `e/a.ptx` and `e/b.ptx` would both be written to `/";
        assert!(text(&ran.stderr).starts_with(message), "{}", text(&ran.stderr));
    }
}

#[test]
fn outputs_through_links_may_be_different_files_or_one_device() {
    let directory = directory();
    let run = "mkdir w; cp in.ptx a.ptx; cp in.ptx b.ptx; ln -s q.ptx w/a.ptx; ln -s q.ptx r; ln -s /dev/null n\n\
               \"$PTXOPT\" a.ptx b.ptx --out-dir w --remarks text --remarks-output r && cmp w/q.ptx w/b.ptx\n\
               \"$PTXOPT\" a.ptx -o n --remarks text --remarks-output /dev/null && ls . w";
    let ran = script(&directory, run);
    assert_eq!(
        (text(&ran.stdout).as_str(), text(&ran.stderr).as_str()),
        (".:\na.ptx\nb.ptx\nin.ptx\nn\nq.ptx\nr\nw\n\nw:\na.ptx\nb.ptx\nq.ptx\n", "")
    );
}

#[test]
fn a_cycle_of_links_is_no_output() {
    let directory = directory();
    for output in ["a", "inside", "a/out.ptx"] {
        let run = format!(
            "ln -sf b a; ln -sf a b; ln -sf inside/x inside\n\
             \"$PTXOPT\" in.ptx -o {output} --remarks text --remarks-output b; echo $?\n\
             \"$PTXOPT\" in.ptx -o {output}"
        );
        let ran = script(&directory, &run);
        assert_eq!(text(&ran.stdout), "3\n", "{output}");
        let errors = text(&ran.stderr);
        let (first, second) = ("error: cannot write `b`: ", format!("error: cannot write `{output}`: "));
        assert!(errors.starts_with(first) && errors.contains(&second), "{errors}");
    }
}

#[test]
fn remarks_repeat_unless_times_are_asked_for() {
    let directory = directory();
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/blend.ptx");
    let run = |format: &str, time: &str| {
        let run = format!(
            "\"$PTXOPT\" '{}' -o /dev/null --remarks {format} --remarks-output - {time}",
            module.display()
        );
        text(&script(&directory, &run).stdout)
    };
    for format in ["text", "json", "yaml"] {
        assert_eq!(run(format, ""), run(format, ""), "{format}");
    }
    for (format, key) in [("json", "\"seconds\":"), ("yaml", "- Time: ")] {
        assert!(!run(format, "").contains(key) && run(format, "--time").contains(key), "{format}");
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn llvm_reads_the_remarks() {
    let names = ["llvm-remarkutil", "llvm-remarkutil-19"];
    let there =
        |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|out| out.status.success());
    let Some(tool) = names.into_iter().find(there) else {
        eprintln!("SKIPPED: there is no `llvm-remarkutil`, as in Debian's llvm-19");
        return;
    };
    let directory = directory();
    let module = ".version 8.0\n.target sm_75\n.visible .func (.reg .b32 %d) it$s(.reg .b32 %a)\n{\n\
                  \tvavrg4.u32.u32.u32 %d, %a, %a, %a;\n\tret;\n}\n";
    std::fs::write(directory.path().join("it's.ptx"), module).expect("it can be written");
    std::fs::write(directory.path().join("debug.ptx"), text(GOOD).replace("sm_75", "sm_75, debug"))
        .expect("it can be written");
    let run = format!(
        "\"$PTXOPT\" \"it's.ptx\" debug.ptx --out-dir new --remarks yaml --remarks-output in.yaml &&\n\
         {tool} yaml2bitstream in.yaml -o bits && {tool} bitstream2yaml bits -o -"
    );
    let output = script(&directory, &run);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
    let read = text(&output.stdout);
    // LLVM quotes only strings that need it: our quotes must not become part of a value.
    for line in
        ["Pass:            ptxopt-simplify\n", "Function:        'it$s'\n", "  - GPU:             sm_75\n"]
    {
        assert!(read.contains(line), "{line}{read}");
    }
    assert!(!read.contains('"'), "{read}");
}
