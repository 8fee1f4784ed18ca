//! Raising the head of a module: what the rewriter may use of the GPU at hand beyond what `.target` and `.version`
//! allow, and the head that is written in the end.
//!
//! A module compiled for an old target keeps newer instructions from the rewriter, although the GPU has them. Where the
//! user agrees, the head is raised: only if an instruction that was written needs it, and only as far as these need.
//! How far a module may be raised is decided before anything is rewritten, by what it contains; see
//! [`ptxopt_grammar::head`]. Nothing else depends on the head: proofs and replays are about the instructions.

use super::record::{How, Kind, Record, Why, one_line};
use super::{Options, Outcome, rounds::parsed};
use crate::cost::Gpu;
use crate::recipe::Recipe;
use hashbrown::HashMap;
use ptxopt_grammar::edit::Edits;
use ptxopt_grammar::gpu::Suffix;
use ptxopt_grammar::head::{Head, INDEPENDENT_THREADS, hindrance, target};
use ptxopt_grammar::header::NEWEST;
use ptxopt_grammar::table::instruction::Instruction;
use ptxopt_grammar::tree::{Module, NodeId, StmtId, StmtKind};
use std::collections::BTreeSet;

/// What of a head may be raised.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Raise {
    /// `.target`, and `.version` as far as that and the new instructions need.
    pub target: bool,
    /// `.version`.
    pub version: bool,
}

/// How far a head is raised.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Reach {
    /// Not at all.
    Own,
    /// To a later version of PTX.
    Version,
    /// To a later target, with the version that goes with it.
    Target,
    /// To the target of a family of GPUs. Such code runs on few GPUs, so users must name the family.
    Family,
}

impl Reach {
    /// From the least to the furthest.
    pub(super) const ALL: [Self; 4] = [Self::Own, Self::Version, Self::Target, Self::Family];

    /// The options with which users allow it.
    fn options(self, module: &Module<'_>, options: &Options) -> String {
        match self {
            Self::Own => String::new(),
            Self::Version => "--raise version".to_owned(),
            Self::Target => "--raise target".to_owned(),
            Self::Family => {
                let gpus: Vec<String> = families(module, options).iter().map(ToString::to_string).collect();
                format!("--gpu {} --raise target", gpus.join(","))
            }
        }
    }
}

/// The GPUs at hand as members of their families; none if one has none, or if the user named a suffix.
fn families(module: &Module<'_>, options: &Options) -> Vec<Gpu> {
    let family = |gpu: &Gpu| {
        let name = format!("{}{}", gpu.number(), Suffix::Family.word());
        Gpu::named(&name).ok().filter(|_| gpu.suffix() == Suffix::Portable)
    };
    options.gpus_of(module).iter().map(family).collect::<Option<_>>().unwrap_or_default()
}

/// Whether the head of a reach has an instruction.
pub(super) type Having = HashMap<(Reach, Instruction), bool>;

/// The heads that a module can have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heads {
    /// By reach: the latest that it may have.
    heads: [Option<Head>; 4],
    /// How far it may be raised.
    allowed: Reach,
}

