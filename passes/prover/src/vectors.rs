//! The inputs that a question is tried on first: 512 of them, most of them where mistakes are likely.
//!
//! Bytes are mostly at the edges of their ranges, words at theirs, and operands are often equal or neighbours, in
//! whole or in a byte. The draw depends on the question alone.

use super::canonical::{Cone, ConeInput, low_half, mix};
use super::query::Assumption;
use ptxopt_grammar::meaning::term::ones;

/// Words of 64 vectors each.
pub(super) const GROUPS: usize = 8;

/// One bit in all vectors.
pub(super) type Lane = [u64; GROUPS];

/// A stream of numbers from a seed (splitmix64).
pub(super) struct Draw(u64);

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, count: u64) -> u64 {
        self.next() % count
    }

    fn wide(&mut self) -> u128 {
        u128::from(self.next()) << 64 | u128::from(self.next())
    }
}

/// A bit of the 64 numbers from `64 * word` upwards.
pub(super) fn counting(bit: usize, word: u64) -> u64 {
    const LOWEST: [u64; 6] = [
        0xaaaa_aaaa_aaaa_aaaa,
        0xcccc_cccc_cccc_cccc,
        0xf0f0_f0f0_f0f0_f0f0,
        0xff00_ff00_ff00_ff00,
        0xffff_0000_ffff_0000,
        0xffff_ffff_0000_0000,
    ];
    let is_set = || word >> (bit - LOWEST.len()) & 1 == 1;
    LOWEST.get(bit).copied().unwrap_or_else(|| if is_set() { u64::MAX } else { 0 })
}

/// A number that depends on all of the cone.
pub(super) fn seed(cone: &Cone) -> u64 {
    cone.words.iter().fold(0, |hash, word| {
        let hash = mix(mix(hash, word.kind as u64), u64::from(word.width));
        let hash = mix(hash, low_half(word.value));
        word.operands.iter().fold(hash, |hash, &operand| mix(hash, u64::from(operand)))
    })
}

/// The bits of all inputs in 512 vectors, and which of these are as assumed.
pub(super) fn vectors(inputs: &[ConeInput], seed: u64) -> (Vec<Vec<Lane>>, Lane) {
    let mut draw = Draw::new(seed);
    let mut lanes: Vec<Vec<Lane>> =
        inputs.iter().map(|input| vec![[0; GROUPS]; input.width as usize]).collect();
    let mut drawn: Vec<u128> = Vec::with_capacity(inputs.len());
    let mut valid = [0; GROUPS];
    for group in 0..GROUPS {
        // For each input 64 values, the lower halves and the upper ones: a square that is turned over at the end.
        let mut squares = vec![[[0; 64]; 2]; inputs.len()];
        for vector in 0..64 {
            drawn.clear();
            let mut admitted_all = true;
            for (input, square) in inputs.iter().zip(&mut squares) {
                let value = value(&mut draw, &drawn, input.width);
                let value = admitted(&mut draw, value, &input.assumption, input.width);
                drawn.push(value);
                admitted_all &= input.assumption.admits(value, input.width);
                square[0][vector] = low_half(value);
                square[1][vector] = low_half(value >> 64);
            }
            valid[group] |= u64::from(admitted_all) << vector;
        }
        for (square, lanes) in squares.iter_mut().zip(&mut lanes) {
            for (half, lanes) in square.iter_mut().zip(lanes.chunks_mut(64)) {
                transpose(half);
                lanes.iter_mut().zip(half).for_each(|(lane, word)| lane[group] = *word);
            }
        }
    }
    (lanes, valid)
}

/// Turns a square of bits over: bit `x` of word `y` becomes bit `y` of word `x`.
fn transpose(square: &mut [u64; 64]) {
    let (mut by, mut mask) = (32, 0x0000_0000_ffff_ffff_u64);
    while by > 0 {
        for at in (0..64).filter(|at| at & by == 0) {
            let change = (square[at] >> by ^ square[at + by]) & mask;
            square[at] ^= change << by;
            square[at + by] ^= change;
        }
        by /= 2;
        mask ^= mask << by;
    }
}

const EDGES: [u128; 7] = [0x00, 0x01, 0x7f, 0x80, 0x81, 0xfe, 0xff];

fn value(draw: &mut Draw, earlier: &[u128], width: u32) -> u128 {
    let value = match draw.below(16) {
        0 => draw.wide(),
        1 => corner(draw, width),
        2 if !earlier.is_empty() => neighbour(draw, earlier),
        3 | 4 if !earlier.is_empty() => {
            let other = neighbour(draw, earlier);
            let mask = bytes(draw, width, |choice| if choice & 1 == 0 { 0xff } else { 0 });
            other & mask | edges(draw, width) & !mask
        }
        _ => edges(draw, width),
    };
    value & ones(width)
}

/// A word of bytes, each made from 16 drawn bits.
fn bytes(draw: &mut Draw, width: u32, byte: impl Fn(u64) -> u128) -> u128 {
    let mut word = 0;
    for at in (0..width).step_by(32) {
        let drawn = draw.next();
        (0..4).for_each(|lane| word |= byte(drawn >> (16 * lane) & 0xffff) << (at + 8 * lane).min(120));
    }
    word
}

fn edges(draw: &mut Draw, width: u32) -> u128 {
    bytes(draw, width, |choice| match usize::try_from(choice & 15).expect("four bits are small") {
        edge if edge < EDGES.len() => EDGES[edge],
        edge if edge < 2 * EDGES.len() => EDGES[edge - EDGES.len()],
        _ => u128::from(choice >> 8),
    })
}

fn corner(draw: &mut Draw, width: u32) -> u128 {
    let bit = 1 << draw.below(u64::from(width));
    match draw.below(6) {
        0 => 0,
        1 => u128::MAX,
        2 => bit,
        3 => bit - 1,
        4 => 1 << (width - 1),
        _ => ones(width) >> 1,
    }
}

fn neighbour(draw: &mut Draw, earlier: &[u128]) -> u128 {
    let count = u64::try_from(earlier.len()).expect("the inputs are few");
    let other = earlier[usize::try_from(draw.below(count)).expect("it is below a length")];
    match draw.below(4) {
        0 => other.wrapping_add(1),
        1 => other.wrapping_sub(1),
        2 => other.wrapping_neg(),
        _ => other,
    }
}

/// The value moved to where the assumption admits it, as far as that is easy.
fn admitted(draw: &mut Draw, value: u128, assumption: &Assumption, width: u32) -> u128 {
    let known = assumption.known & ones(width);
    let value = value & !known | assumption.value & known;
    if assumption.admits(value, width) {
        return value;
    }
    let into = |low: u128, high: u128, draw: &mut Draw| match draw.below(4) {
        0 => low,
        1 => high,
        _ => low.wrapping_add(value % high.wrapping_sub(low).wrapping_add(1).max(1)),
    };
    let unsigned = assumption.unsigned.map(|(low, high)| into(low, high, draw));
    let signed = assumption.signed.map(|(low, high)| into(low.cast_unsigned(), high.cast_unsigned(), draw));
    let known = |moved: u128| moved & ones(width) & !known | assumption.value & known;
    let mut moved = unsigned.into_iter().chain(signed).map(known);
    let first = moved.next().unwrap_or(value);
    // Where both are given, the one may be the narrower one.
    if assumption.admits(first, width) { first } else { moved.next().unwrap_or(first) }
}
