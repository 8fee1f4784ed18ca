//! Statements as rules see them: one instruction over values.
//!
//! A statement that does not fit that view is none, so rules are never given part of an instruction; and what rules
//! propose is proved against the statement itself, not against this view.

use super::{Graph, Origin, ValueId, inputs_of};
use crate::recipe::{Code, Source, Sources, Step};
use ptxopt_grammar::constant;
use ptxopt_grammar::meaning::disputed::{Semantics, disputed_at};
use ptxopt_grammar::meaning::term::{Op, Term};
use ptxopt_grammar::table::instruction::op;
use ptxopt_grammar::tree::{NodeId, NodeKind, StmtId};
use ptxopt_grammar::video;

impl Graph<'_, '_> {
    /// A statement as one instruction over values, its guard left out.
    ///
    /// `None` if it has more than one result, no undisputed meaning, or an operand that is neither a register nor a
    /// number.
    #[must_use]
    pub fn step(&self, stmt: StmtId) -> Option<Step> {
        let mut results = self.results(stmt);
        let result = results.next()?;
        if results.next().is_some() {
            return None;
        }
        let width = self.value(result).width;
        self.value(result).core?;
        if self.semantics == Semantics::Undisputed && disputed_at(self.module, stmt).is_some() {
            return None;
        }
        if self.module.row(stmt)?.video.is_some() {
            return self.video_step(stmt);
        }
        self.module.row(stmt)?.means?;
        let operands = self.module.operands(stmt);
        let (&to, from) = operands.split_first()?;
        if self.module.node_kind(to) != NodeKind::Name || self.module.registers_of(to).count() > 1 {
            return None;
        }
        let instruction = self.module.instruction(stmt)?;
        if let [vector] = from
            && instruction.row().moves
            && self.module.node_kind(*vector) == NodeKind::Vector
        {
            let parts = self.module.children(*vector);
            return Some(Step { code: Code::Pack, sources: self.sources(stmt, &parts)?, width });
        }
        Some(Step { code: Code::Plain(instruction), sources: self.sources(stmt, from)?, width })
    }

    /// These operands; `None` if one is neither a register nor a number, or if they are more than a step has.
    fn sources(&self, stmt: StmtId, nodes: &[NodeId]) -> Option<Sources> {
        let mut sources = Sources::new();
        for &node in nodes {
            if sources.try_push(self.source(stmt, node)?).is_some() {
                return None;
            }
        }
        Some(sources)
    }

    fn video_step(&self, stmt: StmtId) -> Option<Step> {
        let instance = video::decode(self.module, stmt)?.ok()?;
        let operand = |source| match source {
            video::OperandSource::Register(node) => self.read_at(stmt, node).map(Source::Value),
            video::OperandSource::Constant(node) => constant::value(self.module, node).map(Source::Constant),
        };
        let mut sources = Sources::new();
        sources.push(operand(instance.a)?);
        sources.push(operand(instance.b)?);
        if let Some(c) = instance.c {
            sources.push(operand(c)?);
        }
        Some(Step { code: Code::Video(instance.form), sources, width: 32 })
    }

    fn source(&self, stmt: StmtId, node: NodeId) -> Option<Source> {
        match self.module.node_kind(node) {
            NodeKind::Int | NodeKind::Constant => constant::value(self.module, node).map(Source::Constant),
            NodeKind::Name => self.read_at(stmt, node).map(Source::Value),
            NodeKind::Declared
            | NodeKind::Word
            | NodeKind::Float
            | NodeKind::Str
            | NodeKind::Directive
            | NodeKind::Negated
            | NodeKind::Complement
            | NodeKind::Pair
            | NodeKind::Suffixed
            | NodeKind::Offset
            | NodeKind::Element
            | NodeKind::Vector
            | NodeKind::Address
            | NodeKind::List
            | NodeKind::Guard
            | NodeKind::GuardNot
            | NodeKind::Family
            | NodeKind::Dimension
            | NodeKind::Initialiser
            | NodeKind::Align
            | NodeKind::Attribute => None,
        }
    }

    /// Whether two steps are the same plain instruction with the same numbers in the same places, be they in registers
    /// or not: so they cost the same, whatever that is, together with what it takes to have the numbers.
    pub(crate) fn are_alike(&self, one: &Step, other: &Step) -> bool {
        let alike = |(&one, &other): (&Source, &Source)| self.number(one) == self.number(other);
        matches!(one.code, Code::Plain(_))
            && (one.code, one.width) == (other.code, other.width)
            && one.sources.iter().zip(&other.sources).all(alike)
    }

    /// The number that a source is, in a register or not.
    fn number(&self, source: Source) -> Option<u64> {
        match source {
            Source::Constant(number) => Some(number),
            Source::Value(value) => match self.definition(value)?.copied()? {
                Source::Constant(number) => Some(number),
                Source::Value(_) | Source::Step(_) => None,
            },
            Source::Step(_) => None,
        }
    }

    /// The statement that computes a value without a guard, as an instruction; moves of registers are looked through.
    #[must_use]
    pub fn definition(&self, value: ValueId) -> Option<Step> {
        let mut value = value;
        // Each move is a step up in the order of definitions, which has no cycles without phis.
        loop {
            let Origin::Result(stmt) = self.value(value).origin else { return None };
            if self.module.guard(stmt).is_some() {
                return None;
            }
            let step = self.step(stmt)?;
            match step.copied() {
                Some(Source::Value(source)) => value = source,
                Some(Source::Step(_) | Source::Constant(_)) | None => return Some(step),
            }
        }
    }

    /// Whether a value is made of bytes that another word selects, as in a table that is looked up: each may be any.
    #[must_use]
    pub fn is_looked_up(&self, value: ValueId) -> bool {
        let Origin::Result(stmt) = self.value(value).origin else { return false };
        // Few statements are moves of bytes, so that is asked first.
        let selects = self.module.row(stmt).is_some_and(|row| row.is(op::PRMT));
        let step = if selects { self.step(stmt) } else { None };
        step.and_then(|step| step.sources.last().copied())
            .is_some_and(|selector| self.number(selector).is_none())
    }

    /// How a value is joined with others, if that is all that is done with it, once.
    #[must_use]
    pub fn joined(&self, value: ValueId) -> Option<Join> {
        let mut uses = self.uses(value);
        let (Some((reader, _)), None) = (uses.next(), uses.next()) else { return None };
        let op = |term: Term| self.terms().op(term);
        let is_it = |term: Term| matches!(op(term), Op::Input(number) if number == value.number());
        let def = self.value(reader).def?;
        if let Op::Or(a, b) = op(def) {
            return (is_it(a) || is_it(b)).then_some(Join::Or);
        }
        // Products that are added to a sum are operands of their own.
        let mut sum = def;
        let mut others = Vec::new();
        for _ in 0..MOST_PRODUCTS {
            let Op::Add(a, b) = op(sum) else { return None };
            if is_it(a) || is_it(b) {
                others.push(if is_it(a) { b } else { a });
                let reads = |other| inputs_of(self.terms(), other).contains(&value);
                return (!others.into_iter().any(reads)).then_some(Join::Add);
            }
            let (next, other) = if matches!(op(a), Op::Add(..)) { (a, b) } else { (b, a) };
            sum = next;
            others.push(other);
        }
        None
    }
}

/// The most products that one instruction adds to a sum: a dot product of bytes.
const MOST_PRODUCTS: usize = 4;

/// How values are joined: in a chain of which all operands can be taken together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Join {
    /// They are added up.
    Add,
    /// Their bits are put together.
    Or,
}
