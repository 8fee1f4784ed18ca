//! Statements that need not be looked at again: in a later round, or in a variant, those about which all is as it was when
//! no rule had another spelling for them.
//!
//! All is what the statement is computed of, down to what is loaded and to what comes together at the heads of blocks, and
//! what that is if branches choose it; what is known and demanded of all that; and what uses its result. Only a hash of it is kept, with the names of
//! registers, since a later round is about the text that the earlier one left. Nothing is unsound where that misses
//! something: a statement without another spelling stays as it is.

use super::gather::Spelled;
use super::stays::Stays;
use crate::graph::{Graph, Origin, ValueId, inputs_of};
use crate::select::reads;
use crate::site::Knowledge;
use hashbrown::HashMap;
use ptxopt_grammar::tree::StmtId;
use std::hash::{DefaultHasher, Hash, Hasher};

/// How many uses of a value are looked at.
const MOST_USES: usize = 64;

/// The hashes of statements without other spellings, with a reason why they stay, if there is one.
#[derive(Debug, Default)]
pub(super) struct Settled(HashMap<u64, Option<Box<Stays>>>);

impl Settled {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What was found about a statement, if that was nothing.
    pub(super) fn get(&self, hashes: &Hashes, graph: &Graph<'_, '_>, stmt: StmtId) -> Option<Spelled> {
        let stays = self.0.get(hashes.of.get(&stmt)?)?.clone();
        let own = || graph.step(stmt).and_then(|_| graph.results(stmt).next());
        Some(Spelled { own: if stays.is_none() { own() } else { None }, offers: Box::default(), stays })
    }

    /// Notes what was found about a statement, if that was nothing.
    pub(super) fn insert(&mut self, hashes: &Hashes, stmt: StmtId, spelled: &Spelled) {
        if let Some(&hash) = hashes.of.get(&stmt).filter(|_| spelled.offers.is_empty()) {
            self.0.insert(hash, spelled.stays.clone());
        }
    }
}

/// A hash of all about each statement of a function.
pub(super) struct Hashes {
    of: HashMap<StmtId, u64>,
}

impl Hashes {
    pub(super) fn new(graph: &Graph<'_, '_>, knowledge: &Knowledge) -> Self {
        let mut below: HashMap<StmtId, u64> = HashMap::new();
        for &block in graph.flow().order() {
            for stmt in graph.flow().stmts(block) {
                let mut hasher = DefaultHasher::new();
                graph.function().name.hash(&mut hasher);
                graph.module().stmt_text(stmt).hash(&mut hasher);
                for value in reads(graph, stmt) {
                    let mut hash = |value| match computed(graph, value).and_then(|stmt| below.get(&stmt)) {
                        Some(operand) => operand.hash(&mut hasher),
                        None => name(graph, value).hash(&mut hasher),
                    };
                    hash(value);
                    // What comes together after branches is seen through.
                    if let Some(gate) = graph.value(value).gated {
                        graph.operands(value).for_each(|(operand, _)| hash(operand));
                        inputs_of(graph.terms(), gate).into_iter().for_each(&mut hash);
                    }
                    knowledge.facts.get(value.index()).hash(&mut hasher);
                }
                below.insert(stmt, hasher.finish());
            }
        }
        let about = |&stmt: &StmtId| {
            let mut hasher = DefaultHasher::new();
            below[&stmt].hash(&mut hasher);
            for result in graph.results(stmt) {
                knowledge.demanded[result.index()].hash(&mut hasher);
                graph.joined(result).hash(&mut hasher);
                used(graph, result, 2).hash(&mut hasher);
            }
            hasher.finish()
        };
        Self { of: below.keys().map(|stmt| (*stmt, about(stmt))).collect() }
    }
}

