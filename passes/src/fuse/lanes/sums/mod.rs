//! Sums: what is added up lane by lane, as dot products and as SIMD instructions that add their lanes up.
//!
//! The operands of a chain of additions are taken together. Those that are the same function of lanes of other words
//! are one instruction for each word of them: products of lanes, squares, lanes with weights (`dp4a`, `dp2a`), and whatever a
//! SIMD instruction computes before it adds it up (`kind`, `dot`). Sums wrap, so the order does not matter, nor does
//! the lane that each stands in.

mod distances;
mod dot;
mod expanded;
pub(super) mod flags;
mod kind;
mod likely;
mod running;
mod summand;
pub(super) mod tested;

use super::function::Argument;
use super::operation::Operation;
use super::pieces::{Home, Pieces};
use super::words::{Way, Words};
use crate::graph::Join;
use crate::recipe::{Recipe, Source, Step};
use crate::rules::{Pass, Rule};
use crate::site::Site;
use expanded::{Multiple, Part};
use kind::{Kind, adding};
use likely::adds_lanes;
use ptxopt_grammar::meaning::term::{Op, Term};
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::{Form, Lanes, Routing, Sign, Simd};

/// The most operands of a sum that are taken together: the last of a long one, whose rest is a sum of its own, and then
/// all, which is more to prove.
const MOST_OPERANDS: [usize; 2] = [24, 72];

/// The most operands that are comparisons of lanes with whole words: more together are not proved in time.
const MOST_COMPARED: usize = 16;

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
    if !adds || !matches!(value.width, 16 | 32) {
        return;
    }
    // What is left of a long sum of which the rest was multiplied out.
    let is_left = || expanded::is_added_to_products(site);
    if graph.joined(site.value) == Some(Join::Add) && !is_left() {
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
                out.extend(sum.running(root));
            }
            for way in [Way::MultipliedOut, Way::OfWords, Way::Carried, Way::Decided] {
                if sum.words.could_be(way) {
                    sum.words.turn_to(way);
                    sum.most = if way == Way::Decided { MOST_COMPARED } else { sum.most };
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
    /// A word that is there, with its bits inverted: less one, it is subtracted. And what it is.
    Inverted(Source, Term),
    /// What is multiplied by a word.
    Multiplied(Term, Part),
}

/// The operands of a sum that are words or products of words.
#[derive(Default)]
struct Rest {
    /// Words, and how often each is added.
    words: Vec<(Source, i64)>,
    products: Vec<[Source; 2]>,
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
            Operand::Word(source) => count(&mut self.words, source, 1),
            Operand::Product(sources) => self.products.push(sources),
            Operand::Inverted(source, _) => {
                self.number = self.number.wrapping_sub(1);
                count(&mut self.words, source, -1);
            }
            Operand::Lanes(_) | Operand::Multiplied(..) => return None,
        }
        Some(())
    }
}

/// Counts something so many times more.
fn count<T: PartialEq>(all: &mut Vec<(T, i64)>, one: T, times: i64) {
    match all.iter_mut().find(|(other, _)| *other == one) {
        Some((_, count)) => *count += times,
        None => all.push((one, times)),
    }
}

