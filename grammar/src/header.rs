//! The head of a module: `.version`, `.target`, and what they may say.
//!
//! Versions and targets are closed lists: those that some assembler from CUDA 11.8 to 13.5 takes, and the older ones
//! of the manual's release notes. A newer version is refused, with a message of its own: what it changes is unknown, so
//! a rewrite for it could be wrong. A newer target is accepted with a warning: it may add instructions, but in a known
//! version all that is known means the same on it.

use crate::diagnostic::Diagnostic;
use crate::nearest::nearest;
use crate::tree::{Module, NodeId, NodeKind, StmtId, StmtKind};

/// The newest version of PTX that is known.
pub const NEWEST: (u8, u8) = (9, 5);

/// For each major version the last minor one.
const VERSIONS: [(u8, u8); 9] = [(1, 5), (2, 3), (3, 2), (4, 3), (5, 1), (6, 5), (7, 8), (8, 8), NEWEST];

/// The GPUs that a module may be written for, each with the first version of PTX that has it.
#[rustfmt::skip]
const TARGETS: [(&str, (u8, u8)); 47] = [
    ("10", (1, 0)), ("11", (1, 0)), ("12", (1, 2)), ("13", (1, 2)), ("20", (2, 0)), ("21", (2, 0)),
    ("30", (3, 0)), ("32", (4, 0)), ("35", (3, 1)), ("37", (4, 1)),
    ("50", (4, 0)), ("52", (4, 1)), ("53", (4, 2)), ("60", (5, 0)), ("61", (5, 0)), ("62", (5, 0)),
    ("70", (6, 0)), ("72", (6, 1)), ("75", (6, 3)), ("80", (7, 0)), ("86", (7, 1)), ("87", (7, 4)),
    ("88", (9, 0)), ("89", (7, 8)), ("90", (7, 8)), ("90a", (8, 0)),
    ("100", (8, 6)), ("100a", (8, 6)), ("100f", (8, 8)), ("101", (8, 6)), ("101a", (8, 6)), ("101f", (8, 8)),
    ("103", (8, 8)), ("103a", (8, 8)), ("103f", (8, 8)), ("107", (9, 4)), ("107a", (9, 4)), ("107f", (9, 4)),
    ("110", (9, 0)), ("110a", (9, 0)), ("110f", (9, 0)), ("120", (8, 7)), ("120a", (8, 7)), ("120f", (8, 8)),
    ("121", (8, 8)), ("121a", (8, 8)), ("121f", (8, 8)),
];

/// The GPUs that `.target` may name, by number and suffix: `90a` for `sm_90a`. Ordered by number; of the same number,
/// the one without a suffix comes first.
pub fn targets() -> impl Iterator<Item = &'static str> {
    TARGETS.into_iter().map(|(target, _)| target)
}

/// The first version of PTX, major and minor, that has a target such as `90a`; `None` for an unknown target.
#[must_use]
pub fn first_version(target: &str) -> Option<(u8, u8)> {
    TARGETS.into_iter().find(|(known, _)| *known == target).map(|(_, version)| version)
}

/// What else `.target` may say.
const OPTIONS: [&str; 5] =
    ["debug", "map_f64_to_f32", "texmode_independent", "texmode_raw", "texmode_unified"];

/// Checks that `.version` comes first, then `.target`, then everything else, and that both are known.
pub(crate) fn check(module: &Module<'_>) -> Vec<Diagnostic> {
    match order(module) {
        Some(disorder) => vec![disorder],
        None => {
            let stmts = module.stmts().filter(|&stmt| module.kind(stmt) == StmtKind::Target);
            let targets = stmts.flat_map(|stmt| target(module, stmt));
            let targets = targets.filter_map(|(wrong, may)| (!may.0).then_some(wrong));
            version(module).into_iter().chain(targets).take(crate::parse::MOST_DIAGNOSTICS).collect()
        }
    }
}

fn order(module: &Module<'_>) -> Option<Diagnostic> {
    let mut stmts = module.stmts().filter(|&stmt| module.kind(stmt) != StmtKind::LineMarker);
    for (wanted, word) in [(StmtKind::Version, ".version 8.0"), (StmtKind::Target, ".target sm_90")] {
        let found = stmts.next();
        if found.is_none_or(|stmt| module.kind(stmt) != wanted) {
            let start = found.map_or(0, |stmt| module.stmt_span(stmt).start);
            let name = word.split(' ').next().unwrap_or(word);
            return Some(
                Diagnostic::new(start..module.text.len().min(start + 1), format!("missing `{name}`"))
                    .label(format!("expected a line such as `{word}` here")),
            );
        }
    }
    let mut past = false;
    let mut depth = 0_usize;
    for stmt in stmts {
        let kind = module.kind(stmt);
        // The assembler takes a target inside a body.
        let misplaced = kind == StmtKind::Version
            || (past && (kind == StmtKind::AddressSize || (kind == StmtKind::Target && depth == 0)));
        if misplaced {
            let found = Diagnostic::new(module.stmt_span(stmt), "this belongs to the head of the module");
            return Some(found.label("expected before everything else"));
        }
        past |= kind != StmtKind::Target;
        depth += usize::from(kind == StmtKind::Open);
        depth -= usize::from(kind == StmtKind::Close);
    }
    None
}

