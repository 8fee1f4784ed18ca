//! Words that are put together: from bytes and halves that are computed one by one, and word-parallel; sums of bytes;
//! words of memory that are accessed byte by byte.
//!
//! Each in several spellings, and many of them are near-misses: one lane, mask or operand differs in one thing.

use super::{INPUT_WORDS, OUTPUT_WORDS, Writer};
use arbitrary::Result;

/// In what one lane differs from the others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Miss {
    /// It is computed by another operation.
    Operation,
    /// It is extended otherwise.
    Extension,
    /// It is rounded or clamped otherwise.
    Rounding,
    /// It is another lane.
    Place,
    /// A register that it is read from is written before.
    Write,
    /// Memory that it is read from may be written before.
    Store,
    /// It is read by something else too.
    Read,
    /// It is computed under a guard.
    Guard,
    /// It is computed under the opposite condition, if there is one.
    Condition,
}

const MISSES: [Miss; 9] = [
    Miss::Operation,
    Miss::Extension,
    Miss::Rounding,
    Miss::Place,
    Miss::Write,
    Miss::Store,
    Miss::Read,
    Miss::Guard,
    Miss::Condition,
];

/// What a lane is computed by: instructions over `x` and `y`, whose result is `x`, with a number, a type and a clamp.
#[derive(Clone, Copy)]
struct Operation {
    text: &'static str,
    number: u8,
    signed: bool,
}

/// How a lane is computed under a condition: instructions before its operation, and behind it.
#[derive(Clone, Copy)]
struct Condition {
    before: &'static str,
    behind: &'static str,
}

const CONDITIONS: &[Condition] = &[
    Condition { before: "setp.lt.{t} %q, {x}, {y}; @{not}%q bra AROUND{l};", behind: "AROUND{l}:;" },
    Condition { before: "setp.ne.u32 %q, {x}, {n}; @{not}%q bra AROUND{l};", behind: "AROUND{l}:;" },
    Condition {
        before: "setp.ge.{t} %q, {x}, {n}; @{not}%q bra AROUND{l};",
        behind: "bra END{l}; AROUND{l}: sub.s32 {x}, {y}, {x}; END{l}:;",
    },
    Condition {
        before: "setp.gt.{t} %q, {x}, {y}; @{not}%q bra AROUND{l}; setp.lt.u32 %q, {y}, {n}; @%q bra AROUND{l};",
        behind: "AROUND{l}:;",
    },
    Condition {
        before: "setp.gt.{t} %q, {x}, {n}; @{not}%q bra AROUND{l}; setp.lt.u32 %q, {y}, 9; @%q bra END{l}; \
                 add.u32 {y}, {y}, 1; END{l}:;",
        behind: "AROUND{l}:;",
    },
];

const OPERATIONS: &[&str] = &[
    "add.u32 {x}, {x}, {y};",
    "sub.s32 {x}, {x}, {y};",
    "min.{t} {x}, {x}, {y};",
    "max.{t} {x}, {x}, {y};",
    "add.u32 {x}, {x}, {y}; add.u32 {x}, {x}, {r}; shr.{t} {x}, {x}, 1;",
    "add.s32 {x}, {x}, {y}; shr.{t} {x}, {x}, 1;",
    "sub.s32 {x}, {x}, {y}; abs.s32 {x}, {x};",
    "sad.{t} {x}, {x}, {y}, 0;",
    "add.s32 {x}, {x}, {y}; min.s32 {x}, {x}, {high}; max.s32 {x}, {x}, {low};",
    "sub.s32 {x}, {x}, {y}; max.s32 {x}, {x}, {low}; min.s32 {x}, {x}, {high};",
    "add.s32 {x}, {x}, {y}; cvt.sat.{t8}.s32 {x}, {x};",
    "setp.lt.{t} %q, {x}, {y}; selp.b32 {x}, {n}, 0, %q;",
    "setp.ge.{t} %q, {x}, {y}; selp.b32 {x}, {x}, {y}, %q;",
    "xor.b32 {x}, {x}, {y};",
    "not.b32 {x}, {x};",
    "add.u32 {x}, {x}, {n};",
    "max.{t} {x}, {x}, {n};",
    "mul.lo.u32 {x}, {x}, {n}; mad.lo.u32 {x}, {y}, {n}, {x}; shr.u32 {x}, {x}, 8;",
    "add.u32 {x}, {x}, {y}; mul.lo.u32 {x}, {x}, {n}; shr.u32 {x}, {x}, 8;",
    "mov.b32 {x}, {x};",
    "shr.u32 {x}, {x}, 5; mul.lo.u32 {x}, {x}, {n};",
    "and.b32 {x}, {x}, 15; mad.lo.u32 {x}, {x}, 7, {n};",
    "shr.{t} {x}, {x}, 2;",
    "shr.{t} {x}, {x}, 1; shr.{t} {y}, {y}, {r}; add.u32 {x}, {x}, {y};",
];

