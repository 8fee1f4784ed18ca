//! Sums: what is added up lane by lane, as dot products and as SIMD instructions that add their lanes up.
//!
//! The operands of a chain of additions are taken together. Those that are the same function of lanes of other words
//! are one instruction for each four of them: products of lanes, lanes with weights (`dp4a`), and whatever a SIMD
//! instruction computes before it adds it up. Sums wrap, so the order does not matter, nor does the lane that each
//! stands in.

use super::cuts;
use super::operation::{Operation, SAMPLES, Table};
use super::pieces::Pieces;
use super::words::{Words, needed};
use crate::graph::ValueId;
use crate::recipe::{Recipe, Source, Step};
use crate::rules::{Pass, Rule};
use crate::site::Site;
use ptxopt_grammar::meaning::concrete::Program;
use ptxopt_grammar::meaning::term::Term;
use ptxopt_grammar::table::instruction::{Instruction, op};
use ptxopt_grammar::video::{Form, Lanes, Routing, Sign, Simd, SimdOp, SimdThen};

/// The most operands of a sum that are taken together.
const MOST_OPERANDS: usize = 24;

/// How many lanes an instruction adds up.
const LANES: usize = 4;

/// The rule.
pub(super) const RULE: Rule = Rule {
    name: "sum",
    pass: Pass::Fuse,
    law: "lanes that are computed alike and added up are a dot product, or a SIMD instruction that adds them up",
    examples: &[
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

/// What is added up of lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Products of lanes with these signs.
    Product(Sign, Sign),
    /// A lane with this sign, times a number.
    Weighted(Sign),
    /// What a SIMD instruction adds up.
    Simd(Operation),
}

/// An operand of a sum.
#[derive(Clone, Debug)]
struct Addend {
    kind: Kind,
    lanes: Vec<Term>,
    weight: i64,
}

fn sum(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some(own) = operands(site.step) else { return };
    let all = flat(site, own);
    if all.len() < 2 || site.graph.value(site.value).width != 32 {
        return;
    }
    let Some(pieces) = Pieces::of(site, Lanes::Four.bits()) else { return };
    let mut sum = Sum { words: Words::over(pieces, Lanes::Four) };
    out.extend(sum.recipe(&all));
}

/// The operands of an addition.
fn operands(step: &Step) -> Option<[Source; 2]> {
    let is_sum = step.instruction().map(Instruction::representative) == Some(op::ADD_U32);
    is_sum.then(|| step.sources[..].try_into().ok())?
}

/// The operands of a sum, those of its operands in their places.
fn flat(site: &Site<'_, '_, '_>, own: [Source; 2]) -> Vec<Source> {
    let mut all = Vec::new();
    let mut stack: Vec<Source> = own.into_iter().rev().collect();
    while let Some(source) = stack.pop() {
        let inner = site.definition(source).and_then(|step| operands(&step));
        match inner.filter(|_| all.len() + stack.len() + 2 <= MOST_OPERANDS) {
            Some(inner) => stack.extend(inner.into_iter().rev()),
            None => all.push(source),
        }
    }
    all
}

struct Sum {
    words: Words,
}

impl Sum {
    fn recipe(&mut self, all: &[Source]) -> Option<Recipe> {
        let mut rest: Vec<Source> = Vec::new();
        let mut groups: Vec<(Kind, Vec<(Addend, Source)>)> = Vec::new();
        for &source in all {
            match self.addend(source) {
                Some(addend) => match groups.iter_mut().find(|(kind, _)| *kind == addend.kind) {
                    Some((_, group)) => group.push((addend, source)),
                    None => groups.push((addend.kind, vec![(addend, source)])),
                },
                None => rest.push(source),
            }
        }
        let (groups, single): (Vec<_>, Vec<_>) = groups.into_iter().partition(|(_, group)| group.len() > 1);
        rest.extend(single.into_iter().flat_map(|(_, group)| group).map(|(_, source)| source));
        if groups.is_empty() {
            return None;
        }
        let mut rest = rest.into_iter();
        let mut total = rest.next().unwrap_or(Source::Constant(0));
        for other in rest {
            total = self.words.push(Step::plain(op::ADD_U32, &[total, other]));
        }
        for (kind, group) in groups {
            let addends: Vec<Addend> = group.into_iter().map(|(addend, _)| addend).collect();
            for some in addends.chunks(LANES) {
                total = self.added(kind, some, total)?;
            }
        }
        let Source::Step(last) = total else { return None };
        Some(Recipe::of(needed(&self.words.steps, last)))
    }

    /// One instruction for some operands, added to a total.
    fn added(&mut self, kind: Kind, some: &[Addend], total: Source) -> Option<Source> {
        let mut places: [Option<&Addend>; LANES] = [None; LANES];
        for addend in some {
            let home = self.words.pieces.homes(addend.lanes[0]).first().map_or(0, |&(_, place)| place);
            let free = |place: &usize| places[*place].is_none();
            let place = [home].into_iter().chain(0..LANES).find(free).expect("there are as many places");
            places[place] = Some(addend);
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
                let routing = Routing::plain(Lanes::Four).masked(mask)?;
                let Operation { op, atype, btype } = operation;
                let form = Form::Simd(Simd { op: adding(op), atype, btype, routing });
                let sources = [first, second, total].map(|source| self.words.register(source));
                Some(self.words.push(Step::video(form, &sources)))
            }
            Kind::Product(one, other) => {
                // Where nothing is multiplied, one of the two must be zero.
                let zero = self.words.pieces.terms.constant(0, Lanes::Four.bits());
                let second: Vec<_> = lanes(1).into_iter().map(|lane| lane.or(Some(zero))).collect();
                let second = self.words.word(&second, 1)?;
                Some(self.dot([one, other], [first, second, total]))
            }
            Kind::Weighted(sign) => {
                let weights = places.map(|addend| addend.map_or(0, |addend| addend.weight));
                let signed = if weights.iter().all(|weight| (0..256).contains(weight)) {
                    Sign::Unsigned
                } else if weights.iter().all(|weight| (-128..128).contains(weight)) {
                    Sign::Signed
                } else {
                    return None;
                };
                let bytes = weights.iter().rev().fold(0_u64, |word, &weight| {
                    word << 8 | u64::try_from(weight & 0xff).expect("it was cut to a byte")
                });
                Some(self.dot([sign, signed], [first, Source::Constant(bytes), total]))
            }
        }
    }

    fn dot(&mut self, signs: [Sign; 2], sources: [Source; 3]) -> Source {
        self.words.push(Step::plain(op::DP4A.with(&signs.map(Sign::modifier)), &sources))
    }

    /// An operand as a function of lanes.
    fn addend(&mut self, source: Source) -> Option<Addend> {
        let Source::Value(value) = source else { return None };
        let term = self.words.pieces.value(value)?;
        let all = self.words.pieces.cuts(term);
        all.iter().find_map(|cut| {
            let lanes = cuts::lanes(cut);
            let results = self.results(term, cut)?;
            let (kind, weight, exchanged) = classify(&results, lanes.len())?;
            let lanes = if exchanged { lanes.into_iter().rev().collect() } else { lanes };
            Some(Addend { kind, lanes, weight })
        })
    }

    /// What a term is for each of the samples.
    fn results(&self, term: Term, cut: &cuts::Cut) -> Option<Vec<u32>> {
        let (terms, function) = self.words.pieces.function(term, cut);
        let mut program = Program::<u64>::compile(&terms, &[function])?;
        let table = Table::of(Lanes::Four);
        let run = |&[x, y]: &[u32; 2]| {
            let mut results = [0];
            program.run(&[x.into(), y.into()], &mut results);
            u32::try_from(results[0]).ok()
        };
        table.samples.iter().map(run).collect()
    }
}

