//! A text on its way into the store: a sealed capture that removes itself.
//!
//! Responsible for leaving no capture behind, whatever becomes of the save:
//! one that is left would be taken for a call that died. It can only be left by
//! a process that dies; it names the call that it was for, whose own capture is
//! older, so that recovery ends that one first and then only removes this.

use std::sync::Arc;

use artifacts::capture::{Capture, CaptureError};
use artifacts::{CaptureMeta, CaptureRoot, Publication, SealedCapture};
use output_contract::{OutputDeclaration, Timestamp};
use spill::SaveText;

/// A text in a capture of its own.
#[derive(Debug)]
pub(crate) struct Written {
    /// Taken when it is removed.
    capture: Option<Capture>,
    sealed: Option<Arc<SealedCapture>>,
}

impl Written {
    /// Writes and seals a text. It blocks for as long as that takes.
    pub(crate) fn new(
        root: &CaptureRoot,
        text: &SaveText,
        now: Timestamp,
    ) -> Result<Self, CaptureError> {
        let meta = CaptureMeta {
            session_id: text.owner.session.clone(),
            call_id: text.source.call.clone(),
            parent_call_id: None,
            tool: text.source.tool.clone(),
            title: String::new(),
            output: OutputDeclaration::Single,
            started_at: now,
            timeout_ms: None,
        };
        let mut written = Self { capture: None, sealed: None };
        let capture = written.capture.insert(root.create(&meta)?);
        let mut writer = capture.stream_writer(0)?;
        writer.append(text.content.as_bytes())?;
        written.sealed = Some(Arc::new(writer.seal()?));
        Ok(written)
    }

    /// What is to be published.
    pub(crate) fn publication(&self) -> Publication {
        Publication { blobs: self.sealed.iter().cloned().collect(), manifest: None }
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        if let Some(capture) = self.capture.take() {
            // What is left is found by recovery.
            let _ = capture.remove();
        }
    }
}
