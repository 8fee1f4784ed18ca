//! Gates: a phi as a choice by the conditions of the branches whose paths it joins.
//!
//! At the join of a hammock ([`super::hammocks`]) a phi is a choice among the values that it takes, and these are replaced
//! by what they are computed of, until all is in terms of values that dominate the join. That is the gamma function of
//! gated SSA form (Ottenstein, Ballance and MacCabe, "The Program Dependence Web", 1990).
//!
//! Sound because control that reaches the join came from its dominator by one of these paths, and each condition is
//! what the branch tested: nothing on the way comes back to the dominator, so all values above are those that were
//! seen on the way. What is computed on one path alone is only replaced if all that it does is to compute; whether that
//! path was taken makes no difference to what it would be. A value that may be undefined, a load or a call on the way
//! leaves a phi without a gate.

use super::build::{Builder, inputs_of, only_computes};
use super::hammocks::{Exit, Hammock, Hammocks, may_be_gated};
use super::lists::Lists;
use super::{BlockId, Flow, Origin, Use, ValueId};
use hashbrown::{HashMap, HashSet};
use ptxopt_grammar::meaning::term::Term;

/// The most values on the paths of one hammock that are replaced by what they are computed of, and how far one leads to
/// another.
const MOST_REPLACED: usize = 400;
const DEEPEST: usize = 64;

/// The most terms that a gate is made of.
const MOST_TERMS: usize = 800;

/// A hammock in terms of values that dominate its join.
struct Gate<'g> {
    join: BlockId,
    flow: &'g Flow,
    hammock: &'g Hammock,
    /// Values on the paths as terms over values above, as far as they are.
    replaced: HashMap<ValueId, Option<Term>>,
}

