//! Lanes that are sums, without carries, of linear functions of several lanes each, as the columns of a cipher's state are
//! mixed and codes over a field of 256 elements are computed.
//!
//! A sum is known by what it makes of each bit of each lane. What is added of the same function is added first, as a
//! word, and the function is computed once of that; a function and the lane itself beside it count as that function. In
//! which order compilers add makes no difference. As everywhere, this is only proposed.

use super::linear::Linear;
use super::pieces::Pieces;
use super::words::{Way, Words};
use crate::recipe::{Source, Step};
use hashbrown::HashSet;
use ptxopt_grammar::meaning::concrete::Program;
use ptxopt_grammar::meaning::term::{Op, Term};
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::Lanes;
use std::rc::Rc;

/// How many lanes are added up to one, at least and at most. Two are found as functions of two lanes.
const LEAST_ADDED: usize = 3;
const MOST_ADDED: usize = 16;

/// How many terms a sum is made of, at most.
const MOST_TERMS: usize = 1000;

/// How many lanes a word has, and how many bits a lane.
const LANES: usize = 4;
const BITS: u32 = 8;

/// How many inputs are tried at once.
const AT_ONCE: usize = 64;

/// A sum of linear functions of lanes, and a number.
#[derive(Debug)]
pub(super) struct Added {
    number: u8,
    of: Vec<(Term, Linear)>,
}

/// By lane of a word, what is added to it.
type Columns = [Vec<Term>; LANES];

impl Pieces {
    /// What a lane is the sum of, if it is one.
    fn added(&mut self, lane: Term) -> Option<Rc<Added>> {
        if let Some(known) = self.added.get(&lane) {
            return known.clone();
        }
        let added = self.find_added(lane).map(Rc::new);
        self.added.insert(lane, added.clone());
        added
    }

    fn find_added(&self, lane: Term) -> Option<Added> {
        let inputs = self.added_inputs(lane)?;
        let program = Program::<u64>::compile(&self.terms, &[lane])?;
        // The program's results for lanes that are given by the number of a try and of an input.
        let mut slots = Vec::new();
        let mut run = |count: usize, of: &dyn Fn(usize, usize) -> u8| -> Vec<u8> {
            let mut all = Vec::with_capacity(count);
            for first in (0..count).step_by(AT_ONCE) {
                let given = |number: u32| {
                    let at = inputs.iter().position(|&input| self.terms.op(input) == Op::Input(number));
                    let mut lanes = [0; AT_ONCE];
                    if let Some(at) = at {
                        lanes.iter_mut().zip(first..).for_each(|(lane, one)| *lane = of(one, at).into());
                    }
                    lanes
                };
                program.run_lanes(&mut slots, given);
                let results = program.lanes(&slots, 0).iter().take(count - first);
                all.extend(results.map(|&result| u8::try_from(result & 0xff).expect("it was cut to a byte")));
            }
            all
        };
        let bits = BITS as usize;
        let single = |one: usize, at: usize| u8::from(one / bits == at) << (one % bits);
        // The last one sets no bit.
        let mut singles = run(inputs.len() * bits + 1, &single);
        let number = singles.pop()?;
        let of: Vec<(Term, Linear)> = inputs
            .iter()
            .zip(singles.chunks(bits))
            .map(|(&input, results)| (input, Linear::adding(results.iter().map(|result| result ^ number))))
            .collect();
        let expected = |one: usize| {
            let functions = of.iter().enumerate();
            functions.fold(number, |sum, (at, (_, function))| sum ^ function.sum(sample(one, at)))
        };
        let is_sum =
            run(AT_ONCE, &sample).into_iter().enumerate().all(|(one, result)| result == expected(one));
        is_sum.then(|| Added {
            number,
            of: of.into_iter().filter(|(_, function)| !function.is_nothing()).collect(),
        })
    }

    /// The lanes that a term is made of, if it may be a sum of some.
    fn added_inputs(&self, lane: Term) -> Option<Vec<Term>> {
        let mut seen: HashSet<Term> = [lane].into_iter().collect();
        let mut stack = vec![lane];
        let (mut inputs, mut adds) = (Vec::new(), false);
        while let Some(next) = stack.pop() {
            let op = self.terms.op(next);
            adds |= matches!(op, Op::Xor(..));
            if matches!(op, Op::Input(_)) {
                inputs.push(next);
            }
            if seen.len() > MOST_TERMS || inputs.len() > MOST_ADDED {
                return None;
            }
            stack.extend(self.terms.children(next).filter(|&child| seen.insert(child)));
        }
        let are_lanes = inputs.iter().all(|&input| self.terms.width(input) == BITS);
        (adds && are_lanes && inputs.len() >= LEAST_ADDED).then_some(inputs)
    }
}

