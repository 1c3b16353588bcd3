//! Texts in object stores: in memory, in files, and behind a real server.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod conformance;
mod harness;
mod objects;
mod s3;
mod weed;
