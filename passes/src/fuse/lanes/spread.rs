//! Neighbouring bits that stand in lanes of their own, as one product.
//!
//! The fifth bits of quantised numbers are kept together, and are spread over the lanes of a word before these are
//! multiplied: a shift and a mask for each. A product with a number that has a bit for each lane moves all of them,
//! since what is seven places apart does not meet; a mask takes the wanted ones out.

use super::pieces::Pieces;
use super::words::Words;
use crate::facts::Fact;
use crate::graph::Join;
use crate::recipe::{Recipe, Source, Step};
use crate::rules::{Pass, Rule};
use crate::site::Site;
use ptxopt_grammar::meaning::term::{Op, Term, ones};
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::Lanes;

/// The most operands of a chain that are taken together.
const MOST_OPERANDS: usize = 16;

/// The fewest bits that are moved together.
const LEAST_BITS: usize = 3;

/// How many lanes there are, and how many bits one has.
const LANES: u32 = 4;
const BITS: u32 = 8;

/// The rule.
pub(super) const RULE: Rule = Rule {
    name: "spread",
    pass: Pass::Fuse,
    law: "neighbouring bits that stand in lanes of their own are a product, under a mask",
    examples: &[
        "shl.b32 %r0, %a, 4; and.b32 %r0, %r0, 0x10; shl.b32 %r1, %a, 11; and.b32 %r1, %r1, 0x1000; \
         shl.b32 %r2, %a, 18; and.b32 %r2, %r2, 0x100000; shl.b32 %r3, %a, 25; and.b32 %r3, %r3, 0x10000000; \
         or.b32 %d, %b, %r0; or.b32 %d, %d, %r1; or.b32 %d, %d, %r2; or.b32 %d, %d, %r3;",
    ],
    propose: spread,
};

/// Whether a mask takes out a bit that was moved to the highest lane.
pub(super) fn is_mask(number: u64) -> bool {
    number.is_power_of_two() && number >> ((LANES - 1) * BITS) != 0 && number < 1 << (LANES * BITS - 1)
}

/// Bits of a word that stand in lanes of another.
#[derive(Clone, Debug)]
struct Group {
    /// The word that they are taken from, and the bit of it that belongs into the lowest lane.
    word: Term,
    first: u32,
    /// Where in a lane they stand.
    place: u32,
    lanes: Vec<u32>,
    operands: Vec<Term>,
}

fn spread(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let graph = site.graph;
    let value = graph.value(site.value);
    let joins = value.core.is_some_and(|core| matches!(graph.terms().op(core), Op::Or(..)));
    // What reads the word as an operand of the same chain has all of it.
    if !joins || value.width != 32 || graph.joined(site.value) == Some(Join::Or) {
        return;
    }
    if !joins_bits(site) {
        return;
    }
    Pieces::each(site, LANES * BITS, |mut pieces| {
        out.extend(recipe(&mut pieces));
        pieces
    });
}

/// Whether several operands of a chain are single bits: that is quick to see, and of most chains it is not so.
fn joins_bits(site: &Site<'_, '_, '_>) -> bool {
    let joins = |step: &Step| step.instruction() == Some(op::OR_B32);
    let (mut bits, mut seen) = (0, 0);
    let mut stack: Vec<Step> = [*site.step].into_iter().filter(joins).collect();
    while let Some(step) = stack.pop() {
        seen += 1;
        for &source in &step.sources {
            match site.definition(source).filter(|step| seen < MOST_OPERANDS && joins(step)) {
                Some(step) => stack.push(step),
                None => bits += usize::from(is_bit(&site.fact(source), LANES * BITS).is_some()),
            }
        }
    }
    bits >= LEAST_BITS
}

/// The only bit of so many that may not be zero, if there is one.
fn is_bit(fact: &Fact, width: u32) -> Option<u32> {
    let (known, value) = fact.known();
    let unknown = !known & ones(width);
    (unknown.count_ones() == 1 && value == 0).then(|| unknown.trailing_zeros())
}

fn recipe(pieces: &mut Pieces) -> Option<Recipe> {
    let mut operands = Vec::new();
    split(pieces, pieces.root, &mut operands);
    let mut groups: Vec<Group> = Vec::new();
    for &operand in &operands {
        let Some(bit) = moved_bit(pieces, operand) else { continue };
        let same = |group: &&mut Group| group.from() == bit.from() && !group.lanes.contains(&bit.lanes[0]);
        match groups.iter_mut().find(same) {
            Some(group) => {
                group.lanes.extend(bit.lanes);
                group.operands.extend(bit.operands);
            }
            None => groups.push(bit),
        }
    }
    groups.retain(|group| group.lanes.len() >= LEAST_BITS);
    if groups.is_empty() {
        return None;
    }
    let rest =
        operands.iter().filter(|&operand| !groups.iter().any(|group| group.operands.contains(operand)));
    let mut words: Vec<Source> =
        rest.map(|&operand| pieces.word(operand).map(Source::Value)).collect::<Option<_>>()?;
    let mut steps = Vec::new();
    for group in &groups {
        let word = Source::Value(pieces.word(group.word)?);
        words.push(group.product(word, |step| {
            steps.push(step);
            Source::Step(steps.len() - 1)
        }));
    }
    let joined = |one: Source, other: Source| {
        steps.push(Step::plain(op::OR_B32, &[one, other]));
        Source::Step(steps.len() - 1)
    };
    words.into_iter().reduce(joined)?;
    Some(Recipe::of(steps))
}

