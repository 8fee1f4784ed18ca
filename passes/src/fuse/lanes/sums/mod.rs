//! Sums: what is added up lane by lane, as dot products and as SIMD instructions that add their lanes up.
//!
//! The operands of a chain of additions are taken together. Those that are the same function of lanes of other words
//! are one instruction for each word of them: products of lanes, squares, lanes with weights (`dp4a`, `dp2a`), and whatever a
//! SIMD instruction computes before it adds it up (`kind`, `dot`). Sums wrap, so the order does not matter, nor does
//! the lane that each stands in.

mod dot;
mod kind;
mod likely;

use super::cuts::Cut;
use super::evaluated::Evaluated;
use super::function::Argument;
use super::operation::{Behaviour, Operation, Table, WithNumber};
use super::pieces::{Home, Pieces};
use super::words::{Way, Words};
use crate::graph::Join;
use crate::recipe::{Recipe, Source, Step};
use crate::rules::{Pass, Rule};
use crate::site::Site;
use kind::{Kind, adding, classify};
use likely::adds_lanes;
use ptxopt_grammar::meaning::term::{Op, Term};
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::{Form, Lanes, Routing, Sign, Simd};

/// The most operands of a sum that are taken together: the last of a long one, whose rest is a sum of its own, and then
/// all, which is more to prove.
const MOST_OPERANDS: [usize; 2] = [24, 72];

/// The rule.
pub(super) const RULE: Rule = Rule {
    name: "sum",
    pass: Pass::Fuse,
    law: "lanes that are computed alike and added up are a dot product, or a SIMD instruction that adds them up",
    examples: &[
        "bfe.u32 %r0, %a, 0, 8; bfe.u32 %r1, %b, 0, 8; add.u32 %d, %c, %r0; add.u32 %d, %d, %r1; \
         bfe.u32 %r0, %a, 8, 8; bfe.u32 %r1, %b, 8, 8; add.u32 %d, %d, %r0; add.u32 %d, %d, %r1;",
        "and.b32 %r0, %a, 255; and.b32 %r1, %b, 255; mad.lo.s32 %d, %r0, %r1, %c; \
         bfe.u32 %r0, %a, 8, 8; bfe.u32 %r1, %b, 8, 8; mad.lo.s32 %d, %r0, %r1, %d;",
        "prmt.b32 %r0, %a, 0, 0x4440; prmt.b32 %r1, %a, 0, 0x4441; prmt.b32 %r2, %a, 0, 0x4442; \
         shr.u32 %r3, %a, 24; add.u32 %r0, %r0, %c; add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; \
         add.u32 %d, %r0, %r1;",
        "bfe.s32 %r0, %a, 0, 8; bfe.s32 %r1, %b, 0, 8; mul.lo.s32 %r0, %r0, %r1; \
         bfe.s32 %r2, %a, 8, 8; bfe.s32 %r3, %b, 8, 8; mul.lo.s32 %r2, %r2, %r3; add.s32 %d, %r0, %r2;",
        "bfe.u32 %r0, %a, 0, 8; bfe.u32 %r1, %b, 0, 8; sub.s32 %r0, %r0, %r1; abs.s32 %r0, %r0; \
         bfe.u32 %r2, %a, 24, 8; bfe.u32 %r3, %b, 24, 8; sub.s32 %r2, %r2, %r3; abs.s32 %r2, %r2; \
         add.s32 %d, %r0, %r2;",
    ],
    propose: sum,
};

/// What is added up of some lanes.
#[derive(Clone, Debug)]
pub(super) struct Summand {
    kind: Kind,
    lanes: Vec<Term>,
    weight: i64,
}

/// What a function of lanes is that is added up, whichever lanes these are.
#[derive(Clone, Debug)]
pub(super) struct Counted {
    kind: Kind,
    weight: i64,
    operands: Vec<Argument>,
}

/// An operand of a sum.
#[derive(Clone, Debug)]
struct Addend {
    kind: Kind,
    term: Term,
    lanes: Vec<Term>,
    weight: i64,
}

