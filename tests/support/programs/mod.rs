//! Random kernels that look like byte code: a plain function of the bytes that it is given.
//!
//! Video instructions in all their forms, the byte moves and masks around them, words that are put together from bytes
//! in many spellings, with near-misses, and everything that makes rewriting hard: guards, branches, loops, nested
//! scopes that shadow registers, registers that are never written, vectors, calls, exchanges between threads, stores
//! between merges. Every kernel is legal and ends; each thread has words of its own to read and to write.

mod chains;
mod idioms;
mod instructions;
mod rare;
mod words;

use arbitrary::{Result, Unstructured};
use std::fmt::Write;

/// How many words each thread reads.
pub(crate) const INPUT_WORDS: usize = 16;
/// How many words each thread may write.
pub(crate) const OUTPUT_WORDS: usize = 64;

/// The targets that kernels are written for, and the version of PTX that has them.
const TARGETS: &[(&str, &str)] =
    &[("sm_35", "7.8"), ("sm_61", "7.8"), ("sm_75", "7.8"), ("sm_90", "8.7"), ("sm_120", "8.7")];

/// What a kernel and its function begin with; `%in` and `%out` are the words of the thread.
const HEAD: &str = "{\n\t.local .align 4 .b8 near[32];\n\t.local .align 2 .b8 far[32];\n\t.reg .b32 %r<10>;\n\t.reg .b32 %u<3>;\n\t.reg .b32 %i<4>, %s<4>;\n\t.reg .b32 %e, %t;\n\
    \t.reg .b32 %x<4>, %y<4>, %z;\n\t.reg .pred %q;\n\
    \t.reg .v4 .b32 %v;\n\t.reg .b16 %h<4>;\n\t.reg .b64 %w<4>;\n\t.reg .f32 %f<2>;\n\
    \t.reg .b64 %in, %out, %at;\n\t.reg .pred %p<4>;\n\
    \tld.param.u64 %in, [in];\n\tld.param.u64 %out, [out];\n\tmov.u32 %t, %tid.x;\n\
    \tmad.wide.u32 %in, %t, 64, %in;\n\tmad.wide.u32 %out, %t, 256, %out;\n";

/// A kernel `k(in, out)`, perhaps with a function that it calls.
pub(crate) fn program(u: &mut Unstructured<'_>) -> Result<String> {
    let (target, version) = *u.choose(TARGETS)?;
    let mut text =
        format!(".version {version}\n.target {target}\n.address_size 64\n\n.shared .b32 words[32];\n\n");
    let mut writer = Writer {
        u,
        text: String::new(),
        labels: 0,
        stores: 0,
        depth: 0,
        loops: 0,
        indent: 1,
        function: false,
        callable: false,
        left: false,
    };
    if writer.u.ratio(1, 4)? {
        writer.function = true;
        writer.body(10)?;
        text.push_str(
            ".func (.param .b32 result) f(.param .u64 in, .param .u64 out, .param .b32 a, .param .b32 b)\n",
        );
        text.push_str(HEAD);
        text.push_str("\tld.param.b32 %r0, [a];\n\tld.param.b32 %r1, [b];\n");
        text.push_str(&std::mem::take(&mut writer.text));
        text.push_str("\tst.param.b32 [result], %r2;\n\tret;\n}\n\n");
        (writer.function, writer.callable, writer.loops) = (false, true, 0);
    }
    writer.begin()?;
    writer.body(40)?;
    writer.end()?;
    text.push_str(".visible .entry k(\n\t.param .u64 in,\n\t.param .u64 out\n)\n");
    text.push_str(HEAD);
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
    /// Whether it writes the function, not the kernel.
    function: bool,
    /// Whether there is a function.
    callable: bool,
    /// Whether some threads may have left.
    left: bool,
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
        if self.u.ratio(3, 4)? {
            let at = self.u.int_in_range(0..=INPUT_WORDS / 4 - 1)? * 16;
            self.line(&format!("ld.global.v4.b32 %v, [%in+{at}];"));
        }
        Ok(())
    }

    fn body(&mut self, most: u32) -> Result<()> {
        for _ in 0..self.u.int_in_range(4..=most)? {
            self.statement()?;
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
        match self.u.int_in_range(0..=88)? {
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
            39 => self.switch(),
            40 | 41 => self.sums(),
            42 | 43 => self.vectors(),
            44 | 45 => self.computed(Self::rare),
            46 => self.carry(),
            47 => self.exchange(),
            48 => self.through_shared_memory(),
            49 => self.call(),
            50..=58 => self.lanes(),
            59..=61 => self.sums_of_bytes(),
            62..=65 => self.word_parallel(),
            66..=69 => self.runs_of_bytes(),
            70..=73 => self.chain_of_booleans(),
            74..=76 => self.packed_words(),
            77..=79 => self.halves(),
            80..=83 => self.blended(),
            84..=87 => self.fields(),
            _ => self.leave(),
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
         .reg .v4 .b32 %v; .reg .f32 %f<2>; .reg .b64 %w<4>; .reg .pred %p<4>; {stmt} }}"
    );
    ptxopt_grammar::parse(text.as_bytes()).is_ok()
}
