//! Whole-product tests: the real program on real commands, files and signals.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod bytes;
mod compact;
mod completions;
mod corpus;
mod crash;
mod disks;
mod examples;
mod hints;
mod hostile;
mod keeping;
mod process_life;
mod reads;
mod references;
mod rendering;
mod replays;
mod runtime;
mod sandbox;
mod schemas;
mod sessions;
mod spilling;
