//! Which register holds a value where: a new text may only name registers that hold what it reads.
//!
//! Sound because a value is in its register from the statement that writes it on, on every path on which nothing else
//! writes that register; where dominance and the writes of a few blocks do not settle that, the answer is no.

use super::{BlockId, Graph, Origin, Register, ValueId};
use ptxopt_grammar::table::InFlight;
use ptxopt_grammar::tree::StmtId;

/// How many statements are looked at for one that reads a value.
const NEAR: usize = 64;

/// How many blocks are looked at for writes between two places.
const MOST_BETWEEN: usize = 32;

impl Graph<'_, '_> {
    /// Whether the register of `value` still holds it just before `stmt` is executed, and may be read there.
    ///
    /// A register that is ever in flight may be read where the text reads it, and not in any other place: nothing else
    /// may name it while it is in flight. Answers `false` where dominance and the writes of a few blocks do not settle
    /// it.
    #[must_use]
    pub fn holds(&self, value: ValueId, stmt: StmtId) -> bool {
        let mut reads = self.accesses(stmt).filter(|&(access, read)| !access.write && read == value);
        if self.register_of(value).is_some_and(|register| self.is_in_flight(register)) {
            // Lines before the last one of a new text are not under its guard; what comes before a statement from
            // which on the register is in flight may come after the fence that it needs.
            let begins =
                self.module.row(stmt).is_some_and(|row| matches!(row.in_flight, Some(InFlight::Begins(_))));
            return !begins && reads.any(|(access, _)| !access.guarded);
        }
        if reads.next().is_some() {
            return true;
        }
        let (Origin::Result(writer), Some(register)) = (self.value(value).origin, self.value(value).register)
        else {
            return self.holds_from_start(value, stmt) || self.held_by_reader(value, stmt);
        };
        let (from, to) = (self.flow.block(writer), self.flow.block(stmt));
        let before = if from == to { writer < stmt } else { self.flow.dominates(from, to) };
        before && (self.written_once(register) || self.stays(register, (from, Some(writer)), stmt))
    }

    /// The statement that writes the register of `value` while that still holds it, in the block of `stmt` before it, or
    /// in the block that makes the value: there, where nothing writes it, the last statement.
    #[must_use]
    pub fn overwritten_by(&self, value: ValueId, stmt: StmtId) -> Option<StmtId> {
        let register = self.value(value).register?;
        let block = self.flow.block(stmt);
        let first = |block: BlockId| self.flow.stmts(block).next();
        let next = |writer: StmtId| StmtId::new(writer.index() + 1);
        let (made, from) = match self.value(value).origin {
            Origin::Result(writer) => (self.flow.block(writer), next(writer)),
            Origin::Phi(join) => (join, first(join)),
            Origin::Opaque => (block, first(block)),
            Origin::Undefined | Origin::Read(_) | Origin::Sink(_) => return None,
        };
        let held = |place: &StmtId| self.holds(value, *place);
        let begin = if made == block { from } else { first(block) };
        let is_above = made != block && self.flow.dominates(made, block);
        let here = self.writes(register, begin?).next().filter(|&writer| writer < stmt).filter(held);
        here.or_else(|| {
            let last = self.flow.stmts(made).next_back().filter(|_| is_above)?;
            let written = self.writes(register, from?).next().filter(|&writer| writer < last);
            Some(written.unwrap_or(last)).filter(held)
        })
    }

    fn holds_from_start(&self, value: ValueId, stmt: StmtId) -> bool {
        match (self.value(value).origin, self.value(value).register) {
            (Origin::Phi(block), Some(register)) => {
                self.flow.dominates(block, self.flow.block(stmt)) && self.stays(register, (block, None), stmt)
            }
            (Origin::Opaque, Some(register)) => self.writers.get(register.index()).is_empty(),
            (Origin::Opaque | Origin::Phi(_), None)
            | (Origin::Undefined | Origin::Read(_) | Origin::Sink(_) | Origin::Result(_), _) => false,
        }
    }

