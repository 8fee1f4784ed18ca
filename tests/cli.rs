//! The command line: the pages in `README.md` and `tests/cli/`, and tests that cannot be written as pages.
//!
//! To accept changed output: `TRYCMD=overwrite cargo test --test cli pages`.

#[cfg(unix)]
#[path = "support/executable.rs"]
mod executable;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

const GOOD: &[u8] = b".version 8.0\n.target sm_75\n.visible .entry good()\n{\n\tret;\n}\n";
const BAD: &[u8] = b".version 8.0\n.target sm_75\n.visible .entry bad()\n{\n\tbra nowhere;\n}\n";

fn ptxopt() -> Command {
    Command::new(env!("CARGO_BIN_EXE_ptxopt"))
}

fn directory() -> TempDir {
    tempfile::tempdir().expect("temporary files can be made")
}

fn write(path: &Path, text: &[u8]) {
    fs::write(path, text).expect("the test can write its input");
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).expect("the file is there")
}

fn run(command: &mut Command) -> Output {
    command.output().expect("ptxopt starts")
}

fn status(output: &Output) -> i32 {
    output.status.code().expect("ptxopt is not killed")
}

fn errors(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("messages are UTF-8")
}

/// The names in a directory, sorted.
fn listing(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("the directory is there");
    let name = |entry: std::io::Result<fs::DirEntry>| {
        entry.expect("it can be listed").file_name().to_string_lossy().into_owned()
    };
    let mut names: Vec<_> = entries.map(name).collect();
    names.sort();
    names
}

/// Runs `ptxopt - ARGS` with `text` as standard input.
fn pipe(text: &[u8], args: &[&str]) -> Output {
    let mut command = ptxopt();
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("ptxopt starts");
    let mut stdin = child.stdin.take().expect("it is piped");
    let text = text.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(&text));
    let output = child.wait_with_output().expect("ptxopt ends");
    writer.join().expect("the writer does not panic").expect("ptxopt reads all of its input");
    output
}

#[test]
fn pages() {
    trycmd::TestCases::new().case("README.md").case("tests/cli/*.md").case("tests/cli/*.toml");
}

#[test]
fn bytes_that_are_no_text_come_back_unchanged() {
    let comment = b"// caf\xE9 \xFF\x80\n";
    for text in [
        [GOOD, b"\0"].concat(),
        [GOOD, b"\0\0\0"].concat(),
        [GOOD, comment].concat(),
        GOOD.to_vec(),
        String::from_utf8_lossy(GOOD).replace('\n', "\r\n").into_bytes(),
        GOOD[..GOOD.len() - 1].to_vec(),
    ] {
        let output = pipe(&text, &["-"]);
        assert_eq!((status(&output), errors(&output)), (0, String::new()));
        assert_eq!(output.stdout, text);
    }
}

#[test]
fn a_failure_leaves_the_output_as_it_was() {
    let directory = directory();
    let (input, target) = (directory.path().join("in.ptx"), directory.path().join("out.ptx"));
    write(&input, BAD);
    let output = run(ptxopt().arg(&input).arg("-o").arg(&target));
    assert_eq!(status(&output), 1);
    assert!(!target.exists());
    write(&target, b"before");
    let output = run(ptxopt().arg(&input).arg("-o").arg(&target));
    assert_eq!((status(&output), output.stdout.len()), (1, 0));
    assert_eq!(read(&target), b"before");
    let output = run(ptxopt().arg(directory.path().join("missing.ptx")).arg("-o").arg(&target));
    assert_eq!(status(&output), 3);
    assert_eq!(read(&target), b"before");
    assert_eq!(listing(directory.path()), ["in.ptx", "out.ptx"]);
}

#[test]
fn an_input_can_be_its_own_output() {
    let directory = directory();
    let file = directory.path().join("x.ptx");
    write(&file, GOOD);
    assert_eq!(status(&run(ptxopt().arg(&file).arg("-o").arg(&file))), 0);
    assert_eq!(read(&file), GOOD);
    assert_eq!(listing(directory.path()), ["x.ptx"]);
}

