//! A value as a term over lanes of other values: what its cone computes, down to what has no term.
//!
//! Every way to take a word apart and to put one together becomes the same term, since terms are built by what they
//! mean: extracts, extensions and concatenations of pieces. A piece is a lane of a value without a term, of a phi, or
//! of a value beyond the bound.

use super::cuts::Cut;
use crate::facts::{Cone, Fact, transfer};
use crate::graph::{Graph, Origin, ValueId, inputs_of};
use crate::recipe::Source;
use crate::site::Site;
use hashbrown::{HashMap, HashSet};
use ptxopt_grammar::meaning::term::{Op, Term, Terms, ones};

/// The most values that are looked through: four lanes of some forty statements, and where there are more, of two
/// hundred. What lies near can be more to the point: words further away may be overwritten, or not known to be the same.
const MOST_VALUES: [usize; 2] = [160, 800];

/// The most terms that they may be made of.
const MOST_TERMS: usize = 8000;

/// A place where a lane can be read: a word in a register, and the number of the lane.
pub(super) type Home = (ValueId, usize);

/// The cone of a value.
pub(super) struct Pieces {
    pub(super) terms: Terms,
    pub(super) bits: u32,
    /// The value.
    pub(super) root: Term,
    /// How many inputs it has.
    inputs: usize,
    /// Its lanes, the lowest first.
    pub(super) lanes: Vec<Term>,
    /// The registers of 32 bits that hold a term, the furthest from the value.
    words: HashMap<Term, ValueId>,
    /// Where lanes can be read, the furthest from the value first.
    homes: HashMap<Term, Vec<Home>>,
    /// The registers of 32 bits that hold one lane, and numbers above it.
    single: HashSet<ValueId>,
    /// The registers of 16 bits whose low bits are a lane.
    narrow: HashMap<Term, ValueId>,
    /// Those of them that have zeros above it.
    extended: HashSet<ValueId>,
    /// What is known of terms, once that was asked.
    facts: HashMap<Term, Fact>,
    /// The cuts of terms, themselves included.
    pub(super) cuts: HashMap<Term, Vec<Cut>>,
    /// Parts of terms, by where they begin and how many bits they have.
    parts: HashMap<(Term, u32, u32), Term>,
}

impl Pieces {
    /// The lanes of `bits` bits of the value of a site, over what lies near, and then, if that is not all, over what lies
    /// further away. None if they are made of too much.
    pub(super) fn each(site: &Site<'_, '_, '_>, bits: u32) -> impl Iterator<Item = Self> {
        let found = move |most: usize| {
            let inner = inner(site.graph, site.graph.value(site.value).core?, most);
            let is_cut = inner.len() == most;
            Some((Self::over(site, bits, inner), is_cut))
        };
        let mut is_cut = true;
        MOST_VALUES.into_iter().filter_map(move |most| {
            let (pieces, more) = is_cut.then(|| found(most))??;
            is_cut = more;
            pieces
        })
    }

    fn over(site: &Site<'_, '_, '_>, bits: u32, inner: HashSet<ValueId>) -> Option<Self> {
        let graph = site.graph;
        let core = graph.value(site.value).core?;
        site.asked.borrow_mut().extend(inner.iter().copied());
        let mut building = Building {
            site,
            bits,
            inner,
            terms: Terms::new(),
            built: HashMap::new(),
            order: Vec::new(),
            inputs: 0,
        };
        let root = building.import(core)?;
        let Building { terms, order, inputs, .. } = building;
        let mut pieces = Self {
            terms,
            bits,
            root,
            inputs: inputs as usize,
            lanes: Vec::new(),
            words: HashMap::new(),
            homes: HashMap::new(),
            single: HashSet::new(),
            narrow: HashMap::new(),
            extended: HashSet::new(),
            facts: HashMap::new(),
            cuts: HashMap::new(),
            parts: HashMap::new(),
        };
        let roots: Vec<Term> = order.iter().map(|&(_, word)| word).chain([root]).collect();
        pieces.learn(&roots);
        for (value, word) in order {
            // Another edit may change what is undemanded.
            let demanded = site.knowledge.demanded[value.index()];
            if is_home(graph, value) {
                pieces.words.entry(word).or_insert(value);
                let lanes = pieces.lanes_of(word);
                if lanes[1..].iter().all(|&lane| pieces.terms.value(lane).is_some()) {
                    pieces.single.insert(value);
                }
                let is_demanded = |at: u32| demanded >> (at * bits) & ones(bits) != 0;
                for (lane, at) in lanes.into_iter().zip(0..).filter(|&(_, at)| is_demanded(at)) {
                    pieces.homes.entry(lane).or_default().push((value, at as usize));
                }
            } else if bits <= graph.value(value).width && is_narrow(graph, value) {
                let lane = pieces.part(word, 0, bits);
                pieces.narrow.entry(lane).or_insert(value);
                let width = pieces.terms.width(word);
                let above = (width > bits).then(|| pieces.part(word, bits, width - bits));
                if demanded == ones(width) && above.is_none_or(|above| pieces.terms.value(above) == Some(0)) {
                    pieces.extended.insert(value);
                }
            }
        }
        // What has less than a word is the lower bits of one.
        let word = pieces.terms.zero_extend(root, pieces.terms.width(root).max(32));
        pieces.lanes = pieces.lanes_of(word);
        Some(pieces)
    }

