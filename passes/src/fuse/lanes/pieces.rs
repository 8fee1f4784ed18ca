//! The values of a function as terms over lanes of other values: what their cones compute, down to what has no term.
//!
//! Every way to take a word apart and to put one together becomes the same term, since terms are built by what they
//! mean: extracts, extensions and concatenations of pieces. A piece is a lane of a value without a term, or of a phi.
//!
//! A value is taken apart once, however many sites are made of it ([`taken`](super::taken)), and so are what is known of
//! its parts and what they are functions of; so the work is linear in the size of a function. What a site may read are
//! the words near it, which it has reached through their uses.

use super::cuts::Cuts;
use super::decided::Decided;
use super::function::Made;
use super::functions::{AllFunctions, Functions};
use super::halves::Sampled;
use super::linear::{Linear, Plan};
use super::sums::{Counted, Summand};
use super::xored::Added;
use crate::facts::{Fact, Growing};
use crate::graph::{Use, ValueId, inputs_of};
use crate::site::Site;
use hashbrown::{HashMap, HashSet};
use ptxopt_grammar::meaning::term::{Op, Term, Terms};
use ptxopt_grammar::video::Sign;
use std::cell::RefCell;
use std::rc::Rc;

/// The most words that a site may read: four lanes of some forty statements, and where there are more, of two hundred.
/// What lies near can be more to the point: words further away may be overwritten, or not known to be the same.
const MOST_VALUES: [usize; 2] = [160, 800];

/// How many terms below one are looked at for what it is made of.
const MOST_BELOW: usize = 40;

/// From how many homes of a lane on those that a site may read are looked for once. Zeros have most.
const MANY_HOMES: usize = 32;

/// A place where a lane can be read: a word in a register, and the number of the lane.
pub(super) type Home = (ValueId, usize);

/// A function of a lane is asked for by the lane, the number of the cut, and the first lane of the cut, since there are
/// two orders.
pub(super) type Asked = (Term, usize, Option<Term>);

/// Values of a function as terms over lanes of so many bits, and which of them a site may read.
#[derive(Debug)]
pub(super) struct Pieces {
    pub(super) terms: Terms,
    pub(super) bits: u32,
    /// Those that were taken apart.
    pub(super) taken: HashMap<ValueId, Term>,
    /// How many inputs there are.
    pub(super) inputs: u32,
    /// The registers of 32 bits that hold a term, in the order of their numbers.
    pub(super) words: HashMap<Term, Vec<ValueId>>,
    /// Where lanes can be read, in the order of the numbers of the words.
    pub(super) homes: HashMap<Term, Vec<Home>>,
    /// The registers of 32 bits that hold one lane, and numbers beside it or its sign above it.
    pub(super) single: HashSet<ValueId>,
    /// Homes of lanes of which not all bits are demanded: another edit may change the others.
    pub(super) partly: HashSet<Home>,
    /// The registers of 16 bits whose low bits are a lane.
    pub(super) narrow: HashMap<Term, Vec<ValueId>>,
    /// Those of them that have zeros above it.
    pub(super) extended: HashSet<ValueId>,
    /// What is known of terms.
    pub(super) known: Growing,
    /// What terms are on some samples.
    pub(super) sampled: Sampled,
    /// Parts of terms, by where they begin and how many bits they have.
    pub(super) parts: HashMap<(Term, u32, u32), Term>,
    /// How many parts are being made, each for the one before.
    pub(super) depth: u32,
    /// The cuts of terms.
    pub(super) cuts: HashMap<Term, Cuts>,
    /// What lanes are made of, as functions of their cuts.
    pub(super) made: HashMap<Asked, Rc<[Made]>>,
    pub(super) functions: Functions,
    /// What whole words decide, and the inputs that stand for it.
    decided: HashMap<Decided, Term>,
    decided_by: HashMap<Term, Decided>,
    /// How linear functions of lanes are computed.
    pub(super) plans: HashMap<Linear, Plan>,
    /// What lanes are the sums of, without carries.
    pub(super) added: HashMap<Term, Option<Rc<Added>>>,
    /// What one is that is added up.
    pub(super) counted: HashMap<(Term, usize), Option<Counted>>,
    /// What is added up of lanes.
    pub(super) summands: HashMap<Asked, Option<Summand>>,
    /// The value of the site.
    pub(super) root: Term,
    /// Its lanes, the lowest first.
    pub(super) lanes: Vec<Term>,
    /// The values that the site is made of, as far as it may read them.
    near: HashSet<ValueId>,
    /// Of lanes with many homes, those among them.
    near_homes: RefCell<HashMap<Term, Rc<[Home]>>>,
}

