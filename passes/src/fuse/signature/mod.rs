//! Word-parallel code as SIMD video instructions, by what it computes.
//!
//! Arithmetic on all bytes or halves of a word at once is spelled with masks that keep carries in their lanes, in many
//! ways; there are no lanes to see in it. So this is technology mapping, as synthesis of logic does it: the function of
//! a value over the few words below it ([`cuts`]) is evaluated on a fixed set of vectors, and its results are looked up
//! among those of all SIMD instructions ([`table`]). Each hit is proposed; like all proposals it is proved before it is
//! written, so that vectors which miss a difference cost time, and nothing else.

mod cuts;
mod seed;
mod table;
#[cfg(test)]
mod tests;

pub(super) use seed::is_seed;

use crate::graph::{Graph, Origin, ValueId};
use crate::recipe::{Recipe, Source, Step};
use crate::rules::{Pass, Rule};
use crate::site::Site;
use cuts::{Cut, Cuts};
use hashbrown::HashMap;
use ptxopt_grammar::meaning::concrete::Program;
use ptxopt_grammar::meaning::term::{Term, Terms};
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::Form;
use std::rc::Rc;
use table::{After, Entry, INPUTS, Operand, Signature, TABLE, by_bit, in_lane};

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
pub struct Signatures {
    cuts: Cuts,
    /// The functions, over their leaves as inputs.
    terms: Terms,
    /// Their signatures; none for those that cannot be evaluated.
    known: HashMap<Term, Option<Signature>>,
    /// The entries that compute the demanded bits of a function of so many leaves.
    found: HashMap<(Term, u32, usize), Rc<[&'static Entry]>>,
}

impl Signatures {
    /// Whether what is proposed for a value depends on more than its own instruction.
    pub(crate) fn is_seeded(&mut self, graph: &Graph<'_, '_>, value: ValueId) -> bool {
        self.cuts.is_seeded(graph, value)
    }

    /// The entries that compute the demanded bits of a function of so many leaves.
    fn entries(&mut self, function: Term, demanded: u32, leaves: usize) -> Rc<[&'static Entry]> {
        let key = (function, demanded, leaves);
        if let Some(known) = self.found.get(&key) {
            return Rc::clone(known);
        }
        let found: Rc<[&'static Entry]> = match self.signature(function) {
            Some(signature) => {
                let agree = TABLE.find(&signature, demanded, leaves).take(MOST_COMPARED);
                let agree = agree.filter(|entry| entry.agrees(&self.terms, function, demanded));
                agree.take(MOST_HITS).collect()
            }
            None => Rc::new([]),
        };
        self.found.insert(key, Rc::clone(&found));
        found
    }

    /// The signature of a function.
    fn signature(&mut self, function: Term) -> Option<Signature> {
        let terms = &self.terms;
        *self.known.entry(function).or_insert_with(|| {
            // A program takes as long to make as its arena is large.
            let mut small = Terms::new();
            let inputs: Vec<Term> = (0..3).map(|number| small.input(number, 32)).collect();
            let function = small.import(terms, function, &mut |number| inputs[number as usize]);
            let mut program = Program::<u64>::compile(&small, &[function])?;
            Some(by_bit(&INPUTS.map(|words| {
                let mut result = [0];
                program.run(&words.map(u64::from), &mut result);
                u32::try_from(result[0]).expect("the function is of a word")
            })))
        })
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
    let leaves = cut.leaves.len();
    let Some(function) = cut.function(site.graph, site.value, &mut signatures.terms) else { return };
    site.asked.borrow_mut().extend(function.values);
    let found = signatures.entries(function.term, site.demanded_word(), leaves);
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
