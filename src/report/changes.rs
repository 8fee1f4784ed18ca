//! What changed in a module, function by function: the lines side by side, the changes, and a picture of each.
//!
//! A change is what became of one statement: all records about it, of all rounds. Its statements in the new text are
//! those new lines that its records name; a picture that does not find any is left out, and the lines stay.

use crate::diff::{Row, aligned};
use crate::lines::Lines;
use crate::picture::{Fate, Part, Picture, one_line, slice};
use crate::remarks::{Remark, Statements, in_its_place};
use ptxopt_grammar::function::{Function, functions};
use ptxopt_grammar::meaning::disputed::Semantics;
use ptxopt_grammar::tree::{Module, StmtId, StmtKind};
use ptxopt_passes::cost::{Cost, Costs, Gpu};
use ptxopt_passes::graph::Graph;
use ptxopt_passes::optimiser::{Estimate, How, Kind};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// How many nodes a picture of a change has at most.
const MOST_NODES: usize = 16;
/// How many neighbours of a statement come with it on either side.
const MOST_NEIGHBOURS: usize = 2;

/// How much of a module a report shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    pub(super) functions: usize,
    pub(super) rows: usize,
    pub(super) changes: usize,
    pub(super) pictures: usize,
}

/// A function that changed.
pub(super) struct Changed<'a> {
    pub(super) name: String,
    /// The line of its head, before.
    pub(super) line: usize,
    /// Groups of lines; numbers of lines count from the beginning of the module.
    pub(super) groups: Vec<Vec<Row<'a>>>,
    /// How many changed lines are not among them.
    pub(super) rows_left_out: usize,
    pub(super) changes: Vec<Change<'a>>,
    pub(super) changes_left_out: usize,
    /// What it saves on each of the GPUs whose costs differ.
    pub(super) estimates: Vec<Estimate>,
    /// What all of it cost before, on each of these.
    pub(super) wholes: Vec<u64>,
}

/// All functions that changed.
#[derive(Default)]
pub(super) struct AllChanged<'a> {
    /// Those within the budget.
    pub(super) shown: Vec<Changed<'a>>,
    /// How many others there are.
    pub(super) left_out: usize,
    /// What all of them cost before, on each of the GPUs whose costs differ.
    pub(super) wholes: Vec<u64>,
}

/// What became of one statement.
pub(super) struct Change<'a> {
    pub(super) line: usize,
    /// The lines of the statements that it left unused.
    pub(super) freed: Vec<usize>,
    /// What was done, in the order in which it was.
    pub(super) remarks: Vec<&'a Remark<'a>>,
    /// What it saves on each of the GPUs whose costs differ; nothing where that is unknown.
    pub(super) estimates: Vec<Estimate>,
    /// Whether anything is left in its place, as far as its remarks say.
    pub(super) is_left: bool,
    /// The dataflow around it, before and after.
    pub(super) pictures: Option<(Picture, Option<Picture>)>,
}

/// The remarks that are about a change of the text, and not about what another one made unused.
fn is_change(remark: &Remark<'_>) -> bool {
    matches!(remark.record.kind, Kind::Passed(how) if !matches!(how, How::Freed))
}

/// The changes of the module outside of functions: its head.
pub(super) fn outside<'a>(remarks: &'a [Remark<'a>]) -> Vec<&'a Remark<'a>> {
    remarks.iter().filter(|remark| is_change(remark) && remark.record.function.is_empty()).collect()
}

/// The functions that changed, as far as the budget goes.
pub(super) fn changed<'a>(
    (old, new): (&'a Module<'a>, &'a Module<'a>),
    remarks: &'a [Remark<'a>],
    gpus: &[Gpu],
    budget: Budget,
) -> AllChanged<'a> {
    let mut left = budget;
    let mut all = AllChanged::default();
    let lines = (Lines::of(old.text()), Lines::of(new.text()));
    for (before, after) in functions(old).into_iter().zip(functions(new)) {
        let spans = (whole_lines(old, &before), whole_lines(new, &after));
        if old.text()[spans.0.clone()] == new.text()[spans.1.clone()] {
            continue;
        }
        let sides = (
            Side { module: old, function: before, lines: &lines.0 },
            Side { module: new, function: after, lines: &lines.1 },
        );
        let wholes = wholes(&sides.0, gpus);
        all.wholes.resize(wholes.len(), 0);
        for (sum, whole) in all.wholes.iter_mut().zip(&wholes) {
            *sum += whole;
        }
        if left.functions == 0 {
            all.left_out += 1;
            continue;
        }
        left.functions -= 1;
        all.shown.push(function(&sides, spans, (remarks, gpus), wholes, &mut left));
    }
    all
}

/// A function in one of the two texts.
struct Side<'a, 'l> {
    module: &'a Module<'a>,
    function: Function,
    lines: &'l Lines,
}