impl Heads {
    /// The heads of a module, and why it cannot be raised as far as the user asked for.
    pub(super) fn of(module: &Module<'_>, options: &Options) -> (Self, Option<Hindered>) {
        let allowed = match options.raise {
            Raise { target: true, .. } => Reach::Target,
            Raise { version: true, .. } => Reach::Version,
            Raise { .. } => Reach::Own,
        };
        let Some(own) = Head::of(module) else { return (Self { heads: [None; 4], allowed }, None) };
        let version = Head { ptx: own.ptx.max(NEWEST), ..own };
        let version_hindered = hindrance(module, own, version);
        let mut heads = [Some(own), version_hindered.is_none().then_some(version), None, None];
        let mut hindered = version_hindered.filter(|_| allowed == Reach::Version).map(|why| (own, why));
        for (at, gpu) in candidates(own.gpu, &options.gpus).into_iter().rev().enumerate() {
            let head = Head { gpu, ptx: version.ptx };
            let why = hindrance(module, own, head);
            if let (Some(why), 0, Reach::Target) = (&why, at, allowed) {
                hindered = Some((own, why.clone()));
            }
            if why.is_none() {
                heads[2] = Some(head);
                hindered = hindered.map(|(_, why)| (head, why));
                break;
            }
        }
        // A later version alone is what is left of a raise of the target.
        if heads[2].is_none() {
            heads[2] = heads[1];
        }
        let families = candidates(own.gpu, &families(module, options)).into_iter();
        let mut families = families.rev().map(|gpu| Head { gpu, ptx: version.ptx });
        heads[3] = families.find(|&head| hindrance(module, own, head).is_none());
        let hindered =
            hindered.map(|(reached, why)| Hindered { at: (reached != own).then_some(reached.gpu), why });
        (Self { heads, allowed }, hindered)
    }

    /// The head that the rewriter may use.
    pub(super) fn allowed(&self) -> Option<Head> {
        self.heads[..=self.allowed as usize].iter().copied().flatten().next_back()
    }

    /// How far the module must be raised for a recipe, whether that is allowed or not; `None` if it cannot have it.
    pub(super) fn reach(&self, recipe: &Recipe) -> Option<Reach> {
        self.reach_where(recipe, |_, head, instruction| head.has(instruction))
    }

    /// The same, and remembers which heads have which instructions.
    pub(super) fn reach_knowing(&self, recipe: &Recipe, known: &mut Having) -> Option<Reach> {
        self.reach_where(recipe, |reach, head, instruction| {
            *known.entry((reach, instruction)).or_insert_with(|| head.has(instruction))
        })
    }

    /// How far the module must be raised to have each instruction of a recipe.
    fn reach_where(
        &self,
        recipe: &Recipe,
        mut has: impl FnMut(Reach, Head, Instruction) -> bool,
    ) -> Option<Reach> {
        let mut has_all = |reach, head| recipe.steps.iter().all(|step| has(reach, head, step.spelled()));
        let mut heads = Reach::ALL.into_iter().zip(self.heads);
        heads.find_map(|(reach, head)| has_all(reach, head?).then_some(reach))
    }

    /// How far the module may be raised.
    pub(super) const fn limit(&self) -> Reach {
        self.allowed
    }
}

/// Why a module is raised less far than it was asked for.
#[derive(Debug)]
pub(super) struct Hindered {
    /// The latest target that it may have; its own if none.
    at: Option<Gpu>,
    why: String,
}

/// The targets to which `own` can be raised so that the code still runs on all of these GPUs; the latest last. A suffix
/// ties code to few GPUs, so only users who name one get one.
fn candidates(own: Gpu, gpus: &[Gpu]) -> Vec<Gpu> {
    let runs = |target: Gpu| !gpus.is_empty() && gpus.iter().all(|gpu| gpu.runs(target));
    let plain = |gpu: Gpu| gpu.suffix() == Suffix::Portable;
    let suffixes = gpus.iter().all(|&gpu| !plain(gpu));
    let widest = |target: Gpu| gpus.iter().all(|gpu| target.suffix() <= gpu.suffix());
    let later = |target: &Gpu| *target > own && runs(*target);
    let fits = |target: &Gpu| plain(*target) || (suffixes && widest(*target));
    // Assemblers know `sm_101` under that name or under its later one, not under both.
    let named = |target: &Gpu| target.number() != 101 || gpus.iter().any(|gpu| gpu.number() == 101);
    let mut found: Vec<Gpu> = Gpu::known().filter(later).filter(fits).filter(named).collect();
    found.sort_unstable();
    found
}

/// What raising could save more, in machine instructions, by reach.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Potential([u64; 4]);

