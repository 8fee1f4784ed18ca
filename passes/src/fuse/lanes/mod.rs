//! Lane contents: a word whose lanes are computed one by one, as SIMD instructions on words.
//!
//! The value of a site is taken as a term over lanes of other words (`pieces`), so it does not matter how they were
//! taken apart and how the results are put together. What each lane computes is a function of a few other lanes
//! (`cuts`), which is looked up among the operations of SIMD instructions (`function`, `operation`). Lanes that are computed alike
//! are one instruction; its operands are words whose lanes are found in the same way, down to words that are there.
//! What is not computed alike is merged in, under a mask (`words`).

mod addends;
mod apart;
mod blended;
mod clamped;
mod conditions;
mod cuts;
mod decided;
mod differences;
mod evaluated;
mod extrema;
mod field;
mod function;
mod functions;
mod gather;
mod halves;
mod joined;
mod linear;
mod make;
mod mixed;
mod narrowed;
mod operation;
mod outside;
mod parts;
mod pieces;
mod quotients;
mod sampler;
mod scaled;
mod sets;
mod spread;
mod sums;
mod taken;
mod widened;
mod words;
mod xored;

use crate::graph::{Origin, ValueId};
use crate::lanes::Byte;
use crate::recipe::{Recipe, Source, Step};
use crate::rules::{Pass, Rule};
use crate::site::Site;
pub(crate) use functions::AllFunctions;
pub(crate) use pieces::AllPieces;
use pieces::Pieces;
use ptxopt_grammar::constant;
use ptxopt_grammar::meaning::term::ones;
use ptxopt_grammar::table::Row;
use ptxopt_grammar::table::instruction::{Instruction, op};
use ptxopt_grammar::tree::{Module, NodeKind, StmtId};
use ptxopt_grammar::video::Lanes;
use words::Words;

/// The rules.
pub(super) const RULES: &[Rule] = &[
    LANES,
    sums::RULE,
    sums::flags::RULE,
    sums::tested::RULE,
    extrema::RULE,
    spread::RULE,
    joined::RULE,
    clamped::RULE,
];

/// How many choices that follow one are looked at, at most, to find where words end.
const MOST_AFTER: usize = 64;

const LANES: Rule = Rule {
    name: "lanes",
    pass: Pass::Fuse,
    law: "lanes that are computed alike, one by one, are lanes of one SIMD instruction",
    examples: &["and.b32 %r0, %a, 255; and.b32 %r1, %b, 255; add.u32 %r2, %r0, %r1; \
         shr.u32 %r3, %a, 24; shr.u32 %r4, %b, 24; add.u32 %r5, %r3, %r4; \
         bfe.u32 %r6, %a, 8, 8; bfe.u32 %r7, %b, 8, 8; add.u32 %r6, %r6, %r7; \
         prmt.b32 %r0, %a, 0, 0x4442; prmt.b32 %r1, %b, 0, 0x4442; add.u32 %r7, %r0, %r1; \
         prmt.b32 %r8, %r2, %r6, 0x0040; prmt.b32 %r9, %r7, %r5, 0x0040; prmt.b32 %d, %r8, %r9, 0x5410;"],
    propose: lanes,
};

/// Whether a statement takes a byte of a word, puts a word together, makes one of several flags of bytes, the sign of
/// the highest one, moved to the fourth bit, or a bit that is chosen, or clamps a number to four bits.
pub(super) fn is_seed(module: &Module<'_>, stmt: StmtId, row: &Row) -> bool {
    let number = |at: usize, wanted: fn(u64) -> bool| {
        let number = module.operands(stmt).get(at).and_then(|&node| constant::value(module, node));
        number.is_some_and(wanted)
    };
    row.is(op::PRMT)
        || row.is(op::AND)
            && number(2, |mask| {
                matches!(mask, 0x80..=0xff | 0xffff) || spread::is_mask(mask) || is_in_upper_lane(mask)
            })
        || row.is(op::CVT) && converts_lane(module, stmt)
        || row.is(op::BFE) && number(3, |bits| matches!(bits, 8 | 16))
        // What moves a word up by a few bits takes them in below.
        || row.is(op::BFI) && number(4, |bits| matches!(bits, 8 | 16 | 28..=31))
        || row.is(op::SHL) && number(2, |bits| matches!(bits, 8 | 16 | 24))
        || row.is(op::SHR) && number(2, |bits| bits == 28)
        || row.is(op::MIN) && number(2, |most| matches!(most, 7 | 15))
        || row.is(op::SELP)
            && number(1, |bit| bit.is_power_of_two() && bit > 2)
            && number(2, |other| other == 0)
        || row.is(op::MOV) && packs_word(module, stmt)
        || [op::ADD, op::SUB, op::MIN, op::MAX].into_iter().any(|of| row.is(of)) && has_half(module, stmt)
}

