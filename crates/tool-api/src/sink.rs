//! Where a call's output goes, and the ways to finish it.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use output_contract::limits::{
    MAX_CHUNK_BYTES, MAX_SELF_PAGINATING_BYTES, SELF_PAGINATING_NOTE_BYTES,
};
use output_contract::{
    Chunk, Content, Delta, DeltaError, FullOutput, FullOutputError, OutputDeclaration, StreamName,
};

use crate::tool::OutputHandling;

/// What a runtime puts behind a sink.
///
/// `send` returns once the delta is queued, and waits while a queue is full:
/// that is the producer's backpressure. A delta is accepted whole or refused
/// whole. Dropping the future of a `send` that has not returned may leave the
/// delta accepted for some of its channels; chunks within a channel never
/// change their order.
#[async_trait]
pub trait SinkBackend: fmt::Debug + Send + Sync {
    /// What the tool declared.
    fn declaration(&self) -> &OutputDeclaration;

    /// Takes a delta that fits the declaration.
    ///
    /// # Errors
    /// [`SinkError`]; the tool may go on or end.
    async fn send(&self, delta: Delta) -> Result<(), SinkError>;

    /// Refuses everything from now on. What was sent before is kept.
    fn close(&self);

    /// The sink was dropped unfinished: the call can no longer complete.
    fn abandon(&self);
}

/// Why a delta was not, or not wholly, stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SinkError {
    /// The delta does not fit the declaration; nothing of it was accepted.
    #[error("invalid delta")]
    Delta(#[from] DeltaError),
    /// A self-paginating tool finishes with its page and sends nothing before.
    #[error("a self-paginating tool sends no deltas")]
    SelfPaginating,
    /// The output was finished before this chunk.
    #[error("the output is already finished")]
    Finished,
    /// The stream or the call has reached its cap. Further bytes are counted
    /// and not stored; a producer that can end early should.
    #[error("the output has reached its size limit of {limit} bytes")]
    SizeLimit {
        /// The cap that was reached, in bytes.
        limit: u64,
    },
    /// The stream can no longer be stored. Further bytes are counted.
    #[error("the output can no longer be stored: {detail}")]
    Storage {
        /// What the system said.
        detail: String,
    },
}

/// A backend whose sink was not finished yet; dropping it abandons the output.
#[derive(Debug)]
struct Unfinished(Option<Arc<dyn SinkBackend>>);

impl Unfinished {
    fn backend(&self) -> &Arc<dyn SinkBackend> {
        self.0.as_ref().expect("only `finish` takes the backend, and it consumes self")
    }

    fn finish(mut self, mode: OutputMode) -> Output {
        if let Some(backend) = self.0.take() {
            backend.close();
        }
        Output { mode }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(backend) = &self.0 {
            backend.abandon();
        }
    }
}

/// The output of a call, not yet begun. It is finished at once, or opened with
/// [`stream`](Self::stream) and then only finished as streamed. Dropped, it
/// makes the call failed and its output incomplete.
#[derive(Debug)]
pub struct OutputSink {
    backend: Unfinished,
    handling: OutputHandling,
}

impl OutputSink {
    /// A sink over what a runtime puts behind it.
    pub fn new(backend: Arc<dyn SinkBackend>, handling: OutputHandling) -> Self {
        Self { backend: Unfinished(Some(backend)), handling }
    }

    /// What the tool declared.
    pub fn declaration(&self) -> &OutputDeclaration {
        self.backend.backend().declaration()
    }

    /// Begins to send output in pieces.
    pub fn stream(self) -> StreamingSink {
        StreamingSink { backend: self.backend }
    }

    /// Finishes without output: every declared channel is empty, or the page
    /// is.
    pub fn empty(self) -> Output {
        let mode = match self.handling {
            OutputHandling::Captured => {
                OutputMode::Full(vec![Bytes::new(); self.declaration().channels()])
            }
            OutputHandling::SelfPaginating => OutputMode::Page(Vec::new()),
        };
        self.backend.finish(mode)
    }

    /// Finishes with the whole single output.
    ///
    /// # Errors
    /// [`RejectedOutput`] gives the sink back where the tool declared streams.
    pub fn full(self, output: impl Into<Bytes>) -> Result<Output, Box<RejectedOutput>> {
        self.full_output(FullOutput::Single(output.into()))
    }

    /// Finishes with every declared stream, exactly once and in any order.
    ///
    /// # Errors
    /// [`RejectedOutput`] gives the sink back where the streams do not fit the
    /// declaration.
    pub fn named<I, B>(self, streams: I) -> Result<Output, Box<RejectedOutput>>
    where
        I: IntoIterator<Item = (StreamName, B)>,
        B: Into<Bytes>,
    {
        let streams = streams.into_iter().map(|(name, bytes)| (name, bytes.into())).collect();
        self.full_output(FullOutput::Named(streams))
    }

    /// Finishes with output in any of its full forms.
    ///
    /// # Errors
    /// [`RejectedOutput`] gives the sink back where the output does not fit the
    /// declaration, or the tool paginates by itself.
    pub fn full_output(self, output: FullOutput) -> Result<Output, Box<RejectedOutput>> {
        if self.handling == OutputHandling::SelfPaginating {
            return Err(self.reject(RejectedReason::PageExpected));
        }
        match self.declaration().arrange(output) {
            Ok(channels) => Ok(self.backend.finish(OutputMode::Full(channels))),
            Err(error) => Err(self.reject(error.into())),
        }
    }

