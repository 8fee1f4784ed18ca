//! Words in reach of an instruction, and how to put bytes of them into one word.
//!
//! An instruction reads a few bytes. The same bytes lie in other words too: in those that were moved here, and in
//! intermediate results of the move. A rule says which bytes it needs; the words that hold them are found here. Bytes
//! are the same if their contents are, and a byte of a word is used only if it is demanded there already, since other
//! edits may change undemanded bits.

use crate::graph::{Origin, Use, ValueId};
use crate::lanes::Byte;
use crate::recipe::{Source, Step};
use crate::site::Site;
use ptxopt_grammar::meaning::term::ones;
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::Part;

/// How many words are looked at.
const WORDS: usize = 10;

/// How many values are looked through for them.
const VALUES: usize = 40;

/// A byte that is needed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Need {
    pub(super) byte: Byte,
    /// Which of its bits matter.
    pub(super) bits: u8,
}

impl Need {
    /// All of a byte.
    pub(super) const fn whole(byte: Byte) -> Self {
        Self { byte, bits: 0xff }
    }
}

/// A word, and what lies in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    pub(super) source: Source,
    bytes: [Byte; 4],
    /// The demanded bits.
    demanded: u32,
}

impl Word {
    /// Whether the byte at `place` is the one that is needed.
    fn has(&self, place: usize, need: Need) -> bool {
        let same = match (self.bytes[place], need.byte) {
            (Byte::Constant(here), Byte::Constant(there)) => (here ^ there) & need.bits == 0,
            (here, there) => here == there,
        };
        same && need.bits & !self.demanded.to_le_bytes()[place] == 0
    }

    /// The lane of `needs.len()` bytes that is the one that is needed; `first` if that is one of several.
    pub(super) fn lane(&self, needs: &[Need], first: usize) -> Option<usize> {
        let count = 4 / needs.len();
        let fits = |&lane: &usize| {
            needs.iter().enumerate().all(|(at, &need)| self.has(lane * needs.len() + at, need))
        };
        [first % count].into_iter().chain(0..count).find(fits)
    }

    /// Whether all of a part is demanded.
    pub(super) fn promises(&self, part: Option<Part>) -> bool {
        let (low, bits) = part.map_or((0, 32), |part| (part.shift(), part.bits()));
        let wanted = u32::try_from(ones(bits)).expect("a part has 32 bits at most") << low;
        wanted & !self.demanded == 0
    }

    /// The byte whose highest bit fills the byte that is needed.
    fn sign(&self, need: Need) -> Option<usize> {
        let Byte::SignOf(value, at) = need.byte else { return None };
        (0..4).find(|&place| self.has(place, Need { byte: Byte::Of(value, at), bits: 0x80 }))
    }

    /// Whether all bytes are its own.
    pub(super) fn is_origin(&self) -> bool {
        let own = |(at, byte): (usize, &Byte)| {
            matches!((byte, self.source), (&Byte::Of(value, place), Source::Value(source))
                if value == source && usize::from(place) == at)
        };
        self.bytes.iter().enumerate().all(own)
    }
}

/// The words in reach, those of which others are made first.
#[derive(Clone, Debug)]
pub(super) struct Reach {
    /// The words among the values.
    pub(super) words: Vec<Word>,
    /// Values of any width, the nearest first.
    pub(super) values: Vec<ValueId>,
}

impl Reach {
    /// The sources, and whatever their bytes come from.
    pub(super) fn of(site: &Site<'_, '_, '_>, sources: &[Source]) -> Self {
        let mut values: Vec<ValueId> = Vec::new();
        let add = |values: &mut Vec<ValueId>, value| {
            // What may be undefined can be read where it is read, and nowhere else.
            let here = site.step.sources.contains(&Source::Value(value));
            let readable = here || !matches!(site.graph.value(value).origin, Origin::Read(_));
            if readable && !values.contains(&value) && values.len() < VALUES {
                values.push(value);
            }
        };
        for source in sources {
            if let Source::Value(value) = *source {
                add(&mut values, value);
            }
        }
        let (mut words, mut at) = (Vec::new(), 0);
        while let Some(&value) = values.get(at) {
            at += 1;
            words.extend(word(site, value));
            let contents = site.contents(value);
            let is_own = |byte: &Byte| matches!(*byte, Byte::Of(of, _) if of == value);
            if !contents.iter().all(is_own) {
                let mut operands: Vec<ValueId> =
                    site.graph.operands(value).filter(term).map(|(v, _)| v).collect();
                operands.sort_unstable();
                operands.into_iter().for_each(|operand| add(&mut values, operand));
            }
        }
        words.sort_by_key(|word: &Word| !word.is_origin());
        words.truncate(WORDS);
        Self { words, values }
    }

