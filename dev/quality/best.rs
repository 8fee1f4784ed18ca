//! The best sequences known, with their counts by ptxas 11.8, 12.9 and 13.5: how few machine instructions a form
//! has been done with on each GPU.

use std::collections::HashMap;
use std::sync::LazyLock;

const TABLE: &str = include_str!("best.tsv");

/// By GPU and form.
static COUNTS: LazyLock<HashMap<&str, HashMap<&str, u32>>> = LazyLock::new(|| {
    let mut counts: HashMap<&str, HashMap<&str, u32>> = HashMap::new();
    for line in TABLE.lines().skip(1) {
        let (form, fields) = line.split_once('\t').expect("a line has a form and counts");
        for (gpu, count) in gpus().into_iter().zip(fields.split('\t')) {
            counts.entry(gpu).or_default().insert(form, count.parse().expect("counts are numbers"));
        }
    }
    counts
});

/// The GPUs of the table, in its order.
pub(crate) fn gpus() -> Vec<&'static str> {
    let head = TABLE.lines().next().expect("the table has a head");
    head.split('\t').skip(1).filter_map(|field| Some(field.split_once(' ')?.0)).collect()
}

/// The fewest machine instructions known; `None` for a form that is not in the table.
pub(crate) fn count(form: &str, gpu: &str) -> Option<u32> {
    COUNTS.get(gpu)?.get(form).copied()
}
