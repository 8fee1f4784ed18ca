//! Fields of the lanes of a word that are put side by side, as one product.
//!
//! Bases, flags and colours are packed: a few bits of each byte of a word, each field next to the one before. A product
//! with a number that has a bit for each field moves all of them to where they belong, at the top of the word, if none
//! of the copies that it makes besides meets them: those above fall off, and those below must not carry. Where the
//! fields of each word fill a byte, the bytes of several products are put together.

use super::pieces::{Home, Pieces};
use super::scaled::WORD;
use super::words::Words;
use crate::facts::Fact;
use crate::graph::Join;
use crate::recipe::{Recipe, Source, Step};
use crate::rules::{Pass, Rule};
use crate::site::Site;
use ptxopt_grammar::meaning::term::{Op, Term, ones};
use ptxopt_grammar::table::Row;
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::Lanes;

/// The most fields that are put together: each bit of a word.
const MOST_FIELDS: usize = 32;

/// The fewest fields that are moved together.
const LEAST_FIELDS: usize = 3;

/// How many bits a lane has.
const LANE: u32 = 8;

/// The rule.
pub(super) const RULE: Rule = Rule {
    name: "fields",
    pass: Pass::Fuse,
    law: "fields of the lanes of a word that are put side by side are a product of the word, shifted",
    examples: &[
        // Four bases as two bits each, and the signs of four bytes.
        "bfe.u32 %r0, %a, 1, 2; bfe.u32 %r1, %a, 9, 2; bfe.u32 %r2, %a, 17, 2; bfe.u32 %r3, %a, 25, 2; \
         shl.b32 %r1, %r1, 2; shl.b32 %r2, %r2, 4; shl.b32 %r3, %r3, 6; or.b32 %r0, %r0, %r1; \
         or.b32 %r2, %r2, %r3; or.b32 %d, %r0, %r2;",
        "bfe.u32 %r0, %a, 7, 1; bfe.u32 %r1, %a, 15, 1; bfe.u32 %r2, %a, 23, 1; shr.u32 %r3, %a, 31; \
         bfi.b32 %r0, %r1, %r0, 1, 1; bfi.b32 %r0, %r2, %r0, 2, 1; bfi.b32 %d, %r3, %r0, 3, 1;",
    ],
    propose: fields,
};

/// Bits of a lane, and where they are put.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct PlacedField {
    lane: Term,
    low: u32,
    bits: u32,
    to: u32,
}

/// Fields of one word, each with the number of its lane.
struct Group {
    lanes: [Option<Term>; 4],
    fields: Vec<(u32, PlacedField)>,
}

/// Fields moved by a product: shifted down so far, it has them where they belong, between these ends.
struct Moved {
    product: Source,
    down: u32,
    ends: (u32, u32),
}

/// How fields are moved: how far the word is shifted down, what it is multiplied by then, and how far the product is
/// shifted down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Product {
    before: u32,
    factor: u64,
    down: u32,
}

fn fields(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let graph = site.graph;
    let width = graph.value(site.value).width;
    if !matches!(width, 16 | WORD) || graph.joined(site.value) == Some(Join::Or) || !joins_fields(site) {
        return;
    }
    Pieces::each(site, LANE, |pieces| {
        let root = pieces.root;
        let mut words = Words::over(pieces, Lanes::Four);
        if let Some(word) = joined(&mut words, root, width) {
            let value = words.cut(word, width);
            out.extend(words.made_of(value));
        }
        words.pieces
    });
}

/// Whether several operands of a chain that puts bits together are fields. That is quick to see, and of most chains it
/// is not so.
fn joins_fields(site: &Site<'_, '_, '_>) -> bool {
    let joins = |step: &Step| step.instruction().is_some_and(|own| puts_together(own.row()));
    let mut fields = 0;
    let mut stack: Vec<Step> = [*site.step].into_iter().filter(joins).collect();
    let mut seen = 0;
    while let Some(step) = stack.pop() {
        seen += 1;
        for &source in &step.sources {
            match site.definition(source).filter(|step| seen < MOST_FIELDS && joins(step)) {
                Some(step) => stack.push(step),
                None => fields += usize::from(window(&site.fact(source)).is_some()),
            }
        }
    }
    fields >= LEAST_FIELDS
}

/// Whether an instruction may put fields together, or move what others put together.
fn puts_together(row: &Row) -> bool {
    [op::OR, op::BFI, op::ADD].into_iter().any(|join| row.is(join))
}