/// The pieces of a function, for lanes of each size, as far as they were asked for.
#[derive(Debug, Default)]
pub(crate) struct AllPieces([RefCell<OfSize>; 3]);

/// Those for lanes of one size, if they were asked for, and what is known of functions of such lanes until then.
#[derive(Debug, Default)]
struct OfSize {
    pieces: Option<Pieces>,
    functions: Functions,
}

impl AllPieces {
    /// The same, with what is known of functions of lanes.
    pub(crate) fn knowing(self, functions: AllFunctions) -> Self {
        for (slot, functions) in self.0.iter().zip(functions.0) {
            slot.borrow_mut().functions = functions;
        }
        self
    }

    /// Forgets them all, which are as much as all else that is known of a function of the module, but for what is known
    /// of functions of lanes.
    pub(crate) fn clear(&self) -> AllFunctions {
        let cleared = |slot: &RefCell<OfSize>| {
            let OfSize { pieces, functions } = slot.take();
            pieces.map_or(functions, |pieces| pieces.functions).kept()
        };
        AllFunctions(self.0.each_ref().map(cleared))
    }

    /// Those for lanes of so many bits.
    fn take(&self, bits: u32) -> Pieces {
        let mut slot = self.of(bits).borrow_mut();
        let OfSize { pieces, functions } = &mut *slot;
        pieces.take().unwrap_or_else(|| Pieces::new(bits, std::mem::take(functions)))
    }

    fn of(&self, bits: u32) -> &RefCell<OfSize> {
        match bits {
            8 => &self.0[0],
            16 => &self.0[1],
            _ => &self.0[2],
        }
    }
}

impl Pieces {
    fn new(bits: u32, functions: Functions) -> Self {
        let mut terms = Terms::new();
        Self {
            root: terms.bit(false),
            terms,
            bits,
            taken: HashMap::new(),
            inputs: 0,
            words: HashMap::new(),
            homes: HashMap::new(),
            single: HashSet::new(),
            partly: HashSet::new(),
            narrow: HashMap::new(),
            extended: HashSet::new(),
            known: Growing::default(),
            sampled: Sampled::default(),
            parts: HashMap::new(),
            depth: 0,
            cuts: HashMap::new(),
            made: HashMap::new(),
            functions,
            decided: HashMap::new(),
            decided_by: HashMap::new(),
            plans: HashMap::new(),
            added: HashMap::new(),
            counted: HashMap::new(),
            summands: HashMap::new(),
            lanes: Vec::new(),
            near: HashSet::new(),
            near_homes: RefCell::default(),
        }
    }

    /// Shows the lanes of `bits` bits of the value of a site, with what lies near, and then, if that is not all, with what
    /// lies further away; and without what branches decide, since they may go with it. `see` gives them back.
    pub(super) fn each(site: &Site<'_, '_, '_>, bits: u32, mut see: impl FnMut(Self) -> Self) {
        let all = &site.knowledge.pieces;
        let mut pieces = all.take(bits);
        let moves_decided = site.moves_decided().is_some();
        for most in MOST_VALUES {
            let Some(is_all) = pieces.turn_to(site, most) else { break };
            if !moves_decided {
                pieces = see(pieces);
            }
            if pieces.leave_decided(site) {
                pieces = see(pieces);
            }
            if is_all {
                break;
            }
        }
        all.of(bits).borrow_mut().pieces = Some(pieces);
    }

