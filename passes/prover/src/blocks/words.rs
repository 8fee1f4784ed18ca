//! Accesses to several elements as accesses to the words that they make up.
//!
//! A vector access is to consecutive elements, memory is little-endian, and a vector is aligned to its whole size, so
//! `ld.v4.u8` reads the word that `ld.b32` reads from the same address: its elements are that word's bytes, the lowest
//! first. So the shape of such an access is that of the access to the words, and the elements are parts of its results
//! or of what it stores.
//!
//! That holds of weak accesses only, which other threads must not see half done: of others, elements count as accesses
//! of their own. The space and the cache operator stay part of the shape.

use super::shape::{Shape, bits};
use ptxopt_grammar::meaning::term::{Term, Terms};

/// How many bits a word has.
const WORD: u32 = 32;

/// What the opcode of a weak access says besides the elements.
const WEAK: [&str; 10] = ["global", "shared", "local", "const", "weak", "nc", "ca", "cg", "cs", "wt"];

/// Makes the shape of an access, whose opcode and address are these, that of an access to words if it is one.
pub(super) fn join(terms: &mut Terms, opcode: &str, address: &str, shape: &mut Shape) {
    let Some(access) = Access::parse(opcode) else { return };
    let (elements, per_word) = (access.elements, (WORD / access.bits) as usize);
    match shape.operands[..] {
        [_, _] if access.loads && shape.targets.len() == elements => {
            if shape.results.iter().any(|&bits| bits != access.bits) {
                return;
            }
            for (target, at) in shape.targets.iter_mut().zip(0..) {
                target.from = (at as usize / per_word, at % (WORD / access.bits) * access.bits);
            }
            shape.results = vec![WORD; elements / per_word];
        }
        [guard, at, ref stored @ ..] if !access.loads && stored.len() == elements => {
            if stored.iter().any(|&value| terms.width(value) != access.bits) {
                return;
            }
            let mut word = |parts: &[Term]| {
                let (&lowest, rest) = parts.split_first().expect("a word has parts");
                rest.iter().fold(lowest, |low, &high| terms.concat(high, low))
            };
            let words: Vec<Term> = stored.chunks(per_word).map(&mut word).collect();
            shape.operands = [guard, at].into_iter().chain(words).collect();
        }
        _ => return,
    }
    shape.text = format!("{} {} words {address}", access.rest, elements / per_word);
}

/// A weak access to elements that fill words.
struct Access {
    loads: bool,
    /// How many elements there are, and of how many bits.
    elements: usize,
    bits: u32,
    /// The opcode without the vector and the type.
    rest: String,
}

impl Access {
    fn parse(opcode: &str) -> Option<Self> {
        let (before, ty) = opcode.rsplit_once('.')?;
        let bits = bits(ty).map(|(bits, _)| bits).filter(|&bits| bits <= WORD)?;
        let mut words = before.split('.');
        let mut rest = words.next()?.to_owned();
        let loads = rest == "ld";
        let mut elements = 1;
        for word in words {
            match word {
                "v2" => elements = 2,
                "v4" => elements = 4,
                word if WEAK.contains(&word) => {
                    rest.push('.');
                    rest.push_str(word);
                }
                _ => return None,
            }
        }
        (bits * elements).is_multiple_of(WORD).then_some(Self {
            loads,
            elements: elements as usize,
            bits,
            rest,
        })
    }
}
