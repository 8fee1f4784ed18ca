//! Kernels that were fused by hand: how many machine instructions they have then.

use ptxopt_passes::cost::Gpu;
use std::collections::HashMap;
use std::sync::LazyLock;

const TABLE: &str = include_str!("hand_counts.tsv");

/// By kernel and GPU.
static COUNTS: LazyLock<HashMap<(&str, &str), u32>> = LazyLock::new(|| {
    let mut lines = TABLE.lines().filter(|line| !line.starts_with('#'));
    let gpus: Vec<&str> = lines.next().expect("the table has a head").split('\t').skip(1).collect();
    let mut counts = HashMap::new();
    for line in lines {
        let (name, fields) = line.split_once('\t').expect("a line has a name and counts");
        for (&gpu, count) in gpus.iter().zip(fields.split('\t')).filter(|(_, count)| *count != "-") {
            counts.insert((name, gpu), count.parse().expect("counts are numbers"));
        }
    }
    counts
});

/// The machine instructions of a kernel, where they are known for the GPU.
pub(crate) fn count(kernel: &str, gpu: Gpu) -> Option<u32> {
    COUNTS.get(&(kernel, gpu.to_string().as_str())).copied()
}