const UNSIGNED: &[&str] = &[
    "bfe.u32 {x}, {w}, {at}, 8;",
    "shr.u32 {x}, {w}, {at}; and.b32 {x}, {x}, 255;",
    "shl.b32 {x}, {w}, {up}; shr.u32 {x}, {x}, 24;",
    "and.b32 {x}, {w}, {mask}; shr.u32 {x}, {x}, {at};",
    "prmt.b32 {x}, {w}, 0, 0x444{lane};",
    "shr.u32 {x}, {w}, {at}; cvt.u32.u8 {x}, {x};",
    "vadd.u32.u32.u32 {x}, {w}.b{lane}, 0;",
];

const SIGNED: &[&str] = &[
    "bfe.s32 {x}, {w}, {at}, 8;",
    "shl.b32 {x}, {w}, {up}; shr.s32 {x}, {x}, 24;",
    "shr.u32 {x}, {w}, {at}; cvt.s32.s8 {x}, {x};",
    "vadd.s32.s32.s32 {x}, {w}.b{lane}, 0;",
];

const PACKED: &[&str] = &[
    "prmt.b32 %x0, %x0, %x1, 0x0040; prmt.b32 %x2, %x2, %x3, 0x0040; prmt.b32 {d}, %x0, %x2, 0x5410;",
    "bfi.b32 %x0, %x1, %x0, 8, 8; bfi.b32 %x0, %x2, %x0, 16, 8; bfi.b32 {d}, %x3, %x0, 24, 8;",
    "and.b32 %x0, %x0, 255; and.b32 %x1, %x1, 255; and.b32 %x2, %x2, 255; shl.b32 %x1, %x1, 8; \
     shl.b32 %x2, %x2, 16; shl.b32 %x3, %x3, 24; or.b32 %x0, %x0, %x1; or.b32 %x2, %x2, %x3; or.b32 {d}, %x0, %x2;",
    "and.b32 %x0, %x0, 255; and.b32 %x1, %x1, 255; and.b32 %x2, %x2, 255; mad.lo.u32 %x3, %x3, 256, %x2; \
     mad.lo.u32 %x1, %x1, 256, %x0; shl.b32 %x3, %x3, 16; add.u32 {d}, %x3, %x1;",
    "cvt.u16.u32 %h0, %x0; cvt.u16.u32 %h1, %x1; and.b16 %h0, %h0, 255; shl.b16 %h1, %h1, 8; or.b16 %h0, %h0, %h1; \
     cvt.u16.u32 %h2, %x2; cvt.u16.u32 %h3, %x3; and.b16 %h2, %h2, 255; shl.b16 %h3, %h3, 8; or.b16 %h2, %h2, %h3; \
     mov.b32 {d}, {%h0, %h2};",
    "vadd.u32.u32.u32 %y0.b0, %x0, 0, %x3; vadd.u32.u32.u32 %y0.b1, %x1, 0, %y0; \
     vadd.u32.u32.u32 %y0.b2, %x2, 0, %y0; vadd.u32.u32.u32 {d}.b3, %x3, 0, %y0;",
];

