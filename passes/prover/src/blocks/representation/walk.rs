//! One block of the new text, statement by statement: what the registers of each word hold.
//!
//! All terms are over a few inputs, the same for all words: the word as the old text has it at this point, and unknowns
//! for registers of which nothing is known. So a function of any length has only a few different terms, and what is
//! proved about one word is proved about all that are kept in the same form.

use super::{Afters, Pairs, Stop, Word};
use crate::{Query, Verdict, prove};
use hashbrown::HashMap;
use ptxopt_grammar::function::Function;
use ptxopt_grammar::meaning::disputed::disputed_at;
use ptxopt_grammar::meaning::term::{Term, Terms};
use ptxopt_grammar::meaning::{Place, meaning};
use ptxopt_grammar::names::{NameParts, Part};
use ptxopt_grammar::roles::Role;
use ptxopt_grammar::table::{Control, Effects};
use ptxopt_grammar::tree::{DeclId, Module, NodeId, SpellingId, StmtId, StmtKind};
use std::collections::BTreeMap;

/// How many bits a word has, and each register that represents it.
const WIDTH: u32 = 32;

/// What can be said, after a block, of the registers that represent a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum After {
    /// They hold what they should if they did where the block was entered.
    AsBefore,
    /// They hold what they should.
    Holds,
    /// Nothing, since this statement.
    Lost(StmtId),
}

/// What a block means for the words.
#[derive(Default)]
pub(super) struct Block {
    /// The words that it must find represented where it is entered, each with the first statement that needs it.
    pub(super) needs: BTreeMap<usize, StmtId>,
    pub(super) after: Afters,
}

/// Which of the registers that belong to a word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Slot {
    /// The word itself.
    Word,
    /// What represents it, by number.
    Part(usize),
}

/// An inserted instruction, its guard left out: all that its meaning depends on.
#[derive(PartialEq, Eq, Hash)]
struct Form<'t> {
    opcode: SpellingId,
    nodes: Vec<Operand<'t>>,
}

/// A node of an operand.
#[derive(PartialEq, Eq, Hash)]
enum Operand<'t> {
    /// A register, what it holds, and what follows its name.
    Register(Slot, Term, Option<&'t [u8]>),
    Text(&'t [u8]),
}

/// What the registers of a word hold.
#[derive(Clone)]
struct State {
    word: Term,
    parts: Vec<Term>,
    /// Whether the parts are as they were where the block was entered, so that `parts` holds by a claim.
    claimed: bool,
    /// The last statement that wrote one of them.
    writer: StmtId,
}

/// A name in an inserted statement: which register it is, and what is done to it.
type Named = (NodeId, Slot, Role);

/// The blocks of a function, one after the other.
pub(super) struct Walk<'w, 'm, 't> {
    pairs: &'w Pairs<'m, 't>,
    words: &'w [Word],
    by_register: HashMap<(DeclId, Part), usize>,
    by_name: HashMap<&'w str, (usize, usize)>,
    /// What was found by register of the new text.
    found: HashMap<(DeclId, Part), Option<(usize, Slot)>>,
    terms: Terms,
    /// The word as the old text has it.
    is: Term,
    /// By word, by part: what it should hold.
    should: Vec<Vec<Term>>,
    /// What was proved equal or not.
    equal: HashMap<(Term, Term), bool>,
    /// What inserted instructions write, which is the same for each word.
    meanings: HashMap<Form<'t>, Vec<(Slot, Term)>>,
    /// By word: what its registers hold, if the block at hand touches it.
    states: Vec<Option<State>>,
    touched: Vec<usize>,
    needs: BTreeMap<usize, StmtId>,
}

impl<'w, 'm, 't> Walk<'w, 'm, 't> {
    pub(super) fn new(
        pairs: &'w Pairs<'m, 't>,
        (old, new): (&Function, &Function),
        words: &'w [Word],
    ) -> Result<Self, Stop> {
        let mut terms = Terms::new();
        let is = terms.input(0, WIDTH);
        let should = |word: &Word| word.parts.iter().map(|(_, holds)| holds(&mut terms, is)).collect();
        let should: Vec<Vec<Term>> = words.iter().map(should).collect();
        let (mut by_register, mut by_name) = (HashMap::new(), HashMap::new());
        for (number, word) in words.iter().enumerate() {
            let declared = pairs.old.decl(word.register.0);
            // What a caller, or another function, can see is not the function's own.
            let own = old.body.contains(&declared.stmt.index()) && declared.ty.bits() == Some(WIDTH);
            let names = word.parts.iter().enumerate().map(|(part, (name, _))| (name.as_str(), part));
            let once = by_register.insert(word.register, number).is_none()
                && names
                    .fold(true, |once, (name, part)| by_name.insert(name, (number, part)).is_none() && once);
            if !own || !once {
                return Err(Stop::at(new.head, "has words that cannot be represented"));
            }
        }
        Ok(Self {
            pairs,
            words,
            by_register,
            by_name,
            found: HashMap::new(),
            terms,
            is,
            should,
            equal: HashMap::new(),
            meanings: HashMap::new(),
            states: words.iter().map(|_| None).collect(),
            touched: Vec::new(),
            needs: BTreeMap::new(),
        })
    }

