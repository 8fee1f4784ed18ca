//! Lanes that are compared with a whole word, as where a threshold is an `int` of which nothing is known.
//!
//! No lane lies outside the range of lanes, so it is compared with the lane that is nearest to the word, and what the word
//! decides by itself, because it lies outside, is added: below all lanes it is less than any of them. What is made of a
//! word so is an input here; as everywhere, the proof of the text tells whether it is what was computed.

use super::clamped::limits;
use super::halves::constant;
use super::pieces::Pieces;
use super::words::{Way, Words};
use crate::recipe::{Source, Step};
use ptxopt_grammar::meaning::term::{Op, Term, ones};
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::video::Sign;

/// How many conditions are looked at, one below the other.
const DEEPEST: u32 = 6;

/// What a whole word decides, which is a lane that can be made of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Decided {
    word: Term,
    /// The sign with which the word is compared.
    compared: Sign,
    /// The sign of the lanes that it is compared with.
    sign: Sign,
    what: What,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum What {
    /// The lane that is nearest to it.
    Nearest,
    /// Ones if it is less than all lanes, else zeros.
    Below,
    /// Ones if it is greater than all lanes, else zeros.
    Above,
    /// Ones if it is a lane, else zeros.
    Inside,
}

impl Pieces {
    /// A term that is one of two by a condition: the condition, and the two.
    pub(super) fn choice(&mut self, term: Term) -> Option<[Term; 3]> {
        let (op, width) = (self.terms.op(term), self.terms.width(term));
        if let Op::Choose(condition, then, otherwise) = op {
            return Some([condition, then, otherwise]);
        }
        let (bit, number) = if let Op::SignExtend(bit) = op {
            (bit, ones(width))
        } else if let Op::ZeroExtend(bit) = op {
            (bit, 1)
        } else {
            return None;
        };
        let numbers = [number, 0].map(|number| self.terms.constant(number, width));
        (self.terms.width(bit) == 1).then_some([bit, numbers[0], numbers[1]])
    }
}

impl Words {
    /// The lane that is ones where a condition holds, and zeros elsewhere, if the condition compares lanes with words.
    pub(super) fn mask_of_words(&mut self, condition: Term) -> Option<Term> {
        self.mask(condition, 0)
    }

    fn mask(&mut self, condition: Term, depth: u32) -> Option<Term> {
        if depth == DEEPEST {
            return None;
        }
        let op = self.pieces.terms.op(condition);
        if let Op::Not(inner) = op {
            let mask = self.mask(inner, depth + 1)?;
            Some(self.pieces.terms.not(mask))
        } else if let Op::And(x, y) = op {
            let [x, y] = self.masks([x, y], depth)?;
            Some(self.pieces.terms.and(x, y))
        } else if let Op::Or(x, y) = op {
            let [x, y] = self.masks([x, y], depth)?;
            Some(self.pieces.terms.or(x, y))
        } else if let Op::SignedLess(less, greater) = op {
            self.comparison(Sign::Signed, [less, greater])
        } else if let Op::UnsignedLess(less, greater) = op {
            self.comparison(Sign::Unsigned, [less, greater])
        } else if let Op::Equal(x, y) = op {
            self.equality([x, y])
        } else {
            None
        }
    }

    /// The masks of two conditions, if one of them compares lanes with words.
    fn masks(&mut self, conditions: [Term; 2], depth: u32) -> Option<[Term; 2]> {
        let [x, y] = conditions.map(|condition| self.mask(condition, depth + 1));
        let bits = self.lanes.bits();
        let plain = conditions.map(|condition| self.pieces.terms.sign_extend(condition, bits));
        (x.is_some() || y.is_some()).then(|| [x.unwrap_or(plain[0]), y.unwrap_or(plain[1])])
    }

    /// Whether one is less than the other, if just one of them is a lane.
    fn comparison(&mut self, compared: Sign, [less, greater]: [Term; 2]) -> Option<Term> {
        let lanes = [less, greater].map(|term| self.pieces.sign_of_lane(term));
        let (word, term, sign, beyond) = match lanes {
            [None, Some(sign)] => (less, greater, sign, What::Below),
            [Some(sign), None] => (greater, less, sign, What::Above),
            _ => return None,
        };
        let is_number = self.pieces.terms.value(term).is_some();
        if is_number || compared == Sign::Unsigned && sign == Sign::Signed {
            return None;
        }
        self.pieces.word(word)?;
        let decided = Decided { word, compared, sign, what: What::Nearest };
        let bits = self.lanes.bits();
        let lane = self.pieces.part(term, 0, bits);
        let nearest = self.pieces.decided(decided);
        let ordered = if beyond == What::Below { [nearest, lane] } else { [lane, nearest] };
        let terms = &mut self.pieces.terms;
        let is_less = match sign {
            Sign::Unsigned => terms.unsigned_less(ordered[0], ordered[1]),
            Sign::Signed => terms.signed_less(ordered[0], ordered[1]),
        };
        let mask = terms.sign_extend(is_less, bits);
        if !self.may_be(decided, beyond) {
            return Some(mask);
        }
        let beyond = self.pieces.decided(Decided { what: beyond, ..decided });
        Some(self.pieces.terms.or(mask, beyond))
    }

