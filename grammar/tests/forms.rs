//! Every legal form of the integer and byte instructions has a meaning, and it evaluates to words of the right width.

#[path = "../../tests/support/forms.rs"]
mod forms;
#[path = "../../tests/support/numbers.rs"]
mod numbers;
#[path = "../../tests/support/one.rs"]
mod one;

use forms::{GROUPS, Group};
use numbers::Numbers;
use one::One;
use ptxopt_grammar::meaning::concrete::evaluate;
use ptxopt_grammar::meaning::term::ones;
use ptxopt_grammar::table;
use std::collections::BTreeSet;

#[test]
#[expect(clippy::print_stdout, reason = "the counts are shown with `--nocapture`")]
fn every_legal_form_evaluates() {
    let mut numbers = Numbers::new(3);
    let (mut count, mut without) = (0, Vec::new());
    for group in GROUPS {
        for form in group.forms() {
            count += 1;
            let Some(one) = One::new(&group, &form) else {
                without.push(form);
                continue;
            };
            let outputs = one.outputs();
            assert!(!outputs.is_empty(), "`{form}` writes nothing");
            for _vector in 0..4 {
                let values = one.draw(&mut numbers);
                let results = evaluate(one.terms(), &outputs, &values);
                for (write, result) in one.writes.iter().zip(results) {
                    assert_eq!(result & !ones(write.1), 0, "`{form}` of {values:x?} writes {write:?}");
                }
            }
        }
    }
    println!("{count} forms");
    assert!(without.is_empty(), "forms without a meaning: {without:#?}");
}

#[test]
fn every_row_with_a_meaning_has_a_form() {
    let words = |form: &String| form.split(' ').next().unwrap_or_default().as_bytes().to_vec();
    let forms: Vec<Vec<u8>> = GROUPS.iter().flat_map(Group::forms).map(|form| words(&form)).collect();
    let covered: BTreeSet<&str> =
        forms.iter().filter_map(|words| table::lookup(words)).map(|row| row.name).collect();
    let missing: Vec<&str> = table::rows()
        .filter(|row| row.means.is_some() && row.video.is_none())
        .map(|row| row.name)
        .filter(|name| !covered.contains(name))
        .collect();
    assert!(missing.is_empty(), "rows with a meaning and without a form: {missing:?}");
}

/// Legal forms of these instructions that have no meaning, each with the reason.
const WITHOUT: [(&str, &str); 4] = [
    (".reg .v2 .b16 V; mov.b32 %r0, V", "a vector register without a component is no place"),
    (".reg .v2 .b16 V; mov.b32 V, %r1", "likewise"),
    (".reg .v2 .b32 V; mov.v2.b32 {%r0, %r5}, V", "likewise"),
    ("mov.b32 {%h0, %h0}, %r1", "the manual does not say which element stays"),
];

#[test]
fn what_is_not_understood_is_refused() {
    for (form, why) in WITHOUT {
        assert!(One::new(&GROUPS[0], form).is_none(), "`{form}` has a meaning now: {why}");
    }
}
