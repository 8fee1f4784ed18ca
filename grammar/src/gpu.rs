//! The GPU that a module is for, and which instructions it has.
//!
//! An unknown name is refused, so a [`Gpu`] always has a number. The needs of a form are compared with that number
//! alone, as NVIDIA's assembler does.

use crate::header::{first_version, targets};
use crate::table::Needs;
use crate::tree::{Module, StmtKind};
use std::fmt;

/// The oldest GPU that any assembler whose costs were measured can write code for; older ones are not listed.
const OLDEST: u32 = 20;

/// A target: `sm_90`, `sm_90a`, `sm_120f`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Gpu {
    number: u32,
    suffix: Suffix,
}

/// For which other GPUs the code of a target is good.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Suffix {
    /// None: for all later ones.
    Portable,
    /// `f`: for the later ones of its family.
    Family,
    /// `a`: for no other.
    Architecture,
}

impl Suffix {
    /// The letter; empty for none.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Portable => "",
            Self::Family => "f",
            Self::Architecture => "a",
        }
    }

    /// A number and what follows it.
    fn split(text: &str) -> Option<(u32, Self)> {
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, letter) = text.split_at(end);
        let all = [Self::Portable, Self::Family, Self::Architecture];
        let suffix = all.into_iter().find(|suffix| suffix.word() == letter)?;
        Some((number.parse().ok()?, suffix))
    }
}

impl Gpu {
    /// The target with this name: `sm_90`, or `compute_90`, which means the same.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let (number, suffix) =
            Suffix::split(name.strip_prefix("sm_").or_else(|| name.strip_prefix("compute_"))?)?;
        Some(Self { number, suffix })
    }

    /// The GPU that a user means: `sm_90`, `compute_90` or just `90`, with a suffix or without.
    ///
    /// # Errors
    ///
    /// What names there are, if this is none.
    pub fn named(name: &str) -> Result<Self, String> {
        let bare = Suffix::split(name).map(|(number, suffix)| Self { number, suffix });
        let found = bare.or_else(|| Self::parse(name)).filter(|&gpu| Self::known().any(|known| known == gpu));
        found.ok_or_else(|| {
            let all: Vec<Self> = Self::known().collect();
            let names = all.chunk_by(|one, next| one.number == next.number).map(|same| {
                let letters: Vec<&str> = same[1..].iter().map(|gpu| gpu.suffix.word()).collect();
                let letters =
                    if letters.is_empty() { String::new() } else { format!("[{}]", letters.join("|")) };
                format!("sm_{}{letters}", same[0].number)
            });
            format!("there is no such GPU; known are {}", names.collect::<Vec<_>>().join(", "))
        })
    }

    /// The first version of PTX, major and minor, that has this target; `None` for one that is newer than all known.
    #[must_use]
    pub fn first_version(self) -> Option<(u8, u8)> {
        first_version(&format!("{}{}", self.number, self.suffix.word()))
    }

    /// The GPUs that NVIDIA's assemblers name.
    pub fn known() -> impl Iterator<Item = Self> {
        let all = targets().filter_map(Suffix::split).map(|(number, suffix)| Self { number, suffix });
        all.filter(|gpu| gpu.number >= OLDEST)
    }

    /// Whether code for `target` runs on this GPU: on later ones, on those of a family, or on the GPU itself alone.
    #[must_use]
    pub fn runs(self, target: Self) -> bool {
        match target.suffix {
            Suffix::Portable => self.number >= target.number,
            Suffix::Family => self.number >= target.number && family(self.number) == family(target.number),
            Suffix::Architecture => self.number == target.number,
        }
    }

    /// The target of a module; `None` if its `.target` names no GPU of NVIDIA's numbering.
    #[must_use]
    pub fn of(module: &Module<'_>) -> Option<Self> {
        let stmt = module.stmts().find(|&stmt| module.kind(stmt) == StmtKind::Target)?;
        let text = std::str::from_utf8(module.stmt_text(stmt)).ok()?;
        let mut words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        words.find_map(Self::parse)
    }

    /// Its number: 90 of `sm_90a`.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.number
    }

    /// Its suffix: `a` of `sm_90a`.
    #[must_use]
    pub const fn suffix(self) -> Suffix {
        self.suffix
    }

    /// Whether this GPU has a form with these needs, in a module of PTX version `ptx`.
    #[must_use]
    pub fn has(self, needs: &Needs, ptx: (u8, u8)) -> bool {
        let mut targets = needs.targets.split(' ').filter(|target| !target.is_empty()).peekable();
        ptx >= needs.ptx && (targets.peek().is_none() || targets.any(|target| self.fits(target)))
    }

    /// Whether it is one of the GPUs that one word of [`Needs::targets`] stands for.
    fn fits(self, target: &str) -> bool {
        if let Some((first, last)) = target.split_once("..") {
            let bound = |text: &str| text.parse::<u32>().expect("the table's ranges are of numbers");
            return (bound(first)..=bound(last)).contains(&self.number);
        }
        let (number, suffix) = Suffix::split(target).expect("the table's targets are numbers with a suffix");
        match suffix {
            Suffix::Portable => self.number >= number,
            Suffix::Family => {
                self.suffix != Suffix::Portable
                    && self.number >= number
                    && family(self.number) == family(number)
            }
            Suffix::Architecture => self == Self { number, suffix },
        }
    }
}

