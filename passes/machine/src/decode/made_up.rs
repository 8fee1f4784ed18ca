//! Instructions that a replay does not evaluate: what they read, what they write, and their effects.
//!
//! Results are made up from the operands, so an instruction may be decoded to this whatever it does, as long as it is
//! known which registers it writes. For what a launch can run, these are the registers that the launch writes; only
//! for the rest they come from the roles of the instruction table, which the optimiser relies on too. Every other
//! register that is named counts as read.

use super::memory::is_signed;
use super::{Decoder, Words};
use crate::code::{Around, Class, Inst, MadeUp, Op, Slot, Transfer};
use crate::replay::inputs::Mix;
use ptxopt_grammar::roles::Role;
use ptxopt_grammar::table::{Control, Effects};
use ptxopt_grammar::tree::{NodeId, NodeKind, StmtId};

/// Modifiers of accesses whose order other threads can observe.
const STRONG: [&str; 5] = ["volatile", "relaxed", "acquire", "release", "mmio"];

impl Decoder<'_, '_> {
    /// Whether a replay runs the statement as a launch does: branches, plain loads and stores, and what only
    /// computes.
    pub(super) fn is_replayed(&self, stmt: StmtId, words: &Words<'_>) -> bool {
        let Some(row) = self.module.row(stmt) else { return false };
        match row.control {
            Control::Call | Control::Unknown => return false,
            Control::Branch | Control::IndirectBranch | Control::Return | Control::Exit | Control::Trap => {
                return true;
            }
            Control::Next => {}
        }
        if matches!(words.opcode, "ld" | "ldu" | "st") {
            return !STRONG.iter().any(|word| words.has(word));
        }
        let effects = self.module.effects(stmt);
        let acts = [Effects::ACTS, Effects::CONVERGENT, Effects::ORDERED, Effects::READS_MEMORY];
        !acts.into_iter().any(|effect| effects.has(effect))
    }

    /// Decodes the statement at hand to results that are made up.
    pub(super) fn made_up(&mut self, stmt: StmtId, words: &Words<'_>) {
        let outputs = self.launched_outputs(stmt, words).unwrap_or_else(|| self.roles_outputs(stmt));
        let mut inputs = self.named(stmt, words);
        for &output in &outputs {
            if let Transfer::Register(slot) = output
                && let Some(at) = inputs.iter().position(|&input| input == slot)
            {
                // The name that is written comes first; another one is read.
                inputs.remove(at);
            }
        }
        let ty = words.types().last().copied().and_then(|ty| Some((ty.bits()?, is_signed(ty))));
        let loads = ty.filter(|_| matches!(words.opcode, "ld" | "ldu"));
        let (key, around) = (self.key(stmt), self.around(stmt));
        let number = u32::try_from(self.code.made_up.len()).expect("there are fewer than instructions");
        let (inputs, outputs) = (inputs.into(), outputs.into());
        self.code.made_up.push(MadeUp { key, inputs, outputs, loads, around });
        self.emit(Op::MadeUp, [0, 0, 0, 0, number]);
    }

    /// The registers that a statement names in its operands, in the order of the text. Of what a store stores, the
    /// bits above its type are unused.
    fn named(&mut self, stmt: StmtId, words: &Words<'_>) -> Vec<Slot> {
        let module = self.module;
        let guard = module.guard(stmt).map(|(node, _)| node);
        let operands = module.operands(stmt);
        let stored = operands.get(1).filter(|_| words.opcode == "st").map(|&node| module.node_span(node));
        let bits = words.types().last().and_then(|ty| ty.bits()).unwrap_or(u32::MAX);
        let mut named = Vec::new();
        for node in module.stmt_nodes(stmt).filter(|&node| Some(node) != guard) {
            let is_stored = stored.as_ref().is_some_and(|span| span.contains(&module.node_span(node).start));
            for (decl, part) in module.registers_of(node) {
                let slot = self.register(decl, part);
                let cut = |slot: Slot| Slot {
                    bits: if is_stored { slot.bits.min(bits) } else { slot.bits },
                    ..slot
                };
                named.extend(slot.map(cut));
            }
        }
        named
    }

