//! Lane contents: a word whose lanes are computed one by one, as SIMD instructions on words.
//!
//! The value of a site is taken as a term over lanes of other words (`pieces`), so it does not matter how they were
//! taken apart and how the results are put together. What each lane computes is a function of a few other lanes
//! (`cuts`), which is looked up among the operations of SIMD instructions (`operation`). Lanes that are computed alike
//! are one instruction; its operands are words whose lanes are found in the same way, down to words that are there.
//! What is not computed alike is merged in, under a mask.

mod cuts;
mod operation;
mod pieces;
mod sums;

use crate::graph::ValueId;
use crate::lanes::Byte;
use crate::recipe::{Recipe, Source, Step};
use crate::rules::{Pass, Rule};
use crate::site::Site;
use cuts::Cut;
use hashbrown::HashMap;
use operation::{Function, Operation, SAMPLES, Table, WithNumber};
use pieces::{Pieces, source};
use ptxopt_grammar::constant;
use ptxopt_grammar::meaning::concrete::Program;
use ptxopt_grammar::meaning::term::{Op, Term};
use ptxopt_grammar::table::Row;
use ptxopt_grammar::table::instruction::{Instruction, op};
use ptxopt_grammar::tree::{Module, NodeKind, StmtId};
use ptxopt_grammar::video::{Form, Lanes, Routing, Simd};
use std::rc::Rc;

/// How deep words are made of words.
const DEEPEST: usize = 6;

/// How many words are tried for one site.
const MOST_WORDS: usize = 200;

/// The rules.
pub(super) const RULES: &[Rule] = &[LANES, sums::RULE];

const LANES: Rule = Rule {
    name: "lanes",
    pass: Pass::Fuse,
    law: "lanes that are computed alike, one by one, are lanes of one SIMD instruction",
    examples: &["and.b32 %r0, %a, 255; and.b32 %r1, %b, 255; add.u32 %r2, %r0, %r1; \
         shr.u32 %r3, %a, 24; shr.u32 %r4, %b, 24; add.u32 %r5, %r3, %r4; \
         bfe.u32 %r6, %a, 8, 8; bfe.u32 %r7, %b, 8, 8; add.u32 %r6, %r6, %r7; \
         prmt.b32 %r0, %a, 0, 0x4442; prmt.b32 %r1, %b, 0, 0x4442; add.u32 %r7, %r0, %r1; \
         prmt.b32 %r8, %r2, %r6, 0x0040; prmt.b32 %r9, %r7, %r5, 0x0040; prmt.b32 %d, %r8, %r9, 0x5410;"],
    propose: lanes,
};

/// Whether a statement takes a byte of a word, or puts a word together.
pub(super) fn is_seed(module: &Module<'_>, stmt: StmtId, row: &Row) -> bool {
    let operands = || module.operands(stmt);
    let number = |at: usize, wanted: &[u64]| {
        let number = operands().get(at).and_then(|&node| constant::value(module, node));
        number.is_some_and(|number| wanted.contains(&number))
    };
    row.is(op::PRMT)
        || row.is(op::AND) && number(2, &[0xff, 0xffff])
        || row.is(op::BFE) && number(3, &[8, 16])
        || row.is(op::SHL) && number(2, &[8, 16, 24])
        || row.is(op::MOV) && packs_word(module, stmt)
}

fn lanes(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    if !packs(site) {
        return;
    }
    for lanes in Lanes::ALL {
        let Some(pieces) = Pieces::of(site, lanes.bits()) else { continue };
        let mut words = Words::over(pieces, lanes);
        if let Some(recipe) = words.recipe(site)
            && !out.contains(&recipe)
        {
            out.push(recipe);
        }
    }
}

/// Whether a move puts a word of 32 bits together.
fn packs_word(module: &Module<'_>, stmt: StmtId) -> bool {
    let is_vector =
        || module.operands(stmt).get(1).map(|&node| module.node_kind(node)) == Some(NodeKind::Vector);
    let instruction = module.opcode(stmt).and_then(|(spelling, _)| module.spellings().instruction(spelling));
    instruction.and_then(Instruction::last_type).and_then(|last| last.ty()?.bits()) == Some(32) && is_vector()
}

