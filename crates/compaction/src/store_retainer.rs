//! Keeping outputs in an artifact store, under the session that is compacted.

use std::sync::Arc;

use artifacts::capture::{Capture, CaptureError, CaptureRoot, SealedCapture};
use artifacts::hash::ContentHasher;
use artifacts::{ArtifactStore, Publication};
use async_trait::async_trait;
use output_contract::{CallId, Digest, SessionId};
use tokio::task::{JoinError, spawn_blocking};

use crate::retainer::{RetainError, Retained, Retainer};

/// A [`Retainer`] over any store. What it retains belongs to one session, under
/// call ids of its own that begin with `compaction-` and are the same for the
/// same outputs; it is kept until the session is released.
///
/// It needs a tokio runtime around it. A `retain` that has begun ends in the
/// background when nobody waits for it any more.
#[derive(Debug, Clone)]
pub struct StoreRetainer {
    store: Arc<dyn ArtifactStore>,
    session: SessionId,
}

impl StoreRetainer {
    /// Keeps outputs in `store` for `session`.
    pub fn new(store: Arc<dyn ArtifactStore>, session: SessionId) -> Self {
        Self { store, session }
    }
}

#[async_trait]
impl Retainer for StoreRetainer {
    async fn stored(&self, digests: &[Digest]) -> Result<Vec<bool>, RetainError> {
        self.store.has(digests).await.map_err(RetainError::Look)
    }

    async fn retain(&self, parts: Vec<Vec<u8>>) -> Result<Vec<Retained>, RetainError> {
        let Self { store, session } = self.clone();
        joined(tokio::spawn(retain(store, session, parts)).await)?
    }
}

async fn retain(
    store: Arc<dyn ArtifactStore>,
    session: SessionId,
    parts: Vec<Vec<u8>>,
) -> Result<Vec<Retained>, RetainError> {
    let captures = store.captures().clone();
    let captured = spawn_blocking(move || capture(&captures, &parts)).await;
    let (capture, blobs) = joined(captured)??;
    let retained: Vec<Retained> =
        blobs.iter().map(|blob| Retained { digest: blob.digest(), lines: blob.lines() }).collect();
    let kept = keep(&*store, &session, blobs).await;
    // What is left of the capture is removed by the next collection.
    let _ = spawn_blocking(move || capture.remove()).await;
    kept.map(|()| retained)
}

async fn keep(
    store: &dyn ArtifactStore,
    session: &SessionId,
    blobs: Vec<Arc<SealedCapture>>,
) -> Result<(), RetainError> {
    let call = call_of(&blobs);
    let guard = store.publish(Publication { blobs, manifest: None }).await?;
    let retained = guard.retain(session, &call).await;
    guard.release().await;
    Ok(retained?)
}

fn capture(
    captures: &CaptureRoot,
    parts: &[Vec<u8>],
) -> Result<(Capture, Vec<Arc<SealedCapture>>), CaptureError> {
    let capture = captures.scratch()?;
    let seal = |(index, bytes): (usize, &Vec<u8>)| {
        let mut writer = capture.stream_writer(index)?;
        writer.append(bytes)?;
        writer.seal().map(Arc::new)
    };
    match parts.iter().enumerate().map(seal).collect() {
        Ok(blobs) => Ok((capture, blobs)),
        Err(error) => {
            let _ = capture.remove();
            Err(error)
        }
    }
}

/// The call under which these are retained: the same for the same blobs.
fn call_of(blobs: &[Arc<SealedCapture>]) -> CallId {
    let mut hasher = ContentHasher::new();
    for blob in blobs {
        hasher.update(blob.digest().as_bytes());
    }
    let id = format!("compaction-{}", hasher.finish().facts.digest);
    CallId::new(id).expect("75 bytes without control characters")
}

/// The outcome of a task; a panic is passed on.
fn joined<T>(outcome: Result<T, JoinError>) -> Result<T, RetainError> {
    outcome.map_err(|error| match error.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(cancelled) => RetainError::Backend(Box::new(cancelled)),
    })
}
