//! Where two pieces of code diverge: the first register whose values differ, before the results do.
//!
//! It only explains a counterexample. Registers of the same name are compared write by write; only if all of those
//! agree, the first value is named that the other piece never computes.

use super::Counterexample;
use super::fragment::{Computed, Written, line};
use hashbrown::{HashMap, HashSet};
use ptxopt_grammar::meaning::concrete::evaluate;
use ptxopt_grammar::meaning::term::{Op, Terms};
use ptxopt_grammar::tree::Module;

/// A line about the first intermediate value of `after` that `before` has not, for these inputs.
#[must_use]
pub fn parting(
    terms: &Terms,
    before: &Computed,
    (module, after): (&Module<'_>, &Computed),
    counterexample: &Counterexample,
) -> Option<String> {
    let number = |term| if let Op::Input(number) = terms.op(term) { number as usize + 1 } else { 0 };
    let mut inputs = vec![0; terms.iter().map(number).max().unwrap_or(0)];
    for input in &counterexample.inputs {
        inputs[input.number as usize] = input.value;
    }
    let values = |computed: &Computed| {
        let terms_of: Vec<_> = computed.written.iter().map(|written| written.value).collect();
        evaluate(terms, &terms_of, &inputs)
    };
    let (olds, news) = (values(before), values(after));
    let named = by_name(&before.written);
    let counterpart = |name: (&str, usize)| named.get(&name).map(|&at| olds[at]);
    let mut seen: HashSet<u128> = olds.iter().copied().collect();
    seen.extend(counterexample.inputs.iter().map(|input| input.value));
    let names = occurrences(&after.written);
    let differs = |at: &usize| counterpart(names[*at]).is_some_and(|old| old != news[*at]);
    let unseen = |at: &usize| counterpart(names[*at]).is_none() && !seen.contains(&news[*at]);
    let at = (0..news.len()).find(differs).or_else(|| (0..news.len()).find(unseen))?;
    let Written { register, stmt, value } = &after.written[at];
    let line = line(module, *stmt);
    let digits = terms.width(*value).div_ceil(4) as usize;
    let shown = |value: u128| format!("0x{value:0digits$x}");
    let before = counterpart(names[at]).map_or_else(|| "-".to_owned(), shown);
    Some(format!(
        "  first differing intermediate: {register} (line {line}) before={before} after={}\n",
        shown(news[at])
    ))
}

/// The name of each written register, and how often it was written before.
fn occurrences(written: &[Written]) -> Vec<(&str, usize)> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let mut names = Vec::with_capacity(written.len());
    for Written { register, .. } in written {
        let count = counts.entry(register).or_default();
        names.push((register.as_str(), *count));
        *count += 1;
    }
    names
}

fn by_name(written: &[Written]) -> HashMap<(&str, usize), usize> {
    occurrences(written).into_iter().enumerate().map(|(at, name)| (name, at)).collect()
}
