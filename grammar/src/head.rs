//! What the head of a module allows, and whether the module may have a later head.
//!
//! `.target` and `.version` say which instructions a module may have. Both may be raised: to a later target, so that the
//! module no longer runs on older GPUs, and to a later version, so that older assemblers no longer take it. What a module
//! means does not depend on them, with the exceptions that are refused here: what a later target or version does not
//! have any more (the rows of the table know that of instructions), and what has rules of its own in old ones.
//!
//! One difference cannot be seen in a module. From sm_70 on, the threads of a warp are scheduled independently; for
//! older targets the assembler keeps them together where it can, also for newer GPUs. Code that relies on that without
//! saying so (volatile accesses to shared memory without barriers) may become wrong. Users are told, and a module whose
//! functions are linked with those of others is not raised that far, since the others would stay behind.

use crate::gpu::Gpu;
use crate::table::instruction::Instruction;
use crate::table::{Row, lookup};
use crate::token::Tok;
use crate::tree::{Module, NodeId, NodeKind, StmtId, StmtKind, TokenId};

/// From this GPU on, the threads of a warp are scheduled independently of each other.
pub const INDEPENDENT_THREADS: u32 = 70;

/// The first version and GPU whose modules may be raised: functions of older versions are called by other rules, and
/// floating-point instructions of older GPUs treat subnormal numbers differently.
const OLDEST: ((u8, u8), u32) = ((3, 0), 20);

/// The functions that every GPU's driver defines, so that a module that calls them is not linked for that.
const SYSTEM_CALLS: [&[u8]; 4] = [b"__assertfail", b"free", b"malloc", b"vprintf"];

/// The head of a module: what it is for, and its version of PTX.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Head {
    /// The GPU that `.target` names.
    pub gpu: Gpu,
    /// The major and minor number of `.version`.
    pub ptx: (u8, u8),
}

impl Head {
    /// The head of a module; `None` if its `.target` names no GPU.
    #[must_use]
    pub fn of(module: &Module<'_>) -> Option<Self> {
        Some(Self { gpu: Gpu::of(module)?, ptx: version(module) })
    }

    /// Whether a module with this head may have the instruction with this opcode and these modifiers; never for an
    /// unknown one.
    #[must_use]
    pub fn allows(&self, words: &[u8]) -> bool {
        let has = |row: &Row| self.gpu.has(&row.needs(words), self.ptx) && !row.has_ended(words, self.ptx);
        lookup(words).is_some_and(has)
    }

    /// Whether a module with this head may have this instruction.
    #[must_use]
    pub fn has(&self, instruction: Instruction) -> bool {
        self.gpu.has(&instruction.needs(), self.ptx) && !instruction.has_ended(self.ptx)
    }
}

/// The version of PTX that a module is written in, major and minor.
#[must_use]
pub fn version(module: &Module<'_>) -> (u8, u8) {
    let stmt = module.stmts().find(|&stmt| module.kind(stmt) == StmtKind::Version);
    let text = stmt.map(|stmt| String::from_utf8_lossy(module.stmt_text(stmt)).into_owned());
    let text = text.unwrap_or_default();
    let number = text.split_whitespace().last().unwrap_or_default();
    let (major, minor) = number.split_once('.').unwrap_or((number, "0"));
    (major.parse().unwrap_or(1), minor.parse().unwrap_or(0))
}

/// The `.target` of a module and the word in it that names the GPU; `None` if it has not exactly one such word.
#[must_use]
pub fn target(module: &Module<'_>) -> Option<(StmtId, NodeId)> {
    let stmts = module.stmts().filter(|&stmt| module.kind(stmt) == StmtKind::Target);
    let words = stmts.flat_map(|stmt| module.stmt_nodes(stmt).map(move |node| (stmt, node)));
    let names_gpu = |&(_, node): &(StmtId, NodeId)| {
        let text = std::str::from_utf8(module.node_text(node)).ok();
        module.node_kind(node) == NodeKind::Word && text.is_some_and(|text| Gpu::parse(text).is_some())
    };
    let mut gpus = words.filter(names_gpu);
    gpus.next().filter(|_| gpus.next().is_none())
}

/// Why a module whose head is `from` must not have the head `to` instead, of a later target or version; `None` if it
/// may.
#[must_use]
pub fn hindrance(module: &Module<'_>, from: Head, to: Head) -> Option<String> {
    if from.ptx < OLDEST.0 || from.gpu.number() < OLDEST.1 {
        let ((major, minor), gpu) = OLDEST;
        return Some(format!("modules before PTX {major}.{minor} and sm_{gpu} have other rules"));
    }
    let raised = from.gpu != to.gpu;
    if raised && target(module).is_none() {
        return Some("its `.target` names several GPUs".to_owned());
    }
    if let Some(unknown) = module.warnings().first() {
        return Some(format!("line {} has an {}", line(module, unknown.span.start), unknown.message));
    }
    let independent = from.gpu.number() < INDEPENDENT_THREADS && to.gpu.number() >= INDEPENDENT_THREADS;
    let mut directives = module.stmts().filter_map(|stmt| directive(module, stmt, raised, independent));
    directives.next().or_else(|| {
        let ended = |spelling| !to.allows(module.spellings().words(spelling, module.text()));
        let spelling = module.spellings().iter().find(|&spelling| ended(spelling))?;
        let words = String::from_utf8_lossy(module.spellings().words(spelling, module.text()));
        let (line, (major, minor)) = (line(module, module.spellings().span(spelling).start), to.ptx);
        Some(format!("{} with PTX {major}.{minor} has no `{words}`, which stands in line {line}", to.gpu))
    })
}