impl Builder<'_, '_, '_> {
    /// Gives phis their gates.
    pub(super) fn gate(&mut self, flow: &Flow, hammocks: &Hammocks) {
        if hammocks.is_empty() {
            return;
        }
        let ids = (0..self.named.values.len()).map(ValueId::numbered);
        let at_hammock = |value: ValueId| {
            let entry = &self.named.values[value.index()];
            let Origin::Phi(join) = entry.origin else { return None };
            (may_be_gated(entry) && hammocks.at(join).is_some()).then_some((join, value))
        };
        let phis: Vec<(BlockId, ValueId)> = ids.filter_map(at_hammock).collect();
        let gated: HashSet<ValueId> = phis.iter().map(|&(_, phi)| phi).collect();
        let links = || self.named.links.iter().filter(|link| gated.contains(&link.to));
        let slot = |slot| if let Use::Phi(from) = slot { Some(from) } else { None };
        let incoming: HashMap<(ValueId, u32), ValueId> =
            links().filter_map(|link| Some(((link.to, slot(link.slot)?), link.from))).collect();
        let by_block = Lists::of(flow.len(), || phis.iter().map(|&(join, phi)| (join.index(), phi)));
        for &join in flow.order() {
            let Some(hammock) = hammocks.at(join) else { continue };
            let mut gate = Gate { join, flow, hammock, replaced: HashMap::new() };
            for &phi in by_block.get(join.index()) {
                let mut known = HashMap::new();
                let made = self.leaving(&mut gate, (phi, &incoming), hammock.head, &mut known);
                let small = |term: &Term| self.terms.cone(*term).len() <= MOST_TERMS;
                self.named.values[phi.index()].gated = made.filter(small);
            }
        }
    }

    /// What a phi becomes if control leaves a block.
    fn leaving(
        &mut self,
        gate: &mut Gate<'_>,
        phi: (ValueId, &HashMap<(ValueId, u32), ValueId>),
        block: BlockId,
        known: &mut HashMap<BlockId, Option<Term>>,
    ) -> Option<Term> {
        if let Some(&known) = known.get(&block) {
            return known;
        }
        let mut enter = |builder: &mut Self, gate: &mut Gate<'_>, next: BlockId| {
            if next != gate.join {
                return builder.leaving(gate, phi, next, known);
            }
            let from = gate.flow.predecessors(next).binary_search(&block).ok()?;
            let value = *phi.1.get(&(phi.0, u32::try_from(from).ok()?))?;
            builder.above(gate, value, DEEPEST)
        };
        let made = match gate.hammock.exits[&block] {
            Exit::To(next) => enter(self, gate, next)?,
            Exit::Either(branch, [taken, falls]) => {
                let [yes, no] = [enter(self, gate, taken)?, enter(self, gate, falls)?];
                let (node, negated) = self.module.guard(branch)?;
                let at = self.access(branch, Some(node), false)?;
                let condition = self.above(gate, self.named.seen[at], DEEPEST)?;
                if negated {
                    self.terms.choose(condition, no, yes)
                } else {
                    self.terms.choose(condition, yes, no)
                }
            }
        };
        known.insert(block, Some(made));
        Some(made)
    }

    /// A value in terms of values that dominate the join.
    fn above(&mut self, gate: &mut Gate<'_>, value: ValueId, depth: usize) -> Option<Term> {
        if let Some(&known) = gate.replaced.get(&value) {
            return known;
        }
        let term = self.replaced(gate, value, depth);
        gate.replaced.insert(value, term);
        term
    }

    fn replaced(&mut self, gate: &mut Gate<'_>, value: ValueId, depth: usize) -> Option<Term> {
        if self.undefined.get(value.index()).is_some_and(|&undefined| undefined) {
            return None;
        }
        let dominates = |block: BlockId| block != gate.join && gate.flow.dominates(block, gate.join);
        let entry = &self.named.values[value.index()];
        let term = match entry.origin {
            Origin::Result(stmt) if dominates(gate.flow.block(stmt)) => return Some(self.input(value)),
            Origin::Phi(block) if dominates(block) => return Some(self.input(value)),
            // What is known before the function begins.
            Origin::Opaque
                if entry.register.is_some() || self.fixed.values().any(|&fixed| fixed == value) =>
            {
                return Some(self.input(value));
            }
            Origin::Result(stmt) if only_computes(self.module, stmt) => entry.def?,
            Origin::Phi(_) => entry.gated?,
            Origin::Result(_) | Origin::Opaque | Origin::Undefined | Origin::Read(_) | Origin::Sink(_) => {
                return None;
            }
        };
        if depth == 0 || gate.replaced.len() > MOST_REPLACED {
            return None;
        }
        let mut inputs: HashMap<u32, Term> = HashMap::new();
        for input in inputs_of(&self.terms, term) {
            inputs.insert(input.number(), self.above(gate, input, depth - 1)?);
        }
        Some(self.terms.substitute(term, &mut |number| inputs[&number]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Graph, Value};
    use ptxopt_grammar::function::functions;
    use ptxopt_grammar::meaning::concrete::evaluate;
    use ptxopt_grammar::meaning::disputed::Semantics;
    use ptxopt_grammar::tree::{StmtId, StmtKind};
    use std::fmt::Write;

    const HEAD: &str = ".version 8.0\n.target sm_90\n.address_size 64\n.entry f()\n{\n.reg .b32 %r<6>;\n\
                        .reg .pred %p<3>;\n.reg .b64 %rd;\nmov.b64 %rd, 0;\n";

    fn graph<T>(body: &str, see: impl FnOnce(&Graph<'_, '_>) -> T) -> T {
        let text = format!("{HEAD}{body}}}\n");
        let module = ptxopt_grammar::parse(text.as_bytes()).unwrap_or_else(|all| panic!("{text}: {all:?}"));
        let function = functions(&module).remove(0);
        see(&Graph::new(&module, function, Semantics::Manual).expect("it can be modelled"))
    }

    /// How many phis of a body have gates, of all.
    fn gated(body: &str) -> (usize, usize) {
        graph(
            &format!(
                "ld.global.u32 %r0, [%rd];\nld.global.u32 %r1, [%rd];\nsetp.lt.u32 %p0, %r0, %r1;\n{body}"
            ),
            |graph| {
                let phis = graph.values().map(|value| graph.value(value));
                let phis: Vec<&Value> = phis.filter(|value| matches!(value.origin, Origin::Phi(_))).collect();
                (phis.iter().filter(|phi| phi.gated.is_some()).count(), phis.len())
            },
        )
    }

    #[test]
    fn a_value_of_two_ways_is_a_choice() {
        let rest =
            "mov.b32 %r2, %r0;\n@%p0 bra L;\nadd.u32 %r2, %r1, 1;\nL: st.global.u32 [%rd], %r2;\nret;\n";
        assert_eq!(gated(rest), (1, 1));
    }

    #[test]
    fn a_value_of_three_ways_is_two_choices() {
        let rest = "setp.eq.u32 %p1, %r0, 7;\n@%p0 bra A;\n@!%p1 bra B;\nmov.b32 %r2, 1;\nbra L;\n\
                    A: mov.b32 %r2, %r0;\nbra L;\nB: mov.b32 %r2, %r1;\nL: st.global.u32 [%rd], %r2;\nret;\n";
        assert_eq!(gated(rest), (1, 1));
    }

    #[test]
    fn what_is_loaded_on_the_way_has_no_gate() {
        let rest = "mov.b32 %r2, %r0;\n@%p0 bra L;\nld.global.u32 %r2, [%rd];\n\
                    L: st.global.u32 [%rd], %r2;\nret;\n";
        assert_eq!(gated(rest), (0, 1));
    }

    #[test]
    fn what_may_be_undefined_has_no_gate() {
        let rest = "@%p0 bra L;\nadd.u32 %r2, %r1, 1;\nL: st.global.u32 [%rd], %r2;\nret;\n";
        assert_eq!(gated(rest), (0, 1));
    }

    #[test]
    fn a_loop_with_two_entries_has_no_gate() {
        let rest = "mov.b32 %r2, %r0;\nmov.b32 %r3, 5;\n@%p0 bra B;\nA: add.u32 %r2, %r2, 1;\n\
                    setp.lt.u32 %p1, %r2, %r3;\n@%p1 bra J;\nB: add.u32 %r2, %r2, 7;\nsetp.lt.u32 %p2, %r2, %r3;\n\
                    @%p2 bra J;\nbra A;\nJ: st.global.u32 [%rd], %r2;\nret;\n";
        let decisions =
            |graph: &Graph<'_, '_>| graph.values().map(|value| graph.decisions(value).len()).sum::<usize>();
        assert_eq!(gated(rest), (0, 3));
        assert_eq!(
            graph(&format!("ld.global.u32 %r0, [%rd];\nsetp.eq.u32 %p0, %r0, 0;\n{rest}"), decisions),
            0
        );
    }

    #[test]
    fn what_a_loop_carries_has_no_gate() {
        let rest = "mov.b32 %r2, %r0;\nL: add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p0, %r2, %r1;\n@%p0 bra L;\n\
                    st.global.u32 [%rd], %r2;\nret;\n";
        assert_eq!(gated(rest), (0, 1));
    }

    /// Numbers drawn one after the other.
    struct Drawn(u64);

    impl Drawn {
        fn below(&mut self, bound: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(self.0 >> 33).expect("it has 31 bits") % bound
        }

        /// A register; rarely one that may be undefined.
        fn register(&mut self) -> usize {
            let is_rare = self.below(20) == 0;
            self.below(4 + usize::from(is_rare))
        }

        fn word(&mut self) -> u128 {
            u128::from([0, 1, 7, u32::MAX][self.below(4)])
        }
    }

    /// A body of blocks that compute a little and branch, most of the time forward.
    fn drawn_body(drawn: &mut Drawn) -> String {
        let mut text = String::new();
        for register in 0..3 {
            writeln!(text, "ld.global.u32 %r{register}, [%rd];").expect("strings can be written to");
        }
        text.push_str("setp.lt.u32 %p0, %r0, %r1;\nsetp.eq.u32 %p1, %r1, %r2;\n");
        let count = 3 + drawn.below(9);
        for block in 0..count {
            write!(text, "L{block}: ").expect("strings can be written to");
            for _ in 0..drawn.below(4) {
                let [to, x, y] = [0; 3].map(|_| drawn.register());
                let p = drawn.below(2);
                match drawn.below(8) {
                    0 => writeln!(text, "setp.lt.u32 %p{p}, %r{x}, %r{y};"),
                    1 if drawn.below(4) == 0 => writeln!(text, "ld.global.u32 %r{to}, [%rd];"),
                    2 => writeln!(text, "selp.b32 %r{to}, %r{x}, %r{y}, %p{p};"),
                    3 => writeln!(text, "@%p{p} xor.b32 %r{to}, %r{x}, %r{y};"),
                    4 => writeln!(text, "mov.b32 %r{to}, {x};"),
                    _ => writeln!(text, "add.u32 %r{to}, %r{x}, %r{y};"),
                }
                .expect("strings can be written to");
            }
            let target = if drawn.below(12) == 0 {
                drawn.below(count)
            } else {
                block + 1 + drawn.below(count - block)
            };
            let guard = ["", "@%p0 ", "@!%p1 ", "@%p1 "][drawn.below(4)];
            match (target, drawn.below(5)) {
                (_, 0) => {}
                (target, _) if target >= count => writeln!(text, "{guard}bra END;").expect("as above"),
                (target, _) => writeln!(text, "{guard}bra L{target};").expect("as above"),
            }
        }
        text.push_str("END: st.global.v4.u32 [%rd], {%r0, %r1, %r2, %r3};\nret;\n");
        text
    }

    /// A function being executed: what each value is at present.
    struct Running<'g, 'm, 't> {
        graph: &'g Graph<'m, 't>,
        now: Vec<u128>,
    }

    impl Running<'_, '_, '_> {
        fn of(&self, term: Term) -> u128 {
            evaluate(self.graph.terms(), &[term], &self.now)[0]
        }

        /// Comes into a block, and compares its phis with their gates; how many have one.
        fn enter(&mut self, from: BlockId, block: BlockId, body: &str) -> usize {
            let edge = self.graph.flow().predecessors(block).binary_search(&from).expect("it is an edge");
            let edge = u32::try_from(edge).expect("there are few blocks");
            let is_phi = |value: &ValueId| self.graph.value(*value).origin == Origin::Phi(block);
            let phis: Vec<ValueId> = self.graph.values().filter(is_phi).collect();
            let taken = |&phi: &ValueId| {
                let mut operands = self.graph.operands(phi);
                let (operand, _) = operands.find(|&(_, slot)| slot == Use::Phi(edge)).expect("it has one");
                self.now[operand.index()]
            };
            let new: Vec<u128> = phis.iter().map(taken).collect();
            for (phi, new) in phis.iter().zip(new) {
                self.now[phi.index()] = new;
            }
            let gates = phis.iter().filter_map(|&phi| Some((phi, self.graph.value(phi).gated?)));
            let gates: Vec<(ValueId, Term)> = gates.collect();
            for &(phi, gate) in &gates {
                assert_eq!(
                    self.of(gate),
                    self.now[phi.index()],
                    "{phi:?} from {from:?} to {block:?}: {body}"
                );
            }
            gates.len()
        }

        fn execute(&mut self, stmt: StmtId, drawn: &mut Drawn) {
            let results: Vec<ValueId> = self.graph.results(stmt).collect();
            for result in results {
                let def = self.graph.value(result).def.expect("all of them have terms");
                for input in inputs_of(self.graph.terms(), def) {
                    // What is loaded, and what was never written, may be anything.
                    if matches!(self.graph.value(input).origin, Origin::Opaque | Origin::Read(_)) {
                        self.now[input.index()] = drawn.word();
                    }
                }
                self.now[result.index()] = self.of(def);
            }
        }
    }

    /// Executes a function from its beginning, for a while; how many gates were compared.
    fn run(graph: &Graph<'_, '_>, body: &str, drawn: &mut Drawn) -> usize {
        let mut running = Running { graph, now: vec![0; graph.values().len()] };
        let (mut compared, mut block) = (0, Flow::ENTRY);
        for _ in 0..60 {
            let (mut is_taken, falls) = (false, BlockId::numbered(block.index() + 1));
            let stmts = graph.flow().stmts(block);
            for stmt in stmts.filter(|&stmt| graph.module().kind(stmt) == StmtKind::Instruction) {
                running.execute(stmt, drawn);
                if let (true, Some((node, negated))) = (graph.is_branch(stmt), graph.module().guard(stmt)) {
                    let guard = graph.read_at(stmt, node).expect("a guard is read");
                    is_taken = (running.now[guard.index()] == 1) != negated;
                }
            }
            // What is branched to, and what control falls into, may be one.
            let next = graph.flow().successors(block);
            let wanted = |next: &&BlockId| (**next != falls) == is_taken;
            let Some(&to) = next.iter().find(wanted).or(next.first()) else { break };
            compared += running.enter(block, to, body);
            block = to;
        }
        compared
    }

    #[test]
    fn a_gate_is_what_its_phi_is_on_every_way() {
        let mut drawn = Drawn(11);
        let mut compared = 0;
        for _ in 0..1000 {
            let body = drawn_body(&mut drawn);
            compared += graph(&body, |graph| (0..12).map(|_| run(graph, &body, &mut drawn)).sum::<usize>());
        }
        assert!(compared > 5000, "too few gates: {compared}");
    }
}
