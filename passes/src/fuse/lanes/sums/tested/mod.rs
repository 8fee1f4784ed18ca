//! Whether conditions on lanes all hold, or any of them does: one test of the words whose lanes tell it.
//!
//! What a site tests is taken apart into conditions of which any is to hold, or none (`conditions`). Each becomes a lane
//! that is not zero where it holds, and the lanes become words that are tested together (`words`); in which lane of
//! which word a condition stands makes no difference.

mod conditions;
mod numbers;
mod words;

use super::Sum;
use crate::fuse::lanes::pieces::Pieces;
use crate::fuse::lanes::words::Words;
use crate::graph::{Origin, ValueId};
use crate::recipe::{Recipe, Source, Sources, Step};
use crate::rules::{Pass, Rule};
use crate::site::Site;
use ptxopt_grammar::meaning::term::{Op, Term};
use ptxopt_grammar::table::Row;
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::Lanes;

/// The rule.
pub(in crate::fuse::lanes) const RULE: Rule = Rule {
    name: "tested",
    pass: Pass::Fuse,
    law: "whether conditions on lanes all hold, or any does, is a test of the words that tell which of them do",
    examples: &[
        "and.b32 %r0, %a, 255; and.b32 %r1, %b, 255; setp.eq.u32 %p0, %r0, %r1; bfe.u32 %r2, %a, 8, 8; \
         bfe.u32 %r3, %b, 8, 8; setp.eq.u32 %p1, %r2, %r3; bfe.u32 %r4, %a, 16, 8; bfe.u32 %r5, %b, 16, 8; \
         setp.eq.u32 %p2, %r4, %r5; and.pred %p0, %p0, %p1; and.pred %p0, %p0, %p2; selp.b32 %d, 1, 0, %p0;",
        "and.b32 %r0, %a, 255; setp.eq.u32 %p0, %r0, 0; bfe.u32 %r1, %a, 8, 8; setp.eq.u32 %p1, %r1, 0; \
         bfe.u32 %r2, %a, 16, 8; setp.eq.u32 %p2, %r2, 0; shr.u32 %r3, %a, 24; setp.eq.u32 %p3, %r3, 0; \
         or.pred %p0, %p0, %p1; or.pred %p2, %p2, %p3; or.pred %p0, %p0, %p2; selp.b32 %d, 1, 0, %p0;",
        "shr.u32 %r0, %a, 8; shr.u32 %r1, %a, 16; shr.u32 %r2, %a, 24; or.b32 %r0, %r0, %a; \
         or.b32 %r1, %r1, %r2; or.b32 %r0, %r0, %r1; and.b32 %r0, %r0, 128; shr.u32 %d, %r0, 7;",
    ],
    propose: tested,
};

/// What a site may make of a test.
#[derive(Clone, Copy)]
enum Asked {
    /// The bit itself.
    Bit,
    /// The bit as a number.
    Number,
    /// One of two words, by a predicate that branches decide.
    Choice([Source; 2], ValueId),
    /// One of two numbers that branches decide.
    Decided,
}

/// A test, and what is made of it: the bit, or the first of two where it is set, else the second.
struct Outcome {
    bit: Term,
    both: Option<[Source; 2]>,
}

fn tested(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some(asked) = asked(site) else { return };
    let width = site.graph.value(site.value).width;
    for lanes in Lanes::ALL {
        Pieces::each(site, lanes.bits(), |mut pieces| {
            let Some(outcome) = outcome(&mut pieces, asked) else { return pieces };
            let words = Words::over(pieces, lanes);
            let mut sum = Sum { words, width, most: 0, is_cut: false };
            for any in [true, false] {
                let Some(conditions) = sum.conditions(outcome.bit, any) else { continue };
                for test in sum.tests(&conditions, any) {
                    let recipe = sum.finished(test, outcome.both);
                    out.extend(recipe.filter(|recipe| !out.contains(recipe)));
                }
            }
            sum.words.pieces
        });
    }
}