    fn lanes_of(&mut self, word: Term) -> Vec<Term> {
        (0..32 / self.bits).map(|lane| self.part(word, lane * self.bits, self.bits)).collect()
    }

    /// Some bits of a term, without what they do not depend on: bits of logic are logic of bits, low bits of a sum are
    /// sums of low bits, and bits that are known are numbers.
    pub(super) fn part(&mut self, term: Term, low: u32, width: u32) -> Term {
        let cut = self.terms.extract(term, low, width);
        let op = self.terms.op(cut);
        // What is put together is made of simpler parts, if these are.
        if let Op::ZeroExtend(inner) = op {
            let inner = self.part(inner, 0, self.terms.width(inner));
            return self.terms.zero_extend(inner, width);
        }
        if let Op::Concat(high, low) = op {
            let [high, low] = [high, low].map(|of| self.part(of, 0, self.terms.width(of)));
            return self.terms.concat(high, low);
        }
        let Op::Extract(inner, low) = op else { return cut };
        if let Some(&known) = self.parts.get(&(inner, low, width)) {
            return known;
        }
        let part = self.part_of(inner, low, width).unwrap_or(cut);
        self.parts.insert((inner, low, width), part);
        part
    }

    /// Some bits of a term that is no extract, if they are simpler than that.
    fn part_of(&mut self, term: Term, low: u32, width: u32) -> Option<Term> {
        let (known, value) = self.fact(term).known();
        let wanted = ones(width);
        if known >> low & wanted == wanted {
            return Some(self.terms.constant(value >> low & wanted, width));
        }
        // Each step goes down in the term, which is made of no more values than are looked through.
        Some(match self.terms.op(term) {
            Op::Not(a) => {
                let a = self.part(a, low, width);
                self.terms.not(a)
            }
            Op::And(a, b) => match self.field([a, b], low, width) {
                Some(field) => field,
                None => self.both(a, b, low, width, Terms::and),
            },
            Op::Or(a, b) => self.both(a, b, low, width, Terms::or),
            Op::Xor(a, b) => self.both(a, b, low, width, Terms::xor),
            Op::Add(a, b) if self.never_carries(a, b, low + width) => self.both(a, b, low, width, Terms::or),
            Op::Add(a, b) => {
                let carry = self.carry(a, b, low)?;
                let sum = self.both(a, b, low, width, Terms::add);
                let carry = self.terms.constant(carry.into(), width);
                self.terms.add(sum, carry)
            }
            Op::Mul(a, b) if low == 0 => self.both(a, b, low, width, Terms::mul),
            Op::Choose(condition, then, otherwise) => {
                let [then, otherwise] = [then, otherwise].map(|of| self.part(of, low, width));
                self.terms.choose(condition, then, otherwise)
            }
            Op::Input(_)
            | Op::Constant(_)
            | Op::Mul(..)
            | Op::UnsignedDivide(..)
            | Op::UnsignedRemainder(..)
            | Op::Shl(..)
            | Op::Lshr(..)
            | Op::Ashr(..)
            | Op::Extract(..)
            | Op::Concat(..)
            | Op::ZeroExtend(_)
            | Op::SignExtend(_)
            | Op::Equal(..)
            | Op::UnsignedLess(..)
            | Op::SignedLess(..) => return None,
        })
    }

    /// Some bits of a term and a mask that keeps the lowest of them: made of these alone.
    fn field(&mut self, [a, b]: [Term; 2], low: u32, width: u32) -> Option<Term> {
        let (mask, of) =
            [(a, b), (b, a)].into_iter().find_map(|(mask, of)| Some((self.terms.value(mask)?, of)))?;
        let kept = (mask >> low & ones(width)).trailing_ones();
        let is_field = 0 < kept && kept < width && mask >> low & ones(width) == ones(kept);
        if !is_field {
            return None;
        }
        let field = self.part(of, low, kept);
        Some(self.terms.zero_extend(field, width))
    }

