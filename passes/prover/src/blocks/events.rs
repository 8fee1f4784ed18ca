//! Events: what statements do besides computing, and what instructions do that have no meaning.
//!
//! An event of the new block takes the results of that event of the old one which it is proved to be:
//!
//! - **Ordered** events (stores, atomics, barriers, calls, votes, clocks, volatile accesses, unknown instructions) in
//!   their order, one by one: none more, none less.
//! - **Plain loads**, which other threads cannot observe: each is another load of the old block with the same
//!   operands, after the same ordered events that may change the memory it reads: a weak store to one state space
//!   changes no other. Loads may be left out, none may be added.
//! - **Pure** instructions are functions of their operands, wherever they stand.
//!
//! An access to a word may take the place of several to its parts ([`super::neighbours`]).

use super::Stop;
use super::questions::Answer;
use super::shape::{Class, Shape};
use super::walk::{CANDIDATES, Walk};
use super::words::{Space, pieces};
use ptxopt_grammar::meaning::term::{Term, ones};
use ptxopt_grammar::tree::StmtId;

/// An event of the old block.
pub(super) struct Event {
    pub(super) stmt: StmtId,
    pub(super) shape: Shape,
    pub(super) results: Vec<Term>,
    /// How many events come before it that may change what it reads.
    pub(super) changes: (usize, usize),
    pub(super) taken: bool,
}

/// How many events that may change memory came so far.
#[derive(Clone, Copy, Default)]
pub(super) struct Changes {
    /// Those that may change any memory.
    any: usize,
    /// Those that change one state space alone.
    of: [usize; Space::ALL.len()],
}

impl Changes {
    fn count(&mut self, space: Option<Space>, events: usize) {
        *space.map_or(&mut self.any, |space| &mut self.of[space as usize]) += events;
    }

    /// What a read of a state space depends on, or one of any memory.
    pub(super) fn of(&self, space: Option<Space>) -> (usize, usize) {
        (self.any, space.map_or_else(|| self.of.iter().sum(), |space| self.of[space as usize]))
    }
}

impl Walk<'_, '_> {
    /// Executes an instruction of which only the shape is known.
    pub(super) fn event(&mut self, side: usize, stmt: StmtId, shape: Shape) -> Result<(), Stop> {
        let mut count = 1;
        let results = match (side, shape.class) {
            (0, Class::Pure) => self.pure(&shape),
            (0, Class::Load | Class::Ordered(_)) => self.results(&shape),
            (_, Class::Pure) => self.pure_or_proved(&shape),
            (_, Class::Load) => self.load(stmt, &shape)?,
            (_, Class::Ordered(_)) => {
                let (results, events) = self.ordered(stmt, &shape)?;
                count = events;
                results
            }
        };
        for target in &shape.targets {
            let width = self.registers.width(target.register);
            let terms = &mut self.arena.terms;
            let (result, low) = target.from;
            let result = terms.extract(results[result], low, target.bits);
            let value = match target.signed {
                true => terms.sign_extend(result, width),
                false => terms.zero_extend(result, width),
            };
            self.write(side, target.register, value, shape.guard);
        }
        let changes = self.changes[side].of(shape.space);
        if shape.class == Class::Ordered(true) {
            self.changes[side].count(shape.space, count);
        }
        if side == 0 && shape.class != Class::Pure {
            self.events.push(Event { stmt, shape, results, changes, taken: false });
        }
        Ok(())
    }

    fn results(&mut self, shape: &Shape) -> Vec<Term> {
        shape.results.iter().map(|&bits| self.arena.fresh(bits)).collect()
    }

    fn pure(&mut self, shape: &Shape) -> Vec<Term> {
        let key = (shape.text.clone(), shape.operands.clone());
        if let Some(known) = self.exact.get(&key) {
            return known.clone();
        }
        let results = self.results(shape);
        self.exact.insert(key, results.clone());
        self.operands.extend(results.iter().map(|&result| (result, shape.operands.clone())));
        self.pure.entry(shape.text.clone()).or_default().push((shape.operands.clone(), results.clone()));
        results
    }

    fn pure_or_proved(&mut self, shape: &Shape) -> Vec<Term> {
        let key = (shape.text.clone(), shape.operands.clone());
        if self.exact.contains_key(&key) {
            return self.pure(shape);
        }
        let candidates = self.pure.get(&shape.text).cloned().unwrap_or_default();
        let mut asked = 0;
        for (operands, results) in candidates.iter().rev() {
            let likely = operands.len() == shape.operands.len()
                && operands
                    .iter()
                    .zip(&shape.operands)
                    .all(|(&old, &new)| self.arena.values(old) == self.arena.values(new));
            if likely && asked < CANDIDATES {
                asked += 1;
                if self.same(operands, &shape.operands).is_none() {
                    self.exact.insert(key, results.clone());
                    return results.clone();
                }
            }
        }
        self.pure(shape)
    }