/// Where the bits begin that may not be zero, and how many there are, if there are few.
fn window(fact: &Fact) -> Option<(u32, u32)> {
    let most = fact.unsigned().1;
    let may_be = !fact.zeros() & ones(u128::BITS - most.leading_zeros());
    let low = may_be.trailing_zeros();
    let bits = (u128::BITS - may_be.leading_zeros()).checked_sub(low)?;
    (fact.ones() == 0 && (1..=LANE).contains(&bits)).then_some((low, bits))
}

/// The word that a term of so many bits is, if it is put together of fields.
fn joined(words: &mut Words, root: Term, width: u32) -> Option<Source> {
    let (mut fields, mut number) = (Vec::new(), 0_u64);
    split(&mut words.pieces, root, &mut fields, &mut number)?;
    let groups = groups(words, &fields)?;
    let moved: Option<Vec<Moved>> = groups.iter().map(|group| group.multiplied(words)).collect();
    let moved = moved?;
    let total = match as_bytes(words, &moved, width) {
        Some(total) => total,
        None => {
            let placed: Vec<Source> = moved.iter().map(|moved| moved.placed(words)).collect();
            let or = |one, other| words.push(Step::plain(op::OR_B32, &[one, other]));
            placed.into_iter().reduce(or)?
        }
    };
    Some(match number {
        0 => total,
        _ => words.push(Step::plain(op::OR_B32, &[total, Source::Constant(number)])),
    })
}

/// A word of so many bits, put together from the highest bytes of products; `None` if its bytes are not such.
fn as_bytes(words: &mut Words, moved: &[Moved], width: u32) -> Option<Source> {
    let mut bytes: Vec<(u32, Source)> = moved.iter().map(Moved::byte).collect::<Option<_>>()?;
    bytes.sort_by_key(|&(at, _)| at);
    let all_bytes = bytes.iter().map(|&(at, _)| at).eq(0..width / LANE);
    let [(_, lowest), (_, second), rest @ ..] = bytes.as_slice() else { return None };
    if !all_bytes {
        return None;
    }
    let mut put = |word, next, selector| {
        words.push(Step::plain(op::PRMT_B32, &[word, next, Source::Constant(selector)]))
    };
    let mut total = put(*lowest, *second, 0x3273);
    for &(at, next) in rest {
        // The highest byte of the second word in this place.
        let place = 4 * at;
        total = put(total, next, 0x3210 & !(0xf << place) | 7 << place);
    }
    Some(total)
}

/// The fields that a term puts together, and the ones among its bits; `None` if that is not all that it does.
fn split(pieces: &mut Pieces, root: Term, fields: &mut Vec<PlacedField>, number: &mut u64) -> Option<()> {
    let mut stack = vec![(root, 0)];
    while let Some((term, to)) = stack.pop() {
        let (op, width) = (pieces.terms.op(term), pieces.terms.width(term));
        if let Op::Constant(value) = op {
            *number |= u64::try_from(value).ok()?.checked_shl(to)?;
        } else if let Op::ZeroExtend(inner) = op {
            stack.push((inner, to));
        } else if let Op::Concat(high, low) = op {
            stack.extend([(high, to + pieces.terms.width(low)), (low, to)]);
        } else if let Op::Or(a, b) | Op::Xor(a, b) | Op::Add(a, b) = op
            && pieces.never_carries(a, b, width)
        {
            stack.extend([(a, to), (b, to)]);
        } else if let Some((part, at)) = narrowed(pieces, term, to) {
            if part == term {
                fields.push(field(pieces, term, to));
            } else {
                stack.push((part, at));
            }
        } else {
            stack.push(under_mask(pieces, term, to)?);
        }
        if fields.len() + stack.len() > MOST_FIELDS {
            return None;
        }
    }
    Some(())
}

/// The bits of a term that may not be zero, and where they are put.
fn narrowed(pieces: &mut Pieces, term: Term, to: u32) -> Option<(Term, u32)> {
    let (low, bits) = window(&pieces.fact(term))?;
    Some((pieces.part(term, low, bits), to + low))
}

