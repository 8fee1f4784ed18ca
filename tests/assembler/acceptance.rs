//! Modules that are broken in one token: what we reject, the assembler rejects too.

use crate::ptxas::{Assemblers, target};
use std::path::Path;

#[test]
fn the_assembler_rejects_what_we_reject() {
    let Some(assemblers) = Assemblers::find() else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/broken");
    let mut checked = 0;
    for entry in std::fs::read_dir(folder).expect("the folder is part of the repository") {
        let path = entry.expect("the folder can be listed").path();
        let text = std::fs::read(&path).expect("the file is part of the repository");
        assert!(ptxopt_grammar::parse(&text).is_err(), "{} parses", path.display());
        let target = target(&text);
        let target = if target.starts_with("sm_") { &target } else { "sm_75" };
        assert!(assemblers.assemble(&text, target).is_err(), "the assembler takes {}", path.display());
        checked += 1;
    }
    assert!(checked > 100, "the broken modules are missing");
    println!("{checked} broken modules");
}