/// Word-parallel code of `{a}` and `{b}`, with masks of lanes.
const PARALLEL: &[&str] = &[
    "and.b32 %x0, {a}, {7f}; and.b32 %x1, {b}, {7f}; add.s32 %x0, %x0, %x1; xor.b32 %x1, {a}, {b}; \
     and.b32 %x1, %x1, {80}; xor.b32 {d}, %x0, %x1;",
    "or.b32 %x0, {a}, {80}; and.b32 %x1, {b}, {7f}; sub.s32 %x0, %x0, %x1; xor.b32 %x1, {a}, {b}; \
     not.b32 %x1, %x1; and.b32 %x1, %x1, {80}; xor.b32 {d}, %x0, %x1;",
    "or.b32 %x0, {a}, {b}; xor.b32 %x1, {a}, {b}; and.b32 %x1, %x1, {fe}; shr.u32 %x1, %x1, 1; \
     sub.s32 {d}, %x0, %x1;",
    "and.b32 %x0, {a}, {b}; xor.b32 %x1, {a}, {b}; shr.u32 %x1, %x1, 1; and.b32 %x1, %x1, {7f}; \
     add.s32 {d}, %x0, %x1;",
    "and.b32 %x0, {a}, {7f}; not.b32 %x1, {b}; and.b32 %x1, %x1, {7f}; add.s32 %x1, %x1, %x0; \
     lop3.b32 %x0, {a}, {b}, %x1, 0x8e; prmt.b32 {d}, %x0, 0, 0xba98;",
    "xor.b32 %x0, {a}, {b}; and.b32 %x1, %x0, {7f}; add.u32 %x1, %x1, {7f}; or.b32 %x1, %x1, %x0; \
     and.b32 %x1, %x1, {80}; prmt.b32 {d}, %x1, 0, 0xba98;",
    "and.b32 %x0, {a}, {80}; shr.u32 %x0, %x0, 7; mul.lo.u32 {d}, %x0, 255;",
];

/// Lanes that are multiplied by `%z`, or by `%e`, which is a number less `%z`.
const BLENDS: &[&str] = &[
    "mul.lo.u32 {x}, {x}, %z; mad.lo.u32 {x}, {y}, %e, {x}; add.u32 {x}, {x}, {n}; shr.u32 {x}, {x}, {s};",
    "mad.lo.u32 {x}, %z, {x}, {n}; mad.lo.u32 {x}, %e, {y}, {x}; shr.u32 {x}, {x}, {s};",
    "mad.lo.u32 {x}, {x}, %z, {y}; shr.u32 {x}, {x}, {s};",
    "mul.lo.u32 {x}, {x}, %z; shr.u32 {x}, {x}, {s};",
    "mul.lo.u32 {y}, {y}, %e; shr.u32 {y}, {y}, {s}; add.u32 {x}, {x}, {y};",
    "sub.s32 {y}, {y}, {x}; mul.lo.s32 {y}, {y}, %z; shr.s32 {y}, {y}, {s}; add.s32 {x}, {x}, {y};",
    "mul.lo.u32 {x}, {x}, %z; mad.lo.u32 {x}, {y}, %e, {x}; mul.hi.u32 {x}, {x}, 0x80808081; shr.u32 {x}, {x}, 7;",
    "mad.lo.u32 {x}, {x}, %z, {n}; mad.lo.u32 {x}, {y}, %e, {x}; mul.hi.u32 {x}, {x}, 16843010;",
    "mad.lo.u32 {x}, {x}, %z, {n}; shr.u32 {y}, {x}, {s}; add.u32 {x}, {x}, {y}; shr.u32 {x}, {x}, 8;",
    "mul.lo.u32 {x}, {x}, %z; mad.lo.u32 {x}, {x}, 257, {n}; shr.u32 {x}, {x}, 16;",
];

/// Lanes that are low bits of larger numbers, some of which do not fit into halves.
const FILTERS: &[&str] = &[
    "mul.lo.s32 {x}, {x}, 5; mad.lo.s32 {x}, {y}, -3, {x}; add.s32 {x}, {x}, {n}; shr.s32 {x}, {x}, {s}; \
     max.s32 {x}, {x}, 0; min.s32 {x}, {x}, 255;",
    "sub.s32 {x}, {x}, {y}; add.s32 {x}, {x}, {x}; min.s32 {x}, {x}, {n}; max.s32 {x}, {x}, -128;",
    "sub.s32 {x}, {x}, {y}; abs.s32 {y}, {x}; setp.lt.s32 %q, {y}, %z; selp.b32 {x}, {x}, {n}, %q;",
    "add.s32 {x}, {x}, {y}; sub.s32 {x}, {x}, %z; max.s32 {x}, {x}, 0; min.s32 {x}, {x}, 255;",
    "shl.b32 {y}, {y}, 1; sub.s32 {x}, {y}, {x}; mad.lo.s32 {x}, {x}, 64, {n}; shr.s32 {x}, {x}, {s}; \
     setp.gt.s32 %q, {x}, 255; selp.b32 {y}, 255, {x}, %q; setp.lt.s32 %q, {x}, 0; selp.b32 {x}, 0, {y}, %q;",
    "mul.lo.s32 {x}, {x}, 300; mad.lo.s32 {x}, {y}, -150, {x}; shr.s32 {x}, {x}, {s}; min.s32 {x}, {x}, 255; \
     max.s32 {x}, {x}, 0;",
];