    fn module(&self) -> &'m Module<'t> {
        self.pairs.new
    }

    fn is_inserted(&self, stmt: StmtId) -> bool {
        self.pairs.old_stmt(stmt).is_none()
    }

    /// Walks through a block.
    pub(super) fn block(&mut self, stmts: &[StmtId]) -> Result<Block, Stop> {
        let mut at = 0;
        while let Some(&stmt) = stmts.get(at) {
            at += 1;
            if self.is_inserted(stmt) {
                if self.module().guard(stmt).is_some() {
                    return Err(Stop::at(stmt, "has a guard that the statement before it does not have"));
                }
                self.inserted(stmt)?;
            } else if self.module().kind(stmt) == StmtKind::Instruction {
                let under_guard = stmts[at..].iter().take_while(|&&next| self.follows(stmt, next)).count();
                self.original(stmt, &stmts[at..at + under_guard])?;
                at += under_guard;
            }
        }
        let touched = std::mem::take(&mut self.touched);
        let after = touched.into_iter().map(|word| (word, self.after(word))).collect();
        Ok(Block { needs: std::mem::take(&mut self.needs), after })
    }

    /// What can be said of a word after the block, which is left.
    fn after(&mut self, word: usize) -> After {
        let state = self.states[word].take().expect("it was touched");
        match (self.represents(word, &state), state.claimed) {
            (false, _) => After::Lost(state.writer),
            (true, true) => After::AsBefore,
            (true, false) => After::Holds,
        }
    }

    /// Whether a statement was inserted and has the guard of a statement before it, which has one.
    fn follows(&self, before: StmtId, stmt: StmtId) -> bool {
        self.is_inserted(stmt) && self.guard(stmt).is_some() && self.guard(stmt) == self.guard(before)
    }

    /// The register that a guard is, and whether it is negated.
    fn guard(&self, stmt: StmtId) -> Option<((DeclId, Part), bool)> {
        let (node, negated) = self.module().guard(stmt)?;
        Some((self.module().register_of(node)?, negated))
    }

    /// A statement of the old text, and what was inserted after it under its guard.
    fn original(&mut self, stmt: StmtId, under_guard: &[StmtId]) -> Result<(), Stop> {
        let accesses = self.accesses(stmt);
        let effects = self.module().effects(stmt);
        let shared = effects.has(Effects::CONVERGENT);
        let lasts = shared && (effects.has(Effects::ACTS) || effects.has(Effects::READS_MEMORY));
        for &(word, role) in &accesses {
            if (lasts && role != Role::Write) || (shared && role != Role::Read) {
                return Err(Stop::at(
                    stmt,
                    "accesses a word that it may go on reading or writing until later",
                ));
            }
            let holds = self.state(word, stmt).word;
            if role != Role::Write && !self.are_equal(holds, self.is) {
                return Err(Stop::at(stmt, "reads a word that its register does not hold here"));
            }
        }
        let written = accesses.iter().filter(|(_, role)| *role != Role::Read).map(|&(word, _)| word);
        let written: Vec<usize> = written.collect();
        if self.module().guard(stmt).is_none() {
            written.into_iter().for_each(|word| self.write(word, stmt));
            return Ok(());
        }
        self.guarded(stmt, &written, under_guard)
    }