impl Potential {
    /// Adds what a function could save more with this reach.
    pub(super) fn add(&mut self, reach: Reach, saved: i64) {
        self.0[reach as usize] += u64::try_from(saved).unwrap_or(0);
    }

    /// Adds what other functions could save more.
    pub(super) fn include(&mut self, other: Self) {
        for (saved, more) in self.0.iter_mut().zip(other.0) {
            *saved += more;
        }
    }

    /// The reach that saves most, the least of equals, and how many machine instructions.
    fn best(self) -> Option<(Reach, u64)> {
        let all = Reach::ALL.into_iter().zip(self.0);
        all.rev().max_by_key(|&(_, saved)| saved).filter(|&(_, saved)| saved > 0)
    }
}

/// Raises the head as far as what was written needs, and records that, why it was not raised, and what that would save.
pub(super) fn finish(module: &Module<'_>, outcome: &mut Outcome, options: &Options) {
    let (heads, hindered) = Heads::of(module, options);
    let Some(own) = heads.heads[0] else { return };
    let missed = |kind: StmtKind, why: Why| {
        let stmt = module.stmts().find(|&stmt| module.kind(stmt) == kind);
        stmt.map(|stmt| Record::about(module, "", stmt, Kind::Missed(why)))
    };
    if let Some(Hindered { at, why }) = hindered {
        let at = at.map(|gpu| gpu.to_string());
        outcome.records.extend(missed(StmtKind::Target, Why::Hindered { at, why }));
    }
    if let Some((reach, saved)) = outcome.potential.and_then(Potential::best) {
        let kind = if reach == Reach::Version { StmtKind::Version } else { StmtKind::Target };
        outcome.records.extend(missed(kind, Why::Raise { options: reach.options(module, options), saved }));
    }
    if heads.limit() != Reach::Own
        && let Some(text) = outcome.text.take()
    {
        let raised = raised(module, &text, own, &heads, options);
        let (text, records) = raised.unwrap_or_else(|| (text, Vec::new()));
        outcome.text = Some(text);
        outcome.records.extend(records);
    }
}

/// The text with the head that it needs, and records of that; `None` if it needs no other one.
fn raised(
    module: &Module<'_>,
    text: &[u8],
    own: Head,
    heads: &Heads,
    options: &Options,
) -> Option<(Vec<u8>, Vec<Record>)> {
    let new = parsed(text);
    let head = needed(module, &new, own, heads, options);
    let mut edits = Edits::new();
    let mut records = Vec::new();
    let independent = own.gpu.number() < INDEPENDENT_THREADS && head.gpu.number() >= INDEPENDENT_THREADS;
    let mut replace = |old: StmtId, now: StmtId, span: std::ops::Range<usize>, with: String| {
        let independent = independent && module.kind(old) == StmtKind::Target;
        let whole = new.stmt_span(now);
        let after = [&text[whole.start..span.start], with.as_bytes(), &text[span.end..whole.end]].concat();
        let mut record = Record::about(module, "", old, Kind::Passed(How::Raised { independent }));
        record.after = vec![one_line(&String::from_utf8_lossy(&after))];
        records.push(record);
        edits.replace(span, with);
    };
    if head.gpu != own.gpu {
        let (old, now) = (target(module)?, target(&new)?);
        replace(old.0, now.0, new.node_span(now.1), word(&new, now.1, head.gpu));
    }
    if head.ptx != own.ptx {
        let (major, minor) = head.ptx;
        let stmt = |module: &Module<'_>| module.stmts().find(|&stmt| module.kind(stmt) == StmtKind::Version);
        let (old, now) = (stmt(module)?, stmt(&new)?);
        replace(old, now, number(&new, now), format!("{major}.{minor}"));
    }
    let edited = edits.apply(text).expect("a head has one target and one version").to_vec();
    (head != own).then_some((edited, records))
}

