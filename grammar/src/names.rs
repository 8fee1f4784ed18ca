//! Declarations, types and scopes: what a name can mean.

use crate::tree::{Module, ScopeId, StmtId, TokenId};

/// Whether a byte may stand in a name
/// ([identifiers](https://docs.nvidia.com/cuda/parallel-thread-execution/#identifiers)).
#[must_use]
pub const fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'%' | b'_' | b'$')
}

/// A declared name, or a family of them.
#[derive(Clone, Copy, Debug)]
pub struct Decl {
    /// The token that declares it.
    pub name: TokenId,
    /// The statement that the token belongs to.
    pub stmt: StmtId,
    /// What it declares.
    pub kind: DeclKind,
    /// The type of a register, variable or parameter.
    pub ty: Type,
    /// 2, 4 or 8 for a vector, else 1.
    pub lanes: u8,
    /// The scope in which it is in force; for the parameters of a function without a body, the module.
    pub scope: ScopeId,
    /// For `%r<5>`, five: the names `%r0` to `%r4`. `None` for a single name.
    pub family: Option<u32>,
}

/// What a declaration declares.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum DeclKind {
    /// A register or a family of registers; a register parameter too.
    Register,
    /// A variable in a state space.
    Variable,
    /// A `.param` of a function.
    Parameter,
    /// An entry or a function.
    Function,
    /// A label.
    Label,
    /// The label of a list of targets or of a call prototype.
    Table,
    /// A label in a debug section.
    SectionLabel,
}

impl DeclKind {
    /// What messages call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Register => "register",
            Self::Variable => "variable",
            Self::Parameter => "parameter",
            Self::Function => "function",
            Self::Label | Self::SectionLabel => "label",
            Self::Table => "table",
        }
    }
}

/// A region of text in which declarations are in force: the module, a body, a `{ }` in a body.
#[derive(Clone, Copy, Debug)]
pub struct Scope {
    /// The scope around it; `None` for the module.
    pub parent: Option<ScopeId>,
    /// The brace that opens it; `None` for the module.
    pub open: Option<StmtId>,
}

macro_rules! types {
    ($($(#[$doc:meta])* $name:ident $word:literal $bits:literal)*) => {
        /// The type of a register, variable or parameter, or of an instruction.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum Type {
            /// No type at all.
            None,
            /// A word in the place of a type that is not one; a module with such a declaration is not legal.
            Unknown,
            $($(#[$doc])* $name,)*
        }

        impl Type {
            /// All types, in the order of their numbers.
            pub(crate) const ALL: &[Self] = &[Self::None, Self::Unknown, $(Self::$name,)*];

            /// The type that `word`, with its dot, spells.
            #[must_use]
            pub fn parse(word: &[u8]) -> Self {
                match std::str::from_utf8(word) {
                    $(Ok($word) => Self::$name,)*
                    Ok(_) | Err(_) => Self::Unknown,
                }
            }

            /// How it is written, with its dot; empty for none.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self {
                    Self::None | Self::Unknown => "",
                    $(Self::$name => $word,)*
                }
            }

            /// How many bits it has; `None` for a predicate and what has no size.
            #[must_use]
            pub fn bits(self) -> Option<u32> {
                let bits = match self {
                    Self::None | Self::Unknown => 0,
                    $(Self::$name => $bits,)*
                };
                (bits > 0).then_some(bits)
            }
        }
    };
}

types! {
    /// `.u8`
    U8 ".u8" 8
    /// `.u16`
    U16 ".u16" 16
    /// `.u32`
    U32 ".u32" 32
    /// `.u64`
    U64 ".u64" 64
    /// `.s8`
    S8 ".s8" 8
    /// `.s16`
    S16 ".s16" 16
    /// `.s32`
    S32 ".s32" 32
    /// `.s64`
    S64 ".s64" 64
    /// `.b8`
    B8 ".b8" 8
    /// `.b16`
    B16 ".b16" 16
    /// `.b32`
    B32 ".b32" 32
    /// `.b64`
    B64 ".b64" 64
    /// `.b128`
    B128 ".b128" 128
    /// `.f16`
    F16 ".f16" 16
    /// `.f16x2`
    F16x2 ".f16x2" 32
    /// `.bf16`
    Bf16 ".bf16" 16
    /// `.bf16x2`
    Bf16x2 ".bf16x2" 32
    /// `.f32`
    F32 ".f32" 32
    /// `.f64`
    F64 ".f64" 64
    /// `.e2m1x4`
    E2m1x4 ".e2m1x4" 16
    /// `.e2m3x4`
    E2m3x4 ".e2m3x4" 32
    /// `.e3m2x4`
    E3m2x4 ".e3m2x4" 32
    /// `.ue8m0x4`
    Ue8m0x4 ".ue8m0x4" 32
    /// `.pred`
    Pred ".pred" 0
    /// `.texref`
    Texref ".texref" 0
    /// `.samplerref`
    Samplerref ".samplerref" 0
    /// `.surfref`
    Surfref ".surfref" 0
}

impl Type {
    /// Whether it is a type that the manual names.
    #[must_use]
    pub fn is_known(self) -> bool {
        !matches!(self, Self::None | Self::Unknown)
    }

    /// Whether registers and variables may have it; the other types are those of instructions alone.
    #[must_use]
    pub fn is_declared(self) -> bool {
        self.is_known() && !matches!(self, Self::Bf16 | Self::Bf16x2)
    }
}

/// A name as it stands in the text, cut into its parts: `%r01` is element 1 of the family `%r`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameParts<'t> {
    /// The whole name, without any suffix after a dot.
    pub base: &'t [u8],
    /// The name without its trailing digits.
    pub prefix: &'t [u8],
    /// The number that the trailing digits are, modulo 2^32 as the assembler takes it; `None` without digits.
    pub index: Option<u32>,
    /// What follows the first dot: a selector, a component.
    pub suffix: Option<&'t [u8]>,
}