    /// Those that others are made of, and the value of 16 bits that needed bytes lie in: extended to a word by an
    /// instruction that comes first and costs nothing. `None` if there is no such value, or several.
    pub(super) fn with_half(
        &self,
        site: &Site<'_, '_, '_>,
        needs: &[Option<Need>; 4],
    ) -> Option<(Step, Self)> {
        let holders = needs.iter().flatten().filter_map(|need| match need.byte {
            Byte::Of(value, _) => Some(value),
            Byte::SignOf(..) | Byte::Constant(_) => None,
        });
        let is_half = |value: &ValueId| site.graph.value(*value).width == 16 && self.values.contains(value);
        let mut halves = holders.filter(is_half);
        let half = halves.next().filter(|&half| halves.all(|other| other == half))?;
        site.graph.register_of(half)?;
        let bytes = [Byte::Of(half, 0), Byte::Of(half, 1), Byte::Constant(0), Byte::Constant(0)];
        let demanded = site.knowledge.demanded[half.index()] | 0xffff_0000;
        let demanded = u32::try_from(demanded & u128::from(u32::MAX)).expect("it was cut to 32 bits");
        let extended = Word { source: Source::Step(0), bytes, demanded };
        let words = self.words.iter().copied().filter(Word::is_origin).chain([extended]).collect();
        Some((
            Step::plain(op::CVT_U32_U16, &[Source::Value(half)]),
            Self { words, values: self.values.clone() },
        ))
    }

    /// The same words, the nearest first.
    pub(super) fn reversed(&self) -> Self {
        Self { words: self.words.iter().rev().copied().collect(), values: self.values.clone() }
    }

    /// One instruction at most that puts the needed bytes into a word; where nothing is needed anything may be.
    ///
    /// Several alternatives, the simplest first.
    pub(super) fn spell(&self, needs: &[Option<Need>; 4]) -> Vec<MadeWord> {
        let mut spelled = Vec::new();
        let wanted = || needs.iter().enumerate().filter_map(|(at, need)| Some((at, (*need)?)));
        for word in &self.words {
            if wanted().all(|(at, need)| word.has(at, need)) {
                spelled.push(MadeWord::Source(word.source));
            }
        }
        if let Some(number) = constant(needs) {
            spelled.push(MadeWord::Source(Source::Constant(number.into())));
        }
        if spelled.is_empty() {
            spelled.extend(self.words.iter().flat_map(|word| masked(word, needs)));
            spelled.extend(self.words.iter().flat_map(|word| shifted(word, needs)));
            spelled.extend(self.permuted(needs));
        }
        spelled
    }

    fn permuted(&self, needs: &[Option<Need>; 4]) -> Option<MadeWord> {
        for (at, &first) in self.words.iter().enumerate() {
            if let Some(digits) = digits(needs, &[first]) {
                return Some(permute(first.source, Source::Constant(0), digits));
            }
            if let Some((digits, number)) = with_constant(needs, &first) {
                return Some(permute(first.source, Source::Constant(number.into()), digits));
            }
            for &second in self.words.iter().skip(at + 1) {
                if let Some(digits) = digits(needs, &[first, second]) {
                    return Some(permute(first.source, second.source, digits));
                }
            }
        }
        None
    }
}

fn term((_, slot): &(ValueId, Use)) -> bool {
    *slot == Use::Term
}

fn word(site: &Site<'_, '_, '_>, value: ValueId) -> Option<Word> {
    site.graph.register_of(value)?;
    let source = Source::Value(value);
    let demanded = site.knowledge.demanded[value.index()];
    let demanded = u32::try_from(demanded & u128::from(u32::MAX)).expect("it was cut to 32 bits");
    Some(Word { source, bytes: contents(site, source)?, demanded })
}

/// The bytes of a source of 32 bits; those that are known to be a number are that.
pub(super) fn contents(site: &Site<'_, '_, '_>, source: Source) -> Option<[Byte; 4]> {
    let mut bytes = site.bytes(source)?;
    let (known, value) = site.fact(source).known();
    for (at, byte) in bytes.iter_mut().enumerate() {
        if known >> (8 * at) & 0xff == 0xff {
            *byte = Byte::Constant(value.to_le_bytes()[at]);
        }
    }
    Some(bytes)
}

/// A word made of bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum MadeWord {
    /// It is there already.
    Source(Source),
    /// One instruction makes it.
    Step(Step),
}

