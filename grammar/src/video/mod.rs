//! The 23 video instructions as typed values: decoded from a module, and written as text.
//!
//! A [`Form`] is everything but the registers, and only legal forms have one. [`decode`] takes what NVIDIA's
//! assembler takes, and rejects what it rejects, with a message of its own for each rule; [`Form::encode`] writes
//! only what every version of it takes. Tests encode and decode every form, and compare both with what the assembler
//! says of a list of forms.
//!
//! Accepted by ptxas although undocumented, and without effect, so decoded as if absent:
//!
//! - modifiers in any order, before, between and after the types, and `.sat` more than once (11.8 to 13.5);
//! - an unused fourth operand (11.8 to 13.5);
//! - the sign of both `a` and `b`, in every instruction (11.8 to 13.5): the machine code is that without signs,
//!   for `vmad` also together with `-c` or with `.po`;
//! - the selector `.b01` on the destination of a scalar instruction (12.9 and 13.5, not 11.8): the
//!   whole register, even next to a secondary operation.
//!
//! Rejected by ptxas 13.5 but accepted by 11.8, and decoded: the selector `.b1024`, and an element of a vector
//! as an operand of a scalar instruction. Rejected by all though documented: `.max` after `vset4`, the mask `.b00`.
//!
//! See the [manual](https://docs.nvidia.com/cuda/parallel-thread-execution/#video-instructions).

mod all;
mod encode;
mod form;
mod modifiers;
mod opcode;
mod operands;
mod routing;
mod words;

pub use form::{Form, Mad, Scalar, ScalarOp, Simd, SimdOp, SimdThen, Sum, Then};
pub use opcode::{Arithmetic, Direction, Opcode, SimdArithmetic};
pub use routing::{Lanes, Part, Routing, Selector};
pub use words::{Compare, Scale, ShiftMode, Sign};

use crate::diagnostic::Diagnostic;
use crate::tree::{Module, NodeId, Stmt, StmtId, StmtKind};
use modifiers::Modifiers;
use operands::{Operand, Read, Refusal, Role};

/// A video instruction of a module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instance {
    /// What it does.
    pub form: Form,
    /// The name of the register that it writes.
    pub d: NodeId,
    /// The first source.
    pub a: OperandSource,
    /// The second source.
    pub b: OperandSource,
    /// The third source, where it is read.
    pub c: Option<OperandSource>,
}

/// A source operand, without selector and sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperandSource {
    /// The name of a register.
    Register(NodeId),
    /// A constant: a literal or an expression.
    Constant(NodeId),
}

impl OperandSource {
    /// Its text, without the selector.
    #[must_use]
    pub fn text<'t>(self, module: &Module<'t>) -> &'t [u8] {
        match self {
            Self::Register(name) => register_text(module, name),
            Self::Constant(node) => module.node_text(node),
        }
    }
}

/// The text of a register, without the selector.
#[must_use]
pub fn register_text<'t>(module: &Module<'t>, name: NodeId) -> &'t [u8] {
    let text = module.node_text(name);
    let element = module.decl_of(name).is_some_and(|decl| module.decl(decl).lanes > 1);
    if element { text } else { operands::split(text).0 }
}

/// The video instruction that `stmt` is.
///
/// `None` if it is none, or one with an operand that some assemblers take but that no manual explains, such as
/// `%r1+4`: it may be legal, and must be left unchanged.
///
/// # Errors
///
/// What the assembler would reject, as a [`Diagnostic`].
pub fn decode(module: &Module<'_>, stmt: StmtId) -> Option<Result<Instance, Diagnostic>> {
    let (spelling, _token) = module.opcode(stmt)?;
    let opcode = module.spellings().row(spelling)?.video?;
    let words = module.spellings().words(spelling, module.text());
    let decoded = match modifiers::read(opcode, words) {
        Ok(modifiers) => instance(module, stmt, opcode, &modifiers),
        Err(fault) => {
            let span = operands::opcode_span(module, stmt, &fault);
            Err(Diagnostic::new(span, fault.message).label(fault.label).into())
        }
    };
    match decoded {
        Ok(instance) => Some(Ok(instance)),
        Err(Refusal::Illegal(diagnostic)) => Some(Err(*diagnostic)),
        Err(Refusal::Foreign) => None,
    }
}

