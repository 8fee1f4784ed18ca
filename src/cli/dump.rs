//! `ptxopt dump`: shows what each statement is, reads and writes, as text or as JSON.

use super::{Console, Failure};
use crate::input::Input;
use crate::output::to_stdout;
use ptxopt_grammar::names::DeclKind;
use ptxopt_grammar::roles::Role;
use ptxopt_grammar::special::is_special_register;
use ptxopt_grammar::table::Effects;
use ptxopt_grammar::tree::{DeclId, Module, NodeId, NodeKind, StmtId, StmtKind};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

/// Show what each statement is, reads and writes
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Args {
    /// PTX file to read; `-` is standard input
    file: PathBuf,

    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "\
A line of text:
  LINE KIND SCOPE/DEPTH [GUARD] OPCODE WRITTEN <- READ (OTHER NAMES) [EFFECTS]
  [unknown]: the opcode is not in the instruction table, so its effects are unknown

The JSON object (schema 1; later versions may add keys):
  schema      1
  file        the input
  statements  one object per statement, in the order of the text:
    line        where it begins, from 1
    kind        `instruction`, `register`, `label`, …
    scope       number of the scope it is in; 0 is the module
    depth       how many scopes are around it
    opcode      with its modifiers; null if it is no instruction
    known       whether the instruction table has the opcode; null likewise
    guard       {register, negated} or null
    writes      registers that it writes, one entry per use
    reads       registers that it reads, the guard included, special ones too
    names       labels, variables and functions that it names
    declares    names that it declares, a family as `%r<5>`
    effects     its effects on anything but its operands
  summary
    statements  number of statements
    kinds       number of statements of each kind
    unknown     number of unknown statements, which are kept verbatim
    missing     opcodes that are not in the instruction table, with the number of instructions";

pub(super) fn run(args: &Args, console: &Console) -> Result<(), Failure> {
    let input = Input::from(args.file.clone());
    let text = input.read().map_err(|error| Failure::reading(console, &input, &error))?;
    let name = input.to_string();
    let module = super::parse(console, &input, &text)?;
    let statements = Statements::new(&module);
    to_stdout(|out| if args.json { write_json(out, &name, statements) } else { write_text(out, statements) })
        .map_err(|error| Failure::writing(console, "<stdout>", &error))
}

/// The description of a statement.
struct Statement<'t> {
    line: usize,
    kind: StmtKind,
    scope: usize,
    depth: usize,
    opcode: Option<Cow<'t, str>>,
    known: Option<bool>,
    guard: Option<Guard<'t>>,
    writes: Vec<Cow<'t, str>>,
    reads: Vec<Cow<'t, str>>,
    names: Vec<Cow<'t, str>>,
    declares: Vec<String>,
    effects: Effects,
}

struct Guard<'t> {
    register: Cow<'t, str>,
    negated: bool,
}

impl Statement<'_> {
    fn json(&self) -> Value {
        let guard = self.guard.as_ref();
        json!({
            "line": self.line,
            "kind": self.kind.name(),
            "scope": self.scope,
            "depth": self.depth,
            "opcode": self.opcode,
            "known": self.known,
            "guard": guard.map(|guard| json!({ "register": guard.register, "negated": guard.negated })),
            "writes": self.writes,
            "reads": self.reads,
            "names": self.names,
            "declares": self.declares,
            "effects": self.effects.names().collect::<Vec<_>>(),
        })
    }
}

/// Goes through a module statement by statement.
struct Statements<'m, 't> {
    module: &'m Module<'t>,
    next: usize,
    /// The offset up to which lines have been counted, and the number of the line there.
    counted: usize,
    line: usize,
    /// The numbers of the scopes around the statement, outermost first.
    scopes: Vec<usize>,
}

impl<'m, 't> Statements<'m, 't> {
    fn new(module: &'m Module<'t>) -> Self {
        Self { module, next: 0, counted: 0, line: 1, scopes: vec![0] }
    }
}

impl<'m> Iterator for Statements<'m, '_> {
    type Item = Statement<'m>;

    fn next(&mut self) -> Option<Statement<'m>> {
        let stmt = StmtId::new(self.next).filter(|_| self.next < self.module.stmts().len())?;
        self.next += 1;
        let start = self.module.stmt_span(stmt).start;
        let between = &self.module.text()[self.counted..start];
        self.line += between.iter().filter(|&&byte| byte == b'\n').count();
        self.counted = start;
        let brace = self.module.scope_of_brace(stmt);
        let kind = self.module.kind(stmt);
        if let (Some(scope), StmtKind::Open) = (brace, kind) {
            self.scopes.push(scope.index());
        }
        let mut statement = describe(self.module, stmt);
        statement.line = self.line;
        statement.scope = self.scopes.last().copied().unwrap_or_default();
        statement.depth = self.scopes.len() - 1;
        if kind == StmtKind::Close {
            self.scopes.pop();
        }
        Some(statement)
    }
}

