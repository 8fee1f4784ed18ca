//! Words whose lanes are read from words that are there: one as it is, or lanes of several, moved.
//!
//! A lane may lie in several words. Which of them is read changes nothing but how many moves there are.

use super::pieces::Home;
use super::words::Words;
use crate::graph::{Origin, ValueId};
use crate::recipe::{Recipe, Source, Step};
use crate::site::Site;
use ptxopt_grammar::meaning::term::Term;
use ptxopt_grammar::table::instruction::op;

/// How many words are looked at for one that has the lanes of a site.
const MOST_ELSEWHERE: usize = 8;

impl Words {
    /// A word of which all lanes are the low bits of one register of 16.
    pub(super) fn repeated(&mut self, lanes: &[Option<Term>]) -> Option<Source> {
        let mut wanted = lanes.iter().flatten();
        let &lane = wanted.next()?;
        if wanted.any(|&other| other != lane) {
            return None;
        }
        let wide = self.widened(lane)?;
        let selector = Source::Constant(self.digits(&vec![0; lanes.len()]));
        Some(self.push(Step::plain(op::PRMT_B32, &[wide, Source::Constant(0), selector])))
    }

    /// A word of whose lanes all but the lowest are zeros, which lies in no word.
    fn alone(&mut self, lanes: &[Option<Term>]) -> Option<Source> {
        let (&lowest, others) = lanes.split_first()?;
        let is_zero = |lane: &Option<Term>| lane.is_some_and(|lane| self.number(lane) == Some(0));
        let lane = lowest.filter(|&lane| self.pieces.homes(lane).next().is_none())?;
        if others.iter().all(is_zero) { self.extended(lane) } else { None }
    }

    /// A word whose lowest lane is the low bits of a register of 16, and the others are zeros.
    pub(super) fn extended(&mut self, lane: Term) -> Option<Source> {
        let wide = self.widened(lane)?;
        if self.pieces.is_extended(self.pieces.narrow(lane)?) {
            return Some(wide);
        }
        let ones = u32::MAX >> (32 - self.lanes.bits());
        Some(self.push(Step::plain(op::AND_B32, &[wide, Source::Constant(ones.into())])))
    }

    /// A word whose lowest lane is the low bits of a register of 16; what is above it may be anything.
    pub(super) fn widened(&mut self, lane: Term) -> Option<Source> {
        let narrow = self.pieces.narrow(lane)?;
        Some(self.push(Step::plain(op::CVT_U32_U16, &[Source::Value(narrow)])))
    }

    /// Where a lane can be read: in words, or else in a register of 16 bits.
    fn homes_of(&self, lane: Term) -> Vec<Home> {
        self.pieces.homes(lane).chain(self.home_outside(lane)).collect()
    }

    /// Where a lane can be read that lies in no word: in a register of 16 bits.
    fn home_outside(&self, lane: Term) -> Option<Home> {
        let is_outside = self.number(lane).is_none() && self.pieces.homes(lane).next().is_none();
        self.pieces.narrow(lane).filter(|_| is_outside).map(|narrow| (narrow, 0))
    }

    /// The word of a home.
    fn read(&mut self, word: ValueId) -> Source {
        match self.pieces.width_of(word) {
            16 => self.push(Step::plain(op::CVT_U32_U16, &[Source::Value(word)])),
            _ => Source::Value(word),
        }
    }

    fn number(&self, lane: Term) -> Option<u32> {
        self.pieces.terms.value(lane).map(|value| u32::try_from(value).expect("a lane has few bits"))
    }

    /// The number that all of these lanes are.
    pub(super) fn constant(&self, lanes: &[Option<Term>]) -> Option<u32> {
        let bits = self.lanes.bits();
        lanes.iter().zip(0..).try_fold(0, |word, (lane, at)| match lane {
            Some(lane) => Some(word | self.number(*lane)? << (at * bits)),
            None => Some(word),
        })
    }

