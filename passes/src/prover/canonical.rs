//! The part of an arena that a question is about, in an order that depends on nothing else.
//!
//! Numbers of terms and inputs depend on what else was built before. Here operands of commutative operations are
//! ordered by what they are made of, and inputs are numbered in order of first use, so the same question is the
//! same text: it is the key of the cache, and what is done with it repeats exactly. Hashes only choose an order;
//! that two questions are the same is decided by comparing all of them.

use super::query::Assumption;
use hashbrown::HashMap;
use ptxopt_grammar::meaning::term::{Op, Term, Terms};

/// An operation without its operands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Kind {
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

impl Kind {
    fn commutes(self) -> bool {
        matches!(self, Self::And | Self::Or | Self::Xor | Self::Add | Self::Mul | Self::Equal)
    }
}

/// A term with the numbers of its operands in the cone; where there are fewer than three, the rest are zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Word {
    pub(super) kind: Kind,
    pub(super) width: u32,
    /// The constant, the number of the input, or the lowest bit of what is extracted.
    pub(super) value: u128,
    pub(super) operands: [u32; 3],
}

impl Word {
    pub(super) fn number(&self) -> usize {
        usize::try_from(self.value).expect("an input's number is small")
    }

    pub(super) fn low(&self) -> usize {
        usize::try_from(self.value).expect("a bit's number is small")
    }
}

/// An input of the cone.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct ConeInput {
    pub(super) width: u32,
    pub(super) assumption: Assumption,
}

/// The terms of a question, operands first.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Cone {
    pub(super) words: Vec<Word>,
    pub(super) inputs: Vec<ConeInput>,
    pub(super) before: Vec<u32>,
    pub(super) after: Vec<u32>,
}

/// One of the two sides of a question.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
enum Side {
    Before,
    After,
}

/// The cone, and for each of its inputs the caller's number.
pub(super) fn cone(
    terms: &Terms,
    before: &[Term],
    after: &[Term],
    assumption: impl Fn(u32) -> Assumption,
    undefined: impl Fn(u32) -> bool,
) -> (Cone, Vec<u32>) {
    let ranks = ranks(terms, before.iter().chain(after), &assumption);
    let mut build = Build {
        terms,
        ranks,
        assumption: &assumption,
        undefined: &undefined,
        places: HashMap::new(),
        known: HashMap::new(),
        inputs: HashMap::new(),
        numbers: Vec::new(),
        cone: Cone { words: Vec::new(), inputs: Vec::new(), before: Vec::new(), after: Vec::new() },
    };
    let split = build.depends_on_undefined();
    build.cone.before = before.iter().map(|&term| build.place(term, Side::Before, &split)).collect();
    build.cone.after = after.iter().map(|&term| build.place(term, Side::After, &split)).collect();
    (build.cone, build.numbers)
}

/// An operation, its number if it has one, and its operands.
fn parts(op: Op) -> (Kind, u128, [Option<Term>; 3]) {
    let one = |kind, a| (kind, 0, [Some(a), None, None]);
    let two = |kind, a, b| (kind, 0, [Some(a), Some(b), None]);
    match op {
        Op::Input(number) => (Kind::Input, u128::from(number), [None; 3]),
        Op::Constant(value) => (Kind::Constant, value, [None; 3]),
        Op::Not(a) => one(Kind::Not, a),
        Op::And(a, b) => two(Kind::And, a, b),
        Op::Or(a, b) => two(Kind::Or, a, b),
        Op::Xor(a, b) => two(Kind::Xor, a, b),
        Op::Add(a, b) => two(Kind::Add, a, b),
        Op::Mul(a, b) => two(Kind::Mul, a, b),
        Op::UnsignedDivide(a, b) => two(Kind::UnsignedDivide, a, b),
        Op::UnsignedRemainder(a, b) => two(Kind::UnsignedRemainder, a, b),
        Op::Shl(a, b) => two(Kind::Shl, a, b),
        Op::Lshr(a, b) => two(Kind::Lshr, a, b),
        Op::Ashr(a, b) => two(Kind::Ashr, a, b),
        Op::Extract(a, low) => (Kind::Extract, u128::from(low), [Some(a), None, None]),
        Op::Concat(a, b) => two(Kind::Concat, a, b),
        Op::ZeroExtend(a) => one(Kind::ZeroExtend, a),
        Op::SignExtend(a) => one(Kind::SignExtend, a),
        Op::Equal(a, b) => two(Kind::Equal, a, b),
        Op::UnsignedLess(a, b) => two(Kind::UnsignedLess, a, b),
        Op::SignedLess(a, b) => two(Kind::SignedLess, a, b),
        Op::Choose(a, b, c) => (Kind::Choose, 0, [Some(a), Some(b), Some(c)]),
    }
}

/// What a term is made of: first without the numbers of the inputs, then with them.
type Rank = (u64, u64);

