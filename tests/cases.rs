//! Runs the cases: one named test per file of `tests/cases`, as `tests/cases/readme.ptx` describes them.

#[path = "support/invariants.rs"]
mod invariants;

use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn main() -> ExitCode {
    // Snapshots are compared on threads of the harness, where insta cannot see a test's name.
    let arguments = Arguments::from_args();
    let cases = files_below(&Path::new(ROOT).join("tests/cases"), "ptx");
    let mut trials: Vec<Trial> = cases
        .iter()
        .map(|path| {
            let path = path.clone();
            Trial::test(name(&path), move || run_case(&path))
        })
        .collect();
    trials.push(Trial::test("every_snapshot_has_a_case", move || every_snapshot_has_a_case(&cases)));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The path below `tests`, without its extension.
fn name(path: &Path) -> String {
    let below = path.strip_prefix(Path::new(ROOT).join("tests")).expect("all cases lie below it");
    below.with_extension("").to_string_lossy().into_owned()
}

fn files_below(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let Ok(entries) = std::fs::read_dir(folder) else { return files };
    for entry in entries {
        let path = entry.expect("the folder can be listed").path();
        if path.is_dir() {
            files.extend(files_below(&path, extension));
        } else if path.extension().is_some_and(|found| found == extension) {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// What the lines at the top of a case say.
#[derive(Default)]
struct Header {
    runs: Vec<String>,
    fails: bool,
    shows: bool,
    optimises: bool,
    /// Options of the optimiser.
    options: Vec<String>,
}

/// What the lines that are options of the optimiser may be.
const OPTIONS: [&str; 7] = ["gpu", "raise", "passes", "check", "video-semantics", "dce", "limit"];

impl Header {
    fn read(text: &[u8]) -> Result<Self, Failed> {
        let mut header = Self::default();
        for line in String::from_utf8_lossy(text).lines().map_while(|line| line.strip_prefix("//@ ")) {
            match line.split_once(": ") {
                Some(("shows", what)) => {
                    header.shows = true;
                    header.optimises = what == "optimise" || what.starts_with("optimise: ");
                }
                Some(("fails", _)) => header.fails = true,
                Some(("run", arguments)) => header.runs.push(arguments.trim().to_owned()),
                Some((option, value)) if OPTIONS.contains(&option) => {
                    header.options.push(format!("--{option}={}", value.trim()));
                }
                Some(_) | None => return Err(format!("`//@ {line}` is no line of a case").into()),
            }
        }
        if !header.optimises && !header.options.is_empty() {
            return Err("options of the optimiser need `//@ shows: optimise`".into());
        }
        match (header.shows, header.fails, header.runs.is_empty()) {
            (true, false, true) if header.optimises => {}
            (false, true, true) => header.runs.push("--passes= -o -".to_owned()),
            (true, false, true) => header.runs.push("dump".to_owned()),
            (true, false, false) => {}
            _ => return Err("a case says `shows` or `fails`, and runs only if it is legal".into()),
        }
        Ok(header)
    }
}

fn run_case(path: &Path) -> Result<(), Failed> {
    let text = std::fs::read(path)?;
    let header = Header::read(&text)?;
    match ptxopt_grammar::parse(&text) {
        Ok(tree) if !header.fails => invariants::check(&tree)?,
        Err(_) if header.fails => {}
        Ok(_) => return Err("it must fail, but it parses".into()),
        Err(errors) => return Err(format!("it does not parse: {}", errors[0].message).into()),
    }
    let mut shown = String::new();
    if header.optimises {
        shown.push_str(&optimise(path, &text, &header.options)?);
    }
    for arguments in &header.runs {
        shown.push_str(&run(path, arguments, &text, header.fails)?);
    }
    compare(path, &shown);
    Ok(())
}

/// What one run prints, under a line that says what was run.
fn run(path: &Path, arguments: &str, text: &[u8], fails: bool) -> Result<String, Failed> {
    let file = path.strip_prefix(ROOT).expect("all cases lie below it");
    let output = Command::new(env!("CARGO_BIN_EXE_ptxopt"))
        .args(arguments.split(' '))
        .arg(file)
        .current_dir(ROOT)
        .env("COLUMNS", "120")
        .output()?;
    let status = output.status.code();
    if status != Some(i32::from(fails)) {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("`ptxopt {arguments}` exits with {status:?}: {said}").into());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let stdout = match &output.stdout {
        same if same == text => "the same bytes\n".into(),
        other => String::from_utf8_lossy(other),
    };
    Ok(format!("$ ptxopt {arguments} {}\n{stderr}{stdout}\n", file.display()))
}

/// What the optimiser changes and says. What it writes must be legal, and must stay as it is when optimised again.
fn optimise(path: &Path, text: &[u8], options: &[String]) -> Result<String, Failed> {
    let file = path.strip_prefix(ROOT).expect("all cases lie below it");
    let shows = ["--diff".to_owned(), "--remarks=text".to_owned()];
    let arguments = [&shows[..], options].concat();
    let first = rewritten(&arguments, &file.to_string_lossy(), &[])?;
    if let Err(errors) = ptxopt_grammar::parse(&first.stdout) {
        return Err(format!("what was written does not parse: {}", errors[0].message).into());
    }
    let bare = |text: &[u8]| text.windows(2).any(|pair| pair[1] == b'\n' && pair[0] != b'\r');
    if !bare(text) && bare(&first.stdout) {
        return Err("all lines end with a carriage return, the new ones do not".into());
    }
    if !options.iter().any(|option| option.starts_with("--limit=")) {
        let second = rewritten(options, "-", &first.stdout)?;
        if second.stdout != first.stdout {
            let stdout = String::from_utf8_lossy(&second.stdout).into_owned();
            return Err(format!("a second run changes it again, to\n{stdout}").into());
        }
    }
    let said = String::from_utf8_lossy(&first.stderr);
    let unchanged = if first.stdout == text { "the same bytes\n" } else { "" };
    Ok(format!("$ ptxopt {} {}\n{unchanged}{said}\n", arguments.join(" "), file.display()))
}

fn rewritten(arguments: &[String], file: &str, text: &[u8]) -> Result<Output, Failed> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ptxopt"));
    command.args(arguments).arg(file).current_dir(ROOT);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut stdin = child.stdin.take().expect("it is piped");
    let text = text.to_owned();
    // A test that lists the names of files does not read them.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&text)));
    let output = child.wait_with_output()?;
    writer.join().expect("writing does not panic");
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(
            format!("`ptxopt {} {file}` exits with {}: {said}", arguments.join(" "), output.status).into()
        );
    }
    Ok(output)
}

fn compare(path: &Path, shown: &str) {
    let snapshot = Path::new(ROOT).join("snapshots").join(name(path));
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(snapshot.parent().expect("it has a folder"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_input_file(path);
    let name = snapshot.file_name().expect("it has a name").to_string_lossy().into_owned();
    settings.bind(|| insta::assert_snapshot!(name, shown));
}

fn every_snapshot_has_a_case(cases: &[PathBuf]) -> Result<(), Failed> {
    let wanted: BTreeSet<String> = cases.iter().map(|path| name(path)).collect();
    let folder = Path::new(ROOT).join("snapshots");
    for path in files_below(&folder, "snap") {
        let below = path.strip_prefix(&folder).expect("all snapshots lie below it");
        if !wanted.contains(&*below.with_extension("").to_string_lossy()) {
            return Err(format!("{} has no case", path.display()).into());
        }
    }
    match files_below(&folder, "new").first() {
        Some(pending) => Err(format!("{} is pending: `cargo insta review`", pending.display()).into()),
        None => Ok(()),
    }
}