    /// A word that has these lanes in their places.
    pub(super) fn there(&self, lanes: &[Option<Term>]) -> Option<ValueId> {
        let wanted = || lanes.iter().enumerate().filter_map(|(at, lane)| Some((at, (*lane)?)));
        let has = |word, (at, lane): (usize, Term)| self.pieces.lies(lane, (word, at));
        let (_, first) = wanted().next()?;
        let mut words = self.pieces.homes(first).map(|(word, _)| word);
        words.find(|&word| wanted().all(|lane| has(word, lane)))
    }

    /// A word that another statement has put together before of all that these lanes are, as it is or moved, though the
    /// site is not made of it.
    pub(super) fn elsewhere(&self, site: &Site<'_, '_, '_>, lanes: &[Option<Term>]) -> Option<Recipe> {
        let Origin::Result(stmt) = site.graph.value(site.value).origin else { return None };
        let homes = |lane: Term| self.pieces.homes.get(&lane).map_or(&[][..], Vec::as_slice);
        let is_number = |lane: Term| self.number(lane).is_some();
        let moved = lanes.iter().flatten().filter(|&&lane| !is_number(lane));
        let fewest = moved.map(|&lane| homes(lane)).min_by_key(|homes| homes.len())?;
        let mut words = fewest.iter().map(|&(word, _)| word).rev().take(MOST_ELSEWHERE);
        let place = |word: ValueId, lane: Term, at: usize| {
            let lies = |place: usize| homes(lane).binary_search(&(word, place)).is_ok();
            if lies(at) { Some(at) } else { (0..lanes.len()).find(|&place| lies(place)) }
        };
        let (word, places) = words.find_map(|word| {
            let find = |(at, lane): (usize, &Option<Term>)| match *lane {
                Some(lane) if is_number(lane) => Some(lanes.len() + at),
                Some(lane) => place(word, lane, at),
                None => Some(at),
            };
            let places: Option<Vec<usize>> = lanes.iter().enumerate().map(find).collect();
            let is_there = word != site.value && site.graph.holds(word, stmt);
            places.filter(|_| is_there).map(|places| (word, places))
        })?;
        site.asked.borrow_mut().push(word);
        if places.iter().copied().eq(0..lanes.len()) {
            return Some(Recipe::copy(Source::Value(word), 32));
        }
        let numbers: Vec<Option<Term>> =
            lanes.iter().map(|lane| lane.filter(|&lane| is_number(lane))).collect();
        let numbers = Source::Constant(self.constant(&numbers).expect("these are numbers").into());
        let digits = Source::Constant(self.digits(&places));
        Some(Recipe::one(Step::plain(op::PRMT_B32, &[Source::Value(word), numbers, digits])))
    }

