//! What an operand of a sum is as a function of lanes.
//!
//! As everywhere, a function is known by what it gives for samples and is only proposed.

use super::super::cuts::Cut;
use super::super::evaluated::Evaluated;
use super::super::function::Argument;
use super::super::operation::{Behaviour, Operation, Table, WithNumber};
use super::super::words::Way;
use super::kind::{Kind, classify, low};
use super::{Addend, Counted, Sum, Summand};
use ptxopt_grammar::meaning::term::{Op, Term};
use ptxopt_grammar::video::{Lanes, Sign};

impl Sum {
    /// An operand as a function of lanes, the first that is wanted.
    pub(super) fn addend(&mut self, term: Term, wanted: impl Fn(&Summand) -> bool) -> Option<Addend> {
        if let Some(Summand { kind, lanes, weight }) = self.of_mask(term).filter(&wanted)
            && self.words.is_made(Way::Decided)
        {
            return Some(Addend { kind, term, lanes, weight });
        }
        let narrow = self.narrowed(term);
        let cuts = self.words.pieces.cuts(narrow);
        let found = cuts.iter().enumerate().find_map(|(at, cut)| {
            let lanes = self.words.pieces.operands(cut);
            let asked = (narrow, at, lanes.first().copied());
            let known = self.words.pieces.summands.get(&asked).cloned();
            let summand = known.unwrap_or_else(|| {
                let summand = self.summand(narrow, cut, &lanes);
                self.words.pieces.summands.insert(asked, summand.clone());
                summand
            });
            summand.filter(&wanted)
        });
        // One that has a register of its own is a condition as well.
        let is_itself = |summand: &Summand| matches!(summand.kind, Kind::Weighted(_));
        let found = match found {
            Some(summand) if !is_itself(&summand) => Some(summand),
            itself => self.of_condition(term).filter(&wanted).or(itself),
        };
        found.map(|Summand { kind, lanes, weight }| Addend { kind, term, lanes, weight })
    }

    /// A condition, and the number that a term is where it holds, if it is zero elsewhere.
    pub(super) fn number_where(&mut self, term: Term) -> Option<(Term, u128)> {
        let terms = &self.words.pieces.terms;
        let narrow = if let Op::ZeroExtend(narrow) = terms.op(term) { narrow } else { term };
        let narrow = if terms.width(narrow) > 1 { narrow } else { term };
        let [condition, then, otherwise] = self.words.pieces.choice(narrow)?;
        let terms = &mut self.words.pieces.terms;
        match [then, otherwise].map(|of| terms.value(of)) {
            [Some(number), Some(0)] => Some((condition, number)),
            [Some(0), Some(number)] => Some((terms.not(condition), number)),
            _ => None,
        }
    }

    /// A number where a lane is compared with a whole word, else zero: the mask of that, times the number, negated.
    fn of_mask(&mut self, term: Term) -> Option<Summand> {
        let (condition, number) = self.number_where(term)?;
        let weight = -i64::try_from(number).ok().filter(|&number| number >> 32 == 0)?;
        let mask = self.words.mask_of_words(condition)?;
        Some(Summand { kind: Kind::Weighted(Sign::Signed), lanes: vec![mask], weight })
    }

    /// What a term is as a function of the lanes of a cut.
    fn summand(&mut self, term: Term, cut: &Cut, leaves: &[Term]) -> Option<Summand> {
        let function = self.words.pieces.function(term, cut);
        let asked = (function, leaves.len());
        let known = self.words.pieces.counted.get(&asked).cloned();
        let counted = known.unwrap_or_else(|| {
            let counted = self.counted(function, leaves.len());
            self.words.pieces.counted.insert(asked, counted.clone());
            counted
        });
        let Counted { kind, weight, operands } = counted?;
        let lanes: Vec<Term> =
            operands.into_iter().map(|operand| self.words.argument(operand, leaves)).collect();
        let (kind, lanes) = match (kind, self.words.lanes) {
            (Kind::Product(one, other), Lanes::Two) => self.half_and_byte([one, other], &lanes)?,
            // Products alike are found whichever operand comes first.
            (Kind::Product(Sign::Unsigned, Sign::Signed), Lanes::Four) => {
                (Kind::Product(Sign::Signed, Sign::Unsigned), lanes.into_iter().rev().collect())
            }
            _ => (kind, lanes),
        };
        Some(Summand { kind, lanes, weight })
    }

