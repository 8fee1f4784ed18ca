//! `cargo fuzz run -s none optimise`: see `tests/support/optimised.rs`.
#![no_main]

#[path = "../../tests/support/differential.rs"]
mod differential;
#[path = "../../tests/support/optimised.rs"]
mod optimised;
#[path = "../../tests/support/programs/mod.rs"]
mod programs;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let mut tally = optimised::Tally::default();
    // Data that ends too early makes no kernel; there is nothing to check.
    let _ = optimised::random(&mut arbitrary::Unstructured::new(data), &mut tally);
});
