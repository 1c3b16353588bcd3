//! What a tool is, and how one call of it is prepared and executed.

use std::fmt::Debug;

use async_trait::async_trait;
use output_contract::{CallId, Fields, OutputDeclaration, SessionId, ToolName};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::approve::Resource;
use crate::completion::Completion;
use crate::sink::OutputSink;
use crate::spilling::CallSpill;

/// A tool that a model may call.
///
/// One value serves many calls at once; what belongs to a call is in its
/// [`PreparedCall`].
#[async_trait]
pub trait Tool: Debug + Send + Sync {
    /// What the tool is. Constant for the life of the value.
    fn spec(&self) -> &ToolSpec;

    /// Decodes and checks the arguments of one call, and names what it will
    /// touch. It reads what it must to do so (resolving a symbolic link, say)
    /// and changes nothing; dropping the future leaves nothing behind.
    ///
    /// # Errors
    /// [`PrepareError`] where the arguments are wrong; the message goes to the
    /// model, so it says what would be right.
    async fn prepare(&self, arguments: Value) -> Result<Box<dyn PreparedCall>, PrepareError>;
}

/// The description of a tool.
#[derive(Debug, Clone)]
pub struct ToolSpec {
    /// The name the model calls it by.
    pub name: ToolName,
    /// What the model is told of it.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Value,
    /// JSON Schema of its structured value, where it gives one.
    pub output_schema: Option<Value>,
    /// Hints such as read-only or destructive, passed through.
    pub annotations: Fields,
    /// The output it produces.
    pub output: OutputDeclaration,
    /// Who bounds that output.
    pub handling: OutputHandling,
    /// Whether its `filePath` argument takes artifact URIs, so that hints may
    /// name it, whatever it is called.
    pub reads_artifacts: bool,
}

/// Who bounds a tool's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OutputHandling {
    /// The runtime captures, stores and previews it.
    Captured,
    /// The tool returns a bounded page, which is never captured, stored or cut
    /// again.
    SelfPaginating,
}

/// One call, ready to run.
#[async_trait]
pub trait PreparedCall: Debug + Send {
    /// A short title for a person, such as the command line. Empty: the tool's
    /// name.
    fn title(&self) -> String {
        String::new()
    }

    /// Everything that executing touches. The approver decides on these.
    fn resources(&self) -> Vec<Resource>;

    /// Runs the call to its end.
    ///
    /// When [`CallContext::cancel`] fires, the call should end soon; one that
    /// does not is dropped, and what it had sent is kept. A panic is a failed,
    /// interrupted call.
    async fn execute(self: Box<Self>, cx: CallContext) -> Completion;
}

/// What a running call has to work with.
#[derive(Debug)]
pub struct CallContext {
    /// The session.
    pub session_id: SessionId,
    /// This call.
    pub call_id: CallId,
    /// The call that made this one: then this one is nested.
    pub parent_call_id: Option<CallId>,
    /// Where its output goes.
    pub sink: OutputSink,
    /// Fires when the call should end.
    pub cancel: CancellationToken,
    /// Where the call spills to, for a tool that must not hold a whole text
    /// until it ends; `None` where the runtime has no spill store.
    pub spill: Option<CallSpill>,
}

impl CallContext {
    /// Where the call spills to; `None` where the runtime has no spill store, so
    /// that the tool has to do without.
    pub fn spill(&self) -> Option<&CallSpill> {
        self.spill.as_ref()
    }
}

/// Why a call cannot be prepared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PrepareError {
    /// The arguments do not fit the tool's schema or their own rules.
    #[error("invalid arguments: {message}")]
    Arguments {
        /// What is wrong and what would be right.
        message: String,
    },
    /// Something that preparing needs could not be read.
    #[error("{message}")]
    Unavailable {
        /// What, and what to do.
        message: String,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl PrepareError {
    /// Wrong arguments, with what would be right.
    pub fn arguments(message: impl Into<String>) -> Self {
        Self::Arguments { message: message.into() }
    }
}
