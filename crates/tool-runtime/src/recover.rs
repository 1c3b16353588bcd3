//! Ending the calls that a dead process left behind.

use std::error::Error;
use std::io::{self, Read};
use std::sync::Arc;
use std::time::Duration;

use artifacts::capture::{CaptureError, CaptureMeta, DeadCapture, SealedCapture};
use artifacts::{ArtifactStore, BlockingWork, Journal, JournalError};
use camino::Utf8Path;
use output_contract::{
    CallId, Incomplete, IncompleteReason, SavedEvent, SessionId, Status, Timestamp,
};
use output_retention::{Limits, LimitsError, PreviewBuilder};
use tool_api::{CallInfo, OutputHandling};

use crate::config::RuntimeConfig;
use crate::finalize::{EndedStream, Extras, Finalized, Finalizer, innermost};
use crate::record::Facts;

/// A call that was ended for a dead process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered {
    /// The session.
    pub session_id: SessionId,
    /// The call.
    pub call_id: CallId,
    /// Whether its result had already been saved, so that only files were left.
    pub already_saved: bool,
}

/// Why recovery did not finish. What it had not reached is tried again by the
/// next one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecoverError {
    /// The captures cannot be listed.
    #[error("could not look for captures of dead processes")]
    List(#[source] CaptureError),
    /// The journal cannot be read or did not take the result.
    #[error("could not save the result of call {call}")]
    Journal {
        /// The call.
        call: CallId,
        /// Why.
        source: JournalError,
    },
    /// The configured preview limits are out of range.
    #[error("invalid preview limits")]
    Limits {
        /// Which.
        source: LimitsError,
    },
    /// The output of a call cannot be published; its capture is kept.
    #[error("could not publish the output of call {call}: {detail}")]
    Publish {
        /// The call.
        call: CallId,
        /// What the store said.
        detail: String,
    },
}

/// Seals and publishes every capture whose process is dead, and saves an
/// `interrupted` result for its call. Run it before anything else on a store;
/// several at once do not disturb each other, nor calls that run.
///
/// # Errors
/// [`RecoverError`] of the first capture that could not be ended; the captures
/// after it are still tried.
pub async fn recover(
    store: &Arc<dyn ArtifactStore>,
    journal: &Arc<dyn Journal>,
    config: &RuntimeConfig,
    now: Timestamp,
) -> Result<Vec<Recovered>, RecoverError> {
    let root = store.captures().clone();
    let dead =
        blocking(config.blocking_work, move || root.dead()).await.map_err(RecoverError::List)?;
    let mut recovered = Vec::with_capacity(dead.len());
    let mut failed = None;
    for capture in dead {
        match end(&**store, &**journal, config, capture, now).await {
            Ok(call) => recovered.push(call),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    match failed {
        Some(error) => Err(error),
        None => Ok(recovered),
    }
}

async fn end(
    store: &dyn ArtifactStore,
    journal: &dyn Journal,
    config: &RuntimeConfig,
    capture: DeadCapture,
    now: Timestamp,
) -> Result<Recovered, RecoverError> {
    let meta = capture.meta().clone();
    let (session_id, call_id) = (meta.session_id.clone(), meta.call_id.clone());
    let journal_error = |source| RecoverError::Journal { call: call_id.clone(), source };
    let already_saved = journal.has_finished(&session_id, &call_id).await.map_err(journal_error)?;
    if !already_saved {
        let limits = config
            .preview_limits(meta.output.channels())
            .map_err(|source| RecoverError::Limits { source })?;
        let capture = Arc::new(capture);
        let streams = {
            let capture = Arc::clone(&capture);
            blocking(config.blocking_work, move || seal(&capture, limits)).await
        };
        let finalizer =
            Finalizer { store, post_execute: &[], limits, hints: config.hints.hints_unoffered() };
        let facts = facts(&meta, now);
        let Finalized { result, guard } =
            finalizer.captured(facts, &meta.output, streams, Extras::default(), None).await;
        let Some(guard) = guard else {
            let detail = result.incomplete.and_then(|incomplete| incomplete.detail);
            return Err(RecoverError::Publish {
                call: call_id,
                detail: detail.unwrap_or_default(),
            });
        };
        let event = SavedEvent::CallFinished { result: Box::new(result), at: now };
        journal
            .commit(&session_id, &call_id, &*guard, &event)
            .await
            .map_err(|source| RecoverError::Journal { call: call_id.clone(), source })?;
        guard.release().await;
        let capture = Arc::into_inner(capture).expect("sealing has ended");
        remove(capture, config.blocking_work).await;
    } else {
        remove(capture, config.blocking_work).await;
    }
    Ok(Recovered { session_id, call_id, already_saved })
}

fn facts(meta: &CaptureMeta, now: Timestamp) -> Facts {
    let info = CallInfo {
        session_id: meta.session_id.clone(),
        call_id: meta.call_id.clone(),
        parent_call_id: meta.parent_call_id.clone(),
        tool: meta.tool.clone(),
        handling: OutputHandling::Captured,
    };
    let mut facts = Facts::new(info, meta.title.clone(), Status::Interrupted, meta.started_at);
    facts.timeout = meta.timeout_ms.map(Duration::from_millis);
    facts.ended_at = now;
    facts
}

/// Seals the streams, and previews what is in them. What the producer had sent
/// and was not written is unknown. A stream that cannot be read any more is
/// lost, and said so; the others are not.
fn seal(capture: &DeadCapture, limits: Limits) -> Vec<EndedStream> {
    let streams = capture.seal().streams.into_iter();
    streams.map(|sealed| ended(sealed, limits)).collect()
}

fn ended(sealed: Result<SealedCapture, CaptureError>, limits: Limits) -> EndedStream {
    let mut preview = PreviewBuilder::new(limits);
    let sealed = sealed.map_err(|error| error.detail()).and_then(|sealed| {
        let previewed = preview_file(sealed.path(), &mut preview);
        previewed.map(|()| sealed).map_err(|error| innermost(&error))
    });
    let (sealed, incomplete) = match sealed {
        Ok(sealed) => (Some(Arc::new(sealed)), None),
        Err(detail) => {
            let reason = IncompleteReason::StorageError;
            (None, Some(Incomplete { reason, detail: Some(detail) }))
        }
    };
    let preview = preview.finish();
    EndedStream { sealed, preview, seen_preview: None, seen_bytes: None, incomplete }
}

fn preview_file(path: &Utf8Path, preview: &mut PreviewBuilder) -> io::Result<()> {
    let mut file = fs_err::File::open(path)?;
    let mut buffer = vec![0; 256 * 1024];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(()),
            read => preview.push(&buffer[..read]),
        }
    }
}

async fn remove(capture: DeadCapture, work: BlockingWork) {
    if let Err(error) = blocking(work, move || capture.remove()).await {
        tracing::warn!(error = &error as &dyn Error, "could not remove the capture files");
    }
}

async fn blocking<T: Send + 'static>(
    place: BlockingWork,
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    crate::blocking::blocking(place, work).await.expect("recovery does not panic")
}
