//! What a rewrite saves where it stands, and whether that is enough to make it.
//!
//! The tables measure every instruction alone. What the assembler makes of its neighbours moves that by a few
//! instructions, so a rewrite must save more than such noise.

use super::applied::Applied;
use super::repeats::{Repeats, is_sign_extended};
use super::spell::{Spelling, Target};
use crate::cost::{Cost, Costs};
use crate::graph::{Graph, Origin, ValueId};
use crate::lower;
use crate::recipe::{Code, Recipe, Source, Step};
use crate::rules::{Pass, is_byte_move, is_dot_product, is_interesting};
use crate::select::{Gain, Price, underlying};
use crate::site::Knowledge;
use hashbrown::HashMap;
use ptxopt_grammar::meaning::term::ones;
use ptxopt_grammar::table::Row;
use ptxopt_grammar::table::instruction::{Instruction, op};
use ptxopt_grammar::tree::StmtId;
use ptxopt_grammar::video::Form;
use std::cell::RefCell;

/// What prices and gains depend on.
#[derive(Clone, Copy)]
pub(super) struct Profit<'w, 'm, 't> {
    pub(super) graph: &'w Graph<'m, 't>,
    pub(super) target: Target,
    /// Whether the function keeps words as halves.
    pub(super) keeps_halves: bool,
    /// What is known of its values.
    pub(super) knowledge: &'w Knowledge,
    /// What it computes more than once.
    pub(super) repeats: &'w Repeats<'w, 'm, 't>,
    /// What was asked of it before.
    pub(super) compared: &'w Compared,
}

/// What was asked of statements and spellings before. Nothing that is chosen changes the answers.
#[derive(Debug, Default)]
pub(super) struct Compared {
    /// The answers of [`Profit::is_cheaper`], by statements, numbers of their spellings, and costs.
    pub(super) cheaper: RefCell<HashMap<Group, bool>>,
    /// The statements that were compared, as instructions.
    pub(super) steps: RefCell<HashMap<StmtId, Option<Step>>>,
}

/// Spellings of statements that are compared on a target.
type Group = (Vec<(StmtId, usize)>, Costs);

