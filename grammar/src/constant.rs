//! Constant expressions: their values, as the assembler computes them.
//!
//! The tree keeps an expression as flat text; its value is computed on demand, with two stacks instead of recursion, so
//! that deep nesting cannot exhaust the stack. Numbers have 64 bits and are signed unless they do not fit or end in
//! `U`.
//!
//! See the [manual](https://docs.nvidia.com/cuda/parallel-thread-execution/#constant-expression-evaluation).

use crate::token::Tok;
use crate::tree::{Module, NodeId, NodeKind, TokenId};

/// The value of an integer literal: decimal, octal, hexadecimal or binary, with or without `U`.
///
/// `None` where it does not fit in 64 bits.
#[must_use]
pub fn literal(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    let digits = text.strip_suffix('U').unwrap_or(text);
    let (digits, radix) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&digits[2..], 16),
        [b'0', b'b' | b'B', ..] => (&digits[2..], 2),
        [b'0', _, ..] => (&digits[1..], 8),
        _ => (digits, 10),
    };
    u64::from_str_radix(digits, radix).ok()
}

/// The 64 bits of an integer constant, a literal or an expression; a narrower operand takes the lowest.
///
/// `None` for floating-point numbers, for a division by zero and for what is no constant.
#[must_use]
pub fn value(module: &Module<'_>, node: NodeId) -> Option<u64> {
    if !matches!(module.node_kind(node), NodeKind::Int | NodeKind::Constant) {
        return None;
    }
    let mut stacks = Stacks::default();
    for token in module.node_tokens(node).map(TokenId) {
        stacks.token(module.tokens().kind(token), &module.text()[module.tokens().span(token)])?;
    }
    stacks.finish()
}

#[derive(Clone, Copy)]
struct Number {
    bits: u64,
    unsigned: bool,
}

impl Number {
    const fn signed(value: i64) -> Self {
        Self { bits: value.cast_unsigned(), unsigned: false }
    }

