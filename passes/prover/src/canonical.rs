//! The part of an arena that a question is about, in an order that depends on nothing else.
//!
//! Numbers of terms and inputs depend on what else was built before. Here operands of commutative operations are
//! ordered by what they are made of, and inputs are numbered in order of first use, so the same question is the
//! same text: it is the key of the cache, and what is done with it repeats exactly. Hashes only choose an order;
//! that two questions are the same is decided by comparing all of them.

use super::compared::Extreme;
use super::query::Assumption;
use hashbrown::HashMap;
use ptxopt_grammar::meaning::term::{Op, Term, Terms};
use std::hash::{Hash, Hasher};

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
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Word {
    pub(super) kind: Kind,
    pub(super) width: u32,
    /// The constant, the number of the input, or the lowest bit of what is extracted.
    pub(super) value: u128,
    pub(super) operands: [u32; 3],
}

impl Hash for Word {
    /// In few pieces, which is most of the speed of looking a word up.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let [a, b, c] = self.operands.map(u64::from);
        state.write_u64(a << 32 | b);
        state.write_u64(c << 32 | u64::from(self.width) << 8 | self.kind as u64);
        state.write_u128(self.value);
    }
}

impl Word {
    /// The places of its operands.
    pub(super) fn operands(&self) -> &[u32] {
        let count = match self.kind {
            Kind::Input | Kind::Constant => 0,
            Kind::Not | Kind::Extract | Kind::ZeroExtend | Kind::SignExtend => 1,
            Kind::Choose => 3,
            Kind::And
            | Kind::Or
            | Kind::Xor
            | Kind::Add
            | Kind::Mul
            | Kind::UnsignedDivide
            | Kind::UnsignedRemainder
            | Kind::Shl
            | Kind::Lshr
            | Kind::Ashr
            | Kind::Concat
            | Kind::Equal
            | Kind::UnsignedLess
            | Kind::SignedLess => 2,
        };
        &self.operands[..count]
    }

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

impl Cone {
    /// How many products there are in it.
    pub(super) fn products(&self) -> usize {
        self.words.iter().filter(|word| word.kind == Kind::Mul).count()
    }

    /// Whether words are compared in it, or chosen by a sign.
    pub(super) fn compares(&self) -> bool {
        let is_sign = |at: u32| self.words[at as usize].kind == Kind::Extract;
        let compares = |word: &Word| matches!(word.kind, Kind::UnsignedLess | Kind::SignedLess);
        self.words.iter().any(|word| compares(word) || word.kind == Kind::Choose && is_sign(word.operands[0]))
    }

    /// Whether there are several words that are the smaller or the greater of two.
    pub(super) fn has_several_extremes(&self) -> bool {
        self.words.iter().filter(|word| Extreme::of(word, &self.words).is_some()).nth(1).is_some()
    }

    /// The other one and the value, if one of two words is a constant.
    pub(super) fn with_constant(&self, a: u32, b: u32) -> Option<(u32, u128)> {
        let constant = |at: u32| {
            let word = self.words[at as usize];
            (word.kind == Kind::Constant).then_some(word.value)
        };
        constant(b).map(|value| (a, value)).or_else(|| constant(a).map(|value| (b, value)))
    }
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
    let (mut nodes, roots) = nodes(terms, before.iter().chain(after));
    rank(&mut nodes, &assumption);
    split(&mut nodes, &undefined);
    let mut build = Build {
        places: vec![[None; 2]; nodes.len()],
        known: HashMap::with_capacity(nodes.len()),
        nodes,
        assumption: &assumption,
        inputs: HashMap::new(),
        numbers: Vec::new(),
        cone: Cone { words: Vec::new(), inputs: Vec::new(), before: Vec::new(), after: Vec::new() },
    };
    let (old, new) = roots.split_at(before.len());
    build.cone.before = old.iter().map(|&root| build.place(root, Side::Before)).collect();
    build.cone.after = new.iter().map(|&root| build.place(root, Side::After)).collect();
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

/// A term of the question. Its operands are the places of nodes before it, in canonical order.
struct Node {
    kind: Kind,
    width: u32,
    value: u128,
    operands: [u32; 3],
    count: usize,
    rank: Rank,
    /// Whether it is not the same on both sides, because an input below may be undefined.
    split: bool,
}

impl Node {
    fn operands(&self) -> &[u32] {
        &self.operands[..self.count]
    }