fn sum(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let graph = site.graph;
    let value = graph.value(site.value);
    // Scalar video instructions compute more bits than there are in a word.
    let low = |term| if let Op::Extract(inner, 0) = graph.terms().op(term) { inner } else { term };
    let adds = value.core.is_some_and(|core| matches!(graph.terms().op(low(core)), Op::Add(..)));
    // What adds the sum to something has its operands among its own.
    if !adds || !matches!(value.width, 16 | 32) || graph.joined(site.value) == Some(Join::Add) {
        return;
    }
    if !adds_lanes(site) {
        return;
    }
    for lanes in Lanes::ALL {
        Pieces::each(site, lanes.bits(), |pieces| {
            let root = pieces.root;
            let words = Words::over(pieces, lanes);
            let mut sum = Sum { words, width: value.width, most: MOST_OPERANDS[0], is_cut: false };
            out.extend(sum.recipe(root));
            if sum.is_cut {
                sum.most = MOST_OPERANDS[1];
                out.extend(sum.recipe(root));
            }
            for way in [Way::OfWords, Way::Decided] {
                if sum.words.could_be(way) {
                    sum.words.turn_to(way);
                    let otherwise = sum.recipe(root);
                    out.extend(otherwise.filter(|recipe| !out.contains(recipe)));
                }
            }
            sum.words.pieces
        });
    }
}

/// What is added up.
enum Operand {
    Lanes(Addend),
    /// A word that is there.
    Word(Source),
    /// A product of words that is added as it is computed.
    Product([Source; 2]),
    /// A word that is there, with its bits inverted: less one, it is subtracted.
    Inverted(Source),
}

/// The operands of a sum that are words or products of words.
#[derive(Default)]
struct Rest {
    words: Vec<Source>,
    products: Vec<[Source; 2]>,
    subtracted: Vec<Source>,
    /// The sum of all numbers.
    number: u32,
}

impl Rest {
    /// Takes an operand, if it is none of lanes.
    fn push(&mut self, operand: &Operand) -> Option<()> {
        match *operand {
            Operand::Word(Source::Constant(number)) => {
                let low = u32::try_from(number & u64::from(u32::MAX)).expect("it was cut to a word");
                self.number = self.number.wrapping_add(low);
            }
            Operand::Word(source) => self.words.push(source),
            Operand::Product(sources) => self.products.push(sources),
            Operand::Inverted(source) => {
                self.number = self.number.wrapping_sub(1);
                self.subtracted.push(source);
            }
            Operand::Lanes(_) => return None,
        }
        Some(())
    }
}

/// Adds up the weights of lanes that are added several times, if there are several lanes.
fn merge(group: &mut Vec<Addend>) {
    if group.iter().all(|addend| addend.lanes == group[0].lanes) {
        return;
    }
    let mut merged: Vec<Addend> = Vec::with_capacity(group.len());
    for addend in group.drain(..) {
        match merged.iter_mut().find(|other| other.lanes == addend.lanes) {
            Some(other) => other.weight += addend.weight,
            None => merged.push(addend),
        }
    }
    *group = merged;
}

struct Sum {
    words: Words,
    /// How many bits of it there are: those of a word, or fewer.
    width: u32,
    /// How many operands are taken together.
    most: usize,
    /// Whether there are more.
    is_cut: bool,
}

impl Sum {
    fn recipe(&mut self, root: Term) -> Option<Recipe> {
        let mut all = Vec::new();
        self.split(root, 0, &mut all)?;
        self.align(&mut all);
        let mut groups: Vec<(Kind, Vec<Addend>)> = Vec::new();
        let mut rest = Rest::default();
        for operand in all {
            let Operand::Lanes(addend) = operand else {
                rest.push(&operand)?;
                continue;
            };
            match groups.iter_mut().find(|(kind, _)| *kind == addend.kind) {
                Some((_, group)) => group.push(addend),
                None => groups.push((addend.kind, vec![addend])),
            }
        }
        for (_, group) in groups.iter_mut().filter(|(kind, _)| matches!(kind, Kind::Weighted(_))) {
            merge(group);
        }
        // One that is added several times is no other lane, if it can be added as it is.
        let is_several = |group: &[Addend]| group.iter().any(|addend| addend.term != group[0].term);
        let joins =
            |group: &[Addend]| group.len() > 1 && (is_several(group) || self.rest(group[0].term).is_none());
        let (groups, single): (Vec<_>, Vec<_>) = groups.into_iter().partition(|(_, group)| joins(group));
        if groups.is_empty() {
            return None;
        }
        for addend in single.into_iter().flat_map(|(_, group)| group) {
            rest.push(&self.rest(addend.term)?)?;
        }
        let Rest { words, products, subtracted, number } = rest;
        let number = (number != 0).then_some(Source::Constant(number.into()));
        let mut words = words.into_iter().chain(number);
        let mut total = words.next();
        for other in words {
            let sum = total.map_or(other, |total| self.words.push(Step::plain(op::ADD_U32, &[total, other])));
            total = Some(sum);
        }
        for [x, y] in products {
            let step = match total {
                Some(total) => Step::plain(op::MAD_LO_U32, &[x, y, total]),
                None => Step::plain(op::MUL_LO_U32, &[x, y]),
            };
            total = Some(self.words.push(step));
        }
        let mut total = total.unwrap_or(Source::Constant(0));
        for (kind, group) in groups {
            for some in self.bunches(kind, group) {
                total = self.added(kind, &some, total)?;
            }
        }
        for source in subtracted {
            total = self.words.push(Step::plain(op::SUB_U32, &[total, source]));
        }
        let total = self.words.cut(total, self.width);
        self.words.made_of(total)
    }

