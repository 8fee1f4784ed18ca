//! `cargo fuzz run -s none bytes`: see `tests/support/hostile.rs`.
#![no_main]

#[path = "../../tests/support/hostile.rs"]
#[allow(dead_code, reason = "each target runs one of the functions")]
mod hostile;
#[path = "../../tests/support/invariants.rs"]
mod invariants;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    hostile::bytes(data);
});
