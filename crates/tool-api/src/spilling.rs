//! Spilling by a tool, before its call ends.

use std::sync::Arc;

use spill::{SaveText, SpillError, SpillOwner, SpillRef, SpillSource, SpillStore};

use crate::approve::CallInfo;

/// The runtime's spill store, for one call: what is saved is the call's.
///
/// For what is no output of the tool, such as the transcript of an agent that
/// it ran. Output goes to the sink, and a result that is too long is spilled by
/// policy, without the tool.
#[derive(Debug, Clone)]
pub struct CallSpill {
    store: Arc<dyn SpillStore>,
    owner: SpillOwner,
    source: SpillSource,
}

impl CallSpill {
    /// What a runtime gives to a call.
    pub fn new(store: Arc<dyn SpillStore>, call: &CallInfo) -> Self {
        Self {
            store,
            owner: SpillOwner { session: call.session_id.clone() },
            source: SpillSource {
                tool: call.tool.clone(),
                call: call.call_id.clone(),
                label: String::new(),
            },
        }
    }

    /// Keeps a text for the call. `label` says which of its texts it is, and
    /// `suggested_name` is a file name to recognise it by.
    ///
    /// # Errors
    /// [`SpillError`]; nothing is kept then. A tool that can do without goes on.
    pub async fn save_text(
        &self,
        label: impl Into<String> + Send,
        suggested_name: impl Into<String> + Send,
        content: impl Into<String> + Send,
    ) -> Result<SpillRef, SpillError> {
        let source = SpillSource { label: label.into(), ..self.source.clone() };
        let (suggested_name, content) = (suggested_name.into(), content.into());
        let text = SaveText { owner: self.owner.clone(), source, suggested_name, content };
        self.store.save_text(text).await
    }
}
