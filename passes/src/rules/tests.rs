//! Every rule fires on its examples, and no rule proposes anything wrong there.
//!
//! Verification decides, as it does for every rewrite, so the tests hold a law to the same standard as a run does.

pub(super) use super::example_module as module;
use super::{Rule, rules};
use crate::graph::Graph;
use crate::recipe::Recipe;
use crate::site::{Knowledge, Site};
use crate::verify::{Check, Judgement, Rewrite, Verifier};
use ptxopt_grammar::function::functions;
use ptxopt_grammar::meaning::disputed::Semantics;
use ptxopt_grammar::tree::{StmtId, StmtKind};
use std::cell::RefCell;

/// A proposal, and what verification finds.
pub(super) struct Tried {
    pub(super) rule: &'static str,
    pub(super) stmt: String,
    /// Whether the registers that the text reads still hold the values that it expects.
    pub(super) held: bool,
    pub(super) text: Vec<String>,
    pub(super) judgement: Judgement,
}

/// Everything that a rule proposes for the statements of `text`.
pub(super) fn proposals(rule: &'static Rule, text: &str) -> Vec<Tried> {
    all_proposals(&[rule], text)
}

/// Everything that rules propose for the statements of `text`.
pub(super) fn all_proposals(rules: &[&'static Rule], text: &str) -> Vec<Tried> {
    let module = ptxopt_grammar::parse(text.as_bytes()).unwrap_or_else(|all| panic!("{text}\n{all:?}"));
    let function = functions(&module).remove(0);
    let body = function.body.clone();
    let graph = Graph::new(&module, function, Semantics::Undisputed).expect("examples can be modelled");
    let knowledge = Knowledge::of(&graph);
    let mut verifier = Verifier::new(Check::Proved);
    let mut tried = Vec::new();
    for stmt in body.filter_map(StmtId::new).filter(|&stmt| module.kind(stmt) == StmtKind::Instruction) {
        let Some(step) = graph.step(stmt) else { continue };
        let value = graph.results(stmt).next().expect("a step has a result");
        let demanded = knowledge.demanded[value.index()];
        if demanded == 0 {
            continue;
        }
        let result = knowledge.core_fact(&graph, value);
        let site = Site {
            graph: &graph,
            knowledge: &knowledge,
            value,
            step: &step,
            demanded,
            result: &result,
            asked: &RefCell::default(),
        };
        for &rule in rules {
            let mut recipes: Vec<Recipe> = Vec::new();
            (rule.propose)(&site, &mut recipes);
            for recipe in recipes {
                let register = graph.register_of(value).and_then(|register| graph.register_text(register));
                let to = register.expect("a result has a register");
                let Some(text) = recipe.text(&graph, &to, &|step| format!("%new{step}")) else { continue };
                let rewrite =
                    Rewrite { stmt, value, recipe: &recipe, text: &text, meant: None, guessed: false };
                let judgement = verifier.verify(&graph, &knowledge, &rewrite);
                let held = recipe.values().all(|value| graph.holds(value, stmt));
                let stmt = String::from_utf8_lossy(module.stmt_text(stmt)).into_owned();
                tried.push(Tried { rule: rule.name, stmt, held, text: text.lines, judgement });
            }
        }
    }
    tried
}

#[test]
fn every_rule_fires_on_its_examples_and_is_right() {
    let mut faults = Vec::new();
    for rule in rules() {
        assert!(!rule.examples.is_empty(), "`{}` has no example", rule.name);
        for example in rule.examples {
            let tried = proposals(rule, &module(example));
            if tried.is_empty() {
                faults.push(format!("`{}` does not fire on `{example}`", rule.name));
            }
            for Tried { stmt, text, judgement, .. } in tried {
                if !matches!(judgement, Judgement::Proved(_)) {
                    faults.push(format!(
                        "`{}`: `{stmt}` -> {text:?}: {judgement:?}\n  in `{example}`",
                        rule.name
                    ));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn names_of_rules_are_distinct() {
    let mut names: Vec<_> = rules().map(|rule| rule.name).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn instructions_with_two_meanings_are_left_alone_and_not_looked_through() {
    let rules: Vec<&'static Rule> = rules().collect();
    let body = "vmin.s32.s32.s32.sat %e.b3, %a.b3, %b.b3, %c; vmin.s32.s32.s32.sat %d.b2, %a.b2, %b.b2, %e;";
    let tried = all_proposals(&rules, &module(body));
    assert!(tried.is_empty(), "{:?}", tried.iter().map(|tried| &tried.text).collect::<Vec<_>>());
}