/// The oldest GPU of a family; 101 and 110 are two names of one GPU.
const fn family(number: u32) -> u32 {
    match number {
        100 | 103 => 100,
        101 | 110 => 101,
        120 | 121 => 120,
        other => other,
    }
}

impl fmt::Display for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}{}", self.number, self.suffix.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gpu(name: &str) -> Gpu {
        Gpu::parse(name).expect("it is a target")
    }

    #[test]
    fn names_are_read_and_written() {
        for name in ["sm_35", "sm_90", "sm_90a", "sm_120f"] {
            assert_eq!(gpu(name).to_string(), name);
        }
        assert_eq!(gpu("compute_90"), gpu("sm_90"));
        assert_eq!((gpu("sm_90a").number(), gpu("sm_90a").suffix()), (90, Suffix::Architecture));
        for name in ["", "sm_", "sm_x", "sm_90b", "90", "sm_90 ", "sm_99999999999"] {
            assert_eq!(Gpu::parse(name), None, "{name}");
        }
    }

    #[test]
    fn users_name_gpus_in_three_ways() {
        for name in ["sm_90a", "compute_90a", "90a"] {
            assert_eq!(Gpu::named(name), Ok(gpu("sm_90a")));
        }
        for name in ["20", "sm_75", "sm_120f", "121a"] {
            assert!(Gpu::named(name).is_ok(), "{name}");
        }
        for name in ["", "sm_", "sm_999", "89a", "sm_90f", "hopper", "sm_90 "] {
            let why = Gpu::named(name).expect_err(name);
            assert!(why.contains("sm_20, sm_21,") && why.contains("sm_90[a], sm_100[a|f]"), "{why}");
        }
    }

    #[test]
    fn code_runs_on_later_gpus_on_its_family_or_on_its_own() {
        for (target, on, runs) in [
            ("sm_75", "sm_90a", true),
            ("sm_90", "sm_90", true),
            ("sm_90", "sm_75", false),
            ("sm_90a", "sm_90", true),
            ("sm_90a", "sm_100", false),
            ("sm_100f", "sm_103", true),
            ("sm_103f", "sm_100", false),
            ("sm_100f", "sm_120", false),
        ] {
            assert_eq!(gpu(on).runs(gpu(target)), runs, "{target} on {on}");
        }
    }

    #[test]
    fn a_module_says_what_it_is_for() {
        for (text, name) in [
            (".version 8.0\n.target sm_90a, debug\n.address_size 64\n", Some("sm_90a")),
            (".version 8.0 .target\ttexmode_independent,compute_75 // sm_20\n", Some("sm_75")),
            (".version 8.0\n.target texmode_unified\n", None),
        ] {
            let module = crate::parse(text.as_bytes()).expect("it is a module");
            assert_eq!(Gpu::of(&module).map(|gpu| gpu.to_string()).as_deref(), name);
        }
    }

    #[test]
    fn needs_are_met_or_not() {
        let has = |name, words: &str, ptx| {
            let row = crate::table::lookup(words.as_bytes()).expect("the table has it");
            gpu(name).has(&row.needs(words.as_bytes()), ptx)
        };
        assert!(has("sm_90", "min.u16x2", (8, 0)) && !has("sm_90", "min.u16x2", (7, 8)));
        assert!(!has("sm_89", "min.u16x2", (8, 0)));
        assert!(!has("sm_120", "min.u8x4", (9, 2)), "only the family has it");
        for name in ["sm_120f", "sm_120a", "sm_121f", "sm_107a"] {
            assert!(has(name, "min.u8x4", (9, 2)), "{name}");
        }
        assert!(has("sm_20", "add.u32", (1, 0)));
        let needs = Needs { ptx: (1, 0), targets: "30..62 100f" };
        let meets = |name| gpu(name).has(&needs, (9, 0));
        assert!(meets("sm_30") && meets("sm_62") && meets("sm_103a") && meets("sm_100f"));
        assert!(!meets("sm_70") && !meets("sm_100") && !meets("sm_107f") && !meets("sm_120f"));
    }
}
