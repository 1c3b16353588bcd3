//! The tool against a real server on this machine.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod agent;
mod limits;
mod pages;
mod server;
mod spilling;