/// A lane that is random enough to tell whether a function is linear, the same everywhere.
fn sample(one: usize, at: usize) -> u8 {
    let mixed = (one * 0x9e37 + at * 0x85eb + 0x1b).wrapping_mul(0x27d4_eb2f);
    u8::try_from(mixed >> 11 & 0xff).expect("it was cut to a byte")
}

impl Words {
    /// A word whose lanes are such sums.
    pub(super) fn xored(&mut self, lanes: &[Option<Term>]) -> Option<Source> {
        let lanes: [Option<Term>; LANES] = lanes.try_into().ok().filter(|_| self.lanes == Lanes::Four)?;
        let added: Vec<Option<Rc<Added>>> = lanes
            .into_iter()
            .map(|lane| lane.map_or(Some(None), |lane| self.pieces.added(lane).map(Some)))
            .collect::<Option<_>>()?;
        if !self.is_made(Way::OfWords) {
            return None;
        }
        let mut number = 0;
        let mut itself = Columns::default();
        let mut functions: Vec<(Linear, Columns)> = Vec::new();
        for (at, added) in added.iter().enumerate() {
            let Some(added) = added else { continue };
            number |= u32::from(added.number) << (BITS as usize * at);
            for &(input, function) in &added.of {
                if function.is_itself() {
                    itself[at].push(input);
                    continue;
                }
                let other = function.with_itself();
                let known = functions.iter().position(|(known, _)| [function, other].contains(known));
                let known = known.unwrap_or_else(|| {
                    let shorter = if self.length(other) < self.length(function) { other } else { function };
                    functions.push((shorter, Columns::default()));
                    functions.len() - 1
                });
                functions[known].1[at].push(input);
                if functions[known].0 != function {
                    itself[at].push(input);
                }
            }
        }
        let mut made = Vec::new();
        let mut sum = (number != 0).then(|| Source::Constant(number.into()));
        for (function, columns) in functions {
            let word = self.columns(&columns, &mut made)?;
            let word = self.linear(function, word);
            sum = Some(self.xor(sum, word));
        }
        if itself.iter().any(|inputs| !inputs.is_empty()) {
            let word = self.columns(&itself, &mut made)?;
            sum = Some(self.xor(sum, word));
        }
        sum
    }

    /// A word added to another, without carries.
    fn xor(&mut self, to: Option<Source>, word: Source) -> Source {
        match to {
            Some(to) => self.push(Step::plain(op::XOR_B32, &[word, to])),
            None => word,
        }
    }

    /// The sum of lanes of words, each lane of its own ones. Those that lie as far from their place in the same word are
    /// one word; `made` has those that were made before.
    fn columns(&mut self, columns: &Columns, made: &mut Vec<(Vec<Option<Term>>, Source)>) -> Option<Source> {
        let mut sorted: Vec<Vec<Term>> = Vec::with_capacity(LANES);
        for (at, inputs) in columns.iter().enumerate() {
            let far = |&input: &Term| {
                let home = self.pieces.homes(input).next();
                home.map(|(word, place)| ((place + LANES - at) % LANES, word))
            };
            let mut inputs = inputs.clone();
            inputs.sort_by_key(far);
            sorted.push(inputs);
        }
        let zero = self.pieces.terms.constant(0, BITS);
        let mut sum = None;
        for column in 0..sorted.iter().map(Vec::len).max()? {
            let lanes: Vec<Option<Term>> =
                sorted.iter().map(|inputs| Some(inputs.get(column).copied().unwrap_or(zero))).collect();
            let word = self.column(&lanes, made)?;
            sum = Some(self.xor(sum, word));
        }
        sum
    }

    /// A word with these lanes: one that was made before, with its lanes moved, or put together.
    fn column(
        &mut self,
        lanes: &[Option<Term>],
        made: &mut Vec<(Vec<Option<Term>>, Source)>,
    ) -> Option<Source> {
        let places = |known: &[Option<Term>]| -> Option<Vec<usize>> {
            lanes.iter().map(|lane| known.iter().position(|known| known == lane)).collect()
        };
        let moved = made.iter().find_map(|(known, word)| Some((places(known)?, *word)));
        if let Some((places, word)) = moved {
            let is_same = places.iter().copied().eq(0..LANES);
            let selector = Source::Constant(self.digits(&places));
            let step = Step::plain(op::PRMT_B32, &[word, Source::Constant(0), selector]);
            return Some(if is_same { word } else { self.push(step) });
        }
        let word = self.gathered(lanes).or_else(|| self.collected(lanes, &[], true))?;
        made.push((lanes.to_vec(), word));
        Some(word)
    }
}
