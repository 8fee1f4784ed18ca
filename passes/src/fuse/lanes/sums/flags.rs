//! Words each of whose bits tells whether a condition on lanes holds, as in masks of matching bytes, local binary patterns
//! and census transforms.
//!
//! Lanes are compared as whole words, and the results, zeros and ones, are added up by dot products in which each is
//! multiplied by the place of its bit.

use super::{Addend, Kind, Sum, Summand};
use crate::fuse::lanes::conditions::{Told, is_condition};
use crate::fuse::lanes::pieces::Pieces;
use crate::fuse::lanes::words::{Way, Words};
use crate::graph::Join;
use crate::recipe::{Recipe, Source, Step};
use crate::rules::{Pass, Rule};
use crate::site::Site;
use ptxopt_grammar::meaning::term::Term;
use ptxopt_grammar::table::instruction::{Instruction, op};
use ptxopt_grammar::video::{Lanes, Sign};

/// The fewest conditions that are worth it.
const LEAST_FLAGS: usize = 4;

/// How many statements are looked through for conditions.
const MOST_STATEMENTS: usize = 100;

/// The rule.
pub(in crate::fuse::lanes) const RULE: Rule = Rule {
    name: "flags",
    pass: Pass::Fuse,
    law: "bits that tell whether lanes compare are a dot product of the lanes' comparisons with the places of the bits",
    examples: &["and.b32 %r0, %a, 255; setp.eq.u32 %p0, %r0, 10; selp.b32 %r0, 1, 0, %p0; \
         and.b32 %r1, %a, 0xff00; setp.eq.u32 %p1, %r1, 0xa00; selp.b32 %r1, 2, 0, %p1; \
         and.b32 %r2, %a, 0xff0000; setp.eq.u32 %p2, %r2, 0xa0000; selp.b32 %r2, 4, 0, %p2; \
         shr.u32 %r3, %a, 24; setp.eq.u32 %p3, %r3, 10; selp.b32 %r3, 8, 0, %p3; \
         or.b32 %r0, %r0, %r1; or.b32 %r2, %r2, %r3; or.b32 %d, %r0, %r2;"],
    propose: flags,
};

/// A bit of the result, and the condition that it tells.
struct Flag {
    condition: Term,
    at: u32,
}

fn flags(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let value = site.graph.value(site.value);
    let joins = site.graph.joined(site.value);
    if !matches!(value.width, 16 | 32) || matches!(joins, Some(Join::Or | Join::Add)) || !joins_flags(site) {
        return;
    }
    Pieces::each(site, Lanes::Four.bits(), |pieces| {
        let root = pieces.root;
        let words = Words::over(pieces, Lanes::Four);
        let mut sum = Sum { words, width: value.width, most: 0, is_cut: false };
        if let Some(flags) = sum.flags(root, site.demanded_word()) {
            // In this order, so that a comparison is right before what moves its bits.
            let mut tell = |sum: &mut Sum| {
                out.extend(
                    [Told::Highest, Told::Lowest].into_iter().filter_map(|told| sum.of_flags(&flags, told)),
                );
            };
            tell(&mut sum);
            if sum.words.could_be(Way::Carried) {
                sum.words.turn_to(Way::Carried);
                tell(&mut sum);
            }
        }
        sum.words.pieces
    });
}

/// Whether what a site joins are conditions as bits: that is quick to see, and mostly it is not so.
fn joins_flags(site: &Site<'_, '_, '_>) -> bool {
    let joining = [op::OR, op::ADD, op::BFI, op::MAD];
    let through = [op::SHL, op::MUL, op::CVT, op::AND];
    let is = |step: &Step, all: &[_]| {
        step.instruction().is_some_and(|instruction| all.iter().any(|&row| instruction.row().is(row)))
    };
    if !is(site.step, &joining) {
        return false;
    }
    let (mut flags, mut seen) = (0, 0);
    let mut stack = vec![*site.step];
    while let Some(step) = stack.pop() {
        for definition in step.sources.iter().filter_map(|&source| site.definition(source)) {
            seen += 1;
            let row = definition.instruction().map(Instruction::row);
            if row.is_some_and(|row| row.is(op::SELP) || row.is(op::SET)) {
                flags += 1;
            } else if seen < MOST_STATEMENTS && (is(&definition, &joining) || is(&definition, &through)) {
                stack.push(definition);
            }
        }
    }
    flags >= LEAST_FLAGS
}

