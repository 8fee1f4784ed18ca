//! What is known of many values, in little memory: four bytes for each, and what more than one share once.
//!
//! Of most values nothing is known, or all bits are demanded. So a value has a number, and facts and masks of bits
//! stand in lists of their own, facts about words of few bits in numbers of as few.

use super::Fact;
use hashbrown::HashMap;

/// How many widths there are, from 0 on.
const WIDTHS: usize = 129;

/// Facts by place.
pub(super) trait Known {
    /// What is known at a place.
    fn at(&self, place: u32) -> Fact;
}

impl Known for Vec<Fact> {
    fn at(&self, place: u32) -> Fact {
        self[place as usize]
    }
}

impl Known for Facts {
    fn at(&self, place: u32) -> Fact {
        self.get(place as usize)
    }
}

/// A fact about a word whose numbers fit into `N`.
#[derive(Clone, Copy, Debug)]
struct Packed<N> {
    width: u8,
    numbers: [N; Fact::NUMBERS],
}

impl<N: TryFrom<u128> + Into<u128> + Copy> Packed<N> {
    fn of(fact: &Fact) -> Self {
        let number =
            |number: u128| N::try_from(number).ok().expect("the list is that of words as wide as this");
        let width = u8::try_from(fact.width()).expect("a word has at most 128 bits");
        Self { width, numbers: fact.numbers().map(number) }
    }

    fn fact(self) -> Fact {
        Fact::of_numbers(self.numbers.map(Into::into), self.width.into())
    }
}

/// Where a fact stands.
#[derive(Clone, Copy, Debug)]
struct Place(u32);

impl Place {
    const fn new(list: u32, number: usize) -> Self {
        assert!(number < 1 << 30, "there are no more facts than values");
        #[expect(clippy::cast_possible_truncation, reason = "it was just compared")]
        Self(list | (number as u32) << 2)
    }

    /// The number of the list, and the place in it.
    const fn parts(self) -> (u32, usize) {
        (self.0 & 3, (self.0 >> 2) as usize)
    }
}

/// Facts in lists, by the width of the word.
#[derive(Clone, Debug, Default)]
struct ByWidth {
    narrow: Vec<Packed<u32>>,
    middle: Vec<Packed<u64>>,
    wide: Vec<Packed<u128>>,
}

impl ByWidth {
    fn push(&mut self, fact: &Fact) -> Place {
        match fact.width() {
            ..=32 => {
                self.narrow.push(Packed::of(fact));
                Place::new(0, self.narrow.len() - 1)
            }
            33..=64 => {
                self.middle.push(Packed::of(fact));
                Place::new(1, self.middle.len() - 1)
            }
            _ => {
                self.wide.push(Packed::of(fact));
                Place::new(2, self.wide.len() - 1)
            }
        }
    }

    fn get(&self, place: Place) -> Fact {
        match place.parts() {
            (0, at) => self.narrow[at].fact(),
            (1, at) => self.middle[at].fact(),
            (_, at) => self.wide[at].fact(),
        }
    }

    /// Another fact about a word of the same width.
    fn set(&mut self, place: Place, fact: &Fact) {
        match place.parts() {
            (0, at) => self.narrow[at] = Packed::of(fact),
            (1, at) => self.middle[at] = Packed::of(fact),
            (_, at) => self.wide[at] = Packed::of(fact),
        }
    }
}

/// Facts by number of the value.
#[derive(Clone, Debug)]
pub struct Facts {
    places: Vec<Place>,
    lists: ByWidth,
    /// By width: the place of the fact that says nothing, and of the one that says that no number is possible. All
    /// values of which these are true share them.
    shared: [[Option<Place>; 2]; WIDTHS],
}

impl Facts {
    /// Of values of these widths: that no number is possible, or nothing.
    pub(crate) fn of(all: impl Iterator<Item = (u32, bool)>) -> Self {
        let mut facts = Self::default();
        facts.places.reserve_exact(all.size_hint().0);
        for (width, impossible) in all {
            let place = facts.shared(width, impossible);
            facts.places.push(place);
        }
        facts
    }

    fn shared(&mut self, width: u32, impossible: bool) -> Place {
        let Self { lists, shared, .. } = self;
        let place = &mut shared[width as usize][usize::from(impossible)];
        *place.get_or_insert_with(|| {
            lists.push(&if impossible { Fact::bottom(width) } else { Fact::top(width) })
        })
    }

