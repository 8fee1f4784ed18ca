//! How variables and parameters are aligned.
//!
//! A declaration may say it (`.align`); else a scalar, or an array of scalars, is aligned to the size of its type, and
//! a vector to that of the whole vector
//! ([alignment](https://docs.nvidia.com/cuda/parallel-thread-execution/#alignment)). What a `.ptr` says is about what
//! a pointer points to, and not about the parameter.

use crate::constant;
use crate::names::DeclKind;
use crate::tree::{DeclId, Module, NodeKind, StmtId};

/// The variables and parameters that a statement declares, in the order of the text, each with its alignment in bytes
/// as it is declared, or else as its type has it; at least 1.
#[must_use]
#[expect(clippy::wildcard_enum_match_arm, reason = "other nodes say nothing of alignment")]
pub fn alignments(module: &Module<'_>, stmt: StmtId) -> Vec<(DeclId, u32)> {
    let mut found = Vec::new();
    let (mut align, mut pointer) = (None, false);
    for node in module.stmt_nodes(stmt) {
        match module.node_kind(node) {
            NodeKind::Directive => match module.node_text(node) {
                b".ptr" => pointer = true,
                // Another parameter begins.
                b".param" | b".reg" => (align, pointer) = (None, false),
                _ => {}
            },
            NodeKind::Align if !pointer => {
                let number =
                    module.children(node).first().and_then(|&number| constant::value(module, number));
                align = number.and_then(|number| u32::try_from(number).ok());
            }
            NodeKind::Declared => {
                let Some(decl) = module.decl_of(node) else { continue };
                let declared = module.decl(decl);
                if matches!(declared.kind, DeclKind::Variable | DeclKind::Parameter | DeclKind::Register) {
                    let natural = declared.ty.bits().unwrap_or(64) / 8 * u32::from(declared.lanes);
                    found.push((decl, align.unwrap_or(natural.next_power_of_two()).max(1)));
                }
            }
            _ => {}
        }
    }
    found
}

/// How many of the lowest bits of the address of a variable or parameter are zero.
#[must_use]
pub fn zero_bits(module: &Module<'_>, decl: DeclId) -> u32 {
    let is_stored = matches!(module.decl(decl).kind, DeclKind::Variable | DeclKind::Parameter);
    let all = if is_stored { alignments(module, module.decl(decl).stmt) } else { Vec::new() };
    all.into_iter().find(|&(other, _)| other == decl).map_or(0, |(_, align)| align.trailing_zeros())
}
