//! The process engine and its tools, over real processes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bash_tool;
mod capture;
mod ending;
mod recorder;
mod run_tool;
mod starting;
mod world;