/// The lines that a function stands on.
fn whole_lines(module: &Module<'_>, function: &Function) -> Range<usize> {
    let text = module.text();
    let start = module.stmt_span(function.head).start;
    let end = StmtId::new(function.body.end).map_or(text.len(), |end| module.stmt_span(end).end);
    let start = text[..start].iter().rposition(|&byte| byte == b'\n').map_or(0, |feed| feed + 1);
    let end = text[end..].iter().position(|&byte| byte == b'\n').map_or(text.len(), |feed| end + feed + 1);
    start..end
}

fn function<'a>(
    (old, new): &(Side<'a, '_>, Side<'a, '_>),
    spans: (Range<usize>, Range<usize>),
    (remarks, gpus): (&'a [Remark<'a>], &[Gpu]),
    wholes: Vec<u64>,
    left: &mut Budget,
) -> Changed<'a> {
    let line = old.lines.position(old.module.stmt_span(old.function.head).start).line;
    let first = |side: &Side<'_, '_>, start: usize| {
        u32::try_from(side.lines.position(start).line - 1).expect("a text below 4 GiB has fewer lines")
    };
    let (first_old, first_new) = (first(old, spans.0.start), first(new, spans.1.start));
    let mut groups = aligned(&old.module.text()[spans.0], &new.module.text()[spans.1]);
    for row in groups.iter_mut().flatten() {
        row.before = row.before.map(|(at, text)| (at + first_old, text));
        row.after = row.after.map(|(at, text)| (at + first_new, text));
    }
    let new_lines: BTreeSet<usize> = groups
        .iter()
        .flatten()
        .filter(|row| row.changed)
        .filter_map(|row| row.after.map(|(at, _)| at as usize + 1))
        .collect();
    let rows_left_out = cut_rows(&mut groups, &mut left.rows);
    let here: Vec<&Remark<'_>> =
        remarks.iter().filter(|remark| remark.record.function == old.function.name).collect();
    let estimates = estimates(&here, gpus);
    let (changes, changes_left_out) = changes((old, new), &here, &new_lines, gpus, left);
    Changed {
        name: old.function.name.clone(),
        line,
        groups,
        rows_left_out,
        changes,
        changes_left_out,
        estimates,
        wholes,
    }
}