impl Profit<'_, '_, '_> {
    /// What a statement's own instruction costs alone.
    pub(super) fn cost_of(&self, stmt: StmtId) -> Cost {
        if self.graph.is_branch(stmt) {
            return if self.graph.module().guard(stmt).is_some() { BRANCH } else { Cost::NOTHING };
        }
        let moves = || Cost { least: self.halves_moved(stmt), ..Cost::UNKNOWN };
        self.graph.step(stmt).map_or_else(moves, |step| self.target.cost(&Recipe::one(step)))
    }

    /// What a statement's own instruction costs at least, in parts. What the assembler takes apart lane by lane shares
    /// the lanes of an operand with other instructions that are taken apart; what is repeated is one part of all.
    pub(super) fn price(&self, stmt: StmtId) -> Price {
        let Some(step) = self.graph.step(stmt) else {
            return Price { own: self.cost_of(stmt).least, ..Price::default() };
        };
        let least = self.target.cost(&Recipe::one(step)).least;
        let least = least.saturating_sub(self.extended_before(&step)).max(least.min(1));
        if self.is_taken_with_sign(stmt, &step) {
            return Price::default();
        }
        if self.is_predicated(stmt, &step) {
            return Price { own: least.saturating_sub(1), ..Price::default() };
        }
        if let Some(first) = self.repeats.get(stmt).filter(|_| !self.is_video(stmt)) {
            return Price { own: 0, parts: [Some((first, least)), None] };
        }
        let mut left = least.saturating_sub(1);
        let mut parts: [Option<(ValueId, u32)>; 2] = [None; 2];
        for (at, (value, lanes)) in taken_apart(&step).enumerate() {
            let value = underlying(self.graph, value);
            let lanes = lanes.min(left);
            if lanes > 0 && !parts.iter().flatten().any(|&(known, _)| known == value) {
                left -= lanes;
                parts[at] = Some((value, lanes));
            }
        }
        let shared: u32 = parts.iter().flatten().map(|&(_, lanes)| lanes).sum();
        Price { own: least - shared, parts }
    }

    /// How many operands of an operation on signed halves are extended already. The machine has no such operations but on
    /// words, so the tables count an extension for each operand.
    fn extended_before(&self, step: &Step) -> u32 {
        let is_signed_half =
            step.instruction().is_some_and(|own| !own.row().is(op::CVT) && own.last_type() == Some(op::S16));
        if !is_signed_half {
            return 0;
        }
        let is_extended = |source: &Source| match *source {
            Source::Value(value) => is_sign_extended(self.graph, value) || self.is_byte(value),
            Source::Step(_) | Source::Constant(_) => false,
        };
        let extended = step.sources.iter().filter(|source| is_extended(source)).count();
        u32::try_from(extended).expect("an instruction has few operands")
    }

    /// Whether a statement takes a byte out of a word for nothing but what makes a word of it with its sign: the assembler
    /// makes one instruction of both.
    pub(super) fn is_taken_with_sign(&self, stmt: StmtId, step: &Step) -> bool {
        let takes = |own: Instruction| own.row().is(op::BFE);
        let bits = || step.sources.get(2).and_then(|&bits| self.knowledge.constant(bits));
        step.instruction().is_some_and(takes)
            && bits() == Some(8)
            && self.graph.results(stmt).any(|value| self.is_extended(value, MOST_COPIES))
    }

    /// Whether all that is made of a value is a word of its lowest byte with its sign, behind so many conversions at most.
    fn is_extended(&self, value: ValueId, most: usize) -> bool {
        let mut uses = self.graph.uses(value).peekable();
        uses.peek().is_some()
            && uses.all(|(user, _)| {
                let Some(own) = self.graph.definition(user).and_then(|step| step.instruction()) else {
                    return false;
                };
                own.row().is(op::CVT)
                    && (own == op::CVT_S32_S8 || most > 0 && self.is_extended(user, most - 1))
            })
    }

    /// Whether a value is a byte, from memory or under a mask, so that the machine's register has zeros above it.
    fn is_byte(&self, value: ValueId) -> bool {
        let Origin::Result(stmt) = self.graph.value(underlying(self.graph, value)).origin else {
            return false;
        };
        let fills = self.graph.module().row(stmt).is_some_and(|row| row.is(op::LD) || row.is(op::AND));
        fills && self.knowledge.facts.get(value.index()).unsigned().1 <= 0xff
    }

    /// Whether all that is made of a statement's result is a choice between it and one of its own operands: the assembler
    /// makes one instruction of both, which is executed under the condition.
    fn is_predicated(&self, stmt: StmtId, step: &Step) -> bool {
        let Some(value) = self.graph.results(stmt).next() else { return false };
        let mut uses = self.graph.uses(value);
        let (Some((user, _)), None) = (uses.next(), uses.next()) else { return false };
        let choice = self
            .graph
            .definition(user)
            .filter(|choice| choice.instruction().is_some_and(|own| own.row().is(op::SELP)));
        choice.is_some_and(|choice| {
            let is_operand = |source: &&Source| match **source {
                Source::Value(other) => step.sources.contains(&Source::Value(other)),
                Source::Step(_) | Source::Constant(_) => false,
            };
            let chosen = || choice.sources.iter().take(2);
            chosen().any(|source| *source == Source::Value(value))
                && chosen().any(|source| is_operand(&source))
        })
    }

    /// What the extensions and masks cost that the assembler does together with what moves a byte out of a word: such a
    /// move fills the rest of the word with zeros or the sign at no cost. `None` if a spelling makes no dot product of
    /// other code: what else is done lane by lane, the assembler does no better than it is priced.
    fn extended_in_place(&self, gain: &Gain<'_>, spelling: &Spelling) -> Option<i64> {
        let adds_lanes =
            |step: &Step| step.instruction().is_some_and(|instruction| is_dot_product(instruction.row()));
        let adds_now = self.graph.module().row(gain.stmt).is_some_and(is_dot_product);
        // A sum of 16 bits is cut to these.
        let sums = || spelling.recipe.steps().filter(|step| !is_conversion(step));
        if adds_now || !sums().all(|step| adds_lanes(&step)) {
            return None;
        }
        // What takes single bytes out of words with dot products competes with fields that are extended as they are moved.
        let are_single = sums().all(|step| takes_one_byte(&step));
        let takes = if are_single { takes_field } else { is_byte_move };
        let extensions = gain
            .gone
            .iter()
            .filter(|&&stmt| self.graph.step(stmt).is_some_and(|step| self.extends_in_place(&step, takes)));
        Some(extensions.map(|&stmt| i64::from(self.cost_of(stmt).least)).sum())
    }

    /// Whether a step extends what such an instruction took out of a word, or masks it and keeps all of it.
    fn extends_in_place(&self, step: &Step, takes: fn(&Row) -> bool) -> bool {
        let (Some(instruction), Some(&Source::Value(value))) = (step.instruction(), step.sources.first())
        else {
            return false;
        };
        let zeros = || self.knowledge.facts.get(value.index()).zeros();
        let mask = || step.sources.get(1).and_then(|&mask| self.knowledge.constant(mask));
        let keeps_all = || mask().is_some_and(|mask| ones(step.width) & !zeros() & !u128::from(mask) == 0);
        let row = instruction.row();
        (row.is(op::CVT) || row.is(op::AND) && keeps_all()) && self.is_taken(value, takes)
    }

    /// Whether a value is a byte or half that such an instruction took out of a word.
    fn is_taken(&self, value: ValueId, takes: fn(&Row) -> bool) -> bool {
        let mut step = self.graph.definition(underlying(self.graph, value));
        for _ in 0..MOST_COPIES {
            let Some(Source::Value(copied)) =
                step.as_ref().filter(|step| is_conversion(step)).map(|step| step.sources[0])
            else {
                break;
            };
            step = self.graph.definition(underlying(self.graph, copied));
        }
        step.and_then(|step| step.instruction()).is_some_and(|instruction| takes(instruction.row()))
    }

    pub(super) fn is_video(&self, stmt: StmtId) -> bool {
        self.graph.module().row(stmt).is_some_and(|row| row.video.is_some())
    }

    /// Whether a statement shares parts with others.
    pub(super) fn shares(&self, stmt: StmtId) -> bool {
        self.is_video(stmt) || self.repeats.get(stmt).is_some()
    }

    /// Whether a statement moves bytes. Where words are kept as halves, with or without a bias, a copy and an inversion
    /// of some bits are such moves too: they were added to get from one way to another.
    pub(super) fn is_byte_move(&self, stmt: StmtId) -> bool {
        self.graph.module().row(stmt).is_some_and(is_byte_move)
            || self.keeps_halves && self.graph.step(stmt).is_some_and(|step| lower::is_move(&step))
    }

    /// Whether a gain is worth a change; `spelling_of` has the spellings of statements by their numbers.
    pub(super) fn pays<'s>(
        &self,
        gain: &Gain<'_>,
        spelling_of: &dyn Fn((StmtId, usize)) -> &'s Spelling,
    ) -> bool {
        let spelling = spelling_of((gain.stmt, gain.number));
        if self.bares_negation(gain.stmt, &spelling.recipe) {
            return false;
        }
        if is_fused(spelling) {
            // What is saved counts in full at most, and one more for each word that is put together.
            if gain.saved + i64::try_from(gain.gone.len()).expect("a module is not so large") + 1
                < LEAST_OF_FUSING
            {
                return false;
            }
            // An operation is fused with one other.
            let others = [self.shifted_into_place(gain, spelling), self.extended_in_place(gain, spelling)];
            let fused = others.into_iter().flatten().fold(self.overpriced(gain), i64::max);
            return gain.saved - fused >= LEAST_OF_FUSING
                && self
                    .overpriced_with_what_stays(gain, spelling)
                    .is_none_or(|overpriced| gain.saved > overpriced)
                && (self.is_cheaper_alone(gain, spelling) || self.are_cheaper_together(gain, spelling_of));
        }
        gain.saved >= self.least_gain(gain, &spelling.recipe)
            && !self.is_left_to_the_assembler(gain, spelling)
    }

    /// How many shifts the assembler does together with what puts bytes into one word: it knows that `x << 8 | y` is a
    /// sum where `y` is a byte, and has an instruction for that. `None` if a spelling does more than to move bytes.
    fn shifted_into_place(&self, gain: &Gain<'_>, spelling: &Spelling) -> Option<i64> {
        if !spelling.recipe.steps().all(|step| step.is(op::PRMT_B32)) {
            return None;
        }
        let count = |is: fn(&Row) -> bool| {
            let stmts = gain.gone.iter().chain([&gain.stmt]);
            stmts.filter(|&&stmt| self.graph.module().row(stmt).is_some_and(is)).count()
        };
        let (shifts, joins) = (count(|row| row.is(op::SHL)), count(|row| row.is(op::OR) || row.is(op::ADD)));
        i64::try_from(shifts.min(joins)).ok()
    }

    /// Whether a statement puts a word together from halves, which costs an instruction that is in no table, since it has
    /// a vector for its operand; from negated halves, as an operand of a packed sum, it costs nothing.
    pub(super) fn is_pack(&self, stmt: StmtId) -> bool {
        let is_negated = |source: &Source| match *source {
            Source::Value(value) => self.graph.definition(value).is_some_and(|step| is_negation(&step)),
            Source::Step(_) | Source::Constant(_) => false,
        };
        let of_sum = || self.graph.results(stmt).any(|word| self.is_added_packed(word));
        self.graph
            .step(stmt)
            .is_some_and(|step| step.code == Code::Pack && !(step.sources.iter().any(is_negated) && of_sum()))
    }

    /// How many halves, of a word that a statement takes apart, are moved to where arithmetic takes them: an upper one for
    /// arithmetic of halves, either for what extends it with zeros, or compares it without a sign. That is an instruction
    /// for each, which is in no table: the statement has a vector for its result, and the extension is free where nothing
    /// else is in the register.
    pub(super) fn halves_moved(&self, stmt: StmtId) -> u32 {
        let is_arithmetic = |row: &Row| {
            [op::ADD, op::SUB, op::MIN, op::MAX, op::SETP].into_iter().any(|arithmetic| row.is(arithmetic))
        };
        let user = |value: ValueId| self.graph.definition(value).and_then(|step| step.instruction());
        let users = |value: ValueId| self.graph.uses(value).filter_map(move |(result, _)| user(result));
        let calculates = |value: ValueId| users(value).any(|own| is_arithmetic(own.row()));
        let is_compared = |half: ValueId| {
            let is_unsigned = |own: &Instruction| [op::B16, op::U16].map(Some).contains(&own.last_type());
            users(half).filter(is_unsigned).any(|own| own.row().is(op::SETP))
        };
        let extends = |half: ValueId| {
            let mut words = self.graph.uses(half).map(|(word, _)| word);
            words.any(|word| user(word).is_some_and(|own| own == op::CVT_U32_U16) && calculates(word))
        };
        let moves =
            |at: usize, half: ValueId| at > 0 && calculates(half) || extends(half) || is_compared(half);
        let is_move = self.graph.module().row(stmt).is_some_and(|row| row.is(op::MOV));
        let halves = self.graph.results(stmt).filter(|&half| self.graph.value(half).width == 16).enumerate();
        let moved = halves.filter(|&(at, half)| is_move && moves(at, half));
        u32::try_from(moved.count()).expect("a word has two halves")
    }

    /// Whether a statement negates a half of an operand of a packed sum.
    pub(super) fn negates_operand(&self, stmt: StmtId) -> bool {
        let words = || self.graph.results(stmt).flat_map(|half| self.graph.uses(half)).map(|(word, _)| word);
        self.graph.step(stmt).is_some_and(|step| is_negation(&step))
            && words().any(|word| self.is_added_packed(word))
    }

    /// Whether a word is an operand of a sum of two halves.
    fn is_added_packed(&self, word: ValueId) -> bool {
        self.graph
            .uses(word)
            .any(|(sum, _)| self.graph.definition(sum).is_some_and(|step| adds_packed(&step)))
    }

    /// Whether a spelling takes a sum of two halves away, even one with zero, from negated halves, which cost nothing as
    /// operands of one. Where the other operand is a number, the assembler takes such a sum away itself.
    fn bares_negation(&self, stmt: StmtId, recipe: &Applied) -> bool {
        let negates = |source: Source| match source {
            Source::Value(half) => self.graph.definition(half).is_some_and(|step| is_negation(&step)),
            Source::Step(_) | Source::Constant(_) => false,
        };
        let packs_negated =
            |step: &Step| step.code == Code::Pack && step.sources.iter().any(|&source| negates(source));
        let is_bare = |value: ValueId| self.graph.definition(value).is_some_and(|step| packs_negated(&step));
        let is_number = |source: &Source| match *source {
            Source::Value(value) => {
                let copied = self.graph.definition(value).and_then(|step| step.copied());
                matches!(copied, Some(Source::Constant(_)))
            }
            Source::Constant(_) => true,
            Source::Step(_) => false,
        };
        let adds_words = |step: &Step| adds_packed(step) && !step.sources.iter().any(is_number);
        self.graph.step(stmt).is_some_and(|step| adds_words(&step))
            && !recipe.steps().any(|step| adds_packed(&step))
            && recipe.values().any(is_bare)
    }

    /// How much a rewrite must save. The tables measure instructions alone. The assembler fuses plain ones with their
    /// neighbours, so one less of them may be none; of long emulations it shares parts with others, so less than a
    /// third of one may be none. A number in the place of a video instruction is never more, even where the assembler
    /// finds the number itself.
    fn least_gain(&self, gain: &Gain<'_>, recipe: &Applied) -> i64 {
        let copied = recipe.single().and_then(|step| step.copied());
        let number = matches!(copied, Some(Source::Constant(_)));
        let (alone, here) = gain.own;
        match self.graph.module().row(gain.stmt) {
            Some(row) if row.video.is_some() && number => 0,
            // What it costs here is less than alone: it shares parts with others.
            Some(row) if row.video.is_some() && here < alone => i64::from((here / 3).max(1)),
            Some(row)
                if is_interesting(row)
                    || number
                    || self.is_sum_of_dot_product(gain)
                    || self.packs_moves(gain) =>
            {
                1
            }
            Some(_) | None => 2,
        }
    }

    /// Whether a sum takes the place of a dot product and what it is added to: the assembler does not do that.
    fn is_sum_of_dot_product(&self, gain: &Gain<'_>) -> bool {
        let is = |stmt: &StmtId, row: fn(&Row) -> bool| self.graph.module().row(*stmt).is_some_and(row);
        is(&gain.stmt, |row| row.is(op::ADD)) && gain.gone.iter().any(|stmt| is(stmt, is_dot_product))
    }

    /// Whether a statement puts a word together from halves, or masks one that is and that goes with it, which is a move
    /// that has no price, and several that have one go with it.
    fn packs_moves(&self, gain: &Gain<'_>) -> bool {
        let row = |stmt: StmtId| self.graph.module().row(stmt);
        let joins_halves = |stmt| self.graph.step(stmt).is_some_and(|step| step.code == Code::Pack);
        let is_mask = || row(gain.stmt).is_some_and(|row| row.is(op::AND));
        let takes_field = |stmt| {
            self.is_byte_move(stmt)
                || row(stmt).is_some_and(|row| row.is(op::BFE))
                || self.graph.step(stmt).is_some_and(|step| shifts_half_by_byte(&step))
        };
        let moves = || gain.gone.iter().filter(|&&stmt| takes_field(stmt) && self.cost_of(stmt).least > 0);
        let packs = joins_halves(gain.stmt) || is_mask() && gain.gone.iter().any(|&stmt| joins_halves(stmt));
        packs && moves().count() > 1
    }

    /// Whether a statement is plain code that is left as it is. The assembler does the algebra of plain code itself,
    /// and fuses an instruction with its uses: `bfe` and the conversion of a byte to a float become one instruction,
    /// a `mov` of the word and the conversion two. So what a cheaper spelling gains depends on the uses, and may be
    /// negative. Measured with each rule switched off (`cargo run --example gains -- --ablate`), other spellings of
    /// plain code saved nothing but where several byte moves become one, where video code goes with them, or where a
    /// dot product is added to a sum. A byte
    /// move alone stays too: as a copy of the word it no longer shows the assembler that the upper bytes are zero.
    /// And several moves that become others as dear, priced alike, stay: else two moves in a row could take their own
    /// place for ever, since what goes is priced one by one.
    ///
    /// What the code means as a video instruction is nothing that the assembler finds.
    pub(super) fn is_left_to_the_assembler(&self, gain: &Gain<'_>, spelling: &Spelling) -> bool {
        if is_fused(spelling) {
            return false;
        }
        let goes = |stmt: &StmtId| self.cost_of(*stmt).least > 0;
        let joined = || {
            (self.is_byte_move(gain.stmt) && gain.gone.iter().any(goes) || self.packs_moves(gain))
                && self.is_cheaper_alone(gain, spelling)
        };
        let of_video = || self.is_video(gain.stmt) || gain.gone.iter().any(|&stmt| self.is_video(stmt));
        !(joined() || of_video() || self.is_sum_of_dot_product(gain))
    }
}

