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
/// - **Ordering.** None between saves; they may run at once.
/// - **Cancellation.** A dropped future leaves the text saved or not, and never
///   in part.
/// - **Idempotence.** None: the same text saved twice has two references, and
///   either may outlive the other.
/// - A reference is bound to what saved it and not to who owns it: whoever has
///   the locator may hand it to the backend's reader, so that a fork or a
///   resumed session reads what it inherited, for as long as it is kept.
/// - Callers must not assume anything of a locator's form, nor that what they
///   can save is kept for ever.
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
