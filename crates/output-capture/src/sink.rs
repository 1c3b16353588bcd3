//! What a tool sends to.

use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use output_contract::{Delta, OutputDeclaration};
use output_retention::LiveDisplay;
use tokio::sync::Notify;
use tool_api::{SinkBackend, SinkError};

use crate::channel::Channel;

/// Is told of every piece of text that the live display gains. It must not
/// block: capture waits for it.
pub trait DisplayObserver: Debug + Send + Sync {
    /// `text`, safe to print, was appended after `offset` bytes.
    fn appended(&self, offset: u64, text: &str);
}

/// An observer for calls that nobody watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct IgnoreDisplay;

impl DisplayObserver for IgnoreDisplay {
    fn appended(&self, _offset: u64, _text: &str) {}
}

/// The backend of one call's sink.
#[derive(Debug)]
pub struct CaptureSink {
    declaration: OutputDeclaration,
    channels: Vec<Channel>,
    closed: AtomicBool,
    abandoned: Notify,
    display: Mutex<LiveDisplay>,
    observer: Arc<dyn DisplayObserver>,
}

impl CaptureSink {
    pub(crate) fn new(
        declaration: OutputDeclaration,
        channels: Vec<Channel>,
        observer: Arc<dyn DisplayObserver>,
    ) -> Self {
        Self {
            declaration,
            channels,
            closed: AtomicBool::new(false),
            abandoned: Notify::new(),
            display: Mutex::new(LiveDisplay::default()),
            observer,
        }
    }

    pub(crate) fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// The live display as it is now: the newest text, safe to print.
    pub fn live_display(&self) -> String {
        self.display.lock().unwrap_or_else(PoisonError::into_inner).text().to_owned()
    }

    /// Returns once the tool has dropped its sink unfinished.
    pub async fn abandoned(&self) {
        self.abandoned.notified().await;
    }

    fn append_display(&self, text: &str) {
        let mut display = self.display.lock().unwrap_or_else(PoisonError::into_inner);
        let offset = display.appended();
        let shown = display.append(text);
        if !shown.is_empty() {
            // Under the lock, so that observers see the offsets in order.
            self.observer.appended(offset, &shown);
        }
    }
}

#[async_trait]
impl SinkBackend for CaptureSink {
    fn declaration(&self) -> &OutputDeclaration {
        &self.declaration
    }

    async fn send(&self, delta: Delta) -> Result<(), SinkError> {
        if self.closed.load(Ordering::Acquire) {
            return Err(SinkError::Finished);
        }
        // Looked up before anything is queued: a delta is refused whole.
        let mut chunks = Vec::with_capacity(delta.chunks.len());
        self.declaration.check_delta(&delta)?;
        for chunk in delta.chunks {
            let index = self.declaration.index_of(chunk.stream.as_ref());
            chunks.push((index.expect("the delta was checked"), chunk.bytes));
        }
        if let Some(text) = &delta.display {
            self.append_display(text);
        }
        let mut outcome = Ok(());
        for (index, bytes) in chunks {
            let sent = self.channels[index].send(bytes).await;
            outcome = outcome.and(sent);
        }
        outcome
    }

    fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }

    fn abandon(&self) {
        self.close();
        self.abandoned.notify_one();
    }
}
