//! Spilled texts in artifact stores, in memory and on disk.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod conformance;
mod harness;
mod keeping;
mod reading;
