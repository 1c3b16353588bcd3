//! `cargo fuzz run uri`: see `reliability::fuzzing::uri`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reliability::fuzzing::uri(bytes));
