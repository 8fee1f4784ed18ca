//! The statements that move elements, bytes and halves, between a word and registers of their own.
//!
//! That a text with them does what it did without is proved by whoever inserts them.

use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::table::types::TypeWord;

/// How many bits a word has.
pub(super) const WORD: u32 = 32;

/// A register of integers that holds an element in its low bits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Holder {
    pub(super) name: String,
    /// How many bits it has.
    pub(super) width: u32,
}

/// Where an element lies in a word, by its first bit, and whether registers get its sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub(super) first: usize,
    pub(super) bits: u32,
    pub(super) signed: bool,
}

/// How many bits an element has, and whether registers get its sign; `None` for what is no part of a word.
pub(super) fn element(ty: TypeWord) -> Option<(u32, bool)> {
    [
        (op::U8, 8, false),
        (op::B8, 8, false),
        (op::S8, 8, true),
        (op::U16, 16, false),
        (op::B16, 16, false),
        (op::S16, 16, true),
    ]
    .into_iter()
    .find(|(known, ..)| known.ty() == Some(ty))
    .map(|(_, bits, signed)| (bits, signed))
}

impl Place {
    /// The statement that moves it to a register of 32 bits. The assembler does what extends a byte or converts it to a float
    /// together with `bfe`, but not with `prmt`.
    pub(super) fn taken(self, register: &str, word: &str) -> String {
        match self {
            Self { first, bits: 8, signed: false } => format!("bfe.u32 {register}, {word}, {first}, 8;"),
            _ => format!("prmt.b32 {register}, {word}, 0, {:#06x};", self.selector()),
        }
    }

    /// The selector of `prmt` that extends it, the second word being zero.
    fn selector(self) -> usize {
        let (first, bytes) = (self.first / 8, self.bits as usize / 8);
        let last = first + bytes - 1;
        let above = if self.signed { 8 | last } else { 4 };
        (0..4).map(|place| if place < bytes { first + place } else { above } << (4 * place)).sum()
    }
}

impl Holder {
    /// The statements that move an element of a word to it.
    pub(super) fn taken_from(
        &self,
        word: &str,
        place: Place,
        fresh: &mut dyn FnMut() -> String,
    ) -> Vec<String> {
        let register = &self.name;
        match (self.width, place.bits, place.first) {
            (16, 16, 0) => vec![format!("cvt.u16.u32 {register}, {word};")],
            (width @ (16 | 64), ..) => {
                let part = fresh();
                let sign = if place.signed && width == 64 { 's' } else { 'u' };
                vec![place.taken(&part, word), format!("cvt.{sign}{width}.{sign}32 {register}, {part};")]
            }
            _ => vec![place.taken(register, word)],
        }
    }

    /// A new register of 32 bits that has its low bits.
    pub(super) fn widened(&self, fresh: &mut dyn FnMut() -> String, lines: &mut Vec<String>) -> Self {
        let name = fresh();
        lines.push(match self.width {
            32 => format!("mov.b32 {name}, {};", self.name),
            width => format!("cvt.u32.u{width} {name}, {};", self.name),
        });
        Self { name, width: WORD }
    }
}

/// The low bits of registers to a word, the lowest first: how many of each, and of which. Two bytes are followed by
/// zeros.
pub(super) fn put_together(
    word: &str,
    elements: Vec<(u32, Holder)>,
    fresh: &mut dyn FnMut() -> String,
    lines: &mut Vec<String>,
) {
    // Registers of 16 bits are moved together in pairs.
    let in_pairs = elements.len() != 3 && elements.iter().all(|(_, holder)| holder.width == 16);
    let mut sides: Vec<(u32, String)> = Vec::new();
    for (bits, holder) in elements {
        let holder = if in_pairs || holder.width == WORD { holder } else { holder.widened(fresh, lines) };
        sides.push((bits, holder.name));
    }
    let mut halves = Vec::new();
    let mut bytes = sides.into_iter().peekable();
    while let Some((bits, name)) = bytes.next() {
        match bytes.next_if(|_| bits == 8) {
            Some((_, high)) => {
                let half = fresh();
                lines.push(match in_pairs {
                    true => format!("mov.b32 {half}, {{{name}, {high}}};"),
                    false => format!("prmt.b32 {half}, {name}, {high}, 0x0040;"),
                });
                halves.push((8, half));
            }
            None => halves.push((16, name)),
        }
    }
    lines.push(match (&halves[..], in_pairs) {
        ([(_, low)], true) => format!("prmt.b32 {word}, {low}, 0, 0x4420;"),
        ([(_, low)], false) => format!("prmt.b32 {word}, {low}, 0, 0x4410;"),
        ([(8, low), (_, high)], true) => format!("prmt.b32 {word}, {low}, {high}, 0x6420;"),
        ([(_, low), (_, high)], true) => format!("mov.b32 {word}, {{{low}, {high}}};"),
        ([(_, low), (_, high)], false) => format!("prmt.b32 {word}, {low}, {high}, 0x5410;"),
        _ => unreachable!("the parts of a word are two halves, or one"),
    });
}
