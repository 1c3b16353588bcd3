//! The policy in a tool runtime.
//!
//! Responsible for which results it is for: plain text, of a call that the model
//! made, by a tool that does not page its own output. It decides by what the
//! call declares, never by a tool's name.

use async_trait::async_trait;
use output_retention::Classification;
use spill::{SpillOwner, SpillSource};
use tool_api::{
    CallInfo, CallPreview, OutputHandling, Plugin, PluginError, PostExecute, Presentation,
    Registrar, Replacement, SpillSlot,
};

use crate::apply::{Applied, FinishedText, RESULT_LABEL, apply};
use crate::cap::MaxInlineBytes;
use crate::smaller::smaller;

/// Bounds what is presented of a call. Registered last, it sees what all other
/// listeners settled.
///
/// - A text that was supplied whole and is over the cap is spilled, and shown by
///   its ends. A failed result is spilled too, and stays failed: how the call
///   ended is still said last.
/// - Previews over the cap are rendered smaller, and never saved: their whole
///   is an artifact already. So is a whole text whose rendering alone is over
///   the cap.
/// - A text that another listener put in place of the rendering is bounded too:
///   it is spilled as it is. Where that fails it stays, as that listener made it.
/// - Only plain text is spilled. Binary output is left to its rendering, which is
///   a line. Results with attachments or links are left alone, since their text
///   belongs to these, unless another listener replaced it. Display, metadata,
///   emitted messages and status are never touched.
/// - Self-paginating tools and nested calls are left alone.
#[derive(Debug)]
pub struct SpillPolicy {
    cap: MaxInlineBytes,
    store: SpillSlot,
}

impl SpillPolicy {
    /// Bounds results by `cap`, and spills to whatever is in `store` when a call
    /// ends.
    pub const fn new(cap: MaxInlineBytes, store: SpillSlot) -> Self {
        Self { cap, store }
    }

    async fn spill(&self, call: &CallInfo, finished: Finished<'_>) -> Applied {
        let CallInfo { session_id, call_id, tool, .. } = call;
        let finished = FinishedText {
            text: finished.text,
            ending: finished.preview.map(|preview| &preview.ending),
            owner: Some(SpillOwner { session: session_id.clone() }),
            source: SpillSource {
                tool: tool.clone(),
                call: call_id.clone(),
                label: RESULT_LABEL.to_owned(),
            },
        };
        apply(&finished, self.cap, self.store.get().map(|store| &**store)).await
    }
}

/// A text, and the preview that says how its call ended where it does not.
#[derive(Debug, Clone, Copy)]
struct Finished<'a> {
    text: &'a str,
    preview: Option<&'a CallPreview>,
}

#[async_trait]
impl PostExecute for SpillPolicy {
    async fn apply(&self, call: &CallInfo, presentation: Presentation) -> Presentation {
        if call.handling == OutputHandling::SelfPaginating || call.parent_call_id.is_some() {
            return presentation;
        }
        match presentation {
            Presentation::Full { text, otherwise }
                if otherwise.accompanied || is_binary(&otherwise) =>
            {
                Presentation::Full { text, otherwise }
            }
            Presentation::Preview(preview) if preview.accompanied => Presentation::Preview(preview),
            Presentation::Full { text, otherwise } => {
                let finished = Finished { text: &text, preview: Some(&otherwise) };
                match self.spill(call, finished).await {
                    Applied::Spilled(spilled) => Presentation::Replaced(Replacement {
                        text: spilled.text,
                        shown: vec![spilled.shown],
                    }),
                    Applied::Unchanged(_) => Presentation::Full { text, otherwise },
                    Applied::Within => {
                        Presentation::Full { text, otherwise: smaller(otherwise, self.cap, call) }
                    }
                }
            }
            Presentation::Preview(preview) => {
                Presentation::Preview(smaller(preview, self.cap, call))
            }
            Presentation::Replaced(replacement) => {
                let finished = Finished { text: &replacement.text, preview: None };
                let text = match self.spill(call, finished).await {
                    Applied::Spilled(spilled) => spilled.text,
                    Applied::Within | Applied::Unchanged(_) => replacement.text,
                };
                // Of the streams it shows no more than that listener's text did;
                // how much less cannot be known.
                Presentation::Replaced(Replacement { text, ..replacement })
            }
        }
    }
}

fn is_binary(preview: &CallPreview) -> bool {
    let mut streams = preview.streams.iter();
    streams.any(|stream| matches!(stream.preview.classification(), Classification::Binary { .. }))
}

/// Adds the policy to a runtime. Installed last.
#[derive(Debug, Clone, Copy, Default)]
pub struct SpillPlugin {
    /// The cap; `None` registers nothing.
    pub max_inline_bytes: Option<MaxInlineBytes>,
}

impl Plugin for SpillPlugin {
    fn install(&self, registrar: &mut Registrar) -> Result<(), PluginError> {
        if let Some(cap) = self.max_inline_bytes {
            let policy = SpillPolicy::new(cap, registrar.spill());
            registrar.post_execute(std::sync::Arc::new(policy));
        }
        Ok(())
    }
}