impl Sum {
    /// The bits of a word, if all that are demanded are conditions or zeros, and these are enough.
    fn flags(&mut self, root: Term, demanded: u32) -> Option<Vec<Flag>> {
        let width = self.words.pieces.terms.width(root).min(u32::BITS);
        let mut all = Vec::new();
        for at in (0..width).filter(|at| demanded >> at & 1 == 1) {
            let condition = self.words.pieces.part(root, at, 1);
            let terms = &self.words.pieces.terms;
            match terms.value(condition) {
                Some(0) => {}
                None if is_condition(terms.op(condition)) => all.push(Flag { condition, at }),
                _ => return None,
            }
        }
        (all.len() >= LEAST_FLAGS).then_some(all)
    }

    /// A word with these bits. Comparisons without carries tell by the highest bits of lanes: then what is added up is
    /// moved down in the end.
    fn of_flags(&mut self, all: &[Flag], told: Told) -> Option<Recipe> {
        let bits = Lanes::Four.bits();
        let down = if told == Told::Highest { bits - 1 } else { 0 };
        let width = all.last()?.at + 1;
        // All of it is moved down in the end.
        if width + down > u32::BITS {
            return None;
        }
        // From the highest byte of the result down, what there is so far moves up.
        let mut total = Source::Constant(0);
        for byte in (0..width.div_ceil(bits)).rev() {
            if total != Source::Constant(0) {
                total = self.words.push(Step::plain(op::SHL_B32, &[total, Source::Constant(bits.into())]));
            }
            let here = all.iter().filter(|flag| flag.at / bits == byte);
            let kind = Kind::Weighted(Sign::Unsigned);
            let addends: Vec<Addend> = here.map(|flag| self.weighted_flag(flag, told)).collect();
            for some in self.bunches(kind, addends) {
                total = self.added(kind, &some, total)?;
            }
        }
        if down != 0 {
            total = self.words.push(Step::plain(op::SHR_U32, &[total, Source::Constant(down.into())]));
        }
        let total = self.words.cut(total, self.width);
        self.words.made_of(total)
    }

    /// A condition as a lane, times the place of its bit in a byte.
    fn weighted_flag(&mut self, flag: &Flag, told: Told) -> Addend {
        let (lane, bits) = (self.words.telling(flag.condition, told), Lanes::Four.bits());
        Addend {
            kind: Kind::Weighted(Sign::Unsigned),
            term: lane,
            lanes: vec![lane],
            weight: 1 << (flag.at % bits),
        }
    }

    /// A number where a condition on lanes holds, else zero.
    pub(super) fn of_condition(&mut self, term: Term) -> Option<Summand> {
        let bits = Lanes::Four.bits();
        let (condition, number) = self.number_where(term).or_else(|| Some((self.bit(term)?, 1)))?;
        let weight = i64::try_from(number).ok().filter(|number| (1..1 << bits).contains(number))?;
        if self.words.lanes != Lanes::Four || !self.words.can_be_told(condition) {
            return None;
        }
        let (kind, told) = match weight {
            1 => (Kind::Told, Told::Highest),
            _ => (Kind::Weighted(Sign::Unsigned), Told::Lowest),
        };
        let lane = self.words.telling(condition, told);
        let is_made = !self.words.alternatives(lane).is_empty();
        is_made.then(|| Summand { kind, lanes: vec![lane], weight })
    }

    /// The only bit of a term that may be set, if that is the lowest.
    fn bit(&mut self, term: Term) -> Option<Term> {
        let pieces = &mut self.words.pieces;
        (pieces.fact(term).unsigned().1 == 1).then(|| pieces.part(term, 0, 1))
    }

    /// How many of those lanes of a word that there are have a highest bit that is set, all other bits being zero, added to
    /// a total.
    pub(super) fn ones_of(&mut self, word: Source, lanes: &[Option<Term>], total: Source) -> Source {
        let word = self.those_of(word, lanes, 1 << (self.words.lanes.bits() - 1));
        let ones = self.words.push(Step::plain(op::POPC_B32, &[word]));
        if total == Source::Constant(0) {
            return ones;
        }
        self.words.push(Step::plain(op::ADD_U32, &[total, ones]))
    }
}