/// The description of a statement, without its place.
fn describe<'m>(module: &'m Module<'_>, stmt: StmtId) -> Statement<'m> {
    let opcode = module.opcode(stmt).map(|(spelling, _)| spelling);
    let mut statement = Statement {
        line: 0,
        kind: module.kind(stmt),
        scope: 0,
        depth: 0,
        opcode: opcode.map(|spelling| lossy(module.spellings().words(spelling, module.text()))),
        known: opcode.map(|spelling| module.spellings().row(spelling).is_some()),
        guard: module
            .guard(stmt)
            .map(|(register, negated)| Guard { register: name(module, register), negated }),
        writes: Vec::new(),
        reads: Vec::new(),
        names: Vec::new(),
        declares: Vec::new(),
        effects: module.effects(stmt),
    };
    for (node, role) in module.roles(stmt) {
        if !is_register(module, node) {
            statement.names.push(name(module, node));
            continue;
        }
        if matches!(role, Role::Write | Role::Update) {
            statement.writes.push(name(module, node));
        }
        if matches!(role, Role::Read | Role::Update) {
            statement.reads.push(name(module, node));
        }
    }
    let declared = module.stmt_nodes(stmt).filter(|&node| module.node_kind(node) == NodeKind::Declared);
    statement.declares =
        declared.filter_map(|node| Some(declaration(module, module.decl_of(node)?))).collect();
    statement
}

fn name<'m>(module: &'m Module<'_>, node: NodeId) -> Cow<'m, str> {
    lossy(module.node_text(node))
}

fn declaration(module: &Module<'_>, decl: DeclId) -> String {
    let name = lossy(module.decl_name(decl));
    module.decl(decl).family.map_or_else(|| name.to_string(), |size| format!("{name}<{size}>"))
}

fn is_register(module: &Module<'_>, node: NodeId) -> bool {
    match module.decl_of(node) {
        Some(decl) => module.decl(decl).kind == DeclKind::Register,
        None => {
            let base = module.node_text(node).split(|&byte| byte == b'.').next();
            base.is_some_and(is_special_register)
        }
    }
}

fn lossy(text: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(text)
}

/// The counts of a module.
#[derive(Default)]
struct Summary {
    statements: usize,
    kinds: BTreeMap<&'static str, usize>,
    unknown: usize,
    missing: BTreeMap<String, usize>,
}

impl Summary {
    fn count(&mut self, statement: &Statement<'_>) {
        self.statements += 1;
        *self.kinds.entry(statement.kind.name()).or_default() += 1;
        self.unknown += usize::from(statement.kind == StmtKind::Unknown);
        if let (Some(opcode), Some(false)) = (&statement.opcode, statement.known) {
            *self.missing.entry(opcode.to_string()).or_default() += 1;
        }
    }
}

/// Writes one statement per line, with only one of them in memory at a time.
fn write_json(out: &mut dyn Write, file: &str, statements: Statements<'_, '_>) -> io::Result<()> {
    let mut summary = Summary::default();
    write!(out, "{{\"schema\":1,\"file\":{},\"statements\":[", json!(file))?;
    for statement in statements {
        out.write_all(if summary.statements == 0 { b"\n" } else { b",\n" })?;
        summary.count(&statement);
        write!(out, "{}", statement.json())?;
    }
    let Summary { statements, kinds, unknown, missing } = summary;
    let summary = json!({ "statements": statements, "kinds": kinds, "unknown": unknown, "missing": missing });
    write!(out, "\n],\"summary\":{summary}}}\n")
}

fn write_text(out: &mut dyn Write, statements: Statements<'_, '_>) -> io::Result<()> {
    let mut summary = Summary::default();
    writeln!(out, "  line kind           scope  opcode or declared names     written <- read")?;
    for statement in statements {
        summary.count(&statement);
        writeln!(out, "{}", statement.text())?;
    }
    let Summary { statements, kinds, unknown, missing } = summary;
    writeln!(out, "\n{statements} statements, {unknown} of them unknown")?;
    kinds.iter().try_for_each(|(kind, count)| writeln!(out, "{count:>6} {kind}"))?;
    if missing.is_empty() {
        return writeln!(out, "The instruction table has every opcode.");
    }
    writeln!(out, "The instruction table lacks:")?;
    missing.iter().try_for_each(|(opcode, count)| writeln!(out, "{count:>6} {}", opcode.escape_debug()))
}

impl Statement<'_> {
    fn text(&self) -> String {
        let guard = self.guard.as_ref().map_or_else(String::new, |guard| {
            format!("@{}{} ", if guard.negated { "!" } else { "" }, guard.register)
        });
        let what = match &self.opcode {
            Some(opcode) => guard + opcode,
            None => self.declares.join(" "),
        };
        let place = format!("{}/{}", self.scope, self.depth);
        let start = format!("{:>6} {:<14} {place:<6} {what:<28}", self.line, self.kind.name());
        let mut text = [&[start], self.operands().as_slice()].concat().join(" ");
        text.truncate(text.trim_end().len());
        // Names are ASCII in valid PTX, but unknown statements may hold anything.
        text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
    }

    fn operands(&self) -> Vec<String> {
        let mut words = Vec::new();
        if !self.writes.is_empty() || !self.reads.is_empty() {
            words.extend(self.writes.iter().map(ToString::to_string));
            words.push("<-".to_owned());
            words.extend(self.reads.iter().map(ToString::to_string));
        }
        if !self.names.is_empty() {
            words.push(format!("({})", self.names.join(" ")));
        }
        if self.known == Some(false) || self.kind == StmtKind::Unknown {
            words.push("[unknown]".to_owned());
        } else if !self.effects.is_none() {
            words.push(format!("[{}]", self.effects.names().collect::<Vec<_>>().join(" ")));
        }
        words
    }
}
