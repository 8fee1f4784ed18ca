//! Which functions are left as they came, since the assembler makes worse code of them otherwise.
//!
//! After a module was optimised and assembled, the functions that got worse are added, and it is optimised again without
//! them, until none is worse. A function without rewrites can still be worse if another was inlined into it; then
//! everything is left. So each time more is left than before, and this ends.

use super::{Comparison, Worse};
use std::collections::BTreeMap;

/// The environment variable by which builds say what is left: with `always`, nothing is, and nothing is assembled.
pub(crate) const KEEP: &str = "PTXOPT_KEEP";

/// What is left as it came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leave {
    /// Functions, each with the reason.
    pub(crate) functions: BTreeMap<String, String>,
    /// The reason to leave all of them.
    pub(crate) all: Option<&'static str>,
    /// Functions that got longer only since the assembler unrolls what became shorter, each with its machine
    /// instructions before and after with loops as they are written, on the first GPU where that is so.
    unrolled: BTreeMap<String, (u32, u32)>,
}

impl Leave {
    /// Adds the functions that got worse in any of the comparisons; returns whether there were any. One that only got
    /// longer is not worse if it did not with loops as they are written, as comparisons on the same GPUs say that are
    /// made if they are needed; there are none if that cannot be said.
    ///
    /// # Errors
    ///
    /// Whatever these comparisons end with.
    pub(crate) fn worse<E>(
        &mut self,
        comparisons: &[Comparison],
        as_written: impl FnOnce() -> Result<Vec<Comparison>, E>,
    ) -> Result<bool, E> {
        let worse: Vec<BTreeMap<String, Worse>> = comparisons.iter().map(Comparison::worse).collect();
        let mut worse: Vec<(usize, String, Worse)> = worse
            .into_iter()
            .enumerate()
            .flat_map(|(gpu, worse)| worse.into_iter().map(move |(name, worse)| (gpu, name, worse)))
            .collect();
        if worse.iter().any(|(.., worse)| !worse.spills_more()) {
            let as_written = as_written()?;
            let still: Vec<_> = as_written.iter().map(Comparison::worse).collect();
            let is_worse = |(gpu, name, worse): &(usize, String, Worse)| {
                worse.spills_more() || still.get(*gpu).is_none_or(|worse| worse.contains_key(name))
            };
            let (left, unrolled): (Vec<_>, Vec<_>) = worse.into_iter().partition(is_worse);
            worse = left;
            let as_it_is = |(gpu, name, _): (usize, String, Worse)| {
                let (before, after) = as_written.get(gpu)?.functions.get(&name)?;
                Some((name, (before.instructions(), after.instructions())))
            };
            // Of several GPUs, the first is the last to be taken over.
            self.unrolled = unrolled.into_iter().rev().filter_map(as_it_is).collect();
        }
        if worse.is_empty() {
            return Ok(false);
        }
        let known = self.functions.len();
        for (_, name, worse) in worse {
            self.functions.entry(name).or_insert_with(|| format!("it would get worse: {worse}"));
        }
        if self.functions.len() == known {
            self.all = Some("a function into which it is inlined would get worse");
        }
        Ok(true)
    }

    /// What is to be said of functions that got longer and are not left.
    pub(crate) fn notes(&self) -> impl Iterator<Item = String> {
        self.unrolled.iter().map(|(name, (before, after))| {
            format!(
                "`{name}` got longer since a loop became short enough to be unrolled: {before} machine instructions \
                 became {after} with loops as they are written"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Function, Measured};
    use super::*;
    use std::convert::Infallible;

    fn comparison(functions: &[(&str, [usize; 2], [u32; 2])]) -> Comparison {
        let measured = |side: usize| {
            let function = |&(name, lengths, spills): &(&str, [usize; 2], [u32; 2])| {
                let code = vec![0; lengths[side]];
                (name.to_owned(), Function { code, registers: None, spills: spills[side] })
            };
            Measured { functions: functions.iter().map(function).collect() }
        };
        Comparison::new(&measured(0), &measured(1))
    }

    fn left(comparisons: &[Comparison], as_written: Vec<Comparison>) -> (bool, Vec<String>) {
        let mut leave = Leave::default();
        let worse = leave.worse(comparisons, || Ok::<_, Infallible>(as_written));
        (worse.expect("nothing fails"), leave.functions.into_keys().collect())
    }

    #[test]
    fn what_is_longer_for_loops_that_are_unrolled_is_not_worse() {
        let unrolled = [comparison(&[("f", [10, 20], [0; 2]), ("g", [10, 11], [0; 2])])];
        let as_written = vec![comparison(&[("f", [10, 8], [0; 2]), ("g", [10, 11], [0; 2])])];
        assert_eq!(left(&unrolled, as_written), (true, vec!["g".to_owned()]));
        let as_written = vec![comparison(&[("f", [10, 8], [0; 2]), ("g", [10, 10], [0; 2])])];
        assert_eq!(left(&unrolled, as_written.clone()), (false, Vec::new()));
        let mut leave = Leave::default();
        let worse = leave.worse(&unrolled, || Ok::<_, Infallible>(as_written));
        assert!(!worse.expect("nothing fails"));
        let notes: Vec<String> = leave.notes().collect();
        assert_eq!(notes.len(), 2);
        assert!(notes[0].starts_with("`f` got longer since "), "{}", notes[0]);
        assert!(notes[0].contains(": 10 machine instructions became 8 "), "{}", notes[0]);
    }

    #[test]
    fn what_cannot_be_counted_as_it_is_written_is_worse_if_it_is_longer() {
        assert_eq!(left(&[comparison(&[("f", [10, 20], [0; 2])])], Vec::new()), (true, vec!["f".to_owned()]));
    }

    #[test]
    fn what_spills_more_is_worse_however_loops_are_counted() {
        let same = comparison(&[("f", [10, 10], [0; 2])]);
        for instructions in [[10, 20], [10, 9]] {
            let spills = comparison(&[("f", instructions, [0, 4])]);
            assert_eq!(left(&[spills], vec![same.clone()]), (true, vec!["f".to_owned()]));
        }
    }

    #[test]
    fn each_gpu_is_compared_with_itself() {
        let [longer, shorter] = [[10, 12], [10, 9]].map(|lengths| comparison(&[("f", lengths, [0; 2])]));
        let both = [shorter.clone(), longer.clone()];
        assert!(left(&both, both.to_vec()).0);
        assert!(!left(&both, vec![longer, shorter]).0, "where it is longer it is so for its loops");
    }
}