/// The operands of a chain that puts bits together.
fn split(pieces: &Pieces, root: Term, operands: &mut Vec<Term>) {
    let mut stack = vec![root];
    while let Some(term) = stack.pop() {
        if let (Op::Or(a, b), true) = (pieces.terms.op(term), operands.len() + stack.len() < MOST_OPERANDS) {
            stack.extend([b, a]);
        } else {
            operands.push(term);
        }
    }
}

/// An operand that is a bit of a word, if it stands where it can be moved to with others.
fn moved_bit(pieces: &mut Pieces, operand: Term) -> Option<Group> {
    let at = is_bit(&pieces.fact(operand), LANES * BITS)?;
    let bit = pieces.part(operand, at, 1);
    let group = Group::of(pieces, bit, at)?;
    pieces.word(group.word)?;
    Some(Group { operands: vec![operand], ..group })
}

impl Words {
    /// A word whose lanes are neighbouring bits of a register, each at the same place of its lane or in all of it.
    pub(super) fn spread(&mut self, lanes: &[Option<Term>]) -> Option<Source> {
        if self.lanes != Lanes::Four {
            return None;
        }
        let lanes: Vec<Term> = lanes.iter().copied().collect::<Option<_>>()?;
        let filled = lanes.iter().all(|&lane| self.filling(lane).is_some());
        let mut spread: Option<Group> = None;
        for (at, lane) in (0..).zip(lanes) {
            let (bit, place) = if filled {
                (self.filling(lane)?, 0)
            } else {
                let place = is_bit(&self.pieces.fact(lane), BITS)?;
                (self.pieces.part(lane, place, 1), place)
            };
            let next = Group::of(&self.pieces, bit, at * BITS + place)?;
            match &mut spread {
                Some(group) if group.from() == next.from() => group.lanes.push(at),
                Some(_) => return None,
                None => spread = Some(next),
            }
        }
        let group = spread?;
        // The bits are those of a lane, which may be any of a word. A narrow register is what a word with it was made of.
        let (word, place) = match self.widened(group.word) {
            Some(word) => (word, 0),
            None => {
                let homes = self.pieces.homes(group.word);
                let (word, place) = homes.min_by_key(|home| (self.pieces.partly.contains(home), home.1))?;
                (Source::Value(word), u32::try_from(place).ok()?)
            }
        };
        let group = Group { first: group.first + place * BITS, ..group };
        let bits = group.product(word, |step| self.push(step));
        let ones = Source::Constant((1 << BITS) - 1);
        Some(if filled { self.push(Step::plain(op::MUL_LO_U32, &[bits, ones])) } else { bits })
    }

    /// The bit that all bits of a lane are.
    fn filling(&self, lane: Term) -> Option<Term> {
        let terms = &self.pieces.terms;
        if let Op::SignExtend(bit) = terms.op(lane) {
            return Some(bit).filter(|&bit| terms.width(bit) == 1);
        }
        let Op::Choose(bit, then, otherwise) = terms.op(lane) else { return None };
        (terms.value(then) == Some(ones(BITS)) && terms.value(otherwise) == Some(0)).then_some(bit)
    }
}

impl Group {
    /// A bit that stands at so many bits of a word, as the only one of a group.
    fn of(pieces: &Pieces, bit: Term, at: u32) -> Option<Self> {
        let Op::Extract(word, low) = pieces.terms.op(bit) else { return None };
        let (lane, place) = (at / BITS, at % BITS);
        let first = low.checked_sub(lane).filter(|first| first + LANES <= pieces.terms.width(word))?;
        Some(Self { word, first, place, lanes: vec![lane], operands: Vec::new() })
    }

    /// What bits of one group have in common: the word, the bit of it for the lowest lane, and the place in a lane.
    const fn from(&self) -> (Term, u32, u32) {
        (self.word, self.first, self.place)
    }

    /// The word with these bits in their lanes, and zeros elsewhere; `word` holds that which they are taken from.
    fn product(&self, word: Source, mut push: impl FnMut(Step) -> Source) -> Source {
        let number = |bit: fn(u32) -> u32| {
            let bits = self.lanes.iter().map(|&lane| 1_u64 << (bit(lane) + self.place));
            Source::Constant(bits.sum())
        };
        let mut field = word;
        if self.first > 0 {
            field = push(Step::plain(op::SHR_U32, &[field, Source::Constant(self.first.into())]));
        }
        if self.first + LANES < 32 {
            field = push(Step::plain(op::AND_B32, &[field, Source::Constant((1 << LANES) - 1)]));
        }
        let product = push(Step::plain(op::MUL_LO_U32, &[field, number(|lane| (BITS - 1) * lane)]));
        push(Step::plain(op::AND_B32, &[product, number(|lane| BITS * lane)]))
    }
}
