//! What terms are for the same numbers, of which each term is computed once, however many are asked for.
//!
//! Terms keep their numbers while more are made, so what was computed of one stays true.

use super::concrete::{Slot, Word, needed, operands, step};
use super::term::{Op, Term, Terms};
use hashbrown::HashMap;

/// Terms for `L` numbers each.
#[derive(Clone, Debug)]
pub struct Samples<W, const L: usize> {
    slots: Vec<[W; L]>,
    /// Where a term is; `None` if something that it is made of does not fit in the word.
    places: HashMap<Term, Option<Slot>>,
}

impl<W, const L: usize> Default for Samples<W, L> {
    fn default() -> Self {
        Self { slots: Vec::new(), places: HashMap::new() }
    }
}

impl<W: Word, const L: usize> Samples<W, L> {
    /// How many terms there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.places.len()
    }

    /// What a term is, if `input` gives the numbers of inputs; it must always give the same. `None` if something that the
    /// term is made of does not fit in the word.
    pub fn of(&mut self, terms: &Terms, root: Term, input: impl Fn(u32) -> [W; L]) -> Option<&[W; L]> {
        for term in needed(terms, &[root], |term| self.places.contains_key(&term)) {
            let slot = self.add(terms, term, &input);
            self.places.insert(term, slot);
        }
        self.places[&root].map(|slot| &self.slots[slot as usize])
    }

    /// Computes one more term; where it is.
    fn add(&mut self, terms: &Terms, term: Term, input: impl Fn(u32) -> [W; L]) -> Option<Slot> {
        let mut operands = operands(terms, term).into_iter().flatten();
        if terms.width(term) > W::BITS || operands.any(|of| self.places[&of].is_none()) {
            return None;
        }
        let at = |of: Term| self.places[&of].expect("all operands fit");
        let mut result = [W::default(); L];
        if let Op::ZeroExtend(inner) = terms.op(term) {
            return Some(at(inner));
        } else if let Some(value) = terms.value(term) {
            result = [W::cut(value); L];
        } else {
            step::<W>(terms, term, at).run_lanes(&self.slots, &mut result, input);
        }
        self.slots.push(result);
        Some(Slot::try_from(self.slots.len() - 1).expect("there are no more slots than terms"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meaning::concrete::evaluate;

    const INPUTS: [[u64; 4]; 2] = [[0, 1, 0x7fff_ffff, 0xffff_fff0], [3, 0xffff_ffff, 0x8000_0000, 7]];

    #[test]
    fn terms_are_what_evaluation_says() {
        let mut terms = Terms::new();
        let [a, b] = [0, 1].map(|number| terms.input(number, 32));
        let sum = terms.add(a, b);
        let low = terms.extract(sum, 0, 16);
        let wide = terms.sign_extend(low, 48);
        let less = terms.signed_less(a, b);
        let five = terms.constant(5, 48);
        let chosen = terms.choose(less, wide, five);
        let longer = terms.zero_extend(chosen, 60);
        let mut samples = Samples::<u64, 4>::default();
        for term in [sum, longer, wide, less, sum] {
            let all = *samples.of(&terms, term, |input| INPUTS[input as usize]).expect("all fit");
            for (at, value) in all.into_iter().enumerate() {
                let inputs = INPUTS.map(|lanes| lanes[at].into());
                assert_eq!(evaluate(&terms, &[term], &inputs), [value.into()], "{term:?} {at}");
            }
        }
    }

    #[test]
    fn what_does_not_fit_has_no_numbers() {
        let mut terms = Terms::new();
        let (long, short) = (terms.input(0, 80), terms.input(1, 16));
        let part = terms.extract(long, 7, 16);
        let sum = terms.add(part, short);
        let mut samples = Samples::<u64, 4>::default();
        assert_eq!(samples.of(&terms, sum, |_| [1; 4]), None);
        assert!(samples.of(&terms, short, |_| [1; 4]).is_some());
    }
}
