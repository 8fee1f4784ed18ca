//! The rules: each proposes other spellings of an instruction's value.
//!
//! A rule is one entry of a list: its name, the law it rests on, examples on which it fires, and a function from a
//! site to recipes. It need not ask whether a recipe is cheaper, writable or right: the driver compares costs, finds
//! registers and has the text proved. The tests prove every proposal of every rule on its examples and on all forms
//! of the instructions it looks at, so that a wrong law is found before any user meets it.

use crate::fuse;
use crate::recipe::Recipe;
use crate::site::Site;
use ptxopt_grammar::table::Row;
use ptxopt_grammar::table::instruction::op;

mod build;
mod fold;
mod link;
mod lower;
mod mask;
#[cfg(test)]
pub(crate) mod matrix;
mod operands;
mod reach;
mod route;
#[cfg(test)]
mod sampled;
mod simplify;
mod sweeps;
#[cfg(test)]
mod tests;

pub use lower::LOWER;
pub use sweeps::{DEAD, FAULTS, SWEEPS, Sweep, UNNAMED};

/// A group of rules that can be switched off.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Pass {
    /// Constants.
    Fold,
    /// Laws of arithmetic and of byte moves.
    Simplify,
    /// What masks and merges leave over.
    Mask,
    /// What byte-wise code means as video instructions.
    Fuse,
    /// What video instructions can be made of.
    Lower,
    /// What the others made dead.
    Dce,
}

/// One rule.
pub struct Rule {
    /// What users call it.
    pub name: &'static str,
    /// The pass that it belongs to.
    pub pass: Pass,
    /// The law, as a formula or a sentence.
    pub law: &'static str,
    /// Bodies of straight-line code on which it fires. Registers: `%a %b %c %d %e %f` and `%r0` to `%r9` of 32
    /// bits, `%h0` to `%h3` of 16, `%w0` to `%w3` of 64, `%p0` to `%p3`; `%a`, `%b`, `%c` come from
    /// memory, `%d` is stored whole at the end.
    pub examples: &'static [&'static str],
    /// Proposes other spellings of the site's value.
    pub propose: fn(&Site<'_, '_, '_>, &mut Vec<Recipe>),
}

impl std::fmt::Debug for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rule").field("name", &self.name).field("pass", &self.pass).finish_non_exhaustive()
    }
}

/// A module around an example; the registers are those that [`Rule::examples`] promises.
#[must_use]
pub fn example_module(body: &str) -> String {
    format!(
        ".version 9.4\n.target sm_107f\n.address_size 64\n.visible .entry f(.param .u64 p)\n{{\n\
         .reg .b32 %a, %b, %c, %d, %e, %f, %r<10>;\n.reg .b16 %h<4>;\n.reg .b64 %w<4>, %in;\n.reg .pred %p<4>;\n\
         ld.param.u64 %in, [p];\nld.global.b32 %a, [%in];\nld.global.b32 %b, [%in+4];\n\
         ld.global.b32 %c, [%in+8];\n{body}\nst.global.b32 [%in+12], %d;\nret;\n}}\n"
    )
}

/// All rules, in the order in which they are tried.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    let simplify = simplify::RULES.iter().copied().flatten();
    let mask = mask::RULES.iter().copied().flatten();
    let fuse = fuse::RULES.iter().copied().flatten();
    fold::RULES.iter().chain(simplify).chain(mask).chain(fuse).chain([&LOWER])
}

/// Whether rules look at the instructions of a row. Others are looked at where these are in the same function.
#[must_use]
pub fn is_interesting(row: &Row) -> bool {
    row.video.is_some() || row.on_bytes
}

/// Whether an instruction adds a sum to products of lanes. NVIDIA's assembler does not make one of it and an addition.
#[must_use]
pub fn is_dot_product(row: &Row) -> bool {
    row.is(op::DP4A) || row.is(op::DP2A)
}

/// Whether an instruction moves bytes as a selector says. NVIDIA's assembler joins such moves only at times; the
/// algebra of shifts, masks and fields it does itself.
#[must_use]
pub fn is_byte_move(row: &Row) -> bool {
    row.is(op::PRMT)
}
