//! What stands in the place of a statement in the end, and which remarks are about it.
//!
//! A later round may rewrite what an earlier one wrote. Its offset then is one within the original statement, as near as
//! is known, so remarks belong to the statement that their offset lies in; and what was written is followed from one
//! remark to the next by its text.

use ptxopt_grammar::tree::{Module, StmtId};
use ptxopt_passes::optimiser::Record;

/// The statements of a module, to be found by offset.
pub(crate) struct Statements(Vec<usize>);

impl Statements {
    /// Those of a module.
    pub(crate) fn of(module: &Module<'_>) -> Self {
        Self(module.stmts().map(|stmt| module.stmt_span(stmt).start).collect())
    }

    /// The last one that begins at an offset or before it.
    pub(crate) fn at(&self, offset: usize) -> Option<StmtId> {
        StmtId::new(self.0.partition_point(|&start| start <= offset).checked_sub(1)?)
    }
}

/// The lines in the place of a statement after all rewrites of it, from the records about it, whatever their order.
pub(crate) fn in_its_place(own: &str, records: &[&Record]) -> Vec<String> {
    let mut lines = vec![own.to_owned()];
    let mut left: Vec<&Record> = records.to_vec();
    loop {
        let next = left.iter().position(|record| lines.contains(&record.before));
        let Some(record) = next.map(|at| left.remove(at)) else { break };
        let at = lines.iter().position(|line| *line == record.before).expect("it was just found");
        lines.splice(at..=at, record.after.iter().cloned());
        for freed in &record.freed {
            if let Some(at) = lines.iter().position(|line| line == freed) {
                lines.remove(at);
            }
        }
    }
    // What cannot be followed by its text stands at the end.
    lines.extend(left.iter().flat_map(|record| record.after.iter().cloned()));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxopt_passes::optimiser::{How, Kind};
    use ptxopt_passes::rules::Pass;
    use std::time::Duration;

    fn record(before: &str, after: &[&str], freed: &[&str]) -> Record {
        let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        Record {
            kind: Kind::Passed(How::Sampled),
            pass: Pass::Lower,
            rules: Vec::new(),
            function: "f".to_owned(),
            offset: 0,
            before: before.to_owned(),
            after: owned(after),
            cost: None,
            here: None,
            each: Vec::new(),
            freed: owned(freed),
            time: Duration::ZERO,
        }
    }

    #[test]
    fn what_a_later_round_rewrites_is_followed() {
        let first = record("a;", &["b;", "c;", "d;"], &[]);
        let second = record("c;", &["e;"], &["b;"]);
        for records in [[&first, &second], [&second, &first]] {
            assert_eq!(in_its_place("a;", &records), ["e;", "d;"]);
        }
    }

    #[test]
    fn a_statement_that_is_deleted_leaves_nothing() {
        assert_eq!(in_its_place("a;", &[&record("a;", &[], &[])]), Vec::<String>::new());
    }
}
