//! `cargo fuzz run page`: see `reliability::fuzzing::page`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reliability::fuzzing::page(bytes));
