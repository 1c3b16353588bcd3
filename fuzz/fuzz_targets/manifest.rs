//! `cargo fuzz run manifest`: see `reliability::fuzzing::manifest`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reliability::fuzzing::manifest(bytes));
