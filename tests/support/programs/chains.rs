//! Chains as compilers write them: booleans that are kept as numbers and tested again, and words that are put together of
//! bytes and halves of several registers by shifts, products and sums.
//!
//! Many are near-misses: a boolean that is no boolean, a shift too far, a byte whose neighbours are not cleared, a
//! register that is written in between.

use super::Writer;
use arbitrary::Result;

/// How a predicate `{p}` becomes a number, and which numbers these are.
const KEPT: &[&str] = &[
    "selp.u16 {h}, 1, 0, {p};",
    "selp.u16 {h}, 1, 0, {p};",
    "selp.b16 {h}, 0, 1, {p};",
    "selp.s16 {h}, -1, 0, {p};",
    "selp.b32 %e, 1, 0, {p}; cvt.u16.u32 {h}, %e;",
    "selp.b32 %e, -1, 0, {p}; cvt.u16.u32 {h}, %e;",
    // No booleans, or not as one may think.
    "selp.u16 {h}, 2, 1, {p};",
    "selp.u16 {h}, 256, 0, {p};",
    "selp.u16 {h}, 128, 0, {p};",
    "selp.u16 {h}, 3, 1, {p};",
];

/// What is done to a number on the way.
const EXTENDED: &[&str] = &[
    "",
    "cvt.s16.s8 {h}, {h};",
    "cvt.u16.u8 {h}, {h};",
    "and.b16 {h}, {h}, 1;",
    "and.b16 {h}, {h}, 255;",
    "xor.b16 {h}, {h}, 1;",
    "not.b16 {h}, {h};",
    "neg.s16 {h}, {h};",
    "shl.b16 {h}, {h}, 7; cvt.s16.s8 {h}, {h};",
];

/// What two numbers `{g}` and `{h}` become.
const JOINED: &[&str] = &[
    "min.s16 {g}, {g}, {h};",
    "max.s16 {g}, {g}, {h};",
    "min.u16 {g}, {g}, {h};",
    "max.u16 {g}, {g}, {h};",
    "and.b16 {g}, {g}, {h};",
    "or.b16 {g}, {g}, {h};",
    "xor.b16 {g}, {g}, {h};",
    "add.s16 {g}, {g}, {h};",
    "sub.s16 {g}, {g}, {h};",
    "mul.lo.s16 {g}, {g}, {h};",
    "setp.lt.s16 %q, {g}, {h}; selp.b16 {g}, {g}, {h}, %q;",
    "setp.ne.s16 %q, {g}, 0; selp.b16 {g}, {h}, 0, %q;",
];

/// What a number is tested for.
const TESTED: &[&str] = &[
    "setp.ne.s16 {p}, {g}, 0;",
    "setp.ne.s16 {p}, {g}, 0;",
    "setp.eq.s16 {p}, {g}, 0;",
    "setp.eq.s16 {p}, {g}, 1;",
    "setp.gt.s16 {p}, {g}, 0;",
    "setp.lt.s16 {p}, {g}, 0;",
    "setp.lt.u16 {p}, {g}, 2;",
    "and.b16 {g}, {g}, 1; setp.eq.b16 {p}, {g}, 1;",
    "and.b16 {g}, {g}, 255; setp.ne.s16 {p}, {g}, 0;",
    "and.b16 {g}, {g}, 2; setp.ne.s16 {p}, {g}, 0;",
];

/// How the byte at the bottom of `{x}` comes to lie at `{at}`, or not quite.
const PLACED: &[&str] = &[
    "and.b32 {x}, {x}, 255; shl.b32 {x}, {x}, {at};",
    "shl.b32 {x}, {x}, {at}; and.b32 {x}, {x}, {mask};",
    "cvt.u32.u8 {x}, {x}; shl.b32 {x}, {x}, {at};",
    "bfe.u32 {x}, {x}, 0, 8; mul.lo.u32 {x}, {x}, {power};",
    "cvt.u16.u32 %h3, {x}; and.b16 %h3, %h3, 255; mul.wide.u16 {x}, %h3, 256; shl.b32 {x}, {x}, {at}; \
     shr.u32 {x}, {x}, 8;",
    "shl.b32 {x}, {x}, 24; shr.u32 {x}, {x}, {back};",
    "shr.u32 {x}, {x}, 8; and.b32 {x}, {x}, 255; shl.b32 {x}, {x}, {at};",
    "shl.b32 {x}, {x}, {at};",
    "shl.b32 {x}, {x}, {at}; and.b32 {x}, {x}, {wide};",
];