    /// Whether two are equal, if just one of them is a lane.
    fn equality(&mut self, both: [Term; 2]) -> Option<Term> {
        let (word, term, sign) = match both.map(|term| self.pieces.sign_of_lane(term)) {
            [None, Some(sign)] => (both[0], both[1], sign),
            [Some(sign), None] => (both[1], both[0], sign),
            _ => return None,
        };
        let is_number = self.pieces.terms.value(term).is_some();
        self.pieces.word(word).filter(|_| !is_number)?;
        let bits = self.lanes.bits();
        let [lane, low] = [term, word].map(|of| self.pieces.part(of, 0, bits));
        let terms = &mut self.pieces.terms;
        let is_equal = terms.equal(lane, low);
        let mask = terms.sign_extend(is_equal, bits);
        let inside = Decided { word, compared: Sign::Signed, sign, what: What::Inside };
        let inside = self.pieces.decided(inside);
        Some(self.pieces.terms.and(mask, inside))
    }

    /// Whether a word may lie beyond all lanes.
    fn may_be(&mut self, decided: Decided, beyond: What) -> bool {
        let fact = self.pieces.fact(decided.word);
        let [least, most] = limits(decided.sign, self.lanes.bits()).map(i128::from);
        match (decided.compared, beyond) {
            (Sign::Signed, What::Below) => fact.signed().0 < least,
            (Sign::Signed, _) => fact.signed().1 > most,
            // Lanes begin at zero then.
            (Sign::Unsigned, What::Below) => false,
            (Sign::Unsigned, _) => fact.unsigned().1 > most.cast_unsigned(),
        }
    }

    /// A word whose lanes are all decided, alike, by whole words.
    pub(super) fn decided(&mut self, lanes: &[Option<Term>]) -> Option<Source> {
        let all: Vec<Option<Decided>> = lanes.iter().map(|lane| self.pieces.decided_by((*lane)?)).collect();
        if lanes.iter().zip(&all).any(|(lane, decided)| lane.is_some() && decided.is_none()) {
            return None;
        }
        let first = *all.iter().flatten().next()?;
        let all = all.into_iter().map(|decided| decided.unwrap_or(first));
        let words: Option<Vec<Source>> = all
            .map(|decided| {
                let is_alike = Decided { word: first.word, ..decided } == first;
                Some(Source::Value(self.pieces.word(decided.word).filter(|_| is_alike)?))
            })
            .collect();
        let words = words?;
        if !self.is_made(Way::Decided) {
            return None;
        }
        Some(match (first.what, first.compared) {
            (What::Nearest, Sign::Signed) => self.packed(first.sign, self.lanes.bits(), &words),
            (What::Nearest, Sign::Unsigned) => {
                let most = Source::Constant(limits(first.sign, self.lanes.bits())[1].cast_unsigned());
                let least = |word: &Source| Step::plain(op::MIN_U32, &[*word, most]);
                let clamped: Vec<Source> = words.iter().map(|word| self.push(least(word))).collect();
                self.side_by_side_of(&clamped, |_| 0)
            }
            (What::Below | What::Above | What::Inside, _) => {
                let masks: Vec<Source> = words.iter().map(|&word| self.mask_of(first, word)).collect();
                self.side_by_side_of(&masks, |at| at)
            }
        })
    }

    /// Ones where a word lies beyond all lanes, or inside, else zeros.
    fn mask_of(&mut self, decided: Decided, word: Source) -> Source {
        let [least, most] = limits(decided.sign, self.lanes.bits());
        let ty = if decided.compared == Sign::Signed { op::S32 } else { op::U32 };
        let step = match decided.what {
            What::Below if least == 0 => Step::plain(op::SHR_S32, &[word, Source::Constant(31)]),
            What::Below => Step::plain(op::SET.with(&[op::LT, op::U32, ty]), &[word, constant(least)]),
            What::Above => Step::plain(op::SET.with(&[op::GT, op::U32, ty]), &[word, constant(most)]),
            What::Inside => {
                let moved = match least {
                    0 => word,
                    _ => self.push(Step::plain(op::ADD_U32, &[word, constant(-least)])),
                };
                Step::plain(op::SET.with(&[op::LE, op::U32, op::U32]), &[moved, constant(most - least)])
            }
            What::Nearest => unreachable!("the nearest lane is no mask"),
        };
        self.push(step)
    }

    /// A word each of whose lanes is one of a word of its own: that in a place.
    fn side_by_side_of(&mut self, words: &[Source], place: fn(usize) -> usize) -> Source {
        let own: Vec<usize> = (0..words.len()).collect();
        let mut places: Vec<usize> = own.iter().copied().map(place).collect();
        let mut word = words[0];
        let is_new = |&at: &usize| words[..at].iter().all(|before| *before != words[at]);
        for next in (1..words.len()).filter(is_new).map(|at| words[at]) {
            for at in own.iter().copied().filter(|&at| words[at] == next) {
                places[at] = words.len() + place(at);
            }
            let selector = Source::Constant(self.digits(&places));
            word = self.push(Step::plain(op::PRMT_B32, &[word, next, selector]));
            places.clone_from(&own);
        }
        if places == own {
            return word;
        }
        let selector = Source::Constant(self.digits(&places));
        self.push(Step::plain(op::PRMT_B32, &[word, Source::Constant(0), selector]))
    }
}
