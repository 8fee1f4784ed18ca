//! NVIDIA's options: their names, and which of them take a value.

use std::ffi::OsStr;

/// The options that take a value, which is the next argument or follows an equals sign: long and short names.
const WITH_VALUE: [(&str, &str); 26] = [
    ("Ofast-compile", "Ofc"),
    ("allow-expensive-optimizations", "allow-expensive-optimizations"),
    ("apply-controls", "apply-controls"),
    ("def-load-cache", "dlcm"),
    ("def-store-cache", "dscm"),
    ("device-function-maxrregcount", "func-maxrregcount"),
    ("device-stack-protector", "device-stack-protector"),
    ("enable-func-clone-sc", "enable-func-clone-sc"),
    ("entry", "e"),
    ("fmad", "fmad"),
    ("force-load-cache", "flcm"),
    ("force-store-cache", "fscm"),
    ("gpu-name", "arch"),
    ("input-as-string", "ias"),
    ("machine", "m"),
    ("maxntid", "maxntid"),
    ("maxrregcount", "maxrregcount"),
    ("minnctapersm", "minnctapersm"),
    // Its short form, `-O3`, is one argument.
    ("opt-level", ""),
    ("options-file", "optf"),
    ("output-file", "o"),
    ("position-independent-code", "pic"),
    // In no list of the assembler's; Triton has it.
    ("regAllocOptLevel", "regAllocOptLevel"),
    ("register-usage-level", "regUsageLevel"),
    ("sanitize", "sanitize"),
    ("split-compile", "split-compile"),
];

/// The other options that the assemblers tell of: they have no value.
const WITHOUT_VALUE: [(&str, &str); 35] = [
    ("compile-as-tools-patch", "astoolspatch"),
    ("compile-only", "c"),
    ("compiler-annotations", "annotate"),
    ("device-debug", "g"),
    ("disable-optimizer-constants", "disable-optimizer-consts"),
    ("disable-warnings", "w"),
    ("dont-merge-basicblocks", "no-bb-merge"),
    ("extensible-whole-program", "ewp"),
    ("g-tensor-memory-access-check", "g-tmem-access-check"),
    ("generate-line-info", "lineinfo"),
    ("gno-fabric-access-check", "gno-fabric-access-check"),
    ("gno-tensor-memory-access-check", "gno-tmem-access-check"),
    ("jobserver", "jobserver"),
    ("legacy-bar-warp-wide-behavior", "legacy-bar-warp-wide-behavior"),
    ("make-errors-visible-at-exit", "make-errors-visible-at-exit"),
    // With its value in the same argument.
    ("", "m32"),
    ("", "m64"),
    ("optimize-float-atomics", "opt-fp-atomics"),
    ("override-directive-values", "override-directive-values"),
    ("preserve-relocs", "preserve-relocs"),
    ("return-at-end", "ret-end"),
    ("sp-bounds-check", "sp-bounds-check"),
    ("suppress-async-bulk-multicast-advisory-warning", "suppress-async-bulk-multicast-advisory-warning"),
    ("suppress-debug-info", "suppress-debug-info"),
    ("suppress-double-demote-warning", "suppress-double-demote-warning"),
    ("suppress-position-independent-code-warning", "suppress-position-independent-code-warning"),
    ("suppress-sparse-mma-advisory-info", "suppress-sparse-mma-advisory-info"),
    ("suppress-stack-size-warning", "suppress-stack-size-warning"),
    ("verbose", "v"),
    ("verbose2", "v2"),
    ("version", "V"),
    ("warn-on-double-precision-use", "warn-double-usage"),
    ("warn-on-local-memory-usage", "warn-lmem-usage"),
    ("warn-on-spills", "warn-spills"),
    ("warning-as-error", "Werror"),
];

/// Options that are in no list of the assembler's, with which it writes further files or answers at once.
const UNTOLD: [&str; 2] = ["fdevice-time-trace", "query-controls"];

/// Options that only ask for something to be printed.
const ASKS: [(&str, &str); 3] = [("help", "h"), ("list-arch", "arch-ls"), ("list-version", "version-ls")];

/// An option, with its value if that is in the same argument.
pub(super) struct Switch<'a> {
    pub(super) name: Name<'a>,
    /// `None` also where that is the next argument.
    pub(super) value: Option<&'a str>,
}

/// The name of an option.
#[derive(Clone, Copy)]
pub(super) enum Name<'a> {
    /// After two dashes.
    Long(&'a str),
    /// After one.
    Short(&'a str),
}

impl Name<'_> {
    pub(super) fn is(self, long: &str, short: &str) -> bool {
        match self {
            Self::Long(name) => name == long && !long.is_empty(),
            Self::Short(name) => name == short && !short.is_empty(),
        }
    }
}

/// Whether its value follows.
pub(super) fn takes_value(name: Name<'_>) -> bool {
    WITH_VALUE.iter().any(|(long, short)| name.is(long, short))
}

/// Whether the assembler tells nobody of it.
pub(super) fn is_untold(name: Name<'_>) -> bool {
    UNTOLD.iter().any(|untold| name.is(untold, untold))
}

/// Whether it has no value.
pub(super) fn is_flag(name: Name<'_>) -> bool {
    let level = |short: &str| short.strip_prefix('O').is_some_and(|level| level.parse::<u8>().is_ok());
    WITHOUT_VALUE.iter().chain(&ASKS).any(|(long, short)| name.is(long, short))
        || matches!(name, Name::Short(short) if level(short))
}

/// Whether it only asks for something to be printed.
pub(super) fn is_question(name: Name<'_>) -> bool {
    ASKS.iter().any(|(long, short)| name.is(long, short))
}

/// The option that an argument is; `None` for an input.
pub(super) fn option(argument: &OsStr) -> Result<Option<Switch<'_>>, String> {
    if !argument.as_encoded_bytes().starts_with(b"-") || argument == "-" {
        return Ok(None);
    }
    let text = argument.to_str().ok_or("an option is not text")?;
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    let name = match name.strip_prefix("--") {
        Some(long) => Name::Long(long),
        None => Name::Short(&name[1..]),
    };
    Ok(Some(Switch { name, value }))
}