/// Cuts what is beyond the budget; how many changed lines that are.
fn cut_rows(groups: &mut Vec<Vec<Row<'_>>>, left: &mut usize) -> usize {
    let changed = |groups: &[Vec<Row<'_>>]| groups.iter().flatten().filter(|row| row.changed).count();
    let before = changed(groups);
    for group in groups.iter_mut() {
        group.truncate(*left);
        *left -= group.len();
    }
    groups.retain(|group| !group.is_empty());
    before - changed(groups)
}

/// What rewrites save together, on each of the GPUs whose costs differ.
fn estimates(remarks: &[&Remark<'_>], gpus: &[Gpu]) -> Vec<Estimate> {
    let on = |place| remarks.iter().filter_map(|remark| remark.record.estimate_on(place)).sum();
    let count = if gpus.is_empty() { 0 } else { Costs::on(gpus).each().count() };
    (0..count).map(on).collect()
}

/// What a function costs on each of the GPUs whose costs differ. What no table knows, such as a load or a branch, is one
/// machine instruction.
fn wholes(side: &Side<'_, '_>, gpus: &[Gpu]) -> Vec<u64> {
    let graph = Graph::new(side.module, side.function.clone(), Semantics::Undisputed).ok();
    let cost = |costs: Costs, stmt| {
        let step = graph.as_ref().and_then(|graph| graph.step(stmt));
        let known = step.map(|step| costs.step(&step)).filter(|&cost| cost != Cost::UNKNOWN);
        known.map_or(1, |cost| u64::from(cost.least))
    };
    if gpus.is_empty() {
        return Vec::new();
    }
    Costs::on(gpus).each().map(|costs| instructions(side).map(|stmt| cost(costs, stmt)).sum()).collect()
}

/// The changes of a function, in the order of the text, as far as the budget goes, and how many others there are.
fn changes<'a>(
    sides: (&Side<'a, '_>, &Side<'a, '_>),
    remarks: &[&'a Remark<'a>],
    new_lines: &BTreeSet<usize>,
    gpus: &[Gpu],
    left: &mut Budget,
) -> (Vec<Change<'a>>, usize) {
    let statements = Statements::of(sides.0.module);
    let mut at: BTreeMap<StmtId, Vec<&'a Remark<'a>>> = BTreeMap::new();
    for remark in remarks.iter().filter(|remark| is_change(remark)) {
        if let Some(stmt) = statements.at(remark.record.offset) {
            at.entry(stmt).or_default().push(remark);
        }
    }
    let all = at.len();
    let mut unused: BTreeMap<&str, Vec<&Remark<'_>>> = BTreeMap::new();
    // The first of several that read the same is taken first.
    for remark in remarks.iter().rev().filter(|remark| remark.record.kind == Kind::Passed(How::Freed)) {
        unused.entry(&remark.record.before).or_default().push(remark);
    }
    let mut painter = Painter::new(sides, new_lines, gpus, left.pictures > 0);
    let mut changes = Vec::new();
    for (stmt, remarks) in at.into_iter().take(left.changes) {
        let estimates = estimates(&remarks, gpus);
        let texts = remarks.iter().flat_map(|remark| &remark.record.freed);
        let freed: Vec<&Remark<'_>> =
            texts.filter_map(|text| unused.get_mut(text.as_str()).and_then(Vec::pop)).collect();
        let records: Vec<_> = remarks.iter().map(|remark| remark.record).collect();
        let lines = in_its_place(&one_line(sides.0.module.stmt_text(stmt)), &records);
        let is_left = !lines.is_empty();
        let pictures = if left.pictures > 0 { painter.pictures(stmt, &lines, &freed) } else { None };
        left.pictures -= usize::from(pictures.is_some());
        let freed = freed.iter().map(|remark| remark.position.line).collect();
        changes.push(Change { line: remarks[0].position.line, freed, remarks, estimates, is_left, pictures });
    }
    left.changes -= changes.len();
    let left_out = all - changes.len();
    (changes, left_out)
}

/// Draws the changes of one function.
struct Painter<'a, 's> {
    old: &'s Side<'a, 's>,
    new: &'s Side<'a, 's>,
    /// `None` where the function cannot be modelled, or nothing is drawn.
    graphs: Option<(Graph<'a, 'a>, Graph<'a, 'a>)>,
    gpus: &'s [Gpu],
    /// The statements of the old text.
    statements: Statements,
    /// By their text, the new statements that no change has claimed.
    written: BTreeMap<String, Vec<StmtId>>,
}

impl<'a, 's> Painter<'a, 's> {
    fn new(
        (old, new): (&'s Side<'a, 's>, &'s Side<'a, 's>),
        new_lines: &BTreeSet<usize>,
        gpus: &'s [Gpu],
        draws: bool,
    ) -> Self {
        let graph =
            |side: &Side<'a, 's>| Graph::new(side.module, side.function.clone(), Semantics::Undisputed).ok();
        let graphs = if draws { graph(old).zip(graph(new)) } else { None };
        let mut painter =
            Self { old, new, graphs, gpus, statements: Statements::of(old.module), written: BTreeMap::new() };
        if painter.graphs.is_some() {
            let line = |stmt| new.lines.position(new.module.stmt_span(stmt).start).line;
            for stmt in instructions(new).filter(|&stmt| new_lines.contains(&line(stmt))) {
                painter.written.entry(one_line(new.module.stmt_text(stmt))).or_default().insert(0, stmt);
            }
        }
        painter
    }

    /// A change before and after; nothing after it if it leaves nothing.
    fn pictures(
        &mut self,
        stmt: StmtId,
        lines: &[String],
        freed: &[&Remark<'_>],
    ) -> Option<(Picture, Option<Picture>)> {
        let module = self.old.module;
        if self.graphs.is_none() || module.kind(stmt) != StmtKind::Instruction {
            return None;
        }
        let fate = if lines.is_empty() { Fate::Deleted } else { Fate::Changed(Vec::new()) };
        let mut before = BTreeMap::from([(stmt, fate)]);
        let unused = freed.iter().filter_map(|remark| self.statements.at(remark.record.offset));
        for stmt in unused.filter(|&stmt| module.kind(stmt) == StmtKind::Instruction) {
            before.entry(stmt).or_insert(Fate::Deleted);
        }
        let mut after = BTreeMap::new();
        for text in lines {
            let written = self.written.get_mut(&one_line(text.as_bytes())).and_then(Vec::pop);
            after.extend(written.map(|stmt| (stmt, Fate::New)));
        }
        let (old, new) = self.graphs.as_ref()?;
        let draw = |graph: &Graph<'_, '_>, lines: &Lines, fates: &BTreeMap<StmtId, Fate>| {
            let seeds: BTreeSet<StmtId> = fates.keys().copied().collect();
            let part =
                Part::Around { seeds: &seeds, depth: 1, most: MOST_NODES, neighbours: MOST_NEIGHBOURS };
            slice(graph, lines, self.gpus, fates, part)
        };
        let after = (!after.is_empty()).then(|| draw(new, self.new.lines, &after));
        Some((draw(old, self.old.lines, &before), after))
    }
}

/// The instructions of a function.
fn instructions<'s>(side: &'s Side<'_, '_>) -> impl Iterator<Item = StmtId> + 's {
    let stmts = side.function.body.clone().filter_map(StmtId::new);
    stmts.filter(|&stmt| side.module.kind(stmt) == StmtKind::Instruction)
}