/// The form that adds its lanes up.
const fn adding(op: SimdOp) -> SimdOp {
    match op {
        SimdOp::Arithmetic { op, dtype, .. } => SimdOp::Arithmetic { op, dtype, then: SimdThen::Add },
        SimdOp::Set { compare, .. } => SimdOp::Set { compare, accumulate: true },
    }
}

/// What gives these results: the weight of a lane, and whether two lanes are in the other order.
fn classify(results: &[u32], lanes: usize) -> Option<(Kind, i64, bool)> {
    let table = Table::of(Lanes::Four);
    assert_eq!(results.len(), SAMPLES, "there is a result for each sample");
    let is = |compute: &dyn Fn(u32, u32) -> i64| {
        let cut = |sum: i64| sum & i64::from(u32::MAX);
        let same = |(&[x, y], &result): (&[u32; 2], &u32)| cut(compute(x, y)) == i64::from(result);
        table.samples.iter().zip(results).all(same)
    };
    let value = |lane: u32, sign: Sign| match sign {
        Sign::Unsigned => i64::from(lane),
        Sign::Signed => i64::from(lane) - if lane < 0x80 { 0 } else { 0x100 },
    };
    if lanes == 1 {
        let one = table.samples.iter().position(|&[x, _]| x == 1).expect("one is among the samples");
        let weight = i64::from(results[one].cast_signed());
        let sign = Sign::ALL.into_iter().find(|&sign| is(&|x, _| weight * value(x, sign)))?;
        return (weight != 0).then_some((Kind::Weighted(sign), weight, false));
    }
    for one in Sign::ALL {
        for other in Sign::ALL {
            if is(&|x, y| value(x, one) * value(y, other)) {
                return Some((Kind::Product(one, other), 0, false));
            }
        }
    }
    for operation in table.sums() {
        for exchanged in [false, true] {
            let compute = |x, y| {
                let (x, y) = if exchanged { (y, x) } else { (x, y) };
                operation.uncut(x, y, Lanes::Four.bits()).into()
            };
            if is(&compute) {
                return Some((Kind::Simd(operation), 0, exchanged));
            }
        }
    }
    None
}

impl Pieces {
    /// The term of a value of the cone.
    fn value(&self, value: ValueId) -> Option<Term> {
        self.values.get(&value).copied()
    }
}