/// The least head that has everything that is in `new` and not in `old`, and all that was there.
fn needed(old: &Module<'_>, new: &Module<'_>, own: Head, heads: &Heads, options: &Options) -> Head {
    let words = |module: &Module<'_>| -> BTreeSet<Vec<u8>> {
        let all = module.spellings().iter();
        all.map(|spelling| module.spellings().words(spelling, module.text()).to_vec()).collect()
    };
    let added: Vec<Vec<u8>> = words(new).difference(&words(old)).cloned().collect();
    if added.iter().all(|words| own.allows(words)) {
        return own;
    }
    let mut gpus = vec![own.gpu];
    if heads.limit() == Reach::Target {
        gpus.extend(candidates(own.gpu, &options.gpus));
    }
    let found = gpus.into_iter().find_map(|gpu| {
        let newest = Head { gpu, ptx: own.ptx.max(NEWEST) };
        let all = added.iter().all(|words| newest.allows(words)) && hindrance(old, own, newest).is_none();
        all.then(|| {
            let wants =
                added.iter().filter_map(|words| Some(ptxopt_grammar::table::lookup(words)?.needs(words).ptx));
            let first = if gpu == own.gpu { None } else { gpu.first_version() };
            Head { gpu, ptx: wants.chain(first).fold(own.ptx, Ord::max) }
        })
    });
    found.or(heads.allowed()).unwrap_or(own)
}

/// The name of a GPU in the place of a word of `.target`, spelled as that was.
fn word(module: &Module<'_>, node: NodeId, gpu: Gpu) -> String {
    let virtual_one = module.node_text(node).starts_with(b"compute_");
    let name = gpu.to_string();
    if virtual_one { name.replacen("sm_", "compute_", 1) } else { name }
}

/// Where the number of a version stands: at the end of its statement.
fn number(module: &Module<'_>, stmt: StmtId) -> std::ops::Range<usize> {
    let (span, text) = (module.stmt_span(stmt), module.stmt_text(stmt));
    let length = text.iter().rev().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    span.end - length..span.end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gpu(name: &str) -> Gpu {
        Gpu::parse(name).expect("it is a GPU")
    }

    #[test]
    fn targets_are_raised_as_far_as_all_gpus_run_them() {
        let latest = |own: &str, gpus: &[&str]| {
            let gpus: Vec<Gpu> = gpus.iter().map(|name| gpu(name)).collect();
            candidates(gpu(own), &gpus).last().map(ToString::to_string)
        };
        for (own, gpus, wanted) in [
            ("sm_35", &["sm_90"][..], Some("sm_90")),
            ("sm_35", &["sm_90a"], Some("sm_90a")),
            ("sm_75", &["sm_120"], Some("sm_120")),
            ("sm_75", &["sm_120f"], Some("sm_120f")),
            ("sm_75", &["sm_121f", "sm_120f"], Some("sm_120f")),
            ("sm_75", &["sm_120f", "sm_90"], Some("sm_90")),
            ("sm_35", &["sm_120", "sm_61"], Some("sm_61")),
            ("sm_35", &["sm_110"], Some("sm_110")),
            ("sm_90", &["sm_90"], None),
            ("sm_35", &[], None),
        ] {
            assert_eq!(latest(own, gpus).as_deref(), wanted, "{own} for {gpus:?}");
        }
        let all = candidates(gpu("sm_90"), &[gpu("sm_110")]);
        assert!(all.iter().all(|gpu| gpu.number() != 101), "one GPU has one name");
    }

    #[test]
    fn the_least_raise_that_saves_most_is_the_one_that_is_told() {
        let mut potential = Potential::default();
        assert_eq!(potential.best(), None);
        potential.add(Reach::Version, 3);
        potential.add(Reach::Target, 3);
        potential.add(Reach::Family, -2);
        assert_eq!(potential.best(), Some((Reach::Version, 3)));
        potential.add(Reach::Target, 1);
        assert_eq!(potential.best(), Some((Reach::Target, 4)));
    }
}
