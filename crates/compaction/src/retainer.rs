//! The seam to where outputs are kept, as far as pruning needs it.

use std::error::Error;
use std::fmt::Debug;

use artifacts::error::{CaptureError, OpenError, PublishError, RootError};
use async_trait::async_trait;
use output_contract::Digest;

/// Knows what is stored and stores what is not.
///
/// [`StoreRetainer`](crate::StoreRetainer) is the one over an artifact store.
///
/// - **Ordering.** What [`retain`](Self::retain) returns can be read, and is
///   kept for as long as its owner is.
/// - **Cancellation.** A dropped `retain` may have stored or not. What it stored
///   is kept or removed whole; the history is not concerned.
/// - **Idempotence.** Retaining the same bytes again is the same artifact.
#[async_trait]
pub trait Retainer: Debug + Send + Sync {
    /// Which of these are stored, in their order. Nothing is opened.
    ///
    /// # Errors
    /// [`RetainError`] where that cannot be told.
    async fn stored(&self, digests: &[Digest]) -> Result<Vec<bool>, RetainError>;

    /// Stores each of these and keeps it, in their order.
    ///
    /// # Errors
    /// [`RetainError`] where one of them is not kept.
    async fn retain(&self, parts: Vec<Vec<u8>>) -> Result<Vec<Retained>, RetainError>;
}

/// What was stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retained {
    /// Its digest.
    pub digest: Digest,
    /// Its lines; an unterminated rest is one more.
    pub lines: u64,
}

/// Why an output is not kept, or nothing is known of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RetainError {
    /// The store cannot say what it has.
    #[error("could not look for stored output")]
    Look(#[source] OpenError),
    /// Writing it down.
    #[error("could not capture an output")]
    Capture(#[from] CaptureError),
    /// Storing it.
    #[error("could not store an output")]
    Publish(#[from] PublishError),
    /// Keeping it.
    #[error("could not retain an output")]
    Root(#[from] RootError),
    /// A retainer of another kind.
    #[error("the retainer failed")]
    Backend(#[source] Box<dyn Error + Send + Sync>),
}
