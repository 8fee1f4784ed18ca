//! Whether a launch is one that its entry can have: shapes, arguments, shared memory.
//!
//! All of it is checked before anything runs, against the limits of the manual and the directives of the entry, so a
//! fault during the run is the program's and not that of its launch.

use super::code::{Demands, Function, Parameter};
use super::outcome::list;
use super::{Argument, Launch, Memory};
use ptxopt_grammar::names::Type;

/// The most shared memory that a block has on any GPU up to compute capability 12.
const MOST_SHARED: u32 = 227 * 1024;

/// Whether a type is one of floating-point numbers.
fn is_float(ty: Type) -> bool {
    use Type::{Bf16, Bf16x2, F16, F16x2, F32, F64};
    matches!(ty, F16 | F16x2 | Bf16 | Bf16x2 | F32 | F64)
}

/// Whether a type says nothing of how its bits are meant.
fn is_bits(ty: Type) -> bool {
    matches!(ty, Type::B8 | Type::B16 | Type::B32 | Type::B64 | Type::B128)
}

impl Parameter {
    /// How it is declared.
    fn declared(&self) -> String {
        let word = self.ty.word();
        match self.ty.bits() {
            Some(bits) if self.array => format!("{word}[{}]", self.size * 8 / bits),
            _ => word.to_owned(),
        }
    }

    /// The bytes that an argument gives it, or what is wrong.
    fn bytes(&self, argument: &Argument, memory: &Memory) -> Result<Vec<u8>, String> {
        let size = self.size as usize;
        let mut bytes = match argument {
            Argument::Bytes(bytes) if bytes.len() == size => return Ok(bytes.clone()),
            Argument::Bytes(bytes) => return Err(counted(bytes.len(), "byte")),
            Argument::Buffer(buffer) => {
                let address = if memory.shift == 32 { 8 } else { 4 };
                if size != address || is_float(self.ty) {
                    return Err(format!("a buffer, whose address has {} bits", 8 * address));
                }
                memory.address(*buffer).to_le_bytes()
            }
            Argument::Number(_) if self.array => return Err("a number".to_owned()),
            Argument::Number(value) => {
                let bits = self.size * 8;
                let fits = bits >= 64 || value >> bits == 0 || value.cast_signed() >> (bits - 1) == -1;
                if !fits {
                    return Err(format!("{value}, which does not fit"));
                }
                value.to_le_bytes()
            }
            Argument::Typed(ty, value) => {
                let same_kind = is_float(*ty) == is_float(self.ty) || is_bits(self.ty) || is_bits(*ty);
                if self.array || ty.bits() != self.ty.bits() || !same_kind {
                    return Err(ty.word().trim_start_matches('.').to_owned());
                }
                value.to_le_bytes()
            }
        }
        .to_vec();
        bytes.resize(size, 0);
        Ok(bytes)
    }
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Puts the arguments where the parameters lie, or says why they do not suit.
pub(super) fn parameters(
    function: &Function,
    arguments: &[Argument],
    memory: &Memory,
) -> Result<Vec<u8>, String> {
    let (name, wanted, given) = (&function.name, function.parameters.len(), arguments.len());
    if wanted != given {
        let list: Vec<_> =
            function.parameters.iter().map(|p| format!("{} `{}`", p.declared(), p.name)).collect();
        let list = if list.is_empty() { String::new() } else { format!(" ({})", list.join(", ")) };
        let given = if given == 1 { "1 was".to_owned() } else { format!("{given} were") };
        return Err(format!("`{name}` takes {}{list}, {given} given", counted(wanted, "argument")));
    }
    let mut bytes = vec![0; function.parameter_bytes as usize];
    for (number, (parameter, argument)) in function.parameters.iter().zip(arguments).enumerate() {
        let value = parameter.bytes(argument, memory).map_err(|given| {
            let (name, declared) = (&parameter.name, parameter.declared());
            format!("parameter {number} (`{name}`) is declared {declared}, but was given {given}")
        })?;
        bytes[parameter.offset as usize..][..value.len()].copy_from_slice(&value);
    }
    Ok(bytes)
}

/// The product of three sizes.
pub(super) fn product(shape: [u32; 3]) -> u64 {
    shape.iter().fold(1, |product: u64, &size| product.saturating_mul(size.into()))
}

/// Checks the shapes of a launch and its shared memory.
pub(super) fn shapes(function: &Function, static_shared: u32, launch: &Launch) -> Result<(), String> {
    let Demands { block, most, cluster } = function.demands;
    let (name, threads) = (&function.name, product(launch.block));
    let [x, y, z] = launch.block;
    if !(1..=1024).contains(&threads) || x > 1024 || y > 1024 || z > 64 {
        let given = list(launch.block);
        return Err(format!("a block has 1 to 1024 threads, at most 64 of them along z; given: {given}"));
    }
    let [x, y, z] = launch.grid;
    if product(launch.grid) == 0 || x > i32::MAX.cast_unsigned() || y > 0xffff || z > 0xffff {
        let given = list(launch.grid);
        return Err(format!(
            "a grid has at least one block and at most (2147483647, 65535, 65535); given: {given}"
        ));
    }
    if let Some(block) = block.filter(|&block| block != launch.block) {
        let (wanted, given) = (list(block), list(launch.block));
        return Err(format!(
            "`{name}` demands blocks of {wanted} threads (`.reqntid`), but they have {given}"
        ));
    }
    if let Some(most) = most.map(product).filter(|&most| threads > most) {
        return Err(format!(
            "`{name}` takes blocks of at most {most} threads (`.maxntid`), but they have {threads}"
        ));
    }
    if let Some(cluster) = cluster
        && launch.grid.iter().zip(cluster).any(|(&blocks, size)| size == 0 || blocks % size != 0)
    {
        let (wanted, given) = (list(cluster), list(launch.grid));
        return Err(format!(
            "`{name}` demands clusters of {wanted} blocks (`.reqnctapercluster`), but the grid has {given} blocks"
        ));
    }
    if u64::from(static_shared) + u64::from(launch.dynamic_shared) > MOST_SHARED.into() {
        let dynamic = launch.dynamic_shared;
        return Err(format!(
            "a block has at most {MOST_SHARED} bytes of shared memory; `{name}` has {static_shared} of its own, and {dynamic} \
             dynamic ones were asked for"
        ));
    }
    Ok(())
}
