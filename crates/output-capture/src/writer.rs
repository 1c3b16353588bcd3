//! The writer of one channel: file, digest, counts and preview in one pass.

use std::sync::Arc;

use artifacts::capture::{CaptureWriter, SealedCapture};
use bytes::Bytes;
use output_contract::{Incomplete, IncompleteReason};
use output_retention::{Limits, Preview, PreviewBuilder};

use crate::limits::CallBudget;

/// What became of one channel.
#[derive(Debug)]
pub struct CapturedStream {
    /// The stored bytes, ready to publish; `None` where nothing could be kept.
    pub sealed: Option<SealedCapture>,
    /// A preview of what was stored.
    pub preview: Preview,
    /// A preview of what was seen, where a storage error made the two differ:
    /// the one to show if the stored part cannot be published either.
    pub seen_preview: Option<Preview>,
    /// Bytes that the producer sent.
    pub seen_bytes: u64,
    /// A storage error or the size limit, where one ended what is stored.
    pub incomplete: Option<Incomplete>,
}

/// Writes one channel. Used by one thread at a time.
#[derive(Debug)]
pub(crate) struct ChannelWriter {
    /// `None` where the file could not be made.
    file: Option<CaptureWriter>,
    budget: Arc<CallBudget>,
    limits: Limits,
    preview: PreviewBuilder,
    seen_preview: Option<PreviewBuilder>,
    incomplete: Option<Incomplete>,
}

/// Why a channel stopped storing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    SizeLimit { limit: u64 },
    Storage { detail: String },
}

impl ChannelWriter {
    /// A writer to `file`, or one that only previews because of the error that
    /// making the file gave.
    pub(crate) fn new(
        file: Result<CaptureWriter, String>,
        budget: Arc<CallBudget>,
        limits: Limits,
    ) -> Self {
        let preview = PreviewBuilder::new(limits);
        match file {
            Ok(file) => Self {
                file: Some(file),
                budget,
                limits,
                preview,
                seen_preview: None,
                incomplete: None,
            },
            Err(detail) => Self {
                file: None,
                budget,
                limits,
                seen_preview: Some(preview.clone()),
                preview,
                incomplete: Some(storage_error(detail)),
            },
        }
    }

    /// Stores what of `bytes` may be stored. Says why where that is not all.
    pub(crate) fn write(&mut self, bytes: &Bytes) -> Result<(), Stop> {
        if let Some(seen) = &mut self.seen_preview {
            seen.push(bytes);
        }
        if let Some(incomplete) = &self.incomplete {
            let detail = incomplete.detail.clone().unwrap_or_default();
            return Err(match incomplete.reason {
                IncompleteReason::SizeLimit => Stop::SizeLimit { limit: self.reached() },
                _ => Stop::Storage { detail },
            });
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        let taken = self.budget.take(file.accepted(), bytes.len() as u64);
        let taken_len = usize::try_from(taken).expect("taken is at most the chunk's length");
        let stored = bytes.slice(..taken_len);
        if let Err(error) = file.append_shared(stored.clone()) {
            self.budget.give_back(taken);
            let detail = error.detail();
            let mut seen = self.preview.clone();
            seen.push(bytes);
            self.seen_preview = Some(seen);
            self.incomplete = Some(storage_error(detail.clone()));
            return Err(Stop::Storage { detail });
        }
        self.preview.push(&stored);
        if stored.len() < bytes.len() {
            self.incomplete = Some(IncompleteReason::SizeLimit.into());
            return Err(Stop::SizeLimit { limit: self.reached() });
        }
        Ok(())
    }

    fn reached(&self) -> u64 {
        self.budget.reached(self.file.as_ref().map_or(0, CaptureWriter::accepted))
    }

    /// Ends the file. A stream whose file cannot be sealed is lost, and said so.
    pub(crate) fn seal(self, seen_bytes: u64) -> CapturedStream {
        let mut incomplete = self.incomplete;
        let mut preview = self.preview.finish();
        let mut seen_preview = self.seen_preview.map(PreviewBuilder::finish);
        let sealed = self.file.and_then(|file| match file.seal() {
            Ok(sealed) => Some(sealed),
            Err(error) => {
                incomplete = Some(storage_error(error.detail()));
                None
            }
        });
        if sealed.is_none() {
            let stored = std::mem::replace(&mut preview, Preview::of(&[], self.limits));
            seen_preview.get_or_insert(stored);
        }
        CapturedStream { sealed, preview, seen_preview, seen_bytes, incomplete }
    }
}

fn storage_error(detail: String) -> Incomplete {
    Incomplete { reason: IncompleteReason::StorageError, detail: Some(detail) }
}
