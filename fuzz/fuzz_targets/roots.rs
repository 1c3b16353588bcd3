//! `cargo fuzz run roots`: see `reliability::fuzzing::roots`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reliability::fuzzing::roots(bytes));
