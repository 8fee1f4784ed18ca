//! Tests of words whose lanes are not zero where conditions hold.
//!
//! Lanes that are to differ are compared as whole words. Any other condition is told by a bit of its lane, as in
//! [`conditions`](crate::fuse::lanes::conditions). Where lanes are ordered, it can also be told by whether the greater of
//! two is the other one; where one is to be equal to another, by whether their difference borrows.

use super::conditions::Condition;
use crate::fuse::lanes::conditions::Told;
use crate::fuse::lanes::sums::{Addend, Kind, Sum};
use crate::fuse::lanes::words::{Way, Words};
use crate::recipe::{Source, Step};
use ptxopt_grammar::meaning::term::{Op, Term};
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::Sign;

/// How a lane tells a condition that is no difference of lanes.
#[derive(Clone, Copy)]
enum How {
    /// By one of its bits.
    Bit(Told),
    /// What is less than something differs from the greater of both.
    Extreme,
    /// If 1 is taken from each lane of a word, the lowest lane that is zero borrows from the next, and its highest bit is
    /// set.
    Borrow,
}

/// A word, and which of its bits are tested.
struct Tested {
    word: Source,
    mask: u32,
}

/// Makes of a word whose lanes are given the one that is tested.
type Make = fn(&mut Sum, Source, u32) -> Option<Source>;

impl Words {
    /// A lane all of whose bits are set.
    pub(super) fn every_bit(&self) -> u32 {
        u32::MAX >> (u32::BITS - self.lanes.bits())
    }

    /// The highest bit of a lane.
    fn highest_bit(&self) -> u32 {
        1 << (self.lanes.bits() - 1)
    }
}

impl Sum {
    /// Tests of words that tell whether any of some conditions holds, or none does, in each way in which that is told.
    pub(super) fn tests(&mut self, all: &[Condition], any: bool) -> Vec<Source> {
        let is_difference = |condition: &Condition| matches!(condition, Condition::IsSet(..));
        let ways: &[How] = match all.iter().all(is_difference) {
            true => &[How::Bit(Told::Highest)],
            false => &[How::Bit(Told::Highest), How::Bit(Told::Lowest), How::Extreme, How::Borrow],
        };
        let mut found = Vec::new();
        for way in [Way::Gathered, Way::Computed, Way::Carried] {
            if way == Way::Carried && !self.words.could_be(way) {
                continue;
            }
            self.words.turn_to(way);
            found.extend(ways.iter().filter_map(|&how| self.test(all, any, how)));
        }
        self.words.turn_to(Way::Gathered);
        found
    }

    /// A test of words whose lanes have bits that are set where conditions hold.
    fn test(&mut self, all: &[Condition], any: bool, how: How) -> Option<Source> {
        let (every, highest) = (self.words.every_bit(), self.words.highest_bit());
        let (mut lanes, mut differences) = (Vec::new(), Vec::new());
        for &condition in all {
            match (condition, how) {
                (Condition::IsSet(lane, mask), _) => lanes.push((lane, mask)),
                (Condition::Holds(condition), How::Bit(told)) => {
                    let mask = if told == Told::Highest { highest } else { 1 };
                    lanes.push((self.words.telling(condition, told), mask));
                }
                (Condition::Holds(condition), How::Extreme) => {
                    lanes.push((self.other_extreme(condition)?, every));
                }
                (Condition::Holds(condition), How::Borrow) => differences.push(self.difference(condition)?),
            }
        }
        let mut words = Vec::new();
        let mut masks: Vec<u32> = lanes.iter().map(|&(_, mask)| mask).collect();
        masks.sort_unstable();
        masks.dedup();
        for mask in masks {
            let alike: Vec<Term> = lanes.iter().filter(|lane| lane.1 == mask).map(|lane| lane.0).collect();
            self.words_of(&alike, mask, &mut words, |_, word, _| Some(word))?;
        }
        self.words_of(&differences, highest, &mut words, Self::borrowing)?;
        let word = self.joined_words(words)?;
        let compare = op::SETP.with(&[if any { op::NE } else { op::EQ }, op::B32]);
        let sources = self.what_differs(word);
        Some(self.words.push(Step::wide(compare, &sources, 1)))
    }

