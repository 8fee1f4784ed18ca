//! Terms: what a piece of code computes, as expressions over words of 1 to 128 bits.
//!
//! A term is built once; evaluation, tests, SMT-LIB output and proofs all read it, so they cannot disagree about what
//! an instruction means. Equal terms are one term: the arena keeps one node per operation and children, orders the
//! operands of commutative operations, folds constants and applies identities that hold for every input. Shifts by
//! constants are wiring ([`Op::Extract`], [`Op::Concat`], extensions), so different spellings of the same bytes become
//! one term. Children have smaller indices than the terms made of them, so a loop in the order of the arena sees
//! children first.

use super::node::Node;
use hashbrown::{DefaultHashBuilder, HashMap, HashSet, HashTable};
use std::collections::BinaryHeap;
use std::hash::BuildHasher;

/// A term of a [`Terms`] arena.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Term(pub(super) u32);

impl Term {
    /// Its place in the arena; children come before the terms made of them.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a term is. Its width is asked of [`Terms::width`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// The input with this number.
    Input(u32),
    /// A number; bits above the width are zero.
    Constant(u128),
    /// Each bit inverted.
    Not(Term),
    /// Bitwise and.
    And(Term, Term),
    /// Bitwise or.
    Or(Term, Term),
    /// Bitwise exclusive or.
    Xor(Term, Term),
    /// The sum, wrapping.
    Add(Term, Term),
    /// The product, wrapping.
    Mul(Term, Term),
    /// The quotient of unsigned numbers; all ones for a divisor of zero.
    UnsignedDivide(Term, Term),
    /// The remainder of unsigned numbers; the dividend for a divisor of zero.
    UnsignedRemainder(Term, Term),
    /// The first shifted left by the second, which has the same width and is unsigned; from the width on: zero.
    Shl(Term, Term),
    /// The first shifted right by the second, filled with zeros; from the width on: zero.
    Lshr(Term, Term),
    /// The first shifted right by the second, filled with the sign; from the width on: only signs.
    Ashr(Term, Term),
    /// As many bits as the width says, from this one upwards.
    Extract(Term, u32),
    /// The first above the second.
    Concat(Term, Term),
    /// Zeros above.
    ZeroExtend(Term),
    /// Copies of the sign above.
    SignExtend(Term),
    /// One bit: whether they are equal.
    Equal(Term, Term),
    /// One bit: whether the first is less, both unsigned.
    UnsignedLess(Term, Term),
    /// One bit: whether the first is less, both signed.
    SignedLess(Term, Term),
    /// The second where the first, one bit, is set, else the third.
    Choose(Term, Term, Term),
}

/// The most bits that a term has.
pub const MOST_BITS: u32 = 128;

/// The number whose lowest `width` bits are set.
#[must_use]
pub const fn ones(width: u32) -> u128 {
    if width >= MOST_BITS { u128::MAX } else { (1 << width) - 1 }
}

/// `value` of `width` bits as a signed number.
#[must_use]
pub const fn signed(value: u128, width: u32) -> i128 {
    let unused = MOST_BITS - width;
    (value << unused).cast_signed() >> unused
}

/// An arena of terms.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    nodes: Vec<Node>,
    /// The numbers among the terms.
    numbers: Vec<u128>,
    /// All terms, found by what they are.
    known: HashTable<Term>,
    hasher: DefaultHashBuilder,
}

impl Terms {
    /// No terms yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many terms there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are no terms.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// What a term is.
    #[must_use]
    pub fn op(&self, term: Term) -> Op {
        self.nodes[term.index()].op(&self.numbers)
    }

    /// How many bits it has.
    #[must_use]
    pub fn width(&self, term: Term) -> u32 {
        self.nodes[term.index()].width()
    }

