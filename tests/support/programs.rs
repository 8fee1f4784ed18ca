//! Random kernels that look like byte code: a plain function of the bytes that it is given.
//!
//! Video instructions in all their forms, the byte moves and masks around them, and everything that makes rewriting
//! hard: guards, branches, loops, nested scopes that shadow registers, registers that nobody wrote, stores between
//! merges. Every kernel is legal and ends; each thread has words of its own to read and to write.

use arbitrary::{Result, Unstructured};
use std::fmt::Write;

/// How many words each thread reads.
pub(crate) const INPUT_WORDS: usize = 16;
/// How many words each thread may write.
pub(crate) const OUTPUT_WORDS: usize = 64;

/// The targets that kernels are written for, and the version of PTX that knows them.
const TARGETS: &[&str] = &["sm_35", "sm_61", "sm_75", "sm_90", "sm_120"];

const HEAD: &str = "{\n\t.reg .b32 %r<10>;\n\t.reg .b32 %u<3>;\n\t.reg .b32 %i<4>;\n\t.reg .b32 %e, %t;\n\
    \t.reg .b16 %h<4>;\n\t.reg .b64 %w<4>;\n\t.reg .b64 %in, %out, %at;\n\t.reg .pred %p<4>;\n\
    \tld.param.u64 %in, [in];\n\tld.param.u64 %out, [out];\n\tmov.u32 %t, %tid.x;\n\
    \tmad.wide.u32 %in, %t, 64, %in;\n\tmad.wide.u32 %out, %t, 256, %out;\n";

/// A kernel `k(in, out)`.
pub(crate) fn program(u: &mut Unstructured<'_>) -> Result<String> {
    let target = *u.choose(TARGETS)?;
    let mut text = format!(
        ".version 8.7\n.target {target}\n.address_size 64\n\n\
         .visible .entry k(\n\t.param .u64 in,\n\t.param .u64 out\n)\n{HEAD}"
    );
    let mut writer = Writer { u, text: String::new(), labels: 0, stores: 0, depth: 0, loops: 0, indent: 1 };
    writer.begin()?;
    let count = writer.u.int_in_range(4..=40)?;
    for _ in 0..count {
        writer.statement()?;
    }
    writer.end()?;
    text.push_str(&writer.text);
    text.push_str("\tret;\n}\n");
    Ok(text)
}

struct Writer<'w, 'u> {
    u: &'w mut Unstructured<'u>,
    text: String,
    labels: u32,
    stores: usize,
    depth: u32,
    loops: u32,
    indent: usize,
}

impl Writer<'_, '_> {
    fn line(&mut self, line: &str) {
        writeln!(self.text, "{}{line}", "\t".repeat(self.indent)).expect("strings can be written to");
    }

    /// Gives most registers a value: words of memory, bytes, constants.
    fn begin(&mut self) -> Result<()> {
        for n in 0..10 {
            let at = self.u.int_in_range(0..=INPUT_WORDS - 1)? * 4;
            let line = match self.u.int_in_range(0..=9)? {
                0 => format!("ld.global.u8 %r{n}, [%in+{at}];"),
                1 => format!("ld.global.s8 %r{n}, [%in+{}];", at + 3),
                2 => format!("ld.global.u16 %r{n}, [%in+{}];", at + 2),
                3 => format!("mov.u32 %r{n}, {};", self.constant()?),
                4 => format!("and.b32 %r{n}, %t, {};", self.constant()?),
                _ => format!("ld.global.b32 %r{n}, [%in+{at}];"),
            };
            self.line(&line);
        }
        for n in 0..4 {
            let at = self.u.int_in_range(0..=INPUT_WORDS - 2)? & !1;
            self.line(&format!("ld.global.u16 %h{n}, [%in+{}];", at * 4 + 2));
            self.line(&format!("ld.global.b64 %w{n}, [%in+{}];", at * 4));
            let (a, b) = (self.word()?, self.word()?);
            self.line(&format!("setp.lt.u32 %p{n}, {a}, {b};"));
        }
        Ok(())
    }

    /// Stores most of what there is, so that it matters.
    fn end(&mut self) -> Result<()> {
        for n in 0..10 {
            if self.u.ratio(2, 3)? {
                self.store(&format!("%r{n}"))?;
            }
        }
        Ok(())
    }

