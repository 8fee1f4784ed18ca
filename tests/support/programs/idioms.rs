//! What programs write in several instructions: merges byte by byte, sums lane by lane, masks, packed words, vectors.

use super::{INPUT_WORDS, Writer};
use arbitrary::Result;

impl Writer<'_, '_> {
    /// The same instruction four times, each writing one byte over what is there, with a store in between at times.
    pub(super) fn merges(&mut self) -> Result<()> {
        let opcode = *self.u.choose(&["vadd", "vsub", "vmin", "vmax", "vabsdiff"])?;
        let (sign, a, b) = (self.sign()?, self.word()?, self.word()?);
        let mut from = self.operand()?;
        let to = format!("%r{}", self.u.int_in_range(0..=9)?);
        for byte in 0..4 {
            let (x, y) = if self.u.ratio(1, 8)? { (3 - byte, byte) } else { (byte, byte) };
            let guard = if self.u.ratio(1, 10)? { "@%p1 " } else { "" };
            self.line(&format!(
                "{guard}{opcode}.{sign}.{sign}.{sign} {to}.b{byte}, {a}.b{x}, {b}.b{y}, {from};"
            ));
            from.clone_from(&to);
            if self.u.ratio(1, 5)? {
                self.store(&to)?;
            }
        }
        Ok(())
    }

    /// A sum of one operation over several lanes, one or some at a time, each step in a register of its own.
    pub(super) fn sums(&mut self) -> Result<()> {
        let opcode =
            *self.u.choose(&["vadd", "vsub", "vmin", "vmax", "vabsdiff", "vabsdiff", "vset", "vavrg4"])?;
        let compare = if opcode == "vset" { ".ne" } else { "" };
        let (sign, a, b) = (self.sign()?, self.word()?, self.word()?);
        let types =
            if opcode == "vset" { format!(".{sign}.{sign}") } else { format!(".{sign}.{sign}.{sign}") };
        let mut from = self.word()?;
        let simd = opcode == "vavrg4" || self.u.arbitrary()?;
        let steps: usize = self.u.int_in_range(2..=if simd { 2 } else { 4 })?;
        for step in 0..steps {
            let to = if step + 1 == steps { self.to()? } else { format!("%s{step}") };
            let guard = if self.u.ratio(1, 12)? { "@%p1 " } else { "" };
            if simd {
                let four = if opcode == "vavrg4" { "" } else { "4" };
                let mask = self.u.choose(&[[".b10", ".b0"], [".b32", ".b321"], [".b1", ".b3"]])?[step % 2];
                self.line(&format!(
                    "{guard}{opcode}{four}{types}{compare}.add {to}{mask}, {a}, {b}, {from};"
                ));
            } else {
                let (x, y) = if self.u.ratio(1, 8)? { (3 - step, step) } else { (step, step) };
                self.line(&format!("{guard}{opcode}{types}{compare}.add {to}, {a}.b{x}, {b}.b{y}, {from};"));
            }
            if self.u.ratio(1, 12)? {
                self.store(&to)?;
            }
            from = to;
        }
        Ok(())
    }

    /// Several words at once, as one vector or as several registers.
    pub(super) fn vectors(&mut self) -> Result<()> {
        let at = self.u.int_in_range(0..=INPUT_WORDS / 4 - 1)? * 16;
        let first: usize = self.u.int_in_range(0..=6)?;
        let names: Vec<String> = (first..first + 4).map(|n| format!("%r{n}")).collect();
        let (element, word, w) = (self.vector_element()?, self.word()?, self.u.int_in_range(0..=3)?);
        let line = match self.u.int_in_range(0..=6)? {
            0 => format!("ld.global.v4.b32 %v, [%in+{at}];"),
            1 => format!("ld.global.v4.b32 {{{}}}, [%in+{at}];", names.join(", ")),
            2 => format!("ld.global.v2.b32 {{{}, {}}}, [%in+{at}];", names[0], names[1]),
            3 => format!("mov.b64 %w{w}, {{{element}, {word}}};"),
            4 => format!("mov.b64 {{{}, {}}}, %w{w};", names[2], names[3]),
            5 => return self.store(&element),
            _ => format!("mov.b32 {element}, {word};"),
        };
        self.line(&line);
        Ok(())
    }

    /// A comparison as a mask of bytes.
    pub(super) fn mask_and_multiply(&mut self) -> Result<()> {
        let (sign, a, b) = (self.sign()?, self.word()?, self.word()?);
        let (m, d) = (self.to()?, self.to()?);
        let compare = *self.u.choose(&["lt", "le", "eq", "ne", "gt", "ge"])?;
        let zero = self.word()?;
        self.line(&format!("vset4.{sign}.{sign}.{compare} {m}, {a}, {b}, {zero};"));
        self.line(&format!("mul.lo.u32 {d}, {m}, 255;"));
        Ok(())
    }

    /// Halves and longs: packed, unpacked, extended.
    pub(super) fn wide(&mut self) -> Result<()> {
        let (h, w) = (self.u.int_in_range(0..=3)?, self.u.int_in_range(0..=3)?);
        let (other, a, b, d) = (self.u.int_in_range(0..=3)?, self.word()?, self.word()?, self.to()?);
        let line = match self.u.int_in_range(0..=12)? {
            0 => format!("mov.b32 {d}, {{%h{h}, %h{other}}};"),
            1 if h != other => format!("mov.b32 {{%h{h}, %h{other}}}, {a};"),
            2 => format!("mov.b64 %w{w}, {{{a}, {b}}};"),
            3 => format!("mov.b64 {{{d}, %e}}, %w{w};"),
            4 => format!("cvt.u16.u32 %h{h}, {a};"),
            5 => format!("cvt.u32.u16 {d}, %h{h};"),
            6 => format!("cvt.s32.s16 {d}, %h{h};"),
            7 => format!("cvt.u64.u32 %w{w}, {a};"),
            8 => format!("cvt.u32.u64 {d}, %w{w};"),
            9 => format!("shr.u64 %w{w}, %w{other}, {};", self.u.int_in_range(0..=8)? * 8),
            10 => format!("and.b64 %w{w}, %w{other}, 0xff00ff00ff;"),
            11 => format!("add.u16 %h{h}, %h{other}, 255;"),
            _ => format!("mul.wide.u32 %w{w}, {a}, {b};"),
        };
        self.line(&line);
        Ok(())
    }
}