#[test]
fn good_files_are_written_where_others_fail_and_messages_keep_their_order() {
    let directory = directory();
    let inputs: Vec<PathBuf> = (0..40).map(|i| directory.path().join(format!("{i:02}.ptx"))).collect();
    for (i, input) in inputs.iter().enumerate() {
        // The first are the slowest, so that threads finish out of order.
        let padding = [&b"//"[..], &b" padding".repeat((40 - i) * 2000), b"\n"].concat();
        write(input, &[padding.as_slice(), if i % 3 == 0 { BAD } else { GOOD }].concat());
    }
    let result = |threads: &str| {
        let target = directory.path().join(format!("out-{threads}"));
        let output = run(ptxopt().args(&inputs).arg("--out-dir").arg(&target).args(["-j", threads]));
        assert_eq!(status(&output), 1);
        (errors(&output), listing(&target))
    };
    let (messages, written) = result("1");
    for threads in ["2", "8", "64"] {
        assert_eq!(result(threads), (messages.clone(), written.clone()));
    }
    let expected = (0..40).filter(|i| i % 3 != 0).map(|i| format!("{i:02}.ptx"));
    assert_eq!(written, expected.collect::<Vec<_>>());
    let places: Vec<_> = messages.lines().filter(|line| line.contains("-->")).collect();
    assert!(places.len() == 14 && places.is_sorted(), "{messages}");
}

#[test]
fn the_worst_failure_is_the_exit_status() {
    let directory = directory();
    write(&directory.path().join("bad.ptx"), BAD);
    let mut command = ptxopt();
    command.current_dir(&directory).args(["missing.ptx", "bad.ptx", "--out-dir", "out"]);
    assert_eq!(status(&run(&mut command)), 3);
    assert!(!directory.path().join("out").exists(), "nothing was written, so nothing was created");
}

#[test]
fn the_library_writes_what_the_command_writes() {
    let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/modules/by-hand");
    let mut changed = 0;
    for entry in fs::read_dir(modules).expect("the folder is part of the repository") {
        let path = entry.expect("it can be listed").path();
        let text = read(&path);
        for gpu in ["sm_61", "sm_90"] {
            let options = ptxopt::Options::new().gpu(gpu).expect("there is one");
            let outcome = ptxopt::optimize(&text, &options).expect("it is a module");
            let output = run(ptxopt().arg(&path).args(["--gpu", gpu]));
            changed += u32::from(outcome.text.is_some());
            assert!(output.stdout == outcome.text.unwrap_or(text.clone()), "{} {gpu}", path.display());
        }
    }
    assert!(changed > 10, "there is something to compare: {changed}");
}

#[test]
fn a_committed_output_is_compared_and_never_written() {
    let directory = directory();
    let blend = include_bytes!("cli/blend.ptx");
    write(&directory.path().join("in.ptx"), blend);
    let check = |args: &[&str]| {
        let mut command = ptxopt();
        run(command.current_dir(&directory).args(["in.ptx", "--check-output"]).args(args))
    };
    let missing = check(&["out.ptx"]);
    assert_eq!(status(&missing), 3, "{}", errors(&missing));
    assert!(!directory.path().join("out.ptx").exists());
    let mut command = ptxopt();
    assert_eq!(status(&run(command.current_dir(&directory).args(["in.ptx", "-o", "out.ptx"]))), 0);
    let same = check(&["out.ptx"]);
    assert_eq!((status(&same), errors(&same), same.stdout.len()), (0, String::new(), 0));
    assert_eq!(status(&check(&["out.ptx", "--passes", ""])), 1);
    let stale =
        String::from_utf8_lossy(&read(&directory.path().join("out.ptx"))).replace("0xfefefefe", "0x7e7e7e7e");
    write(&directory.path().join("out.ptx"), stale.as_bytes());
    let differs = check(&["out.ptx"]);
    assert_eq!(status(&differs), 1);
    assert!(errors(&differs).starts_with("error: `out.ptx` is not what ptxopt makes of `in.ptx`"));
    let diff = String::from_utf8(differs.stdout).expect("it is text");
    assert!(diff.starts_with("--- out.ptx\n+++ in.ptx (optimised)\n"), "{diff}");
    for line in diff.lines().skip(3).filter(|line| line.starts_with(['-', '+'])) {
        assert!(line.contains(if line.starts_with('-') { "0x7e7e7e7e" } else { "0xfefefefe" }), "{diff}");
    }
    assert_eq!(read(&directory.path().join("out.ptx")), stale.as_bytes(), "nothing is written");
    for wrong in [&["-"][..], &["out.ptx", "-o", "other.ptx"], &["out.ptx", "in.ptx"]] {
        assert_eq!(status(&check(wrong)), 2, "{wrong:?}");
    }
}

