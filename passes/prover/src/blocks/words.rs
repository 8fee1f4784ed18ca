//! Accesses to several elements as accesses to the words that they make up.
//!
//! A vector access is to consecutive elements, memory is little-endian, and a vector is aligned to its whole size, so
//! `ld.v4.u8` reads the word that `ld.b32` reads from the same address: its elements are that word's bytes, the lowest
//! first. So the shape of such an access is that of the access to the words, and the elements are parts of its results
//! or of what it stores.
//!
//! That holds of weak accesses only, which other threads must not see half done: of others, elements count as accesses
//! of their own. The space and the cache operator stay part of the shape.
//!
//! So is an access to two bytes one to a half, and an access to 64 bits one to two words. What is stored are these; what
//! is loaded stays in one piece, and is cut to words only where the other function loads words.
//!
//! An access to less than a word may be one of several that together are one to a word ([`super::neighbours`]): its
//! shape says which access to a word that would be.

use super::shape::{Part, Shape, bits};
use ptxopt_grammar::meaning::term::{Term, Terms};

/// How many bits a word has.
pub(super) const WORD: u32 = 32;

/// How many bits a byte has.
pub(super) const BYTE: u32 = 8;

/// How many bits a half of one has.
const HALF: u32 = 16;

/// How many bits an element has at most.
const MOST: u32 = 64;

/// What the opcode of a weak access says besides the elements and the space.
const WEAK: [&str; 6] = ["weak", "nc", "ca", "cg", "cs", "wt"];

/// A state space. What is in one of them is in no other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Space {
    Global,
    Shared,
    Local,
    Const,
    Param,
}

impl Space {
    /// All, in the order of their numbers.
    pub(super) const ALL: [Self; 5] = [Self::Global, Self::Shared, Self::Local, Self::Const, Self::Param];

    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "global" => Self::Global,
            "shared" => Self::Shared,
            "local" => Self::Local,
            "const" => Self::Const,
            "param" => Self::Param,
            _ => return None,
        })
    }
}

/// Makes the shape of an access, whose opcode and address are these, that of an access to words if it is one, and says
/// what it is part of if it is to less than a word.
pub(super) fn join(terms: &mut Terms, opcode: &str, address: &str, shape: &mut Shape) {
    let Some(access) = Access::parse(opcode) else { return };
    shape.space = access.space;
    let elements = access.elements;
    let all = access.bits * u32::try_from(elements).expect("a vector has few elements");
    let words = all.div_ceil(WORD);
    let whole = format!("{} {words} words {address}", access.rest);
    let is_whole = all.is_multiple_of(WORD);
    if !is_whole && all > WORD {
        return;
    }
    let per_word = (WORD / access.bits).max(1);
    match shape.operands[..] {
        [_, _] if access.loads && shape.targets.len() == elements => {
            if shape.results.iter().any(|&bits| bits != access.bits) {
                return;
            }
            for (target, at) in shape.targets.iter_mut().zip(0..) {
                target.from = ((at / per_word) as usize, at % per_word * access.bits);
            }
            let result = if is_whole { per_word * access.bits } else { all };
            shape.results = vec![result; elements.div_ceil(per_word as usize)];
        }
        [guard, at, ref stored @ ..] if !access.loads && stored.len() == elements => {
            if stored.iter().any(|&value| terms.width(value) != access.bits) {
                return;
            }
            let parts = stored
                .chunks(per_word as usize)
                .map(|parts| terms.side_by_side(parts.iter().copied()).expect("there is at least one part"));
            let parts: Vec<Term> = parts.collect();
            let words = parts.into_iter().flat_map(|part| cut(terms, part));
            shape.operands = [guard, at].into_iter().chain(words).collect();
        }
        _ => return,
    }
    if is_whole {
        shape.text.clone_from(&whole);
    } else if all == HALF {
        shape.text = format!("{} half {address}", access.rest);
    }
    shape.part = (words == 1).then_some(Part { whole, bits: all });
}

/// What was loaded, in pieces of so many bits.
pub(super) fn pieces(terms: &mut Terms, loaded: &[Term], widths: &[u32]) -> Vec<Term> {
    if loaded.iter().map(|&term| terms.width(term)).eq(widths.iter().copied()) {
        return loaded.to_vec();
    }
    let all = terms.side_by_side(loaded.iter().copied()).expect("there is at least one part");
    let mut low = 0;
    let mut piece = |&width: &u32| {
        low += width;
        terms.extract(all, low - width, width)
    };
    widths.iter().map(&mut piece).collect()
}

/// The words of a term, the lowest first, or the term itself if it has no more bits than one.
fn cut(terms: &mut Terms, term: Term) -> Vec<Term> {
    let width = terms.width(term);
    (0..width).step_by(WORD as usize).map(|low| terms.extract(term, low, WORD.min(width - low))).collect()
}

/// A weak access to elements that fill words, or less than one.
struct Access {
    loads: bool,
    space: Option<Space>,
    /// How many elements there are, and of how many bits.
    elements: usize,
    bits: u32,
    /// The opcode without the vector and the type.
    rest: String,
}

impl Access {
    fn parse(opcode: &str) -> Option<Self> {
        let (before, ty) = opcode.rsplit_once('.')?;
        let bits = bits(ty).map(|(bits, _)| bits).filter(|&bits| bits <= MOST)?;
        let mut words = before.split('.');
        let mut rest = words.next()?.to_owned();
        let loads = rest == "ld";
        let (mut elements, mut space) = (1, None);
        for word in words {
            match (word, Space::parse(word)) {
                ("v2", _) => elements = 2,
                ("v4", _) => elements = 4,
                (word, found) if found.is_some() || WEAK.contains(&word) => {
                    space = space.or(found);
                    rest.push('.');
                    rest.push_str(word);
                }
                _ => return None,
            }
        }
        Some(Self { loads, space, elements, bits, rest })
    }
}
