//! Extrema: the least or the greatest of lanes of words, found two lanes at a time.
//!
//! A reduction takes lanes out of words and keeps the greatest one by one. Halves are compared two at a time, and the
//! upper byte of a half decides whatever lies below it, so words of bytes are compared as they are, for the bytes in odd
//! places, and moved up by a byte, for those in even ones. Or words are compared lane by lane first, where that is one
//! instruction. Where nothing compares halves two at a time, lanes that are computed are computed together, and then
//! compared one by one.

use super::operation::Table;
use super::pieces::Pieces;
use super::widened::{SIGN, ZERO};
use super::words::Words;
use crate::graph::ValueId;
use crate::recipe::{Recipe, Source, Step};
use crate::rules::{Pass, Rule};
use crate::site::Site;
use ptxopt_grammar::meaning::term::{Op, Term};
use ptxopt_grammar::table::instruction::{Instruction, op};
use ptxopt_grammar::table::words::Modifier;
use ptxopt_grammar::video::{Form, Lanes, Routing, Sign, Simd, SimdArithmetic};

/// The most operands of an extremum that are taken together.
const MOST_OPERANDS: usize = 64;

/// How many lanes of a word of bytes may be missing: colours are compared without their alpha.
const MOST_MISSING: usize = 1;

/// The halves of a word changed over.
const CHANGED_OVER: u64 = 0x1032;

/// The rule.
pub(super) const RULE: Rule = Rule {
    name: "extremum",
    pass: Pass::Fuse,
    law: "the least or the greatest of lanes of words is found two lanes at a time",
    examples: &[
        "and.b32 %r0, %a, 255; bfe.u32 %r1, %a, 8, 8; bfe.u32 %r2, %a, 16, 8; shr.u32 %r3, %a, 24; \
         and.b32 %r4, %b, 255; bfe.u32 %r5, %b, 8, 8; bfe.u32 %r6, %b, 16, 8; shr.u32 %r7, %b, 24; \
         max.u32 %r0, %r0, %r1; max.u32 %r2, %r2, %r3; max.u32 %r4, %r4, %r5; max.u32 %r6, %r6, %r7; \
         max.u32 %r0, %r0, %r2; max.u32 %r4, %r4, %r6; max.u32 %d, %r0, %r4;",
        "cvt.s32.s16 %r0, %a; shr.s32 %r1, %a, 16; cvt.s32.s16 %r2, %b; shr.s32 %r3, %b, 16; \
         min.s32 %r0, %r0, %r1; min.s32 %r2, %r2, %c; min.s32 %r0, %r0, %r2; min.s32 %d, %r0, %r3;",
    ],
    propose: extremum,
};

/// Which extremum, and of what.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Which {
    is_greatest: bool,
    sign: Sign,
}

impl Which {
    /// What an instruction computes, if that is the extremum of two numbers.
    fn of(instruction: Instruction) -> Option<Self> {
        let is_greatest = instruction.mnemonic() == op::MAX;
        if !is_greatest && instruction.mnemonic() != op::MIN {
            return None;
        }
        let types = [(op::U16, Sign::Unsigned), (op::U32, Sign::Unsigned), (op::S16, Sign::Signed)];
        let all = types.into_iter().chain([(op::S32, Sign::Signed)]);
        let mut signs = all.filter(|&(ty, _)| instruction.mnemonic().of(ty) == instruction);
        signs.next().map(|(_, sign)| Self { is_greatest, sign })
    }

    /// What a step computes, if that is the extremum of two numbers; one of numbers that are not negative counts as signed.
    fn of_step(site: &Site<'_, '_, '_>, step: &Step) -> Option<Self> {
        let which = Self::of(step.instruction()?)?;
        Some(if are_positive(site, step) { Self { sign: Sign::Signed, ..which } } else { which })
    }

    /// The instruction on numbers of a type, given the types with and without a sign.
    fn on(self, unsigned: Modifier, signed: Modifier) -> Instruction {
        let mnemonic = if self.is_greatest { op::MAX } else { op::MIN };
        mnemonic.of(if self.sign == Sign::Signed { signed } else { unsigned })
    }
}

/// How many lanes of a word are compared at least.
fn fewest(lanes: Lanes) -> usize {
    usize::from(lanes.count()) - if lanes == Lanes::Four { MOST_MISSING } else { 0 }
}