fn version(module: &Module<'_>) -> Option<Diagnostic> {
    let stmt = module.stmts().find(|&stmt| module.kind(stmt) == StmtKind::Version)?;
    let text = String::from_utf8_lossy(module.stmt_text(stmt)).into_owned();
    let number = text.split_whitespace().last().unwrap_or_default();
    let (major, minor) = number.split_once('.')?;
    // A number that does not fit in 8 bits counts as newer than all known ones.
    let read = |digits: &str| digits.parse().unwrap_or(u8::MAX);
    let found: (u8, u8) = (read(major), read(minor));
    if VERSIONS.iter().any(|&(major, last)| found.0 == major && found.1 <= last) {
        return None;
    }
    let (message, label) = if found > NEWEST {
        let newest = format!("expected a version up to {}.{}", NEWEST.0, NEWEST.1);
        (format!("unknown version {number} of PTX; is it a newer one?"), newest)
    } else {
        let last = VERSIONS.iter().find(|(major, _)| *major == found.0);
        let label = last.map_or_else(
            || format!("expected a version from 1.0 to {}.{}", NEWEST.0, NEWEST.1),
            |(major, last)| format!("expected {major}.0 to {major}.{last}"),
        );
        (format!("there is no version {number} of PTX"), label)
    };
    Some(Diagnostic::new(module.stmt_span(stmt), message).label(label))
}

fn target<'m>(module: &'m Module<'_>, stmt: StmtId) -> impl Iterator<Item = (Diagnostic, MayBeTaken)> + 'm {
    let words = module.stmt_nodes(stmt).filter(|&node| module.node_kind(node) == NodeKind::Word);
    words.filter_map(|node| unknown_target(module, node))
}

/// Whether the assembler may take a target that is unknown here: it is newer than all known ones, or has something behind
/// a known one.
#[derive(Clone, Copy, PartialEq, Eq)]
struct MayBeTaken(bool);

/// The warnings about targets that are unknown here and may be taken by the assembler.
pub(crate) fn doubtful_targets(module: &Module<'_>) -> impl Iterator<Item = Diagnostic> {
    let stmts = module.stmts().filter(|&stmt| module.kind(stmt) == StmtKind::Target);
    stmts.flat_map(|stmt| target(module, stmt)).filter_map(|(found, may)| may.0.then_some(found))
}

/// Whether the assembler takes what follows `sm_` for a GPU that it knows: it reads a number and the suffix `a` or `f`,
/// and ignores what stands behind them.
fn is_read_as(number: &str, known: &str) -> bool {
    let rest = number.strip_prefix(known).unwrap_or_default();
    rest.starts_with(|c: char| !c.is_ascii_digit() && c != 'a' && c != 'f')
}

/// What is wrong with a word of a `.target`, and whether the assembler may take it all the same.
fn unknown_target(module: &Module<'_>, node: NodeId) -> Option<(Diagnostic, MayBeTaken)> {
    let word = String::from_utf8_lossy(module.node_text(node)).into_owned();
    let number = word.strip_prefix("sm_").or_else(|| word.strip_prefix("compute_"));
    if OPTIONS.contains(&word.as_str()) || number.is_some_and(|number| targets().any(|known| known == number))
    {
        return None;
    }
    let found = Diagnostic::new(module.node_span(node), format!("unknown target `{word}`"));
    let generation = |number: &str| number.trim_end_matches(['a', 'f']).parse::<u32>().ok();
    let newest = targets().filter_map(generation).max();
    let suffix =
        |number: &str| matches!(number.trim_start_matches(|c: char| c.is_ascii_digit()), "" | "a" | "f");
    let read_as =
        word.strip_prefix("sm_").and_then(|number| targets().find(|known| is_read_as(number, known)));
    if let Some(known) = read_as {
        let label = format!("NVIDIA's assembler reads no more of it than `sm_{known}`");
        return Some((found.label(label), MayBeTaken(true)));
    }
    let label = match number {
        Some(number) if generation(number) > newest && suffix(number) => {
            let known = targets().last().unwrap_or_default();
            let label = format!("newer than `sm_{known}`, the newest GPU that is known");
            return Some((found.label(label), MayBeTaken(true)));
        }
        Some(_) => found
            .label("expected a GPU such as `sm_90`")
            .help(format!("the GPUs are sm_ with {}", targets().collect::<Vec<_>>().join(", "))),
        None => {
            let near = nearest(&word, OPTIONS.into_iter());
            let known = OPTIONS.map(|option| format!("`{option}`")).join(", ");
            found.label(match near {
                Some(near) => format!("expected a GPU or an option; did you mean `{near}`?"),
                None => format!("expected a GPU such as `sm_90`, or one of {known}"),
            })
        }
    };
    Some((label, MayBeTaken(false)))
}
