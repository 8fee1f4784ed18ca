//! Lane contents: which byte of which value each byte of a value is.
//!
//! Read from terms, so every spelling of a byte move is understood the same way: selectors, `prmt`, `bfe`, `bfi`,
//! shifts with masks, conversions, packing and unpacking. A byte that is computed is a byte of its own value.

use crate::graph::{Graph, ValueId, inputs_of};
use hashbrown::HashMap;
use ptxopt_grammar::meaning::term::{Op, Term, Terms};

/// The contents of one byte.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Byte {
    /// A number.
    Constant(u8),
    /// Byte `.1` of a value, counted from the lowest.
    Of(ValueId, u8),
    /// Eight copies of the highest bit of that byte.
    SignOf(ValueId, u8),
}

/// The lane contents of the values of a function, found when asked for.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    known: HashMap<ValueId, Vec<Byte>>,
}

impl Contents {
    /// The bytes of a value, the lowest first; none for a value whose width is no number of bytes.
    pub(crate) fn of(&mut self, graph: &Graph<'_, '_>, value: ValueId) -> Vec<Byte> {
        let mut stack = vec![value];
        // A value's operands dominate it, and phis are leaves, so this ends.
        while let Some(&top) = stack.last() {
            if self.known.contains_key(&top) {
                stack.pop();
                continue;
            }
            let own = own(top, graph.value(top).width);
            let Some(def) = graph.value(top).def.filter(|_| !own.is_empty()) else {
                self.known.insert(top, own);
                stack.pop();
                continue;
            };
            let waiting: Vec<ValueId> = inputs_of(graph.terms(), def)
                .into_iter()
                .filter(|leaf| !self.known.contains_key(leaf) && *leaf != top)
                .collect();
            if waiting.is_empty() {
                let bytes = self.of_term(graph, def).unwrap_or_else(|| own.iter().map(|_| None).collect());
                let mut bytes: Vec<Byte> =
                    bytes.into_iter().zip(&own).map(|(byte, &own)| byte.unwrap_or(own)).collect();
                adopt(graph, &own, &mut bytes);
                self.known.insert(top, bytes);
                stack.pop();
            } else {
                stack.extend(waiting);
            }
        }
        self.known.get(&value).cloned().unwrap_or_default()
    }

    /// The bytes that the instruction of a value computes, its guard aside; `None` for those that are computed.
    pub(crate) fn of_core(&mut self, graph: &Graph<'_, '_>, value: ValueId) -> Option<Vec<Option<Byte>>> {
        let core = graph.value(value).core?;
        for leaf in inputs_of(graph.terms(), core) {
            self.of(graph, leaf);
        }
        self.of_term(graph, core)
    }

    /// The bytes of a term over values; `None` for one that is computed.
    fn of_term(&self, graph: &Graph<'_, '_>, root: Term) -> Option<Vec<Known>> {
        let terms = graph.terms();
        if is_computed(terms, root) {
            return Some(vec![None; (terms.width(root) / 8) as usize]);
        }
        let cone = terms.cone(root);
        let mut bytes: HashMap<Term, Vec<Known>> = HashMap::new();
        for term in cone {
            let found = self.one(terms, term, &bytes);
            bytes.insert(term, found);
        }
        bytes.remove(&root)
    }

    /// The same, given those of the terms that it is made of.
    fn one(&self, terms: &Terms, term: Term, below: &HashMap<Term, Vec<Known>>) -> Vec<Known> {
        let width = terms.width(term);
        let count = (width / 8) as usize;
        let nothing = vec![None; count];
        if !width.is_multiple_of(8) {
            return nothing;
        }
        match terms.op(term) {
            Op::Input(number) => {
                let known = self.known.get(&ValueId::of_input(number));
                known.map_or(nothing, |bytes| bytes.iter().map(|&byte| Some(byte)).collect())
            }
            Op::Constant(value) => {
                (0..count).map(|at| Some(Byte::Constant(value.to_le_bytes()[at]))).collect()
            }
            Op::Extract(inner, low) if low.is_multiple_of(8) && terms.width(inner).is_multiple_of(8) => {
                let from = (low / 8) as usize;
                below[&inner][from..from + count].to_vec()
            }
            Op::Concat(high, low) if terms.width(low).is_multiple_of(8) => {
                [&below[&low][..], &below[&high][..]].concat()
            }
            Op::ZeroExtend(inner) if terms.width(inner).is_multiple_of(8) => {
                let mut bytes = below[&inner].clone();
                bytes.resize(count, Some(Byte::Constant(0)));
                bytes
            }
            Op::SignExtend(inner) => sign_extended(terms, inner, below, count),
            Op::And(a, b) => pairs(&below[&a], &below[&b], and),
            Op::Or(a, b) => pairs(&below[&a], &below[&b], or),
            Op::Xor(a, b) => pairs(&below[&a], &below[&b], join),
            Op::Add(a, b) => {
                let joined = pairs(&below[&a], &below[&b], join);
                if joined.iter().all(Option::is_some) { joined } else { nothing }
            }
            Op::Extract(..)
            | Op::Concat(..)
            | Op::ZeroExtend(_)
            | Op::Not(_)
            | Op::Mul(..)
            | Op::UnsignedDivide(..)
            | Op::UnsignedRemainder(..)
            | Op::Shl(..)
            | Op::Lshr(..)
            | Op::Ashr(..)
            | Op::Equal(..)
            | Op::UnsignedLess(..)
            | Op::SignedLess(..) => nothing,
            Op::Choose(condition, then, otherwise) => {
                let spread = spread(terms, condition, below);
                let choose = |(&then, &otherwise): (&Known, &Known)| match (then, otherwise) {
                    (ONES, ZERO) => spread,
                    (then, otherwise) => then.filter(|_| then == otherwise),
                };
                below[&then].iter().zip(&below[&otherwise]).map(choose).collect()
            }
        }
    }
}