    /// The operands of a sum, those of its operands in their places; `None` if one of them cannot be read.
    fn split(&mut self, term: Term, depth: usize, all: &mut Vec<Operand>) -> Option<()> {
        let width = self.words.pieces.terms.width(term).min(self.width);
        let low = self.words.pieces.part(term, 0, width);
        let pieces = &self.words.pieces;
        let adds = matches!(pieces.terms.op(low), Op::Add(..));
        self.is_cut |= adds && depth.max(all.len()) >= self.most;
        if let Op::Add(a, b) = pieces.terms.op(low)
            && depth.max(all.len()) < self.most
        {
            let before = all.len();
            let there = pieces.word(term).filter(|_| depth > 0);
            let inner = self.split(a, depth + 1, all).and_then(|()| self.split(b, depth + 1, all));
            let helps = all[before..].iter().any(|operand| matches!(operand, Operand::Lanes(_)));
            if inner.is_some() && (helps || there.is_none()) {
                return inner;
            }
            all.truncate(before);
        }
        let whole = self.words.pieces.terms.width(term).max(32);
        let term = self.words.pieces.terms.zero_extend(term, whole);
        let operand = match self.addend(term, |_| true) {
            Some(addend) => Operand::Lanes(addend),
            None => self.rest(term)?,
        };
        all.push(operand);
        Some(())
    }

    /// Takes operands to be what most of them are, if they can be that as well.
    fn align(&mut self, all: &mut [Operand]) {
        let mut counts: Vec<(Kind, usize)> = Vec::new();
        for operand in all.iter() {
            let Operand::Lanes(addend) = operand else { continue };
            match counts.iter_mut().find(|(kind, _)| *kind == addend.kind) {
                Some((_, count)) => *count += 1,
                None => counts.push((addend.kind, 1)),
            }
        }
        if counts.len() < 2 {
            return;
        }
        counts.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        let (most, _) = counts[0];
        for operand in all {
            if let Operand::Lanes(addend) = operand
                && addend.kind != most
                && let Some(other) = self.addend(addend.term, |summand| summand.kind == most)
            {
                *addend = other;
            }
        }
    }

    /// An operand as it is.
    fn rest(&self, term: Term) -> Option<Operand> {
        let pieces = &self.words.pieces;
        let source = |term: Term| match pieces.terms.value(term) {
            Some(value) => Some(Source::Constant(u64::try_from(value).ok()?)),
            None => pieces.word(term).map(Source::Value),
        };
        if let Some(source) = source(term) {
            return Some(Operand::Word(source));
        }
        if let Op::Not(inner) = pieces.terms.op(term) {
            return Some(Operand::Inverted(source(inner)?));
        }
        let Op::Mul(a, b) = pieces.terms.op(term) else { return None };
        Some(Operand::Product([source(a)?, source(b)?]))
    }

    /// Operands that are one instruction: lanes of the same words, which need not be moved. Where lanes are missing,
    /// those of other words take their places, but for lanes with weights, where a missing one has the weight zero.
    fn bunches(&self, kind: Kind, addends: Vec<Addend>) -> Vec<Vec<Addend>> {
        let count = usize::from(self.words.lanes.count());
        let words = |addend: &Addend| {
            addend.lanes.iter().map(|&lane| Some(self.home(addend, lane)?.0)).collect::<Vec<_>>()
        };
        let takes = |bunch: &[Addend], addend: &Addend| {
            let is_apart =
                |other: &Addend| words(other) == words(addend) && self.place(other) != self.place(addend);
            bunch.len() < count && bunch.iter().all(is_apart)
        };
        let mut bunches: Vec<Vec<Addend>> = Vec::new();
        for addend in addends {
            match bunches.iter_mut().find(|bunch| takes(bunch, &addend)) {
                Some(bunch) => bunch.push(addend),
                None => bunches.push(vec![addend]),
            }
        }
        let mut joined: Vec<Vec<Addend>> = Vec::new();
        for bunch in bunches {
            let weighs = matches!(kind, Kind::Weighted(_)) && words(&bunch[0])[0].is_some();
            match joined.iter_mut().find(|other| !weighs && other.len() + bunch.len() <= count) {
                Some(other) => other.extend(bunch),
                None => joined.push(bunch),
            }
        }
        joined
    }