/// The rank of every term that the roots are made of.
fn ranks<'t>(
    terms: &Terms,
    roots: impl Iterator<Item = &'t Term>,
    assumption: &impl Fn(u32) -> Assumption,
) -> HashMap<Term, Rank> {
    let mut ranks: HashMap<Term, Rank> = HashMap::new();
    let mut open: Vec<Term> = roots.copied().collect();
    let mut all = Vec::new();
    while let Some(term) = open.pop() {
        if ranks.insert(term, (0, 0)).is_none() {
            all.push(term);
            open.extend(parts(terms.op(term)).2.into_iter().flatten());
        }
    }
    all.sort_unstable();
    for term in all {
        let (kind, value, operands) = parts(terms.op(term));
        let mut below: Vec<Rank> = operands.iter().flatten().map(|operand| ranks[operand]).collect();
        if kind.commutes() {
            below.sort_unstable();
        }
        let mut rank = (mix(kind as u64, u64::from(terms.width(term))), 0);
        if let Op::Input(number) = terms.op(term) {
            rank.0 = mix(rank.0, assumption(number).fingerprint());
            rank.1 = mix(rank.1, u64::from(number) + 1);
        } else {
            rank.0 = mix(mix(rank.0, low_half(value)), low_half(value >> 64));
        }
        for (shape, name) in below {
            rank = (mix(rank.0, shape), mix(rank.1, name));
        }
        ranks.insert(term, rank);
    }
    ranks
}

/// The lower 64 bits.
pub(super) fn low_half(value: u128) -> u64 {
    u64::try_from(value & u128::from(u64::MAX)).expect("64 bits are left")
}

/// A hash of a hash and one more number.
pub(super) fn mix(hash: u64, more: u64) -> u64 {
    let mixed = (hash.rotate_left(23) ^ more).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ mixed >> 32
}

struct Build<'t, A, U> {
    terms: &'t Terms,
    ranks: HashMap<Term, Rank>,
    assumption: &'t A,
    undefined: &'t U,
    places: HashMap<(Term, Side), u32>,
    known: HashMap<Word, u32>,
    /// The number in the cone of the caller's inputs; the two sides have their own of one that may be undefined.
    inputs: HashMap<(u32, u32, Side), u32>,
    numbers: Vec<u32>,
    cone: Cone,
}

impl<A: Fn(u32) -> Assumption, U: Fn(u32) -> bool> Build<'_, A, U> {
    /// The terms that are not the same on both sides, because an input below may be undefined.
    fn depends_on_undefined(&self) -> HashMap<Term, bool> {
        let mut all: Vec<Term> = self.ranks.keys().copied().collect();
        all.sort_unstable();
        let mut depends = HashMap::with_capacity(all.len());
        for term in all {
            let (_, _, operands) = parts(self.terms.op(term));
            let own = matches!(self.terms.op(term), Op::Input(number) if (self.undefined)(number));
            let below = operands.iter().flatten().any(|operand| depends[operand]);
            depends.insert(term, own || below);
        }
        depends
    }

    /// The number in the cone of a term, which is put there with all that it is made of.
    fn place(&mut self, root: Term, side: Side, split: &HashMap<Term, bool>) -> u32 {
        let side_of = |term: Term| if split[&term] { side } else { Side::Before };
        let mut open = vec![(root, false)];
        while let Some((term, ready)) = open.pop() {
            if self.places.contains_key(&(term, side_of(term))) {
                continue;
            }
            let (kind, value, operands) = parts(self.terms.op(term));
            let mut operands: Vec<Term> = operands.into_iter().flatten().collect();
            if kind.commutes() {
                operands.sort_by_key(|operand| self.ranks[operand]);
            }
            if !ready {
                open.push((term, true));
                open.extend(operands.iter().rev().map(|&operand| (operand, false)));
                continue;
            }
            let mut word = Word { kind, width: self.terms.width(term), value, operands: [0; 3] };
            for (slot, operand) in word.operands.iter_mut().zip(&operands) {
                *slot = self.places[&(*operand, side_of(*operand))];
            }
            if let Op::Input(number) = self.terms.op(term) {
                word.value = u128::from(self.input(number, word.width, side_of(term)));
            }
            let place = self.word(word);
            self.places.insert((term, side_of(term)), place);
        }
        self.places[&(root, side_of(root))]
    }

    fn word(&mut self, word: Word) -> u32 {
        let next = u32::try_from(self.cone.words.len()).expect("a cone is no larger than its arena");
        *self.known.entry(word).or_insert_with(|| {
            self.cone.words.push(word);
            next
        })
    }

    fn input(&mut self, number: u32, width: u32, side: Side) -> u32 {
        let next = u32::try_from(self.numbers.len()).expect("there are no more inputs than numbers");
        *self.inputs.entry((number, width, side)).or_insert_with(|| {
            self.numbers.push(number);
            self.cone.inputs.push(ConeInput { width, assumption: (self.assumption)(number) });
            next
        })
    }
}