    const fn truth(holds: bool) -> Self {
        Self { bits: holds as u64, unsigned: false }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Binary {
    OrElse,
    AndAlso,
    Or,
    Xor,
    And,
    Equal,
    NotEqual,
    Less,
    Greater,
    LessEqual,
    GreaterEqual,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl Binary {
    const fn strength(self) -> u8 {
        match self {
            Self::OrElse => 1,
            Self::AndAlso => 2,
            Self::Or => 3,
            Self::Xor => 4,
            Self::And => 5,
            Self::Equal | Self::NotEqual => 6,
            Self::Less | Self::Greater | Self::LessEqual | Self::GreaterEqual => 7,
            Self::ShiftLeft | Self::ShiftRight => 8,
            Self::Add | Self::Subtract => 9,
            Self::Multiply | Self::Divide | Self::Remainder => 10,
        }
    }

    fn parse(text: &[u8]) -> Option<Self> {
        let found = match text {
            b"||" => Self::OrElse,
            b"&&" => Self::AndAlso,
            b"|" => Self::Or,
            b"^" => Self::Xor,
            b"&" => Self::And,
            b"==" => Self::Equal,
            b"!=" => Self::NotEqual,
            b"<" => Self::Less,
            b">" => Self::Greater,
            b"<=" => Self::LessEqual,
            b">=" => Self::GreaterEqual,
            b"<<" => Self::ShiftLeft,
            b">>" => Self::ShiftRight,
            b"+" => Self::Add,
            b"-" => Self::Subtract,
            b"*" => Self::Multiply,
            b"/" => Self::Divide,
            b"%" => Self::Remainder,
            _ => return None,
        };
        Some(found)
    }

    fn apply(self, a: Number, b: Number) -> Option<Number> {
        let unsigned = a.unsigned || b.unsigned;
        let (x, y) = (a.bits, b.bits);
        let order = if unsigned { x.cmp(&y) } else { x.cast_signed().cmp(&y.cast_signed()) };
        let number = |bits| Number { bits, unsigned };
        let amount = u32::try_from(y).ok().filter(|&amount| amount < 64);
        Some(match self {
            Self::OrElse => Number::truth(x != 0 || y != 0),
            Self::AndAlso => Number::truth(x != 0 && y != 0),
            Self::Or => Number { bits: x | y, unsigned: true },
            Self::Xor => Number { bits: x ^ y, unsigned: true },
            Self::And => Number { bits: x & y, unsigned: true },
            Self::Equal => Number::truth(x == y),
            Self::NotEqual => Number::truth(x != y),
            Self::Less => Number::truth(order.is_lt()),
            Self::Greater => Number::truth(order.is_gt()),
            Self::LessEqual => Number::truth(order.is_le()),
            Self::GreaterEqual => Number::truth(order.is_ge()),
            Self::ShiftLeft => Number { bits: x.checked_shl(amount?)?, ..a },
            Self::ShiftRight if a.unsigned => Number { bits: x >> amount?, ..a },
            Self::ShiftRight => Number::signed(x.cast_signed() >> amount?),
            Self::Add => number(x.wrapping_add(y)),
            Self::Subtract => number(x.wrapping_sub(y)),
            Self::Multiply => number(x.wrapping_mul(y)),
            Self::Divide if unsigned => number(x.checked_div(y)?),
            Self::Divide => Number::signed(x.cast_signed().checked_div(y.cast_signed())?),
            Self::Remainder => Number { bits: x.checked_rem(y)?, unsigned: false },
        })
    }
}

#[derive(Clone, Copy)]
enum Unary {
    Plus,
    Minus,
    Not,
    Complement,
    Signed,
    Unsigned,
}

impl Unary {
    fn apply(self, a: Number) -> Number {
        match self {
            Self::Plus => a,
            Self::Minus => Number { bits: a.bits.wrapping_neg(), ..a },
            Self::Not => Number::truth(a.bits == 0),
            Self::Complement => Number { bits: !a.bits, unsigned: true },
            Self::Signed => Number { unsigned: false, ..a },
            Self::Unsigned => Number { unsigned: true, ..a },
        }
    }
}

/// An operator or parenthesis whose right operand has not been read yet.
#[derive(Clone, Copy)]
enum Pending {
    Unary(Unary),
    Binary(Binary),
    Open,
    Question,
    Colon,
}

#[derive(Default)]
struct Stacks {
    values: Vec<Number>,
    pending: Vec<Pending>,
    /// Whether the last token ended an operand.
    operand: bool,
}

impl Stacks {
    fn token(&mut self, kind: Tok, text: &[u8]) -> Option<()> {
        match (kind, text) {
            (Tok::LineMarker, _) => {}
            (Tok::Int, _) => {
                let bits = literal(text)?;
                let unsigned = text.ends_with(b"U") || bits > i64::MAX.cast_unsigned();
                self.push(Number { bits, unsigned });
            }
            (Tok::WarpSize, _) => self.push(Number::signed(32)),
            (Tok::LParen, _) => self.pending.push(Pending::Open),
            (Tok::Directive, b".s64") => self.cast(Unary::Signed)?,
            (Tok::Directive, b".u64") => self.cast(Unary::Unsigned)?,
            (Tok::RParen, _) => self.close()?,
            (Tok::Question, _) => {
                self.reduce(1)?;
                self.wait(Pending::Question);
            }
            (Tok::Colon, _) => {
                self.reduce(0)?;
                matches!(self.pending.pop(), Some(Pending::Question)).then_some(())?;
                self.wait(Pending::Colon);
            }
            (Tok::Bang, _) => self.pending.push(Pending::Unary(Unary::Not)),
            (Tok::Tilde, _) => self.pending.push(Pending::Unary(Unary::Complement)),
            (Tok::Minus, _) if !self.operand => self.pending.push(Pending::Unary(Unary::Minus)),
            (Tok::Plus, _) if !self.operand => self.pending.push(Pending::Unary(Unary::Plus)),
            (_, operator) => {
                let operator = Binary::parse(operator)?;
                self.reduce(operator.strength())?;
                self.wait(Pending::Binary(operator));
            }
        }
        Some(())
    }

    fn push(&mut self, number: Number) {
        self.values.push(number);
        self.operand = true;
    }

    fn wait(&mut self, pending: Pending) {
        self.pending.push(pending);
        self.operand = false;
    }

    /// `(.s64)`: turns the open parenthesis into a cast; `close` then removes the parenthesis and nothing else.
    fn cast(&mut self, cast: Unary) -> Option<()> {
        matches!(self.pending.pop(), Some(Pending::Open)).then_some(())?;
        self.pending.push(Pending::Unary(cast));
        self.pending.push(Pending::Open);
        Some(())
    }

    fn close(&mut self) -> Option<()> {
        if self.operand {
            self.reduce(0)?;
        }
        matches!(self.pending.pop(), Some(Pending::Open)).then_some(())
    }

    /// Computes whatever waits and binds at least as strongly; a choice binds weaker than any operator, and to
    /// the right.
    fn reduce(&mut self, strength: u8) -> Option<()> {
        while let Some(&pending) = self.pending.last() {
            let result = match pending {
                Pending::Unary(unary) => unary.apply(self.values.pop()?),
                Pending::Binary(binary) if binary.strength() >= strength => {
                    let (b, a) = (self.values.pop()?, self.values.pop()?);
                    binary.apply(a, b)?
                }
                Pending::Colon if strength == 0 => {
                    let (otherwise, then, condition) =
                        (self.values.pop()?, self.values.pop()?, self.values.pop()?);
                    let chosen = if condition.bits != 0 { then } else { otherwise };
                    Number { unsigned: then.unsigned || otherwise.unsigned, ..chosen }
                }
                Pending::Binary(_) | Pending::Colon | Pending::Open | Pending::Question => break,
            };
            self.pending.pop();
            self.values.push(result);
        }
        Some(())
    }

    fn finish(mut self) -> Option<u64> {
        self.reduce(0)?;
        let value = self.values.pop()?;
        (self.values.is_empty() && self.pending.is_empty()).then_some(value.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(expression: &str) -> Option<u64> {
        let text = format!(
            ".version 8.0\n.target sm_80\n.func f() {{ .reg .b64 %d<2>; mov.b64 %d0, {expression}; }}\n"
        );
        let module = crate::parse(text.as_bytes()).expect("the module is legal");
        let stmt =
            module.stmts().find(|&stmt| module.opcode(stmt).is_some()).expect("there is an instruction");
        value(&module, module.operands(stmt)[1])
    }

    #[test]
    fn precedence_and_sides() {
        assert_eq!(of("1+2*3"), Some(7));
        assert_eq!(of("10-3-2"), Some(5));
        assert_eq!(of("(10-3)*2"), Some(14));
        assert_eq!(of("1<<4|1"), Some(17));
        assert_eq!(of("0?1:0?2:3"), Some(3));
        assert_eq!(of("1?2:3"), Some(2));
        assert_eq!(of("2 > 1 && 3 != 3"), Some(0));
    }

    #[test]
    fn signs() {
        assert_eq!(of("-1"), Some(u64::MAX));
        assert_eq!(of("- -5"), Some(5));
        assert_eq!(of("~0"), Some(u64::MAX));
        assert_eq!(of("-8>>1"), Some(-4_i64 as u64));
        assert_eq!(of("(.u64)-8>>1"), Some(i64::MAX as u64 - 3));
        assert_eq!(of("-1 < 0"), Some(1));
        assert_eq!(of("-1 < 0U"), Some(0));
        assert_eq!(of("!5 + WARP_SZ"), Some(32));
    }

    #[test]
    fn no_value() {
        assert_eq!(of("1/0"), None);
        assert_eq!(of("1.5"), None);
        assert_eq!(of("1<<64"), None);
    }
}
