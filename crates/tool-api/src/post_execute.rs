//! What is presented of a finished call, and who may change it.

use std::fmt::Debug;

use async_trait::async_trait;
use output_contract::{ArtifactUri, StreamName};
use output_retention::{Ending, Hints, Limits, Preview, Rendered, Shown, StreamView, render};

use crate::approve::CallInfo;

/// Changes what is presented of a finished call, and nothing else: status,
/// stored output, display and metadata are settled before.
///
/// Listeners form a waterfall in registration order; each gets what the one
/// before it returned. One that fails returns what it got. Dropping the future
/// leaves the presentation as it was.
#[async_trait]
pub trait PostExecute: Debug + Send + Sync {
    /// Returns what is to be presented.
    async fn apply(&self, call: &CallInfo, presentation: Presentation) -> Presentation;
}

/// What is presented of a call's output.
#[derive(Debug, Clone)]
pub enum Presentation {
    /// A single output that was supplied at once and is still whole.
    Full {
        /// The output, exactly as supplied.
        text: String,
        /// What is presented where nothing replaces it.
        otherwise: CallPreview,
    },
    /// Bounded previews, which can be rendered smaller.
    Preview(CallPreview),
    /// Text that takes the place of the rendering.
    Replaced(Replacement),
}

/// Text that takes the place of a rendering, and what it shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// The text.
    pub text: String,
    /// What it shows of each stream, in declaration order; empty where it shows
    /// as much as the rendering would.
    pub shown: Vec<Shown>,
}

impl Replacement {
    /// A text that shows what the rendering would, in other words.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), shown: Vec::new() }
    }
}

/// The previews of a call, as data.
#[derive(Debug, Clone)]
pub struct CallPreview {
    /// One entry a channel, in declaration order.
    pub streams: Vec<PreviewStream>,
    /// The limits that are in force.
    pub limits: Limits,
    /// How the call ended.
    pub ending: Ending,
    /// The form of hints that works for the reader.
    pub hints: Hints,
    /// Whether attachments or links follow the text.
    pub accompanied: bool,
}

/// The preview of one channel.
#[derive(Debug, Clone)]
pub struct PreviewStream {
    /// Its name; a single output has none.
    pub name: Option<StreamName>,
    /// What is kept of its text.
    pub preview: Preview,
    /// Where the whole of it is; `None` where it could not be stored.
    pub artifact: Option<ArtifactUri>,
}

impl CallPreview {
    /// Renders within `limits`, which may be smaller than the ones in force.
    pub fn render(&self, limits: &Limits) -> Rendered {
        let views: Vec<StreamView<'_>> = self
            .streams
            .iter()
            .map(|stream| StreamView {
                name: stream.name.as_ref(),
                preview: &stream.preview,
                artifact: stream.artifact.as_ref(),
            })
            .collect();
        render(&views, limits, &self.ending, &self.hints)
    }
}
