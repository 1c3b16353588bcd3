//! Runs tool calls from arguments to saved result.
//!
//! A [`Runtime`] is composed of tools, a store, a journal and an approver. One
//! call goes: prepare → approve → capture → started event → execute →
//! seal → publish under a guard → post-execute waterfall → render → commit
//! (roots, then the finished event) → release. Everything that is seen of a
//! call afterwards derives from that one saved result.
//!
//! It knows no concrete tool, policy or backend. [`recover()`] ends what a dead
//! process left behind.

mod blocking;
mod builder;
mod call;
mod config;
mod execute;
mod finalize;
mod page_sink;
mod record;
mod recover;
mod runtime;
mod subscribe;

pub use builder::{BuildError, RuntimeBuilder};
pub use call::{CallError, ToolCall};
pub use config::{HintStyle, RuntimeConfig};
pub use recover::{RecoverError, Recovered, recover};
pub use runtime::Runtime;
pub use subscribe::Subscription;
