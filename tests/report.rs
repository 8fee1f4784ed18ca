//! Reports: what a page says, what it leaves out, that text of the input stays text, and how pages look in a browser.
//!
//! The browser is Debian's Chromium, or another one that calls itself so; where there is none, the tests that need it
//! say so and pass.

use serde_json::json;
use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write as _};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const HARNESS: &str = include_str!("report/harness.html");
const HEAD: &str = ".version 8.0\n.target sm_75\n.address_size 64\n";

/// How long the browser may take.
const LIMIT: Duration = Duration::from_secs(90);

/// Runs ptxopt in a folder.
fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ptxopt"));
    command.current_dir(folder).args(arguments).output().expect("ptxopt starts")
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder can be made")
}

/// The page about a text, of which ptxopt says nothing on standard error.
fn page(name: &str, text: &[u8]) -> String {
    let folder = folder();
    fs::write(folder.path().join(name), text).expect("a file can be written");
    let output = run(folder.path(), &[&format!("./{name}"), "-o", "out.ptx", "--report", "page.html"]);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    fs::read_to_string(folder.path().join("page.html")).expect("a page is UTF-8")
}

/// A kernel with statements that become cheaper, as many as asked for.
fn kernel(name: &str, statements: usize) -> String {
    let mut text = format!(
        ".visible .entry {name}(.param .u64 out)\n{{\n\t.reg .b32 %r<4>;\n\t.reg .b64 %rd<2>;\n\
         \tld.param.u64 %rd1, [out];\n\tld.global.u32 %r1, [%rd1];\n\tld.global.u32 %r2, [%rd1+4];\n"
    );
    for at in 0..statements {
        write!(
            text,
            "\tvavrg4.u32.u32.u32 %r3, %r1, %r2, %r1;\n\tst.global.u32 [%rd1+{}], %r3;\n",
            8 + 4 * at
        )
        .expect("a string can be written to");
    }
    text + "\tret;\n}\n"
}

/// What a reader sees of a page, line by line, with the pictures left out.
fn words(page: &str) -> String {
    let mut text = String::new();
    let mut rest = page;
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        let name: String = tag.chars().take_while(|c| c.is_alphanumeric() || *c == '/').collect();
        let end = match name.as_str() {
            "style" => "</style>",
            "svg" => "</svg>",
            "thead" => "</thead>",
            _ => ">",
        };
        let inline =
            ["code", "/code", "span", "/span", "strong", "/strong", "a", "/a"].contains(&name.as_str());
        let cell = ["td", "/td", "th", "/th", "/dt", "/svg"].contains(&name.as_str());
        text.push_str(if inline {
            ""
        } else if cell {
            " "
        } else {
            "\n"
        });
        rest = tag.split_once(end).map_or("", |(_, rest)| rest);
    }
    let plain = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = text.lines().map(plain).filter(|line| !line.is_empty()).collect();
    lines.join("\n").replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
        + "\n"
}