/// What the assembler would reject, in the order of the text.
pub(crate) fn check<'a>(module: &'a Module<'a>) -> impl Iterator<Item = Diagnostic> + 'a {
    // Most modules have no video instruction: whether one is, is asked once per spelling.
    let is_video = |spelling| module.spellings.row(spelling).is_some_and(|row| row.video.is_some());
    let video: Vec<bool> = module.spellings.iter().map(is_video).collect();
    let stmts = module.stmts().filter(move |stmt| {
        let Stmt { kind, payload, .. } = module.stmts[stmt.index()];
        kind == StmtKind::Instruction && video[payload as usize]
    });
    stmts.filter_map(|stmt| decode(module, stmt)?.err())
}

fn instance(module: &Module<'_>, stmt: StmtId, opcode: Opcode, modifiers: &Modifiers) -> Read<Instance> {
    let (roots, count) = operands::roots(module, stmt);
    let [Some(d), Some(a), Some(b), c, extra] = roots else {
        let wanted = format!("`{}` needs a destination and at least two sources", opcode.name());
        return Err(Diagnostic::new(module.stmt_span(stmt), wanted).label(format!("found {count}")).into());
    };
    if let Some(extra) = extra {
        let found = Diagnostic::new(module.node_span(extra), "more than four operands");
        return Err(found.label("expected `;` before this one").into());
    }
    let operand = |node, role| Operand::read(module, opcode, node, role);
    let (d, a, b) = (operand(d, Role::D)?, operand(a, Role::A)?, operand(b, Role::B)?);
    let c = c.map(|node| operand(node, Role::C)).transpose()?;
    let sum = signs(module, opcode, modifiers, [Some(&a), Some(&b), c.as_ref()])?;
    if let Some((_, span)) = c.as_ref().and_then(|c| c.selector.clone()) {
        return Err(Diagnostic::new(span, "source `c` has a selector")
            .label("expected the whole register")
            .into());
    }
    let form = match opcode.lanes() {
        Some(lanes) => Form::Simd(simd(opcode, modifiers, lanes, [&d, &a, &b])?),
        None => scalar(opcode, modifiers, sum, [&d, &a, &b])?,
    };
    if form.reads_c() && c.is_none() {
        return Err(missing_c(module, stmt, form));
    }
    let c = c.map(|c| c.source).filter(|_| form.reads_c());
    Ok(Instance { form, d: d.node(), a: a.source, b: b.source, c })
}

/// A secondary operation as the text has it.
fn written(then: Then) -> String {
    then.modifier().map_or_else(String::new, |modifier| format!(".{}", modifier.word()))
}

fn missing_c(module: &Module<'_>, stmt: StmtId, form: Form) -> Refusal {
    let why = match form {
        Form::Scalar(Scalar { then: Then::Merge(_), .. }) => "with a destination selector".to_owned(),
        Form::Scalar(Scalar { then, .. }) => format!("with `{}`", written(then)),
        Form::Mad(_) | Form::Simd(_) => "as its third source".to_owned(),
    };
    let wanted = format!("`{}` needs `c` {why}", form.opcode().name());
    Diagnostic::new(module.stmt_span(stmt), wanted).label("expected four operands").into()
}

/// The meaning of signs. Those of `a` and `b` cancel everywhere; one alone is for `vmad`, and excludes `-c`.
fn signs(
    module: &Module<'_>,
    opcode: Opcode,
    modifiers: &Modifiers,
    sources: [Option<&Operand<'_>>; 3],
) -> Read<Sum> {
    let [a, b, c] = sources.map(|source| source.filter(|source| source.negated));
    let product = if a.is_some() == b.is_some() { None } else { a.or(b) };
    let Some(negated) = product.or(c) else {
        return Ok(if modifiers.plus_one { Sum::PlusOne } else { Sum::Plain });
    };
    let wrong = |operand: &Operand<'_>, message: String, label: &str| {
        Err(Diagnostic::new(module.node_span(operand.root), message).label(label).into())
    };
    if opcode != Opcode::Mad {
        let message = format!("`{}` negates no source", opcode.name());
        return wrong(negated, message, "expected a register without a sign");
    }
    if modifiers.plus_one {
        return wrong(negated, "`.po` with a negated source".into(), "expected no sign");
    }
    match (product, c) {
        (Some(_), Some(c)) => {
            wrong(c, "both the product and `c` are negated".into(), "expected only one of them")
        }
        (Some(_), None) => Ok(Sum::NegatedProduct),
        (None, _) => Ok(Sum::NegatedAddend),
    }
}