/// Whether several lanes of the result were computed by instructions of their own.
fn packs(site: &Site<'_, '_, '_>) -> bool {
    if site.graph.value(site.value).width != 32 {
        return false;
    }
    if let Some([x, y]) =
        [op::OR_B32, op::XOR_B32, op::ADD_U32].into_iter().find_map(|join| joined(site, join))
    {
        // Bytes side by side: of each, one of the two is zero.
        let zeros = [x, y].map(|source| site.fact(source).zeros());
        let byte = |at: u32| zeros.map(|zeros| zeros >> (8 * at) & 0xff == 0xff);
        return (0..4).all(|at| byte(at).contains(&true)) && (0..4).any(|at| byte(at) == [true, false]);
    }
    if let Some([Source::Value(x), Source::Value(y), Source::Value(selector)]) = site.plain(op::PRMT_B32) {
        return x != y && site.constant(Source::Value(selector)).is_some();
    }
    let mut from: Vec<_> = site
        .result_bytes()
        .into_iter()
        .filter_map(|byte| match byte? {
            Byte::Of(value, _) | Byte::SignOf(value, _) => Some(value),
            Byte::Constant(_) => None,
        })
        .filter(|&value| value != site.value && site.graph.value(value).def.is_some())
        .collect();
    from.sort_unstable();
    from.dedup();
    from.len() > 1
}

/// The operands of an instruction that puts its operands together, whatever its type.
fn joined(site: &Site<'_, '_, '_>, join: Instruction) -> Option<[Source; 2]> {
    let own = site.instruction()?.representative();
    (own == join).then(|| site.step.sources[..].try_into().ok())?
}

/// The steps that one of them needs, in order, that one last.
fn needed(steps: &[Step], last: usize) -> Vec<Step> {
    let mut is_needed = vec![false; last + 1];
    is_needed[last] = true;
    for at in (0..=last).rev() {
        if is_needed[at] {
            for source in &steps[at].sources {
                if let Source::Step(before) = *source {
                    is_needed[before] = true;
                }
            }
        }
    }
    let mut places = vec![0; last + 1];
    let mut kept: Vec<Step> = Vec::new();
    for at in (0..=last).filter(|&at| is_needed[at]) {
        places[at] = kept.len();
        let moved = |source: &Source| match *source {
            Source::Step(step) => Source::Step(places[step]),
            Source::Value(_) | Source::Constant(_) => *source,
        };
        kept.push(steps[at].over(moved));
    }
    kept
}

/// What lanes are made of: a function of words whose lanes are these.
struct Made {
    function: Key,
    operands: Vec<Term>,
}

/// What must be the same for lanes to be computed together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Key {
    /// A lane as it is.
    Same,
    /// A SIMD instruction.
    Simd(Operation),
    /// A comparison, with ones in all bits in the place of 1.
    Mask(Operation),
    /// The second where the first, ones or zeros, is ones, else the third.
    Choice,
    /// Half the sum of two unsigned lanes, rounded down.
    Floor,
    /// Bit by bit, of two.
    Logic(u8),
    /// One and the bits that are kept of it, then those that are inverted.
    Masked,
}

/// Lanes that are made of others by the same function.
struct Alike {
    function: Key,
    /// Which lanes.
    mask: u8,
    /// For each operand its lanes; those of lanes that are not made may be anything.
    operands: Vec<Vec<Option<Term>>>,
}

/// Words being made.
struct Words {
    pieces: Pieces,
    lanes: Lanes,
    steps: Vec<Step>,
    /// What was made of which lanes; `None` if nothing could be, or is being tried.
    known: HashMap<Vec<Option<Term>>, Option<Source>>,
    /// How a lane can be made.
    made: HashMap<Term, Rc<[Made]>>,
}

impl Words {
    /// No words yet.
    fn over(pieces: Pieces, lanes: Lanes) -> Self {
        Self { pieces, lanes, steps: Vec::new(), known: HashMap::new(), made: HashMap::new() }
    }