impl Writer<'_, '_> {
    /// Lines with names in the place of what stands in braces.
    pub(super) fn lines(&mut self, text: &str, names: &[(&str, &str)]) {
        let text = names.iter().fold(text.to_owned(), |text, (name, is)| text.replace(name, is));
        for line in text.split_inclusive(';') {
            // A label at the end has nothing behind it.
            let line = line.trim();
            self.line(if line.ends_with(":;") { line.trim_end_matches(';') } else { line });
        }
    }

    /// Four bytes that are computed one by one and put together, all alike or all but one.
    pub(super) fn lanes(&mut self) -> Result<()> {
        let odd = if self.u.ratio(1, 2)? { Some(self.u.int_in_range(0..=3)?) } else { None };
        let miss = *self.u.choose(&MISSES)?;
        let operation = self.operation()?;
        let condition = if self.u.ratio(1, 3)? { Some(*self.u.choose(CONDITIONS)?) } else { None };
        let (a, b) = (self.element()?, self.element()?);
        // The bytes of a word, or a vector of bytes.
        let loaded = self.u.ratio(1, 3)?;
        if loaded {
            self.vector_of_bytes(operation.signed, (odd.is_some() && miss == Miss::Store).then_some(&a[..]))?;
        }
        for lane in 0..4 {
            let missed = (odd == Some(lane)).then_some(miss);
            if missed == Some(Miss::Write) {
                let other = self.element()?;
                self.line(&format!("xor.b32 {a}, {other}, {b};"));
            }
            let from = if missed == Some(Miss::Place) { self.u.int_in_range(0..=3)? } else { lane };
            let signed = operation.signed != (missed == Some(Miss::Extension));
            if !loaded {
                self.taken(&format!("%x{lane}"), &a, from, signed)?;
            }
            self.taken(&format!("%y{lane}"), &b, from, signed)?;
            self.computed_lane(lane, operation, condition, missed)?;
        }
        if self.u.ratio(1, 4)? && self.stores < OUTPUT_WORDS {
            let at = self.stores * 4;
            self.stores += 1;
            self.line(&format!("st.global.v4.u8 [%out+{at}], {{%x0, %x1, %x2, %x3}};"));
            return Ok(());
        }
        let (d, packed) = (self.element()?, *self.u.choose(PACKED)?);
        self.lines(packed, &[("{d}", &d)]);
        Ok(())
    }

    /// Four bytes that are faded, blended by a byte, or filtered, all alike or all but one.
    pub(super) fn blended(&mut self) -> Result<()> {
        let odd = if self.u.ratio(1, 3)? { Some(self.u.int_in_range(0..=3)?) } else { None };
        let (a, b, f, d) = (self.element()?, self.element()?, self.element()?, self.element()?);
        let texts = if self.u.ratio(1, 2)? { BLENDS } else { FILTERS };
        let text = *self.u.choose(texts)?;
        let most = *self.u.choose(&[255, 255, 256, 256, 128, 254, 257, 300])?;
        let added = *self.u.choose(&[0, 0, 128, 127, 255, 256, 510, 511])?;
        let shift = *self.u.choose(&[8, 8, 8, 8, 7, 4])?;
        let lane = self.u.int_in_range(0..=3)?;
        self.taken("%z", &f, lane, false)?;
        self.line(&format!("sub.s32 %e, {most}, %z;"));
        for lane in 0..4 {
            let (x, y) = (format!("%x{lane}"), format!("%y{lane}"));
            self.taken(&x, &a, lane, false)?;
            self.taken(&y, &b, lane, false)?;
            let missed = odd == Some(lane);
            let text = if missed && self.u.arbitrary()? { *self.u.choose(texts)? } else { text };
            let [n, s] = [added + i32::from(missed), shift].map(|number: i32| number.to_string());
            self.lines(text, &[("{x}", &x), ("{y}", &y), ("{n}", &n), ("{s}", &s)]);
        }
        let packed = *self.u.choose(PACKED)?;
        self.lines(packed, &[("{d}", &d)]);
        Ok(())
    }