    fn statement(&mut self) -> Result<()> {
        match self.u.int_in_range(0..=39)? {
            0..=16 => self.computed(Self::video),
            17..=28 => self.computed(Self::plain),
            29 | 30 => self.merges(),
            31 | 32 => {
                let word = self.word()?;
                self.store(&word)
            }
            33 => self.mask_and_multiply(),
            34 => self.wide(),
            35 => self.scope(),
            36 | 37 => self.branch(),
            38 => self.repeat(),
            _ => self.switch(),
        }
    }

    /// A statement that computes, perhaps under a guard; nothing if what comes out is not legal.
    fn computed(&mut self, make: fn(&mut Self) -> Result<String>) -> Result<()> {
        for _ in 0..6 {
            let made = make(self)?;
            if legal(&made) {
                let guard = match self.u.int_in_range(0..=11)? {
                    0 => format!("@%p{} ", self.u.int_in_range(0..=3)?),
                    1 => format!("@!%p{} ", self.u.int_in_range(0..=3)?),
                    _ => String::new(),
                };
                self.line(&format!("{guard}{made}"));
                return Ok(());
            }
        }
        Ok(())
    }

    /// A 32-bit register; now and then one that nobody writes.
    fn word(&mut self) -> Result<String> {
        Ok(match self.u.int_in_range(0..=19)? {
            0 => format!("%u{}", self.u.int_in_range(0..=2)?),
            1 => "%t".to_owned(),
            _ => self.element()?,
        })
    }

    /// One of the family; now and then under another name, which single registers of inner scopes do not hide.
    fn element(&mut self) -> Result<String> {
        let zero = if self.u.ratio(1, 10)? { "0" } else { "" };
        Ok(format!("%r{zero}{}", self.u.int_in_range(0..=9)?))
    }

    /// A register that may be written.
    fn to(&mut self) -> Result<String> {
        Ok(match self.u.int_in_range(0..=19)? {
            // Of these only one is ever written, and only on some ways.
            0 => "%u0".to_owned(),
            _ => self.element()?,
        })
    }

    fn constant(&mut self) -> Result<String> {
        const MASKS: &[&str] = &[
            "0",
            "1",
            "2",
            "3",
            "4",
            "7",
            "8",
            "16",
            "24",
            "31",
            "32",
            "0xff",
            "0xff00",
            "0xff0000",
            "0xff000000",
            "0x00ff00ff",
            "0xff00ff00",
            "0xffff",
            "0xffff0000",
            "0x80808080",
            "0x01010101",
            "0x7f7f7f7f",
            "0xfefefefe",
            "0x7fff7fff",
            "0x80008000",
            "0xffffffff",
            "0x7fffffff",
            "0x80000000",
            "-1",
            "-128",
            "255",
            "256",
            "0x00ffffff",
            "0x0f0f0f0f",
        ];
        if self.u.ratio(1, 6)? {
            return Ok(format!("{:#x}", self.u.arbitrary::<u32>()?));
        }
        Ok((*self.u.choose(MASKS)?).to_owned())
    }

    fn operand(&mut self) -> Result<String> {
        if self.u.ratio(1, 4)? { self.constant() } else { self.word() }
    }

    fn video(&mut self) -> Result<String> {
        if self.u.ratio(2, 5)? { self.scalar_video() } else { self.simd_video() }
    }

