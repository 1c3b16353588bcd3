//! `cargo fuzz run sidecar`: see `reliability::fuzzing::sidecar`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reliability::fuzzing::sidecar(bytes));