/// The bits that a mask keeps, if they lie side by side, and where they are put.
fn under_mask(pieces: &mut Pieces, term: Term, to: u32) -> Option<(Term, u32)> {
    let Op::And(inner, mask) = pieces.terms.op(term) else { return None };
    let mask = pieces.terms.value(mask)?;
    let low = mask.trailing_zeros();
    let side_by_side = mask.checked_shr(low)?;
    let bits = side_by_side.trailing_ones();
    (side_by_side == ones(bits)).then(|| (pieces.part(inner, low, bits), to + low))
}

/// A term that is a field, and where it is put.
fn field(pieces: &mut Pieces, term: Term, to: u32) -> PlacedField {
    let (bits, op) = (pieces.terms.width(term), pieces.terms.op(term));
    // It is left in its lane.
    if let Op::Extract(lane, low) = op
        && pieces.terms.width(lane) == LANE
    {
        return PlacedField { lane, low, bits, to };
    }
    PlacedField { lane: pieces.terms.zero_extend(term, LANE), low: 0, bits, to }
}

/// The fields by the words that their lanes lie in or are computed of; `None` if one has no such word.
fn groups(words: &mut Words, fields: &[PlacedField]) -> Option<Vec<Group>> {
    let mut homes: Vec<_> = Vec::new();
    let mut all: Vec<Group> = Vec::new();
    for &field in fields {
        let (word, place) = home(words, field.lane)?;
        let at = homes.iter().position(|home| *home == word).unwrap_or_else(|| {
            homes.push(word);
            all.push(Group { lanes: [None; 4], fields: Vec::new() });
            homes.len() - 1
        });
        let group = &mut all[at];
        if *group.lanes[place].get_or_insert(field.lane) != field.lane {
            return None;
        }
        group.fields.push((u32::try_from(place).ok()?, field));
    }
    Some(all)
}

/// Where a lane can be read, or the first one that it is computed of.
fn home(words: &mut Words, lane: Term) -> Option<Home> {
    if let Some(home) = words.pieces.homes(lane).next() {
        return Some(home);
    }
    let cuts = words.pieces.cuts(lane);
    let mut operands = cuts.iter().flat_map(|cut| words.pieces.operands(cut));
    operands.find_map(|lane| words.pieces.homes(lane).next())
}

impl Group {
    /// The word times what moves these fields.
    fn multiplied(&self, words: &mut Words) -> Option<Moved> {
        if self.fields.len() < LEAST_FIELDS {
            return None;
        }
        let Product { before, factor, down } = self.product()?;
        let word = words.word(&self.lanes, 1)?;
        let kept = self.kept();
        let is_all = self.lanes.iter().zip(0..).all(|(lane, at)| {
            let own = u128::from(kept >> (at * LANE)) & ones(LANE);
            lane.is_some_and(|lane| !words.pieces.fact(lane).zeros() & ones(LANE) & !own == 0)
        });
        let mut fields = word;
        if before > 0 {
            fields = words.push(Step::plain(op::SHR_U32, &[fields, Source::Constant(before.into())]));
        }
        if !is_all {
            fields = words.push(Step::plain(op::AND_B32, &[fields, Source::Constant(kept >> before)]));
        }
        let product = words.push(Step::plain(op::MUL_LO_U32, &[fields, Source::Constant(factor)]));
        Some(Moved { product, down, ends: self.ends() })
    }

    /// Which bits of the word are fields.
    fn kept(&self) -> u64 {
        self.fields
            .iter()
            .fold(0, |kept, (at, field)| kept | ((1 << field.bits) - 1) << (at * LANE + field.low))
    }

    /// The lowest bit that a field is put to, and the one above the highest.
    fn ends(&self) -> (u32, u32) {
        let first = self.fields.iter().map(|(_, field)| field.to).min().unwrap_or(0);
        (first, self.fields.iter().map(|(_, field)| field.to + field.bits).max().unwrap_or(0))
    }

    /// A product that moves all fields, shifted as far down as can be.
    fn product(&self) -> Option<Product> {
        let downs = 0..=WORD.checked_sub(self.ends().1)?;
        let lowest = self.fields.iter().map(|(at, field)| at * LANE + field.low).min()?;
        // Fields that come in the other order have more room below them once the word is shifted.
        let befores = std::iter::once(0).chain((lowest > 0).then_some(lowest));
        let mut all = befores.flat_map(|before| downs.clone().rev().map(move |down| (before, down)));
        all.find_map(|(before, down)| self.product_at(before, down))
    }

