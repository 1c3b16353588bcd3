//! A sink for tools behind JSON or a plugin boundary, where the ways of
//! finishing arrive as data and are told apart at run time.

use output_contract::{Delta, FullOutput};

use crate::sink::{Output, OutputSink, RejectedReason, SinkError, StreamingSink};

/// A call's output, driven by messages.
#[derive(Debug)]
pub struct AdapterSink {
    state: State,
}

#[derive(Debug)]
enum State {
    Unopened(OutputSink),
    Streaming(StreamingSink),
    Finished,
}

/// How a message says that the output is finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finish {
    /// What was sent is all.
    Streamed,
    /// This is all, and nothing was sent before.
    Full(FullOutput),
}

/// Why a message does not fit what came before it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AdapterError {
    /// A delta after the output was finished.
    #[error("a chunk came after the output was finished")]
    LateChunk,
    /// A second finish.
    #[error("the output was finished twice")]
    SecondFinish,
    /// Full output after deltas.
    #[error("full output must not be supplied after output was sent in pieces")]
    MixedModes,
    /// The delta was refused or not stored.
    #[error("the delta was not stored")]
    Sink(#[source] SinkError),
    /// The full output was refused; the output is still open.
    #[error("the full output was refused")]
    Rejected(#[source] RejectedReason),
}

impl AdapterSink {
    /// Drives `sink` by messages.
    pub fn new(sink: OutputSink) -> Self {
        Self { state: State::Unopened(sink) }
    }

    /// Sends a delta; the first one opens the stream.
    ///
    /// # Errors
    /// [`AdapterError::LateChunk`] after the finish, [`AdapterError::Sink`]
    /// where the delta was refused or not stored.
    pub async fn delta(&mut self, delta: Delta) -> Result<(), AdapterError> {
        self.state = match std::mem::replace(&mut self.state, State::Finished) {
            State::Unopened(sink) => State::Streaming(sink.stream()),
            other => other,
        };
        match &self.state {
            State::Streaming(sink) => sink.send(delta).await.map_err(AdapterError::Sink),
            _ => Err(AdapterError::LateChunk),
        }
    }

    /// Finishes the output.
    ///
    /// # Errors
    /// [`AdapterError::SecondFinish`], [`AdapterError::MixedModes`], or
    /// [`AdapterError::Rejected`]; after the last two the output is still open.
    pub fn finish(&mut self, finish: Finish) -> Result<Output, AdapterError> {
        let state = std::mem::replace(&mut self.state, State::Finished);
        match (state, finish) {
            (State::Finished, _) => Err(AdapterError::SecondFinish),
            (State::Unopened(sink), Finish::Streamed) => Ok(sink.stream().finish()),
            (State::Streaming(sink), Finish::Streamed) => Ok(sink.finish()),
            (State::Unopened(sink), Finish::Full(output)) => {
                sink.full_output(output).map_err(|rejected| {
                    self.state = State::Unopened(rejected.sink);
                    AdapterError::Rejected(rejected.reason)
                })
            }
            (streaming @ State::Streaming(_), Finish::Full(_)) => {
                self.state = streaming;
                Err(AdapterError::MixedModes)
            }
        }
    }
}