    /// What the lower bits of two terms carry over when they are added, if that is known.
    fn carry(&mut self, a: Term, b: Term, low: u32) -> Option<bool> {
        let [a, b] = [a, b].map(|of| self.fact(of));
        let range = |of: Fact| (of.ones() & ones(low), !of.zeros() & ones(low));
        let ((least, most), (other_least, other_most)) = (range(a), range(b));
        if most + other_most <= ones(low) {
            Some(false)
        } else {
            (least + other_least > ones(low)).then_some(true)
        }
    }

    /// Whether two terms have no low bit in common, so that their sum has the bits of both there.
    pub(super) fn never_carries(&mut self, a: Term, b: Term, bits: u32) -> bool {
        let [a, b] = [a, b].map(|of| self.fact(of).zeros());
        (a | b) & ones(bits) == ones(bits)
    }

    fn both(
        &mut self,
        a: Term,
        b: Term,
        low: u32,
        width: u32,
        combine: fn(&mut Terms, Term, Term) -> Term,
    ) -> Term {
        let [a, b] = [a, b].map(|of| self.part(of, low, width));
        combine(&mut self.terms, a, b)
    }

    /// Where a lane can be read.
    pub(super) fn homes(&self, lane: Term) -> &[Home] {
        self.homes.get(&lane).map_or(&[], Vec::as_slice)
    }

    /// Whether a register holds one lane, and numbers above it.
    pub(super) fn is_single(&self, word: ValueId) -> bool {
        self.single.contains(&word)
    }

    /// The register of 16 bits whose low bits are a lane.
    pub(super) fn narrow(&self, lane: Term) -> Option<ValueId> {
        self.narrow.get(&lane).copied()
    }

    /// Where a word can be read.
    pub(super) fn word(&self, term: Term) -> Option<ValueId> {
        self.words.get(&term).copied()
    }

    /// Whether a register of 16 bits has zeros above its lowest lane.
    pub(super) fn is_extended(&self, narrow: ValueId) -> bool {
        self.extended.contains(&narrow)
    }

    /// All words that can be read, in the order in which they were built.
    pub(super) fn all_words(&self) -> Vec<Term> {
        let mut all: Vec<Term> = self.words.keys().copied().collect();
        all.sort_unstable();
        all
    }

    /// How many inputs it has.
    pub(super) fn inputs(&self) -> usize {
        self.inputs
    }

    /// What is known of a term.
    pub(super) fn fact(&mut self, term: Term) -> Fact {
        if let Some(&known) = self.facts.get(&term) {
            return known;
        }
        let known = |facts: &HashMap<Term, Fact>, child: Term| facts.get(&child).copied();
        let operands: Option<Vec<Fact>> =
            self.terms.children(term).map(|child| known(&self.facts, child)).collect();
        match (self.terms.op(term), operands.as_deref()) {
            // What their operands are made of does not matter for these.
            (op, Some([a, rest @ ..])) if !matches!(op, Op::Add(..) | Op::Choose(..)) => {
                let fact = transfer(op, self.terms.width(term), a, rest.first().unwrap_or(a));
                self.facts.insert(term, fact);
            }
            _ => self.learn(&[term]),
        }
        self.facts[&term]
    }

    /// Finds out what is known of terms and all that they are made of.
    fn learn(&mut self, roots: &[Term]) {
        let cone = Cone::new(&self.terms, roots);
        let facts = cone.forward(&mut |_number, width| Fact::top(width));
        self.facts.extend(cone.terms().zip(facts));
    }
}

/// The word that a lane is read from as a source.
pub(super) const fn source(home: Home) -> Source {
    Source::Value(home.0)
}

/// Whether a register of 32 bits has a value. What may be undefined is not read again.
fn is_home(graph: &Graph<'_, '_>, value: ValueId) -> bool {
    let entry = graph.value(value);
    entry.width == 32 && entry.register.is_some() && !matches!(entry.origin, Origin::Read(_))
}

/// Whether a register of 16 bits has a value.
fn is_narrow(graph: &Graph<'_, '_>, value: ValueId) -> bool {
    let entry = graph.value(value);
    entry.width == 16 && entry.register.is_some() && !matches!(entry.origin, Origin::Read(_))
}

/// The values that are taken apart: those nearest to a term.
fn inner(graph: &Graph<'_, '_>, root: Term, most: usize) -> HashSet<ValueId> {
    let mut inner = HashSet::new();
    let mut front: Vec<ValueId> = inputs_of(graph.terms(), root).into_iter().collect();
    while !front.is_empty() {
        let mut next = Vec::new();
        for value in front {
            let Some(def) = graph.value(value).def.filter(|_| !inner.contains(&value)) else { continue };
            if inner.len() == most {
                return inner;
            }
            inner.insert(value);
            next.extend(inputs_of(graph.terms(), def));
        }
        front = next;
    }
    inner
}