/// What a branch costs. Where threads may part at it, there are instructions beside it by which they meet again, but one
/// over a few instructions often becomes a guard of each of these.
const BRANCH: Cost = Cost { least: 1, most: 1 };

/// How much a rewrite must save that says what plain code means, beyond what the assembler fuses there by itself.
const LEAST_OF_FUSING: i64 = 2;

/// Through how many conversions a byte is followed to what moved it.
const MOST_COPIES: usize = 2;

/// Whether a step takes a field out of a word.
fn takes_field(row: &Row) -> bool {
    is_byte_move(row) || row.is(op::BFE)
}

/// Whether a step is a dot product with a number of one byte that is not zero.
fn takes_one_byte(step: &Step) -> bool {
    let is_one = |&source: &Source| match source {
        Source::Constant(number) => number.to_le_bytes().iter().filter(|&&byte| byte != 0).count() == 1,
        Source::Value(_) | Source::Step(_) => false,
    };
    step.sources.iter().take(2).any(is_one)
}

/// Whether a step converts a number to one of other bits.
pub(super) fn is_conversion(step: &Step) -> bool {
    step.instruction().is_some_and(|instruction| instruction.row().is(op::CVT))
}

/// Whether a step adds halves side by side.
fn adds_packed(step: &Step) -> bool {
    step.instruction().is_some_and(|instruction| {
        let ty = instruction.last_type();
        instruction.row().is(op::ADD) && (ty == Some(op::U16X2) || ty == Some(op::S16X2))
    })
}