    /// A word whose lanes are read from words that are there: one as it is, or lanes of two, moved.
    pub(super) fn gathered(&mut self, lanes: &[Option<Term>]) -> Option<Source> {
        if let Some(number) = self.constant(lanes) {
            return Some(Source::Constant(number.into()));
        }
        if let Some(word) = self.there(lanes) {
            return Some(Source::Value(word));
        }
        if let Some(word) = self.widened_bytes(lanes).or_else(|| self.alone(lanes)) {
            return Some(word);
        }
        let wanted: Vec<(usize, Term)> =
            lanes.iter().enumerate().filter_map(|(at, lane)| Some((at, (*lane)?))).collect();
        let moved: Vec<(usize, Term)> =
            wanted.iter().copied().filter(|&(_, lane)| self.number(lane).is_none()).collect();
        let first = self.homes_of(moved.first()?.1);
        let place = |word, lane: Term, at: usize| {
            let homes = self.pieces.homes(lane).chain(self.home_outside(lane));
            homes.filter(|&(home, _)| home == word).map(|(_, place)| place).min_by_key(|&place| place != at)
        };
        let numbers: Option<u32> = (moved.len() < wanted.len()).then(|| {
            let only: Vec<Option<Term>> =
                lanes.iter().map(|lane| lane.filter(|&lane| self.number(lane).is_some())).collect();
            self.constant(&only).expect("these are numbers")
        });
        for &(one, _) in &first {
            let rest = moved.iter().find(|&&(at, lane)| place(one, lane, at).is_none());
            let others: Vec<Option<Home>> = match rest {
                None => vec![None],
                Some(_) if numbers.is_some() => Vec::new(),
                Some(&(_, lane)) => self.homes_of(lane).into_iter().map(Some).collect(),
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
                    let first = self.read(one);
                    let second = match other {
                        Some((word, _)) => self.read(word),
                        None => Source::Constant(numbers.unwrap_or(0).into()),
                    };
                    let digits = Source::Constant(self.digits(&places));
                    return Some(self.push(Step::plain(op::PRMT_B32, &[first, second, digits])));
                }
            }
        }
        None
    }

    /// A word whose lanes are read from more words than two, put together two at a time: from those that hold most of
    /// the lanes, or from those furthest away.
    pub(super) fn collected(
        &mut self,
        lanes: &[Option<Term>],
        without: &[ValueId],
        nearest: bool,
    ) -> Option<Source> {
        let number = |lane: &Option<Term>| lane.filter(|&lane| self.number(lane).is_some());
        let numbers: Vec<Option<Term>> = lanes.iter().map(number).collect();
        let number = numbers.iter().any(Option::is_some).then(|| self.constant(&numbers)).flatten();
        let mut left: Vec<(usize, Vec<Home>)> = lanes
            .iter()
            .enumerate()
            .filter(|&(at, _)| numbers[at].is_none())
            .filter_map(|(at, lane)| Some((at, self.homes_of((*lane)?))))
            .collect();
        let mut words: Vec<(Source, Vec<(usize, usize)>)> = Vec::new();
        while let Some((_, homes)) = left.first() {
            // Lanes stay in their places where they can.
            let in_word = |word: ValueId| {
                let place = |(at, homes): &(usize, Vec<Home>)| {
                    let places = homes.iter().filter(|&&(value, _)| value == word).map(|&(_, place)| place);
                    Some((*at, places.min_by_key(|place| place != at)?))
                };
                left.iter().filter_map(place).collect::<Vec<_>>()
            };
            let allowed = homes.iter().filter(|(word, _)| !without.contains(word));
            let mut all = allowed.map(|&(word, _)| (word, in_word(word)));
            let furthest = all.next()?;
            let (word, places) = match nearest {
                true => {
                    all.fold(furthest, |best, next| if next.1.len() > best.1.len() { next } else { best })
                }
                false => furthest,
            };
            left.retain(|(at, _)| places.iter().all(|(place, _)| place != at));
            words.push((self.read(word), places));
        }
        if let Some(number) = number {
            let places = numbers.iter().enumerate().filter(|(_, lane)| lane.is_some());
            words.push((Source::Constant(number.into()), places.map(|(at, _)| (at, at)).collect()));
        }
        let mut words = words.into_iter();
        let (mut word, mut places) = words.next()?;
        for (next, lanes_of_next) in words {
            // Lanes that were put together stand in their places, and so do those that nothing is known of yet.
            let mut all: Vec<usize> = (0..lanes.len()).collect();
            for &(at, place) in &places {
                all[at] = place;
            }
            for &(at, place) in &lanes_of_next {
                all[at] = lanes.len() + place;
            }
            let selector = Source::Constant(self.digits(&all));
            word = self.push(Step::plain(op::PRMT_B32, &[word, next, selector]));
            places = places.iter().chain(&lanes_of_next).map(|&(at, _)| (at, at)).collect();
        }
        Some(word)
    }

    /// A word of whose four lanes each lies in a word of its own: of halves of these words that are interleaved, two
    /// and two. The lanes beside these lie in what is interleaved too, so that to transpose four words takes eight
    /// moves.
    pub(super) fn transposed(&mut self, lanes: &[Option<Term>]) -> Option<Source> {
        let &[Some(first), Some(second), Some(third), Some(fourth)] = lanes else { return None };
        // A register that holds only one lane has no other to interleave for the next word, so it would not pay.
        let is_number = |&lane: &Term| self.pieces.terms.value(lane).is_some();
        let (numbers, others): (Vec<Term>, Vec<Term>) =
            lanes.iter().flatten().partition(|lane| is_number(lane));
        if !numbers.is_empty() && !others.into_iter().all(|lane| self.has_neighbour(lane)) {
            return None;
        }
        let (low, [first, second]) = self.interleaved_halves(first, second)?;
        let (high, [third, fourth]) = self.interleaved_halves(third, fourth)?;
        let selector = self.digits(&[first, second, lanes.len() + third, lanes.len() + fourth]);
        Some(self.push(Step::plain(op::PRMT_B32, &[low, high, Source::Constant(selector)])))
    }

    /// Whether the first word that a lane lies in may have another lane.
    fn has_neighbour(&mut self, lane: Term) -> bool {
        let word = self.pieces.homes(lane).next().and_then(|(word, _)| self.pieces.near_term(word));
        let most = u128::from(u32::MAX >> (u32::BITS - self.lanes.bits()));
        word.is_some_and(|word| self.pieces.fact(word).unsigned().1 > most)
    }

    /// The halves of two words, interleaved, that have these lanes, and where they then are. Of the words that have a
    /// lane the first one counts, since others that have the lane beside it are made of this one too. One of both may be a
    /// number, of which all lanes of a word are.
    fn interleaved_halves(&mut self, low: Term, high: Term) -> Option<(Source, [usize; 2])> {
        let is_number = |term: Term| self.pieces.terms.value(term).is_some();
        let (lane, number, is_above) = match (is_number(low), is_number(high)) {
            (false, false) => return self.interleaved_lanes(low, high),
            (false, true) => (low, high, true),
            (true, false) => (high, low, false),
            (true, true) => return None,
        };
        let (word, place) = self.pieces.homes(lane).next()?;
        let half = place / 2 * 2;
        let places = if is_above { [half, 4, half + 1, 4] } else { [4, half, 4, half + 1] };
        let selector = self.digits(&places);
        // Next to the moves of others, so that the number is in a register of its own.
        let number = match self.constant(&[Some(number); 4])? {
            0 => Source::Constant(0),
            number => self.register(Source::Constant(number.into())),
        };
        let word =
            self.push(Step::plain(op::PRMT_B32, &[Source::Value(word), number, Source::Constant(selector)]));
        let first = place % 2 * 2;
        Some((word, [first, first + 1]))
    }

    fn interleaved_lanes(&mut self, low: Term, high: Term) -> Option<(Source, [usize; 2])> {
        let (one, place) = self.pieces.homes(low).next()?;
        let (other, other_place) = self.pieces.homes(high).find(|&(word, _)| word != one)?;
        let (half, other_half) = (place / 2 * 2, 4 + other_place / 2 * 2);
        let selector = self.digits(&[half, other_half, half + 1, other_half + 1]);
        let words = [Source::Value(one), Source::Value(other), Source::Constant(selector)];
        let word = self.push(Step::plain(op::PRMT_B32, &words));
        Some((word, [place % 2 * 2, other_place % 2 * 2 + 1]))
    }

    /// The selector of `prmt` that takes these lanes of two words.
    pub(super) fn digits(&self, places: &[usize]) -> u64 {
        let bytes = self.lanes.bits() as usize / 8;
        let digit = |(at, place): (usize, &usize)| {
            (0..bytes).fold(0, |all, byte| all | ((place * bytes + byte) as u64) << (4 * (at * bytes + byte)))
        };
        places.iter().enumerate().map(digit).sum()
    }
}