/// A word, and which of its lanes are compared.
struct Compared {
    word: Source,
    lanes: Vec<bool>,
}

/// How words are reduced to one number.
#[derive(Clone, Copy)]
struct Reduction {
    /// The words to one word, before lanes are compared with others.
    lane_by_lane: bool,
    /// The lanes are compared one by one, where nothing compares halves two at a time; that pays where they are computed
    /// together.
    one_by_one: bool,
}

/// Lanes that are read from the same words or computed of them, each with the operand that it is, by their places.
struct Group {
    from: Vec<ValueId>,
    places: Vec<Option<(Term, Source)>>,
}

fn extremum(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some(which) = Which::of_step(site, site.step) else { return };
    if is_inner(site) {
        return;
    }
    let mut all = vec![operands(site, true), operands(site, false)];
    all.dedup();
    for sources in all.into_iter().flatten() {
        // A number is no lane.
        let values = sources.iter().filter(|source| matches!(source, Source::Value(_))).count();
        for lanes in Lanes::ALL {
            if values < fewest(lanes) {
                continue;
            }
            Pieces::each(site, lanes.bits(), |pieces| {
                let mut words = Words::over(pieces, lanes);
                for recipe in words.extremum(site, which, &sources) {
                    if !out.contains(&recipe) {
                        out.push(recipe);
                    }
                }
                words.pieces
            });
        }
    }
}

/// The value that another one is, extended.
fn unextended(site: &Site<'_, '_, '_>, source: Source) -> Option<Source> {
    let Source::Value(value) = source else { return None };
    let terms = site.graph.terms();
    let op = terms.op(site.graph.made_of(value)?);
    let (Op::ZeroExtend(inner) | Op::SignExtend(inner)) = op else { return None };
    let Op::Input(number) = terms.op(inner) else { return None };
    Some(Source::Value(ValueId::of_input(number)))
}

/// Whether an extremum is an operand of another one, extended or not, which has its operands among its own.
fn is_inner(site: &Site<'_, '_, '_>) -> bool {
    let only_user = |value: ValueId| {
        let mut users = site.graph.uses(value).map(|(user, _)| user);
        users.next().filter(|_| users.next().is_none())
    };
    // A move is not one, and its definition is the extremum itself.
    let reads = |user: ValueId, value: ValueId| {
        let step = site.graph.definition(user)?;
        step.sources.contains(&Source::Value(value)).then_some(step)
    };
    let Some(user) = only_user(site.value) else { return false };
    let extended = unextended(site, Source::Value(user)) == Some(Source::Value(site.value));
    let outer =
        if extended { only_user(user).and_then(|outer| reads(outer, user)) } else { reads(user, site.value) };
    outer.is_some_and(|outer| is_operand_of(site, site.step, &outer))
}

/// Whether a step is an extremum that has the same operands as another one that reads it: the same, or one that compares
/// with a sign where the other does not, which order numbers alike that are not negative.
fn is_operand_of(site: &Site<'_, '_, '_>, inner: &Step, outer: &Step) -> bool {
    let [inner_is, outer_is] = [inner, outer].map(|step| Which::of_step(site, step));
    inner_is.zip(outer_is).is_some_and(|(one, other)| {
        one == other || one.is_greatest == other.is_greatest && are_positive(site, inner)
    })
}

/// Whether no operand of a step is negative.
fn are_positive(site: &Site<'_, '_, '_>, step: &Step) -> bool {
    step.sources.iter().all(|&source| site.fact(source).signed().0 >= 0)
}

/// The operands of an extremum, those of extrema among them in their places, and of extended ones if they are asked for;
/// `None` if they are too many.
fn operands(site: &Site<'_, '_, '_>, extended: bool) -> Option<Vec<Source>> {
    let mut all: Vec<Source> = Vec::new();
    let mut stack: Vec<Source> = site.step.sources.iter().rev().copied().collect();
    let mut seen = 0;
    while let Some(source) = stack.pop() {
        seen += 1;
        let inner = unextended(site, source).filter(|_| extended);
        let own = |source| site.definition(source).filter(|step| is_operand_of(site, step, site.step));
        match own(source).or_else(|| own(inner?)) {
            Some(step) => stack.extend(step.sources.iter().rev()),
            None if !all.contains(&source) => all.push(source),
            None => {}
        }
        // Those that are operands of several extrema are looked through several times.
        if all.len() + stack.len() > MOST_OPERANDS || seen > 2 * MOST_OPERANDS {
            return None;
        }
    }
    Some(all)
}