    /// The caller's number, if it is an input.
    fn input(&self) -> Option<u32> {
        let number = || u32::try_from(self.value).expect("an input's number is small");
        (self.kind == Kind::Input).then(number)
    }
}

/// The terms that the roots are made of, operands first, and the places of the roots.
///
/// Goes over the whole arena: it was made for the question, and that costs less than looking terms up.
fn nodes<'t>(terms: &Terms, roots: impl Iterator<Item = &'t Term>) -> (Vec<Node>, Vec<u32>) {
    let roots: Vec<Term> = roots.copied().collect();
    let mut wanted = vec![false; terms.len()];
    roots.iter().for_each(|root| wanted[root.index()] = true);
    for term in terms.iter().rev() {
        if wanted[term.index()] {
            terms.children(term).for_each(|child| wanted[child.index()] = true);
        }
    }
    let mut places = vec![0; terms.len()];
    let mut nodes = Vec::with_capacity(terms.len());
    for term in terms.iter().filter(|term| wanted[term.index()]) {
        places[term.index()] = u32::try_from(nodes.len()).expect("a cone is no larger than its arena");
        let (kind, value, parts) = parts(terms.op(term));
        let mut operands = [0; 3];
        let mut count = 0;
        for part in parts.iter().flatten() {
            operands[count] = places[part.index()];
            count += 1;
        }
        nodes.push(Node {
            kind,
            width: terms.width(term),
            value,
            operands,
            count,
            rank: (0, 0),
            split: false,
        });
    }
    (nodes, roots.iter().map(|root| places[root.index()]).collect())
}

/// Ranks all nodes, and puts the operands of those that commute in the order of their ranks.
fn rank(nodes: &mut [Node], assumption: &impl Fn(u32) -> Assumption) {
    for at in 0..nodes.len() {
        let (earlier, rest) = nodes.split_at_mut(at);
        let node = &mut rest[0];
        if node.kind.commutes() {
            node.operands[..node.count].sort_by_key(|&operand| earlier[operand as usize].rank);
        }
        let mut rank = (mix(node.kind as u64, u64::from(node.width)), 0);
        if let Some(number) = node.input() {
            rank.0 = mix(rank.0, assumption(number).fingerprint());
            rank.1 = mix(rank.1, u64::from(number) + 1);
        } else {
            rank.0 = mix(mix(rank.0, low_half(node.value)), low_half(node.value >> 64));
        }
        for &operand in node.operands() {
            let (shape, name) = earlier[operand as usize].rank;
            rank = (mix(rank.0, shape), mix(rank.1, name));
        }
        node.rank = rank;
    }
}

/// Finds the nodes that are not the same on both sides.
fn split(nodes: &mut [Node], undefined: &impl Fn(u32) -> bool) {
    for at in 0..nodes.len() {
        let own = nodes[at].input().is_some_and(undefined);
        let below = nodes[at].operands().iter().any(|&operand| nodes[operand as usize].split);
        nodes[at].split = own || below;
    }
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

struct Build<'t, A> {
    nodes: Vec<Node>,
    assumption: &'t A,
    /// The number in the cone of each node, for both sides.
    places: Vec<[Option<u32>; 2]>,
    known: HashMap<Word, u32>,
    /// The number in the cone of the caller's inputs; the two sides have their own of one that may be undefined.
    inputs: HashMap<(u32, u32, Side), u32>,
    numbers: Vec<u32>,
    cone: Cone,
}

impl<A: Fn(u32) -> Assumption> Build<'_, A> {
    /// The side that a node belongs to; what is the same on both is of the first.
    fn side(&self, node: u32, side: Side) -> Side {
        if self.nodes[node as usize].split { side } else { Side::Before }
    }

    fn placed(&self, node: u32, side: Side) -> Option<u32> {
        self.places[node as usize][self.side(node, side) as usize]
    }

    /// The number in the cone of a node, which is put there with all that it is made of.
    fn place(&mut self, root: u32, side: Side) -> u32 {
        let mut open = vec![(root, false)];
        while let Some((at, ready)) = open.pop() {
            if self.placed(at, side).is_some() {
                continue;
            }
            let node = &self.nodes[at as usize];
            if !ready && node.count > 0 {
                open.push((at, true));
                open.extend(node.operands().iter().rev().map(|&operand| (operand, false)));
                continue;
            }
            let Node { kind, width, value, .. } = *node;
            let mut word = Word { kind, width, value, operands: [0; 3] };
            for (slot, &operand) in word.operands.iter_mut().zip(node.operands()) {
                *slot = self.placed(operand, side).expect("operands are placed first");
            }
            if let Some(number) = node.input() {
                word.value = u128::from(self.input(number, width, self.side(at, side)));
            }
            let place = self.word(word);
            let own = self.side(at, side);
            self.places[at as usize][own as usize] = Some(place);
        }
        self.placed(root, side).expect("it was just placed")
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
