//! How variables and parameters are aligned, and how large they are.
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

/// How many bytes a variable or parameter has, if that is declared
/// ([arrays](https://docs.nvidia.com/cuda/parallel-thread-execution/#array-declarations)).
#[must_use]
#[expect(clippy::wildcard_enum_match_arm, reason = "other nodes say nothing of sizes")]
pub fn size(module: &Module<'_>, decl: DeclId) -> Option<u64> {
    let declared = module.decl(decl);
    if !matches!(declared.kind, DeclKind::Variable | DeclKind::Parameter) {
        return None;
    }
    let element = u64::from(declared.ty.bits()?) / 8 * u64::from(declared.lanes);
    let nodes = module.stmt_nodes(declared.stmt);
    let mut after = nodes.skip_while(|&node| module.decl_of(node) != Some(decl));
    after.next()?;
    let mut size = Some(element).filter(|&bytes| bytes > 0);
    for node in after {
        match module.node_kind(node) {
            NodeKind::Dimension => {
                let number =
                    module.children(node).first().and_then(|&number| constant::value(module, number));
                size = size.zip(number).and_then(|(size, number)| size.checked_mul(number));
            }
            NodeKind::Declared | NodeKind::Directive => break,
            _ => {}
        }
    }
    size
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    #[test]
    fn arrays_have_the_size_of_all_their_elements() {
        let text = ".version 8.0\n.target sm_90\n.address_size 64\n.const .b32 table[2][3];\n.shared .v2 .b16 pair, \
                    open[];\n.entry k(.param .u64 a, .param .align 4 .b8 b[3], .param .f64 c) { ret; }\n";
        let module = parse(text.as_bytes()).expect("it is valid");
        let sizes: Vec<(String, Option<u64>)> = module
            .decls()
            .map(|decl| {
                let name = String::from_utf8_lossy(module.decl_name(decl)).into_owned();
                (name, size(&module, decl))
            })
            .collect();
        let of = |name: &str| sizes.iter().find(|(other, _)| other == name).expect("it is declared").1;
        assert_eq!(["table", "pair", "a", "b", "c"].map(of), [24, 4, 8, 3, 8].map(Some));
        assert_eq!(["open", "k"].map(of), [None, None]);
    }
}
