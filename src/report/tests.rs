//! What a page says of bugs of ptxopt itself: no input is known that has one, so records of some are made up.

use super::{Chapter, Subject, page};
use crate::lines::Lines;
use crate::remarks::{Sources, remarks};
use crate::summary::Tally;
use ptxopt_passes::optimiser::{Bound, Kind, Options, Outcome, optimise};
use std::time::Duration;

const BLEND: &[u8] = include_bytes!("../../tests/cli/blend.ptx");

const HEADING: &str = "<h2>Bugs of ptxopt</h2>";

/// The page about a module, after its outcome was changed.
fn page_with(change: impl FnOnce(&mut Outcome)) -> String {
    let module = ptxopt_grammar::parse(BLEND).expect("it is legal");
    let mut outcome = optimise(&module, &Options::default(), &|| Duration::ZERO);
    change(&mut outcome);
    let remarks = remarks(&outcome.records, "blend.ptx", &Lines::of(BLEND), &Sources::of(&module), "sm_75");
    let tally = Tally::of(&outcome, &remarks, module.stmts().len());
    let subject = Subject {
        name: "blend.ptx",
        output: "out.ptx",
        module: &module,
        outcome: &outcome,
        remarks: &remarks,
        tally: &tally,
        counted: None,
    };
    page(&[Chapter::new(&subject)])
}

#[test]
fn bugs_are_shown_with_what_they_are_about() {
    let page = page_with(|outcome| {
        let bugs = [
            (Kind::Illegal("bfe.u33".to_owned()), "vmax4 <a> & b;"),
            (Kind::Misplaced("no proof".to_owned()), "mov.b32 c, d;"),
            (Kind::Unending(Bound::Rounds), "mov.b32 e, f;"),
        ];
        for (kind, before) in bugs {
            let mut record = outcome.records[0].clone();
            (record.kind, record.before) = (kind, before.to_owned());
            outcome.records.push(record);
        }
    });
    let (_, section) = page.split_once(HEADING).expect("there is a section about them");
    let (section, rest) = section.split_once("</section>").expect("it ends");
    assert_eq!(section.matches("<dl class=\"step\">").count(), 3, "{section}");
    for shown in [
        "- vmax4 &lt;a&gt; &amp; b;",
        "bfe.u33",
        "- mov.b32 c, d;",
        "no proof",
        "rounds of rewrites had no end",
    ] {
        assert!(section.contains(shown), "{shown:?} in {section}");
    }
    assert!(section.contains("Please report them") && !rest.contains("mov.b32 c, d;"));
}

#[test]
fn without_bugs_there_is_no_section_about_them() {
    let page = page_with(|outcome| assert!(!outcome.records.is_empty()));
    assert!(!page.contains(HEADING) && page.contains("<h1>ptxopt: blend.ptx</h1>"));
}