    /// Fields of bytes that are put side by side, all alike or all but one.
    pub(super) fn fields(&mut self) -> Result<()> {
        let odd = if self.u.ratio(1, 3)? { Some(self.u.int_in_range(0..=3)?) } else { None };
        let (a, b, d) = (self.element()?, self.element()?, self.element()?);
        let (bits, low): (u32, u32) = (self.u.int_in_range(1..=4)?, self.u.int_in_range(0..=7)?);
        let step = *self.u.choose(&[bits, bits, bits, bits + 1, 1, 0])?;
        let text = *self.u.choose(&[
            "bfi.b32 %z, {x}, %z, {to}, {bits};",
            "and.b32 {x}, {x}, {mask}; shl.b32 {x}, {x}, {to}; or.b32 %z, %z, {x};",
            "and.b32 {x}, {x}, {mask}; mad.lo.u32 %z, {x}, {power}, %z;",
            "setp.ge.u32 %q, {x}, {mask}; selp.b32 {x}, {power}, 0, %q; or.b32 %z, %z, {x};",
            "setp.eq.u32 %q, {x}, {mask}; setp.gt.or.u32 %q, {x}, 99, %q; selp.b32 {x}, {power}, 0, %q; or.b32 %z, %z, {x};",
            "and.b32 {x}, {x}, 251; setp.eq.u32 %q, {x}, {mask}; selp.b32 {x}, 1, 0, %q; add.u32 %z, %z, {x};",
            "setp.ge.u32 %q, {x}, {mask}; setp.lt.and.u32 %q, {x}, 50, %q; selp.b32 {x}, {bits}, 0, %q; add.u32 %z, %z, {x};",
        ])?;
        let count = if self.u.ratio(1, 4)? { 8 } else { 4 };
        let first = if self.u.ratio(3, 4)? { "0".to_owned() } else { self.operand()? };
        self.line(&format!("mov.b32 %z, {first};"));
        for at in 0..count {
            let missed = u32::from(odd == Some(at));
            let (to, mask) = (at * step + missed, (1 << (bits - missed.min(bits - 1))) - 1);
            let power = 1_u32.checked_shl(to).unwrap_or(0);
            let [power, to, bits, mask] = [power, to, bits, mask].map(|number: u32| number.to_string());
            self.taken("%x0", if at < 4 { &a } else { &b }, at % 4, false)?;
            self.line(&format!("shr.u32 %x0, %x0, {low};"));
            let names =
                [("{x}", "%x0"), ("{to}", &*to), ("{bits}", &bits), ("{mask}", &mask), ("{power}", &power)];
            self.lines(text, &names);
        }
        self.line(&format!("mov.b32 {d}, %z;"));
        Ok(())
    }

    fn operation(&mut self) -> Result<Operation> {
        let text = *self.u.choose(OPERATIONS)?;
        Ok(Operation { text, number: self.u.arbitrary()?, signed: self.u.ratio(1, 3)? })
    }

    /// A vector of bytes of memory; if a word is given, it is stored over it in between, and the bytes are loaded anew.
    fn vector_of_bytes(&mut self, signed: bool, stored: Option<&str>) -> Result<()> {
        let ty = if signed { "s8" } else { *self.u.choose(&["u8", "b8"])? };
        let places = if stored.is_some() { OUTPUT_WORDS } else { INPUT_WORDS };
        let at = self.u.int_in_range(0..=places - 1)? * 4;
        let from = if stored.is_some() { "%out" } else { "%in" };
        self.line(&format!("ld.global.v4.{ty} {{%x0, %x1, %x2, %x3}}, [{from}+{at}];"));
        if let Some(word) = stored {
            self.line(&format!("st.global.u8 [{from}+{}], {word};", at + 1));
            self.line(&format!("ld.global.v4.{ty} {{%x0, %y1, %x2, %y3}}, [{from}+{at}];"));
            self.line("min.u32 %x1, %x1, %y1;");
        }
        Ok(())
    }

