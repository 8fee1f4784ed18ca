//! Which functions are left as they came, since the assembler makes worse code of them otherwise.
//!
//! After a module was optimised and assembled, the functions that got worse are added, and it is optimised again without
//! them, until none is worse. A function without rewrites can still be worse if another was inlined into it; then
//! everything is left. So each time more is left than before, and this ends.

use super::Comparison;
use std::collections::BTreeMap;

/// What is left as it came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leave {
    /// Functions, each with the reason.
    pub(crate) functions: BTreeMap<String, String>,
    /// The reason to leave all of them.
    pub(crate) all: Option<&'static str>,
}

impl Leave {
    /// Adds the functions that got worse in any of the comparisons; returns whether there were any.
    pub(crate) fn worse(&mut self, comparisons: &[Comparison]) -> bool {
        let worse: Vec<_> = comparisons.iter().flat_map(Comparison::worse).collect();
        if worse.is_empty() {
            return false;
        }
        let known = self.functions.len();
        for (name, worse) in worse {
            self.functions.entry(name).or_insert_with(|| format!("it would get worse: {worse}"));
        }
        if self.functions.len() == known {
            self.all = Some("a function into which it is inlined would get worse");
        }
        true
    }
}
