//! Source positions: the lines of CUDA that `.loc` and `.file` directives name.
//!
//! A `.loc` applies to the text up to the next `.loc` or to the end of its function.

use ptxopt_grammar::tree::{Module, NodeKind, StmtId, StmtKind};
use std::collections::BTreeMap;

/// A place in a file of CUDA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// The column, from 1; 0 if it is not known.
    pub column: u64,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { file, line, column } = self;
        write!(f, "{file}:{line}")?;
        if *column == 0 { Ok(()) } else { write!(f, ":{column}") }
    }
}

/// The `.loc` and `.file` directives of a module.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: BTreeMap<u64, String>,
    /// The file number, line and column that apply from each offset on, if there are any.
    places: Vec<(usize, Option<[u64; 3]>)>,
}

impl Sources {
    /// The directives of a module.
    #[must_use]
    pub fn of(module: &Module<'_>) -> Self {
        let mut sources = Self::default();
        for stmt in module.stmts() {
            let start = module.stmt_span(stmt).start;
            match module.kind(stmt) {
                StmtKind::File => sources.files.extend(file(module, stmt)),
                StmtKind::Loc => sources.places.extend(loc(module, stmt).map(|place| (start, Some(place)))),
                StmtKind::Entry | StmtKind::Function => sources.places.push((start, None)),
                StmtKind::Version
                | StmtKind::Target
                | StmtKind::AddressSize
                | StmtKind::LineMarker
                | StmtKind::DwarfLine
                | StmtKind::Section
                | StmtKind::Pragma
                | StmtKind::Alias
                | StmtKind::Variable
                | StmtKind::Register
                | StmtKind::Open
                | StmtKind::Close
                | StmtKind::Label
                | StmtKind::Instruction
                | StmtKind::BranchTargets
                | StmtKind::CallTargets
                | StmtKind::CallPrototype
                | StmtKind::Unknown => {}
            }
        }
        sources
    }

    /// The place that applies at an offset.
    #[must_use]
    pub fn at(&self, offset: usize) -> Option<Place> {
        let last = self.places.partition_point(|&(start, _)| start <= offset).checked_sub(1)?;
        let [file, line, column] = self.places[last].1?;
        let file = self.files.get(&file).cloned()?;
        Some(Place { file, line, column })
    }
}

/// `.file 1 "a.cu"`: the number and the name.
fn file(module: &Module<'_>, stmt: StmtId) -> Option<(u64, String)> {
    let number = *numbers(module, stmt).first()?;
    let name = module.stmt_nodes(stmt).find(|&node| module.node_kind(node) == NodeKind::Str)?;
    let name = String::from_utf8_lossy(module.node_text(name)).into_owned();
    Some((number, name.trim_matches('"').to_owned()))
}

/// `.loc 1 2 3`: file, line, column. The call site of an inlined function follows and is ignored.
fn loc(module: &Module<'_>, stmt: StmtId) -> Option<[u64; 3]> {
    let numbers = numbers(module, stmt);
    Some([*numbers.first()?, *numbers.get(1)?, *numbers.get(2)?])
}

fn numbers(module: &Module<'_>, stmt: StmtId) -> Vec<u64> {
    let integers = module.stmt_nodes(stmt).filter(|&node| module.node_kind(node) == NodeKind::Int);
    let number = |node| std::str::from_utf8(module.node_text(node)).ok()?.parse().ok();
    integers.map_while(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::Lines;
    use ptxopt_grammar::diagnostic::Position;

    const TEXT: &str = ".version 8.0\n.target sm_75\n.file 1 \"a b.cu\"\n.func f()\n{\n\
        .reg .b32 %r<2>;\nmov.u32 %r1, 0;\n.loc 1 7 3\n\tmov.u32 %r1, 1;\nmov.u32 %r1, 2;\n\
        .loc 1 8 0, function_name f, inlined_at 1 9 1\nmov.u32 %r1, 3;\n.loc 2 9 1\nmov.u32 %r1, 4;\n}\n\
        .func g()\n{\n\tret;\n}\n";

    fn at(what: &str) -> (Position, Option<String>) {
        let module = ptxopt_grammar::parse(TEXT.as_bytes()).expect("it is a module");
        let offset = TEXT.find(what).expect("it is there");
        let place = Sources::of(&module).at(offset);
        (Lines::of(TEXT.as_bytes()).position(offset), place.map(|place| place.to_string()))
    }

    #[test]
    fn a_loc_holds_up_to_the_next_or_to_the_next_function() {
        assert_eq!(at("mov.u32 %r1, 0").1, None);
        for (what, place) in [("1;", "a b.cu:7:3"), ("2;", "a b.cu:7:3"), ("3;", "a b.cu:8")] {
            assert_eq!(at(&format!("mov.u32 %r1, {what}")).1.as_deref(), Some(place));
        }
        assert_eq!(at("mov.u32 %r1, 4").1, None, "nothing says what file 2 is");
        assert_eq!(at("ret").1, None);
    }
}
