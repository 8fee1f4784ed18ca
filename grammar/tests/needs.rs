//! The versions and targets that the table requires of a form are those that NVIDIA's assembler requires.
//!
//! The list was measured: each form was assembled for every version and target, and the least that is accepted was
//! written down.

use ptxopt_grammar::table::{Needs, lookup};

#[test]
fn forms_need_what_the_assembler_asks_for() {
    let mut wrong = Vec::new();
    let lines = include_str!("forms.tsv").lines().filter(|line| !line.starts_with('#'));
    for line in lines {
        let [words, ptx, targets] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let (major, minor) = ptx.split_once('.').expect("a version has a dot");
        let ptx = (major.parse().expect("a number"), minor.parse().expect("a number"));
        let row = lookup(words.as_bytes()).unwrap_or_else(|| panic!("the table lacks {words}"));
        let needs = row.needs(words.as_bytes());
        if (needs.ptx, needs.targets) != (ptx, targets) {
            wrong.push(format!(
                "{words}: the assembler {:?}, the table {needs:?}",
                Needs { ptx, targets: "" }
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
