//! Text of which the assembler leaves loops as they are written.
//!
//! It unrolls short loops, and one that became shorter may be short enough for that: then a function has more machine
//! instructions and executes fewer. What a change does to a loop is seen where both texts keep it as it is.

use ptxopt_grammar::tree::StmtKind;

/// The text with a word to the assembler to unroll nothing; `None` if it is no module.
#[must_use]
pub fn rolled(text: &[u8]) -> Option<Vec<u8>> {
    let module = ptxopt_grammar::parse(text).ok()?;
    let head = [StmtKind::Version, StmtKind::Target, StmtKind::AddressSize];
    let last = module.stmts().rfind(|&stmt| head.contains(&module.kind(stmt)))?;
    let end = module.stmt_span(last).end;
    Some([&text[..end], b"\n.pragma \"nounroll\";\n", &text[end..]].concat())
}

#[cfg(test)]
mod tests {
    use super::rolled;

    #[test]
    fn the_pragma_stands_behind_the_head() {
        let text = b".version 8.0\n.target sm_90\n.address_size 64 // of 64 bits\n.func f() { ret; }\n";
        let expected = ".version 8.0\n.target sm_90\n.address_size 64\n.pragma \"nounroll\";\n // of 64 bits\n\
                        .func f() { ret; }\n";
        let found = rolled(text).expect("it is a module");
        assert_eq!(String::from_utf8_lossy(&found), expected);
        assert_eq!(rolled(b"loop: bra loop;"), None);
    }
}
