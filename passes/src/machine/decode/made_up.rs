//! Instructions that a replay does not evaluate: what they read, what they write, and what they do to the world.
//!
//! Results are made up from the operands, so an instruction may be decoded to this whatever it does, as long as it is
//! known which registers it writes; for that the table's roles are asked, and nowhere else in a replay.

use super::{Decoder, Words};
use crate::machine::code::{Around, MadeUp, Op, Transfer};
use crate::machine::replay::inputs::Mix;
use ptxopt_grammar::names::DeclKind;
use ptxopt_grammar::roles::Role;
use ptxopt_grammar::table::{Control, Effects};
use ptxopt_grammar::tree::{NodeId, NodeKind, StmtId};

/// Modifiers of accesses that other threads may tell apart, one by one.
const STRONG: [&str; 5] = ["volatile", "relaxed", "acquire", "release", "mmio"];

impl Decoder<'_, '_> {
    /// Whether a replay runs the statement as a launch does: branches, plain loads and stores, and what only computes.
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
    pub(super) fn made_up(&mut self, stmt: StmtId) {
        let guard = self.module.guard(stmt).map(|(node, _)| node);
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for (node, role) in self.module.roles(stmt) {
            if Some(node) == guard {
                continue;
            }
            for (decl, part) in self.module.registers_of(node) {
                let Some(slot) = self.register(decl, part) else { continue };
                if role != Role::Write {
                    inputs.push(slot);
                }
                if role != Role::Read {
                    outputs.push(Transfer::Register(slot));
                }
            }
            outputs.extend(self.memory_written(node, role));
        }
        let key = self.key(stmt);
        let around = self.around(stmt);
        let number = u32::try_from(self.code.made_up.len()).expect("there are fewer than instructions");
        self.code.made_up.push(MadeUp { key, inputs: inputs.into(), outputs: outputs.into(), around });
        self.emit(Op::MadeUp, [0, 0, 0, 0, number]);
    }

    /// The parameter in memory that a call writes.
    fn memory_written(&mut self, node: NodeId, role: Role) -> Option<Transfer> {
        let decl = self.module.decl_of(node).filter(|_| role != Role::Read)?;
        let is_memory = self.module.decl(decl).kind != DeclKind::Register;
        is_memory.then(|| self.transfer_of(decl)).flatten()
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
