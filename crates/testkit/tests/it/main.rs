//! The test backends keep the contracts of their seams.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod conformance;
mod corpus;
mod faults;
mod publish;
mod scripts;
mod spill;
mod store;
