//! The `read` tool, called as a runtime calls it.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod artifact;
mod calling;
mod directory;
mod dispatch;
mod ending;
mod file;
mod file_refused;
mod media;
mod pages;
mod store;
mod workspace;
