//! A spill backend over the artifact store.
//!
//! A spilled text is an artifact: its locator is `artifact://<digest>`, which
//! the `read` tool and `overspill read` page through, verified. It is retained
//! for the call that it was spilled for, and so lives exactly as long as that
//! call's result: releasing the call releases it, and a fork that
//! [borrows](artifacts::ArtifactStore::borrow) and retains it keeps it.
//!
//! The same text is one artifact, however often and by whomever it is spilled.
//! What the store has already, such as the output that a call's result was made
//! of, is not written again.
//!
//! ```
//! use std::sync::Arc;
//!
//! use artifacts::ArtifactStore;
//! use output_contract::Timestamp;
//! use output_retention::Hints;
//! use spill_artifact::ArtifactSpill;
//!
//! fn backend(store: Arc<dyn ArtifactStore>, now: fn() -> Timestamp) -> ArtifactSpill {
//!     ArtifactSpill::new(store, &Hints::Tool { read_tool: "read".to_owned() }, now)
//! }
//! ```
//!
//! Limitations: what was published when a save failed at its last step is
//! retained by nobody, and stays until the store collects.

mod backend;
mod written;

pub use backend::ArtifactSpill;
