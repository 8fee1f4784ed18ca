//! Jumps, calls, barriers, and exchanges between lanes.
//!
//! Targets are known only when the whole text has been decoded; until then jumps and calls are kept aside, so each
//! gets the position of its own label or callee.

use super::{Decoder, Words};
use crate::code::{Barrier, Call, Class, Exchange, ExchangeOp as E, Op, Reduction, Slot, Transfer};
use ptxopt_grammar::names::Type;
use ptxopt_grammar::tree::{NodeId, NodeKind, StmtKind};

impl Decoder<'_, '_> {
    pub(super) fn control(&mut self, words: &Words<'_>, operands: &[NodeId]) -> Option<()> {
        match words.opcode {
            "bra" => {
                let label = self.module.decl_of(*operands.first()?)?;
                self.jumps.push((self.code.insts.len(), label));
                self.emit(Op::Jump, [0; 5]);
            }
            "brx" => self.branch_indirect(operands)?,
            "ret" => self.emit(Op::Return, [0; 5]),
            "exit" => self.emit(Op::Exit, [0; 5]),
            "trap" => self.emit(Op::Trap, [0; 5]),
            "call" => self.call(operands)?,
            "membar" | "fence" => self.emit(Op::Fence, [0; 5]),
            "brkpt" | "pmevent" | "nanosleep" => self.emit(Op::Nothing, [0; 5]),
            "bar" | "barrier" => self.barrier(words, operands)?,
            "shfl" | "vote" | "match" | "redux" | "activemask" | "elect" => self.exchange(words, operands)?,
            _ => return None,
        }
        Some(())
    }

    fn branch_indirect(&mut self, operands: &[NodeId]) -> Option<()> {
        Self::count(operands, 2)?;
        let a = self.word(operands[0], 32)?;
        let table = self.module.decl(self.module.decl_of(operands[1])?).stmt;
        if self.module.kind(table) != StmtKind::BranchTargets {
            return None;
        }
        let nodes: Vec<_> = self.module.stmt_nodes(table).collect();
        if nodes.iter().any(|&node| self.module.node_kind(node) == NodeKind::Family) {
            return None;
        }
        let labels = nodes.iter().filter(|&&node| self.module.node_kind(node) == NodeKind::Name);
        let labels: Option<Vec<_>> = labels.map(|&node| self.module.decl_of(node)).collect();
        let number = self.code.tables.len();
        self.code.tables.push(Box::default());
        self.tables.push((number, labels?));
        self.emit(Op::JumpTable, [0, a, 0, 0, u32::try_from(number).ok()?]);
        Some(())
    }

    fn call(&mut self, operands: &[NodeId]) -> Option<()> {
        let list = |node: NodeId| self.module.node_kind(node) == NodeKind::List;
        let at = operands.iter().position(|&node| !list(node))?;
        let name = self.module.node_text(operands[at]);
        let &callee = self.layout.by_name.get(name)?;
        let results = operands[..at].first().map_or(Vec::new(), |&node| self.module.children(node));
        let arguments = operands.get(at + 1).filter(|&&node| list(node));
        let arguments = arguments.map_or(Vec::new(), |&node| self.module.children(node));
        let mut ends = Vec::new();
        for &node in results.iter().chain(&arguments) {
            ends.push(self.call_end(node)?);
        }
        let header = &self.layout.functions[callee];
        if header.results != results.len() || header.formals.len() != ends.len() {
            return None;
        }
        let number = self.code.calls.len();
        // The other ends are known when the callee has been decoded.
        let pending = |ends: &[Transfer]| ends.iter().map(|&end| (end, end)).collect();
        let arguments = pending(&ends[results.len()..]);
        let results = pending(&ends[..results.len()]);
        self.code.calls.push(Call { callee, arguments, results });
        self.emit(Op::Call, [0, 0, 0, 0, u32::try_from(number).ok()?]);
        Some(())
    }

    pub(super) fn call_end(&mut self, node: NodeId) -> Option<Transfer> {
        if self.module.node_text(node) == b"_" {
            return Some(Transfer::Register(self.temporary(Class::Quad, 128)));
        }
        if let Some(decl) = self.module.decl_of(node)
            && let Some(transfer) = self.transfer_of(decl)
            && matches!(transfer, Transfer::Memory(..))
        {
            return Some(transfer);
        }
        if let Some(slot) = self.slot(node) {
            return Some(Transfer::Register(slot));
        }
        let index = self.long(node)?;
        Some(Transfer::Register(Slot { class: Class::Long, index, bits: 64 }))
    }

    /// Joins the ends of all calls, when all bodies have been decoded.
    pub(super) fn join_calls(&mut self) {
        for call in &mut self.code.calls {
            let header = &self.layout.functions[call.callee];
            let (results, arguments) = header.transfers.split_at(header.results.min(header.transfers.len()));
            for ((_, target), formal) in call.arguments.iter_mut().zip(arguments) {
                *target = formal.unwrap_or(*target);
            }
            for ((source, _), formal) in call.results.iter_mut().zip(results) {
                *source = formal.unwrap_or(*source);
            }
        }
    }

