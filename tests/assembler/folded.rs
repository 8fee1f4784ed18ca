//! Which numbers a listing of machine code stores: the constants that it moves into registers, followed to where
//! they are stored.
//!
//! Any instruction but a move of a number makes its register unknown, and so does a label, which other paths may reach:
//! so every number that is found was computed by the assembler.

use std::collections::BTreeMap;

/// What is stored at one place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stored {
    /// `None` where the code computes it.
    pub(crate) number: Option<u64>,
}

/// For each function what it stores, by offset.
pub(crate) fn stored(listing: &str) -> BTreeMap<String, BTreeMap<u32, Stored>> {
    let mut all: BTreeMap<String, BTreeMap<u32, Stored>> = BTreeMap::new();
    let mut function = Function::default();
    let mut name = String::new();
    for line in listing.lines().map(str::trim) {
        if let Some(label) = line.strip_suffix(':') {
            if let Some(of) = label.strip_prefix(".text.") {
                name = of.to_owned();
            }
            function.forget();
        } else if let Some((_, code)) = line.strip_prefix("/*").and_then(|line| line.split_once("*/")) {
            let code = code.trim().trim_end_matches(';').trim_end();
            if let Some((offset, stored)) = function.step(code) {
                all.entry(name.clone()).or_default().insert(offset, stored);
            }
        }
    }
    all
}

/// What the registers hold.
#[derive(Default)]
struct Function {
    known: BTreeMap<String, u64>,
}

impl Function {
    fn forget(&mut self) {
        self.known.clear();
    }

    /// One instruction; the offset and the number if it is a store.
    fn step(&mut self, code: &str) -> Option<(u32, Stored)> {
        let (guard, code) = match code.strip_prefix('@') {
            Some(guarded) => guarded.split_once(' ').map(|(guard, code)| (Some(guard), code.trim()))?,
            None => (None, code),
        };
        let (opcode, operands) = code.split_once(' ').unwrap_or((code, ""));
        let operands: Vec<&str> = operands.split(", ").map(str::trim).collect();
        let mut words = opcode.split('.');
        let name = words.next().unwrap_or_default();
        let words: Vec<&str> = words.collect();
        if name == "STG" {
            let stored = if guard.is_some() { None } else { self.stored(&words, operands[1]) };
            return Some((offset(operands[0])?, Stored { number: stored }));
        }
        if name == "CALL" {
            self.forget();
        }
        let has = |wanted: &str| words.contains(&wanted);
        let pair = has("64") || name == "CS2R" && !has("32");
        let count = match () {
            () if has("128") || has("WIDE") => 4,
            () if pair => 2,
            () => 1,
        };
        let number = if guard.is_some() { None } else { self.moved(name, &words, &operands[1..], pair) };
        self.write(operands[0], number, count);
        // Behind predicates that an instruction writes there may be a register that it writes too.
        for later in operands.iter().skip(1).take(2) {
            if register(operands[0]).is_none() {
                self.write(later, None, count);
            }
        }
        None
    }

    /// The number that an instruction moves, to two registers if `pair`.
    fn moved(&self, name: &str, words: &[&str], sources: &[&str], pair: bool) -> Option<u64> {
        match (name, sources) {
            ("MOV" | "UMOV" | "R2UR", [source, ..]) => self.value(source, pair),
            ("IMAD" | "UIMAD", ["RZ" | "URZ", "RZ" | "URZ", source])
                if words.first().is_some_and(|&word| word == "MOV" || word == "U32") =>
            {
                self.value(source, pair)
            }
            ("HFMA2", ["-RZ", "RZ", high, low]) => Some(u64::from(half(high)?) << 16 | u64::from(half(low)?)),
            ("CS2R", ["SRZ"]) => Some(0),
            (_, _) => None,
        }
    }

    /// Sets this many registers to a number, or to an unknown value.
    fn write(&mut self, target: &str, number: Option<u64>, count: u32) {
        let Some((letters, first)) = register(target) else { return };
        for at in 0..count {
            let name = format!("{letters}{}", first + at);
            match number.filter(|_| count <= 2) {
                Some(number) => self.known.insert(name, number >> (32 * at) & 0xffff_ffff),
                None => self.known.remove(&name),
            };
        }
    }

    /// What a source of one register or of two is, if it is known.
    fn value(&self, source: &str, pair: bool) -> Option<u64> {
        let source = source.trim_end_matches(".reuse");
        if source == "RZ" || source == "URZ" {
            return Some(0);
        }
        let Some((letters, first)) = register(source) else { return number(source) };
        let low = *self.known.get(source)?;
        let high = if pair { *self.known.get(&format!("{letters}{}", first + 1))? } else { 0 };
        Some(high << 32 | low)
    }