type Known = Option<Byte>;

/// Whether no byte of a term is one of a value, which is quick to see of sums of products.
fn is_computed(terms: &Terms, term: Term) -> bool {
    if let Op::Add(a, b) = terms.op(term) {
        return is_computed(terms, b) || is_computed(terms, a);
    }
    matches!(terms.op(term), Op::Mul(..) | Op::UnsignedDivide(..) | Op::UnsignedRemainder(..) | Op::Not(_))
}

fn pairs(a: &[Known], b: &[Known], combine: fn(Known, Known) -> Known) -> Vec<Known> {
    a.iter().zip(b).map(|(&a, &b)| combine(a, b)).collect()
}

const ZERO: Known = Some(Byte::Constant(0));
const ONES: Known = Some(Byte::Constant(0xff));

fn and(a: Known, b: Known) -> Known {
    match (a, b) {
        (Some(Byte::Constant(a)), Some(Byte::Constant(b))) => Some(Byte::Constant(a & b)),
        _ if a == ZERO || b == ZERO => ZERO,
        _ if a == ONES => b,
        _ if b == ONES => a,
        _ if a == b => a,
        _ => None,
    }
}

fn or(a: Known, b: Known) -> Known {
    match (a, b) {
        (Some(Byte::Constant(a)), Some(Byte::Constant(b))) => Some(Byte::Constant(a | b)),
        _ if a == ONES || b == ONES => ONES,
        _ if a == b => a,
        _ => join(a, b),
    }
}

/// Exclusive or, sum: where one is zero it is the other.
fn join(a: Known, b: Known) -> Known {
    if a == ZERO {
        b
    } else if b == ZERO {
        a
    } else {
        None
    }
}

fn sign_extended(terms: &Terms, inner: Term, below: &HashMap<Term, Vec<Known>>, count: usize) -> Vec<Known> {
    let width = terms.width(inner);
    if width.is_multiple_of(8) {
        let mut bytes = below[&inner].clone();
        let sign = match bytes.last().copied().flatten() {
            Some(Byte::Of(value, byte)) => Some(Byte::SignOf(value, byte)),
            Some(Byte::SignOf(value, byte)) => Some(Byte::SignOf(value, byte)),
            Some(Byte::Constant(byte)) => Some(Byte::Constant(if byte >= 0x80 { 0xff } else { 0 })),
            None => None,
        };
        bytes.resize(count, sign);
        return bytes;
    }
    vec![spread(terms, inner, below); count]
}

/// A byte of copies of one bit, if that is the highest of a byte.
fn spread(terms: &Terms, bit: Term, below: &HashMap<Term, Vec<Known>>) -> Known {
    let Op::Extract(of, low) = terms.op(bit) else { return None };
    if terms.width(bit) != 1 || low % 8 != 7 || !terms.width(of).is_multiple_of(8) {
        return None;
    }
    match below[&of][(low / 8) as usize]? {
        Byte::Of(value, byte) | Byte::SignOf(value, byte) => Some(Byte::SignOf(value, byte)),
        Byte::Constant(byte) => Some(Byte::Constant(if byte >= 0x80 { 0xff } else { 0 })),
    }
}

/// Bytes of what no register holds, such as memory, count as those of the first value that has them.
fn adopt(graph: &Graph<'_, '_>, own: &[Byte], bytes: &mut [Byte]) {
    let homeless = |value: ValueId| graph.register_of(value).is_none();
    let before = bytes.to_vec();
    for byte in bytes.iter_mut() {
        let place = |wanted: Byte| before.iter().position(|&byte| byte == wanted).map(|place| own[place]);
        *byte = match *byte {
            Byte::Of(value, _) if homeless(value) => place(*byte).expect("it is one of them"),
            Byte::SignOf(value, at) if homeless(value) => match place(Byte::Of(value, at)).or(place(*byte)) {
                Some(Byte::Of(own, at)) => Byte::SignOf(own, at),
                Some(Byte::Constant(_) | Byte::SignOf(..)) | None => *byte,
            },
            Byte::Constant(_) | Byte::Of(..) | Byte::SignOf(..) => *byte,
        };
    }
}

fn own(value: ValueId, width: u32) -> Vec<Byte> {
    if !width.is_multiple_of(8) {
        return Vec::new();
    }
    (0..width / 8)
        .map(|byte| Byte::Of(value, u8::try_from(byte).expect("a value has at most 16 bytes")))
        .collect()
}