#[test]
fn an_existing_directory_can_be_the_output() {
    let directory = directory();
    let target = directory.path().join("out");
    fs::create_dir(&target).expect("it can be created");
    for name in ["a.ptx", "b.ptx"] {
        write(&directory.path().join(name), GOOD);
    }
    let mut command = ptxopt();
    assert_eq!(status(&run(command.current_dir(&directory).args(["a.ptx", "b.ptx", "-o", "out"]))), 0);
    assert_eq!(listing(&target), ["a.ptx", "b.ptx"]);
}

#[test]
fn names_that_clash_are_refused_before_anything_is_written() {
    let directory = directory();
    fs::create_dir(directory.path().join("sub")).expect("it can be created");
    for name in ["a.ptx", "sub/a.ptx"] {
        write(&directory.path().join(name), GOOD);
    }
    let mut command = ptxopt();
    let output = run(command.current_dir(&directory).args(["a.ptx", "sub/a.ptx", "--out-dir", "out"]));
    assert_eq!(status(&output), 2);
    assert!(!directory.path().join("out").exists());
}

#[test]
fn a_reader_who_leaves_is_no_failure() {
    let directory = directory();
    let input = directory.path().join("long.ptx");
    write(&input, &[GOOD, b"//", &b" much more than a pipe holds".repeat(100_000)].concat());
    let module =
        [BAD.strip_suffix(b"\tbra nowhere;\n}\n").expect("it ends so"), &b"\tret;\n".repeat(10_000), b"}"];
    write(&directory.path().join("large.ptx"), &module.concat());
    for args in [&["long.ptx"][..], &["completions", "bash"], &["dump", "--json", "large.ptx"]] {
        let mut command = ptxopt();
        command.current_dir(&directory).args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("ptxopt starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("ptxopt ends");
        assert_eq!((status(&output), errors(&output)), (0, String::new()), "{args:?}");
    }
}

#[test]
fn one_line_of_megabytes_is_not_printed_whole() {
    let long =
        [BAD.strip_suffix(b"}\n").expect("it ends so"), b"\t", &b"bra nowhere; ".repeat(400_000), b"}"];
    let output = pipe(&long.concat(), &["-"]);
    assert_eq!(status(&output), 1);
    assert!(errors(&output).len() < 20_000, "{} bytes of messages", output.stderr.len());
}

#[test]
fn json_is_one_object_with_the_documented_keys() {
    let text =
        [b".version 8.0\n.target sm_75\n.func f()\n{\n\tfrobnicate.u32 1;\n", &b"\tret;\n}\n"[..]].concat();
    let output = pipe(&text, &["dump", "-", "--json"]);
    assert_eq!((status(&output), errors(&output)), (0, String::new()));
    let dump: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert_eq!(dump["schema"], 1);
    assert_eq!(dump["summary"]["missing"]["frobnicate.u32"], 1);
    let statements = dump["statements"].as_array().expect("it is a list");
    assert_eq!(dump["summary"]["statements"], statements.len());
    let help = run(ptxopt().args(["dump", "--help"]));
    let help = String::from_utf8(help.stdout).expect("it is UTF-8");
    let documented = |key: &String| help.lines().any(|line| line.split_whitespace().next() == Some(key));
    for object in [&dump, &dump["summary"], &statements[0]] {
        let undocumented = object.as_object().expect("it is one").keys().find(|key| !documented(key));
        assert_eq!(undocumented, None);
    }
}

#[test]
fn remarks_have_the_documented_keys() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = ptxopt();
    command.current_dir(root).args(["tests/cli/blend.ptx", "-o", "/dev/null", "--remarks=json"]);
    let documentation = fs::read_to_string(root.join("docs/remarks.md")).expect("the page is there");
    let said = errors(&run(&mut command));
    assert!(said.lines().count() > 1, "{said}");
    for line in said.lines() {
        let remark: serde_json::Value = serde_json::from_str(line).expect("it is JSON");
        for key in remark.as_object().expect("it is an object").keys() {
            assert!(documentation.contains(&format!("| `{key}` |")), "`{key}`");
        }
    }
}

