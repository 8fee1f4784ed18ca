//! The head of a module: `.version`, `.target`, and what they may say.
//!
//! Versions and targets are closed lists: those that some assembler from CUDA 11.8 to 13.5 takes, and the older ones
//! of the manual's release notes. A newer version is refused too, with a message of its own: what it changes is unknown,
//! so a rewrite could be wrong. A newer GPU gets a warning: it has what the version of PTX says that later GPUs have.

use crate::diagnostic::Diagnostic;
use crate::nearest::nearest;
use crate::tree::{Module, NodeKind, StmtId, StmtKind};

/// The newest version of PTX that is known.
pub(crate) const NEWEST: (u32, u32) = (9, 5);

/// For each major version the last minor one.
const VERSIONS: [(u32, u32); 9] = [(1, 5), (2, 3), (3, 2), (4, 3), (5, 1), (6, 5), (7, 8), (8, 8), NEWEST];

/// The GPUs that a module may be written for.
const TARGETS: &str = "10 11 12 13 20 21 30 32 35 37 50 52 53 60 61 62 70 72 75 80 86 87 88 89 90 90a 100 100a 100f \
                       101 101a 101f 103 103a 103f 107 107a 107f 110 110a 110f 120 120a 120f 121 121a 121f";

/// The GPUs that `.target` may name, by number and suffix: `90a` for `sm_90a`. Ordered by number; of the same number,
/// the one without a suffix comes first.
pub fn targets() -> impl Iterator<Item = &'static str> {
    TARGETS.split_ascii_whitespace()
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
    // A number that does not fit in 32 bits counts as newer than all known ones.
    let read = |digits: &str| digits.parse().unwrap_or(u32::MAX);
    let found: (u32, u32) = (read(major), read(minor));
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

/// The GPUs that a `.target` names and that are newer than all known ones: a warning for each.
pub(crate) fn newer(module: &Module<'_>, stmt: StmtId) -> Vec<Diagnostic> {
    let words = module.stmt_nodes(stmt).filter(|&node| module.node_kind(node) == NodeKind::Word);
    let newer = words.filter(|&node| {
        let word = String::from_utf8_lossy(module.node_text(node)).into_owned();
        gpu(&word).is_some_and(is_newer)
    });
    let known = TARGETS.split_ascii_whitespace().filter_map(generation).max().unwrap_or_default();
    let warning = |node| {
        let word = String::from_utf8_lossy(module.node_text(node));
        let message = format!("`{word}` is newer than all known GPUs");
        let label = format!("instructions are taken to cost what they do on `sm_{known}`");
        Diagnostic::new(module.node_span(node), message).label(label)
    };
    newer.map(warning).collect()
}

/// The number and the suffix of a GPU.
fn gpu(word: &str) -> Option<&str> {
    word.strip_prefix("sm_").or_else(|| word.strip_prefix("compute_"))
}

/// The number of a GPU, without its suffix.
fn generation(gpu: &str) -> Option<u32> {
    gpu.strip_suffix(['a', 'f']).unwrap_or(gpu).parse().ok()
}

/// Whether it is newer than all known GPUs.
fn is_newer(gpu: &str) -> bool {
    let newest = TARGETS.split_ascii_whitespace().filter_map(generation).max();
    generation(gpu) > newest
}

fn target<'m>(module: &'m Module<'_>, stmt: StmtId) -> impl Iterator<Item = Diagnostic> + 'm {
    let words = module.stmt_nodes(stmt).filter(|&node| module.node_kind(node) == NodeKind::Word);
    words.filter_map(|node| unknown_target(module, node))
}

fn unknown_target(module: &Module<'_>, node: crate::tree::NodeId) -> Option<Diagnostic> {
    let word = String::from_utf8_lossy(module.node_text(node)).into_owned();
    let number = gpu(&word);
    let known = |number: &str| is_newer(number) || TARGETS.split_whitespace().any(|known| known == number);
    if OPTIONS.contains(&word.as_str()) || number.is_some_and(known) {
        return None;
    }
    let found = Diagnostic::new(module.node_span(node), format!("unknown target `{word}`"));
    Some(match number {
        Some(_) => found.label("expected a GPU such as `sm_90`").help(format!(
            "the GPUs are sm_ with {}",
            TARGETS.split_whitespace().collect::<Vec<_>>().join(", ")
        )),
        None => {
            let near = nearest(&word, OPTIONS.into_iter());
            let known = OPTIONS.map(|option| format!("`{option}`")).join(", ");
            found.label(match near {
                Some(near) => format!("expected a GPU or an option; did you mean `{near}`?"),
                None => format!("expected a GPU such as `sm_90`, or one of {known}"),
            })
        }
    })
}
