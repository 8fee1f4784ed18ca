//! No input makes the parser panic, overflow its stack, or run without end.

#[path = "support/hostile.rs"]
mod hostile;
#[path = "support/invariants.rs"]
mod invariants;

use ptxopt_grammar::diagnostic::Diagnostic;

const HEAD: &str = ".version 8.0\n.target sm_75\n.address_size 64\n";
const MANY: usize = 100_000;

/// Runs on a stack too small for anything that recurses over the input.
fn on_small_stack<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = std::thread::Builder::new().stack_size(256 << 10).spawn(run);
    thread.expect("a thread can be started").join().expect("the parser does not panic")
}

/// The statements of a legal module, or its errors.
fn parse(text: String) -> Result<usize, Vec<Diagnostic>> {
    on_small_stack(move || {
        let module = ptxopt_grammar::parse(text.as_bytes())?;
        invariants::check(&module).expect("the tree is lossless");
        Ok(module.stmts().len())
    })
}

fn body(statements: &str) -> String {
    format!("{HEAD}.entry k() {{\n{statements}\n}}\n")
}

fn message(text: String) -> String {
    parse(text).expect_err("the module is not legal")[0].message.clone()
}

#[test]
fn a_family_of_four_billion_registers() {
    assert!(parse(body(".reg .b32 %r<4000000000>; mov.u32 %r3999999999, %r0;")).is_ok());
    assert_eq!(
        message(body(".reg .b32 %r<5000000000>;")),
        "the size of a family of names must fit in 32 bits"
    );
}

#[test]
fn deeply_nested_braces() {
    assert!(parse(body(&("{".repeat(MANY) + &"}".repeat(MANY)))).is_ok());
    assert_eq!(message(body(&"{".repeat(MANY))), "unexpected end of the input");
    assert!(parse(body(&"}".repeat(MANY))).is_err());
}

#[test]
fn deeply_nested_parentheses() {
    let number = format!("{}1{}", "(".repeat(MANY), ")".repeat(MANY));
    assert!(parse(body(&format!(".reg .b32 r; mov.u32 r, {number};"))).is_ok());
    assert!(parse(body(&format!(".reg .b32 r; mov.u32 r, {};", "(".repeat(MANY)))).is_err());
    assert!(parse(body(&format!(".reg .b32 r; mov.u32 r, {}1;", "-".repeat(MANY)))).is_ok());
}

#[test]
fn deeply_nested_initialisers() {
    let list = format!("{}1{}", "{".repeat(MANY), "}".repeat(MANY));
    assert!(parse(format!("{HEAD}.global .u32 x[1] = {list};")).is_ok());
}

/// Lookups of an element that only the outermost family has, through ever larger and ever smaller families.
#[test]
fn deeply_nested_families() {
    for grows in [true, false] {
        let mut text = ".reg .b32 %r<4000000>;\n".to_owned();
        for depth in 0..MANY {
            let size = if grows { depth + 1 } else { MANY - depth };
            text.push_str(&format!("{{ .reg .b32 %r<{size}>; mov.u32 %r3999999, %r{depth};\n"));
        }
        assert!(parse(body(&(text + &"}".repeat(MANY)))).is_ok());
    }
}

#[test]
fn deeply_nested_labels() {
    let mut text = "bra OUT;\n".to_owned();
    (0..MANY).for_each(|_| text.push_str("{ L: bra L; bra OUT;\n"));
    assert!(parse(body(&(text + &"}".repeat(MANY) + "OUT: ret;"))).is_ok());
}

#[test]
fn many_comments_and_blanks() {
    assert!(parse(body(&"// a comment\n/* another */ ".repeat(MANY))).is_ok());
    assert!(parse(body(&" ".repeat(10 * MANY))).is_ok());
}

#[test]
fn unclosed_comments() {
    let message_of = |text: &str| message(body(text));
    assert_eq!(message_of(&"/* ".repeat(350_000)), "unterminated comment");
    assert_eq!(message_of("ret; /*"), "unterminated comment");
    assert_eq!(message_of(&"/*/".repeat(350_001)), "unterminated comment");
}

#[test]
fn unclosed_strings() {
    assert_eq!(message(body(".pragma \"nounroll;\nret;")), "unterminated string");
    assert_eq!(message(body(&"\" ".repeat(350_001))), "unexpected `\" \"`");
}

#[test]
fn unclosed_source_text() {
    let text = format!("{HEAD}.nv_intermediate_source_section {{ .code_block {{ ");
    assert_eq!(message(text + &".source_begin ".repeat(MANY)), "unterminated source text");
}

#[test]
fn one_line_of_fifty_megabytes() {
    let line = "mov.u32 r, 1; ".repeat(50_000_000 / 14);
    assert!(parse(body(&(".reg .b32 r; ".to_owned() + &line))).is_ok());
}

#[test]
fn one_token_of_fifty_megabytes() {
    let name = "a".repeat(50_000_000);
    assert_eq!(message(body(&format!("mov.u32 {name}, 1;")))[..12], *"unknown name");
    assert!(parse(body(&format!(".reg .b32 r; mov{}.u32 r, 1;", ".x".repeat(10_000_000)))).is_ok());
    assert!(parse(body(&format!(".reg .b32 r; mov.u32 r, {};", "1".repeat(10_000_000)))).is_ok());
}

#[test]
fn many_operands() {
    let list = vec!["r"; 1_000_000].join(", ");
    assert!(parse(body(&format!(".reg .b32 r; frobnicate r, {{{list}}}, {list};"))).is_ok());
}

#[test]
fn many_unknown_forms() {
    let same = "frobnicate.u32 a => b;\n".repeat(MANY);
    assert!(parse(body(&same)).is_ok());
    let different: String = (0..MANY).map(|n| format!("frobnicate{n}.u32 a => b;\n")).collect();
    assert!(parse(body(&different)).is_err());
}

#[test]
fn many_errors_are_a_few_errors() {
    let errors = parse(body(&"mov.u32 nowhere, ;\n".repeat(MANY))).expect_err("the module is not legal");
    assert_eq!(errors.len(), ptxopt_grammar::MOST_DIAGNOSTICS);
}

#[test]
fn short_and_empty_inputs() {
    for text in ["", "\0", "\n", ".", "\u{feff}", "/", "\"", "#", "@@", ".version 8.0", "0", "{", "}"] {
        hostile::bytes(text.as_bytes());
    }
    (0..=u8::MAX).for_each(|byte| hostile::bytes(&[byte]));
}

#[test]
fn trailing_nuls_are_kept() {
    let text = body("ret;") + "\0\0";
    assert!(parse(text).is_ok());
}

/// A few thousand inputs of each fuzz target; `fuzz/` runs them for any length of time.
#[test]
fn random_bytes() {
    arbtest::arbtest(|u| {
        let text: Vec<u8> = u.arbitrary()?;
        hostile::bytes(&text);
        Ok(())
    })
    .budget_ms(3_000);
}

#[test]
fn random_nearly_legal_modules() {
    arbtest::arbtest(hostile::nearly_legal).budget_ms(10_000).size_max(4096);
}
