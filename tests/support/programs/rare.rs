//! What byte code seldom has and rewriting must respect all the same: carries, predicates of predicates, exchanges
//! between threads, calls, threads that leave early.

use super::{INPUT_WORDS, Writer};
use arbitrary::Result;

impl Writer<'_, '_> {
    fn predicate(&mut self) -> Result<String> {
        Ok(format!("%p{}", self.u.int_in_range(0..=3)?))
    }

    /// An instruction that is not about bytes.
    pub(super) fn rare(&mut self) -> Result<String> {
        let (d, a, b, c) = (self.to()?, self.word()?, self.operand()?, self.operand()?);
        let (p, q, sign) = (self.predicate()?, self.predicate()?, self.sign()?);
        let compare = *self.u.choose(&["lt", "le", "eq", "ne", "gt", "ge"])?;
        let logic = *self.u.choose(&["and", "or", "xor"])?;
        let number = self.u.int_in_range(0..=255)?;
        Ok(match self.u.int_in_range(0..=24)? {
            0 => format!("setp.{compare}.{logic}.{sign} {p}, {a}, {b}, {q};"),
            1 if p != q => format!("setp.{compare}.{logic}.{sign} {p}|{q}, {a}, {b}, !{p};"),
            2 => format!("{logic}.pred {p}, {p}, {q};"),
            3 => format!("not.pred {p}, {q};"),
            4 => format!("slct.{sign}.s32 {d}, {a}, {b}, {c};"),
            5 => format!("dp2a.{}.{sign}.u32 {d}, {a}, {b}, {c};", self.u.choose(&["lo", "hi"])?),
            6 => format!("bfind.{sign} {d}, {a};"),
            7 => format!("clz.b32 {d}, {a};"),
            8 => format!("popc.b32 {d}, {a};"),
            9 => format!("brev.b32 {d}, {a};"),
            10 => format!("mul24.lo.{sign} {d}, {a}, {b};"),
            11 => format!("mad24.lo.{sign} {d}, {a}, {b}, {c};"),
            12 => format!("mul.hi.{sign} {d}, {a}, {b};"),
            13 => format!("mad.hi.{sign} {d}, {a}, {b}, {c};"),
            14 => format!("cnot.b32 {d}, {a};"),
            15 => format!("add.sat.s32 {d}, {a}, {b};"),
            16 => format!("sub.sat.s32 {d}, {a}, {b};"),
            17 => format!("shf.l.clamp.b32 {d}, {a}, {b}, {c};"),
            18 => format!("div.u32 {d}, {a}, {};", number + 1),
            19 => format!("rem.{sign} {d}, {a}, {};", number + 1),
            20 => format!("mov.b32 %f{}, {a};", number & 1),
            21 => format!("mov.b32 {d}, %f{};", number & 1),
            22 => format!("selp.b32 {d}, {a}, {b}, {p};"),
            23 => format!("set.{compare}.{logic}.u32.{sign} {d}, {a}, {b}, {p};"),
            _ => format!("min.s64 %w{}, %w{}, %w{};", number & 3, number >> 2 & 3, number >> 4 & 3),
        })
    }

    /// A sum or difference of two words each, with a carry that something may come between.
    pub(super) fn carry(&mut self) -> Result<()> {
        let op = *self.u.choose(&["add", "sub"])?;
        let [low, high] = [self.element()?, self.element()?];
        let (a, b, c, d) = (self.word()?, self.operand()?, self.word()?, self.operand()?);
        self.line(&format!("{op}.cc.u32 {low}, {a}, {b};"));
        if self.u.ratio(1, 3)? {
            self.computed(Self::plain)?;
        }
        self.line(&format!("{op}c.u32 {high}, {c}, {d};"));
        Ok(())
    }

    /// An exchange between threads; all of them must reach it together.
    pub(super) fn exchange(&mut self) -> Result<()> {
        if self.depth > 0 || self.left || self.function {
            return Ok(());
        }
        let (d, a, p, number) = (self.to()?, self.word()?, self.predicate()?, self.u.int_in_range(0..=4)?);
        let line = match self.u.int_in_range(0..=4)? {
            0 => format!("shfl.sync.bfly.b32 {d}, {a}, {number}, 0x1f, 0x1f;"),
            1 => format!("shfl.sync.idx.b32 {d}|{p}, {a}, {number}, 0x1f, 0x1f;"),
            2 => format!("vote.sync.ballot.b32 {d}, {p}, 0x1f;"),
            3 => format!("vote.sync.any.pred {p}, {p}, 0x1f;"),
            _ => format!("match.any.sync.b32 {d}, {a}, 0x1f;"),
        };
        self.line(&line);
        Ok(())
    }

    /// A word for the neighbour.
    pub(super) fn through_shared_memory(&mut self) -> Result<()> {
        if self.depth > 0 || self.left || self.function {
            return Ok(());
        }
        let (d, a, other) = (self.to()?, self.word()?, self.u.int_in_range(0..=4)?);
        for line in [
            "mov.u64 %at, words;".to_owned(),
            "mad.wide.u32 %at, %t, 4, %at;".to_owned(),
            format!("st.shared.b32 [%at], {a};"),
            "bar.sync 0;".to_owned(),
            format!("ld.shared.b32 {d}, [words+{}];", 4 * other),
            "bar.sync 0;".to_owned(),
        ] {
            self.line(&line);
        }
        Ok(())
    }

    pub(super) fn call(&mut self) -> Result<()> {
        if !self.callable || self.depth > 1 {
            return Ok(());
        }
        let (d, a, b) = (self.to()?, self.word()?, self.word()?);
        self.line("{");
        for line in [
            ".param .b64 i; .param .b64 o; .param .b32 x; .param .b32 y; .param .b32 z;".to_owned(),
            "ld.param.u64 %at, [in];".to_owned(),
            "st.param.b64 [i], %at;".to_owned(),
            "ld.param.u64 %at, [out];".to_owned(),
            "st.param.b64 [o], %at;".to_owned(),
            format!("st.param.b32 [x], {a};"),
            format!("st.param.b32 [y], {b};"),
            "call (z), f, (i, o, x, y);".to_owned(),
            format!("ld.param.b32 {d}, [z];"),
        ] {
            self.line(&line);
        }
        self.line("}");
        Ok(())
    }

    /// Some threads end here.
    pub(super) fn leave(&mut self) -> Result<()> {
        if self.u.ratio(1, 2)? {
            let at = self.u.int_in_range(0..=INPUT_WORDS - 1)? * 4;
            self.line(&format!("ld.global.b32 %e, [%in+{at}];"));
            self.line("setp.lt.u32 %p3, %e, 0x10000000;");
        }
        self.left |= !self.function;
        let word = if self.function || self.u.arbitrary()? { "ret" } else { "exit" };
        let p = self.predicate()?;
        self.line(&format!("@{p} {word};"));
        Ok(())
    }
}
