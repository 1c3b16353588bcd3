//! `cargo fuzz run saved_events`: see `reliability::fuzzing::saved_events`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reliability::fuzzing::saved_events(bytes));
