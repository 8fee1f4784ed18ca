//! Random kernels, by seed: some in a test, and any number with a separate command.

use crate::differential::Random;
use crate::optimised::{Tally, random};
use arbitrary::Unstructured;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How many bytes a kernel is made of; it ends where they end.
const BYTES: usize = 2048;

/// How many kernels the test checks.
const KERNELS: u64 = 50;

/// Checks the kernel of a seed.
fn check(seed: u64, tally: &mut Tally) {
    let mut bytes = Vec::with_capacity(BYTES);
    let mut words = Random::new(seed);
    while bytes.len() < BYTES {
        bytes.extend(words.word().to_le_bytes());
    }
    // Data that ends too early makes no kernel; there is nothing to check.
    let _ended = random(&mut Unstructured::new(&bytes), tally);
}

/// Checks the kernels of all seeds from `first` on, until there were `most` or the time is over.
///
/// # Panics
///
/// After all of them, if any failed, with their seeds.
fn check_all(first: u64, most: u64, time: Duration) -> Tally {
    let next = AtomicU64::new(first);
    let (total, failed) = (Mutex::new(Tally::default()), Mutex::new(Vec::new()));
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                let mut tally = Tally::default();
                while start.elapsed() < time {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed - first >= most {
                        break;
                    }
                    let run = || check(seed, &mut tally);
                    // What failed has been printed.
                    if std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err() {
                        println!("seed {seed}");
                        failed.lock().expect("no thread panics while it holds the lock").push(seed);
                    }
                }
                total.lock().expect("no thread panics while it holds the lock").add(&tally);
            });
        }
    });
    let total = total.into_inner().expect("no thread panics while it holds the lock");
    let failed = failed.into_inner().expect("no thread panics while it holds the lock");
    assert!(failed.is_empty(), "{} kernels failed, of the seeds {failed:?}; of all:\n{total}", failed.len());
    total
}

#[test]
fn random_kernels_do_what_they_did() {
    let tally = check_all(0, KERNELS, Duration::from_secs(600));
    println!("{tally}");
    assert_eq!(tally.modules, KERNELS, "every kernel was made");
}

/// `PTXOPT_MINUTES=30 cargo test --test differential -- --ignored --nocapture`; `PTXOPT_SEED` is where it begins.
#[test]
#[ignore = "runs for `PTXOPT_MINUTES`"]
fn random_kernels_for_minutes() {
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |text| text.parse().expect("it is a number"))
    };
    let time = Duration::from_secs(60 * number("PTXOPT_MINUTES", 30));
    println!("{}", check_all(number("PTXOPT_SEED", 1_000_000), u64::MAX, time));
}
