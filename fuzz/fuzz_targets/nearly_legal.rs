//! `cargo fuzz run -s none nearly_legal`: see `tests/support/hostile.rs`.
#![no_main]

#[path = "../../tests/support/hostile.rs"]
#[allow(dead_code, reason = "each target runs one of the functions")]
mod hostile;
#[path = "../../tests/support/invariants.rs"]
mod invariants;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    // Data that ends too early makes no module; there is nothing to check.
    let _ = hostile::nearly_legal(&mut arbitrary::Unstructured::new(data));
});