/// What uses a value, whatever the order, and what uses that.
fn used(graph: &Graph<'_, '_>, value: ValueId, deep: usize) -> u64 {
    let mut all: u64 = 0;
    for (by, _) in graph.uses(value).take(MOST_USES) {
        let mut hasher = DefaultHasher::new();
        if let Origin::Result(stmt) | Origin::Sink(stmt) = graph.value(by).origin {
            graph.module().stmt_text(stmt).hash(&mut hasher);
        }
        if deep > 1 {
            used(graph, by, deep - 1).hash(&mut hasher);
        }
        all = all.wrapping_add(hasher.finish());
    }
    all
}

/// The name of the register that a value is read from.
fn name(graph: &Graph<'_, '_>, value: ValueId) -> Option<String> {
    graph.register_of(value).and_then(|register| graph.register_text(register))
}

/// The statement that computes a value of others.
fn computed(graph: &Graph<'_, '_>, value: ValueId) -> Option<StmtId> {
    match graph.value(value).origin {
        Origin::Result(stmt) if graph.only_computes(stmt) => Some(stmt),
        Origin::Result(_)
        | Origin::Undefined
        | Origin::Read(_)
        | Origin::Opaque
        | Origin::Phi(_)
        | Origin::Sink(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxopt_grammar::function::functions;
    use ptxopt_grammar::meaning::disputed::Semantics;
    use ptxopt_grammar::parse;
    use ptxopt_grammar::tree::StmtKind;

    const BODY: [&str; 5] = [
        "ld.global.u32 %r1, [%rd1];",
        "not.b32 %r2, %r1;",
        "xor.b32 %r3, %r2, 1;",
        "shl.b32 %r4, %r3, 8;",
        "st.global.u32 [%rd1+4], %r4;",
    ];

    fn about<T>(body: &[&str], of: impl FnOnce(&Graph<'_, '_>, &Hashes, &[StmtId]) -> T) -> T {
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 p)\n{{\n.reg .b32 %r<9>; \
             .reg .b64 %rd<2>;\nld.param.u64 %rd1, [p];\n{}\nret;\n}}\n",
            body.join("\n")
        );
        let module = parse(text.as_bytes()).expect("the module is legal");
        let function = functions(&module).remove(0);
        let stmts = function.body.clone().filter_map(StmtId::new);
        let all: Vec<StmtId> = stmts.filter(|&stmt| module.kind(stmt) == StmtKind::Instruction).collect();
        let graph = Graph::new(&module, function, Semantics::Manual).expect("its control flow is known");
        of(&graph, &Hashes::new(&graph, &Knowledge::of(&graph)), &all)
    }

    /// The instructions of a body that are not looked at after those of [`BODY`] had no other spellings.
    fn left_out(body: &[&str]) -> Vec<String> {
        let mut settled = Settled::default();
        let nothing = || Spelled { own: None, offers: Box::default(), stays: None };
        about(&BODY, |_, hashes, all| all.iter().for_each(|&stmt| settled.insert(hashes, stmt, &nothing())));
        about(body, |graph, hashes, all| {
            let text = |stmt: StmtId| String::from_utf8_lossy(graph.module().stmt_text(stmt)).into_owned();
            let left = all.iter().filter(|&&stmt| settled.get(hashes, graph, stmt).is_some());
            left.map(|&stmt| text(stmt)).collect()
        })
    }

    fn with(at: usize, line: &'static str) -> Vec<&'static str> {
        let mut body = BODY.to_vec();
        body[at] = line;
        body
    }

    #[test]
    fn what_is_as_it_was_is_left_out() {
        assert_eq!(left_out(&BODY).len(), BODY.len() + 2);
    }

    #[test]
    fn what_is_computed_of_something_else_is_looked_at() {
        let left = left_out(&with(2, "xor.b32 %r3, %r2, 2;"));
        for line in &BODY[2..4] {
            assert!(!left.iter().any(|text| text == line), "{line}");
        }
        assert!(left.iter().any(|text| text == "ret;"));
    }

    #[test]
    fn what_is_used_otherwise_is_looked_at() {
        let left = left_out(&with(4, "st.global.u8 [%rd1+4], %r4;"));
        assert!(!left.iter().any(|text| text == BODY[3]));
    }
}
