//! The pipeline of one call.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use artifacts::capture::{Capture, CaptureError, CaptureMeta};
use artifacts::{ArtifactStore, BlockingWork, Guard, Journal};
use output_capture::CallCapture;
use output_contract::{Content, LiveEvent, SavedEvent, Status, Timestamp, ToolName, ToolResult};
use output_retention::Hints;
use serde_json::Value;
use spill::SpillStore;
use tool_api::{
    Approver, CallContext, CallInfo, CallSpill, CancellationToken, Decision, OutputHandling,
    OutputMode, OutputSink, PostExecute, PreparedCall, SpillSlot, Tool,
};

use crate::blocking::blocking;
use crate::call::{CallError, ToolCall};
use crate::config::RuntimeConfig;
use crate::execute::execute;
use crate::finalize::{Extras, Finalized, Finalizer, ended_streams};
use crate::page_sink::PageSink;
use crate::record::{Facts, page_output, whole_text};
use crate::subscribe::{Publisher, Subscription};

pub(crate) type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Runs tool calls. Cheap to clone; clones share everything.
#[derive(Debug, Clone)]
pub struct Runtime(Arc<Inner>);

/// What a runtime is composed of.
pub(crate) struct Parts {
    pub(crate) store: Arc<dyn ArtifactStore>,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) clock: Clock,
    pub(crate) approver: Arc<dyn Approver>,
    pub(crate) tools: BTreeMap<ToolName, Arc<dyn Tool>>,
    pub(crate) post_execute: Vec<Arc<dyn PostExecute>>,
    pub(crate) spill: SpillSlot,
    pub(crate) config: RuntimeConfig,
    pub(crate) hints: Hints,
}

struct Inner {
    parts: Parts,
    events: Publisher,
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime")
            .field("tools", &self.parts.tools.keys())
            .field("config", &self.parts.config)
            .finish_non_exhaustive()
    }
}

impl Runtime {
    pub(crate) fn new(parts: Parts) -> Self {
        Self(Arc::new(Inner { parts, events: Publisher::new() }))
    }

    /// The tools that are offered.
    pub fn tools(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.0.parts.tools.values()
    }

    /// The listeners of the post-execute waterfall, in order.
    pub fn post_execute(&self) -> impl Iterator<Item = &Arc<dyn PostExecute>> {
        self.0.parts.post_execute.iter()
    }

    /// Where calls spill to; `None` where no plugin set a store.
    pub fn spill_store(&self) -> Option<&Arc<dyn SpillStore>> {
        self.0.parts.spill.get()
    }

    /// Watches every call of this runtime from now on.
    pub fn subscribe(&self) -> Subscription {
        self.0.events.subscribe()
    }

    /// Runs one call to its saved result.
    ///
    /// Firing `cancel`, or dropping the future, ends the call at whatever it is
    /// waiting for; what it had accepted is finalised all the same, in the
    /// background where the future is gone. An unknown tool, wrong arguments
    /// and a refusal are results too, so that every call has one.
    ///
    /// # Errors
    /// [`CallError`] where the journal did not take the result.
    pub async fn call(
        &self,
        call: ToolCall,
        cancel: &CancellationToken,
    ) -> Result<ToolResult, CallError> {
        let cancel = cancel.child_token();
        // A task of its own, so that it outlives this future.
        let task = tokio::spawn(Arc::clone(&self.0).call(call, cancel.clone()));
        let _cancel_on_drop = cancel.drop_guard();
        task.await.unwrap_or(Err(CallError::Aborted))
    }
}

impl Inner {
    async fn call(
        self: Arc<Self>,
        call: ToolCall,
        cancel: CancellationToken,
    ) -> Result<ToolResult, CallError> {
        let Some(tool) = self.parts.tools.get(&call.tool).cloned() else {
            let known: Vec<&str> = self.parts.tools.keys().map(ToolName::as_str).collect();
            let message = format!("unknown tool {}; there are: {}", call.tool, known.join(", "));
            return self.refuse(&call, None, Status::Failed, message).await;
        };
        let prepared = tokio::select! {
            biased;
            () = cancel.cancelled() => return self.cancelled_early(&call, &*tool).await,
            prepared = tool.prepare(call.arguments.clone()) => prepared,
        };
        let prepared = match prepared {
            Ok(prepared) => prepared,
            Err(error) => {
                return self.refuse(&call, Some(&*tool), Status::Failed, chain(&error)).await;
            }
        };
        let info = call_info(&call, Some(&*tool));
        let resources = prepared.resources();
        let decision = tokio::select! {
            biased;
            () = cancel.cancelled() => return self.cancelled_early(&call, &*tool).await,
            decision = self.parts.approver.decide(&info, &resources) => decision,
        };
        if let Decision::Deny { reason } = decision {
            let message = format!("the call was not allowed: {reason}");
            return self.refuse(&call, Some(&*tool), Status::Failed, message).await;
        }
        match tool.spec().handling {
            OutputHandling::Captured => self.run_captured(call, &*tool, prepared, cancel).await,
            OutputHandling::SelfPaginating => {
                self.run_paginating(call, &*tool, prepared, cancel).await
            }
        }
    }