    /// Takes what branches decide, and what is computed of that, from what the site may read; whether there was any.
    fn leave_decided(&mut self, site: &Site<'_, '_, '_>) -> bool {
        let graph = site.graph;
        // What only becomes what branches decide is needed as long as they are.
        if graph.uses(site.value).any(|(user, _)| graph.is_decided(user)) {
            return false;
        }
        let is_decided = |&value: &ValueId| !graph.decisions(value).is_empty();
        let mut front: Vec<ValueId> = self.near.iter().copied().filter(is_decided).collect();
        let found = !front.is_empty();
        while let Some(value) = front.pop() {
            if self.near.remove(&value) {
                let users = graph.uses(value).filter(|&(_, slot)| slot == Use::Term);
                front.extend(users.map(|(user, _)| user));
            }
        }
        if found {
            self.near_homes.get_mut().clear();
        }
        found
    }

    /// Turns to a site, which may read so many values; whether these are all that it is made of. `None` if it has no
    /// term.
    fn turn_to(&mut self, site: &Site<'_, '_, '_>, most: usize) -> Option<bool> {
        let core = site.graph.value(site.value).core?;
        // What follows may have the same lanes.
        self.take_all(site.graph, &site.knowledge.demanded, vec![site.value]);
        self.root = self.take(site.graph, &site.knowledge.demanded, core);
        let is_all = self.look_near(site, most);
        site.asked.borrow_mut().extend(self.near.iter().copied());
        // What has less than a word is the lower bits of one.
        let word = self.terms.zero_extend(self.root, self.terms.width(self.root).max(32));
        self.lanes = self.lanes_of(word);
        Some(is_all)
    }

    /// The values that a site is made of: so many of those nearest to it that have terms, and what these are made of.
    /// Whether that is all.
    fn look_near(&mut self, site: &Site<'_, '_, '_>, most: usize) -> bool {
        let graph = site.graph;
        self.near.clear();
        self.near_homes.get_mut().clear();
        let below = |value: ValueId| {
            let gated = graph.value(value).gated.map(|gated| inputs_of(graph.terms(), gated));
            let operands = graph.operands(value).filter(|&(_, slot)| slot == Use::Term);
            operands.map(|(operand, _)| operand).chain(gated.into_iter().flatten())
        };
        let mut front: Vec<ValueId> = below(site.value).collect();
        let mut left = most;
        while !front.is_empty() {
            let mut next = Vec::new();
            for value in front {
                let is_new = self.near.insert(value);
                if is_new && left > 0 && graph.made_of(value).is_some() {
                    left -= 1;
                    next.extend(below(value));
                }
            }
            front = next;
        }
        left > 0
    }