impl Writer<'_, '_> {
    /// The lines of one of the texts, with names in the place of what stands in braces.
    fn one_of(&mut self, texts: &[&str], names: &[(&str, &str)]) -> Result<()> {
        let text = *self.u.choose(texts)?;
        self.lines(text, names);
        Ok(())
    }

    /// Booleans that are kept as numbers, joined one after the other, and tested.
    pub(super) fn chain_of_booleans(&mut self) -> Result<()> {
        self.boolean("%h0")?;
        for _ in 0..self.u.int_in_range(1..=4)? {
            self.boolean("%h1")?;
            if self.u.ratio(1, 4)? {
                self.one_of(EXTENDED, &[("{h}", "%h0")])?;
            }
            self.one_of(JOINED, &[("{g}", "%h0"), ("{h}", "%h1")])?;
            if self.u.ratio(1, 2)? {
                // Tested and kept again, as between calls of functions that give a boolean back.
                self.one_of(TESTED, &[("{g}", "%h0"), ("{p}", "%q")])?;
                self.one_of(KEPT, &[("{h}", "%h0"), ("{p}", "%q")])?;
            }
        }
        let (d, a, b) = (self.to()?, self.word()?, self.operand()?);
        match self.u.int_in_range(0..=3)? {
            0 => self.line(&format!("cvt.u32.u16 {d}, %h0;")),
            1 => {
                self.one_of(TESTED, &[("{g}", "%h0"), ("{p}", "%p3")])?;
                self.line(&format!("@%p3 mov.b32 {d}, {b};"));
            }
            _ => {
                self.one_of(TESTED, &[("{g}", "%h0"), ("{p}", "%q")])?;
                self.line(&format!("selp.b32 {d}, {a}, {b}, %q;"));
            }
        }
        Ok(())
    }

    /// A comparison as a number in a register of 16 bits.
    fn boolean(&mut self, h: &str) -> Result<()> {
        let (a, b, sign) = (self.word()?, self.operand()?, self.sign()?);
        let compare = *self.u.choose(&["lt", "le", "eq", "ne", "gt", "ge"])?;
        let p =
            if self.u.ratio(1, 4)? { format!("%p{}", self.u.int_in_range(0..=3)?) } else { "%q".to_owned() };
        if p == "%q" {
            self.line(&format!("setp.{compare}.{sign} %q, {a}, {b};"));
        }
        self.one_of(KEPT, &[("{h}", h), ("{p}", &p)])?;
        if self.u.ratio(1, 12)? {
            self.line(&format!("@%p1 cvt.u16.u32 {h}, {a};"));
        }
        if self.u.ratio(1, 2)? {
            self.one_of(EXTENDED, &[("{h}", h)])?;
        }
        Ok(())
    }

