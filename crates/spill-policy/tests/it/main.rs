//! The policy: on texts, as a listener, and in an agent of a few lines.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod apply;
mod example;
mod listener;
mod log;
mod pipeline;
mod previews;