    /// A byte of a word.
    fn taken(&mut self, x: &str, word: &str, lane: u32, signed: bool) -> Result<()> {
        let text = *self.u.choose(if signed { SIGNED } else { UNSIGNED })?;
        let (at, up, mask) = (8 * lane, 24 - 8 * lane, format!("{:#x}", 255_u32 << (8 * lane)));
        let (at, up, lane) = (at.to_string(), up.to_string(), lane.to_string());
        let names =
            [("{x}", x), ("{w}", word), ("{at}", &at), ("{up}", &up), ("{mask}", &mask), ("{lane}", &lane)];
        self.lines(text, &names);
        Ok(())
    }

    /// The result of a lane, which lies in `%x` and `%y`.
    fn computed_lane(
        &mut self,
        lane: u32,
        operation: Operation,
        condition: Option<Condition>,
        missed: Option<Miss>,
    ) -> Result<()> {
        let mut operation = operation;
        if missed == Some(Miss::Operation) {
            operation.text = self.u.choose(OPERATIONS)?;
        }
        let rounding = if missed == Some(Miss::Rounding) { 1 } else { 0 };
        if missed == Some(Miss::Guard) {
            self.line(&format!("@%p1 mov.b32 %x{lane}, %y{lane};"));
        }
        let (t, t8) = if operation.signed { ("s32", "s8") } else { ("u32", "u8") };
        let [low, high] = if operation.signed { [-128, 127] } else { [0, 255] };
        let (x, y) = (format!("%x{lane}"), format!("%y{lane}"));
        let [r, low] = [1 - rounding, low + rounding].map(|number: i32| number.to_string());
        let [n, high] = [i32::from(operation.number) + rounding, high - rounding].map(|n| n.to_string());
        self.labels += 1;
        let label = self.labels.to_string();
        let names: &[(&str, &str)] = &[
            ("{l}", &label),
            ("{not}", if missed == Some(Miss::Condition) { "!" } else { "" }),
            ("{x}", &x),
            ("{y}", &y),
            ("{t}", t),
            ("{t8}", t8),
            ("{r}", &r),
            ("{n}", &n),
            ("{low}", &low),
            ("{high}", &high),
        ];
        if let Some(condition) = condition {
            self.lines(condition.before, names);
        }
        self.lines(operation.text, names);
        if missed == Some(Miss::Read) {
            self.store(&x)?;
        }
        if let Some(condition) = condition {
            self.lines(condition.behind, names);
        }
        Ok(())
    }

    /// Bytes of words that are added up, all alike or all but one.
    pub(super) fn sums_of_bytes(&mut self) -> Result<()> {
        let odd = if self.u.ratio(1, 3)? { Some(self.u.int_in_range(0..=3)?) } else { None };
        let (a, b, d) = (self.element()?, self.element()?, self.element()?);
        let (signed, other): (bool, bool) = self.u.arbitrary()?;
        let text = *self.u.choose(&[
            "mad.lo.s32 %z, %x0, %y0, %z;",
            "mul.lo.s32 %x0, %x0, %y0; add.s32 %z, %z, %x0;",
            "sad.u32 %z, %x0, %y0, %z;",
            "sub.s32 %x0, %x0, %y0; abs.s32 %x0, %x0; add.s32 %z, %x0, %z;",
            "add.u32 %z, %z, %x0;",
            "min.s32 %x0, %x0, %y0; add.u32 %z, %z, %x0;",
            "mad.lo.s32 %z, %x0, 3, %z;",
        ])?;
        let first = self.operand()?;
        self.line(&format!("mov.b32 %z, {first};"));
        for lane in 0..4 {
            let missed = odd == Some(lane);
            self.taken("%x0", &a, lane, signed != missed)?;
            self.taken("%y0", &b, lane, other)?;
            self.lines(text, &[]);
        }
        self.line(&format!("mov.b32 {d}, %z;"));
        Ok(())
    }