/// Whether a statement takes a half out of a word, and whether it computes with one. Only both together are a sign:
/// words of two floating-point numbers are taken apart too.
pub(super) fn half_seed(module: &Module<'_>, stmt: StmtId, row: &Row) -> [bool; 2] {
    let by_16 = || module.operands(stmt).get(2).and_then(|&node| constant::value(module, node)) == Some(16);
    let instruction = module.instruction(stmt);
    let takes = row.is(op::SHR) && by_16() || row.is(op::MOV) && is_vector(module, stmt, 0);
    let is_bits = || instruction.and_then(Instruction::last_type) == Some(op::B16);
    let compares = row.is(op::SETP) && (has_half(module, stmt) || is_bits());
    let computes = compares || instruction == Some(op::CVT_U32_U16);
    [takes, computes]
}

fn lanes(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    if !packs(site) {
        return;
    }
    for lanes in Lanes::ALL {
        Pieces::each(site, lanes.bits(), |pieces| {
            let mut words = Words::over(pieces, lanes);
            for recipe in words.recipes(site) {
                if !out.contains(&recipe) {
                    out.push(recipe);
                }
            }
            words.pieces
        });
    }
}

/// Whether a mask keeps several bits, all of them of one byte of a word, which is not the lowest.
fn is_in_upper_lane(mask: u64) -> bool {
    mask.count_ones() > 1 && [8, 16, 24].into_iter().any(|low| mask & !(0xff << low) == 0)
}

/// Whether a conversion has a byte as its operand, or a signed half.
fn converts_lane(module: &Module<'_>, stmt: StmtId) -> bool {
    module.instruction(stmt).is_some_and(|instruction| {
        instruction.last_bits() == Some(8) || instruction.last_type() == Some(op::S16)
    })
}

/// Whether an instruction computes with numbers of 16 bits.
fn has_half(module: &Module<'_>, stmt: StmtId) -> bool {
    let ty = module.instruction(stmt).and_then(Instruction::last_type);
    ty == Some(op::S16) || ty == Some(op::U16)
}

/// Whether a move puts a word of 32 bits together.
fn packs_word(module: &Module<'_>, stmt: StmtId) -> bool {
    module.instruction(stmt).and_then(Instruction::last_bits) == Some(32) && is_vector(module, stmt, 1)
}

/// Whether an operand is a vector.
fn is_vector(module: &Module<'_>, stmt: StmtId, at: usize) -> bool {
    module.operands(stmt).get(at).map(|&node| module.node_kind(node)) == Some(NodeKind::Vector)
}

/// Whether several lanes of the result were computed by instructions of their own.
fn packs(site: &Site<'_, '_, '_>) -> bool {
    if site.graph.value(site.value).width != 32 {
        return false;
    }
    if site.moves_decided().is_some() {
        return true;
    }
    if let Some([x, y]) =
        [op::OR_B32, op::XOR_B32, op::ADD_U32].into_iter().find_map(|join| joined(site, join))
    {
        return side_by_side([x, y].map(|source| site.fact(source).zeros()));
    }
    if let Some([x, factor, y]) = joined(site, op::MAD_LO_U32) {
        // A word that is shifted by whole bytes, and another one.
        let Some(factor) = site.constant(factor).filter(|factor| factor.is_power_of_two()) else {
            return false;
        };
        let far = factor.trailing_zeros();
        let shifted = site.fact(x).zeros() << far | ones(far);
        return matches!(far, 8 | 16 | 24) && side_by_side([shifted, site.fact(y).zeros()]);
    }
    if let Some([long]) = site.plain(op::CVT_U32_U64) {
        return is_put_together(site, long);
    }
    if let Some([x, y, _]) = joined(site, op::SELP_B32) {
        return [x, y].into_iter().any(|word| is_choice(site.definition(word))) && is_last_choice(site);
    }
    if let Some([Source::Value(x), Source::Value(y), Source::Value(selector)]) = site.plain(op::PRMT_B32) {
        return x != y && site.constant(Source::Value(selector)).is_some();
    }
    let bytes = site.result_bytes();
    if puts_in_last_field(site, &bytes) {
        return true;
    }
    let mut from: Vec<_> = bytes
        .into_iter()
        .filter_map(|byte| match byte? {
            Byte::Of(value, _) | Byte::SignOf(value, _) => Some(value),
            Byte::Constant(_) => None,
        })
        .filter(|&value| value != site.value && site.graph.made_of(value).is_some())
        .collect();
    from.sort_unstable();
    from.dedup();
    from.len() > 1
}

