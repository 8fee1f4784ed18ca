//! Lemmas: what was proved of one statement is used in the proofs of those behind it.
//!
//! The longer a chain of statements is, the longer a text is that computes its end of what it began with, and the harder
//! it is to prove. But such a text often begins with the text of a statement of the chain, which was proved by itself: to
//! agree with that statement's value on all of its demanded bits, whatever else the words hold that it reads. So it is
//! enough to prove what follows of any word that agrees with that value on its demanded bits, and this is what is asked
//! about a text that reads the value itself.
//!
//! Both are about the same moment: the statement stands before in the same block, so it was executed with the values that
//! the text reads. It has no guard, so it has written its value. A text that may read undefined registers is left out,
//! since each read of one could be another number.

use crate::graph::{Graph, ValueId};
use crate::recipe::{Recipe, Source, Step};
use hashbrown::HashMap;
use ptxopt_grammar::tree::StmtId;

/// What was proved of the statements of a function.
#[derive(Debug, Default)]
pub(super) struct Lemmas {
    /// By what computes a value: the statement that writes it, and the value.
    known: HashMap<Vec<Step>, (StmtId, ValueId)>,
}

/// A recipe that begins with values in the place of what was proved to compute them.
#[derive(Debug)]
pub(super) struct Shortened {
    pub(super) recipe: Recipe,
    /// For each of its steps the number that it had.
    pub(super) numbers: Vec<usize>,
}

impl Lemmas {
    /// Notes that a recipe was proved to compute the value that a statement writes.
    pub(super) fn note(&mut self, graph: &Graph<'_, '_>, stmt: StmtId, value: ValueId, recipe: &Recipe) {
        let is_always = graph.module().guard(stmt).is_none();
        if let Some(last) = recipe.steps.len().checked_sub(1)
            && is_always
            && recipe.values().all(|value| graph.is_defined(value))
        {
            self.known.entry(below(&recipe.steps, last)).or_insert((stmt, value));
        }
    }

    /// A recipe for a statement with what was proved in it taken as known; `None` if nothing was.
    pub(super) fn shorten(&self, graph: &Graph<'_, '_>, stmt: StmtId, recipe: &Recipe) -> Option<Shortened> {
        let steps = &recipe.steps;
        let last = steps.len().checked_sub(1).filter(|_| !self.known.is_empty())?;
        let block = graph.flow().block(stmt);
        let proved = |at: usize| {
            let &(before, value) = self.known.get(&below(steps, at))?;
            (before < stmt && graph.flow().block(before) == block).then_some(value)
        };
        let known: Vec<Option<ValueId>> = (0..last).map(proved).chain([None]).collect();
        let mut needed = vec![false; steps.len()];
        needed[last] = true;
        for at in (0..=last).rev().filter(|&at| known[at].is_none()) {
            if needed[at] {
                steps_of(&steps[at]).for_each(|before| needed[before] = true);
            }
        }
        let numbers: Vec<usize> = (0..=last).filter(|&at| needed[at] && known[at].is_none()).collect();
        let over = |source: &Source| match *source {
            Source::Step(at) => known[at].map_or_else(
                || Source::Step(numbers.binary_search(&at).expect("what a step reads is needed")),
                Source::Value,
            ),
            Source::Value(_) | Source::Constant(_) => *source,
        };
        let shorter = numbers.iter().map(|&at| steps[at].over(over)).collect();
        (numbers.len() < steps.len()).then(|| Shortened { recipe: Recipe::of(shorter), numbers })
    }
}

/// A step and all that it is made of, in an order that depends on nothing else.
fn below(steps: &[Step], root: usize) -> Vec<Step> {
    let mut places: Vec<Option<usize>> = vec![None; root + 1];
    let mut found = Vec::new();
    let mut stack = vec![root];
    while let Some(&at) = stack.last() {
        let waiting = steps_of(&steps[at]).find(|&before| places[before].is_none());
        if let Some(before) = waiting {
            stack.push(before);
            continue;
        }
        stack.pop();
        if places[at].is_none() {
            places[at] = Some(found.len());
            let place = |source: &Source| match *source {
                Source::Step(before) => Source::Step(places[before].expect("it was found before")),
                Source::Value(_) | Source::Constant(_) => *source,
            };
            found.push(steps[at].over(place));
        }
    }
    found
}

