//! The seam itself, and what is handed over it.

use std::fmt::Debug;

use async_trait::async_trait;
use output_contract::{CallId, SessionId, ToolName};

use crate::error::SpillError;
use crate::reference::SpillRef;

/// A place that keeps texts that are too long to present.
///
/// - **Atomicity.** After [`save_text`](Self::save_text) returns a reference,
///   the whole text is behind it, byte for byte; where it fails, nothing is
///   left that could be taken for it.
/// - **Ordering.** None between saves; they may run at once, and a slow one
///   keeps no other back.
/// - **Cancellation.** A dropped future leaves the text saved or not, and never
///   in part. What it saved has no reference, so that a backend may remove it.
/// - **Idempotence.** None is promised: the same text saved twice may have one
///   locator, where the content is its address, or two of which either may
///   outlive the other. Texts that differ never share one.
/// - **Scope.** The owner is whom a text is kept for: a backend that removes
///   texts does so by owner. It is no access right: whoever has the locator may
///   hand it to the backend's reader, so that a fork or a resumed session reads
///   what it inherited, for as long as it is kept.
/// - **Time.** None is set: a caller that cannot wait drops the future.
/// - Callers must not assume anything of a locator's form, nor that what they
///   can save is kept for ever.
///
/// The clauses are in `conformance`, which every backend runs.
#[async_trait]
pub trait SpillStore: Debug + Send + Sync {
    /// Keeps a text.
    ///
    /// # Errors
    /// [`SpillError`]; nothing is kept then.
    async fn save_text(&self, text: SaveText) -> Result<SpillRef, SpillError>;

    /// The most bytes that locator and hint together have for a text of this
    /// name, asked before anything is saved so that a notice that will not fit
    /// costs nothing. The locator and hint of a save never exceed it.
    fn max_reference_bytes(&self, suggested_name: &str) -> usize;
}

/// A text to keep, and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SaveText {
    /// Who it is kept for.
    pub owner: SpillOwner,
    /// What made it.
    pub source: SpillSource,
    /// A name to recognise it by, such as `web_fetch.txt`. Any text will do: a
    /// backend makes of it what its names allow.
    pub suggested_name: String,
    /// The text, kept as it is.
    pub content: String,
}

/// Whose text it is: the namespace that it is kept under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpillOwner {
    /// The session that saves it.
    pub session: SessionId,
}

/// What made a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpillSource {
    /// The tool.
    pub tool: ToolName,
    /// The call.
    pub call: CallId,
    /// Which of the texts of that call it is, such as `result`.
    pub label: String,
}
