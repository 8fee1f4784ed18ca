//! Words whose lanes are one of two functions of lanes of words that are there: halves of bytes, for example, that become
//! bytes. Each function is computed of a whole word at once, and then lanes of both results are put together.
//!
//! The words next to it, made of the other lanes, have both results in common.

use super::function::{Key, Made};
use super::words::{Way, Words};
use crate::graph::ValueId;
use crate::recipe::{Source, Step};
use ptxopt_grammar::meaning::term::Term;
use ptxopt_grammar::table::instruction::op;

/// How many functions of words are looked at.
const MOST_PARTS: usize = 16;

/// A function of all lanes of a word.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Part {
    function: Key,
    /// The numbers that it has as operands, `None` in the place of the word.
    numbers: Vec<Option<Term>>,
    word: ValueId,
}

/// Which functions of words have a lane, by number, and where.
type Places = Vec<(usize, usize)>;

impl Words {
    /// A word with these lanes, if they are lanes of two functions of words.
    pub(super) fn mixed(&mut self, lanes: &[Option<Term>]) -> Option<Source> {
        let (parts, places) = self.parts(lanes);
        let pairs = (0..parts.len()).flat_map(|one| (one + 1..parts.len()).map(move |other| [one, other]));
        let chosen = |pair: [usize; 2]| {
            let place = |places: &Option<Places>| match places {
                None => Some(0),
                Some(places) => pair.iter().zip([0, lanes.len()]).find_map(|(part, first)| {
                    let place = places.iter().find(|(number, _)| number == part);
                    place.map(|&(_, place)| first + place)
                }),
            };
            Some((pair, places.iter().map(place).collect::<Option<Vec<usize>>>()?))
        };
        let (pair, places) = pairs.into_iter().find_map(chosen)?;
        if !self.is_made(Way::OfWords) {
            return None;
        }
        let [one, other] = pair.map(|part| self.part_of_word(&parts[part]));
        let selector = Source::Constant(self.digits(&places));
        Some(self.push(Step::plain(op::PRMT_B32, &[one?, other?, selector])))
    }

    /// The functions of words that have any of these lanes, and which of them have each, and where.
    fn parts(&mut self, lanes: &[Option<Term>]) -> (Vec<Part>, Vec<Option<Places>>) {
        let mut parts: Vec<Part> = Vec::new();
        let mut number = |part: Part| {
            let known = parts.iter().position(|known| *known == part);
            if known.is_none() && parts.len() < MOST_PARTS {
                parts.push(part);
                return Some(parts.len() - 1);
            }
            known
        };
        let mut places = Vec::with_capacity(lanes.len());
        for lane in lanes {
            let Some(lane) = *lane else {
                places.push(None);
                continue;
            };
            let all = self.alternatives(lane);
            let of_words = all.iter().filter_map(|made| self.of_words(made)).flatten();
            places.push(Some(of_words.filter_map(|(part, place)| Some((number(part)?, place))).collect()));
        }
        (parts, places)
    }

    /// A function of one lane as one of the words in which that lies, and where.
    fn of_words(&self, made: &Made) -> Option<Vec<(Part, usize)>> {
        let is_number = |lane: Term| self.pieces.terms.value(lane).is_some();
        let mut lanes = made.operands.iter().copied().filter(|&lane| !is_number(lane));
        let (lane, None) = (lanes.next()?, lanes.next()) else { return None };
        let numbers: Vec<Option<Term>> =
            made.operands.iter().map(|&operand| Some(operand).filter(|&of| is_number(of))).collect();
        let part = |word| Part { function: made.function, numbers: numbers.clone(), word };
        Some(self.pieces.homes(lane).map(|(word, place)| (part(word), place)).collect())
    }

    fn part_of_word(&mut self, part: &Part) -> Option<Source> {
        let word = |number: &Option<Term>| match number {
            Some(number) => {
                let number = u32::try_from(self.pieces.terms.value(*number)?).ok()?;
                Some(Source::Constant(self.lanes.every(number).into()))
            }
            None => Some(Source::Value(part.word)),
        };
        let words = part.numbers.iter().map(word).collect::<Option<Vec<Source>>>()?;
        self.make(part.function, self.lanes.full_mask(), &words, None)
    }
}
