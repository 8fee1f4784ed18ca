//! Sums that may add lanes up, told before anything is taken apart: hashes and addresses are most of the sums that there
//! are, and add none.

use super::MOST_OPERANDS;
use crate::recipe::{Source, Step};
use crate::rules::is_dot_product;
use crate::site::Site;
use ptxopt_grammar::table::Row;
use ptxopt_grammar::table::instruction::{Instruction, op};

/// What lanes and their products are less than, with some room.
const MOST_NARROW: i128 = 1 << 24;

/// The same of sums of 16 bits, which are proposed as such only of what is small: as words they must be converted.
const MOST_NARROW_IN_HALF: i128 = 1 << 12;

/// Whether several different operands of a sum have so few bits that they may be lanes, or what is computed of lanes.
/// That is quick to see, and of most sums it is not so.
pub(super) fn adds_lanes(site: &Site<'_, '_, '_>) -> bool {
    // Such as the number of ones of a word.
    if site.instruction().is_some() && site.step.sources.len() < 2 {
        return false;
    }
    let room = if site.step.width == 32 { MOST_NARROW } else { MOST_NARROW_IN_HALF };
    let is_narrow = |source: Source| {
        let fact = site.fact(source);
        let (least, most) = fact.signed();
        // The weights of lanes have a byte, and so do lanes that stand above one that is zero.
        let is_zero = |byte: u32| fact.zeros() >> (8 * byte) & 0xff == 0xff;
        site.constant(source).is_none()
            && (fact.unsigned().1 < room.cast_unsigned() || -room < least && most < room)
            && !is_zero(0)
            && (!is_zero(1) || fact.unsigned().1 < 1 << 8)
    };
    let is_sum = |row: &Row| [op::ADD, op::SUB].into_iter().any(|sum| row.is(sum));
    // Lanes less a word, of which products are multiplied out.
    let is_factor = |source: Source| {
        let Some(step) = site.definition(source) else { return false };
        step.instruction().is_some_and(|instruction| is_sum(instruction.row()))
            && step.sources.iter().any(|&source| is_narrow(source))
    };
    let is_product = |source: Source| {
        let Some(step) = site.definition(source) else { return false };
        let own = step.instruction().map(Instruction::representative);
        own == Some(op::MUL_LO_U32) && step.sources.iter().any(|&source| is_factor(source))
    };
    // The operands that have so few bits, each once: hashes add the same short word up again and again.
    let mut narrow: Vec<[Source; 2]> = Vec::new();
    let mut note = |operand: [Source; 2]| {
        if !narrow.contains(&operand) {
            narrow.push(operand);
        }
        narrow.len() > 1
    };
    let mut seen = 0;
    let mut stack = vec![*site.step];
    while let Some(step) = stack.pop() {
        seen += 1;
        let Some(instruction) = step.instruction().map(Instruction::representative) else { return true };
        let operands = match instruction {
            op::MAD_LO_U32 => {
                let [x, y, _] = step.sources[..] else { return true };
                if [x, y].into_iter().any(|source| is_narrow(source) || is_factor(source)) && note([x, y]) {
                    return true;
                }
                &step.sources[2..]
            }
            // One of whole words is what the sum would become. Others have lanes to spare, or lanes of other words.
            _ if is_dot_product(instruction.row()) => {
                let is_whole = step.sources[..2].iter().all(|&source| is_whole(site, source));
                if !is_whole {
                    return true;
                }
                &step.sources[2..]
            }
            _ if is_sum(instruction.row()) => &step.sources[..],
            _ => return true,
        };
        // A sum of dot products that is added to something is not asked about again for every addition.
        let adds_products = is_dot_product(instruction.row());
        for &source in operands {
            let inner = site.definition(source);
            let goes_on = |step: &Step| {
                let own = step.instruction().map(Instruction::representative);
                own.is_none_or(|own| {
                    let row = own.row();
                    own == op::MAD_LO_U32
                        || adds_products && is_dot_product(row)
                        || step.width == site.step.width && is_sum(row)
                })
            };
            match inner.filter(|step| seen < MOST_OPERANDS[1] && goes_on(step)) {
                Some(step) => stack.push(step),
                None if (is_narrow(source) || is_product(source)) && note([source, source]) => return true,
                None => {}
            }
        }
    }
    false
}

/// Whether a source is a word of four bytes that can be read nowhere else: none of them is known to be zero, and they
/// are bits that were shifted and masked at most.
fn is_whole(site: &Site<'_, '_, '_>, source: Source) -> bool {
    let zeros = site.fact(source).zeros();
    if (0..4).any(|lane| zeros >> (8 * lane) & 0xff == 0xff) {
        return false;
    }
    let mut source = source;
    while let Some(step) = site.definition(source) {
        let moves = [op::AND_B32, op::SHR_U32, op::SHL_B32].into_iter().any(|other| step.is(other));
        let [bits, other] = step.sources[..] else { return false };
        if !moves || site.constant(other).is_none() {
            return false;
        }
        source = bits;
    }
    site.constant(source).is_none()
}
