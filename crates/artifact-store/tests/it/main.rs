//! The store in a real directory.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod asynchronous;
mod collecting;
mod concurrency;
mod conformance;
mod crashing;
mod expiring;
mod failing;
mod guarding;
mod healing;
mod interleaving;
mod interposing;
mod machine;
mod model;
mod numbers;
mod opening;
mod oracle;
mod reading;
mod recovery;
mod reports;
mod retiring;
mod scratch;
mod verifying;