    /// A word of bytes of several registers, in any order of places, which may clash.
    pub(super) fn packed_words(&mut self) -> Result<()> {
        let bytes: u32 = self.u.int_in_range(2..=4)?;
        let order = self.u.int_in_range(0..=3)?;
        for byte in 0..bytes {
            let (x, word) = (format!("%x{byte}"), self.element()?);
            self.line(&format!("mov.b32 {x}, {word};"));
            let at = if self.u.ratio(1, 10)? { self.u.int_in_range(0..=31)? } else { 8 * (byte ^ order) };
            let numbers = [
                at.to_string(),
                (24_u32.saturating_sub(at)).to_string(),
                format!("{:#x}", 1_u32 << at),
                format!("{:#x}", 0xff_u32 << at),
                format!("{:#x}", 0x1ff_u32 << at),
            ];
            let [at, back, power, mask, wide] = &numbers;
            let names: &[(&str, &str)] = &[
                ("{x}", &x),
                ("{at}", at),
                ("{back}", back),
                ("{power}", power),
                ("{mask}", mask),
                ("{wide}", wide),
            ];
            self.one_of(PLACED, names)?;
            if byte > 0 {
                let join = *self.u.choose(&["or.b32", "or.b32", "add.u32", "xor.b32"])?;
                self.line(&format!("{join} %x0, %x0, {x};"));
            }
            if self.u.ratio(1, 12)? {
                self.store("%x0")?;
            }
        }
        let d = self.element()?;
        self.line(&format!("mov.b32 {d}, %x0;"));
        Ok(())
    }

    /// Two halves that are computed one by one and put together, alike or not.
    pub(super) fn halves(&mut self) -> Result<()> {
        const OPERATIONS: &[&str] = &[
            "add.s16 {h}, {h}, {g};",
            "sub.s16 {h}, {h}, {g};",
            "min.s16 {h}, {h}, {g};",
            "max.u16 {h}, {h}, {g};",
            "sub.s16 {h}, {h}, {g}; abs.s16 {h}, {h};",
            "setp.lt.s16 %q, {h}, {g}; selp.b16 {h}, {g}, {h}, %q;",
            "setp.ge.u16 %q, {h}, {g}; selp.b16 {h}, -1, 0, %q;",
            "cvt.u32.u16 %e, {h}; cvt.u32.u16 %x3, {g}; add.u32 %e, %e, %x3; min.u32 %e, %e, 65535; cvt.u16.u32 {h}, %e;",
            "cvt.s32.s16 %e, {h}; cvt.s32.s16 %x3, {g}; sub.s32 %e, %e, %x3; max.s32 %e, %e, -32768; \
             min.s32 %e, %e, 32767; cvt.u16.u32 {h}, %e;",
            "cvt.u32.u16 %e, {h}; cvt.u32.u16 %x3, {g}; add.u32 %e, %e, %x3; add.u32 %e, %e, 1; shr.u32 %e, %e, 1; \
             cvt.u16.u32 {h}, %e;",
        ];
        let (a, b, d) = (self.element()?, self.element()?, self.element()?);
        let mut text = *self.u.choose(OPERATIONS)?;
        let swapped = self.u.ratio(1, 8)?;
        self.line(&format!("mov.b32 {{%h0, %h1}}, {a};"));
        self.line(&format!("mov.b32 {{%h2, %h3}}, {b};"));
        for half in 0..2 {
            let g = if swapped { 3 - half } else { 2 + half };
            self.lines(text, &[("{h}", &format!("%h{half}")), ("{g}", &format!("%h{g}"))]);
            if self.u.ratio(1, 4)? {
                text = *self.u.choose(OPERATIONS)?;
            }
            if self.u.ratio(1, 12)? {
                let word = self.word()?;
                self.line(&format!("@%p2 cvt.u16.u32 %h{half}, {word};"));
            }
        }
        self.one_of(
            &[
                "mov.b32 {d}, {%h0, %h1};",
                "cvt.u32.u16 %x0, %h0; cvt.u32.u16 %x1, %h1; shl.b32 %x1, %x1, 16; or.b32 {d}, %x0, %x1;",
                "cvt.u32.u16 %x0, %h0; cvt.u32.u16 %x1, %h1; prmt.b32 {d}, %x0, %x1, 0x5410;",
                "cvt.s32.s16 %x0, %h0; cvt.s32.s16 %x1, %h1; bfi.b32 {d}, %x1, %x0, 16, 16;",
                "cvt.s32.s16 %x0, %h0; cvt.s32.s16 %x1, %h1; shl.b32 %x1, %x1, 16; or.b32 {d}, %x0, %x1;",
            ],
            &[("{d}", &d)],
        )?;
        Ok(())
    }
}
