//! The verification of spellings that were chosen, each once: the text that would be written, and how it is proved.

use super::function::Work;
use super::gather::Offer;
use super::lemmas::Shortened;
use super::profit::is_fused;
use super::record::{Kind, Record, Why, one_line};
use super::settle::{Settling, is_idle};
use super::spell::{self, Spelling};
use super::splice;
use crate::graph::ValueId;
use crate::recipe::{Recipe, Text};
use crate::rules::Pass;
use crate::select::Candidate;
use crate::verify::Rewrite;
use ptxopt_grammar::tree::StmtId;

impl Work<'_, '_, '_> {
    /// Whether a chosen spelling may be written.
    pub(super) fn verify(
        &mut self,
        settling: &mut Settling<'_>,
        stmt: StmtId,
        candidate: &Candidate,
    ) -> bool {
        let key = (stmt, candidate.number);
        if let Some(&passed) = settling.tried.get(&key) {
            return passed.is_some();
        }
        let offer = settling.offer(stmt, candidate.number);
        let (spelling, value) = (&offer.spelling, settling.value(stmt));
        let recipe = &spelling.recipe.recipe();
        let mut told = Vec::new();
        let mut passed = None;
        if self.is_legal(stmt, value, (recipe, spelling), &mut told) {
            let text = self.text(settling, stmt, candidate);
            let record = self.rewritten(stmt, offer, text.as_ref().map_or(&[], |text| &text.lines));
            if let Some(fault) = spell::faulty(recipe, self.module.guard(stmt).is_some()) {
                told.push(Record { kind: Kind::Missed(Why::Faulty(fault)), ..record });
            } else if let Some(text) = text {
                let start = (self.clock)();
                let guessed = is_fused(spelling);
                let rewrite = Rewrite { stmt, value, recipe, text: &text, meant: None, guessed };
                let graph = self.profit.graph;
                let kind = self.by_lemmas(settling, candidate, &rewrite).or_else(|| {
                    let meant = self.meant(spelling, value);
                    let meant = meant.as_ref().map(|(recipe, text)| (recipe, text));
                    Kind::of(self.verifier.verify(graph, self.knowledge, &Rewrite { meant, ..rewrite }))
                });
                if matches!(kind, Some(Kind::Passed(_))) {
                    settling.lemmas.note(graph, stmt, value, recipe);
                }
                let time = (self.clock)().saturating_sub(start);
                self.verifier.spend(time);
                match kind {
                    Some(Kind::Passed(how)) => passed = Some((how, time)),
                    Some(kind) => told.push(Record { kind, time, ..record }),
                    None => {}
                }
            }
        }
        settling.tried.insert(key, passed);
        settling.told.entry(stmt).or_default().extend(told);
        passed.is_some()
    }

    /// How a rewrite is proved with what was proved before, if it is.
    fn by_lemmas(
        &mut self,
        settling: &Settling<'_>,
        candidate: &Candidate,
        rewrite: &Rewrite<'_>,
    ) -> Option<Kind> {
        let graph = self.profit.graph;
        let Shortened { recipe, numbers } = settling.lemmas.shorten(graph, rewrite.stmt, rewrite.recipe)?;
        let to = graph.register_text(graph.register_of(rewrite.value)?)?;
        let name = |step: usize| {
            let (width, number) = settling.names[&candidate.nodes[numbers[step]]];
            self.fresh.name(width, number)
        };
        let text = recipe.text(graph, &to, &name)?;
        // That it is not proved like this says nothing against it.
        let rewrite = Rewrite { recipe: &recipe, text: &text, guessed: true, ..*rewrite };
        let kind = Kind::of(self.verifier.verify(graph, self.knowledge, &rewrite));
        kind.filter(|kind| matches!(kind, Kind::Passed(_)))
    }

    /// What a spelling was before its SIMD instructions were spelled by others, and its text, which is proved and not
    /// written.
    fn meant(&self, spelling: &Spelling, value: ValueId) -> Option<(Recipe, Text)> {
        let recipe = spelling.meant.as_ref()?.recipe();
        let graph = self.profit.graph;
        let to = graph.register_text(graph.register_of(value)?)?;
        let name = |step: usize| {
            let number = u32::try_from(step).expect("a spelling has few steps");
            self.fresh.name(recipe.steps[step].width, number)
        };
        let text = recipe.text(graph, &to, &name)?;
        Some((recipe, text))
    }

    /// A record about a spelling of a statement, with the lines that are written for it.
    pub(super) fn rewritten(&self, stmt: StmtId, offer: &Offer, lines: &[String]) -> Record {
        let mut record = self.missed(stmt, Why::Unproved);
        record.pass = offer.spelling.trail.last().map_or(Pass::Simplify, |rule| rule.pass);
        record.rules = offer.spelling.trail.iter().map(|rule| rule.name).collect();
        if !is_idle(lines) {
            record.after = lines.to_vec();
        }
        if let Some(last) = record.after.last_mut() {
            *last = one_line(&format!("{}{last}", splice::guard(self.module, stmt)));
        }
        record.cost = Some((self.profit.cost_of(stmt), offer.spelling.cost()));
        record
    }

    /// The text of a spelling; `None` if it cannot be written.
    pub(super) fn text(
        &mut self,
        settling: &mut Settling<'_>,
        stmt: StmtId,
        candidate: &Candidate,
    ) -> Option<Text> {
        let recipe = settling.offer(stmt, candidate.number).spelling.recipe.recipe();
        for (&node, step) in candidate.nodes.iter().zip(&recipe.steps) {
            let count = self.counts.entry(step.width).or_default();
            settling.names.entry(node).or_insert_with(|| {
                *count += 1;
                (step.width, *count - 1)
            });
        }
        let graph = self.profit.graph;
        let to =
            graph.register_of(settling.value(stmt)).and_then(|register| graph.register_text(register))?;
        let name = |step: usize| {
            let (width, number) = settling.names[&candidate.nodes[step]];
            self.fresh.name(width, number)
        };
        recipe.text(graph, &to, &name)
    }
}