    /// Says that the call starts. A journal that does not take this keeps no
    /// command from running: a full disk must cost the record, not the work.
    async fn start(&self, call: &ToolCall, tool: &dyn Tool) {
        let captured = tool.spec().handling == OutputHandling::Captured;
        let event = SavedEvent::CallStarted {
            session_id: call.session_id.clone(),
            call_id: call.call_id.clone(),
            parent_call_id: call.parent_call_id.clone(),
            tool: call.tool.clone(),
            arguments: call.arguments.clone(),
            output: captured.then(|| tool.spec().output.clone()),
            at: self.now(),
        };
        if let Err(error) = self.parts.journal.append(&call.session_id, &event).await {
            tracing::error!(error = &error as &dyn Error, "could not record the start of the call");
        }
        self.events.publish(|| LiveEvent::CallStarted {
            session_id: call.session_id.clone(),
            call_id: call.call_id.clone(),
            tool: call.tool.clone(),
        });
    }

    async fn run_captured(
        &self,
        call: ToolCall,
        tool: &dyn Tool,
        prepared: Box<dyn PreparedCall>,
        cancel: CancellationToken,
    ) -> Result<ToolResult, CallError> {
        let started_at = self.now();
        let (info, title) = (call_info(&call, Some(tool)), prepared.title());
        let declaration = &tool.spec().output;
        // The capture is made before the start is saved, so that whatever has
        // started is found by recovery if this process dies.
        let capture = self.make_capture(&info, declaration, &title, started_at).await;
        if let Err(error) = &capture {
            tracing::error!(
                error = error as &dyn Error,
                "the output of this call cannot be stored"
            );
        }
        self.start(&call, tool).await;
        let limits = self.limits(declaration.channels());
        let capture = CallCapture::start(
            capture,
            declaration,
            self.parts.config.capture,
            limits,
            self.events.display_of(info.call_id.clone()),
        );
        let sink = capture.sink();
        let output = OutputSink::new(sink.clone(), OutputHandling::Captured);
        let cx = self.context(&info, output, cancel);
        let grace = self.parts.config.cancel_grace;
        let ended = execute(prepared, cx, sink.abandoned(), grace).await;
        let (mut facts, mode) = Facts::of(ended, info, title, started_at, self.now());
        let full_text = match mode {
            OutputMode::Full(output) => {
                let text = whole_text(&output);
                capture.feed(output).await;
                text
            }
            OutputMode::Streamed => None,
            OutputMode::Page(_) => {
                // The output of another call's sink: this one has none.
                facts.interrupted = true;
                facts.status = Status::Failed;
                None
            }
        };
        let mut captured = capture.finish().await;
        let streams = ended_streams(&mut captured);
        let whole = streams.iter().all(|stream| stream.incomplete.is_none());
        let work = self.parts.config.blocking_work;
        let (extras, capture) = store_extras(captured.capture, &mut facts, work).await;
        let finalizer = self.finalizer(limits);
        let full_text = full_text.filter(|_| whole);
        let finalized = finalizer.captured(facts, declaration, streams, extras, full_text).await;
        self.save(finalized, capture).await
    }

    async fn run_paginating(
        &self,
        call: ToolCall,
        tool: &dyn Tool,
        prepared: Box<dyn PreparedCall>,
        cancel: CancellationToken,
    ) -> Result<ToolResult, CallError> {
        let started_at = self.now();
        let (info, title) = (call_info(&call, Some(tool)), prepared.title());
        self.start(&call, tool).await;
        let sink = Arc::new(PageSink::default());
        let output = OutputSink::new(sink.clone(), OutputHandling::SelfPaginating);
        let cx = self.context(&info, output, cancel);
        let grace = self.parts.config.cancel_grace;
        let ended = execute(prepared, cx, sink.abandoned(), grace).await;
        let (mut facts, mode) = Facts::of(ended, info, title.clone(), started_at, self.now());
        let content = match mode {
            OutputMode::Page(content) => content,
            OutputMode::Streamed | OutputMode::Full(_) => {
                if facts.status == Status::Completed {
                    facts.status = Status::Failed;
                    facts.interrupted = true;
                }
                let text = output_retention::missing_display(&title, facts.status, true);
                vec![Content::text(text)]
            }
        };
        let mut capture = None;
        if Extras::needed(&facts.attachments, facts.structured.as_ref()) {
            let single = output_contract::OutputDeclaration::Single;
            capture = self.make_capture(&facts.info, &single, &title, started_at).await.ok();
        }
        let work = self.parts.config.blocking_work;
        let (extras, capture) = store_extras(capture, &mut facts, work).await;
        let finalized = self.finalizer(self.limits(1)).page(facts, content, extras).await;
        self.save(finalized, capture).await
    }