impl Words {
    /// An extremum of lanes, of whole words first, and with words compared lane by lane before lanes are compared with
    /// others.
    fn extremum(&mut self, site: &Site<'_, '_, '_>, which: Which, sources: &[Source]) -> Vec<Recipe> {
        let (mut lanes, mut others) = (Vec::new(), Vec::new());
        let mut sign = None;
        for &source in sources {
            match self.operand(source, which.sign) {
                Some((lane, of)) if *sign.get_or_insert(of) == of => lanes.push((lane, source)),
                _ => others.push(source),
            }
        }
        // Numbers without a sign are ordered alike by both comparisons.
        let sign = sign.filter(|&sign| sign == Sign::Unsigned || which.sign == Sign::Signed);
        let Some(sign) = sign else { return Vec::new() };
        let own = if site.step.width == 16 { which.on(op::U16, op::S16) } else { which.on(op::U32, op::S32) };
        let words = self.whole_words(lanes, &mut others);
        if words.is_empty() {
            return Vec::new();
        }
        let width = site.step.width;
        let is_narrow = |&other: &Source| match other {
            Source::Value(value) => site.graph.value(value).width != width,
            Source::Constant(_) | Source::Step(_) => false,
        };
        if others.iter().any(is_narrow) {
            return Vec::new();
        }
        let reductions = [false, true]
            .into_iter()
            .flat_map(|lane_by_lane| [false, true].map(|one_by_one| Reduction { lane_by_lane, one_by_one }));
        let recipes = reductions.filter_map(|by| {
            let total = self.reduced(Which { sign, ..which }, &words, by)?;
            let total = self.cut(total, width);
            let total =
                others.iter().fold(total, |total, &other| self.push(Step::wide(own, &[total, other], width)));
            self.made_of(total)
        });
        recipes.collect()
    }

    /// The lane that an operand is, and its sign, where it is compared with a sign or without.
    fn operand(&mut self, source: Source, sign: Sign) -> Option<(Term, Sign)> {
        let Source::Value(value) = source else { return None };
        let term = self.pieces.near_term(value)?;
        let is_whole = self.pieces.terms.width(term) == self.lanes.bits();
        let sign = if is_whole { sign } else { self.pieces.sign_of_lane(term)? };
        Some((self.pieces.part(term, 0, self.lanes.bits()), sign))
    }

    /// The words of which all lanes are there, or enough; what else there is goes to the others.
    fn whole_words(&mut self, lanes: Vec<(Term, Source)>, others: &mut Vec<Source>) -> Vec<Compared> {
        let count = usize::from(self.lanes.count());
        let mut groups: Vec<Group> = Vec::new();
        for (lane, source) in lanes {
            let Some((from, place)) = self.origin(lane) else {
                others.push(source);
                continue;
            };
            let fits = |group: &&mut Group| group.from == from && group.places[place].is_none();
            match groups.iter_mut().find(fits) {
                Some(group) => group.places[place] = Some((lane, source)),
                None => {
                    let mut places = vec![None; count];
                    places[place] = Some((lane, source));
                    groups.push(Group { from, places });
                }
            }
        }
        let mut words = Vec::new();
        for Group { places, .. } in groups {
            let lanes: Vec<Option<Term>> = places.iter().map(|place| Some((*place)?.0)).collect();
            let is_enough = lanes.iter().flatten().count() >= fewest(self.lanes);
            match self.word(&lanes, 1).filter(|_| is_enough) {
                Some(word) => {
                    words.push(Compared { word, lanes: lanes.iter().map(Option::is_some).collect() });
                }
                None => others.extend(places.into_iter().flatten().map(|(_, source)| source)),
            }
        }
        words
    }

    /// The words that a lane is read from or computed of, and its place in them.
    fn origin(&mut self, lane: Term) -> Option<(Vec<ValueId>, usize)> {
        let home = |words: &Self, lane: Term| {
            words.pieces.homes(lane).find(|&(word, _)| !words.pieces.is_single(word))
        };
        if let Some((word, place)) = home(self, lane) {
            return Some((vec![word], place));
        }
        let cuts = self.pieces.cuts(lane);
        cuts.iter().find_map(|cut| {
            let lanes = self.pieces.operands(cut);
            let homes: Option<Vec<_>> = lanes.into_iter().map(|lane| home(self, lane)).collect();
            let homes = homes?;
            let &(_, place) = homes.first()?;
            let together = homes.iter().all(|&(_, other)| other == place);
            together.then(|| (homes.iter().map(|&(word, _)| word).collect(), place))
        })
    }