    fn barrier(&mut self, words: &Words<'_>, operands: &[NodeId]) -> Option<()> {
        let known = ["sync", "arrive", "red", "aligned", "cta", "warp", "popc", "and", "or"];
        Self::only(words, &known)?;
        if words.has("warp") {
            Self::count(operands, 1)?;
            let mask = self.word(operands[0], 32)?;
            self.emit(Op::WarpBarrier, [0, mask, 0, 0, 0]);
            return Some(());
        }
        let aligned = words.opcode == "bar" || words.has("aligned");
        let mut rest = operands.iter().copied();
        let reduction = if words.has("red") {
            let d = rest.next()?;
            let p = *operands.last()?;
            let (p, negated) = self.source_predicate(p)?;
            let kind = match () {
                () if words.has("popc") => Reduction::Count,
                () if words.has("and") => Reduction::And,
                () => Reduction::Or,
            };
            Some((kind, self.slot(d)?, p, negated))
        } else {
            None
        };
        let rest: Vec<_> = rest.collect();
        let rest = &rest[..rest.len() - usize::from(reduction.is_some())];
        let number = self.word(*rest.first()?, 32)?;
        let threads = match rest.get(1) {
            Some(&node) => Some(self.word(node, 32)?),
            None => None,
        };
        let index = u32::try_from(self.code.barriers.len()).ok()?;
        let arrives = words.has("arrive");
        self.code.barriers.push(Barrier { number, threads, arrives, aligned, reduction });
        self.emit(Op::Barrier, [0, 0, 0, 0, index]);
        Some(())
    }

    fn exchange(&mut self, words: &Words<'_>, operands: &[NodeId]) -> Option<()> {
        let has = |name| words.has(name);
        let signed = words.types().contains(&Type::S32);
        let op = match words.opcode {
            "shfl" if has("up") => E::ShuffleUp,
            "shfl" if has("down") => E::ShuffleDown,
            "shfl" if has("bfly") => E::ShuffleButterfly,
            "shfl" if has("idx") => E::ShuffleIndexed,
            "vote" if has("all") => E::VoteAll,
            "vote" if has("any") => E::VoteAny,
            "vote" if has("uni") => E::VoteUniform,
            "vote" if has("ballot") => E::Ballot,
            "activemask" => E::ActiveMask,
            "match" if has("any") => E::MatchAny,
            "match" if has("all") => E::MatchAll,
            "redux" if words.types().contains(&Type::F32) => return None,
            "redux" if has("add") => E::ReduceAdd,
            "redux" if has("min") && signed => E::ReduceMinSigned,
            "redux" if has("min") => E::ReduceMinUnsigned,
            "redux" if has("max") && signed => E::ReduceMaxSigned,
            "redux" if has("max") => E::ReduceMaxUnsigned,
            "redux" if has("and") => E::ReduceAnd,
            "redux" if has("or") => E::ReduceOr,
            "redux" if has("xor") => E::ReduceXor,
            "elect" => E::Elect,
            _ => return None,
        };
        let mut exchange =
            Exchange { op, d: None, p: None, a: None, negate: false, b: 0, c: 0, members: None };
        let first = *operands.first()?;
        let d = match self.module.node_kind(first) {
            NodeKind::Pair => {
                let [d, p] = self.module.children(first).try_into().ok()?;
                exchange.p = Some(self.target(p, Class::Predicate)?.index);
                d
            }
            _ => first,
        };
        if self.module.node_text(d) != b"_" {
            exchange.d = Some(self.slot(d)?);
        }
        let mut rest: Vec<_> = operands[1..].to_vec();
        if has("sync") {
            exchange.members = Some(self.word(rest.pop()?, 32)?);
        }
        match words.opcode {
            "shfl" => {
                let [a, b, c] = rest.try_into().ok()?;
                let index = self.word(a, 32)?;
                exchange.a = Some(Slot { class: Class::Word, index, bits: 32 });
                exchange.b = self.word(b, 32)?;
                exchange.c = self.word(c, 32)?;
            }
            "vote" => {
                let (p, negated) = self.source_predicate(*rest.first()?)?;
                exchange.a = Some(Slot { class: Class::Predicate, index: p, bits: 1 });
                exchange.negate = negated;
            }
            "match" | "redux" => {
                let long = words.types().contains(&Type::B64);
                let node = *rest.first()?;
                let index = if long { self.long(node)? } else { self.word(node, 32)? };
                let (class, bits) = if long { (Class::Long, 64) } else { (Class::Word, 32) };
                exchange.a = Some(Slot { class, index, bits });
            }
            _ => {}
        }
        let number = u32::try_from(self.code.exchanges.len()).ok()?;
        self.code.exchanges.push(exchange);
        self.emit(Op::Exchange, [0, 0, 0, 0, number]);
        Some(())
    }
}
