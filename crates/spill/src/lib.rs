//! The spill seam: a place that keeps a text whole, and says how to get it
//! back.
//!
//! A text that is too long for the model is *spilled*: a [`SpillStore`] takes
//! all of it, and gives a [`SpillRef`] to present instead. Its locator is opaque
//! to everyone but the backend's own reader, and its hint says in words how the
//! model reads it. Backends are crates of their own; who decides that a text is
//! too long, and what is shown of it, is not this crate's business.
//!
//! For whoever writes a backend: the trait's text is its contract,
//! `conformance` (a feature) checks it, [`encode_name`] makes a path segment of
//! a suggested name, and `unblock` (a feature) runs what blocks on a thread.
//! `docs/adding-a-backend.md` has a checklist.
//!
//! Limitations: text only, one save at a time, and no way to list or remove what
//! was spilled: that is between the backend and its operator.

#[cfg(feature = "conformance")]
pub mod conformance;
mod error;
mod name;
mod reference;
mod store;
#[cfg(feature = "unblock")]
mod unblock;

pub use error::{BackendError, SpillError};
pub use name::{MAX_NAME_BYTES, encode_name};
pub use reference::{LocatorError, SpillLocator, SpillRef};
pub use store::{SaveText, SpillOwner, SpillSource, SpillStore};
#[cfg(feature = "unblock")]
pub use unblock::unblock;