impl<'t> NameParts<'t> {
    /// Cuts `name`.
    #[must_use]
    pub fn new(name: &'t [u8]) -> Self {
        // In one pass: a digit continues the number, any other byte ends the prefix after itself and resets the number.
        let (mut end, mut stem, mut index) = (name.len(), 0, 0_u32);
        for (at, &byte) in name.iter().enumerate() {
            match byte {
                b'0'..=b'9' => index = index.wrapping_mul(10).wrapping_add(u32::from(byte - b'0')),
                b'.' => {
                    end = at;
                    break;
                }
                _ => (stem, index) = (at + 1, 0),
            }
        }
        let base = &name[..end];
        Self {
            base,
            prefix: &base[..stem],
            index: (stem < end).then_some(index),
            suffix: name.get(end + 1..),
        }
    }
}

/// Which register of its declaration a name means. Different spellings may mean the same register: `%r01` and `%r1` of
/// a family, `%v.r` and `%v.x` of a vector.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Part {
    /// The element of a family; 0 if the declaration is not a family.
    pub element: u32,
    /// The component of a vector.
    pub component: Component,
}

/// A component of a vector.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Component {
    /// The whole of a vector, or a scalar.
    #[default]
    Whole,
    /// One component, counted from 0.
    One(u8),
    /// A suffix that names no component.
    Unknown,
}

impl Component {
    fn named(suffix: &[u8]) -> Self {
        match suffix {
            b"x" | b"r" => Self::One(0),
            b"y" | b"g" => Self::One(1),
            b"z" | b"b" => Self::One(2),
            b"w" | b"a" => Self::One(3),
            _ => Self::Unknown,
        }
    }
}

impl std::fmt::Display for Component {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Whole => Ok(()),
            Self::One(lane) => write!(f, ".{}", ["x", "y", "z", "w"][usize::from(*lane)]),
            Self::Unknown => f.write_str(".?"),
        }
    }
}

impl<'t> Module<'t> {
    /// The register that a name means: its declaration, and which part of it; `None` if it names no register.
    #[must_use]
    pub fn register_of(&self, name: crate::tree::NodeId) -> Option<(crate::tree::DeclId, Part)> {
        let decl = self.decl_of(name)?;
        let declared = self.decl(decl);
        let parts = NameParts::new(self.node_text(name));
        let element = declared.family.map_or(0, |_| parts.index.unwrap_or(0));
        let suffix = parts.suffix.filter(|_| declared.lanes > 1);
        let component = suffix.map_or(Component::Whole, Component::named);
        (declared.kind == DeclKind::Register).then_some((decl, Part { element, component }))
    }

    /// The registers that a name means: all components of a vector that is named as a whole.
    pub fn registers_of(
        &self,
        name: crate::tree::NodeId,
    ) -> impl Iterator<Item = (crate::tree::DeclId, Part)> + use<'t> {
        let found = self.register_of(name);
        let lanes = found.map_or(1, |(decl, _)| self.decl(decl).lanes);
        found.into_iter().flat_map(move |(decl, part)| {
            let all = lanes > 1 && part.component == Component::Whole;
            (0..if all { lanes } else { 1 }).map(move |lane| {
                let component = if all { Component::One(lane) } else { part.component };
                (decl, Part { component, ..part })
            })
        })
    }

    /// The canonical name of a register, independent of how the text spells it.
    #[must_use]
    pub fn register_name(&self, decl: crate::tree::DeclId, part: Part) -> String {
        let name = String::from_utf8_lossy(self.decl_name(decl));
        let element = self.decl(decl).family.map(|_| part.element.to_string()).unwrap_or_default();
        format!("{name}{element}{}", part.component)
    }

    /// The name that a declaration declares; of a family, without its size.
    #[must_use]
    pub fn decl_name(&self, decl: crate::tree::DeclId) -> &'t [u8] {
        &self.text[self.tokens.span(self.decl(decl).name)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_split_off_greedily() {
        let parts = NameParts::new(b"%q1501.b0");
        assert_eq!((parts.prefix, parts.index), (b"%q".as_slice(), Some(1501)));
        assert_eq!(parts.suffix, Some(b"b0".as_slice()));
    }

    #[test]
    fn index_wraps_as_in_the_assembler() {
        assert_eq!(NameParts::new(b"%q18446744073709551617").index, Some(1));
        assert_eq!(NameParts::new(b"%q00000000000000000004").index, Some(4));
    }
}
