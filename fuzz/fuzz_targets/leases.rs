//! `cargo fuzz run leases`: see `reliability::fuzzing::leases`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reliability::fuzzing::leases(bytes));