    /// What a function of so many lanes is that is added up.
    fn counted(&self, function: Term, leaves: usize) -> Option<Counted> {
        let evaluated = Evaluated::of(&self.words.pieces.functions.terms, function)?;
        let Some((kind, weight, exchanged)) = classify(&evaluated, leaves, self.words.lanes) else {
            let with_number =
                || self.compared(function, &evaluated).or_else(|| self.distance(function, &evaluated));
            return if leaves == 1 { with_number() } else { None };
        };
        let mut operands: Vec<Argument> = (0..leaves).map(Argument::Leaf).collect();
        if exchanged {
            operands.reverse();
        }
        Some(Counted { kind, weight, operands })
    }

    /// A function of one lane that compares it with a number, as a comparison of two lanes.
    fn compared(&self, function: Term, evaluated: &Evaluated) -> Option<Counted> {
        let numbers = self.words.numbers(function).into_iter();
        let numbers: Vec<[u32; 2]> = numbers.map(|number| [number, 0]).collect();
        let at_numbers = evaluated.results(&numbers)?;
        if at_numbers.iter().any(|&result| result > 1) {
            return None;
        }
        let table = Table::of(self.words.lanes);
        let results: Behaviour = evaluated.results(&table.samples)?.try_into().expect("each has a result");
        if results.iter().any(|&result| result > 1) {
            return None;
        }
        let numbers = numbers.into_iter().zip(at_numbers).map(|([number, _], result)| [number, result]);
        let found = table.with_number(&results, &numbers.collect::<Vec<_>>());
        let (operation, first, number) = found.into_iter().find_map(|(with, [number, _])| {
            let WithNumber::Simd(operation, first) = with else { return None };
            operation.compares().then_some((operation, first, number))
        })?;
        let [lane, number] = [Argument::Leaf(0), Argument::Number(number)];
        let operands = if first { vec![number, lane] } else { vec![lane, number] };
        Some(Counted { kind: Kind::Simd(operation), weight: 0, operands })
    }

    /// A function of one lane that is how far it is from a number, as a distance of two lanes: magnitudes are distances
    /// from zero.
    fn distance(&self, function: Term, evaluated: &Evaluated) -> Option<Counted> {
        let (table, bits) = (Table::of(self.words.lanes), self.words.lanes.bits());
        let results = evaluated.results(&table.samples)?;
        let distances: Vec<Operation> = table.sums().filter(|operation| operation.is_distance()).collect();
        let found = self.words.numbers(function).into_iter().find_map(|number| {
            let is = |operation: &&Operation| {
                let distance = |x: u32| operation.uncut(x, number, bits);
                let mut all = table.samples.iter().zip(&results);
                all.all(|(&[x, _], &result)| low(distance(x).into()) == result)
            };
            distances.iter().find(is).map(|&operation| (operation, number))
        });
        let (operation, number) = found?;
        let operands = vec![Argument::Leaf(0), Argument::Number(number)];
        Some(Counted { kind: Kind::Simd(operation), weight: 0, operands })
    }

    /// A term without what its upper bits are made of, if these are zero: a field that was cut out is made of the whole
    /// word otherwise.
    fn narrowed(&mut self, term: Term) -> Term {
        let pieces = &mut self.words.pieces;
        let width = pieces.terms.width(term);
        let most = pieces.fact(term).unsigned().1;
        let Some(bits) = [8, 16].into_iter().find(|&bits| bits < width && most >> bits == 0) else {
            return term;
        };
        let low = pieces.part(term, 0, bits);
        pieces.terms.zero_extend(low, width)
    }
}