#[test]
fn a_page_says_what_was_done_and_why_it_is_right() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = folder();
    let blend = fs::read(root.join("tests/cli/blend.ptx")).expect("the page of examples has it");
    fs::write(folder.path().join("blend.ptx"), blend).expect("a file can be written");
    let pages = ["1", "4"].map(|jobs| {
        let output =
            run(folder.path(), &["blend.ptx", "-o", "out.ptx", "--report", "page.html", "--jobs", jobs]);
        assert!(output.status.success());
        fs::read_to_string(folder.path().join("page.html")).expect("a page is UTF-8")
    });
    assert_eq!(pages[0], pages[1], "it does not depend on the number of threads");
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(root.join("tests/report"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    // How accurate estimates are has a test of its own.
    let words = words(&pages[0]).replace(&ptxopt::measure::accuracy::sentence(), "[how accurate they are]");
    settings.bind(|| insta::assert_snapshot!("blend", words));
}

#[test]
fn a_page_about_nothing_says_why_nothing_changed() {
    let said = words(&page("in.ptx", format!("{HEAD}{}", kernel("k", 0)).as_bytes()));
    assert!(
        said.contains("nothing to change: no video instructions and no byte-wise code in 1 function\n"),
        "{said}"
    );
    assert!(said.contains("The output is the input, byte for byte."), "{said}");
    let native = format!(
        "{HEAD}.func (.reg .b32 %d) f(.reg .b32 %a)\n{{\n\tvabsdiff4.u32.u32.u32.add %d, %a, %a, %d;\n\
         \tvadd4.u32.u32.u32.sat %d, %d, %d, %d;\n\tret;\n}}\n"
    );
    let output = page("in.ptx", native.replace("sm_75", "sm_35").replace("8.0", "7.0").as_bytes());
    let said = words(&output);
    assert!(said.contains("why each stays as it was") || said.contains("What stays as it was"), "{said}");
}

/// Markup in a name, in comments, in the name of a source file, and bytes that are no UTF-8, in a function that changes.
fn hostile() -> (&'static str, Vec<u8>) {
    let attack = "\"'></script></style></title><img src=x onerror=alert(1)><script>alert(2)</script>&amp;`";
    let mut text = format!("{HEAD}.file 1 \"</code><img src=x onerror=alert(3)>\"\n{}", kernel("$$_ZN3<", 1));
    text = text.replace("$$_ZN3<", "$script_onload");
    text = text
        .replace("\tvavrg4", &format!("\t// {attack} \u{202e}backwards \u{1b}[31m\n\t.loc 1 7 1\n\tvavrg4"));
    let mut bytes = text.into_bytes();
    let comment = bytes.windows(2).position(|two| two == b"//").expect("there is a comment");
    bytes.splice(comment + 2..comment + 2, *b" caf\xe9 \xff\x00\x01 ");
    ("<img src=x onerror=alert(0)>&\"'.ptx", bytes)
}

#[test]
fn text_of_the_input_stays_text() {
    let (name, text) = hostile();
    let page = page(name, &text);
    for tag in ["<img", "<script", "</script", "javascript:", "\u{1b}", "\u{202e}", "\u{1}"] {
        assert!(!page.contains(tag), "{tag:?}");
    }
    for shown in
        ["&lt;img src=x onerror=alert(0)&gt;", "&lt;/script&gt;", "caf\u{e9}", "$script_onload", "␛[31m"]
    {
        assert!(page.contains(shown), "{shown:?}");
    }
    assert_eq!(page.matches("<style").count(), 1);
    assert_eq!(page.matches("</html>").count(), 1);
}

#[test]
fn a_page_about_a_huge_module_is_bounded_and_says_what_it_leaves_out() {
    let mut text = format!("{HEAD}{}", kernel("long", 2000));
    for number in 0..100 {
        text += &kernel(&format!("k{number}"), 1);
    }
    let long = "n".repeat(5000);
    text += &kernel(&long, 1)
        .replace("vavrg4.u32.u32.u32 %r3, %r1, %r2, %r1;", &format!("mov.b32 %r3, 1; // {long}"));
    let page = page("in.ptx", text.as_bytes());
    assert!(page.len() < 3_000_000, "{} bytes", page.len());
    let said = words(&page);
    for left_out in [
        "more changed functions not shown here",
        "more changes not shown here",
        "more changed lines not shown here",
    ] {
        assert!(said.contains(left_out), "{left_out}");
    }
    assert!(!said.contains(&"n".repeat(1000)));
}

/// The browser, if there is one.
fn browser() -> Option<&'static str> {
    let runs = |name: &&str| {
        Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success())
    };
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find(runs)
}

/// Says why a test did nothing. Not by a macro of the standard library: the test harness would keep that to itself.
fn skipped(why: &str) {
    std::io::stderr().write_all(format!("SKIPPED: {why}\n").as_bytes()).expect("stderr can be written");
}

