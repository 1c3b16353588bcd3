//! The policy on one text.
//!
//! Responsible for the order of things: nothing is saved that could not be
//! presented, and nothing is presented that was not saved.

use std::error::Error;

use output_contract::{CallId, SessionId, ToolName};
use output_retention::{Ending, Shown, SpilledView};
use spill::{SaveText, SpillError, SpillOwner, SpillRef, SpillSource, SpillStore};

use crate::cap::MaxInlineBytes;

/// Which of a call's texts its result is, for the store.
pub const RESULT_LABEL: &str = "result";

/// A text as a tool, or what formats its result, finished it.
#[derive(Debug, Clone)]
pub struct FinishedText<'a> {
    /// The text.
    pub text: &'a str,
    /// How the call ended, where the text does not say it: it is shown after the
    /// text, inside the cap, and not saved.
    pub ending: Option<&'a Ending>,
    /// Whom it is kept for; without an owner it is not.
    pub owner: Option<SpillOwner>,
    /// What made it.
    pub source: SpillSource,
}

impl<'a> FinishedText<'a> {
    /// The result of a call that says itself how it ended.
    pub fn new(text: &'a str, session: SessionId, tool: ToolName, call: CallId) -> Self {
        Self {
            text,
            ending: None,
            owner: Some(SpillOwner { session }),
            source: SpillSource { tool, call, label: RESULT_LABEL.to_owned() },
        }
    }

    /// The name that is suggested to the store: the tool's, as a text file.
    fn suggested_name(&self) -> String {
        format!("{}.txt", self.source.tool)
    }
}

/// What the policy did with a text.
#[derive(Debug)]
pub enum Applied {
    /// It is within the cap; nothing was saved.
    Within,
    /// It is kept whole, and this is to be shown.
    Spilled(Spilled),
    /// It is over the cap and stays as it is; the reason was logged.
    Unchanged(NotSpilled),
}

/// What is shown of a text that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spilled {
    /// Head, tail, the notice, and how the call ended: within the cap.
    pub text: String,
    /// Where the whole text is.
    pub reference: SpillRef,
    /// How many of its bytes are not shown.
    pub omitted_bytes: u64,
    /// What is shown of it.
    pub shown: Shown,
}

/// Why a text over the cap stays as it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotSpilled {
    /// It is kept for nobody.
    #[error("the call has no owner to keep its result for")]
    NoOwner,
    /// There is no place to keep it.
    #[error("there is no spill store")]
    NoStore,
    /// Not even the notice would fit; nothing was saved.
    #[error(
        "a notice with a reference of up to {reference_bytes} bytes does not fit into {cap} bytes"
    )]
    NoRoom {
        /// The cap, in bytes.
        cap: usize,
        /// The longest that locator and hint can be together, in bytes.
        reference_bytes: usize,
    },
    /// The store did not keep it.
    #[error("could not spill the result")]
    Save(#[source] SpillError),
    /// The store keeps it under a reference that is longer than it said, and
    /// that does not fit.
    #[error("the spill store's reference has {reference_bytes} bytes, more than it said")]
    LongReference {
        /// Locator and hint together, in bytes.
        reference_bytes: usize,
    },
}

/// Applies the policy to a finished text.
///
/// A text that, with its ending, is longer than `cap` is saved to `store`, once,
/// and what is to be shown is returned. Dropping the future while it saves leaves
/// the text saved or not. It returns when the store does: there is no timeout.
pub async fn apply(
    finished: &FinishedText<'_>,
    cap: MaxInlineBytes,
    store: Option<&dyn SpillStore>,
) -> Applied {
    let FinishedText { text, ending, .. } = *finished;
    let view = SpilledView { text, ending, max_bytes: cap.get() };
    if view.fits_whole() {
        return Applied::Within;
    }
    match spill(finished, &view, store).await {
        Ok(spilled) => Applied::Spilled(spilled),
        Err(reason) => {
            let SpillSource { tool, call, .. } = &finished.source;
            tracing::warn!(
                reason = &reason as &dyn Error,
                %tool,
                %call,
                bytes = text.len(),
                cap = cap.get(),
                "a result over the cap is not spilled"
            );
            Applied::Unchanged(reason)
        }
    }
}

async fn spill(
    finished: &FinishedText<'_>,
    view: &SpilledView<'_>,
    store: Option<&dyn SpillStore>,
) -> Result<Spilled, NotSpilled> {
    let owner = finished.owner.clone().ok_or(NotSpilled::NoOwner)?;
    let store = store.ok_or(NotSpilled::NoStore)?;
    let suggested_name = finished.suggested_name();
    let reference_bytes = store.max_reference_bytes(&suggested_name);
    if !view.fits_reference(reference_bytes) {
        return Err(NotSpilled::NoRoom { cap: view.max_bytes, reference_bytes });
    }
    let (source, content) = (finished.source.clone(), finished.text.to_owned());
    let text = SaveText { owner, source, suggested_name, content };
    let reference = store.save_text(text).await.map_err(NotSpilled::Save)?;
    let rendered =
        view.render(reference.locator.as_str(), &reference.retrieval_hint).ok_or_else(|| {
            NotSpilled::LongReference { reference_bytes: reference.reference_bytes() }
        })?;
    Ok(Spilled {
        text: rendered.text,
        reference,
        omitted_bytes: rendered.omitted_bytes,
        shown: rendered.shown,
    })
}
