//! Two measurements of a module, before and after: as a table, and which functions got worse.

use super::{Function, Measured};
use std::collections::BTreeMap;
use std::fmt::{self, Write};

/// The functions before and after.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// By name. A function that is missing on one side has no instructions there.
    pub functions: BTreeMap<String, (Function, Function)>,
}

/// How a function got worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worse {
    /// Machine instructions before and after.
    pub instructions: (u32, u32),
    /// Bytes spilled before and after.
    pub spills: (u32, u32),
}

impl fmt::Display for Worse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { instructions, spills } = self;
        let longer = instructions.1 > instructions.0;
        if longer {
            write!(f, "{} machine instructions would become {}", instructions.0, instructions.1)?;
        }
        if self.spills_more() {
            let and = if longer { ", and " } else { "" };
            write!(f, "{and}{} bytes of spills would become {}", spills.0, spills.1)?;
        }
        Ok(())
    }
}

impl Worse {
    pub(super) const fn spills_more(&self) -> bool {
        self.spills.1 > self.spills.0
    }
}

impl Comparison {
    /// Of a module before and after.
    #[must_use]
    pub fn new(before: &Measured, after: &Measured) -> Self {
        let names = before.functions.keys().chain(after.functions.keys());
        let of =
            |measured: &Measured, name: &String| measured.functions.get(name).cloned().unwrap_or_default();
        let functions = names.map(|name| (name.clone(), (of(before, name), of(after, name)))).collect();
        Self { functions }
    }

    /// The functions that have more machine instructions than before, or spill more.
    #[must_use]
    pub fn worse(&self) -> BTreeMap<String, Worse> {
        let worse = |(name, (before, after)): (&String, &(Function, Function))| {
            let worse = Worse {
                instructions: (before.instructions(), after.instructions()),
                spills: (before.spills, after.spills),
            };
            let longer = worse.instructions.1 > worse.instructions.0;
            (longer || worse.spills_more()).then(|| (name.clone(), worse))
        };
        self.functions.iter().filter_map(worse).collect()
    }

    /// Machine instructions before and after.
    #[must_use]
    pub fn instructions(&self) -> (u64, u64) {
        let sum = |one: fn(&(Function, Function)) -> &Function| {
            self.functions.values().map(|pair| u64::from(one(pair).instructions())).sum()
        };
        (sum(|pair| &pair.0), sum(|pair| &pair.1))
    }
}

/// The functions whose machine code changed, one line each, and the totals.
#[must_use]
pub fn table(comparison: &Comparison) -> String {
    let mut rows = vec![["instructions", "registers", "spilled bytes", ""].map(str::to_owned)];
    let pair = |(before, after): (u64, u64)| {
        if before == after { before.to_string() } else { format!("{before} -> {after}") }
    };
    let registers = |before: &Function, after: &Function| match (before.registers, after.registers) {
        (Some(before), Some(after)) => pair((before.into(), after.into())),
        _ => "?".to_owned(),
    };
    let spills = |before: &Function, after: &Function| pair((before.spills.into(), after.spills.into()));
    let mut same = 0_u64;
    let mut spilled = (0, 0);
    for (name, (before, after)) in &comparison.functions {
        spilled.0 += u64::from(before.spills);
        spilled.1 += u64::from(after.spills);
        if before == after {
            same += 1;
            continue;
        }
        let instructions = pair((before.instructions().into(), after.instructions().into()));
        rows.push([instructions, registers(before, after), spills(before, after), name.clone()]);
    }
    let functions = comparison.functions.len();
    let all = match (functions, same) {
        (1, _) => "all: 1 function".to_owned(),
        (_, 0) => format!("all: {functions} functions"),
        (_, same) => format!("all: {functions} functions, of which {same} are the same as before"),
    };
    rows.push([pair(comparison.instructions()), String::new(), pair(spilled), all]);
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2)];
    let mut out = String::new();
    for [instructions, registers, spills, name] in &rows {
        let line = format!(
            "  {instructions:>0$}  {registers:>1$}  {spills:>2$}  {name}",
            widths[0], widths[1], widths[2]
        );
        writeln!(out, "{}", line.trim_end()).expect("a string can be written to");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(functions: &[(&str, usize, Option<u32>, u32)]) -> Measured {
        let function = |&(name, length, registers, spills): &(&str, usize, Option<u32>, u32)| {
            (name.to_owned(), Function { code: vec![0; length], registers, spills })
        };
        Measured { functions: functions.iter().map(function).collect() }
    }

    #[test]
    fn longer_functions_and_those_that_spill_more_are_worse() {
        let before =
            measured(&[("a", 5, Some(8), 0), ("b", 5, Some(8), 0), ("c", 5, None, 4), ("d", 7, None, 8)]);
        let after =
            measured(&[("a", 6, Some(8), 0), ("b", 4, Some(8), 4), ("c", 5, None, 4), ("d", 6, None, 0)]);
        let worse = Comparison::new(&before, &after).worse();
        let said: Vec<String> = worse.iter().map(|(name, worse)| format!("{name}: {worse}")).collect();
        assert_eq!(
            said,
            ["a: 5 machine instructions would become 6", "b: 0 bytes of spills would become 4"],
            "c stays, d gets better"
        );
    }

    #[test]
    fn the_table_has_what_changed_and_all() {
        let before = measured(&[("a", 10, Some(8), 0), ("b", 5, None, 0), ("c", 100, None, 0)]);
        let after = measured(&[("a", 9, Some(12), 0), ("b", 6, None, 4), ("c", 100, None, 0)]);
        let shown = table(&Comparison::new(&before, &after));
        let expected = "  instructions  registers  spilled bytes\n\
                        \x20      10 -> 9    8 -> 12              0  a\n\
                        \x20       5 -> 6          ?         0 -> 4  b\n\
                        \x20          115                    0 -> 4  all: 3 functions, of which 1 are the same as before\n";
        assert_eq!(shown, expected, "{shown}");
    }
}