/// What the browser finds wrong with pages, with what it writes on its console; `None` where there is no browser.
fn wrong(pages: &[(&str, String)]) -> Option<Vec<String>> {
    let Some(browser) = browser() else {
        skipped("there is no `chromium`, as in Debian's package of that name");
        return None;
    };
    let folder = folder();
    let quoted: Vec<String> =
        pages.iter().map(|page| json!(page).to_string().replace('<', "\\u003c")).collect();
    let harness = folder.path().join("harness.html");
    fs::write(&harness, HARNESS.replace("/*PAGES*/", &quoted.join(","))).expect("a file can be written");
    let mut command = Command::new(browser);
    // It has no sandbox as root, and looks for no updates in a closed network.
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]);
    command.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
    command.arg(format!("--user-data-dir={}", folder.path().join("profile").display()));
    command.args(["--enable-logging=stderr", "--virtual-time-budget=20000", "--dump-dom"]);
    command.arg(format!("file://{}", harness.display()));
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the browser starts");
    let (mut out, mut err) =
        (child.stdout.take().expect("it is piped"), child.stderr.take().expect("it is piped"));
    let said = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        err.read_to_end(&mut bytes).map(|_| String::from_utf8_lossy(&bytes).into_owned())
    });
    let dom = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        out.read_to_end(&mut bytes).map(|_| String::from_utf8_lossy(&bytes).into_owned())
    });
    let start = Instant::now();
    while child.try_wait().expect("the browser can be waited for").is_none() {
        if start.elapsed() > LIMIT {
            child.kill().expect("the browser can be ended");
            panic!("the browser did not end");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let joined = |reader: std::thread::JoinHandle<std::io::Result<String>>| {
        reader.join().expect("reading does not panic").expect("the browser can be read from")
    };
    let (dom, said) = (joined(dom), joined(said));
    let found = dom.split_once("<pre id=\"found\">done\n").and_then(|(_, rest)| rest.split_once("end</pre>"));
    let (found, _) = found.unwrap_or_else(|| panic!("the browser did not look at all pages:\n{said}"));
    let console = said.lines().filter(|line| line.contains("CONSOLE"));
    Some(found.lines().chain(console).map(str::to_owned).collect())
}

#[test]
fn pages_can_be_read_on_all_screens() {
    let read = |path: &str| fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("it is there");
    let (name, text) = hostile();
    let mut pages = vec![
        ("a kernel", page("blend.ptx", &read("tests/cli/blend.ptx"))),
        ("nothing", page("sad.ptx", &read("tests/cli/sad.ptx"))),
        ("a loop", page("loop.ptx", &read("tests/cli/explain.in/loop.ptx"))),
        ("lanes", page("lanes.ptx", &read("tests/corpus/modules/by-hand/lanes.ptx"))),
        ("hostile", page(name, &text)),
    ];
    let several = folder();
    for (name, path) in
        [("one.ptx", "tests/cli/blend.ptx"), ("two.ptx", "tests/corpus/modules/by-hand/raster.ptx")]
    {
        fs::write(several.path().join(name), read(path)).expect("a file can be written");
    }
    let long = format!("{HEAD}{}{}", kernel(&"name_".repeat(100), 2), kernel("k", 3));
    fs::write(several.path().join("three.ptx"), long).expect("a file can be written");
    let inputs = [
        "one.ptx",
        "two.ptx",
        "three.ptx",
        "--out-dir",
        "out",
        "--report",
        "page.html",
        "--gpu",
        "sm_75,sm_90",
    ];
    assert!(run(several.path(), &inputs).status.success());
    let page = fs::read_to_string(several.path().join("page.html")).expect("a page is UTF-8");
    assert!(page.contains("3 modules") && page.contains("id=\"m2-f1-c2\""), "each module has its part");
    pages.push(("several", page));
    let Some(wrong) = wrong(&pages) else { return };
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_wrong_with_a_page_is_found() {
    let text = |style: &str, body: &str| {
        let lines = "<p>a line of text that can be read</p>".repeat(30);
        let colours = "body{background:#fff;color:#000}\
                       @media(prefers-color-scheme:dark){body{background:#000;color:#fff}}";
        format!(
            "<!doctype html><style>:root{{color-scheme:light dark}}{colours}{style}</style><h1>Page</h1>{lines}{body}"
        )
    };
    let pages = [
        ("fine", text("", "")),
        ("wide", text("", "<div style='width:2000px'>wide</div>")),
        ("pale", text(".pale{color:#999;background:#fff}", "<p class=pale>pale</p>")),
        ("dark on dark", text("@media(prefers-color-scheme:dark){body{background:#111;color:#333}}", "")),
        ("script", text("", "<script>console.log('spoke')</script>")),
        ("link", text("", "<a href='#nowhere'>nowhere</a>")),
        ("headings", text("", "<h3>too deep</h3>")),
        (
            "head",
            text(
                "@media(max-width:720px){thead{position:absolute;width:1px;height:1px;overflow:hidden}}",
                "<table><thead><tr><th scope=col>Unit</th></tr></thead></table>",
            ),
        ),
    ];
    let Some(wrong) = wrong(&pages) else { return };
    let found = |what: &str| wrong.iter().any(|line| line.contains(what));
    for what in [
        "wide, 390 light: the page is",
        "wide, 1280 dark: the page is",
        "pale, 1280 light: contrast",
        "dark on dark, 390 dark: contrast",
        "script, 390 light: it has active or foreign parts",
        "spoke",
        "link, 390 light: leads nowhere: #nowhere",
        "headings, 390 light: a heading 3 below 1",
        "head, 390 light: not visible: Unit",
    ] {
        assert!(found(what), "{what}: {}", wrong.join("\n"));
    }
    assert!(!found("head, 1280"), "{}", wrong.join("\n"));
    assert!(!found("fine, ") && !found("dark on dark, 390 light"), "{}", wrong.join("\n"));
}
