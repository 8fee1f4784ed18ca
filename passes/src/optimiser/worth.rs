//! What a rewrite is worth where it stands.
//!
//! The tables measure every instruction alone. What the assembler makes of its neighbours moves that by a few
//! instructions, so a rewrite must save more than such noise.

use super::function::Work;
use crate::cost::Cost;
use crate::graph::Origin;
use crate::recipe::{Code, Recipe, Source, Step};
use crate::rules::{is_byte_move, is_interesting};
use ptxopt_grammar::tree::StmtId;
use ptxopt_grammar::video::Form;
use std::collections::BTreeSet;

impl Work<'_, '_, '_> {
    /// What a statement's own instruction costs where it stands. The tables measure it alone; what the assembler
    /// takes apart lane by lane shares the lanes of an operand with other instructions that are taken apart.
    pub(super) fn cost_here(&self, stmt: StmtId, own: &Recipe) -> Cost {
        let cost = self.target.cost(own);
        let [Step { code: Code::Video(form), sources, .. }] = own.steps.as_slice() else { return cost };
        let lanes = match form {
            Form::Simd(simd) => [u32::from(simd.routing.lanes().count()); 2],
            Form::Scalar(scalar) => [scalar.a, scalar.b].map(|part| u32::from(part.is_some())),
            Form::Mad(mad) => [mad.a, mad.b].map(|part| u32::from(part.is_some())),
        };
        let shared = sources.iter().zip(lanes).filter(|&(&source, _)| self.is_taken_apart(source, stmt));
        let shared: u32 = shared.map(|(_, lanes)| lanes).sum();
        Cost { least: cost.least.saturating_sub(shared).max(cost.least.min(1)), ..cost }
    }

    /// Whether another video instruction reads a source too.
    fn is_taken_apart(&self, source: Source, stmt: StmtId) -> bool {
        let Source::Value(value) = source else { return false };
        self.graph.uses(value).any(|(user, _)| match self.graph.value(user).origin {
            Origin::Result(other) => {
                other != stmt && self.module.row(other).is_some_and(|row| row.video.is_some())
            }
            Origin::Undefined | Origin::Read(_) | Origin::Opaque | Origin::Phi(_) | Origin::Sink(_) => false,
        })
    }

    /// How much a rewrite must save. The tables measure instructions alone. The assembler fuses plain ones with their
    /// neighbours, so one less of them may be none; of long emulations it shares parts with others, so less than a
    /// third of one may be none. A number in the place of a video instruction is never more, even where the assembler
    /// finds the number itself.
    pub(super) fn least_gain(&self, stmt: StmtId, before: Cost, recipe: &Recipe) -> u32 {
        let number = match recipe.steps.as_slice() {
            [step] => matches!(step.copied(), Some(Source::Constant(_))),
            _ => false,
        };
        match self.module.row(stmt) {
            Some(row) if row.video.is_some() && number => 0,
            // What it costs here is less than alone: it shares parts with others.
            Some(row) if row.video.is_some() && before.least < before.most => (before.least / 3).max(1),
            Some(row) if is_interesting(row) || number => 1,
            Some(_) | None => 2,
        }
    }

    /// Whether a statement is plain code that is left as it is. The assembler does the algebra of plain code itself,
    /// and fuses an instruction with its uses: `bfe` and the conversion of a byte to a float become one instruction,
    /// a `mov` of the word and the conversion two. So what a cheaper spelling gains depends on the uses, and may be
    /// negative. Measured with each rule switched off (`cargo run --example gains -- --ablate`), other spellings of
    /// plain code saved nothing but where several byte moves become one, or where video code goes with them. A byte
    /// move alone stays too: as a copy of the word it no longer shows the assembler that the upper bytes are zero.
    pub(super) fn is_left_to_the_assembler(&self, stmt: StmtId, freed: &BTreeSet<StmtId>) -> bool {
        let goes = |stmt: &StmtId| self.cost_of(*stmt).least > 0;
        let joined = self.module.row(stmt).is_some_and(is_byte_move) && freed.iter().any(goes);
        !(joined || self.is_video(stmt) || freed.iter().any(|&stmt| self.is_video(stmt)))
    }

    pub(super) fn cost_of(&self, stmt: StmtId) -> Cost {
        self.graph.step(stmt).map_or(Cost::UNKNOWN, |step| self.target.cost(&Recipe::one(step)))
    }
}
