//! The special registers: how wide they are, and which values they can have.
//!
//! Source: <https://docs.nvidia.com/cuda/parallel-thread-execution/#special-registers>, of all targets that PTX still
//! has. A value is the same number wherever it is read; a move to fewer bits takes the lowest ones. What a launch or
//! another register says besides, such as that a thread's place is below the size of its block, is not in the table.

/// What is known of a special register, or of a component of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Special {
    /// How many bits it has.
    pub bits: u32,
    /// The least value.
    pub least: u64,
    /// The greatest value.
    pub most: u64,
}

/// A special register without its components: its name, how many bits each has, and the least and the greatest value of
/// each; none where these are all numbers of so many bits. All components of a vector that has only one entry are alike.
type Row = (&'static str, u32, &'static [(u64, u64)]);

/// Threads of a block in each direction, and their places.
const THREADS: &[(u64, u64)] = &[(1, 1024), (1, 1024), (1, 64), (0, 0)];
const THREAD: &[(u64, u64)] = &[(0, 1023), (0, 1023), (0, 63), (0, 0)];
/// Blocks of a grid in each direction, and their places.
const BLOCKS: &[(u64, u64)] = &[(1, 0x7fff_ffff), (1, 0xffff), (1, 0xffff), (0, 0)];
const BLOCK: &[(u64, u64)] = &[(0, 0x7fff_fffe), (0, 0xfffe), (0, 0xfffe), (0, 0)];

/// The special registers, without the numbers of families.
const REGISTERS: &[Row] = &[
    ("%aggr_smem_size", 32, &[]),
    ("%clock", 32, &[]),
    ("%clock64", 64, &[]),
    ("%clock_hi", 32, &[]),
    ("%cluster_ctaid", 32, &[]),
    ("%cluster_ctarank", 32, &[]),
    ("%cluster_nctaid", 32, &[]),
    ("%cluster_nctarank", 32, &[]),
    ("%clusterid", 32, &[]),
    ("%ctaid", 32, BLOCK),
    ("%current_graph_exec", 64, &[]),
    ("%dynamic_smem_size", 32, &[]),
    ("%globaltimer", 64, &[]),
    ("%globaltimer_hi", 32, &[]),
    ("%globaltimer_lo", 32, &[]),
    ("%gridid", 64, &[]),
    ("%is_explicit_cluster", 1, &[]),
    ("%laneid", 32, &[(0, 31)]),
    ("%lanemask_eq", 32, &[(1, 1 << 31)]),
    ("%lanemask_ge", 32, &[(1 << 31, 0xffff_ffff)]),
    ("%lanemask_gt", 32, &[(0, 0xffff_fffe)]),
    ("%lanemask_le", 32, &[(1, 0xffff_ffff)]),
    ("%lanemask_lt", 32, &[(0, 0x7fff_ffff)]),
    ("%nclusterid", 32, &[]),
    ("%nctaid", 32, BLOCKS),
    ("%nsmid", 32, &[]),
    ("%ntid", 32, THREADS),
    ("%nwarpid", 32, &[]),
    ("%reserved_smem_offset_begin", 32, &[]),
    ("%reserved_smem_offset_cap", 32, &[]),
    ("%reserved_smem_offset_end", 32, &[]),
    ("%smid", 32, &[]),
    ("%tid", 32, THREAD),
    ("%total_smem_size", 32, &[]),
    ("%warpid", 32, &[]),
];

/// Special registers that come in numbers: the prefix, the suffix, how many, and how many bits each has.
const FAMILIES: &[(&str, &str, u32, u32)] = &[
    ("%envreg", "", 32, 32),
    ("%pm", "", 8, 32),
    ("%pm", "_64", 8, 64),
    ("%reserved_smem_offset_", "", 2, 32),
];

/// The components of a vector.
const COMPONENTS: [&str; 4] = ["x", "y", "z", "w"];

/// Whether `base`, a name without suffix, is a special register where nothing shadows it.
#[must_use]
pub fn is_special_register(base: &[u8]) -> bool {
    row(base).is_some()
}

/// The special register that a text without blanks names, with the component of a vector.
#[must_use]
pub fn special(text: &[u8]) -> Option<Special> {
    let dot = text.iter().position(|&byte| byte == b'.').unwrap_or(text.len());
    let (bits, ranges) = row(&text[..dot])?;
    let all = u64::MAX >> (64 - bits);
    let range = match text.get(dot + 1..) {
        None => ranges.first().filter(|_| ranges.len() < COMPONENTS.len()),
        Some(component) => {
            let at = COMPONENTS.iter().position(|name| name.as_bytes() == component);
            at.and_then(|at| ranges.get(at))
        }
    };
    let (least, most) = range.copied().unwrap_or((0, all));
    Some(Special { bits, least, most })
}

/// How wide a special register is, and the ranges of its components.
fn row(base: &[u8]) -> Option<(u32, &'static [(u64, u64)])> {
    let name = std::str::from_utf8(base).ok().filter(|name| name.starts_with('%'))?;
    if let Ok(at) = REGISTERS.binary_search_by_key(&name, |&(name, ..)| name) {
        let (_, bits, ranges) = REGISTERS[at];
        return Some((bits, ranges));
    }
    let has = |&&(prefix, suffix, count, _): &&(&str, &str, u32, u32)| {
        let number = name.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(suffix));
        number.and_then(|number| number.parse::<u32>().ok()).is_some_and(|number| number < count)
    };
    FAMILIES.iter().find(has).map(|&(_, _, _, bits)| (bits, &[][..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_registers_are_sorted() {
        assert!(REGISTERS.is_sorted_by_key(|&(name, ..)| name));
    }

    #[test]
    fn components_have_ranges_of_their_own() {
        let range = |text: &str| special(text.as_bytes()).map(|known| (known.bits, known.least, known.most));
        assert_eq!(range("%laneid"), Some((32, 0, 31)));
        assert_eq!(range("%tid.x"), Some((32, 0, 1023)));
        assert_eq!(range("%tid.z"), Some((32, 0, 63)));
        assert_eq!(range("%ntid.z"), Some((32, 1, 64)));
        assert_eq!(range("%tid.w"), Some((32, 0, 0)));
        assert_eq!(range("%tid"), Some((32, 0, 0xffff_ffff)));
        assert_eq!(range("%tid.q"), Some((32, 0, 0xffff_ffff)));
        assert_eq!(range("%clock64"), Some((64, 0, u64::MAX)));
        assert_eq!(range("%envreg31"), Some((32, 0, 0xffff_ffff)));
        assert_eq!(range("%pm7_64"), Some((64, 0, u64::MAX)));
        for unknown in ["%envreg32", "%pm8", "laneid", "%r1", "%tid_x", ""] {
            assert_eq!(range(unknown), None, "{unknown}");
        }
    }
}
