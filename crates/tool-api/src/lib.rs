//! The seam between a tool and whatever runs it.
//!
//! A [`Tool`] says what it is ([`ToolSpec`]) and turns arguments into a
//! [`PreparedCall`], which names the [`Resource`]s it touches so that an
//! [`Approver`] can decide, and then executes. Output goes through the
//! [`OutputSink`] of the call: in chunks ([`StreamingSink`]) or at once, never
//! both. The types make the ways of finishing exclusive; [`AdapterSink`] is the
//! one place where they are checked at run time, for tools behind JSON.
//!
//! A tool never stores, cuts or pages its output: that is the runtime's work.
//! [`Plugin`]s bring tools, [`PostExecute`] listeners, and the one place that a
//! runtime spills to.
//!
//! ```
//! use tool_api::{CallContext, Completion, PreparedCall, Resource};
//!
//! #[derive(Debug)]
//! struct Greet(String);
//!
//! #[async_trait::async_trait]
//! impl PreparedCall for Greet {
//!     fn resources(&self) -> Vec<Resource> {
//!         Vec::new()
//!     }
//!
//!     async fn execute(self: Box<Self>, cx: CallContext) -> Completion {
//!         match cx.sink.full(format!("hello {}\n", self.0)) {
//!             Ok(output) => Completion::completed(output),
//!             Err(rejected) => Completion::failed(rejected.sink.empty()),
//!         }
//!     }
//! }
//! ```

mod adapter;
mod approve;
mod completion;
mod plugin;
mod post_execute;
mod sink;
mod spilling;
mod tool;

pub use adapter::{AdapterError, AdapterSink, Finish};
pub use approve::{Access, ApproveAll, Approver, CallInfo, Decision, Resource};
pub use completion::{Completion, CompletionError, NewAttachment, StreamNote};
pub use plugin::{Plugin, PluginError, Registered, Registrar, SpillSlot};
pub use post_execute::{CallPreview, PostExecute, Presentation, PreviewStream, Replacement};
pub use sink::{
    ChannelHandle, Output, OutputMode, OutputSink, RejectedOutput, RejectedReason, SinkBackend,
    SinkError, StreamingSink,
};
pub use spilling::CallSpill;
pub use tokio_util::sync::CancellationToken;
pub use tool::{CallContext, OutputHandling, PrepareError, PreparedCall, Tool, ToolSpec};
