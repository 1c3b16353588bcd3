//! Compaction as an agent meets it: a history, a summariser, a store.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cancelling;
mod compacting;
mod formats;
mod pairing;
mod properties;
mod pruning;
mod sample;
mod suffixes;