    /// The value of the site.
    fn recipe(&mut self, site: &Site<'_, '_, '_>) -> Option<Recipe> {
        let bits = self.lanes.bits();
        let demanded =
            |at: usize| site.demanded_word() >> (at as u32 * bits) & (u32::MAX >> (32 - bits)) != 0;
        let lanes = self.pieces.lanes.clone();
        let lanes: Vec<Option<Term>> =
            lanes.into_iter().enumerate().map(|(at, lane)| demanded(at).then_some(lane)).collect();
        if let Some(word) = self.there(&lanes) {
            return Some(Recipe::copy(Source::Value(word), 32));
        }
        let Source::Step(last) = self.word(&lanes, 0)? else { return None };
        Some(Recipe::of(needed(&self.steps, last)))
    }

    /// A word with these lanes, of which those that are `None` may be anything.
    fn word(&mut self, lanes: &[Option<Term>], depth: usize) -> Option<Source> {
        if let Some(&known) = self.known.get(lanes) {
            return known;
        }
        if depth > DEEPEST || self.known.len() >= MOST_WORDS {
            return None;
        }
        self.known.insert(lanes.to_vec(), None);
        // The word of the site itself is there, and is to be made otherwise.
        let there = if depth == 0 { None } else { self.gathered(lanes) };
        let word = there.or_else(|| self.computed(lanes, depth));
        self.known.insert(lanes.to_vec(), word);
        word
    }

    fn push(&mut self, step: Step) -> Source {
        let known = self.steps.iter().position(|known| *known == step);
        Source::Step(known.unwrap_or_else(|| {
            self.steps.push(step);
            self.steps.len() - 1
        }))
    }

    /// The word in a register, since video instructions take no numbers.
    fn register(&mut self, source: Source) -> Source {
        match source {
            Source::Value(_) | Source::Step(_) => source,
            Source::Constant(_) => self.push(Step::copy(source, 32)),
        }
    }

    fn number(&self, lane: Term) -> Option<u32> {
        self.pieces.terms.value(lane).map(|value| u32::try_from(value).expect("a lane has few bits"))
    }

    /// The number that all of these lanes are.
    fn constant(&self, lanes: &[Option<Term>]) -> Option<u32> {
        let bits = self.lanes.bits();
        lanes.iter().zip(0..).try_fold(0, |word, (lane, at)| match lane {
            Some(lane) => Some(word | self.number(*lane)? << (at * bits)),
            None => Some(word),
        })
    }

    /// A word that has these lanes in their places.
    fn there(&self, lanes: &[Option<Term>]) -> Option<ValueId> {
        let wanted = || lanes.iter().enumerate().filter_map(|(at, lane)| Some((at, (*lane)?)));
        let has = |word, (at, lane): (usize, Term)| self.pieces.homes(lane).contains(&(word, at));
        let (_, first) = wanted().next()?;
        let words = self.pieces.homes(first).iter().map(|&(word, _)| word);
        words.into_iter().find(|&word| wanted().all(|lane| has(word, lane)))
    }

    /// A word whose lanes are read from words that are there: one as it is, or lanes of two, moved.
    fn gathered(&mut self, lanes: &[Option<Term>]) -> Option<Source> {
        if let Some(number) = self.constant(lanes) {
            return Some(Source::Constant(number.into()));
        }
        let wanted: Vec<(usize, Term)> =
            lanes.iter().enumerate().filter_map(|(at, lane)| Some((at, (*lane)?))).collect();
        let moved: Vec<(usize, Term)> =
            wanted.iter().copied().filter(|&(_, lane)| self.number(lane).is_none()).collect();
        let first = self.pieces.homes(moved.first()?.1).to_vec();
        let place = |word, lane: Term, at: usize| {
            let homes = self.pieces.homes(lane);
            let fits = |&&(value, _): &&pieces::Home| value == word;
            homes.iter().filter(fits).map(|&(_, place)| place).min_by_key(|&place| place != at)
        };
        if let Some(word) = self.there(lanes) {
            return Some(Source::Value(word));
        }
        let numbers: Option<u32> = (moved.len() < wanted.len()).then(|| {
            let only: Vec<Option<Term>> =
                lanes.iter().map(|lane| lane.filter(|&lane| self.number(lane).is_some())).collect();
            self.constant(&only).expect("these are numbers")
        });
        for &(one, _) in &first {
            let rest = moved.iter().find(|&&(at, lane)| place(one, lane, at).is_none());
            let others: Vec<Option<pieces::Home>> = match rest {
                None => vec![None],
                Some(_) if numbers.is_some() => Vec::new(),
                Some(&(_, lane)) => self.pieces.homes(lane).iter().copied().map(Some).collect(),
            };
            for other in others {
                let find = |at: usize, lane: Term| {
                    let count = lanes.len();
                    let second = || Some(count + place(other?.0, lane, at)?);
                    if self.number(lane).is_some() {
                        Some(count + at)
                    } else {
                        place(one, lane, at).or_else(second)
                    }
                };
                let places: Option<Vec<usize>> = lanes
                    .iter()
                    .enumerate()
                    .map(|(at, lane)| lane.map_or(Some(at), |lane| find(at, lane)))
                    .collect();
                if let Some(places) = places {
                    let second = match other {
                        Some(home) => source(home),
                        None => Source::Constant(numbers.unwrap_or(0).into()),
                    };
                    let digits = Source::Constant(self.digits(&places));
                    return Some(self.push(Step::plain(op::PRMT_B32, &[Source::Value(one), second, digits])));
                }
            }
        }
        None
    }

