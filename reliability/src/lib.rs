//! Tests of what the store must survive, and what they share.
//!
//! - The program `torture` lets processes use one store and kills them;
//!   `cargo xtask torture` runs it.
//! - [`fuzzing`] has what the fuzz targets of `fuzz/` do.
//! - `tests/it` damages stored files bit by bit.
//!
//! `docs/reliability.md` says what each of them shows. For development only: no
//! crate that is shipped depends on this one.

pub mod fuzzing;
mod random;

pub use random::Random;