    /// Words made of words with some lanes, in any order, and the bits of them that are tested.
    fn words_of(&mut self, lanes: &[Term], kept: u32, words: &mut Vec<Tested>, make: Make) -> Option<()> {
        let kind = Kind::Weighted(Sign::Unsigned);
        let terms = &self.words.pieces.terms;
        // Lanes that differ stand where both lie, and not where some of their differences do.
        let addend = |&term: &Term| {
            let both = if let Op::Xor(x, y) = terms.op(term) { Some([x, y]) } else { None };
            let both = both.filter(|both| both.iter().all(|&lane| terms.value(lane).is_none()));
            Addend { kind, term, lanes: both.map_or_else(|| vec![term], Vec::from), weight: 1 }
        };
        let bits = self.words.lanes.bits();
        for bunch in self.bunches(kind, lanes.iter().map(addend).collect()) {
            let places = self.places_of(&bunch);
            let lanes: Vec<Option<Term>> =
                places.iter().map(|addend| addend.map(|addend| addend.term)).collect();
            let there = (0..).zip(&lanes).filter(|(_, lane)| lane.is_some());
            let mask = there.fold(0, |mask, (at, _)| mask | kept << (at * bits));
            let word = self.words.word(&lanes, 1)?;
            words.push(Tested { word: make(self, word, mask)?, mask });
        }
        Some(())
    }

    /// A word some of whose highest bits of lanes are set if one of its lanes is zero. `None` if not all lanes are tested,
    /// since others could borrow.
    fn borrowing(&mut self, word: Source, mask: u32) -> Option<Source> {
        let lanes = self.words.lanes;
        if mask != lanes.every(self.words.highest_bit()) {
            return None;
        }
        let word = self.words.register(word);
        let minus_ones = Source::Constant(lanes.every(1).wrapping_neg().into());
        let less = self.words.push(Step::plain(op::ADD_U32, &[word, minus_ones]));
        // The bits that are set now and were not before, whatever the third word is.
        let sources = [less, word, Source::Constant(0), Source::Constant(0x30)];
        Some(self.words.push(Step::plain(op::LOP3_B32, &sources)))
    }

    /// A word that is not zero if one of the bits of words is set that are tested. Words are joined before bits are kept, if
    /// the same bits are kept of them.
    fn joined_words(&mut self, mut words: Vec<Tested>) -> Option<Source> {
        let mut all: Option<Source> = None;
        while let Some(mask) = words.first().map(|first| first.mask) {
            let (alike, others): (Vec<Tested>, _) = words.into_iter().partition(|one| one.mask == mask);
            words = others;
            let join = |joined: Source, word: Source, words: &mut Words| {
                words.push(Step::plain(op::OR_B32, &[joined, word]))
            };
            let mut kept =
                alike.into_iter().map(|one| one.word).reduce(|x, y| join(x, y, &mut self.words))?;
            if mask != u32::MAX {
                kept = self.words.push(Step::plain(op::AND_B32, &[kept, Source::Constant(mask.into())]));
            }
            all = Some(all.map_or(kept, |all| join(all, kept, &mut self.words)));
        }
        all
    }

    /// What is compared where a word is zero: that itself with zero, or two words that differ in it.
    fn what_differs(&self, word: Source) -> [Source; 2] {
        let step = match word {
            Source::Step(step) => Some(self.words.steps[step]),
            Source::Value(_) | Source::Constant(_) => None,
        };
        match step.filter(|step| step.is(op::XOR_B32)) {
            Some(step) => [step.sources[0], step.sources[1]],
            None => [word, Source::Constant(0)],
        }
    }

    /// A lane that is zero where two lanes are equal; `None` if that is not the condition.
    fn difference(&mut self, condition: Term) -> Option<Term> {
        let (terms, bits) = (&mut self.words.pieces.terms, self.words.lanes.bits());
        let Op::Equal(x, y) = terms.op(condition) else { return None };
        (terms.width(x) == bits).then(|| terms.xor(x, y))
    }

    /// A lane that is not zero where a lane is less than another, and so is not the greater of both; `None` if that is not
    /// the condition.
    fn other_extreme(&mut self, condition: Term) -> Option<Term> {
        let (terms, bits) = (&mut self.words.pieces.terms, self.words.lanes.bits());
        let Op::UnsignedLess(x, y) = terms.op(condition) else { return None };
        (terms.width(x) == bits).then(|| {
            let greater = terms.choose(condition, y, x);
            terms.xor(greater, x)
        })
    }
}