    /// Whether a statement shortly before `stmt` in its block reads `value`, and nothing writes the register in between.
    fn held_by_reader(&self, value: ValueId, stmt: StmtId) -> bool {
        let Some(register) = self.value(value).register else { return false };
        let first = self.flow.stmts(self.flow.block(stmt)).next().map_or(stmt.index(), StmtId::index);
        let writers = self.writers.get(register.index());
        let written = writers[..writers.partition_point(|&writer| writer < stmt)].last();
        let begin = written.map_or(first, |writer| first.max(writer.index() + 1));
        let near = begin.max(stmt.index().saturating_sub(NEAR))..stmt.index();
        let reads =
            |before: StmtId| self.accesses(before).any(|(access, read)| !access.write && read == value);
        near.filter_map(StmtId::new).any(reads)
    }

    fn written_once(&self, register: Register) -> bool {
        self.writers.get(register.index()).len() == 1
    }

    /// The statements from `first` on that write a register, in the order of the text.
    fn writes(&self, register: Register, first: StmtId) -> impl Iterator<Item = StmtId> + '_ {
        let all = self.writers.get(register.index());
        all[all.partition_point(|&writer| writer < first)..].iter().copied()
    }

    /// Whether nothing writes a register between a place of a block, its beginning or just after a statement of it,
    /// and `stmt`, which it dominates: on no way there that does not come by that place again.
    ///
    /// Answers `false` where there are many blocks in between.
    fn stays(&self, register: Register, (from, after): (BlockId, Option<StmtId>), stmt: StmtId) -> bool {
        let first = |block: BlockId| self.flow.stmts(block).next();
        let next = |after: StmtId| StmtId::new(after.index() + 1);
        let begin = after.map_or_else(|| first(from), next);
        let is_written = |begin: Option<StmtId>, end: Option<StmtId>| {
            let writer = begin.and_then(|begin| self.writes(register, begin).next());
            writer.is_some_and(|writer| end.is_none_or(|end| writer < end))
        };
        let to = self.flow.block(stmt);
        if from == to {
            return !is_written(begin, Some(stmt));
        }
        let end = |block: BlockId| self.flow.stmts(block).next_back().and_then(next);
        if is_written(first(to), Some(stmt)) || is_written(begin, end(from)) {
            return false;
        }
        let mut seen = vec![from];
        let mut work: Vec<BlockId> = self.flow.predecessors(to).to_vec();
        while let Some(block) = work.pop() {
            if seen.contains(&block) {
                continue;
            }
            if seen.len() > MOST_BETWEEN || is_written(first(block), end(block)) {
                return false;
            }
            seen.push(block);
            work.extend(self.flow.predecessors(block));
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{result, stmt, with};
    use super::*;

    #[test]
    fn a_register_holds_what_paths_join_in_later_blocks_until_it_is_written_again() {
        let body = "ld.global.u32 %r0, [0]; setp.eq.u32 %p1, %r0, 0; mov.b32 %r1, 1; @%p1 bra JOIN; mov.b32 %r1, 2;\n\
                JOIN: not.b32 %r6, %r0; @%p1 bra NEXT;\nNEXT: sub.u32 %r4, %r0, 1; add.u32 %r2, %r1, %r0; xor.b32 %r5, %r2, 1; mov.b32 %r1, 7;\n\
                add.u32 %r3, %r2, %r1; ret;";
        with(body, |module, graph| {
            let add = stmt(module, "add.u32 %r2");
            let phi = graph.accesses(add).map(|(_, value)| value);
            let phi = phi.into_iter().find(|&value| matches!(graph.value(value).origin, Origin::Phi(_)));
            let phi = phi.expect("it reads what either of two statements wrote");
            assert!(graph.holds(phi, stmt(module, "xor")));
            assert!(graph.holds(phi, stmt(module, "sub")), "no block in between writes the register");
            assert!(!graph.holds(phi, stmt(module, "mov.b32 %r1, 2")), "this is one of the two");
            assert!(!graph.holds(phi, stmt(module, "add.u32 %r3")), "it is written in between");
        });
    }

    #[test]
    fn a_register_holds_its_value_across_blocks_unless_one_of_them_writes_it() {
        let body = "ld.global.u32 %r1, [0]; setp.eq.u32 %p1, %r1, 0; @%p1 bra ELSE;\n\
                not.b32 %r2, %r1; mov.b32 %r1, 7; neg.s32 %r3, %r1; bra JOIN;\n\
                ELSE: add.u32 %r4, %r1, 1; bra JOIN;\nJOIN: xor.b32 %r5, %r1, 1; ret;";
        with(body, |module, graph| {
            let loaded = result(graph, stmt(module, "ld"));
            assert!(graph.holds(loaded, stmt(module, "add.u32 %r4")), "this way does not write it");
            assert!(
                graph.holds(loaded, stmt(module, "not")) && graph.holds(loaded, stmt(module, "mov.b32 %r1"))
            );
            assert!(!graph.holds(loaded, stmt(module, "neg")), "it is written just before");
            assert!(!graph.holds(loaded, stmt(module, "xor")), "one of the ways writes it");
            let constant = result(graph, stmt(module, "mov.b32 %r1"));
            assert!(!graph.holds(constant, stmt(module, "xor")), "the other way does not write it");
        });
    }

    #[test]
    fn a_register_holds_its_value_in_a_loop_unless_the_loop_writes_it() {
        // What is written before the loop, and what is written in it before and after it is read.
        let body = |written: &str| {
            format!(
                "ld.global.u32 %r1, [0]; setp.eq.u32 %p1, %r1, 0;\nSTEP: ld.global.u32 %r2, [4]; @%p1 bra NEXT;\n\
                 add.u32 %r3, %r2, 1;\nNEXT: xor.b32 %r4, %r3, 1; {written}\n@%p1 bra STEP;\nnot.b32 %r5, %r4; ret;"
            )
        };
        with(&body(""), |module, graph| {
            let [before, within] =
                ["ld.global.u32 %r1", "ld.global.u32 %r2"].map(|ld| result(graph, stmt(module, ld)));
            for at in ["add.u32 %r3", "xor", "not"] {
                assert!(
                    graph.holds(before, stmt(module, at)) && graph.holds(within, stmt(module, at)),
                    "{at}"
                );
            }
            assert!(!graph.holds(within, stmt(module, "setp")), "it is written after that");
        });
        with(&body("mov.b32 %r1, %r4; mov.b32 %r2, %r4;"), |module, graph| {
            let [before, within] =
                ["ld.global.u32 %r1", "ld.global.u32 %r2"].map(|ld| result(graph, stmt(module, ld)));
            for at in ["add.u32 %r3", "xor", "not"] {
                assert!(!graph.holds(before, stmt(module, at)), "{at}: the step before may have written it");
            }
            assert!(
                graph.holds(within, stmt(module, "add.u32 %r3")) && graph.holds(within, stmt(module, "xor"))
            );
            assert!(!graph.holds(within, stmt(module, "not")), "it is written in between");
        });
        with(&body("@%p2 mov.b32 %r2, %r4;"), |module, graph| {
            let within = result(graph, stmt(module, "ld.global.u32 %r2"));
            assert!(!graph.holds(within, stmt(module, "not")), "it may be written in between");
        });
    }

    #[test]
    fn a_register_holds_its_value_until_it_is_written_again() {
        let body = "ld.global.u32 %r1, [0]; add.u32 %r2, %r1, 1; mov.b32 %r1, 7; add.u32 %r3, %r2, %r1; ret;";
        with(body, |module, graph| {
            let loaded = result(graph, stmt(module, "ld"));
            assert!(graph.holds(loaded, stmt(module, "add.u32 %r2")));
            assert!(!graph.holds(loaded, stmt(module, "add.u32 %r3")));
        });
    }

    #[test]
    fn a_register_of_a_product_is_read_where_the_text_reads_it_alone() {
        let product = "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r0, %r1, %r2, %r3}, {%r4, %r5, %r6, %r7}, %rd0, 1;";
        let body = format!(
            "ld.global.u32 %r4, [0]; ld.global.u32 %r8, [4]; setp.eq.u32 %p1, %r8, 0; not.b32 %r9, %r4;\n\
             {product}\nwgmma.wait_group.sync.aligned 0; xor.b32 %r10, %r9, %r8; @%p1 add.u32 %r11, %r4, 1; ret;"
        );
        with(&body, |module, graph| {
            let [fragment, other] = ["ld.global.u32 %r4", "ld.global.u32 %r8"].map(|ld| stmt(module, ld));
            let [fragment, other] = [fragment, other].map(|ld| result(graph, ld));
            assert!(graph.holds(fragment, stmt(module, "not")), "it is read there");
            assert!(!graph.holds(fragment, stmt(module, "wgmma.mma")), "it is in flight from there on");
            assert!(!graph.holds(fragment, stmt(module, "xor")), "it is not read there");
            assert!(!graph.holds(fragment, stmt(module, "@%p1 add")), "it is read there under a guard alone");
            for at in ["not", "xor", "@%p1 add"] {
                assert!(graph.holds(other, stmt(module, at)), "{at}: it is none of the product's");
            }
        });
    }

    #[test]
    fn what_is_overwritten_on_a_path_is_copied_where_it_was_made() {
        let body = "ld.global.u32 %r1, [0]; setp.eq.u32 %p1, %r1, 0; @%p1 bra JOIN; mov.b32 %r1, 7;\n\
                JOIN: add.u32 %r3, %r1, 1; ret;";
        with(body, |module, graph| {
            let loaded = result(graph, stmt(module, "ld"));
            let join = stmt(module, "add");
            assert!(!graph.holds(loaded, join), "one of the paths writes it");
            assert_eq!(graph.overwritten_by(loaded, join), Some(stmt(module, "@%p1 bra")));
        });
    }

    #[test]
    fn what_is_overwritten_in_a_block_is_copied_before_that() {
        let body = "ld.global.u32 %r1, [0]; add.u32 %r2, %r1, 1; mov.b32 %r1, 7; add.u32 %r3, %r2, %r1;\n\
                NEXT: xor.b32 %r4, %r3, 1; ret;";
        with(body, |module, graph| {
            let loaded = result(graph, stmt(module, "ld"));
            let written = stmt(module, "mov");
            for at in ["add.u32 %r3", "xor"] {
                assert_eq!(graph.overwritten_by(loaded, stmt(module, at)), Some(written), "{at}");
            }
        });
    }

    #[test]
    fn what_does_not_dominate_a_place_is_not_copied_for_it() {
        let body = "ld.global.u32 %r0, [0]; setp.eq.u32 %p1, %r0, 0; @%p1 bra JOIN; mov.b32 %r1, 7; not.b32 %r2, %r1;\n\
                JOIN: add.u32 %r3, %r0, 1; ret;";
        with(body, |module, graph| {
            let constant = result(graph, stmt(module, "mov"));
            assert_eq!(graph.overwritten_by(constant, stmt(module, "add")), None);
        });
    }

    #[test]
    fn what_the_last_statement_of_a_block_makes_cannot_be_copied_in_it() {
        let body = "ld.global.u32 %r0, [0]; ld.global.u32 %r1, [4];\nSTEP: mov.b32 %r1, 7; setp.eq.u32 %p1, %r0, 0;\n\
                @%p1 bra STEP; add.u32 %r3, %r0, 1; ret;";
        with(body, |module, graph| {
            let loaded = result(graph, stmt(module, "ld.global.u32 %r1"));
            assert_eq!(graph.overwritten_by(loaded, stmt(module, "add")), None);
        });
    }
}