    /// The first operand that is not proved equal, and why not.
    pub(super) fn same(&mut self, olds: &[Term], news: &[Term]) -> Option<(usize, Answer)> {
        for (at, (&old, &new)) in olds.iter().zip(news).enumerate() {
            let width = self.arena.terms.width(old);
            if self.arena.terms.width(new) != width {
                return Some((at, Answer::Unknown));
            }
            let answer = self.questions.equal(&mut self.arena, old, new, ones(width));
            if answer != Answer::Equal {
                return Some((at, answer));
            }
        }
        None
    }

    fn load(&mut self, stmt: StmtId, shape: &Shape) -> Result<Vec<Term>, Stop> {
        let changes = self.changes[1].of(shape.space);
        let fits = |event: &Event| {
            !event.taken
                && event.shape.class == Class::Load
                && event.changes == changes
                && event.shape.text == shape.text
                && event.shape.operands.len() == shape.operands.len()
        };
        let fitting: Vec<usize> = (0..self.events.len()).filter(|&at| fits(&self.events[at])).collect();
        let exact = fitting.iter().copied().find(|&at| self.events[at].shape.operands == shape.operands);
        let mut found = exact;
        for &at in fitting.iter().take(CANDIDATES).filter(|_| exact.is_none()) {
            let operands = self.events[at].shape.operands.clone();
            if self.same(&operands, &shape.operands).is_none() {
                found = Some(at);
                break;
            }
        }
        if found.is_none()
            && let Some(word) = self.load_of_parts(stmt, shape)?
        {
            return Ok(vec![word]);
        }
        let at = found.ok_or_else(|| match fitting[..] {
            [] => Stop::at(stmt, "reads memory in a way that the first file does not"),
            [..] => {
                Stop::at(stmt, "reads memory at an address that was not proved to be one of the first file's")
            }
        })?;
        self.take(at, shape);
        Ok(pieces(&mut self.arena.terms, &self.events[at].results, &shape.results))
    }

    pub(super) fn take(&mut self, at: usize, shape: &Shape) {
        let event = &mut self.events[at];
        event.taken = true;
        self.roots.extend(event.shape.operands.iter().chain(&shape.operands));
    }

    /// The results of an ordered event, and how many of the old block's it is.
    fn ordered(&mut self, stmt: StmtId, shape: &Shape) -> Result<(Vec<Term>, usize), Stop> {
        let ordered = |event: &Event| matches!(event.shape.class, Class::Ordered(_));
        let at = (self.next..self.events.len()).find(|&at| ordered(&self.events[at]));
        let at = at.ok_or_else(|| Stop::at(stmt, "has no counterpart in the first file"))?;
        if let Some(count) = self.store_of_parts(stmt, at, shape)? {
            return Ok((Vec::new(), count));
        }
        let old = &self.events[at];
        let counterpart = old.stmt;
        if old.shape.text != shape.text || old.shape.operands.len() != shape.operands.len() {
            return Err(Stop::at(stmt, "differs from what the first file has there").beside(counterpart));
        }
        let operands = old.shape.operands.clone();
        if let Some((operand, answer)) = self.same(&operands, &shape.operands) {
            let what = if operand == 0 { "guard".to_owned() } else { format!("operand {operand}") };
            return Err(unequal(stmt, &what, answer).beside(counterpart));
        }
        self.next = at + 1;
        self.take(at, shape);
        Ok((self.events[at].results.clone(), 1))
    }

    /// Proves what both sides of the end of a pair depend on to be equal, and gives it as the old side has it.
    pub(super) fn condition(&mut self, stmt: StmtId, what: &str, terms: [Term; 2]) -> Result<Term, Stop> {
        let [old, new] = terms;
        match self.same(&[old], &[new]) {
            None => {
                self.roots.extend([old, new]);
                Ok(old)
            }
            Some((_, answer)) => Err(unequal(stmt, what, answer)),
        }
    }
}

fn unequal(stmt: StmtId, what: &str, answer: Answer) -> Stop {
    match answer {
        Answer::Unknown => {
            Stop::at(stmt, &format!("its {what} was not decided within the budget of the search"))
        }
        Answer::Differs(_) | Answer::Equal => {
            Stop::at(stmt, &format!("its {what} was not proved to be the same"))
        }
    }
}