    /// Word-parallel code, now and then with a bit of one mask that differs.
    pub(super) fn word_parallel(&mut self) -> Result<()> {
        let (a, b, d) = (self.element()?, self.element()?, self.element()?);
        let text = *self.u.choose(PARALLEL)?;
        let masks = if self.u.ratio(3, 4)? {
            [0x7f7f_7f7f_u32, 0x8080_8080, 0xfefe_fefe]
        } else {
            [0x7fff_7fff, 0x8000_8000, 0xfffe_fffe]
        };
        let bit = if self.u.ratio(1, 3)? { 1 << self.u.int_in_range(0..=31)? } else { 0 };
        let which = self.u.int_in_range(0..=2)?;
        let mask = |at: usize| format!("{:#x}", if at == which { masks[at] ^ bit } else { masks[at] });
        let masks = [mask(0), mask(1), mask(2)];
        let names: &[(&str, &str)] = &[
            ("{a}", &a),
            ("{b}", &b),
            ("{d}", &d),
            ("{7f}", &masks[0]),
            ("{80}", &masks[1]),
            ("{fe}", &masks[2]),
        ];
        self.lines(text, names);
        Ok(())
    }

    /// A word that goes through local memory byte by byte, now and then with something in between, or not a word.
    pub(super) fn runs_of_bytes(&mut self) -> Result<()> {
        let (a, d) = (self.element()?, self.element()?);
        let array = if self.u.ratio(3, 4)? { "near" } else { "far" };
        let at = self.u.int_in_range(0..=5)? * 4 + if self.u.ratio(1, 6)? { 2 } else { 0 };
        // All of it is written before.
        for word in 0..8 {
            for half in 0..2 {
                self.line(&format!("st.local.u16 [{array}+{}], {a};", 4 * word + 2 * half));
            }
        }
        self.line(&format!("mov.u64 %at, {array};"));
        let base = if self.u.ratio(1, 2)? {
            let size = if self.u.ratio(3, 4)? { 4 } else { 2 };
            self.line(&format!("and.b32 %e, %t, 1; mad.wide.u32 %at, %e, {size}, %at;"));
            "%at"
        } else {
            *self.u.choose(&["%at", array])?
        };
        let order = self.u.int_in_range(0..=3)?;
        let odd = self.u.int_in_range(0..=11)?;
        let stored = self.u.arbitrary()?;
        let operation = self.operation()?;
        for byte in 0..4 {
            self.taken(&format!("%x{byte}"), &a, byte, false)?;
            if self.u.ratio(1, 4)? {
                self.computed_lane(byte, operation, None, None)?;
            }
        }
        let access = |byte: u32, guard: &str, strong: &str| {
            let place = at + byte;
            if stored {
                format!("{guard}st{strong}.local.u8 [{base}+{place}], %x{byte};")
            } else {
                format!("{guard}ld{strong}.local.u8 %x{byte}, [{base}+{place}];")
            }
        };
        for byte in (0..4).map(|byte| byte ^ order) {
            match odd {
                0 if byte == 1 => {}
                1 if byte == 2 => self.line(&access(byte, "@%p1 ", "")),
                2 if byte == 2 => self.line(&access(byte, "", ".volatile")),
                3 if byte == 2 => {
                    self.line(&format!("st.local.u8 [{array}+{}], {a};", at + 1));
                    self.line(&access(byte, "", ""));
                }
                4 if byte == 2 => {
                    self.line(&format!("ld.local.u8 %e, [{array}+{}];", at + 3));
                    self.line(&access(byte, "", ""));
                    self.line(&format!("xor.b32 {a}, {a}, %e;"));
                }
                5 if byte == 2 => {
                    self.line(&access(byte, "", ""));
                    self.line(&access(byte ^ 1, "", ""));
                }
                6 => {
                    self.line(&access(byte, "", ""));
                    self.line(&format!("add.u32 %x{byte}, %x{byte}, 1;"));
                }
                _ => self.line(&access(byte, "", "")),
            }
        }
        if stored {
            self.line(&format!("ld.local.u16 %x0, [{base}+{at}];"));
            self.line(&format!("ld.local.u16 %x1, [{base}+{}]; prmt.b32 {d}, %x0, %x1, 0x5410;", at + 2));
            return Ok(());
        }
        let packed = *self.u.choose(PACKED)?;
        self.lines(packed, &[("{d}", &d)]);
        Ok(())
    }
}