    /// Says what is known of the next value.
    pub(crate) fn push(&mut self, fact: &Fact) {
        let place = if fact.is_top() { self.shared(fact.width(), false) } else { self.lists.push(fact) };
        self.places.push(place);
    }

    /// Of how many values something is said.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// What is known of a value.
    ///
    /// # Panics
    ///
    /// If nothing was said of it.
    #[must_use]
    pub fn get(&self, value: usize) -> Fact {
        self.lists.get(self.places[value])
    }

    /// Says something else of a value for which some number is possible.
    pub(crate) fn set(&mut self, value: usize, fact: &Fact) {
        let place = self.places[value];
        let old = self.lists.get(place);
        if fact.is_top() {
            self.places[value] = self.shared(fact.width(), false);
        } else if old.is_top() || old.is_bottom() {
            self.places[value] = self.lists.push(fact);
        } else {
            self.lists.set(place, fact);
        }
    }
}

/// Of no values.
impl Default for Facts {
    fn default() -> Self {
        Self { places: Vec::new(), lists: ByWidth::default(), shared: [[None; 2]; WIDTHS] }
    }
}

/// Masks of bits by number of the value.
#[derive(Clone, Debug)]
pub struct Masks {
    places: Vec<u32>,
    list: Vec<u128>,
    known: HashMap<u128, u32>,
}

impl Masks {
    /// No bits of so many values.
    pub(crate) fn none(count: usize) -> Self {
        Self { places: vec![0; count], list: vec![0], known: HashMap::from_iter([(0, 0)]) }
    }

    /// Other bits of a value.
    pub(crate) fn set(&mut self, value: usize, bits: u128) {
        let next = u32::try_from(self.list.len()).expect("there are no more masks than bits and values");
        let place = *self.known.entry(bits).or_insert(next);
        if place == next {
            self.list.push(bits);
        }
        self.places[value] = place;
    }

    /// The bits of each value.
    pub fn iter(&self) -> impl Iterator<Item = &u128> {
        self.places.iter().map(|&place| &self.list[place as usize])
    }
}

impl std::ops::Index<usize> for Masks {
    type Output = u128;

    fn index(&self, value: usize) -> &u128 {
        &self.list[self.places[value] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_share_a_fact_do_not_change_together() {
        let mut facts = Facts::of([(8, false), (8, false), (8, true), (32, false)].into_iter());
        facts.set(0, &Fact::exact(5, 8));
        facts.set(2, &Fact::exact(5, 8));
        facts.set(2, &Fact::from_unsigned(5, 6, 8));
        let all: Vec<Fact> = (0..4).map(|value| facts.get(value)).collect();
        assert_eq!(all, [Fact::exact(5, 8), Fact::top(8), Fact::from_unsigned(5, 6, 8), Fact::top(32)]);
        facts.set(2, &Fact::top(8));
        facts.set(0, &Fact::exact(7, 8));
        assert_eq!([0, 1, 2].map(|value| facts.get(value)), [Fact::exact(7, 8), Fact::top(8), Fact::top(8)]);
    }

    #[test]
    fn facts_of_all_widths_come_back() {
        let mut facts = Facts::default();
        let mut all = Vec::new();
        for width in 1..=128 {
            let (least, most) = (i128::MIN >> (128 - width), i128::MAX >> (128 - width));
            all.extend([Fact::top(width), Fact::bottom(width), Fact::exact(u128::MAX, width)]);
            all.extend([Fact::from_signed(least, most / 2, width), Fact::from_signed(-1, 0, width)]);
            all.extend([Fact::from_unsigned(1, 1 << (width - 1), width), Fact::from_bits(1, 0, width)]);
        }
        all.iter().for_each(|fact| facts.push(fact));
        assert_eq!((0..all.len()).map(|value| facts.get(value)).collect::<Vec<_>>(), all);
    }

    #[test]
    fn masks_are_those_that_were_set() {
        let mut masks = Masks::none(3);
        masks.set(1, 0xff);
        masks.set(2, 0xff);
        masks.set(1, u128::MAX);
        assert_eq!(masks.iter().copied().collect::<Vec<_>>(), [0, u128::MAX, 0xff]);
        assert_eq!(masks[2], 0xff);
    }
}
