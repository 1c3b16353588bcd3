//! The policy that keeps results inside the model's budget.
//!
//! [`apply()`] takes a finished text and a cap. A text within the cap is left
//! alone; a longer one is *spilled*: saved whole through a
//! [`SpillStore`](spill::SpillStore), and shown by its head, its tail and a
//! notice that says where the whole of it is, all within the cap. Where that
//! cannot be done, the caller shows what it would show anyway: a reason is
//! logged, and a success never becomes a failure.
//!
//! ```
//! use spill_policy::{Applied, FinishedText, MaxInlineBytes, apply};
//! # use testkit::MemorySpill;
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! # runtime.block_on(async {
//! # let store = MemorySpill::with_hint("Use read.");
//! let cap = MaxInlineBytes::new(200)?;
//! let text = "HEAD".repeat(200) + &"TAIL".repeat(200);
//! let result = FinishedText::new(&text, "session-1".parse()?, "fetch".parse()?, "call-1".parse()?);
//! let Applied::Spilled(spilled) = apply(&result, cap, Some(&store)).await else { panic!() };
//! assert!(spilled.text.len() <= 200);
//! assert!(spilled.text.starts_with("HEADHEAD"));
//! assert!(spilled.text.ends_with("result stored at: memory:0000000/fetch.txt. Use read.)"));
//! assert_eq!(store.get(&spilled.reference.locator).unwrap().content, text);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The feature `post-execute` adds the same as a listener and a plugin of a tool
//! runtime (`SpillPolicy`).
//!
//! Limitations: only what was formatted for the model is saved; what a tool left
//! out before is not brought back. There is no timeout: a slow store holds back
//! its own call, which can be cancelled.

mod apply;
mod cap;
#[cfg(feature = "post-execute")]
mod listener;
#[cfg(feature = "post-execute")]
mod smaller;

pub use apply::{Applied, FinishedText, NotSpilled, RESULT_LABEL, Spilled, apply};
pub use cap::{CapError, MaxInlineBytes};
#[cfg(feature = "post-execute")]
pub use listener::{SpillPlugin, SpillPolicy};