/// Adds an operand to those of its kind.
fn add_to(groups: &mut Vec<(Kind, Vec<Addend>)>, addend: Addend) {
    match groups.iter_mut().find(|(kind, _)| *kind == addend.kind) {
        Some((_, group)) => group.push(addend),
        None => groups.push((addend.kind, vec![addend])),
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
        self.pair(&mut all);
        self.align(&mut all);
        self.of_operands(all)
    }

    /// What adds these operands up.
    fn of_operands(&mut self, all: Vec<Operand>) -> Option<Recipe> {
        let mut groups: Vec<(Kind, Vec<Addend>)> = Vec::new();
        let mut rest = Rest::default();
        let mut multiples = Vec::new();
        for operand in all {
            let addend = match operand {
                Operand::Lanes(addend) => addend,
                Operand::Multiplied(by, part) => {
                    Multiple::push(&mut multiples, by, part);
                    continue;
                }
                Operand::Word(_) | Operand::Product(_) | Operand::Inverted(..) => {
                    rest.push(&operand)?;
                    continue;
                }
            };
            add_to(&mut groups, addend);
        }
        for (_, group) in groups.iter_mut().filter(|(kind, _)| matches!(kind, Kind::Weighted(_))) {
            merge(group);
        }
        // One that is added several times is no other lane, if it can be added as it is.
        let is_several = |group: &[Addend]| group.iter().any(|addend| addend.term != group[0].term);
        let joins =
            |group: &[Addend]| group.len() > 1 && (is_several(group) || self.rest(group[0].term).is_none());
        let (groups, single): (Vec<_>, Vec<_>) = groups.into_iter().partition(|(_, group)| joins(group));
        if groups.is_empty() && multiples.is_empty() {
            return None;
        }
        for addend in single.into_iter().flat_map(|(_, group)| group) {
            rest.push(&self.rest(addend.term)?)?;
        }
        let Rest { words, products, number } = rest;
        let (added, subtracted): (Vec<_>, Vec<_>) = words.into_iter().partition(|&(_, times)| times > 0);
        let mut total: Option<Source> = None;
        for (word, times) in added {
            let word = self.times_number(word, times);
            total =
                Some(total.map_or(word, |total| self.words.push(Step::plain(op::ADD_U32, &[total, word]))));
        }
        if number != 0 {
            let number = Source::Constant(number.into());
            let sum = |total| self.words.push(Step::plain(op::ADD_U32, &[total, number]));
            total = Some(total.map_or(number, sum));
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
        // Last, so that what is left of a long sum is added to a dot product and is a sum of its own.
        for multiple in multiples {
            total = self.multiplied(multiple, total)?;
        }
        for (word, times) in subtracted.into_iter().filter(|&(_, times)| times != 0) {
            let word = self.times_number(word, -times);
            total = self.words.push(Step::plain(op::SUB_U32, &[total, word]));
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
        let is_full = match self.words.way() == Way::MultipliedOut {
            true => depth >= expanded::MOST_LANES || expanded::is_full(all),
            false => depth.max(all.len()) >= self.most,
        };
        self.is_cut |= adds && is_full;
        if let Op::Add(a, b) = pieces.terms.op(low)
            && !is_full
        {
            let before = all.len();
            let there = pieces.word(term).filter(|_| depth > 0);
            let inner = self.split(a, depth + 1, all).and_then(|()| self.split(b, depth + 1, all));
            let has_lanes =
                |operand: &Operand| matches!(operand, Operand::Lanes(_) | Operand::Multiplied(..));
            let helps = all[before..].iter().any(has_lanes);
            if inner.is_some() && (helps || there.is_none()) {
                return inner;
            }
            all.truncate(before);
        }
        let whole = self.words.pieces.terms.width(term).max(32);
        let term = self.words.pieces.terms.zero_extend(term, whole);
        match self.addend(term, |_| true) {
            Some(addend) => all.push(Operand::Lanes(addend)),
            None => match self.multiplied_out(term) {
                Some(operands) => all.extend(operands),
                None => all.push(self.rest(term)?),
            },
        }
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
            return Some(Operand::Inverted(source(inner)?, inner));
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

    /// Where a lane of an operand can be read, or the last lane that it is computed of: so that of neighbours that are
    /// compared it is always the same one. Not of products, which are of lanes as they are. Of several lanes, one that has
    /// a register of its own is computed of a word as well as the others; so is one that tells a condition.
    fn home(&self, addend: &Addend, lane: Term) -> Option<Home> {
        let pieces = &self.words.pieces;
        let is_alone = addend.lanes.len() == 1 && self.words.told(lane).is_none();
        let own = pieces.homes(lane).find(|&(word, _)| is_alone || !pieces.is_single(word));
        if own.is_some() || matches!(addend.kind, Kind::Product(..)) {
            return own;
        }
        let below = pieces.inputs_of(lane).into_iter().filter(|&input| input != lane);
        below.filter_map(|input| pieces.homes(input).next()).max()
    }

    /// The place of an operand in its word, if it lies in one.
    fn place(&self, addend: &Addend) -> Option<usize> {
        addend.lanes.iter().find_map(|&lane| self.home(addend, lane)).map(|(_, place)| place)
    }

    /// The lanes in which some operands are computed: where they lie, as far as nothing else does.
    fn places_of<'a>(&self, some: &'a [Addend]) -> Vec<Option<&'a Addend>> {
        let mut places: Vec<Option<&Addend>> = vec![None; self.words.lanes.count().into()];
        for addend in some {
            let home = self.place(addend).unwrap_or(0);
            let free = |place: &usize| places[*place].is_none();
            let place = [home].into_iter().chain(0..places.len()).find(free);
            places[place.expect("there are as many places")] = Some(addend);
        }
        places
    }

    /// One instruction for some operands, added to a total.
    fn added(&mut self, kind: Kind, some: &[Addend], total: Source) -> Option<Source> {
        let places = self.places_of(some);
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
            Kind::Told => Some(self.ones_of(first, &lanes(0), total)),
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
}
