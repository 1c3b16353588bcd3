//! Session logs as their users meet them: in files, by several processes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod append;
mod concurrent;
mod damage;
mod forks;
mod format;
mod histories;
mod journal;
mod list;
mod replaying;
mod sample;
