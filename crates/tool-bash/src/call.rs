//! A process as a tool call.
//!
//! Responsible for what `bash` and `run` have in common: the two declared
//! streams, the display, and the completion that follows from how the process
//! ended.

use std::error::Error;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use output_contract::{Exit, Fields, IncompleteReason, OutputDeclaration, Status, StreamName};
use tool_api::{
    CallContext, Completion, PreparedCall, Resource, SinkError, StreamNote, StreamingSink,
};

use crate::command_line;
use crate::live::{Ending, Live};
use crate::process::{
    self, Cause, NotStarted, ProcessEnd, ProcessOutputs, ProcessSpec, SpawnError,
};

const STDOUT: &str = "stdout";
const STDERR: &str = "stderr";

/// The output of a tool that runs a process: the streams `stdout` and `stderr`.
pub fn declaration() -> OutputDeclaration {
    OutputDeclaration::named([STDOUT, STDERR]).expect("two valid names")
}

/// Runs a process to its end as the output of a call whose tool declared
/// [`declaration`], with a live display. `title` heads the final display.
///
/// A process that cannot be started is a failed call: the reason is on its
/// `stderr`, its kind in the metadata ([`NotStarted`]).
pub async fn run_in_call(spec: ProcessSpec, cx: CallContext, title: &str) -> Completion {
    let CallContext { sink, cancel, .. } = cx;
    let timeout = spec.timeout;
    let sink = sink.stream();
    let live = Arc::new(Live::new());
    let outputs = match outputs(&sink, &live) {
        Ok(outputs) => outputs,
        Err(error) => return Completion::failed(sink.finish()).with_display(chain(&error)),
    };
    let ended = tokio::select! {
        ended = process::run(spec, outputs, &cancel) => ended,
        never = live.send_to(&sink) => match never {},
    };
    match ended {
        Ok(end) => {
            let ending = ending(&end, timeout);
            let mut completion = Completion::new(sink.finish(), ending.status)
                .with_display(live.finish(title, &ending));
            completion.exit = end.exit;
            completion.timeout = timeout;
            completion.notes = notes(end.pipe_held);
            completion
        }
        Err(error) => not_started(&error, sink, title).await,
    }
}

fn outputs(sink: &StreamingSink, live: &Arc<Live>) -> Result<ProcessOutputs, SinkError> {
    let channel = |name| sink.channel(Some(&stream(name)));
    Ok(ProcessOutputs {
        stdout: channel(STDOUT)?,
        stderr: channel(STDERR)?,
        on_output: Some(Arc::clone(live) as _),
    })
}

fn stream(name: &str) -> StreamName {
    StreamName::new(name).expect("a valid name")
}

fn ending(end: &ProcessEnd, timeout: Option<Duration>) -> Ending {
    let status = match end.cause {
        Cause::Exited if end.exit.is_some_and(Exit::success) => Status::Completed,
        Cause::Exited => Status::Failed,
        Cause::TimedOut => Status::TimedOut,
        Cause::Cancelled => Status::Cancelled,
    };
    Ending { status, exit: end.exit, timeout, pipe_held: end.pipe_held.contains(&true) }
}

fn notes(pipe_held: [bool; 2]) -> Vec<StreamNote> {
    let held = [STDOUT, STDERR].into_iter().zip(pipe_held).filter(|(_, held)| *held);
    held.map(|(name, _)| StreamNote {
        stream: Some(stream(name)),
        reason: IncompleteReason::PipeHeld,
    })
    .collect()
}

async fn not_started(error: &SpawnError, sink: StreamingSink, title: &str) -> Completion {
    let reason = format!("cannot start: {}\n", chain(error));
    if let Ok(stderr) = sink.channel(Some(&stream(STDERR))) {
        // Where it cannot be stored, the display still has it.
        let _ = stderr.send(reason.clone()).await;
    }
    let mut completion =
        Completion::failed(sink.finish()).with_display(format!("$ {title}\n{reason}"));
    let kind = error.kind().as_str();
    completion.set_metadata(NotStarted::KEY, kind).expect("a word fits");
    completion
}

/// An error and its causes on one line.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let _ = write!(text, ": {error}");
        cause = error.source();
    }
    text
}

/// A process that is ready to run as a call, whatever the tool is called.
#[derive(Debug)]
pub struct ProcessCall {
    spec: ProcessSpec,
    line: String,
    metadata: Fields,
}

impl ProcessCall {
    /// A call that runs `spec`; its command line is that of its argv.
    pub fn new(spec: ProcessSpec) -> Self {
        let line = command_line::quote([&spec.program].into_iter().chain(&spec.args));
        Self::with_line(spec, line)
    }

    /// A call that runs `spec` for a person who knows it as `line`.
    pub fn with_line(spec: ProcessSpec, line: String) -> Self {
        Self { spec, line, metadata: Fields::new() }
    }

    /// Fields for the metadata of its result. One that does not fit is left out.
    #[must_use]
    pub fn with_metadata(mut self, metadata: Fields) -> Self {
        self.metadata = metadata;
        self
    }
}

#[async_trait]
impl PreparedCall for ProcessCall {
    fn title(&self) -> String {
        command_line::title(&self.line)
    }

    fn resources(&self) -> Vec<Resource> {
        vec![Resource::Command { line: self.line.clone() }]
    }

    async fn execute(self: Box<Self>, cx: CallContext) -> Completion {
        let title = self.title();
        let mut completion = run_in_call(self.spec, cx, &title).await;
        for (key, value) in self.metadata {
            let _ = completion.set_metadata(key, value);
        }
        completion
    }
}
