//! One random instruction: video instructions in all their forms, byte moves, and plain arithmetic.

use super::Writer;
use arbitrary::Result;

impl Writer<'_, '_> {
    /// A 32-bit register; sometimes one that is never written.
    pub(super) fn word(&mut self) -> Result<String> {
        Ok(match self.u.int_in_range(0..=19)? {
            0 => format!("%u{}", self.u.int_in_range(0..=2)?),
            1 => "%t".to_owned(),
            _ => self.element()?,
        })
    }

    /// One of the family; now and then under another name, which single registers of inner scopes do not hide.
    pub(super) fn element(&mut self) -> Result<String> {
        let zero = if self.u.ratio(1, 10)? { "0" } else { "" };
        Ok(format!("%r{zero}{}", self.u.int_in_range(0..=9)?))
    }

    /// What only a plain instruction may read or write: an element of a vector.
    fn plain_word(&mut self) -> Result<String> {
        if self.u.ratio(1, 16)? { self.vector_element() } else { self.word() }
    }

    fn plain_operand(&mut self) -> Result<String> {
        if self.u.ratio(1, 4)? { self.constant() } else { self.plain_word() }
    }

    pub(super) fn vector_element(&mut self) -> Result<String> {
        Ok(format!("%v.{}", self.u.choose(&["x", "y", "z", "w", "r", "a"])?))
    }

    /// A register that may be written.
    pub(super) fn to(&mut self) -> Result<String> {
        Ok(match self.u.int_in_range(0..=19)? {
            // Only one of these is ever written, and only on some paths.
            0 => "%u0".to_owned(),
            _ => self.element()?,
        })
    }

    pub(super) fn constant(&mut self) -> Result<String> {
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

    pub(super) fn operand(&mut self) -> Result<String> {
        if self.u.ratio(1, 4)? { self.constant() } else { self.word() }
    }

    pub(super) fn video(&mut self) -> Result<String> {
        if self.u.ratio(2, 5)? { self.scalar_video() } else { self.simd_video() }
    }

    pub(super) fn sign(&mut self) -> Result<&'static str> {
        self.u.choose(&["u32", "s32"]).copied()
    }

    pub(super) fn scalar_video(&mut self) -> Result<String> {
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
    pub(super) fn part(&mut self, one_in: u32) -> Result<&'static str> {
        if self.u.ratio(one_in - 1, one_in)? {
            return Ok("");
        }
        self.u.choose(&[".b0", ".b1", ".b2", ".b3", ".h0", ".h1"]).copied()
    }

    pub(super) fn selected(&mut self) -> Result<String> {
        if self.u.ratio(1, 8)? {
            return self.constant();
        }
        let word = self.word()?;
        Ok(format!("{word}{}", self.part(2)?))
    }

    pub(super) fn simd_video(&mut self) -> Result<String> {
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
    pub(super) fn lanes_of(&mut self, lanes: usize, one_in: u32) -> Result<String> {
        if self.u.ratio(one_in - 1, one_in)? {
            return Ok(String::new());
        }
        let bits = self.u.int_in_range(1..=(1_usize << lanes) - 1)?;
        let letter = if lanes == 4 { 'b' } else { 'h' };
        let digits: String =
            (0..lanes).rev().filter(|lane| bits >> lane & 1 == 1).map(|lane| lane.to_string()).collect();
        Ok(format!(".{letter}{digits}"))
    }

    pub(super) fn routing(&mut self, lanes: usize) -> Result<String> {
        if self.u.ratio(4, 5)? {
            return Ok(String::new());
        }
        let mut text = if lanes == 4 { ".b".to_owned() } else { ".h".to_owned() };
        for _ in 0..lanes {
            text.push_str(&self.u.int_in_range(0..=2 * lanes - 1)?.to_string());
        }
        Ok(text)
    }

    pub(super) fn plain(&mut self) -> Result<String> {
        let d = if self.u.ratio(1, 16)? { self.vector_element()? } else { self.to()? };
        let (a, b, c) = (self.plain_word()?, self.plain_operand()?, self.plain_operand()?);
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
            18 => format!("bfe.u32 {d}, {a}, {}, {};", self.word()?, self.u.int_in_range(0..=33)?),
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
}
