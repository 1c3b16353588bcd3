//! What the store must survive.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod damage;
mod fuzzing;
mod torture;