/// Why a module with this statement must not be raised: to another GPU if `raised`, to one that schedules threads
/// independently if `independent`.
fn directive(module: &Module<'_>, stmt: StmtId, raised: bool, independent: bool) -> Option<String> {
    let (kind, text) = (module.kind(stmt), module.stmt_text(stmt));
    if kind == StmtKind::Target && memchr::memmem::find(text, b"map_f64_to_f32").is_some() {
        return Some("`map_f64_to_f32` is for GPUs before sm_13".to_owned());
    }
    if kind == StmtKind::AddressSize && raised && text.ends_with(b"32") {
        return Some("later GPUs have no 32-bit addresses".to_owned());
    }
    (kind == StmtKind::Function && independent && is_linked(module, stmt)).then(|| {
        format!(
            "its functions are linked with those of other modules (line {}), and from sm_{INDEPENDENT_THREADS} on the \
             threads of a warp are scheduled independently",
            line(module, module.stmt_span(stmt).start)
        )
    })
}

/// Whether a function is defined by another module, or may be called by one.
fn is_linked(module: &Module<'_>, stmt: StmtId) -> bool {
    let tokens = module.stmt_tokens(stmt).filter_map(|token| TokenId::new(token as usize));
    let words =
        tokens.map(|token| (module.tokens().kind(token), &module.text()[module.tokens().span(token)]));
    let words: Vec<(Tok, &[u8])> = words.collect();
    let is_linked = words.iter().any(|(kind, _)| *kind == Tok::Linkage);
    is_linked && !words.iter().any(|(_, word)| SYSTEM_CALLS.contains(word))
}

/// The number of the line of an offset, from 1.
fn line(module: &Module<'_>, offset: usize) -> usize {
    1 + memchr::memchr_iter(b'\n', &module.text()[..offset]).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(gpu: &str, ptx: (u8, u8)) -> Head {
        Head { gpu: Gpu::parse(gpu).expect("it is a GPU"), ptx }
    }

    /// Why a module with this head and body must not be raised to another head.
    fn why(head: &str, body: &str, to: Head) -> Option<String> {
        let text = format!(
            "{head}\n.visible .entry k()\n{{\n.reg .b32 %r<4>;\n.reg .pred %p<2>;\n{body}\nret;\n}}\n"
        );
        let module = crate::parse(text.as_bytes()).unwrap_or_else(|found| panic!("{text}: {found:?}"));
        hindrance(&module, Head::of(&module).expect("it has a GPU"), to)
    }

    const KEPLER: &str = ".version 6.0\n.target sm_35\n.address_size 64";

    #[test]
    fn plain_code_may_be_raised_to_any_later_head() {
        for to in
            [head("sm_35", (9, 5)), head("sm_50", (6, 0)), head("sm_90a", (9, 5)), head("sm_121f", (9, 5))]
        {
            assert_eq!(why(KEPLER, "vadd4.u32.u32.u32 %r0, %r1, %r2, %r3;", to), None, "{to:?}");
        }
    }

    #[test]
    fn what_later_heads_have_no_more_hinders() {
        for body in ["shfl.up.b32 %r0, %r1, 1, 0;", "vote.all.pred %p0, %p1;"] {
            assert_eq!(why(KEPLER, body, head("sm_62", (9, 5))), None, "{body}");
            let found = why(KEPLER, body, head("sm_70", (6, 4))).expect("it ends there");
            assert!(found.contains("which stands in line 8"), "{found}");
        }
        let volta = KEPLER.replace("sm_35", "sm_70");
        let registers = ".reg .b64 %d;\n";
        let load =
            "wmma.load.a.sync.row.m16n16k16.global.f16 {%r0, %r1, %r2, %r3, %r0, %r1, %r2, %r3}, [%d];";
        let load = format!("{registers}{load}");
        assert_eq!(why(&volta, &load, head("sm_70", (6, 2))), None);
        assert!(why(&volta, &load, head("sm_70", (6, 3))).is_some());
        let aligned = load.replace(".sync", ".sync.aligned");
        assert_eq!(why(&volta, &aligned, head("sm_90", (9, 5))), None);
    }

    #[test]
    fn heads_with_rules_of_their_own_hinder() {
        for (old, new, part) in [
            ("6.0", "2.3", "modules before PTX 3.0"),
            ("sm_35", "sm_35, sm_50", "names several GPUs"),
            ("sm_35", "sm_35, map_f64_to_f32", "map_f64_to_f32"),
            ("size 64", "size 32", "32-bit"),
            (
                "size 64",
                "size 64\n.extern .func f(.param .b32 a);",
                "linked with those of other modules (line 4)",
            ),
        ] {
            let found = why(&KEPLER.replace(old, new), "", head("sm_90", (9, 5))).expect(part);
            assert!(found.contains(part), "{found}");
        }
        let linked = format!("{KEPLER}\n.extern .func f(.param .b32 a);");
        assert_eq!(why(&linked, "", head("sm_62", (9, 5))), None, "warps still run as they did");
        let system =
            format!("{KEPLER}\n.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);");
        assert_eq!(why(&system, "", head("sm_90", (9, 5))), None, "every driver has it");
        let modes = KEPLER.replace("sm_35", "sm_35, texmode_independent");
        assert_eq!(why(&modes, "", head("sm_90", (9, 5))), None);
    }

    #[test]
    fn what_is_unknown_hinders() {
        let found = why(KEPLER, "frobnicate.u32 %r0, %r1;", head("sm_50", (6, 0))).expect("it is unknown");
        assert!(found.contains("line 8 has an unknown instruction"), "{found}");
    }
}
