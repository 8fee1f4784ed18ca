//! Inputs for registers: one number for a register that is defined, a new one for each read of one that may not be.
//!
//! An undefined register may yield a different number at each read, so a proof must not rely on two reads being
//! equal; with an input for each read it cannot.

use hashbrown::HashMap;
use ptxopt_grammar::meaning::term::{Term, Terms};
use std::collections::BTreeSet;
use std::hash::Hash;

/// Hands out inputs. What is common to both sides of a question is read through the same `Reads`.
#[derive(Clone, Debug)]
pub struct Reads<R> {
    known: HashMap<R, u32>,
    registers: Vec<R>,
    undefined: BTreeSet<u32>,
}

impl<R> Default for Reads<R> {
    fn default() -> Self {
        Self { known: HashMap::new(), registers: Vec::new(), undefined: BTreeSet::new() }
    }
}

impl<R: Clone + Eq + Hash> Reads<R> {
    /// Nothing is read yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn next(&mut self, register: R) -> u32 {
        let number = u32::try_from(self.registers.len()).expect("there are no more reads than numbers");
        self.registers.push(register);
        number
    }

    /// A read of a register that certainly was written.
    pub fn defined(&mut self, terms: &mut Terms, register: R, width: u32) -> Term {
        let number = match self.known.get(&register) {
            Some(&number) => number,
            None => {
                let number = self.next(register.clone());
                self.known.insert(register, number);
                number
            }
        };
        terms.input(number, width)
    }

    /// A read of a register that perhaps was not written: a value of its own.
    pub fn undefined(&mut self, terms: &mut Terms, register: R, width: u32) -> Term {
        let number = self.next(register);
        self.undefined.insert(number);
        terms.input(number, width)
    }

    /// The register that an input is.
    #[must_use]
    pub fn register(&self, number: u32) -> Option<&R> {
        self.registers.get(number as usize)
    }

    /// All of these, by number.
    #[must_use]
    pub fn registers(&self) -> &[R] {
        &self.registers
    }

    /// The inputs for [`super::Query::undefined`].
    #[must_use]
    pub fn all_undefined(&self) -> BTreeSet<u32> {
        self.undefined.clone()
    }
}