/// Whether a step negates a half.
fn is_negation(step: &Step) -> bool {
    step.width == 16 && step.instruction().is_some_and(|instruction| instruction.row().is(op::NEG))
}

/// Whether a spelling says what code means as video instructions.
pub(super) fn is_fused(spelling: &Spelling) -> bool {
    spelling.trail.iter().any(|rule| rule.pass == Pass::Fuse)
}

/// Whether a step moves a byte of a half to where the other one is.
fn shifts_half_by_byte(step: &Step) -> bool {
    let shifts = |own: Instruction| own == op::SHL.of(op::B16) || own == op::SHR.of(op::U16);
    step.instruction().is_some_and(shifts) && step.sources.last() == Some(&Source::Constant(8))
}

/// The operands that a video instruction takes apart, and into how many lanes.
fn taken_apart(step: &Step) -> impl Iterator<Item = (ValueId, u32)> + '_ {
    let lanes = match &step.code {
        Code::Video(Form::Simd(simd)) => [u32::from(simd.routing.lanes().count()); 2],
        Code::Video(Form::Scalar(scalar)) => [scalar.a, scalar.b].map(|part| u32::from(part.is_some())),
        Code::Video(Form::Mad(mad)) => [mad.a, mad.b].map(|part| u32::from(part.is_some())),
        Code::Plain(_) | Code::Pack | Code::Half(_) => [0; 2],
    };
    let of = |(source, lanes): (&Source, u32)| match *source {
        Source::Value(value) if lanes > 0 => Some((value, lanes)),
        Source::Value(_) | Source::Step(_) | Source::Constant(_) => None,
    };
    step.sources.iter().zip(lanes).filter_map(of)
}