    /// What a launch would write; `None` if it could not run the statement.
    fn launched_outputs(&mut self, stmt: StmtId, words: &Words<'_>) -> Option<Vec<Transfer>> {
        let operands = self.module.operands(stmt);
        if self.module.row(stmt)?.control == Control::Call {
            return self.call_outputs(&operands);
        }
        let start = self.code.insts.len();
        let decoded = self.control(words, &operands).or_else(|| self.memory(words, &operands));
        let last = self.code.insts.last().filter(|_| self.code.insts.len() > start).copied();
        self.code.insts.truncate(start);
        self.first = true;
        let Inst { op, x, .. } = decoded.and(last)?;
        let outputs: Vec<Option<Slot>> = match op {
            Op::Atomic => vec![self.code.atomics[x as usize].d],
            Op::Exchange => {
                let exchange = &self.code.exchanges[x as usize];
                let predicate = |index| Slot { class: Class::Predicate, index, bits: 1 };
                vec![exchange.d, exchange.p.map(predicate)]
            }
            Op::Barrier => vec![self.code.barriers[x as usize].reduction.map(|(_, to, ..)| to)],
            Op::Access => {
                let access = &self.code.accesses[x as usize];
                if access.stores { Vec::new() } else { access.elements.to_vec() }
            }
            Op::Fence | Op::WarpBarrier | Op::Nothing => Vec::new(),
            _ => return None,
        };
        Some(outputs.into_iter().flatten().map(Transfer::Register).collect())
    }

    /// What stands in the list before the function's name.
    fn call_outputs(&mut self, operands: &[NodeId]) -> Option<Vec<Transfer>> {
        let &results = operands.first().filter(|&&node| self.module.node_kind(node) == NodeKind::List)?;
        let results = self.module.children(results);
        results.into_iter().map(|node| self.call_end(node)).collect()
    }

    /// What the table's roles say that a statement writes.
    fn roles_outputs(&mut self, stmt: StmtId) -> Vec<Transfer> {
        let mut outputs = Vec::new();
        for (node, _) in self.module.roles(stmt).into_iter().filter(|(_, role)| *role != Role::Read) {
            for (decl, part) in self.module.registers_of(node) {
                outputs.extend(self.register(decl, part).map(Transfer::Register));
            }
        }
        outputs
    }

    fn around(&self, stmt: StmtId) -> Around {
        let effects = self.module.effects(stmt);
        match self.module.row(stmt).map(|row| row.control) {
            Some(Control::Next | Control::Call) => {}
            None
            | Some(
                Control::Branch
                | Control::IndirectBranch
                | Control::Return
                | Control::Exit
                | Control::Trap
                | Control::Unknown,
            ) => return Around::Leaves,
        }
        let has = |effect| effects.has(effect);
        let calls = self.module.row(stmt).is_some_and(|row| row.control == Control::Call);
        if calls || has(Effects::ACTS) || has(Effects::CONVERGENT) || has(Effects::ORDERED) {
            Around::Acts
        } else if has(Effects::READS_MEMORY) || has(Effects::IMPURE) {
            Around::Reads
        } else {
            Around::Nothing
        }
    }

    /// A number for everything of a statement but its registers, which a rewrite may name differently.
    fn key(&self, stmt: StmtId) -> u64 {
        let opcode = self.module.opcode(stmt).map(|(spelling, _)| spelling);
        let words = opcode.map(|spelling| self.module.spellings().words(spelling, self.module.text()));
        let mut mix = Mix::new().bytes(words.unwrap_or_default());
        for node in self.module.stmt_nodes(stmt) {
            let named = |kind| kind == NodeKind::Name;
            let kind = self.module.node_kind(node);
            let is_register = named(kind) && self.module.registers_of(node).next().is_some();
            let is_leaf = self.module.children(node).is_empty();
            mix = mix.word(kind as u64);
            if is_leaf && !is_register {
                mix = mix.bytes(self.module.node_text(node));
            }
        }
        mix.finish()
    }
}