/// Whether a choice is the last of those that make a word: compilers choose one lane of a word after the other, the others
/// as they are. Whatever is chosen of that word afterwards changes a lane for the second time.
fn is_last_choice(site: &Site<'_, '_, '_>) -> bool {
    let mut after = Vec::new();
    let mut value = site.value;
    loop {
        let mut readers =
            site.graph.uses(value).map(|(reader, _)| reader).filter(|&reader| chooses(site, reader));
        let Some(reader) = readers.next() else { break };
        if after.len() == MOST_AFTER || readers.any(|other| other != reader) {
            return false;
        }
        after.push(chosen_lanes(site, reader));
        value = reader;
    }
    // From the last one on, those that change a lane once make a word.
    let mut changed = 0;
    for lanes in after.iter().rev() {
        changed = if changed & lanes == 0 { changed | lanes } else { *lanes };
    }
    let own = chosen_lanes(site, site.value);
    after.is_empty() || own.count_ones() == 1 && changed & own != 0
}

/// Whether a value is the result of a choice.
fn chooses(site: &Site<'_, '_, '_>, value: ValueId) -> bool {
    match site.graph.value(value).origin {
        Origin::Result(stmt) => site.graph.module().row(stmt).is_some_and(|row| row.is(op::SELP)),
        Origin::Undefined | Origin::Read(_) | Origin::Opaque | Origin::Phi(_) | Origin::Sink(_) => false,
    }
}

/// The bytes that a choice may change, as a mask: those in which its two words differ.
fn chosen_lanes(site: &Site<'_, '_, '_>, choice: ValueId) -> u8 {
    let Some(step) = site.definition(Source::Value(choice)) else { return 0xf };
    let [x, y, _] = step.sources[..] else { return 0xf };
    let [Some(x), Some(y)] = [x, y].map(|word| site.bytes(word)) else { return 0xf };
    (0..4).filter(|&at| x[at] != y[at]).fold(0, |mask, at| mask | 1 << at)
}

/// Whether an instruction chooses one of two words.
fn is_choice(step: Option<Step>) -> bool {
    step.and_then(|step| step.instruction()).is_some_and(|own| own.row().is(op::SELP))
}

/// Whether a field is put into a word, after which all bytes are numbers and moved ones of another word than that.
fn puts_in_last_field(site: &Site<'_, '_, '_>, bytes: &[Option<Byte>]) -> bool {
    let [field, Source::Value(into), ..] = site.step.sources[..] else { return false };
    let is_moved = |byte: &Option<Byte>| match byte {
        Some(Byte::Of(of, _)) => *of != into,
        Some(Byte::Constant(_)) => true,
        Some(Byte::SignOf(..)) | None => false,
    };
    let is_in_place = |(at, byte): (u8, &Option<Byte>)| match field {
        Source::Value(field) => *byte == Some(Byte::Of(field, at)),
        Source::Step(_) | Source::Constant(_) => false,
    };
    site.step.instruction().is_some_and(|instruction| instruction.row().is(op::BFI))
        && bytes.iter().all(is_moved)
        && !(0..).zip(bytes).all(is_in_place)
}

/// Whether two words that are put together lie in a register of 64 bits, perhaps moved down by one of them.
fn is_put_together(site: &Site<'_, '_, '_>, long: Source) -> bool {
    let Some(mut step) = site.definition(long) else { return false };
    let is =
        |step: &Step, mnemonic| step.instruction().is_some_and(|instruction| instruction.row().is(mnemonic));
    if let (true, [moved, by]) = (is(&step, op::SHR), &step.sources[..])
        && site.constant(*by) == Some(32)
        && let Some(inner) = site.definition(*moved)
    {
        step = inner;
    }
    let [x, y] = step.sources[..] else { return false };
    [op::OR, op::XOR, op::ADD].into_iter().any(|join| is(&step, join))
        && side_by_side([x, y].map(|source| site.fact(source).zeros()))
}

/// Whether of each byte of two words one is zero, and not always the same one; given the bits of each that are zero.
fn side_by_side(zeros: [u128; 2]) -> bool {
    let byte = |at: u32| zeros.map(|zeros| zeros >> (8 * at) & 0xff == 0xff);
    (0..4).all(|at| byte(at).contains(&true)) && (0..4).any(|at| byte(at) == [true, false])
}

/// The operands of an instruction that puts its operands together, whatever its type.
fn joined<const N: usize>(site: &Site<'_, '_, '_>, join: Instruction) -> Option<[Source; N]> {
    let own = site.instruction()?.representative();
    (own == join).then(|| site.step.sources[..].try_into().ok())?
}