    /// A statement with a guard that writes words, and what was inserted after it: executed or not.
    fn guarded(&mut self, stmt: StmtId, written: &[usize], under_guard: &[StmtId]) -> Result<(), Stop> {
        let by = self.guard(stmt).map(|(register, _)| register);
        let roles = self.module().roles(stmt);
        let mut writes = roles.iter().filter(|(_, role)| *role != Role::Read);
        let writes_guard =
            writes.any(|&(node, _)| self.module().registers_of(node).any(|register| Some(register) == by));
        if let (true, Some(&next)) = (writes_guard, under_guard.first()) {
            return Err(Stop::at(next, "has a guard that the statement before it writes"));
        }
        let mut touched = written.to_vec();
        for &inserted in under_guard {
            touched.push(self.slots(inserted)?.0);
        }
        touched.sort_unstable();
        touched.dedup();
        let before: Vec<State> = touched.iter().map(|&word| self.state(word, stmt).clone()).collect();
        written.iter().for_each(|&word| self.write(word, stmt));
        for &inserted in under_guard {
            self.inserted(inserted)?;
        }
        for (word, before) in touched.into_iter().zip(before) {
            self.join(word, &before);
        }
        Ok(())
    }

    /// What a word and its parts hold if they hold what they do now, or what they held before.
    fn join(&mut self, word: usize, before: &State) {
        let now = self.states[word].take().expect("it was touched");
        let is = self.is;
        let held = self.are_equal(now.word, is) && self.are_equal(before.word, is);
        let represented = self.represents(word, &now) && self.represents(word, before);
        let joined = State {
            word: if held { is } else { self.unknown(Slot::Word) },
            parts: if represented { self.should[word].clone() } else { self.unknown_parts(word) },
            claimed: represented && (now.claimed || before.claimed),
            writer: now.writer,
        };
        self.states[word] = Some(joined);
    }

    /// Takes in that the old text writes a word.
    fn write(&mut self, word: usize, stmt: StmtId) {
        let parts = self.unknown_parts(word);
        *self.state(word, stmt) = State { word: self.is, parts, claimed: false, writer: stmt };
    }

    /// An inserted statement, as if it had no guard.
    fn inserted(&mut self, stmt: StmtId) -> Result<(), Stop> {
        self.only_computes(stmt)?;
        let (word, slots) = self.slots(stmt)?;
        let state = self.state(word, stmt).clone();
        if state.claimed && slots.iter().any(|&(_, slot, role)| slot != Slot::Word && role != Role::Write) {
            self.needs.entry(word).or_insert(stmt);
        }
        let form = self.form(stmt, &slots, &state);
        let writes = match self.meanings.get(&form) {
            Some(known) => known.clone(),
            None => {
                let writes = self.meaning(stmt, &slots, &state);
                let writes = writes.ok_or_else(|| Stop::at(stmt, "was inserted and is not understood"))?;
                self.meanings.insert(form, writes.clone());
                writes
            }
        };
        let state = self.state(word, stmt);
        state.writer = stmt;
        for (slot, value) in writes {
            match slot {
                Slot::Word => state.word = value,
                Slot::Part(part) => state.parts[part] = value,
            }
        }
        Ok(())
    }

