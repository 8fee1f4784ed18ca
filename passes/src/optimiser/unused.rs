//! Declarations that edits have emptied: registers that the text named before and names no more.
//!
//! The text as it came and the text that is written are compared function by function. A register's declaration is
//! deleted if the first names the register outside the declaration and the second does not. A register that the first
//! does not name either is left as the user wrote it, unless everything unused is to be deleted. A family with any
//! named member stays whole; only families of the optimiser's own registers are shrunk to the members in use. Where a
//! statement is not understood, every declaration of its function stays.

use super::record::{How, Kind, Record, one_line};
use super::splice::{self, Fresh};
use super::visible::Stems;
use crate::rules::{Pass, UNNAMED};
use hashbrown::HashMap;
use ptxopt_grammar::edit::Edits;
use ptxopt_grammar::function::Function;
use ptxopt_grammar::names::NameParts;
use ptxopt_grammar::token::Tok;
use ptxopt_grammar::tree::{DeclId, Module, NodeId, NodeKind, StmtId, StmtKind, TokenId};
use std::collections::BTreeMap;
use std::ops::Range;

/// A function in one version of the text.
#[derive(Clone, Copy)]
pub(super) struct Version<'p, 't> {
    pub(super) module: &'p Module<'t>,
    pub(super) function: &'p Function,
}

/// A register or a family that a function declares.
struct Declared {
    stmt: StmtId,
    node: NodeId,
    decl: DeclId,
    /// One more than the highest number that is named, 0 if none is.
    named: u32,
}

/// What became of the declarations of a function.
#[derive(Default)]
pub(super) struct Swept {
    pub(super) records: Vec<Record>,
    /// Whether the rest may mean something else now: a name that was hidden is seen again, or nothing is kept as halves
    /// any more.
    pub(super) reveals: bool,
}

/// Deletes the declarations of what `before` named and `after` does not; with `all`, of whatever `after` does not
/// name.
pub(super) fn sweep(
    before: Version<'_, '_>,
    after: Version<'_, '_>,
    (fresh, stems): (&Fresh, &Stems<'_>),
    all: bool,
    edits: &mut Edits,
) -> Swept {
    let Some(((_, old), (ours, new))) = declared(before, fresh).zip(declared(after, fresh)) else {
        return Swept::default();
    };
    let mut reveals = false;
    for declared in ours {
        reveals |= declared.named == 0 && fresh.declares_halves(after.module.decl_name(declared.decl));
        shrink(after, &declared, edits);
    }
    let mut gone: BTreeMap<StmtId, Vec<NodeId>> = BTreeMap::new();
    // Only a sweep takes declarations away, and none came between, so one corresponds to the other.
    for (old, new) in old.iter().zip(&new) {
        if new.named == 0 && (all || old.named > 0) && splice::is_plain(after.module, new.stmt) {
            gone.entry(new.stmt).or_default().push(new.node);
            reveals |= stems.may_hide(after.module, new.decl);
        }
    }
    let records = gone.into_iter().map(|(stmt, nodes)| remove(after, stmt, &nodes, edits)).collect();
    Swept { records, reveals }
}

/// The new registers and the others, in the order of the text; `None` if a statement that is not understood may name
/// registers.
fn declared(version: Version<'_, '_>, fresh: &Fresh) -> Option<(Vec<Declared>, Vec<Declared>)> {
    let Version { module, function } = version;
    let mut named: HashMap<DeclId, u32> = HashMap::new();
    let mut all = Vec::new();
    for stmt in function.body.clone().filter_map(StmtId::new) {
        let declares = module.kind(stmt) == StmtKind::Register;
        if module.kind(stmt) == StmtKind::Unknown {
            return None;
        }
        for node in module.stmt_nodes(stmt) {
            let Some(decl) = module.decl_of(node) else { continue };
            if module.node_kind(node) == NodeKind::Name {
                let number = NameParts::new(module.node_text(node)).index.unwrap_or(0);
                let named = named.entry(decl).or_default();
                *named = number.saturating_add(1).max(*named);
            } else if declares {
                all.push(Declared { stmt, node, decl, named: 0 });
            }
        }
    }
    for declared in &mut all {
        declared.named = named.get(&declared.decl).copied().unwrap_or(0);
    }
    Some(all.into_iter().partition(|declared| fresh.is_prefix(module.decl_name(declared.decl))))
}

/// Declares as many new registers as are named.
fn shrink(version: Version<'_, '_>, declared: &Declared, edits: &mut Edits) {
    let module = version.module;
    let number = module.stmt_nodes(declared.stmt).find(|&node| module.node_kind(node) == NodeKind::Int);
    if declared.named == 0 {
        splice::delete(module, declared.stmt, edits);
    } else if let Some(number) = number
        && module.decl(declared.decl).family != Some(declared.named)
    {
        edits.replace(module.node_span(number), declared.named.to_string());
    }
}

/// Takes registers out of a declaration, or the declaration away if nothing is left of it.
fn remove(version: Version<'_, '_>, stmt: StmtId, gone: &[NodeId], edits: &mut Edits) -> Record {
    let Version { module, function } = version;
    let text = |span: Range<usize>| String::from_utf8_lossy(&module.text()[span]).into_owned();
    let items = items(module, stmt);
    let is_gone = |item: &Range<usize>| gone.iter().any(|&node| item.contains(&module.node_span(node).start));
    let kept: Vec<String> =
        items.iter().filter(|item| !is_gone(item)).map(|item| text(item.clone())).collect();
    let span = module.stmt_span(stmt);
    let mut after = Vec::new();
    match (items.first(), items.last()) {
        (Some(first), Some(last)) if !kept.is_empty() => {
            let list = kept.join(", ");
            let (head, tail) = (text(span.start..first.start), text(last.end..span.end));
            after.push(one_line(&format!("{head}{list}{tail}")));
            edits.replace(first.start..last.end, list);
        }
        _ => splice::delete(module, stmt, edits),
    }
    let told = Record::about(module, &function.name, stmt, Kind::Passed(How::Unnamed));
    Record { pass: Pass::Dce, rules: vec![UNNAMED.name], after, ..told }
}

/// What stands between the commas of a declaration, the first from its name on.
fn items(module: &Module<'_>, stmt: StmtId) -> Vec<Range<usize>> {
    let first = module.stmt_nodes(stmt).find(|&node| module.node_kind(node) == NodeKind::Declared);
    let Some(first) = first.map(|node| module.node_span(node).start) else { return Vec::new() };
    let (kind, span) = (|token| module.tokens().kind(token), |token| module.tokens().span(token));
    let tokens: Vec<TokenId> = module
        .stmt_tokens(stmt)
        .filter_map(|token| TokenId::new(token as usize))
        .skip_while(|&token| span(token).start < first)
        .take_while(|&token| kind(token) != Tok::Semicolon)
        .collect();
    let items = tokens.split(|&token| kind(token) == Tok::Comma);
    items.filter_map(|item| Some(span(*item.first()?).start..span(*item.last()?).end)).collect()
}