/// The steps that a step reads.
fn steps_of(step: &Step) -> impl Iterator<Item = usize> + '_ {
    step.sources.iter().filter_map(|source| match *source {
        Source::Step(at) => Some(at),
        Source::Value(_) | Source::Constant(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxopt_grammar::function::functions;
    use ptxopt_grammar::meaning::disputed::Semantics;
    use ptxopt_grammar::table::instruction::op;
    use ptxopt_grammar::tree::StmtKind;

    /// How many steps are left of `%r2 = %b + (%a + %b)`, where `%r1 = %a + %b` was proved, in a function with these
    /// statements: the first that writes `%r1` and the first that writes `%r2`.
    fn left(body: &str) -> Option<usize> {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry f(.param .u64 p)\n{{\n\
             .reg .b32 %a, %b, %r<4>;\n.reg .b64 %d;\n.reg .pred %p;\nld.param.u64 %d, [p];\n{body}\n\
             st.global.b32 [%d], %r2;\nret;\n}}\n"
        );
        let module = ptxopt_grammar::parse(text.as_bytes()).expect("the text is legal");
        let function = functions(&module).remove(0);
        let graph = Graph::new(&module, function, Semantics::Undisputed).expect("it can be modelled");
        let writer = |name: &str| {
            let writes = |&stmt: &StmtId| {
                let text = String::from_utf8_lossy(module.stmt_text(stmt));
                module.kind(stmt) == StmtKind::Instruction && text.contains(&format!(" {name},"))
            };
            let stmt = module.stmts().find(writes).expect("it is written");
            (stmt, graph.results(stmt).next().expect("it has a result"))
        };
        let [first, second] = ["%r1", "%r2"].map(writer);
        let [a, b] = ["%a", "%b"].map(|name| {
            let is_it = |value: &ValueId| {
                graph.register_of(*value).and_then(|of| graph.register_text(of)).as_deref() == Some(name)
            };
            let mut read = graph.operands(first.1).map(|(operand, _)| operand);
            Source::Value(read.find(is_it).expect("it is read"))
        });
        let sum = Step::plain(op::ADD_U32, &[a, b]);
        let mut lemmas = Lemmas::default();
        lemmas.note(&graph, first.0, first.1, &Recipe::of(vec![sum]));
        let whole = Recipe::of(vec![sum, Step::plain(op::ADD_U32, &[b, Source::Step(0)])]);
        let shortened = lemmas.shorten(&graph, second.0, &whole)?;
        assert!(shortened.recipe.values().any(|value| value == first.1), "the value takes its place");
        Some(shortened.recipe.steps.len())
    }

    const LOADS: &str = "ld.global.b32 %a, [%d+4];\nld.global.b32 %b, [%d+8];\n";
    const FIRST: &str = "add.u32 %r1, %a, %b;\n";
    const SECOND: &str = "add.u32 %r2, %r1, %b;\n";

    #[test]
    fn what_was_proved_before_is_known() {
        assert_eq!(left(&format!("{LOADS}{FIRST}{SECOND}")), Some(1));
    }

    #[test]
    fn what_stands_behind_is_not_known() {
        assert_eq!(left(&format!("{LOADS}mov.b32 %r2, %a;\n{FIRST}{SECOND}")), None);
    }

    #[test]
    fn what_another_block_computes_is_not_known() {
        assert_eq!(left(&format!("{LOADS}{FIRST}L:\n{SECOND}setp.eq.u32 %p, %r2, 0;\n@%p bra L;\n")), None);
    }

    #[test]
    fn what_may_not_have_been_written_is_not_known() {
        assert_eq!(left(&format!("{LOADS}setp.eq.u32 %p, %a, 0;\n@%p {FIRST}{SECOND}")), None);
    }

    #[test]
    fn what_reads_undefined_registers_is_not_known() {
        assert_eq!(left(&format!("ld.global.b32 %b, [%d+8];\n{FIRST}{SECOND}")), None);
    }
}