fn scalar(opcode: Opcode, modifiers: &Modifiers, sum: Sum, [d, a, b]: [&Operand<'_>; 3]) -> Read<Form> {
    let (dtype, atype, btype) = (modifiers.dtype(), modifiers.atype(), modifiers.btype());
    let saturate = modifiers.saturate;
    let merged = match &d.selector {
        None | Some((b"b01", _)) => None,
        Some((_, span)) if opcode == Opcode::Mad => {
            let found = Diagnostic::new(span.clone(), "the destination of `vmad` has a selector");
            return Err(found.label("expected the whole register").into());
        }
        Some(_) => part(d)?,
    };
    let (a, b) = (part(a)?, part(b)?);
    let then = match (modifiers.then(), merged, &d.selector) {
        (then, None, _) => then,
        (Then::Store, Some(part), _) => Then::Merge(part),
        (then, Some(_), Some((_, span))) => {
            let message = format!("a destination selector and `{}` exclude each other", written(then));
            return Err(Diagnostic::new(span.clone(), message).label("expected the whole register").into());
        }
        (then, Some(_), None) => then,
    };
    let op = match (opcode, modifiers.mode, modifiers.compare) {
        (Opcode::Arithmetic(op), ..) => ScalarOp::Arithmetic { op, dtype, btype, saturate },
        (Opcode::Shift(direction), Some(mode), _) => ScalarOp::Shift { direction, mode, dtype, saturate },
        (Opcode::Set, _, Some(compare)) => ScalarOp::Set { compare, btype },
        _ => {
            let scale = modifiers.scale.unwrap_or(Scale::None);
            return Ok(Form::Mad(Mad { dtype, atype, btype, saturate, scale, sum, a, b }));
        }
    };
    Ok(Form::Scalar(Scalar { op, atype, a, b, then }))
}

fn part(operand: &Operand<'_>) -> Read<Option<Part>> {
    let Some((selector, span)) = &operand.selector else { return Ok(None) };
    match Part::parse(selector) {
        Some(part) => Ok(Some(part)),
        None => {
            let message = format!("unknown selector `.{}`", String::from_utf8_lossy(selector));
            let found = Diagnostic::new(span.clone(), message);
            Err(found.label("expected a byte, `.b0` to `.b3`, or a half, `.h0` or `.h1`").into())
        }
    }
}

fn simd(opcode: Opcode, modifiers: &Modifiers, lanes: Lanes, [d, a, b]: [&Operand<'_>; 3]) -> Read<Simd> {
    let plain = Routing::plain(lanes);
    let mut routing = plain;
    if let Some((word, span)) = &d.selector {
        let mask = lanes.parse_mask(word).and_then(|mask| plain.masked(mask));
        routing = mask.ok_or_else(|| {
            let message = format!("unknown mask `.{}`", String::from_utf8_lossy(word));
            Diagnostic::new(span.clone(), message).label(match lanes {
                Lanes::Two => "expected `.h0`, `.h1` or `.h10`",
                Lanes::Four => "expected `.b` and some of the digits 3210 in this order",
            })
        })?;
    }
    let a = selector(lanes, a, plain.a())?;
    let b = selector(lanes, b, plain.b())?;
    let (atype, btype) = (modifiers.atype(), modifiers.btype());
    let op = match (opcode, modifiers.compare) {
        (Opcode::Simd(op, _), _) => {
            SimdOp::Arithmetic { op, dtype: modifiers.dtype(), then: modifiers.simd_then() }
        }
        (_set, compare) => SimdOp::Set {
            compare: compare.expect("`modifiers::read` rejects a `vset` without comparison"),
            accumulate: modifiers.simd_then() == SimdThen::Add,
        },
    };
    Ok(Simd { op, atype, btype, routing: routing.with_selectors(a, b) })
}

fn selector(lanes: Lanes, operand: &Operand<'_>, whole: Selector) -> Read<Selector> {
    let Some((word, span)) = &operand.selector else { return Ok(whole) };
    lanes.parse_selector(word).ok_or_else(|| {
        let message = format!("unknown selector `.{}`", String::from_utf8_lossy(word));
        let found = Diagnostic::new(span.clone(), message);
        let found = found.label(match lanes {
            Lanes::Two => "expected `.h` and two digits from 0 to 3, such as `.h10`",
            Lanes::Four => "expected `.b` and four digits from 0 to 7, such as `.b3210`",
        });
        found.into()
    })
}
