//! How variables and parameters are aligned, and how large they are.
//!
//! A declaration may say it (`.align`); else a scalar, or an array of scalars, is aligned to the size of its type, and
//! a vector to that of the whole vector
//! ([alignment](https://docs.nvidia.com/cuda/parallel-thread-execution/#alignment)). What a `.ptr` says is about what
//! a pointer points to, and not about the parameter.

use crate::constant;
use crate::names::DeclKind;
use crate::tree::{DeclId, Module, NodeKind, StmtId};
use hashbrown::{HashMap, HashSet};

/// How many bytes what is opaque is taken to have: a handle.
pub const OPAQUE: u32 = 8;

/// The memory that a variable or parameter takes, as it is declared.
#[derive(Clone, Debug)]
pub struct Extent {
    /// What is declared.
    pub decl: DeclId,
    /// Its alignment in bytes as it is declared, or else as its type has it; at least 1.
    pub align: u32,
    /// How many bytes an element has; `None` for what is opaque, as textures are.
    pub element: Option<u32>,
    /// How many elements it has in each dimension, of which the first may be open
    /// ([arrays](https://docs.nvidia.com/cuda/parallel-thread-execution/#array-declarations)); none if it is no array.
    pub dimensions: Vec<Option<u64>>,
}

impl Extent {
    /// How many bytes it has, if all dimensions are known.
    fn size(&self) -> Option<u64> {
        let bytes = self.element.map(u64::from);
        self.dimensions.iter().fold(bytes, |bytes, dimension| bytes?.checked_mul((*dimension)?))
    }
}

/// The variables and parameters that a statement declares, in the order of the text.
#[must_use]
#[expect(clippy::wildcard_enum_match_arm, reason = "other nodes say nothing of memory")]
pub fn extents(module: &Module<'_>, stmt: StmtId) -> Vec<Extent> {
    let mut found: Vec<Extent> = Vec::new();
    let (mut align, mut pointer) = (None, false);
    for node in module.stmt_nodes(stmt) {
        let number = || module.children(node).first().and_then(|&number| constant::value(module, number));
        match module.node_kind(node) {
            NodeKind::Directive => match module.node_text(node) {
                b".ptr" => pointer = true,
                // Another parameter begins.
                b".param" | b".reg" => (align, pointer) = (None, false),
                _ => {}
            },
            NodeKind::Align if !pointer => align = number().and_then(|number| u32::try_from(number).ok()),
            NodeKind::Declared => {
                let Some(decl) = module.decl_of(node) else { continue };
                let declared = module.decl(decl);
                if matches!(declared.kind, DeclKind::Variable | DeclKind::Parameter | DeclKind::Register) {
                    let element = declared.ty.bits().map(|bits| bits / 8 * u32::from(declared.lanes));
                    let align = align.unwrap_or(element.unwrap_or(OPAQUE).next_power_of_two()).max(1);
                    found.push(Extent { decl, align, element, dimensions: Vec::new() });
                }
            }
            NodeKind::Dimension => {
                let Some(last) = found.last_mut() else { continue };
                last.dimensions.push(number());
            }
            _ => {}
        }
    }
    found
}

/// The memory of variables and parameters that were asked for: each declaration is looked through once, since one of a
/// thousand parameters is asked for as often.
#[derive(Clone, Debug, Default)]
pub struct Extents {
    known: HashMap<DeclId, Extent>,
    seen: HashSet<StmtId>,
}

impl Extents {
    /// The memory of a variable or parameter; `None` for what else is declared.
    fn of(&mut self, module: &Module<'_>, decl: DeclId) -> Option<&Extent> {
        let declared = module.decl(decl);
        if !matches!(declared.kind, DeclKind::Variable | DeclKind::Parameter) {
            return None;
        }
        if self.seen.insert(declared.stmt) {
            let all = extents(module, declared.stmt).into_iter();
            self.known.extend(all.map(|extent| (extent.decl, extent)));
        }
        self.known.get(&decl)
    }

    /// How many of the lowest bits of the address of a variable or parameter are zero.
    pub fn zero_bits(&mut self, module: &Module<'_>, decl: DeclId) -> u32 {
        self.of(module, decl).map_or(0, |extent| extent.align.trailing_zeros())
    }

    /// How many bytes a variable or parameter has, if that is declared.
    pub fn size(&mut self, module: &Module<'_>, decl: DeclId) -> Option<u64> {
        self.of(module, decl)?.size().filter(|&bytes| bytes > 0)
    }
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
        let mut extents = Extents::default();
        let sizes: Vec<(String, Option<u64>)> = module
            .decls()
            .map(|decl| {
                let name = String::from_utf8_lossy(module.decl_name(decl)).into_owned();
                (name, extents.size(&module, decl))
            })
            .collect();
        let of = |name: &str| sizes.iter().find(|(other, _)| other == name).expect("it is declared").1;
        assert_eq!(["table", "pair", "a", "b", "c"].map(of), [24, 4, 8, 3, 8].map(Some));
        assert_eq!(["open", "k"].map(of), [None, None]);
    }
}
