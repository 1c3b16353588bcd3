//! Tests of what the store must survive, and what they share.
//!
//! - The program `torture` lets processes use one store and kills them;
//!   `cargo xtask torture` runs it.
//! - `tests/it` damages stored files bit by bit.
//!
//! `docs/reliability.md` says what each of them shows. For development only: no
//! crate that is shipped depends on this one.

mod random;

pub use random::Random;
