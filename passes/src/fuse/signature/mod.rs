//! Word-parallel code as SIMD video instructions, by what it computes.
//!
//! Arithmetic on all bytes or halves of a word at once is spelled with masks that keep carries in their lanes, in many
//! ways; there are no lanes to see in it. So this is technology mapping, as synthesis of logic does it: the function of
//! a value over the few words below it ([`cuts`]) is evaluated on a fixed set of vectors ([`values`]), and its results
//! are looked up among those of all SIMD instructions ([`table`]). Each hit is proposed; like all proposals it is
//! proved before it is written, so that vectors which miss a difference cost time, and nothing else.

mod cuts;
mod seed;
mod table;
#[cfg(test)]
mod tests;
mod values;

pub(super) use seed::is_seed;

use crate::graph::{Graph, Origin, ValueId};
use crate::recipe::{Recipe, Source, Step};
use crate::rules::{Pass, Rule};
use crate::site::Site;
use cuts::{Cut, Cuts};
use hashbrown::HashMap;
use ptxopt_grammar::meaning::term::{Term, Terms};
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::Form;
use std::rc::Rc;
use table::{After, Entry, Operand, Signature, TABLE, in_lane};
use values::Values;

/// The most recipes for one value.
const MOST_RECIPES: usize = 6;

/// The most entries that are compared with one function on more vectors.
const MOST_COMPARED: usize = 8;

/// The most entries that are proposed for one function. Where few bits are demanded, several agree on them.
const MOST_HITS: usize = 3;

pub(super) static RULES: &[Rule] = &[Rule {
    name: "word-parallel",
    pass: Pass::Fuse,
    law: "what computes the same as a SIMD instruction of the words below it is that instruction",
    examples: &[
        // A sum and a difference of bytes, a mean of halves rounded up.
        "and.b32 %e, %a, 0x7f7f7f7f; and.b32 %f, %b, 0x7f7f7f7f; add.s32 %e, %e, %f; xor.b32 %f, %a, %b; \
         and.b32 %f, %f, 0x80808080; xor.b32 %d, %e, %f;",
        "or.b32 %e, %a, 0x80808080; and.b32 %f, %b, 0x7f7f7f7f; sub.s32 %e, %e, %f; xor.b32 %f, %a, %b; \
         not.b32 %f, %f; and.b32 %f, %f, 0x80808080; xor.b32 %d, %e, %f;",
        "or.b32 %e, %a, %b; xor.b32 %f, %a, %b; and.b32 %f, %f, 0xfffefffe; shr.u32 %f, %f, 1; \
         sub.s32 %d, %e, %f;",
        // A mean of bytes rounded down, and a comparison that gives masks.
        "and.b32 %e, %a, %b; xor.b32 %f, %a, %b; shr.u32 %f, %f, 1; and.b32 %f, %f, 0x7f7f7f7f; \
         add.s32 %d, %e, %f;",
        "and.b32 %e, %a, 0x7f7f7f7f; not.b32 %f, %b; and.b32 %f, %f, 0x7f7f7f7f; add.s32 %f, %f, %e; \
         lop3.b32 %e, %a, %b, %f, 0x8e; prmt.b32 %d, %e, 0, 0xba98;",
    ],
    propose,
}];