/// Runs a shell command with a terminal as its standard output and standard error; `None` where `script` is missing.
#[cfg(target_os = "linux")]
fn on_a_terminal(command: &str) -> Option<String> {
    let output =
        Command::new("script").args(["-qec", command, "/dev/null"]).stdin(Stdio::null()).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(target_os = "linux")]
#[test]
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn a_terminal_gets_a_summary_and_a_pipe_gets_nothing() {
    let input = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/blend.ptx");
    let command = format!("'{}' '{}' -o /dev/null", env!("CARGO_BIN_EXE_ptxopt"), input.display());
    let output = run(Command::new("sh").args(["-c", &command]));
    assert_eq!((status(&output), errors(&output)), (0, String::new()));
    let Some(said) = on_a_terminal(&command) else {
        eprintln!("SKIPPED: there is no `script` to make a terminal with");
        return;
    };
    assert!(said.contains("machine instructions saved on sm_75 (estimate)"), "{said}");
    assert!(said.lines().count() < 24, "it is more than a screen: {said}");
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("the file is there").permissions().mode() & 0o777
    }

    /// A directory with `in.ptx` in it, and a way to write it to another name.
    fn with_input() -> (TempDir, impl Fn(&str) -> Output) {
        let directory = directory();
        write(&directory.path().join("in.ptx"), GOOD);
        let path = directory.path().to_owned();
        (directory, move |target: &str| run(ptxopt().current_dir(&path).args(["in.ptx", "-o", target])))
    }

    #[test]
    fn permissions_are_kept_or_those_of_any_new_file() {
        let (directory, write_to) = with_input();
        let old = directory.path().join("old.ptx");
        write(&old, b"before");
        fs::set_permissions(&old, fs::Permissions::from_mode(0o640)).expect("the test owns the file");
        assert_eq!(status(&write_to("old.ptx")), 0);
        assert_eq!((mode(&old), read(&old)), (0o640, GOOD.to_vec()));
        assert_eq!(status(&write_to("new.ptx")), 0);
        assert_eq!(mode(&directory.path().join("new.ptx")), mode(&directory.path().join("in.ptx")));
    }

    #[test]
    fn a_read_only_file_is_not_replaced() {
        let (directory, write_to) = with_input();
        let target = directory.path().join("out.ptx");
        write(&target, b"before");
        fs::set_permissions(&target, fs::Permissions::from_mode(0o444)).expect("the test owns the file");
        let output = write_to("out.ptx");
        assert_eq!((status(&output), read(&target)), (3, b"before".to_vec()));
        assert!(errors(&output).contains("read-only"));
    }

    #[test]
    fn links_stay_links() {
        let (directory, write_to) = with_input();
        let at = |name: &str| directory.path().join(name);
        fs::create_dir(at("sub")).expect("it can be created");
        write(&at("sub/old.ptx"), b"before");
        symlink("sub/old.ptx", at("link.ptx")).expect("links can be made");
        symlink("link.ptx", at("link-to-link.ptx")).expect("links can be made");
        symlink("sub/new.ptx", at("dangling.ptx")).expect("links can be made");
        symlink("loop.ptx", at("loop.ptx")).expect("links can be made");
        for (link, target) in [("link-to-link.ptx", "sub/old.ptx"), ("dangling.ptx", "sub/new.ptx")] {
            assert_eq!(status(&write_to(link)), 0);
            assert_eq!(read(&at(target)), GOOD);
            assert!(fs::symlink_metadata(at(link)).expect("the link is there").is_symlink());
        }
        assert_eq!(status(&write_to("loop.ptx")), 3);
        assert_eq!(listing(&at("sub")), ["new.ptx", "old.ptx"]);
    }

    #[test]
    fn a_device_is_written_to_and_stays_a_device() {
        let (_directory, write_to) = with_input();
        assert_eq!(status(&write_to("/dev/null")), 0);
        assert!(!fs::metadata("/dev/null").expect("every Unix has it").is_file());
    }

    #[test]
    fn a_pipe_is_written_to() {
        let (directory, write_to) = with_input();
        let pipe = directory.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("every Unix has mkfifo").success());
        let reader = std::thread::spawn(move || fs::read(pipe));
        assert_eq!(status(&write_to("pipe")), 0);
        let read = reader.join().expect("the reader does not panic").expect("the pipe can be read");
        assert_eq!(read, GOOD);
    }

    #[test]
    fn a_picture_needs_graphviz_unless_it_is_svg_or_text() {
        let (directory, _write_to) = with_input();
        let draw = |name: &str, path: &Path| {
            let mut command = ptxopt();
            command.current_dir(&directory).env("PATH", path).args(["graph", "in.ptx", "-o", name]);
            run(&mut command)
        };
        let nowhere = Path::new("/no/such/directory");
        let output = draw("g.png", nowhere);
        assert_eq!(status(&output), 3);
        assert!(errors(&output).contains("`dot` of Graphviz"), "{}", errors(&output));
        let output = draw("g.jpeg", nowhere);
        assert_eq!(status(&output), 2);
        assert!(errors(&output).contains("there is no format `.jpeg`"), "{}", errors(&output));
        assert_eq!(listing(directory.path()), ["in.ptx"]);
        for (name, start) in
            [("g.svg", "<svg "), ("g.dot", "digraph \"good\" {\n"), ("g", "digraph \"good\" {\n")]
        {
            assert_eq!(status(&draw(name, nowhere)), 0);
            let drawn = String::from_utf8(read(&directory.path().join(name))).expect("it is UTF-8");
            assert!(drawn.starts_with(start), "{drawn}");
        }
        // A substitute for Graphviz prints its arguments and its input.
        let dot = directory.path().join("dot");
        executable::write_executable(
            &dot,
            "#!/bin/sh\necho \"$@\"\nwhile read -r line; do echo \"$line\"; done\n",
        );
        for format in ["png", "pdf"] {
            let name = format!("g.{format}");
            let output = draw(&name, directory.path());
            assert_eq!((status(&output), errors(&output)), (0, String::new()));
            let drawn = String::from_utf8(read(&directory.path().join(name))).expect("it is UTF-8");
            assert!(drawn.starts_with(&format!("-T{format}\ndigraph \"good\" {{\n")), "{drawn}");
        }
    }

    #[test]
    fn a_picture_shows_what_raising_the_head_would_change() {
        let kernel = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/optimise.in/kepler.ptx");
        let draw = |more: &[&str]| {
            let output = run(ptxopt().args(["graph", "--gpu", "sm_90"]).args(more).arg(&kernel));
            assert_eq!(status(&output), 0);
            String::from_utf8(output.stdout).expect("it is UTF-8")
        };
        let packed = "max.u16x2 %r3, %r1, %r2;";
        assert!(draw(&["--raise", "target"]).contains(packed));
        assert!(!draw(&[]).contains(packed), "sm_35 does not have it");
    }

    #[test]
    fn a_closed_standard_output_is_no_crash() {
        let (directory, _write_to) = with_input();
        let script = format!("exec '{}' in.ptx >&-", env!("CARGO_BIN_EXE_ptxopt"));
        let output = run(Command::new("sh").current_dir(&directory).args(["-c", &script]));
        assert!(output.status.code().is_some_and(|code| code == 0 || code == 3), "{output:?}");
    }
}
