//! Jobs on all processors: each is taken by whichever thread is free, and results are in the order of the jobs.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs a function on each of several jobs, on all processors; the results in the order of the jobs.
pub(crate) fn each<J: Sync, R: Send>(jobs: &[J], run: impl Fn(&J) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results: Mutex<BTreeMap<usize, R>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(at) else { break };
                    let result = run(job);
                    results.lock().expect("no thread panics").insert(at, result);
                }
            });
        }
    });
    results.into_inner().expect("no thread panics").into_values().collect()
}