    fn sign(&mut self) -> Result<&'static str> {
        self.u.choose(&["u32", "s32"]).copied()
    }

    fn scalar_video(&mut self) -> Result<String> {
        let opcode =
            *self.u.choose(&["vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vmad", "vset"])?;
        let types = format!(".{}.{}", self.sign()?, self.sign()?);
        let first = if opcode == "vset" { String::new() } else { format!(".{}", self.sign()?) };
        let mode = match opcode {
            "vshl" | "vshr" => *self.u.choose(&[".clamp", ".wrap"])?,
            "vset" => *self.u.choose(&[".lt", ".le", ".eq", ".ne", ".gt", ".ge"])?,
            _ => "",
        };
        let types = if opcode.starts_with("vsh") { format!(".{}.u32", self.sign()?) } else { types };
        let sat = if opcode != "vset" && self.u.ratio(1, 4)? { ".sat" } else { "" };
        let scale = if opcode == "vmad" { *self.u.choose(&["", "", ".shr7", ".shr15", ".po"])? } else { "" };
        let then = if opcode == "vmad" { "" } else { *self.u.choose(&["", "", ".add", ".min", ".max"])? };
        let part = if then.is_empty() && opcode != "vmad" { self.part(3)? } else { "" };
        let (d, a, b, c) = (self.to()?, self.selected()?, self.selected()?, self.operand()?);
        let c = if then.is_empty() && part.is_empty() && opcode != "vmad" {
            String::new()
        } else {
            format!(", {c}")
        };
        Ok(match self.u.int_in_range(0..=1)? {
            0 if !sat.is_empty() => {
                format!("{opcode}{first}{types}{sat}{mode}{scale}{then} {d}{part}, {a}, {b}{c};")
            }
            _ => format!("{opcode}{first}{types}{sat}{scale}{mode}{then} {d}{part}, {a}, {b}{c};"),
        })
    }

    /// A byte or half of a destination, or none: one in so many.
    fn part(&mut self, one_in: u32) -> Result<&'static str> {
        if self.u.ratio(one_in - 1, one_in)? {
            return Ok("");
        }
        self.u.choose(&[".b0", ".b1", ".b2", ".b3", ".h0", ".h1"]).copied()
    }

    fn selected(&mut self) -> Result<String> {
        if self.u.ratio(1, 8)? {
            return self.constant();
        }
        let word = self.word()?;
        Ok(format!("{word}{}", self.part(2)?))
    }

    fn simd_video(&mut self) -> Result<String> {
        let lanes = if self.u.ratio(3, 4)? { 4 } else { 2 };
        let opcode = *self.u.choose(&["vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset"])?;
        let first = if opcode == "vset" { String::new() } else { format!(".{}", self.sign()?) };
        let types = format!(".{}.{}", self.sign()?, self.sign()?);
        let sat = if opcode != "vset" && self.u.ratio(1, 4)? { ".sat" } else { "" };
        let compare = match opcode {
            "vset" => *self.u.choose(&[".lt", ".le", ".eq", ".ne", ".gt", ".ge"])?,
            _ => "",
        };
        let add = if sat.is_empty() && self.u.ratio(1, 4)? { ".add" } else { "" };
        let mask = self.lanes_of(lanes, 4)?;
        let (d, a, b, c) = (self.to()?, self.word()?, self.word()?, self.word()?);
        let (a_lanes, b_lanes) = (self.routing(lanes)?, self.routing(lanes)?);
        Ok(format!(
            "{opcode}{lanes}{first}{types}{sat}{compare}{add} {d}{mask}, {a}{a_lanes}, {b}{b_lanes}, {c};"
        ))
    }

    /// A mask of a SIMD destination: lanes from the highest to the lowest.
    fn lanes_of(&mut self, lanes: usize, one_in: u32) -> Result<String> {
        if self.u.ratio(one_in - 1, one_in)? {
            return Ok(String::new());
        }
        let bits = self.u.int_in_range(1..=(1_usize << lanes) - 1)?;
        let letter = if lanes == 4 { 'b' } else { 'h' };
        let digits: String =
            (0..lanes).rev().filter(|lane| bits >> lane & 1 == 1).map(|lane| lane.to_string()).collect();
        Ok(format!(".{letter}{digits}"))
    }

    fn routing(&mut self, lanes: usize) -> Result<String> {
        if self.u.ratio(4, 5)? {
            return Ok(String::new());
        }
        let mut text = if lanes == 4 { ".b".to_owned() } else { ".h".to_owned() };
        for _ in 0..lanes {
            text.push_str(&self.u.int_in_range(0..=2 * lanes - 1)?.to_string());
        }
        Ok(text)
    }

    fn plain(&mut self) -> Result<String> {
        let (d, a, b, c) = (self.to()?, self.word()?, self.operand()?, self.operand()?);
        let byte = self.u.int_in_range(0..=3)? * 8;
        Ok(match self.u.int_in_range(0..=33)? {
            0 => format!("and.b32 {d}, {a}, {b};"),
            1 => format!("or.b32 {d}, {a}, {b};"),
            2 => format!("xor.b32 {d}, {a}, {b};"),
            3 => format!("not.b32 {d}, {a};"),
            4 => format!("add.u32 {d}, {a}, {b};"),
            5 => format!("sub.u32 {d}, {a}, {b};"),
            6 => format!("mul.lo.u32 {d}, {a}, {b};"),
            7 => format!("mad.lo.u32 {d}, {a}, {b}, {c};"),
            8 => format!("shl.b32 {d}, {a}, {byte};"),
            9 => format!("shr.u32 {d}, {a}, {byte};"),
            10 => format!("shr.s32 {d}, {a}, {byte};"),
            11 => format!("shl.b32 {d}, {a}, {b};"),
            12 => format!("shr.s32 {d}, {a}, {b};"),
            13 => {
                let selector = self.u.choose(&[
                    "0x3210", "0x5410", "0x7632", "0x0123", "0x4440", "0x6420", "0x7531", "0xba98", "0x8888",
                    "0x5140", "0x7610", "0x3254", "0x4321", "0x0000",
                ])?;
                format!("prmt.b32 {d}, {a}, {b}, {selector};")
            }
            14 => format!("prmt.b32 {d}, {a}, {b}, {:#x};", self.u.int_in_range(0..=0xffff)?),
            15 => {
                let mode = self.u.choose(&["", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"])?;
                format!("prmt.b32{mode} {d}, {a}, {b}, {c};")
            }
            16 => format!("bfe.u32 {d}, {a}, {byte}, 8;"),
            17 => format!("bfe.s32 {d}, {a}, {byte}, 8;"),
            18 => format!("bfe.u32 {d}, {a}, {}, {};", self.operand()?, self.u.int_in_range(0..=33)?),
            19 => format!("bfi.b32 {d}, {a}, {b}, {byte}, 8;"),
            20 => format!("lop3.b32 {d}, {a}, {b}, {c}, {:#x};", self.u.int_in_range(0..=255)?),
            21 => format!("dp4a.{}.{} {d}, {a}, {}, {c};", self.sign()?, self.sign()?, self.word()?),
            22 => format!("sad.{} {d}, {a}, {b}, {c};", self.sign()?),
            23 => format!("min.{} {d}, {a}, {b};", self.sign()?),
            24 => format!("max.{} {d}, {a}, {b};", self.sign()?),
            25 => format!("selp.b32 {d}, {a}, {b}, %p{};", self.u.int_in_range(0..=3)?),
            26 => {
                let compare = self.u.choose(&["lt", "le", "eq", "ne", "gt", "ge"])?;
                format!("setp.{compare}.{} %p{}, {a}, {b};", self.sign()?, self.u.int_in_range(0..=3)?)
            }
            27 => format!("mov.b32 {d}, {b};"),
            28 => format!("cvt.{}.{} {d}, {a};", self.sign()?, self.u.choose(&["u8", "s8", "u16", "s16"])?),
            29 => format!("set.gt.u32.{} {d}, {a}, {b};", self.sign()?),
            30 => format!("shf.r.wrap.b32 {d}, {a}, {b}, {byte};"),
            31 => format!("neg.s32 {d}, {a};"),
            32 => format!("abs.s32 {d}, {a};"),
            _ => format!("mov.u32 {d}, {b};"),
        })
    }

    /// The same instruction four times, each writing one byte over what is there, with a store in between at times.
    fn merges(&mut self) -> Result<()> {
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

    /// A comparison as a mask of bytes.
    fn mask_and_multiply(&mut self) -> Result<()> {
        let (sign, a, b) = (self.sign()?, self.word()?, self.word()?);
        let (m, d) = (self.to()?, self.to()?);
        let compare = *self.u.choose(&["lt", "le", "eq", "ne", "gt", "ge"])?;
        let zero = self.word()?;
        self.line(&format!("vset4.{sign}.{sign}.{compare} {m}, {a}, {b}, {zero};"));
        self.line(&format!("mul.lo.u32 {d}, {m}, 255;"));
        Ok(())
    }

    /// Halves and longs: packed, unpacked, extended.
    fn wide(&mut self) -> Result<()> {
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

    fn store(&mut self, what: &str) -> Result<()> {
        if self.stores == OUTPUT_WORDS {
            return Ok(());
        }
        let at = self.stores * 4;
        self.stores += 1;
        let line = match self.u.int_in_range(0..=9)? {
            0 => format!("st.global.u8 [%out+{at}], {what};"),
            1 => format!("@%p2 st.global.b32 [%out+{at}], {what};"),
            2 => format!("st.global.u16 [%out+{}], {what};", at + 2),
            _ => format!("st.global.b32 [%out+{at}], {what};"),
        };
        self.line(&line);
        if self.u.ratio(1, 10)? {
            let d = self.to()?;
            self.line(&format!("ld.global.u8 {d}, [%out+{}];", at + 1));
        }
        Ok(())
    }

    fn statements(&mut self) -> Result<()> {
        self.depth += 1;
        self.indent += 1;
        for _ in 0..self.u.int_in_range(1..=6)? {
            self.statement()?;
        }
        self.indent -= 1;
        self.depth -= 1;
        Ok(())
    }

    /// A scope whose registers shadow those outside; they begin undefined.
    fn scope(&mut self) -> Result<()> {
        if self.depth == 3 {
            return Ok(());
        }
        self.line("{");
        self.indent += 1;
        let shadowed: u32 = self.u.int_in_range(1..=4)?;
        if self.u.ratio(1, 3)? {
            let names: Vec<String> = (0..shadowed).map(|n| format!("%r{n}")).collect();
            self.line(&format!(".reg .b32 {};", names.join(", ")));
        } else {
            self.line(&format!(".reg .b32 %r<{shadowed}>;"));
        }
        for n in 0..shadowed {
            if self.u.ratio(3, 4)? {
                self.line(&format!("ld.global.b32 %r{n}, [%in+{}];", n * 4));
            }
        }
        self.indent -= 1;
        self.statements()?;
        self.line("}");
        Ok(())
    }

    fn branch(&mut self) -> Result<()> {
        if self.depth == 3 {
            return Ok(());
        }
        self.labels += 1;
        let (label, p) = (self.labels, self.u.int_in_range(0..=3)?);
        let negated = if self.u.arbitrary()? { "!" } else { "" };
        self.line(&format!("@{negated}%p{p} bra ELSE{label};"));
        self.statements()?;
        if self.u.arbitrary()? {
            self.line(&format!("bra END{label};"));
            self.line(&format!("ELSE{label}:"));
            self.statements()?;
            self.line(&format!("END{label}:"));
        } else {
            self.line(&format!("ELSE{label}:"));
        }
        Ok(())
    }

    /// A loop with a counter that nothing else writes.
    fn repeat(&mut self) -> Result<()> {
        if self.depth == 3 || self.loops == 4 {
            return Ok(());
        }
        let counter = self.loops;
        self.loops += 1;
        self.labels += 1;
        let (label, times) = (self.labels, self.u.int_in_range(1..=4)?);
        self.line(&format!("mov.u32 %i{counter}, 0;"));
        self.line(&format!("LOOP{label}:"));
        self.statements()?;
        self.line(&format!("add.u32 %i{counter}, %i{counter}, 1;"));
        self.line(&format!("setp.lt.u32 %p0, %i{counter}, {times};"));
        self.line(&format!("@%p0 bra LOOP{label};"));
        Ok(())
    }

    fn switch(&mut self) -> Result<()> {
        if self.depth > 0 {
            return Ok(());
        }
        self.labels += 1;
        let (label, word) = (self.labels, self.word()?);
        self.line(&format!("and.b32 %e, {word}, 1;"));
        self.line(&format!("T{label}: .branchtargets CASE{label}0, CASE{label}1;"));
        self.line(&format!("brx.idx %e, T{label};"));
        self.line(&format!("CASE{label}0:"));
        self.statements()?;
        self.line(&format!("bra END{label};"));
        self.line(&format!("CASE{label}1:"));
        self.statements()?;
        self.line(&format!("END{label}:"));
        Ok(())
    }
}

/// Whether the statement is legal by itself.
fn legal(stmt: &str) -> bool {
    let text = format!(
        ".version 8.7\n.target sm_90\n.address_size 64\n.func f()\n{{ .reg .b32 %r<10>, %u<3>, %t, %e; \
         .reg .pred %p<4>; {stmt} }}"
    );
    ptxopt_grammar::parse(text.as_bytes()).is_ok()
}