    fn form(&self, stmt: StmtId, slots: &[Named], state: &State) -> Form<'t> {
        let module = self.module();
        let operand = |node: NodeId| match slots.iter().find(|&&(named, ..)| named == node) {
            Some(&(_, slot, _)) => {
                Operand::Register(slot, state.holds(slot), NameParts::new(module.node_text(node)).suffix)
            }
            None => Operand::Text(module.node_text(node)),
        };
        let (opcode, _) = module.opcode(stmt).expect("only instructions are taken apart");
        // The guard is two nodes, of which one is the name.
        let nodes = module.stmt_nodes(stmt).skip(if module.guard(stmt).is_some() { 2 } else { 0 });
        Form { opcode, nodes: nodes.map(operand).collect() }
    }

    /// What an inserted statement writes; `None` if it has no meaning, or two, or writes more than registers of a word.
    fn meaning(&mut self, stmt: StmtId, slots: &[Named], state: &State) -> Option<Vec<(Slot, Term)>> {
        if disputed_at(self.pairs.new, stmt).is_some() {
            return None;
        }
        let slot = |node: NodeId| slots.iter().find(|&&(named, ..)| named == node).map(|&(_, slot, _)| slot);
        let register = |place| if let Place::Register(node) = place { slot(node) } else { None };
        let writes = meaning(self.pairs.new, stmt, &mut self.terms, &mut |_, place, width| {
            register(place).filter(|_| width == WIDTH).map(|slot| state.holds(slot))
        })?;
        let written = slots.iter().filter(|(_, _, role)| *role != Role::Read).count();
        let writes: Vec<(Slot, Term)> =
            writes.iter().map(|write| Some((register(write.place)?, write.value))).collect::<Option<_>>()?;
        (writes.len() == written).then_some(writes)
    }

    /// Whether all that an inserted statement does is to compute, where that may stand.
    fn only_computes(&self, stmt: StmtId) -> Result<(), Stop> {
        let module = self.module();
        let effects = module.effects(stmt);
        let next = module.row(stmt).is_some_and(|row| row.control == Control::Next);
        if !next || effects != Effects::NONE {
            return Err(Stop::at(stmt, "was inserted and does more than compute"));
        }
        let before = stmt.index().checked_sub(1).and_then(StmtId::new);
        let is_behind_one = before.is_some_and(|before| module.kind(before) == StmtKind::Pragma);
        if is_behind_one || module.has_own_pragma(stmt) {
            return Err(Stop::at(stmt, "stands between a pragma and the statement that this is about"));
        }
        Ok(())
    }

    /// The word that an inserted statement is about, and which of its registers each name is; the guard left out.
    fn slots(&mut self, stmt: StmtId) -> Result<(usize, Vec<Named>), Stop> {
        let module = self.module();
        let guard = module.guard(stmt).map(|(node, _)| node);
        let mut slots = Vec::new();
        let mut about = None;
        for (node, role) in module.roles(stmt).into_iter().filter(|&(node, _)| Some(node) != guard) {
            let found = module.register_of(node).and_then(|register| self.slot(register));
            let Some((_, slot)) = found.filter(|&(word, _)| *about.get_or_insert(word) == word) else {
                return Err(Stop::at(stmt, "was inserted and names a register of another word, or of none"));
            };
            slots.push((node, slot, role));
        }
        let word = about.ok_or_else(|| Stop::at(stmt, "was inserted and is about no word"))?;
        Ok((word, slots))
    }

    /// The word that a register of the new text belongs to, and which of its registers it is.
    fn slot(&mut self, register: (DeclId, Part)) -> Option<(usize, Slot)> {
        if let Some(&known) = self.found.get(&register) {
            return known;
        }
        let found = self.find_slot(register);
        self.found.insert(register, found);
        found
    }

    fn find_slot(&self, (decl, part): (DeclId, Part)) -> Option<(usize, Slot)> {
        if let Some(old) = self.pairs.old_decl(decl) {
            return Some((*self.by_register.get(&(old, part))?, Slot::Word));
        }
        let is_word = self.module().decl(decl).ty.bits() == Some(WIDTH);
        let name = self.module().register_name(decl, part);
        let &(word, part) = self.by_name.get(name.as_str()).filter(|_| is_word)?;
        Some((word, Slot::Part(part)))
    }

    /// The words that a statement of the old text reads or writes.
    fn accesses(&mut self, stmt: StmtId) -> Vec<(usize, Role)> {
        let module = self.module();
        let mut all = Vec::new();
        for (node, role) in module.roles(stmt) {
            let registers = module.registers_of(node).filter_map(|register| self.slot(register));
            all.extend(registers.map(|(word, _)| (word, role)));
        }
        all
    }

    fn state(&mut self, word: usize, stmt: StmtId) -> &mut State {
        if self.states[word].is_none() {
            self.touched.push(word);
        }
        let unknown = self.unknown(Slot::Word);
        self.states[word].get_or_insert_with(|| State {
            word: unknown,
            parts: self.should[word].clone(),
            claimed: true,
            writer: stmt,
        })
    }

    /// Whether all parts hold what they should.
    fn represents(&mut self, word: usize, state: &State) -> bool {
        (0..self.words[word].parts.len()).all(|part| {
            let should = self.should[word][part];
            self.are_equal(state.parts[part], should)
        })
    }

    fn unknown(&mut self, slot: Slot) -> Term {
        let number = match slot {
            Slot::Word => 1,
            Slot::Part(part) => u32::try_from(part).expect("a word has few parts") + 2,
        };
        self.terms.input(number, WIDTH)
    }

    fn unknown_parts(&mut self, word: usize) -> Vec<Term> {
        (0..self.words[word].parts.len()).map(|part| self.unknown(Slot::Part(part))).collect()
    }

    fn are_equal(&mut self, a: Term, b: Term) -> bool {
        if a == b {
            return true;
        }
        let terms = &self.terms;
        let decide = || matches!(prove(&Query::new(terms, vec![a], vec![b])), Verdict::Proved(_));
        *self.equal.entry((a, b)).or_insert_with(decide)
    }
}

impl State {
    fn holds(&self, slot: Slot) -> Term {
        match slot {
            Slot::Word => self.word,
            Slot::Part(part) => self.parts[part],
        }
    }
}
