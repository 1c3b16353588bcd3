//! The backend: from a text to an artifact that its call retains.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use artifacts::hash::digest_of;
use artifacts::{ArtifactStore, Guard};
use async_trait::async_trait;
use output_contract::{ArtifactUri, Digest, Timestamp};
use output_retention::Hints;
use spill::{SaveText, SpillError, SpillLocator, SpillRef, SpillStore, unblock};

use crate::written::Written;

type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Keeps spilled texts as artifacts.
#[derive(Clone)]
pub struct ArtifactSpill {
    store: Arc<dyn ArtifactStore>,
    hint: String,
    clock: Clock,
}

impl ArtifactSpill {
    /// Keeps texts in `store`. `hints` says which reader of artifacts the model
    /// is offered, and `clock` tells the time.
    pub fn new(
        store: Arc<dyn ArtifactStore>,
        hints: &Hints,
        clock: impl Fn() -> Timestamp + Send + Sync + 'static,
    ) -> Self {
        Self { store, hint: hints.artifact_in_words(), clock: Arc::new(clock) }
    }

    /// Protects what the store has of `digest`; otherwise publishes the text.
    async fn guard(
        &self,
        digest: Digest,
        text: &Arc<SaveText>,
    ) -> Result<Box<dyn Guard>, SpillError> {
        // Whatever keeps it from being borrowed, publishing tries again, and
        // heals what is damaged.
        if let Ok(guard) = self.store.borrow(digest).await {
            return Ok(guard);
        }
        let (root, text, now) = (self.store.captures().clone(), Arc::clone(text), (self.clock)());
        let written = unblock(move || Written::new(&root, &text, now)).await?.map_err(failed)?;
        let guard = self.store.publish(written.publication()).await.map_err(failed)?;
        unblock(move || drop(written)).await?;
        Ok(guard)
    }
}

impl fmt::Debug for ArtifactSpill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArtifactSpill")
            .field("store", &self.store)
            .field("hint", &self.hint)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl SpillStore for ArtifactSpill {
    async fn save_text(&self, text: SaveText) -> Result<SpillRef, SpillError> {
        let text = Arc::new(text);
        let digest = {
            let text = Arc::clone(&text);
            unblock(move || digest_of(text.content.as_bytes())).await?
        };
        let guard = self.guard(digest, &text).await?;
        // What is retained for a call adds to what else is: the call's result
        // retains its own output under the same name.
        guard.retain(&text.owner.session, &text.source.call).await.map_err(failed)?;
        guard.release().await;
        Ok(SpillRef {
            locator: locator(digest),
            bytes: text.content.len() as u64,
            retrieval_hint: self.hint.clone(),
        })
    }

    fn max_reference_bytes(&self, _suggested_name: &str) -> usize {
        locator(Digest::EMPTY).as_str().len() + self.hint.len()
    }
}

fn locator(digest: Digest) -> SpillLocator {
    let uri = ArtifactUri::bare(digest).to_string();
    SpillLocator::new(uri).expect("an artifact URI has no control characters")
}

fn failed(error: impl Error + Send + Sync + 'static) -> SpillError {
    SpillError::Backend(Box::new(error))
}