    /// The same, with the word and the product shifted so far down.
    fn product_at(&self, before: u32, down: u32) -> Option<Product> {
        let (first, end) = self.ends();
        let from = |at: u32, field: &PlacedField| at * LANE + field.low - before;
        let up = |(at, field): &(u32, PlacedField)| (field.to + down).checked_sub(from(*at, field));
        let ups: Vec<u32> = self.fields.iter().map(up).collect::<Option<_>>()?;
        let mut places = ups.clone();
        places.sort_unstable();
        places.dedup();
        if places.len() < LEAST_FIELDS || places.iter().any(|&up| up >= WORD) {
            return None;
        }
        let mut below = 0_u64;
        for ((at, field), &own) in self.fields.iter().zip(&ups) {
            for &up in places.iter().filter(|&&up| up != own) {
                let low = from(*at, field) + up;
                if low < down + end && low + field.bits > down + first {
                    return None;
                }
                if low < down + first {
                    below += ((1 << field.bits) - 1) << low;
                }
            }
        }
        let factor = places.iter().map(|up| 1 << up).sum();
        (below < 1 << (down + first)).then_some(Product { before, factor, down })
    }
}

impl Moved {
    /// The fields where they are put, and zeros elsewhere.
    fn placed(&self, words: &mut Words) -> Source {
        let (first, end) = self.ends;
        let down = Source::Constant(self.down.into());
        let moved = match self.down {
            0 => self.product,
            _ => words.push(Step::plain(op::SHR_U32, &[self.product, down])),
        };
        if first == 0 && self.down + end == WORD {
            return moved;
        }
        let window = Source::Constant((1 << end) - (1 << first));
        words.push(Step::plain(op::AND_B32, &[moved, window]))
    }

    /// The product, and which byte the fields are, if they are a whole one and the product's highest.
    fn byte(&self) -> Option<(u32, Source)> {
        let (first, end) = self.ends;
        let is_byte = first.is_multiple_of(LANE) && end == first + LANE && self.down + end == WORD;
        is_byte.then_some((first / LANE, self.product))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxopt_grammar::meaning::term::Terms;

    /// The product for fields that are given by where they begin, how many bits they have, and where they are put.
    fn product(fields: &[(u32, u32, u32)]) -> Option<Product> {
        let lane = Terms::new().input(0, LANE);
        let field = |&(from, bits, to): &(u32, u32, u32)| {
            (from / LANE, PlacedField { lane, low: from % LANE, bits, to })
        };
        Group { lanes: [None; 4], fields: fields.iter().map(field).collect() }.product()
    }

    fn moves(fields: &[(u32, u32, u32)], product: Product, word: u64) -> bool {
        let bits = |from: u32, bits: u32| word >> from & ((1 << bits) - 1);
        let kept: u64 = fields.iter().map(|&(from, count, _)| bits(from, count) << from).sum();
        let moved = (((kept >> product.before) * product.factor) & 0xffff_ffff) >> product.down;
        fields.iter().all(|&(from, count, to)| moved >> to & ((1 << count) - 1) == bits(from, count))
    }

    #[test]
    fn bases_and_flags_are_moved_by_a_product() {
        let bases = [(1, 2, 0), (9, 2, 2), (17, 2, 4), (25, 2, 6)];
        let signs = [(7, 1, 0), (15, 1, 1), (23, 1, 2), (31, 1, 3)];
        let from_the_top = [(0, 1, 7), (8, 1, 6), (16, 1, 5), (24, 1, 4)];
        let to_the_top = [(1, 2, 24), (9, 2, 26), (17, 2, 28), (25, 2, 30)];
        let bases_from_the_top = [(1, 2, 6), (9, 2, 4), (17, 2, 2), (25, 2, 0)];
        for fields in [bases, signs, from_the_top, to_the_top, bases_from_the_top] {
            let product = product(&fields).expect("there is a product");
            for word in [0, 0xffff_ffff, 0x1234_5678, 0x8040_2010, 0x0602_0406, 0xff00_ff00] {
                assert!(moves(&fields, product, word), "{fields:?}: {product:?} of {word:#x}");
            }
        }
    }

    #[test]
    fn fields_whose_copies_meet_have_no_product() {
        assert_eq!(product(&[(4, 4, 0), (12, 4, 4), (20, 4, 8), (28, 4, 12)]), None);
    }

    #[test]
    fn two_fields_are_left_alone() {
        assert_eq!(product(&[(1, 2, 0), (9, 2, 2)]), None);
    }
}