    /// The number that a store writes.
    fn stored(&self, words: &[&str], source: &str) -> Option<u64> {
        let has = |wanted: &str| words.contains(&wanted);
        let number = self.value(source, has("64"))?;
        match () {
            () if has("128") => None,
            () if has("64") => Some(number),
            () if has("U8") => Some(number & 0xff),
            () if has("U16") => Some(number & 0xffff),
            () => Some(number & 0xffff_ffff),
        }
    }
}

/// A number of a listing, in hexadecimal digits.
fn number(text: &str) -> Option<u64> {
    match text.strip_prefix('-') {
        Some(rest) => u64::from_str_radix(rest.strip_prefix("0x")?, 16).ok().map(u64::wrapping_neg),
        None => u64::from_str_radix(text.strip_prefix("0x")?, 16).ok(),
    }
}

/// The letters and the number of a general register.
fn register(name: &str) -> Option<(&str, u32)> {
    let digits = name.find(|c: char| c.is_ascii_digit())?;
    let letters = &name[..digits];
    if letters != "R" && letters != "UR" {
        return None;
    }
    Some((letters, name[digits..].parse().ok()?))
}

/// What is added to the base in an address.
fn offset(address: &str) -> Option<u32> {
    let (_, inner) = address.trim_end_matches(']').rsplit_once('[')?;
    match inner.split_once("+0x") {
        Some((_, digits)) => u32::from_str_radix(digits, 16).ok(),
        None => Some(0),
    }
}

/// The bits of a 16-bit float that a listing shows in decimal, which it does exactly.
fn half(text: &str) -> Option<u16> {
    let (sign, digits) = text.strip_prefix('-').map_or((0, text), |rest| (0x8000, rest));
    let digits = digits.trim_start_matches('+');
    if digits.contains("INF") {
        return Some(sign | 0x7c00);
    }
    let value: f64 = digits.parse().ok().filter(|value: &f64| value.is_finite())?;
    (0..0x7c00).find(|&bits| of_half(bits) == value).map(|bits| sign | bits)
}

/// The value of a positive 16-bit float.
fn of_half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10), f64::from(bits & 0x3ff));
    if exponent == 0 { fraction * 2_f64.powi(-24) } else { (1024.0 + fraction) * 2_f64.powi(exponent - 25) }
}

#[test]
fn numbers_are_followed_from_where_they_are_moved_to_where_they_are_stored() {
    let listing = "
.text.k0:
        /*0000*/                   LDC.64 R2, c[0x0][0x210] ;
        /*0010*/                   HFMA2.MMA R9, -RZ, RZ, -1, 2.02655792236328125e-06 ;
        /*0020*/                   CS2R R4, SRZ ;
        /*0030*/                   IMAD.MOV.U32 R7, RZ, RZ, -0x2 ;
        /*0038*/                   MOV.64 R10, 0x1234567800000005 ;
        /*003c*/                   STG.E.64.STRONG.SYS desc[UR4][R2.64+0x8], R10 ;
        /*0040*/                   MOV R6, R9 ;
        /*0050*/                   STG.E.STRONG.SYS desc[UR4][R2.64], R9 ;
        /*0060*/                   STG.E.64.STRONG.SYS desc[UR4][R2.64+0x10], R6 ;
        /*0070*/                   STG.E.64.STRONG.SYS desc[UR4][R2.64+0x20], R4 ;
        /*0080*/                   LOP3.LUT P0, R9, R9, R7, R5, 0x6a, !PT ;
        /*0090*/              @!P0 MOV R7, 0x3 ;
        /*00a0*/                   STG.E.STRONG.SYS desc[UR4][R2.64+0x30], R9 ;
        /*00b0*/                   STG.E.STRONG.SYS desc[UR4][R2.64+0x40], R7 ;
.L_x_1:
        /*00c0*/                   STG.E.STRONG.SYS desc[UR4][R2.64+0x50], R5 ;
        /*00d0*/                   STG.E.U16.STRONG.SYS desc[UR4][R2.64+0x60], RZ ;
";
    let found: Vec<_> = stored(listing)["k0"].iter().map(|(&at, stored)| (at, stored.number)).collect();
    let wide = 0xffff_fffe_bc00_0022;
    let known =
        [(0, Some(0xbc00_0022)), (8, Some(0x1234_5678_0000_0005)), (0x10, Some(wide)), (0x20, Some(0))];
    let unknown = [(0x30, None), (0x40, None), (0x50, None), (0x60, Some(0))];
    assert_eq!(found, [&known[..], &unknown].concat());
}