/// What a site makes of a test, if it may be one: it joins predicates, compares what is joined, makes a number of one bit
/// of that, or takes what was decided on different paths. That is quick to see, and mostly it is not so.
fn asked(site: &Site<'_, '_, '_>) -> Option<Asked> {
    let row = site.instruction()?.row();
    let sources = &site.step.sources;
    let reads_joined = || sources.iter().any(|&source| is_joined(site, source));
    if site.graph.value(site.value).width == 1 {
        let reads_decided = || sources.iter().any(|&source| site.decided(source).is_some());
        let compares = row.is(op::SETP) && (sources.len() > 2 || reads_joined() || reads_decided());
        return ((joins(row) || compares) && !is_joined_further(site)).then_some(Asked::Bit);
    }
    if row.is(op::SELP)
        && let &[then, otherwise, by] = &sources[..]
        && let Some(by) = site.decided(by)
    {
        return Some(Asked::Choice([then, otherwise], by));
    }
    if site.moves_decided().is_some() {
        return Some(Asked::Decided);
    }
    // A number that a predicate becomes is that of the test that makes the predicate.
    let are_numbers = || sources.iter().take(2).all(|source| matches!(source, Source::Constant(_)));
    let makes_number = joins(row)
        || (row.is(op::SHR) || row.is(op::XOR)) && reads_joined()
        || row.is(op::SELP) && !are_numbers();
    (makes_number && site.result_fact().unsigned() == (0, 1)).then_some(Asked::Number)
}

fn joins(row: &Row) -> bool {
    row.is(op::AND) || row.is(op::OR)
}

/// Whether a source is what others are joined to, behind a conversion or not.
fn is_joined(site: &Site<'_, '_, '_>, source: Source) -> bool {
    let defined = |source: Source| -> Option<(&Row, Sources)> {
        let step: Step = site.definition(source)?;
        Some((step.instruction()?.row(), step.sources))
    };
    let Some((row, sources)) = defined(source) else { return false };
    joins(row) || row.is(op::CVT) && defined(sources[0]).is_some_and(|(row, _)| joins(row))
}

/// Whether all that is made of a value is joined with other conditions in the same way: these are tested together.
fn is_joined_further(site: &Site<'_, '_, '_>) -> bool {
    let graph = site.graph;
    let is_and = |def: Term| {
        let op = graph.terms().op(def);
        if matches!(op, Op::And(..)) { Some(true) } else { matches!(op, Op::Or(..)).then_some(false) }
    };
    let Some(own) = graph.value(site.value).def.and_then(is_and) else { return false };
    let mut readers = graph.uses(site.value).map(|(reader, _)| graph.value(reader));
    readers.all(|reader| {
        let computes = reader.width == 1 && matches!(reader.origin, Origin::Result(_));
        computes && reader.def.and_then(is_and) == Some(own)
    })
}

/// The test that a site makes something of.
fn outcome(pieces: &mut Pieces, asked: Asked) -> Option<Outcome> {
    match asked {
        Asked::Bit => Some(Outcome { bit: pieces.root, both: None }),
        Asked::Number => {
            let bit = pieces.part(pieces.root, 0, 1);
            Some(Outcome { bit, both: Some([1, 0].map(Source::Constant)) })
        }
        Asked::Choice(both, by) => Some(Outcome { bit: pieces.near_term(by)?, both: Some(both) }),
        Asked::Decided => {
            let [number, other] = pieces.two_numbers(pieces.root)?;
            let bit = pieces.is_number(pieces.root, number)?;
            let both = [number, other].map(|number| u64::try_from(number).map(Source::Constant).ok());
            let [Some(then), Some(otherwise)] = both else { return None };
            Some(Outcome { bit, both: Some([then, otherwise]) })
        }
    }
}

impl Sum {
    /// What a site makes of a test.
    fn finished(&mut self, test: Source, both: Option<[Source; 2]>) -> Option<Recipe> {
        let last = match both {
            None => test,
            Some(both) => self.words.push(Step::choice(both, test, self.width)),
        };
        self.words.made_of(last)
    }
}