/// What is known of the functions of words.
#[derive(Debug, Default)]
pub(crate) struct Signatures {
    cuts: Cuts,
    values: Values,
    /// The first entries that agree with a signature on the demanded bits, for functions of so many leaves.
    agreeing: HashMap<(Signature, u32, usize), Rc<[&'static Entry]>>,
    /// The functions of those for which there are some, over their leaves as inputs.
    terms: Terms,
    /// The entries that compute the demanded bits of a function of so many leaves.
    found: HashMap<(Term, u32, usize), Rc<[&'static Entry]>>,
}

impl Signatures {
    /// Whether what is proposed for a value depends on more than its own instruction.
    pub(crate) fn is_seeded(&mut self, graph: &Graph<'_, '_>, value: ValueId) -> bool {
        self.cuts.is_seeded(graph, value)
    }

    /// The entries that compute the demanded bits of a value as a function of the leaves of a cut.
    fn entries(
        &mut self,
        graph: &Graph<'_, '_>,
        value: ValueId,
        cut: &Cut,
        demanded: u32,
    ) -> Option<Rc<[&'static Entry]>> {
        let leaves = cut.leaves.len();
        let signature = self.values.signature(graph, value, &cut.leaves)?;
        let agreeing = self.agreeing.entry((signature, demanded, leaves));
        let agreeing = agreeing
            .or_insert_with(|| TABLE.find(&signature, demanded, leaves).take(MOST_COMPARED).collect());
        if agreeing.is_empty() {
            return None;
        }
        let function = cut.function(graph, value, &mut self.terms)?;
        let found = self.found.entry((function, demanded, leaves));
        let terms = &self.terms;
        let computes = |entry: &&Entry| entry.agrees(terms, function, demanded);
        let found =
            found.or_insert_with(|| agreeing.iter().copied().filter(computes).take(MOST_HITS).collect());
        Some(Rc::clone(found))
    }
}

fn propose(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Origin::Result(stmt) = site.graph.value(site.value).origin else { return };
    let mut signatures = site.knowledge.signatures.borrow_mut();
    let own = || site.graph.step(stmt).is_some_and(|own| own == *site.step);
    let simd = matches!(site.form(), Some(Form::Simd(_)));
    // Where one half of a word matters, there are no lanes side by side.
    let demanded = site.demanded_word();
    let halves = [demanded & 0xffff, demanded >> 16];
    if site.step.width != 32
        || simd
        || halves.contains(&0)
        || !signatures.is_seeded(site.graph, site.value)
        || !own()
    {
        return;
    }
    for cut in signatures.cuts.of(site.graph, site.value).iter().filter(|cut| cut.seeded) {
        if out.len() < MOST_RECIPES {
            of_cut(site, &mut signatures, cut, out);
        }
    }
}

/// What computes the function of a cut.
fn of_cut(site: &Site<'_, '_, '_>, signatures: &mut Signatures, cut: &Cut, out: &mut Vec<Recipe>) {
    let Some(found) = signatures.entries(site.graph, site.value, cut, site.demanded_word()) else { return };
    let Origin::Result(stmt) = site.graph.value(site.value).origin else { return };
    let held = |value: ValueId| site.graph.holds(value, stmt);
    let leaf = |leaf: &cuts::Leaf| signatures.cuts.held(leaf.value(), &held).unwrap_or(leaf.value());
    let words: Vec<Source> = cut.leaves.iter().map(leaf).map(Source::Value).collect();
    out.extend(found.iter().map(|entry| recipe(entry, &words)));
}

/// The instructions of an entry about these words.
fn recipe(entry: &Entry, words: &[Source]) -> Recipe {
    let mut steps = Vec::new();
    let mut source = |operand: Operand| match operand {
        Operand::Leaf(leaf) => words[usize::from(leaf)],
        Operand::Inverted(leaf) => {
            steps.push(Step::plain(op::NOT_B32, &[words[usize::from(leaf)]]));
            Source::Step(steps.len() - 1)
        }
        Operand::Number(number) => Source::Constant(number.into()),
    };
    let [a, b, c] = entry.operands;
    let (a, b) = (source(a), source(b));
    let c = table::adds(entry.form.op).then(|| source(c));
    let sources: Vec<Source> = [a, b].into_iter().chain(c).collect();
    steps.push(Step::video(Form::Simd(entry.form), &sources));
    let result = Source::Step(steps.len() - 1);
    match entry.after {
        After::Kept => {}
        After::Inverted => steps.push(Step::plain(op::NOT_B32, &[result])),
        After::Spread => {
            let ones = Source::Constant(in_lane(entry.form.routing.lanes()).into());
            steps.push(Step::plain(op::MUL_LO_U32, &[result, ones]));
        }
    }
    Recipe::of(steps)
}