    /// The selector of `prmt` that takes these lanes of two words.
    fn digits(&self, places: &[usize]) -> u64 {
        let bytes = self.lanes.bits() as usize / 8;
        let digit = |(at, place): (usize, &usize)| {
            (0..bytes).fold(0, |all, byte| all | ((place * bytes + byte) as u64) << (4 * (at * bytes + byte)))
        };
        places.iter().enumerate().map(digit).sum()
    }

    /// A word whose lanes are computed of lanes of other words: all alike, or most of them, and the others merged in.
    fn computed(&mut self, lanes: &[Option<Term>], depth: usize) -> Option<Source> {
        for alike in self.alike(lanes) {
            let words: Option<Vec<Source>> =
                alike.operands.iter().map(|operand| self.word(operand, depth + 1)).collect();
            let rest: Vec<Option<Term>> = lanes
                .iter()
                .enumerate()
                .map(|(at, lane)| lane.filter(|_| alike.mask >> at & 1 == 0))
                .collect();
            let made = words.and_then(|words| {
                let rest = match rest.iter().any(Option::is_some) {
                    true => Some(self.word(&rest, depth + 1)?),
                    false => None,
                };
                self.make(alike.function, alike.mask, &words, rest)
            });
            if made.is_some() {
                return made;
            }
        }
        None
    }

    /// The groups of lanes that are computed alike, the largest first.
    fn alike(&mut self, lanes: &[Option<Term>]) -> Vec<Alike> {
        let of: Vec<Rc<[Made]>> = lanes
            .iter()
            .map(|lane| lane.map_or_else(|| Rc::new([]) as _, |lane| self.alternatives(lane)))
            .collect();
        let mut functions: Vec<Key> = Vec::new();
        for made in of.iter().flat_map(|of| of.iter()) {
            if !functions.contains(&made.function) {
                functions.push(made.function);
            }
        }
        let wanted = lanes.iter().flatten().count();
        let mut all: Vec<Alike> = Vec::new();
        for function in functions {
            let made = self.side_by_side(&of, function);
            let count = made.iter().flatten().count();
            let most = made.iter().flatten().next().map_or(0, |made| made.operands.len());
            let operands = (0..most).map(|at| made.iter().map(|made| Some((*made)?.operands[at])).collect());
            let computed = made.iter().zip(0..).filter(|(made, _)| made.is_some());
            let mask = computed.fold(0, |mask, (_, at)| mask | 1 << at);
            if count == wanted || count > 1 {
                all.push(Alike { function, mask, operands: operands.collect() });
            }
        }
        all.sort_by_key(|alike| std::cmp::Reverse(alike.mask.count_ones()));
        all
    }