struct Building<'b, 's, 'm, 't> {
    site: &'b Site<'s, 'm, 't>,
    bits: u32,
    inner: HashSet<ValueId>,
    terms: Terms,
    built: HashMap<ValueId, Term>,
    /// The values in the order in which they were built.
    order: Vec<(ValueId, Term)>,
    /// How many pieces there are.
    inputs: u32,
}

impl Building<'_, '_, '_, '_> {
    /// A term of the graph over pieces.
    fn import(&mut self, root: Term) -> Option<Term> {
        let graph = self.site.graph;
        let mut stack: Vec<ValueId> = inputs_of(graph.terms(), root).into_iter().collect();
        // Values are made of earlier values, so those below are built first.
        while let Some(&value) = stack.last() {
            if self.built.contains_key(&value) {
                stack.pop();
                continue;
            }
            let def = graph.value(value).def.filter(|_| self.inner.contains(&value));
            let below = def.map(|def| inputs_of(graph.terms(), def)).unwrap_or_default();
            let waiting = below.into_iter().filter(|below| !self.built.contains_key(below));
            let before = stack.len();
            stack.extend(waiting);
            if stack.len() == before {
                stack.pop();
                self.build(value, def);
                if self.terms.len() > MOST_TERMS {
                    return None;
                }
            }
        }
        Some(self.rebuild(root))
    }

    fn build(&mut self, value: ValueId, def: Option<Term>) {
        let term = match def {
            Some(def) => self.rebuild(def),
            None => self.leaf(self.site.graph.value(value).width),
        };
        self.built.insert(value, term);
        self.order.push((value, term));
    }

    fn rebuild(&mut self, root: Term) -> Term {
        let built = &self.built;
        let input = &mut |number| built[&ValueId::of_input(number)];
        let term = self.terms.import(self.site.graph.terms(), root, input);
        let op = self.terms.op(term);
        if let Op::And(inner, mask) = op {
            self.masked(term, inner, mask)
        } else if let Op::UnsignedLess(a, b) = op {
            self.compared(term, [a, b], Terms::unsigned_less)
        } else if let Op::SignedLess(a, b) = op {
            self.compared(term, [a, b], Terms::signed_less)
        } else {
            term
        }
    }

    /// A comparison of a word with a number that only its upper bytes decide, as a comparison of these.
    fn compared(&mut self, term: Term, [a, b]: [Term; 2], less: fn(&mut Terms, Term, Term) -> Term) -> Term {
        let width = self.terms.width(a);
        // Bits that are ones in what must be less, or zeros in what must not, make no difference.
        let low = match (self.terms.value(a), self.terms.value(b)) {
            (Some(number), None) => number.trailing_ones(),
            (None, Some(number)) => number.trailing_zeros(),
            _ => return term,
        };
        let low = (low / 8 * 8).min(width.saturating_sub(8));
        if low == 0 {
            return term;
        }
        let [a, b] = [a, b].map(|of| self.terms.extract(of, low, width - low));
        less(&mut self.terms, a, b)
    }

    /// A term under a mask that keeps whole bytes as these bytes side by side, so that it is not made of the others.
    fn masked(&mut self, term: Term, inner: Term, mask: Term) -> Term {
        let Some(mask) = self.terms.value(mask) else { return term };
        let width = self.terms.width(term);
        let byte = |at: u32| mask >> at & 0xff;
        if !width.is_multiple_of(8) || (0..width).step_by(8).any(|at| !matches!(byte(at), 0 | 0xff)) {
            return term;
        }
        let mut whole: Option<Term> = None;
        for at in (0..width).step_by(8) {
            let part =
                if byte(at) == 0 { self.terms.constant(0, 8) } else { self.terms.extract(inner, at, 8) };
            whole = Some(whole.map_or(part, |low| self.terms.concat(part, low)));
        }
        whole.unwrap_or(term)
    }

    /// A value without a term: its lanes one by one, if it has any.
    fn leaf(&mut self, width: u32) -> Term {
        let mut input = |width: u32| {
            self.inputs += 1;
            self.terms.input(self.inputs - 1, width)
        };
        if !width.is_multiple_of(self.bits) || width > 64 {
            return input(width);
        }
        let first = input(self.bits);
        let others: Vec<Term> = (1..width / self.bits).map(|_| input(self.bits)).collect();
        others.into_iter().fold(first, |low, high| self.terms.concat(high, low))
    }
}
