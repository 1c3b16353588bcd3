//! Texts in files on a real file system.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod conformance;
mod harness;
mod modes;
mod reading;
mod refusals;
mod trouble;
