//! The capture of one call, from its first byte to its sealed files.

use std::sync::Arc;

use artifacts::capture::{Capture, CaptureError};
use bytes::Bytes;
use output_contract::OutputDeclaration;
use output_contract::limits::MAX_CHUNK_BYTES;
use output_retention::Limits;
use tool_api::SinkBackend;

use crate::channel::Channel;
use crate::limits::{CallBudget, CaptureLimits};
use crate::sink::{CaptureSink, DisplayObserver};
use crate::writer::{CapturedStream, ChannelWriter};

/// Captures the output of one call.
///
/// Dropping it without [`finish`](Self::finish) leaves the capture files to
/// recovery, as a crash would.
#[derive(Debug)]
pub struct CallCapture {
    sink: Arc<CaptureSink>,
    capture: Option<Capture>,
}

/// A finished capture: what became of each channel, and the directory that
/// holds the files until they are published.
#[derive(Debug)]
pub struct CapturedCall {
    /// One entry a channel, in declaration order.
    pub streams: Vec<CapturedStream>,
    /// The live display as it was at the end.
    pub live_display: String,
    /// The locked directory; `None` where it could not be made.
    pub capture: Option<Capture>,
}

impl CallCapture {
    /// Begins to capture. Makes a file for each channel; where `capture` is an
    /// error, or a file cannot be made, the channel is previewed and counted
    /// and ends with a storage error. It blocks for as long as that takes.
    pub fn start(
        capture: Result<Capture, CaptureError>,
        declaration: &OutputDeclaration,
        limits: CaptureLimits,
        preview: Limits,
        observer: Arc<dyn DisplayObserver>,
    ) -> Self {
        let budget = Arc::new(CallBudget::new(limits));
        let channels = (0..declaration.channels())
            .map(|index| {
                let file = match &capture {
                    Ok(capture) => capture.stream_writer(index).map_err(|error| error.detail()),
                    Err(error) => Err(error.detail()),
                };
                Channel::new(ChannelWriter::new(file, Arc::clone(&budget), preview), preview)
            })
            .collect();
        let sink = CaptureSink::new(declaration.clone(), channels, observer);
        Self { sink: Arc::new(sink), capture: capture.ok() }
    }

    /// What the tool sends to.
    pub fn sink(&self) -> Arc<CaptureSink> {
        Arc::clone(&self.sink)
    }

    /// Feeds output that the tool supplied at once through the same queues:
    /// one entry a channel, in declaration order.
    pub async fn feed(&self, output: Vec<Bytes>) {
        for (channel, mut rest) in self.sink.channels().iter().zip(output) {
            while !rest.is_empty() {
                let piece = rest.split_to(rest.len().min(MAX_CHUNK_BYTES));
                // What is not stored is counted, and reported when finished.
                let _ = channel.send(piece).await;
            }
        }
    }

    /// Refuses further output, drains the queues and seals every file.
    pub async fn finish(self) -> CapturedCall {
        self.sink.close();
        let channels = self.sink.channels();
        // All are closed before one is waited for, so that they seal side by side.
        let closed: Vec<_> = channels.iter().map(Channel::close).collect();
        let mut streams = Vec::with_capacity(channels.len());
        for (channel, closed) in channels.iter().zip(closed) {
            streams.push(channel.sealed(closed).await);
        }
        CapturedCall { streams, live_display: self.sink.live_display(), capture: self.capture }
    }
}
