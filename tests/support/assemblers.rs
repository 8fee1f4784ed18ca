//! NVIDIA's assemblers in the versions that the tests and the developer commands know, where `sh .ci/tools` puts them.

use ptxopt::measure::{Assembler, AssemblerFailure, Measured};
use std::path::{Path, PathBuf};

/// The versions, the newest first, each with the lowest target that it takes.
pub(crate) const VERSIONS: [(&str, u32); 3] = [("13.5", 75), ("12.9", 50), ("11.8", 35)];

/// The assemblers.
pub(crate) struct Assemblers {
    list: Vec<(Assembler, u32)>,
}

/// Where they are looked for.
pub(crate) fn folder() -> PathBuf {
    std::env::var_os("PTXOPT_NVIDIA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target/nvidia"), PathBuf::from)
}

impl Assemblers {
    /// `None` where one of them is absent.
    #[allow(dead_code, reason = "not all that share this file ask for them")]
    pub(crate) fn installed() -> Option<Self> {
        let folder = folder();
        let one = |(version, lowest)| {
            let program = folder.join(version).join("ptxas");
            let found = program.is_file().then(|| Assembler::at(program).expect("it runs"));
            Some((found?, lowest))
        };
        let list = VERSIONS.into_iter().map(one).collect::<Option<Vec<_>>>()?;
        Some(Self { list })
    }

    /// One version.
    #[allow(dead_code, reason = "not all that share this file ask for one")]
    pub(crate) fn version(&self, version: &str) -> &Assembler {
        let known = VERSIONS.iter().position(|(known, _)| *known == version);
        &self.list[known.expect("the version is a known one")].0
    }

    /// The newest one that takes a target such as `sm_90a`.
    #[allow(dead_code, reason = "not all that share this file ask for it")]
    pub(crate) fn fitting(&self, target: &str) -> Option<&Assembler> {
        let number: u32 =
            target.trim_start_matches("sm_").trim_end_matches(char::is_alphabetic).parse().ok()?;
        self.list.iter().find(|(_, lowest)| *lowest <= number).map(|(assembler, _)| assembler)
    }

    /// What the newest assembler that takes a target makes of `text` for it.
    #[allow(dead_code, reason = "not all that share this file ask for it")]
    pub(crate) fn measure(&self, text: &[u8], target: &str) -> Result<Measured, AssemblerFailure> {
        let none = || AssemblerFailure::Missing(format!("no assembler takes `{target}`"));
        self.fitting(target).ok_or_else(none)?.assemble(text, target)
    }
}