    /// Where a lane of an operand can be read. Of several lanes, one that has a register of its own is computed of a word
    /// as well as the others.
    fn home(&self, addend: &Addend, lane: Term) -> Option<Home> {
        let pieces = &self.words.pieces;
        let own = pieces.homes(lane).find(|&(word, _)| addend.lanes.len() == 1 || !pieces.is_single(word));
        own.or_else(|| self.words.home_of_compared(lane))
    }

    /// The place of an operand in its word, if it lies in one.
    fn place(&self, addend: &Addend) -> Option<usize> {
        addend.lanes.iter().find_map(|&lane| self.home(addend, lane)).map(|(_, place)| place)
    }

    /// One instruction for some operands, added to a total.
    fn added(&mut self, kind: Kind, some: &[Addend], total: Source) -> Option<Source> {
        let mut places: Vec<Option<&Addend>> = vec![None; self.words.lanes.count().into()];
        for addend in some {
            let home = self.place(addend).unwrap_or(0);
            let free = |place: &usize| places[*place].is_none();
            let place = [home].into_iter().chain(0..places.len()).find(free);
            places[place.expect("there are as many places")] = Some(addend);
        }
        let lanes = |number: usize| -> Vec<Option<Term>> {
            places.iter().map(|addend| addend.map(|addend| addend.lanes[number])).collect()
        };
        let first = self.words.word(&lanes(0), 1)?;
        match kind {
            Kind::Simd(operation) => {
                let second = self.words.word(&lanes(1), 1)?;
                let mask = places.iter().zip(0..).filter(|(addend, _)| addend.is_some());
                let mask = mask.fold(0, |mask, (_, place)| mask | 1 << place);
                let routing = Routing::plain(self.words.lanes).masked(mask)?;
                let Operation { op, atype, btype } = operation;
                let form = Form::Simd(Simd { op: adding(op), atype, btype, routing });
                let sources = [first, second, total].map(|source| self.words.register(source));
                Some(self.words.push(Step::video(form, &sources)))
            }
            Kind::Square(sign) => Some(self.squared(sign, first, &lanes(0), total)),
            Kind::SquaredDifference(Operation { op, atype, btype }) => {
                let second = self.words.word(&lanes(1), 1)?;
                let routing = Routing::plain(self.words.lanes);
                let sources = [first, second].map(|source| self.words.register(source));
                let form = Form::Simd(Simd { op, atype, btype, routing });
                let apart = self.words.push(Step::video(form, &sources));
                Some(self.squared(Sign::Unsigned, apart, &lanes(0), total))
            }
            Kind::Product(one, other) => self.product([one, other], first, &lanes(1), total),
            Kind::Weighted(sign) => {
                let weights = places.iter().map(|addend| addend.map_or(0, |addend| addend.weight));
                self.weighted(sign, first, &weights.collect::<Vec<_>>(), total)
            }
        }
    }

    /// An operand as a function of lanes, the first that is wanted.
    fn addend(&mut self, term: Term, wanted: impl Fn(&Summand) -> bool) -> Option<Addend> {
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
        found.map(|Summand { kind, lanes, weight }| Addend { kind, term, lanes, weight })
    }

    /// A number where a lane is compared with a whole word, else zero: the mask of that, times the number, negated.
    fn of_mask(&mut self, term: Term) -> Option<Summand> {
        let terms = &self.words.pieces.terms;
        let narrow = if let Op::ZeroExtend(narrow) = terms.op(term) { narrow } else { term };
        let narrow = if terms.width(narrow) > 1 { narrow } else { term };
        let [condition, then, otherwise] = self.words.pieces.choice(narrow)?;
        let terms = &mut self.words.pieces.terms;
        let (condition, number) = match [then, otherwise].map(|of| terms.value(of)) {
            [Some(number), Some(0)] => (condition, number),
            [Some(0), Some(number)] => (terms.not(condition), number),
            _ => return None,
        };
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
        let evaluated = Evaluated::of(&self.words.pieces.functions, function)?;
        let Some((kind, weight, exchanged)) = classify(&evaluated, leaves, self.words.lanes) else {
            return if leaves == 1 { self.compared(function, &evaluated) } else { None };
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
