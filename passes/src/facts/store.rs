//! What is known of many values, in little memory: four bytes for each, and what more than one share once.
//!
//! Of most values nothing is known, or all bits are demanded. So a value has a number, and facts and masks of bits
//! stand in a list of their own.

use super::Fact;
use hashbrown::HashMap;
use std::ops::Index;

/// How many widths there are, from 0 on.
const WIDTHS: usize = 129;

/// Facts by number of the value.
#[derive(Clone, Debug)]
pub struct Facts {
    places: Vec<u32>,
    list: Vec<Fact>,
    /// By width: the place of the fact that says nothing, and of the one that says that no number is possible. All
    /// values of which these are true share them.
    shared: [[Option<u32>; 2]; WIDTHS],
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

    fn next(&self) -> u32 {
        u32::try_from(self.list.len()).expect("there are no more facts than values")
    }

    fn shared(&mut self, width: u32, impossible: bool) -> u32 {
        let place = &mut self.shared[width as usize][usize::from(impossible)];
        if let Some(place) = *place {
            return place;
        }
        let next = u32::try_from(self.list.len()).expect("there are no more facts than values");
        *place = Some(next);
        self.list.push(if impossible { Fact::bottom(width) } else { Fact::top(width) });
        next
    }

    /// Says what is known of the next value.
    pub(crate) fn push(&mut self, fact: Fact) {
        let place = if fact.is_top() {
            self.shared(fact.width(), false)
        } else {
            let next = self.next();
            self.list.push(fact);
            next
        };
        self.places.push(place);
    }

    /// Of how many values something is said.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Says something else of a value for which some number is possible.
    pub(crate) fn set(&mut self, value: usize, fact: Fact) {
        let place = self.places[value] as usize;
        if fact.is_top() {
            self.places[value] = self.shared(fact.width(), false);
        } else if self.list[place].is_top() || self.list[place].is_bottom() {
            self.places[value] = self.next();
            self.list.push(fact);
        } else {
            self.list[place] = fact;
        }
    }
}

/// Of no values.
impl Default for Facts {
    fn default() -> Self {
        Self { places: Vec::new(), list: Vec::new(), shared: [[None; 2]; WIDTHS] }
    }
}

impl Index<usize> for Facts {
    type Output = Fact;

    fn index(&self, value: usize) -> &Fact {
        &self.list[self.places[value] as usize]
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

impl Index<usize> for Masks {
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
        facts.set(0, Fact::exact(5, 8));
        facts.set(2, Fact::exact(5, 8));
        facts.set(2, Fact::from_unsigned(5, 6, 8));
        let all: Vec<Fact> = (0..4).map(|value| facts[value]).collect();
        assert_eq!(all, [Fact::exact(5, 8), Fact::top(8), Fact::from_unsigned(5, 6, 8), Fact::top(32)]);
        facts.set(2, Fact::top(8));
        facts.set(0, Fact::exact(7, 8));
        assert_eq!([facts[0], facts[1], facts[2]], [Fact::exact(7, 8), Fact::top(8), Fact::top(8)]);
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
