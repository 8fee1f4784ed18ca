//! Terms as an arena stores them: 16 bytes each, with numbers in a list of their own.
//!
//! An [`Op`] has room for 128 bits, which only numbers need.

use super::term::{Op, Term};

/// What is stored of a term.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    kind: Kind,
    width: u8,
    parts: [u32; 3],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Input,
    Constant,
    Not,
    And,
    Or,
    Xor,
    Add,
    Mul,
    UnsignedDivide,
    UnsignedRemainder,
    Shl,
    Lshr,
    Ashr,
    Extract,
    Concat,
    ZeroExtend,
    SignExtend,
    Equal,
    UnsignedLess,
    SignedLess,
    Choose,
}

impl Node {
    /// A term of at most 128 bits; its number, if it is one, is put into the list.
    pub(super) fn of(op: Op, width: u32, numbers: &mut Vec<u128>) -> Self {
        let pair = |a: Term, b: Term| [a.0, b.0, 0];
        let (kind, parts) = match op {
            Op::Input(number) => (Kind::Input, [number, 0, 0]),
            Op::Constant(value) => {
                let place = u32::try_from(numbers.len()).expect("there are no more numbers than terms");
                numbers.push(value);
                (Kind::Constant, [place, 0, 0])
            }
            Op::Not(a) => (Kind::Not, [a.0, 0, 0]),
            Op::And(a, b) => (Kind::And, pair(a, b)),
            Op::Or(a, b) => (Kind::Or, pair(a, b)),
            Op::Xor(a, b) => (Kind::Xor, pair(a, b)),
            Op::Add(a, b) => (Kind::Add, pair(a, b)),
            Op::Mul(a, b) => (Kind::Mul, pair(a, b)),
            Op::UnsignedDivide(a, b) => (Kind::UnsignedDivide, pair(a, b)),
            Op::UnsignedRemainder(a, b) => (Kind::UnsignedRemainder, pair(a, b)),
            Op::Shl(a, b) => (Kind::Shl, pair(a, b)),
            Op::Lshr(a, b) => (Kind::Lshr, pair(a, b)),
            Op::Ashr(a, b) => (Kind::Ashr, pair(a, b)),
            Op::Extract(a, low) => (Kind::Extract, [a.0, low, 0]),
            Op::Concat(a, b) => (Kind::Concat, pair(a, b)),
            Op::ZeroExtend(a) => (Kind::ZeroExtend, [a.0, 0, 0]),
            Op::SignExtend(a) => (Kind::SignExtend, [a.0, 0, 0]),
            Op::Equal(a, b) => (Kind::Equal, pair(a, b)),
            Op::UnsignedLess(a, b) => (Kind::UnsignedLess, pair(a, b)),
            Op::SignedLess(a, b) => (Kind::SignedLess, pair(a, b)),
            Op::Choose(a, b, c) => (Kind::Choose, [a.0, b.0, c.0]),
        };
        Self { kind, width: u8::try_from(width).expect("a term has at most 128 bits"), parts }
    }

    /// What the term is.
    pub(super) fn op(self, numbers: &[u128]) -> Op {
        let [first, second, third] = self.parts;
        let (a, b) = (Term(first), Term(second));
        match self.kind {
            Kind::Input => Op::Input(first),
            Kind::Constant => Op::Constant(numbers[first as usize]),
            Kind::Not => Op::Not(a),
            Kind::And => Op::And(a, b),
            Kind::Or => Op::Or(a, b),
            Kind::Xor => Op::Xor(a, b),
            Kind::Add => Op::Add(a, b),
            Kind::Mul => Op::Mul(a, b),
            Kind::UnsignedDivide => Op::UnsignedDivide(a, b),
            Kind::UnsignedRemainder => Op::UnsignedRemainder(a, b),
            Kind::Shl => Op::Shl(a, b),
            Kind::Lshr => Op::Lshr(a, b),
            Kind::Ashr => Op::Ashr(a, b),
            Kind::Extract => Op::Extract(a, second),
            Kind::Concat => Op::Concat(a, b),
            Kind::ZeroExtend => Op::ZeroExtend(a),
            Kind::SignExtend => Op::SignExtend(a),
            Kind::Equal => Op::Equal(a, b),
            Kind::UnsignedLess => Op::UnsignedLess(a, b),
            Kind::SignedLess => Op::SignedLess(a, b),
            Kind::Choose => Op::Choose(a, b, Term(third)),
        }
    }

    /// How many bits it has.
    pub(super) fn width(self) -> u32 {
        self.width.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_comes_back_as_it_was() {
        let [a, b, c] = [Term(7), Term(u32::MAX), Term(0)];
        let all = [
            Op::Input(5),
            Op::Constant(u128::MAX),
            Op::Constant(1),
            Op::Not(a),
            Op::And(a, b),
            Op::Or(a, b),
            Op::Xor(a, b),
            Op::Add(a, b),
            Op::Mul(a, b),
            Op::UnsignedDivide(a, b),
            Op::UnsignedRemainder(a, b),
            Op::Shl(a, b),
            Op::Lshr(a, b),
            Op::Ashr(a, b),
            Op::Extract(a, 31),
            Op::Concat(a, b),
            Op::ZeroExtend(a),
            Op::SignExtend(a),
            Op::Equal(a, b),
            Op::UnsignedLess(a, b),
            Op::SignedLess(a, b),
            Op::Choose(a, b, c),
        ];
        let mut numbers = Vec::new();
        for op in all {
            let node = Node::of(op, 128, &mut numbers);
            assert_eq!((node.op(&numbers), node.width()), (op, 128));
        }
        assert_eq!(size_of::<Node>(), 16);
    }
}