    /// Finishes a self-paginating tool with its bounded page, which is kept as
    /// it is and nowhere else.
    ///
    /// # Errors
    /// [`RejectedOutput`] gives the sink back where the tool's output is
    /// captured, or the page's text is larger than
    /// [`MAX_SELF_PAGINATING_BYTES`]. A note that says how to continue, the
    /// text after the first block, is not counted up to
    /// [`SELF_PAGINATING_NOTE_BYTES`].
    pub fn page(self, content: Vec<Content>) -> Result<Output, Box<RejectedOutput>> {
        if self.handling != OutputHandling::SelfPaginating {
            return Err(self.reject(RejectedReason::PageUnexpected));
        }
        let mut sizes = content.iter().filter_map(Content::as_text).map(str::len);
        let first = sizes.next().unwrap_or_default();
        let bytes = first + sizes.sum::<usize>().saturating_sub(SELF_PAGINATING_NOTE_BYTES);
        if bytes > MAX_SELF_PAGINATING_BYTES {
            return Err(self.reject(RejectedReason::PageTooLarge { bytes }));
        }
        Ok(self.backend.finish(OutputMode::Page(content)))
    }

    fn reject(self, reason: RejectedReason) -> Box<RejectedOutput> {
        Box::new(RejectedOutput { sink: self, reason })
    }
}

/// Output that was not taken, and the sink to try again with.
#[derive(Debug, thiserror::Error)]
#[error("the output was refused")]
pub struct RejectedOutput {
    /// The sink, still unopened.
    pub sink: OutputSink,
    /// Why.
    #[source]
    pub reason: RejectedReason,
}

/// Why a finished output was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RejectedReason {
    /// It does not fit the declaration.
    #[error(transparent)]
    Full(#[from] FullOutputError),
    /// A self-paginating tool finishes with a page.
    #[error("a self-paginating tool finishes with a page")]
    PageExpected,
    /// A tool whose output is captured does not finish with a page.
    #[error("only a self-paginating tool finishes with a page")]
    PageUnexpected,
    /// The page is too large.
    #[error("a page has at most {MAX_SELF_PAGINATING_BYTES} bytes, not {bytes}")]
    PageTooLarge {
        /// Its text, in bytes.
        bytes: usize,
    },
}

/// Output in pieces. It can only be finished as streamed. Dropped, it makes the
/// call failed and its output incomplete.
#[derive(Debug)]
pub struct StreamingSink {
    backend: Unfinished,
}

impl StreamingSink {
    /// Sends chunks, display text, or both. Waits while the queue is full.
    ///
    /// # Errors
    /// [`SinkError`]; a refused delta is refused whole.
    pub async fn send(&self, delta: impl Into<Delta> + Send) -> Result<(), SinkError> {
        send(&**self.backend.backend(), delta.into()).await
    }

    /// A handle to one channel, to clone and hand to whatever produces it;
    /// `None` is the single output.
    ///
    /// # Errors
    /// [`SinkError::Delta`] where the stream is not declared.
    pub fn channel(&self, stream: Option<&StreamName>) -> Result<ChannelHandle, SinkError> {
        let backend = Arc::clone(self.backend.backend());
        let probe = Chunk { stream: stream.cloned(), bytes: Bytes::new() };
        backend.declaration().check_delta(&probe.into())?;
        Ok(ChannelHandle { backend, stream: stream.cloned() })
    }

    /// Finishes with what was sent.
    pub fn finish(self) -> Output {
        self.backend.finish(OutputMode::Streamed)
    }
}

async fn send(backend: &dyn SinkBackend, delta: Delta) -> Result<(), SinkError> {
    backend.declaration().check_delta(&delta)?;
    backend.send(delta).await
}

/// A way to send to one channel. After the output is finished it only gives
/// [`SinkError::Finished`].
#[derive(Debug, Clone)]
pub struct ChannelHandle {
    backend: Arc<dyn SinkBackend>,
    stream: Option<StreamName>,
}

impl ChannelHandle {
    /// Sends bytes, in pieces of at most [`MAX_CHUNK_BYTES`] bytes. Waits while
    /// the queue is full.
    ///
    /// # Errors
    /// [`SinkError`] of the first piece that was not stored; the rest is not
    /// sent.
    pub async fn send(&self, bytes: impl Into<Bytes> + Send) -> Result<(), SinkError> {
        let mut rest = bytes.into();
        while !rest.is_empty() {
            let piece = rest.split_to(rest.len().min(MAX_CHUNK_BYTES));
            self.backend.send(Chunk { stream: self.stream.clone(), bytes: piece }.into()).await?;
        }
        Ok(())
    }
}

/// A finished output. Only a sink makes one, and each call only once.
#[derive(Debug)]
pub struct Output {
    mode: OutputMode,
}

impl Output {
    /// How the output was finished, for the runtime.
    pub fn into_mode(self) -> OutputMode {
        self.mode
    }
}

/// The ways in which an output is finished.
#[derive(Debug)]
pub enum OutputMode {
    /// It was sent in pieces; nothing is supplied again.
    Streamed,
    /// It is supplied here, one entry a channel in declaration order.
    Full(Vec<Bytes>),
    /// It is a bounded page.
    Page(Vec<Content>),
}