    /// All terms, children first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Term> + ExactSizeIterator + use<> {
        (0..u32::try_from(self.nodes.len()).expect("no more terms than their numbers allow")).map(Term)
    }

    /// The terms but the first so many, children first.
    pub fn since(&self, first: usize) -> impl ExactSizeIterator<Item = Term> + use<> {
        let number = |count: usize| u32::try_from(count).expect("no more terms than their numbers allow");
        (number(first)..number(self.nodes.len())).map(Term)
    }

    /// The number that a term is, if it is one.
    #[must_use]
    pub fn value(&self, term: Term) -> Option<u128> {
        if let Op::Constant(value) = self.op(term) { Some(value) } else { None }
    }

    /// The terms that a term is made of.
    pub fn children(&self, term: Term) -> impl Iterator<Item = Term> + use<> {
        let children = match self.op(term) {
            Op::Input(_) | Op::Constant(_) => [None; 3],
            Op::Not(a) | Op::Extract(a, _) | Op::ZeroExtend(a) | Op::SignExtend(a) => [Some(a), None, None],
            Op::And(a, b)
            | Op::Or(a, b)
            | Op::Xor(a, b)
            | Op::Add(a, b)
            | Op::Mul(a, b)
            | Op::UnsignedDivide(a, b)
            | Op::UnsignedRemainder(a, b)
            | Op::Shl(a, b)
            | Op::Lshr(a, b)
            | Op::Ashr(a, b)
            | Op::Concat(a, b)
            | Op::Equal(a, b)
            | Op::UnsignedLess(a, b)
            | Op::SignedLess(a, b) => [Some(a), Some(b), None],
            Op::Choose(condition, then, otherwise) => [Some(condition), Some(then), Some(otherwise)],
        };
        children.into_iter().flatten()
    }

    /// All terms that a term is made of, itself included, children first.
    #[must_use]
    pub fn cone(&self, root: Term) -> Vec<Term> {
        // Children have smaller indices than what is made of them, so the copies of a term come out together.
        let mut waiting = BinaryHeap::from([root]);
        let mut cone: Vec<Term> = Vec::new();
        while let Some(term) = waiting.pop() {
            if cone.last() != Some(&term) {
                cone.push(term);
                waiting.extend(self.children(term));
            }
        }
        cone.reverse();
        cone
    }

    /// Whether some terms are made of no more than so many, themselves included.
    #[must_use]
    pub fn has_at_most(&self, roots: &[Term], most: usize) -> bool {
        let mut seen: HashSet<Term> = HashSet::new();
        let mut stack = roots.to_vec();
        while let Some(next) = stack.pop() {
            if seen.insert(next) {
                if seen.len() > most {
                    return false;
                }
                stack.extend(self.children(next));
            }
        }
        true
    }

    fn make(&mut self, op: Op, width: u32) -> Term {
        assert!((1..=MOST_BITS).contains(&width), "a term has 1 to {MOST_BITS} bits, not {width}");
        let Self { nodes, numbers, known, hasher } = self;
        let hash = hasher.hash_one((op, width));
        let is_it = |&term: &Term| {
            let node = nodes[term.index()];
            node.width() == width && node.op(numbers) == op
        };
        if let Some(&term) = known.find(hash, is_it) {
            return term;
        }
        let term = Term(u32::try_from(nodes.len()).expect("memory ends before the numbers of terms"));
        nodes.push(Node::of(op, width, numbers));
        let again = |term: &Term| {
            let node = nodes[term.index()];
            hasher.hash_one((node.op(numbers), node.width()))
        };
        known.insert_unique(hash, term, again);
        term
    }

    /// The input with this number.
    pub fn input(&mut self, number: u32, width: u32) -> Term {
        self.make(Op::Input(number), width)
    }

    /// A number; bits of `value` above the width are dropped.
    pub fn constant(&mut self, value: u128, width: u32) -> Term {
        self.make(Op::Constant(value & ones(width)), width)
    }

    /// One bit.
    pub fn bit(&mut self, value: bool) -> Term {
        self.constant(u128::from(value), 1)
    }

    /// The width of two operands that must have the same.
    fn common(&self, a: Term, b: Term) -> u32 {
        let width = self.width(a);
        assert_eq!(width, self.width(b), "both operands have the same width");
        width
    }

    /// The operands of a commutative operation in canonical order, a constant last.
    fn ordered(&self, a: Term, b: Term) -> (Term, Term) {
        let key = |term: Term| (self.value(term).is_some(), term);
        if key(b) < key(a) { (b, a) } else { (a, b) }
    }

    /// Whether one is the complement of the other.
    fn complementary(&self, a: Term, b: Term) -> bool {
        self.op(a) == Op::Not(b) || self.op(b) == Op::Not(a)
    }

    /// Each bit inverted.
    pub fn not(&mut self, a: Term) -> Term {
        let width = self.width(a);
        match (self.op(a), self.value(a)) {
            (_, Some(value)) => self.constant(!value, width),
            (Op::Not(inner), None) => inner,
            _ => self.make(Op::Not(a), width),
        }
    }

    /// Bitwise and.
    pub fn and(&mut self, a: Term, b: Term) -> Term {
        let width = self.common(a, b);
        let (a, b) = self.ordered(a, b);
        match (self.value(a), self.value(b)) {
            (Some(a), Some(b)) => self.constant(a & b, width),
            (None, Some(0)) => b,
            (None, Some(value)) if value == ones(width) => a,
            (None, Some(value)) => {
                if let Op::And(inner, low) = self.op(a)
                    && let Some(mask) = self.value(low)
                {
                    let mask = self.constant(mask & value, width);
                    return self.and(inner, mask);
                }
                self.make(Op::And(a, b), width)
            }
            (_, None) if a == b => a,
            (_, None) if self.complementary(a, b) => self.constant(0, width),
            (_, None) => self.make(Op::And(a, b), width),
        }
    }

    /// Bitwise or.
    pub fn or(&mut self, a: Term, b: Term) -> Term {
        let width = self.common(a, b);
        let (a, b) = self.ordered(a, b);
        match (self.value(a), self.value(b)) {
            (Some(a), Some(b)) => self.constant(a | b, width),
            (None, Some(0)) => a,
            (None, Some(value)) if value == ones(width) => b,
            (_, None) if a == b => a,
            (_, None) if self.complementary(a, b) => self.constant(ones(width), width),
            (_, _) => self.make(Op::Or(a, b), width),
        }
    }

    /// Bitwise exclusive or.
    pub fn xor(&mut self, a: Term, b: Term) -> Term {
        let width = self.common(a, b);
        let (a, b) = self.ordered(a, b);
        match (self.value(a), self.value(b)) {
            (Some(a), Some(b)) => self.constant(a ^ b, width),
            (None, Some(0)) => a,
            (None, Some(value)) if value == ones(width) => self.not(a),
            (_, None) if a == b => self.constant(0, width),
            (_, None) if self.complementary(a, b) => self.constant(ones(width), width),
            (_, _) => self.make(Op::Xor(a, b), width),
        }
    }

    /// The sum, wrapping.
    pub fn add(&mut self, a: Term, b: Term) -> Term {
        let width = self.common(a, b);
        let (a, b) = self.ordered(a, b);
        match (self.value(a), self.value(b)) {
            (Some(a), Some(b)) => self.constant(a.wrapping_add(b), width),
            (None, Some(0)) => a,
            (None, Some(value)) => {
                if let Op::Add(inner, low) = self.op(a)
                    && let Some(more) = self.value(low)
                {
                    let sum = self.constant(value.wrapping_add(more), width);
                    return self.add(inner, sum);
                }
                // Less one bit is as many ones as there are.
                if let (1, Op::Not(inverted)) = (value, self.op(a))
                    && let Op::ZeroExtend(bit) = self.op(inverted)
                    && self.width(bit) == 1
                {
                    return self.sign_extend(bit, width);
                }
                self.make(Op::Add(a, b), width)
            }
            (_, None) if self.complementary(a, b) => self.constant(ones(width), width),
            (_, None) => self.make(Op::Add(a, b), width),
        }
    }

    /// The first less the second, wrapping.
    pub fn sub(&mut self, a: Term, b: Term) -> Term {
        let width = self.common(a, b);
        if a == b {
            return self.constant(0, width);
        }
        let one = self.constant(1, width);
        let inverted = self.not(b);
        let negated = self.add(inverted, one);
        self.add(a, negated)
    }

    /// Zero less the term, wrapping.
    pub fn neg(&mut self, a: Term) -> Term {
        let zero = self.constant(0, self.width(a));
        self.sub(zero, a)
    }

    /// The product, wrapping.
    pub fn mul(&mut self, a: Term, b: Term) -> Term {
        let width = self.common(a, b);
        let (a, b) = self.ordered(a, b);
        match (self.value(a), self.value(b)) {
            (Some(a), Some(b)) => self.constant(a.wrapping_mul(b), width),
            (None, Some(0)) => b,
            (None, Some(value)) if value.is_power_of_two() => {
                let amount = self.constant(u128::from(value.trailing_zeros()), width);
                self.shl(a, amount)
            }
            (_, _) => self.make(Op::Mul(a, b), width),
        }
    }

    /// The quotient of unsigned numbers; all ones for a divisor of zero.
    pub fn unsigned_divide(&mut self, a: Term, b: Term) -> Term {
        let width = self.common(a, b);
        match (self.value(a), self.value(b)) {
            (_, Some(0)) => self.constant(ones(width), width),
            (Some(a), Some(b)) => self.constant(a / b, width),
            (_, Some(value)) if value.is_power_of_two() => {
                let amount = self.constant(u128::from(value.trailing_zeros()), width);
                self.lshr(a, amount)
            }
            (_, _) => self.make(Op::UnsignedDivide(a, b), width),
        }
    }

    /// The remainder of unsigned numbers; the dividend for a divisor of zero.
    pub fn unsigned_remainder(&mut self, a: Term, b: Term) -> Term {
        let width = self.common(a, b);
        match (self.value(a), self.value(b)) {
            (_, Some(0)) => a,
            (Some(a), Some(b)) => self.constant(a % b, width),
            (_, Some(value)) if value.is_power_of_two() => {
                let mask = self.constant(value - 1, width);
                self.and(a, mask)
            }
            (_, _) => self.make(Op::UnsignedRemainder(a, b), width),
        }
    }

    /// The amount of a shift, if it is a number; at most the width.
    fn amount(&self, b: Term, width: u32) -> Option<u32> {
        let value = self.value(b)?;
        Some(u32::try_from(value).map_or(width, |value| value.min(width)))
    }

    /// The first shifted left by the second, which is unsigned; from the width on: zero.
    pub fn shl(&mut self, a: Term, b: Term) -> Term {
        let width = self.common(a, b);
        match self.amount(b, width) {
            Some(0) => a,
            Some(amount) if amount == width => self.constant(0, width),
            Some(amount) => {
                let kept = self.extract(a, 0, width - amount);
                let zeros = self.constant(0, amount);
                self.concat(kept, zeros)
            }
            None => self.make(Op::Shl(a, b), width),
        }
    }

    /// The first shifted right by the second, filled with zeros; from the width on: zero.
    pub fn lshr(&mut self, a: Term, b: Term) -> Term {
        let width = self.common(a, b);
        match self.amount(b, width) {
            Some(amount) if amount == width => self.constant(0, width),
            Some(amount) => {
                let kept = self.extract(a, amount, width - amount);
                self.zero_extend(kept, width)
            }
            None => self.make(Op::Lshr(a, b), width),
        }
    }

    /// The first shifted right by the second, filled with the sign; from the width on: only signs.
    pub fn ashr(&mut self, a: Term, b: Term) -> Term {
        let width = self.common(a, b);
        match self.amount(b, width) {
            Some(amount) => {
                let amount = amount.min(width - 1);
                let kept = self.extract(a, amount, width - amount);
                self.sign_extend(kept, width)
            }
            None => self.make(Op::Ashr(a, b), width),
        }
    }

    /// `width` bits from `low` upwards.
    pub fn extract(&mut self, a: Term, low: u32, width: u32) -> Term {
        let whole = self.width(a);
        assert!(low + width <= whole, "bits {low} to {} of {whole}", low + width);
        if width == whole {
            return a;
        }
        // Each step goes one level down and concatenations are at most as deep as they have bits.
        match self.op(a) {
            Op::Constant(value) => self.constant(value >> low, width),
            Op::Extract(inner, base) => self.extract(inner, base + low, width),
            Op::Concat(_, under) if low + width <= self.width(under) => self.extract(under, low, width),
            Op::Concat(above, under) if low >= self.width(under) => {
                self.extract(above, low - self.width(under), width)
            }
            Op::Concat(above, under) => {
                let border = self.width(under) - low;
                let under = self.extract(under, low, border);
                let above = self.extract(above, 0, width - border);
                self.concat(above, under)
            }
            Op::ZeroExtend(inner) => {
                let kept = self.width(inner);
                if low >= kept {
                    self.constant(0, width)
                } else if low + width <= kept {
                    self.extract(inner, low, width)
                } else {
                    let part = self.extract(inner, low, kept - low);
                    self.zero_extend(part, width)
                }
            }
            Op::SignExtend(inner) => {
                let kept = self.width(inner);
                if low + width <= kept {
                    self.extract(inner, low, width)
                } else {
                    let low = low.min(kept - 1);
                    let part = self.extract(inner, low, kept - low);
                    self.sign_extend(part, width)
                }
            }
            Op::Input(_)
            | Op::Not(_)
            | Op::And(..)
            | Op::Or(..)
            | Op::Xor(..)
            | Op::Add(..)
            | Op::Mul(..)
            | Op::UnsignedDivide(..)
            | Op::UnsignedRemainder(..)
            | Op::Shl(..)
            | Op::Lshr(..)
            | Op::Ashr(..)
            | Op::Equal(..)
            | Op::UnsignedLess(..)
            | Op::SignedLess(..)
            | Op::Choose(..) => self.make(Op::Extract(a, low), width),
        }
    }

    /// Parts side by side, the lowest first; `None` if there are none.
    pub fn side_by_side(&mut self, parts: impl IntoIterator<Item = Term>) -> Option<Term> {
        parts.into_iter().reduce(|low, high| self.concat(high, low))
    }

    /// `high` above `low`.
    pub fn concat(&mut self, high: Term, low: Term) -> Term {
        let width = self.width(high) + self.width(low);
        match (self.op(high), self.op(low)) {
            (Op::Constant(0), _) => self.zero_extend(low, width),
            (Op::Constant(above), Op::Constant(under)) => {
                self.constant(above << self.width(low) | under, width)
            }
            // Concatenations nest in their low part, like a list, so that equal neighbours are found and joined.
            (Op::Concat(above, middle), _) => {
                let under = self.concat(middle, low);
                self.concat(above, under)
            }
            (Op::ZeroExtend(inner), _) => {
                let under = self.concat(inner, low);
                self.zero_extend(under, width)
            }
            (_, Op::Concat(middle, under)) => match self.joined(high, middle) {
                Some(above) => self.concat(above, under),
                None => self.make(Op::Concat(high, low), width),
            },
            (_, _) => self.joined(high, low).unwrap_or_else(|| self.make(Op::Concat(high, low), width)),
        }
    }

    /// Two neighbours as one, if they are neighbours: parts of the same term, constants, or copies of a sign above the
    /// number that it is of.
    fn joined(&mut self, high: Term, low: Term) -> Option<Term> {
        let width = self.width(high) + self.width(low);
        match (self.op(high), self.op(low)) {
            (Op::Constant(above), Op::Constant(under)) => {
                Some(self.constant(above << self.width(low) | under, width))
            }
            (Op::Extract(above, from), Op::Extract(under, base))
                if above == under && from == base + self.width(low) =>
            {
                Some(self.extract(under, base, width))
            }
            (Op::SignExtend(sign), _) if self.width(sign) == 1 => {
                let highest = self.extract(low, self.width(low) - 1, 1);
                (sign == highest).then(|| self.sign_extend(low, width))
            }
            (_, _) => None,
        }
    }

    /// Zeros above, up to `width`.
    pub fn zero_extend(&mut self, a: Term, width: u32) -> Term {
        assert!(width >= self.width(a), "an extension does not cut");
        if width == self.width(a) {
            return a;
        }
        if let Some(value) = self.value(a) {
            return self.constant(value, width);
        }
        let inner = if let Op::ZeroExtend(inner) = self.op(a) { inner } else { a };
        self.make(Op::ZeroExtend(inner), width)
    }

    /// Copies of the sign above, up to `width`.
    pub fn sign_extend(&mut self, a: Term, width: u32) -> Term {
        assert!(width >= self.width(a), "an extension does not cut");
        if width == self.width(a) {
            return a;
        }
        if let Some(value) = self.value(a) {
            return self.constant(signed(value, self.width(a)).cast_unsigned(), width);
        }
        // A zero extension has at least one zero at the top, so its sign is zero.
        if let Op::ZeroExtend(inner) = self.op(a) {
            return self.make(Op::ZeroExtend(inner), width);
        }
        let inner = if let Op::SignExtend(inner) = self.op(a) { inner } else { a };
        self.make(Op::SignExtend(inner), width)
    }

    /// A term of another arena, made of other inputs: `input` gives the term that stands for each.
    ///
    /// # Panics
    ///
    /// If a stand-in has another width than the input.
    pub fn import(&mut self, from: &Self, root: Term, input: &mut dyn FnMut(u32) -> Term) -> Term {
        self.rebuild(&from.cone(root), |_, term| (from.op(term), from.width(term)), input)
    }

    /// A term made of other inputs: `input` gives the term that stands for each.
    ///
    /// # Panics
    ///
    /// If a stand-in has another width than the input.
    pub fn substitute(&mut self, root: Term, input: &mut dyn FnMut(u32) -> Term) -> Term {
        self.rebuild(&self.cone(root), |own, term| (own.op(term), own.width(term)), input)
    }

    /// The last of some terms, each of which comes after what it is made of; `node` says what each is.
    fn rebuild(
        &mut self,
        cone: &[Term],
        node: impl Fn(&Self, Term) -> (Op, u32),
        input: &mut dyn FnMut(u32) -> Term,
    ) -> Term {
        let mut made: HashMap<Term, Term> = HashMap::with_capacity(cone.len());
        let mut last = None;
        for &term in cone {
            let (op, width) = node(self, term);
            let new = if let Op::Input(number) = op {
                input(number)
            } else {
                self.apply(op, width, &mut |child| made[&child])
            };
            assert_eq!(self.width(new), width, "what stands for an input has its width");
            made.insert(term, new);
            last = Some(new);
        }
        last.expect("a cone has its root")
    }

    /// The operation of a term of another arena on operands of this one: `of` gives what stands for each. An input
    /// keeps its number.
    pub fn copy(&mut self, from: &Self, term: Term, of: &mut dyn FnMut(Term) -> Term) -> Term {
        self.apply(from.op(term), from.width(term), of)
    }

    /// An operation on other operands: `of` gives what stands for each.
    fn apply(&mut self, op: Op, width: u32, of: &mut dyn FnMut(Term) -> Term) -> Term {
        match op {
            Op::Input(number) => self.input(number, width),
            Op::Constant(value) => self.constant(value, width),
            Op::Not(a) => self.not(of(a)),
            Op::And(a, b) => self.and(of(a), of(b)),
            Op::Or(a, b) => self.or(of(a), of(b)),
            Op::Xor(a, b) => self.xor(of(a), of(b)),
            Op::Add(a, b) => self.add(of(a), of(b)),
            Op::Mul(a, b) => self.mul(of(a), of(b)),
            Op::UnsignedDivide(a, b) => self.unsigned_divide(of(a), of(b)),
            Op::UnsignedRemainder(a, b) => self.unsigned_remainder(of(a), of(b)),
            Op::Shl(a, b) => self.shl(of(a), of(b)),
            Op::Lshr(a, b) => self.lshr(of(a), of(b)),
            Op::Ashr(a, b) => self.ashr(of(a), of(b)),
            Op::Extract(a, low) => self.extract(of(a), low, width),
            Op::Concat(a, b) => self.concat(of(a), of(b)),
            Op::ZeroExtend(a) => self.zero_extend(of(a), width),
            Op::SignExtend(a) => self.sign_extend(of(a), width),
            Op::Equal(a, b) => self.equal(of(a), of(b)),
            Op::UnsignedLess(a, b) => self.unsigned_less(of(a), of(b)),
            Op::SignedLess(a, b) => self.signed_less(of(a), of(b)),
            Op::Choose(a, b, c) => self.choose(of(a), of(b), of(c)),
        }
    }

    /// One bit: whether they are equal.
    pub fn equal(&mut self, a: Term, b: Term) -> Term {
        let width = self.common(a, b);
        let (a, b) = self.ordered(a, b);
        match (self.value(a), self.value(b)) {
            (Some(a), Some(b)) => self.bit(a == b),
            (None, Some(1)) if width == 1 => a,
            (None, Some(_zero)) if width == 1 => self.not(a),
            (_, _) if a == b => self.bit(true),
            (_, _) if self.complementary(a, b) => self.bit(false),
            (None, Some(value)) => self.equal_to_number(a, b, value),
            (_, _) => self.make(Op::Equal(a, b), 1),
        }
    }

    /// Whether a term equals a number, which is `number` too: of a masked word, one bit of it may tell.
    fn equal_to_number(&mut self, a: Term, number: Term, value: u128) -> Term {
        if let Op::And(word, mask) = self.op(a)
            && let Some(mask) = self.value(mask).filter(|mask| mask.is_power_of_two())
            && (value == 0 || value == mask)
        {
            let bit = self.extract(word, mask.trailing_zeros(), 1);
            return if value == 0 { self.not(bit) } else { bit };
        }
        self.make(Op::Equal(a, number), 1)
    }

    /// One bit: whether the first is less, both unsigned.
    pub fn unsigned_less(&mut self, a: Term, b: Term) -> Term {
        let width = self.common(a, b);
        match (self.value(a), self.value(b)) {
            (Some(a), Some(b)) => self.bit(a < b),
            (None, Some(0)) => self.bit(false),
            (None, Some(1)) => {
                let zero = self.constant(0, width);
                self.equal(a, zero)
            }
            (Some(value), None) if value == ones(width) => self.bit(false),
            (_, _) if a == b => self.bit(false),
            (_, _) => self.make(Op::UnsignedLess(a, b), 1),
        }
    }

    /// One bit: whether the first is less, both signed.
    pub fn signed_less(&mut self, a: Term, b: Term) -> Term {
        let width = self.common(a, b);
        match (self.value(a), self.value(b)) {
            (Some(a), Some(b)) => self.bit(signed(a, width) < signed(b, width)),
            (None, Some(0)) => self.extract(a, width - 1, 1),
            (_, _) if a == b => self.bit(false),
            (_, _) => self.make(Op::SignedLess(a, b), 1),
        }
    }

    /// `then` where the bit `condition` is set, else `otherwise`.
    pub fn choose(&mut self, condition: Term, then: Term, otherwise: Term) -> Term {
        assert_eq!(self.width(condition), 1, "a condition is one bit");
        let width = self.common(then, otherwise);
        match (self.value(condition), self.op(condition)) {
            (Some(0), _) => otherwise,
            (Some(_one), _) => then,
            (None, _) if then == otherwise => then,
            (None, Op::Not(inner)) => self.choose(inner, otherwise, then),
            (None, _) if width == 1 => match (self.value(then), self.value(otherwise)) {
                (Some(0), _) => {
                    let off = self.not(condition);
                    self.and(off, otherwise)
                }
                (Some(_one), _) => self.or(condition, otherwise),
                (None, Some(0)) => self.and(condition, then),
                (None, Some(_one)) => {
                    let off = self.not(condition);
                    self.or(off, then)
                }
                (None, None) => self.make(Op::Choose(condition, then, otherwise), 1),
            },
            (None, _) => match self.chosen_anyway(condition, [then, otherwise]) {
                Some(same) => same,
                None => self.make(Op::Choose(condition, then, otherwise), width),
            },
        }
    }

    /// What the smaller of a word and the greatest number is, or the greater of a word and zero: the word. So is the choice
    /// of one of two words by whether they are equal.
    fn chosen_anyway(&self, condition: Term, [then, otherwise]: [Term; 2]) -> Option<Term> {
        let op = self.op(condition);
        if let Op::Equal(a, b) = op {
            return ([a, b] == [then, otherwise] || [b, a] == [then, otherwise]).then_some(otherwise);
        }
        let Op::UnsignedLess(less, greater) = op else { return None };
        let is_most = self.value(greater) == Some(ones(self.width(greater)));
        let is_least = self.value(less) == Some(0);
        (is_most && [then, otherwise] == [less, greater] || is_least && [then, otherwise] == [greater, less])
            .then_some(then)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_terms_are_one() {
        let mut terms = Terms::new();
        let (a, b) = (terms.input(0, 32), terms.input(1, 32));
        assert_eq!(terms.add(a, b), terms.add(b, a));
        let (one, two) = (terms.constant(1, 32), terms.constant(2, 32));
        let left = terms.add(a, one);
        let left = terms.add(left, one);
        assert_eq!(left, terms.add(a, two));
        let minus = terms.sub(a, b);
        assert_ne!(minus, terms.sub(b, a));
    }

    #[test]
    fn the_smaller_of_a_word_and_the_greatest_number_is_the_word() {
        let mut terms = Terms::new();
        let a = terms.input(0, 8);
        let [most, less, zero] = [255, 254, 0].map(|value| terms.constant(value, 8));
        let mut smaller = |x: Term, y: Term| {
            let is_less = terms.unsigned_less(x, y);
            [terms.choose(is_less, x, y), terms.choose(is_less, y, x)]
        };
        assert_eq!(smaller(a, most)[0], a);
        assert_eq!(smaller(zero, a)[1], a);
        assert_ne!(smaller(a, most)[1], a);
        assert_ne!(smaller(a, less)[0], a);
        assert_ne!(smaller(zero, a)[0], a);
    }

    #[test]
    fn the_choice_of_one_of_two_words_by_whether_they_are_equal_is_one_of_them() {
        let mut terms = Terms::new();
        let [a, b, c] = [0, 1, 2].map(|number| terms.input(number, 8));
        let is_equal = terms.equal(a, b);
        let [one, other] = [[a, b], [b, a]].map(|[x, y]| terms.choose(is_equal, x, y));
        assert_eq!([one, other], [b, a]);
        let third = terms.choose(is_equal, a, c);
        assert!(matches!(terms.op(third), Op::Choose(..)));
    }

    #[test]
    fn a_bit_that_is_masked_and_compared_is_that_bit() {
        let mut terms = Terms::new();
        let a = terms.input(0, 32);
        let [mask, zero, other] = [16, 0, 1].map(|value| terms.constant(value, 32));
        let masked = terms.and(a, mask);
        let bit = terms.extract(a, 4, 1);
        assert_eq!(terms.equal(masked, mask), bit);
        let clear = terms.not(bit);
        assert_eq!(terms.equal(masked, zero), clear);
        let equal = terms.equal(masked, other);
        assert!(matches!(terms.op(equal), Op::Equal(..)));
    }

    #[test]
    fn less_one_bit_is_as_many_ones() {
        let mut terms = Terms::new();
        let bit = terms.input(0, 1);
        let wide = terms.zero_extend(bit, 8);
        let negated = terms.neg(wide);
        assert_eq!(negated, terms.sign_extend(bit, 8));
        let two = terms.input(1, 2);
        let wide = terms.zero_extend(two, 8);
        let negated = terms.neg(wide);
        assert!(matches!(terms.op(negated), Op::Add(..)));
    }

    #[test]
    fn spellings_of_bytes_meet() {
        let mut terms = Terms::new();
        let a = terms.input(0, 32);
        let eight = terms.constant(8, 32);
        let shifted = terms.lshr(a, eight);
        let byte = terms.extract(shifted, 0, 8);
        assert_eq!(byte, terms.extract(a, 8, 8));
        let bytes: Vec<Term> = (0..4).map(|lane| terms.extract(a, 8 * lane, 8)).collect();
        let low = terms.concat(bytes[1], bytes[0]);
        let high = terms.concat(bytes[3], bytes[2]);
        assert_eq!(terms.concat(high, low), a);
        let all = terms.concat(bytes[2], low);
        assert_eq!(terms.concat(bytes[3], all), a);
    }

    #[test]
    fn constants_fold() {
        let mut terms = Terms::new();
        let a = terms.constant(0x80, 8);
        let b = terms.constant(1, 8);
        assert_eq!(terms.sub(a, b), terms.constant(0x7f, 8));
        assert_eq!(terms.signed_less(a, b), terms.bit(true));
        assert_eq!(terms.unsigned_less(a, b), terms.bit(false));
        assert_eq!(terms.sign_extend(a, 128), terms.constant(u128::MAX << 7, 128));
    }
}