    /// What each lane is by a function, if it is: of several ways, the one whose operands lie in the words in which
    /// those of the lane before lie.
    fn side_by_side<'m>(&self, of: &'m [Rc<[Made]>], function: Key) -> Vec<Option<&'m Made>> {
        let mut last: Option<&Made> = None;
        let near = |made: &Made, last: &Made| {
            let shares = |(one, other): (&Term, &Term)| {
                let [one, other] = [one, other].map(|&lane| self.pieces.homes(lane));
                one.iter().any(|(word, _)| other.iter().any(|(there, _)| word == there))
            };
            made.operands.iter().zip(&last.operands).filter(|&pair| shares(pair)).count()
        };
        let mut all = Vec::with_capacity(of.len());
        for made in of {
            let fits = made.iter().filter(|made| made.function == function);
            let best = match last {
                None => fits.into_iter().next(),
                Some(last) => fits.rev().max_by_key(|made| near(made, last)),
            };
            last = best.or(last);
            all.push(best);
        }
        all
    }

    /// The instruction that makes the lanes of a mask of those of other words, and takes the rest from another word.
    fn make(&mut self, function: Key, mask: u8, words: &[Source], rest: Option<Source>) -> Option<Source> {
        if let (Key::Simd(Operation { op, atype, btype }), &[a, b]) = (function, words) {
            let routing = Routing::plain(self.lanes).masked(if rest.is_some() {
                mask
            } else {
                self.lanes.full_mask()
            })?;
            let form = Form::Simd(Simd { op, atype, btype, routing });
            let sources: Vec<Source> =
                [a, b].into_iter().chain(rest).map(|source| self.register(source)).collect();
            return Some(self.push(Step::video(form, &sources)));
        }
        if rest.is_some() {
            return None;
        }
        Some(match (function, words) {
            (Key::Same, &[word]) => word,
            (Key::Mask(operation), _) => {
                let bits = self.make(Key::Simd(operation), mask, words, None)?;
                let ones = Source::Constant((1 << self.lanes.bits()) - 1);
                self.push(Step::plain(op::MUL_LO_U32, &[bits, ones]))
            }
            (Key::Floor, &[x, y]) => {
                // What both have, and half of what one of them has.
                let high = Source::Constant(match self.lanes {
                    Lanes::Four => 0xfefe_fefe,
                    Lanes::Two => 0xfffe_fffe,
                });
                let both = self.push(Step::plain(op::AND_B32, &[x, y]));
                let one = self.push(Step::plain(op::XOR_B32, &[x, y]));
                let one = self.push(Step::plain(op::AND_B32, &[one, high]));
                let half = self.push(Step::plain(op::SHR_U32, &[one, Source::Constant(1)]));
                self.push(Step::plain(op::ADD_U32, &[both, half]))
            }
            (Key::Choice, &[mask, then, Source::Constant(0)]) => {
                self.push(Step::plain(op::AND_B32, &[mask, then]))
            }
            (Key::Choice, &[mask, then, otherwise]) => {
                let sources = [mask, then, otherwise, Source::Constant(0xca)];
                self.push(Step::plain(op::LOP3_B32, &sources))
            }
            (Key::Masked, &[word, Source::Constant(kept), Source::Constant(inverted)]) => {
                let ones = u64::from(u32::MAX);
                let word = match kept {
                    _ if kept == ones => word,
                    _ => self.push(Step::plain(op::AND_B32, &[word, Source::Constant(kept)])),
                };
                match inverted {
                    0 => word,
                    _ => self.push(Step::plain(op::XOR_B32, &[word, Source::Constant(inverted)])),
                }
            }
            (Key::Logic(table), &[x, y]) => {
                // The table of three inputs that does not depend on the third.
                let wide = (0..8).fold(0_u64, |wide, at| wide | u64::from(table >> (at >> 1) & 1) << at);
                let sources = [x, y, Source::Constant(0), Source::Constant(wide)];
                let step = match table {
                    0b1000 => Step::plain(op::AND_B32, &[x, y]),
                    0b1110 => Step::plain(op::OR_B32, &[x, y]),
                    0b0110 => Step::plain(op::XOR_B32, &[x, y]),
                    _ => Step::plain(op::LOP3_B32, &sources),
                };
                self.push(step)
            }
            _ => return None,
        })
    }

    /// How a lane can be made of others, the simplest first.
    fn alternatives(&mut self, lane: Term) -> Rc<[Made]> {
        if let Some(known) = self.made.get(&lane) {
            return Rc::clone(known);
        }
        let mut all = Vec::new();
        for cut in self.pieces.cuts(lane) {
            all.extend(self.functions(lane, &cut));
        }
        if let Op::Choose(condition, then, otherwise) = self.pieces.terms.op(lane) {
            let mask = self.pieces.terms.sign_extend(condition, self.lanes.bits());
            all.push(Made { function: Key::Choice, operands: vec![mask, then, otherwise] });
        }
        let all: Rc<[Made]> = all.into();
        self.made.insert(lane, Rc::clone(&all));
        all
    }

    /// What a lane is as a function of the lanes of a cut.
    fn functions(&mut self, lane: Term, cut: &Cut) -> Vec<Made> {
        let table = Table::of(self.lanes);
        let (terms, function) = self.pieces.function(lane, cut);
        let Some(mut program) = Program::<u64>::compile(&terms, &[function]) else { return Vec::new() };
        let mut behaviour = [0; SAMPLES];
        for (result, &[x, y]) in behaviour.iter_mut().zip(&table.samples) {
            let mut results = [0];
            program.run(&[x.into(), y.into()], &mut results);
            *result = u32::try_from(results[0]).expect("a lane has few bits");
        }
        let leaves = cuts::lanes(cut);
        match leaves[..] {
            [x, y] => match table.function(&behaviour) {
                Some(Function::Simd(operation, swapped)) => {
                    let operands = if swapped { vec![y, x] } else { vec![x, y] };
                    let exchanged: Vec<Term> = operands.iter().rev().copied().collect();
                    let function = Key::Simd(operation);
                    let commutes = table.commutes(operation);
                    let other = commutes.then_some(Made { function, operands: exchanged });
                    [Made { function, operands }].into_iter().chain(other).collect()
                }
                Some(Function::Mask(operation, swapped)) => {
                    let operands = if swapped { vec![y, x] } else { vec![x, y] };
                    vec![Made { function: Key::Mask(operation), operands }]
                }
                Some(Function::Floor) => vec![Made { function: Key::Floor, operands: vec![x, y] }],
                Some(Function::Logic(0b1100)) => vec![Made { function: Key::Same, operands: vec![x] }],
                Some(Function::Logic(0b1010)) => vec![Made { function: Key::Same, operands: vec![y] }],
                Some(Function::Logic(table)) => {
                    vec![Made { function: Key::Logic(table), operands: vec![x, y] }]
                }
                None => Vec::new(),
            },
            [x] => {
                let numbers = self.numbers(&terms, function);
                let found = table.with_number(&behaviour, &numbers);
                found.into_iter().map(|(with, numbers)| self.with_number(x, with, numbers)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn with_number(&mut self, lane: Term, with: WithNumber, [first, second]: [u32; 2]) -> Made {
        let bits = self.lanes.bits();
        let mut number = |number: u32| self.pieces.terms.constant(number.into(), bits);
        match with {
            WithNumber::Logic => {
                Made { function: Key::Masked, operands: vec![lane, number(first), number(second)] }
            }
            WithNumber::Simd(operation, true) => {
                Made { function: Key::Simd(operation), operands: vec![number(first), lane] }
            }
            WithNumber::Simd(operation, false) => {
                Made { function: Key::Simd(operation), operands: vec![lane, number(first)] }
            }
            WithNumber::Mask(operation, true) => {
                Made { function: Key::Mask(operation), operands: vec![number(first), lane] }
            }
            WithNumber::Mask(operation, false) => {
                Made { function: Key::Mask(operation), operands: vec![lane, number(first)] }
            }
        }
    }

    /// The numbers that a lane could be computed with: those of its function and their neighbours.
    fn numbers(&self, terms: &ptxopt_grammar::meaning::term::Terms, function: Term) -> Vec<u32> {
        let ones = u32::MAX >> (32 - self.lanes.bits());
        let mut all = vec![0, 1, ones];
        for term in terms.cone(function) {
            if let Op::Constant(value) = terms.op(term) {
                let value = u32::try_from(value & u128::from(ones)).expect("it was cut to a lane");
                let near =
                    [value, value.wrapping_add(1), value.wrapping_sub(1), value.wrapping_neg(), !value];
                all.extend(near.map(|number| number & ones));
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}