    /// Where a lane can be read, the furthest from the site first.
    pub(super) fn homes(&self, lane: Term) -> impl Iterator<Item = Home> + Clone + '_ {
        let all = self.homes.get(&lane).map_or(&[][..], Vec::as_slice);
        let (few, many) = if all.len() < MANY_HOMES {
            (all, None)
        } else {
            let mut near_homes = self.near_homes.borrow_mut();
            let near = near_homes.entry(lane).or_insert_with(|| self.near_of(all).collect());
            (&[][..], Some(Rc::clone(near)))
        };
        let many = many.into_iter().flat_map(|near| (0..near.len()).map(move |at| near[at]));
        self.near_of(few).chain(many)
    }

    /// Those of these places that the site may read.
    fn near_of<'p>(&'p self, homes: &'p [Home]) -> impl Iterator<Item = Home> + Clone + 'p {
        homes.iter().copied().filter(|(word, _)| self.near.contains(word))
    }

    /// The lanes that a term is made of, if these are few.
    pub(super) fn inputs_of(&self, term: Term) -> Vec<Term> {
        let mut inputs = self.below(term);
        inputs.retain(|&below| matches!(self.terms.op(below), Op::Input(_)));
        inputs
    }

    /// The numbers that a term is made of, if these are few, in order.
    pub(super) fn numbers_in(&self, term: Term) -> Vec<u128> {
        let mut numbers: Vec<u128> =
            self.below(term).into_iter().filter_map(|below| self.terms.value(below)).collect();
        numbers.sort_unstable();
        numbers
    }

    /// A term and some of those that it is made of.
    fn below(&self, term: Term) -> Vec<Term> {
        let mut below = Vec::new();
        let mut seen: HashSet<Term> = [term].into_iter().collect();
        let mut stack = vec![term];
        while let Some(next) = stack.pop().filter(|_| seen.len() < MOST_BELOW) {
            below.push(next);
            stack.extend(self.terms.children(next).filter(|&child| seen.insert(child)));
        }
        below
    }

    /// Whether a lane can be read at a place.
    pub(super) fn lies(&self, lane: Term, home: Home) -> bool {
        let all = self.homes.get(&lane).filter(|_| self.near.contains(&home.0));
        all.is_some_and(|all| all.binary_search(&home).is_ok())
    }

    /// Whether a register holds one lane, and numbers beside it or its sign above it.
    pub(super) fn is_single(&self, word: ValueId) -> bool {
        self.single.contains(&word)
    }

    /// The register of 16 bits whose low bits are a lane.
    pub(super) fn narrow(&self, lane: Term) -> Option<ValueId> {
        self.narrow.get(&lane)?.iter().copied().find(|value| self.near.contains(value))
    }

    /// Where a word can be read.
    pub(super) fn word(&self, term: Term) -> Option<ValueId> {
        self.words.get(&term)?.iter().copied().find(|value| self.near.contains(value))
    }

    /// Whether a register of 16 bits has zeros above its lowest lane.
    pub(super) fn is_extended(&self, narrow: ValueId) -> bool {
        self.extended.contains(&narrow)
    }

    /// How many bits a value has that was taken apart.
    pub(super) fn width_of(&self, value: ValueId) -> u32 {
        self.terms.width(self.taken[&value])
    }

    /// The term of a value that the site may read.
    pub(super) fn near_term(&self, value: ValueId) -> Option<Term> {
        self.taken.get(&value).copied().filter(|_| self.near.contains(&value))
    }

    /// All words that can be read, in the order in which they were taken apart.
    pub(super) fn all_words(&self) -> Vec<Term> {
        let words = self.near.iter().filter_map(|value| self.taken.get(value));
        let mut all: Vec<Term> = words.copied().filter(|&word| self.word(word).is_some()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The sign with which the lowest lane of a term is extended, if nothing else is above it.
    pub(super) fn sign_of_lane(&mut self, term: Term) -> Option<Sign> {
        let fact = self.fact(term);
        let ((_, most), (least, greatest)) = (fact.unsigned(), fact.signed());
        let half = 1_i128 << (self.bits - 1);
        if most >> self.bits == 0 {
            Some(Sign::Unsigned)
        } else {
            (-half <= least && greatest < half).then_some(Sign::Signed)
        }
    }

    /// The lane that stands for what a word decides.
    pub(super) fn decided(&mut self, decided: Decided) -> Term {
        if let Some(&known) = self.decided.get(&decided) {
            return known;
        }
        self.inputs += 1;
        let lane = self.terms.input(self.inputs - 1, self.bits);
        self.decided.insert(decided, lane);
        self.decided_by.insert(lane, decided);
        lane
    }

    /// What a lane stands for, if a word decides it.
    pub(super) fn decided_by(&self, lane: Term) -> Option<Decided> {
        self.decided_by.get(&lane).copied()
    }

    /// What is known of a term.
    pub(super) fn fact(&mut self, term: Term) -> Fact {
        self.known.of(&self.terms, term)
    }
}