    async fn make_capture(
        &self,
        info: &CallInfo,
        declaration: &output_contract::OutputDeclaration,
        title: &str,
        started_at: Timestamp,
    ) -> Result<Capture, CaptureError> {
        let root = self.parts.store.captures().clone();
        let meta = CaptureMeta {
            session_id: info.session_id.clone(),
            call_id: info.call_id.clone(),
            parent_call_id: info.parent_call_id.clone(),
            tool: info.tool.clone(),
            title: title.to_owned(),
            output: declaration.clone(),
            started_at,
            timeout_ms: None,
        };
        blocking(self.parts.config.blocking_work, move || root.create(&meta))
            .await
            .expect("making a capture does not panic")
    }

    /// Saves the result under its guard, then lets go of what protected it.
    async fn save(
        &self,
        finalized: Finalized,
        capture: Option<Capture>,
    ) -> Result<ToolResult, CallError> {
        let Finalized { result, guard } = finalized;
        let event = self.finished(&result);
        let saved = match &guard {
            Some(guard) => {
                let journal = &self.parts.journal;
                journal.commit(&result.session_id, &result.call_id, &**guard, &event).await
            }
            None => self.parts.journal.append(&result.session_id, &event).await,
        };
        if let Err(source) = saved {
            // The capture stays: recovery will save what was captured.
            drop(capture);
            return Err(CallError::NotSaved { result: Box::new(result), source });
        }
        release(guard, capture, self.parts.config.blocking_work).await;
        self.events.publish(|| LiveEvent::CallFinished { result: Box::new(result.clone()) });
        Ok(result)
    }

    fn finished(&self, result: &ToolResult) -> SavedEvent {
        SavedEvent::CallFinished { result: Box::new(result.clone()), at: self.now() }
    }

    /// Ends a call that never ran.
    async fn refuse(
        &self,
        call: &ToolCall,
        tool: Option<&dyn Tool>,
        status: Status,
        message: String,
    ) -> Result<ToolResult, CallError> {
        let info = call_info(call, tool);
        let facts = Facts::new(info, String::new(), status, self.now());
        let result = facts.into_result(page_output(), vec![Content::text(message)], None);
        self.save(Finalized { result, guard: None }, None).await
    }

    async fn cancelled_early(
        &self,
        call: &ToolCall,
        tool: &dyn Tool,
    ) -> Result<ToolResult, CallError> {
        let message = "[cancelled; nothing was run]".to_owned();
        self.refuse(call, Some(tool), Status::Cancelled, message).await
    }

    fn finalizer(&self, limits: output_retention::Limits) -> Finalizer<'_> {
        Finalizer {
            store: &*self.parts.store,
            post_execute: &self.parts.post_execute,
            limits,
            hints: self.parts.hints.clone(),
        }
    }

    fn context(&self, info: &CallInfo, sink: OutputSink, cancel: CancellationToken) -> CallContext {
        CallContext {
            session_id: info.session_id.clone(),
            call_id: info.call_id.clone(),
            parent_call_id: info.parent_call_id.clone(),
            sink,
            cancel,
            spill: self.parts.spill.get().map(|store| CallSpill::new(Arc::clone(store), info)),
        }
    }

    fn limits(&self, streams: usize) -> output_retention::Limits {
        self.parts.config.preview_limits(streams).expect("the builder checked the limits")
    }

    fn now(&self) -> Timestamp {
        (self.parts.clock)()
    }
}

/// Ends the protection of what is saved, and removes the capture files.
async fn release(guard: Option<Box<dyn Guard>>, capture: Option<Capture>, work: BlockingWork) {
    if let Some(guard) = guard {
        guard.release().await;
    }
    let Some(capture) = capture else { return };
    let removed = blocking(work, move || capture.remove()).await;
    if let Ok(Err(error)) = removed {
        tracing::warn!(error = &error as &dyn Error, "could not remove the capture files");
    }
}

async fn store_extras(
    capture: Option<Capture>,
    facts: &mut Facts,
    work: BlockingWork,
) -> (Extras, Option<Capture>) {
    if facts.attachments.is_empty() && facts.structured.is_none() {
        return (Extras::default(), capture);
    }
    let attachments = std::mem::take(&mut facts.attachments);
    let structured: Option<Value> = facts.structured.take();
    blocking(work, move || (Extras::store(capture.as_ref(), attachments, structured), capture))
        .await
        .expect("storing attachments does not panic")
}

fn call_info(call: &ToolCall, tool: Option<&dyn Tool>) -> CallInfo {
    CallInfo {
        session_id: call.session_id.clone(),
        call_id: call.call_id.clone(),
        parent_call_id: call.parent_call_id.clone(),
        tool: call.tool.clone(),
        handling: tool.map_or(OutputHandling::SelfPaginating, |tool| tool.spec().handling),
    }
}

/// An error with its causes, in one line.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        text = format!("{text}: {source}");
        cause = source.source();
    }
    text
}