    /// A word with all lanes to be compared: others in the place of those that are not.
    fn completed(&mut self, Compared { word, lanes }: &Compared) -> Source {
        let Some(first) = lanes.iter().position(|&is| is) else { return *word };
        let digit = |(at, &is): (usize, &bool)| if is { at } else { first };
        let places: Vec<usize> = lanes.iter().enumerate().map(digit).collect();
        if lanes.iter().all(|&is| is) {
            return *word;
        }
        let selector = Source::Constant(self.digits(&places));
        self.push(Step::plain(op::PRMT_B32, &[*word, Source::Constant(0), selector]))
    }

    /// The lanes of a word that are to be compared, as numbers.
    fn taken_out(&mut self, Compared { word, lanes }: &Compared, sign: Sign) -> Vec<Source> {
        let bytes = self.lanes.bits() / 8;
        let mut lane = |place: u32| {
            let selected = |at: u32| match (at < bytes, sign) {
                (true, _) => u64::from(place * bytes + at),
                (false, Sign::Unsigned) => ZERO,
                (false, Sign::Signed) => SIGN | u64::from(place * bytes + bytes - 1),
            };
            let selector = (0..4).rev().fold(0, |all, at| all << 4 | selected(at));
            self.push(Step::plain(op::PRMT_B32, &[*word, Source::Constant(0), Source::Constant(selector)]))
        };
        (0..).zip(lanes).filter(|&(_, &is)| is).map(|(place, _)| lane(place)).collect()
    }

    /// The word of the extrema of all words, lane by lane.
    fn lane_by_lane(&mut self, which: Which, all: &[Compared]) -> Option<Source> {
        let bound = if which.is_greatest { SimdArithmetic::Max } else { SimdArithmetic::Min };
        let extremum = Table::of(self.lanes).extremum(bound, which.sign)?;
        let routing = Routing::plain(self.lanes);
        let simd = Simd { op: extremum.op, atype: which.sign, btype: which.sign, routing };
        let words: Vec<Source> = all.iter().map(|one| self.completed(one)).collect();
        words.into_iter().reduce(|one, other| {
            let sources = [one, other].map(|word| self.register(word));
            self.push(Step::video(Form::Simd(simd), &sources))
        })
    }

    /// The extremum of all lanes of some words.
    fn reduced(&mut self, which: Which, all: &[Compared], by: Reduction) -> Option<Source> {
        let word = if by.lane_by_lane { Some(self.lane_by_lane(which, all)?) } else { None };
        if by.one_by_one {
            let lanes = vec![true; self.lanes.count().into()];
            let one = word.map(|word| Compared { word, lanes });
            let all = one.as_ref().map_or(all, std::slice::from_ref);
            let own = which.on(op::U32, op::S32);
            let lanes: Vec<Source> = all.iter().flat_map(|one| self.taken_out(one, which.sign)).collect();
            return lanes.into_iter().reduce(|one, other| self.push(Step::plain(own, &[one, other])));
        }
        let mut words: Vec<Source> = match word {
            Some(word) => vec![word],
            None => all.iter().map(|one| self.completed(one)).collect(),
        };
        if self.lanes == Lanes::Four {
            let moved = |words: &mut Self, word| {
                words.push(Step::plain(op::SHL_B32, &[word, Source::Constant(Lanes::Four.bits().into())]))
            };
            let even: Vec<Source> = words.iter().map(|&word| moved(self, word)).collect();
            words.extend(even);
        }
        let of_halves = which.on(op::U16X2, op::S16X2);
        let one = words.into_iter().reduce(|one, other| self.push(Step::plain(of_halves, &[one, other])))?;
        let changed = Step::plain(op::PRMT_B32, &[one, Source::Constant(0), Source::Constant(CHANGED_OVER)]);
        let changed = self.push(changed);
        let both = self.push(Step::plain(of_halves, &[one, changed]));
        let above = Source::Constant((32 - self.lanes.bits()).into());
        let moved = if which.sign == Sign::Signed { op::SHR_S32 } else { op::SHR_U32 };
        Some(self.push(Step::plain(moved, &[both, above])))
    }
}