impl MadeWord {
    /// Adds the instruction to those of a recipe, if there is one; what to read afterwards. Numbers get a register.
    pub(super) fn into_register(self, steps: &mut Vec<Step>) -> Source {
        let step = match self {
            Self::Source(source @ (Source::Value(_) | Source::Step(_))) => return source,
            Self::Source(source @ Source::Constant(_)) => Step::copy(source, 32),
            Self::Step(step) => step,
        };
        let known = steps.iter().position(|known| *known == step);
        Source::Step(known.unwrap_or_else(|| {
            steps.push(step);
            steps.len() - 1
        }))
    }
}

/// The number that all needed bytes are.
fn constant(needs: &[Option<Need>; 4]) -> Option<u32> {
    let mut bytes = [0; 4];
    for (byte, need) in bytes.iter_mut().zip(needs) {
        match need.map(|need| need.byte) {
            Some(Byte::Constant(number)) => *byte = number,
            Some(Byte::Of(..) | Byte::SignOf(..)) => return None,
            None => {}
        }
    }
    Some(u32::from_le_bytes(bytes))
}

/// Bytes of a word in their places, the others all zeros or all ones.
fn masked(word: &Word, needs: &[Option<Need>; 4]) -> Option<MadeWord> {
    for (instruction, fill) in [(op::AND_B32, 0), (op::OR_B32, 0xff)] {
        let mut mask = [!fill; 4];
        let mut fits = true;
        for (at, need) in needs.iter().enumerate() {
            let Some(need) = *need else { continue };
            match need.byte {
                Byte::Constant(number) if (number ^ fill) & need.bits == 0 => mask[at] = fill,
                Byte::Constant(_) | Byte::Of(..) | Byte::SignOf(..) => fits &= word.has(at, need),
            }
        }
        if fits {
            let mask = Source::Constant(u32::from_le_bytes(mask).into());
            return Some(MadeWord::Step(Step::plain(instruction, &[word.source, mask])));
        }
    }
    None
}

/// Bytes of a word, moved together, and zeros or copies of its sign behind them.
fn shifted(word: &Word, needs: &[Option<Need>; 4]) -> Option<MadeWord> {
    let zero =
        |at: usize| needs[at].is_none_or(|need| matches!(need.byte, Byte::Constant(n) if n & need.bits == 0));
    let sign = |at: usize| needs[at].is_none_or(|need| word.sign(need) == Some(3));
    let moved = |at: usize, from: usize| needs[at].is_none_or(|need| word.has(from, need));
    for by in 1..4 {
        let down = (0..4 - by).all(|at| moved(at, at + by));
        let up = (by..4).all(|at| moved(at, at - by));
        let instruction = if up && (0..by).all(zero) {
            op::SHL_B32
        } else if down && (4 - by..4).all(zero) {
            op::SHR_U32
        } else if down && (4 - by..4).all(sign) {
            op::SHR_S32
        } else {
            continue;
        };
        let amount = Source::Constant(8 * by as u64);
        return Some(MadeWord::Step(Step::plain(instruction, &[word.source, amount])));
    }
    None
}

fn permute(a: Source, b: Source, digits: u32) -> MadeWord {
    MadeWord::Step(Step::plain(op::PRMT_B32, &[a, b, Source::Constant(digits.into())]))
}

/// A digit of `prmt` for each byte; `find` gives it, and an unneeded byte gets that of its place.
fn select(needs: &[Option<Need>; 4], mut find: impl FnMut(usize, Need) -> Option<usize>) -> Option<u32> {
    let mut digits = 0;
    for (at, need) in needs.iter().enumerate() {
        let digit = match *need {
            Some(need) => find(at, need)?,
            None => at,
        };
        digits |= u32::try_from(digit).expect("a digit has four bits") << (4 * at);
    }
    Some(digits)
}

fn digits(needs: &[Option<Need>; 4], words: &[Word]) -> Option<u32> {
    select(needs, |at, need| {
        words.iter().enumerate().find_map(|(number, word)| {
            let digit = word.lane(&[need], at).or_else(|| word.sign(need).map(|place| place | 8))?;
            Some(digit + 4 * number)
        })
    })
}

/// The digits for a word and a number, and the number.
fn with_constant(needs: &[Option<Need>; 4], word: &Word) -> Option<(u32, u32)> {
    let mut number = [0; 4];
    let digits = select(needs, |at, need| {
        if let Byte::Constant(byte) = need.byte {
            number[at] = byte;
            return Some(4 + at);
        }
        word.lane(&[need], at).or_else(|| word.sign(need).map(|place| place | 8))
    })?;
    Some((digits, u32::from_le_bytes(number)))
}
