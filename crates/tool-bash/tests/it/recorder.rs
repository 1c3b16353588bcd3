//! A sink backend that keeps everything, and can be slow or refuse.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use output_contract::{Delta, OutputDeclaration};
use tokio::sync::watch;
use tool_api::{OutputHandling, OutputSink, SinkBackend, SinkError};

use crate::world::FOREVER;

/// What a gate is in front of.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Gate {
    Stdout,
    Stderr,
    Display,
}

#[derive(Debug)]
pub(crate) struct Recorder {
    declaration: OutputDeclaration,
    kept: watch::Sender<Kept>,
    open: [watch::Sender<bool>; 3],
    refusal: Option<Refusal>,
    closed: Mutex<bool>,
}

/// From which byte of a channel on it refuses, and what it says then.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) after: usize,
    pub(crate) error: SinkError,
}

/// What was sent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kept {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    /// Bytes sent to stdout and stderr, kept or not.
    pub(crate) seen: [usize; 2],
    pub(crate) display: Vec<String>,
}

impl Recorder {
    pub(crate) fn new() -> Self {
        Self {
            declaration: tool_bash::declaration(),
            kept: watch::Sender::default(),
            open: std::array::from_fn(|_| watch::Sender::new(true)),
            refusal: None,
            closed: Mutex::new(false),
        }
    }

    pub(crate) fn closing(self, gate: Gate) -> Self {
        self.open[gate as usize].send_replace(false);
        self
    }

    pub(crate) fn refusing(self, refusal: Refusal) -> Self {
        Self { refusal: Some(refusal), ..self }
    }

    pub(crate) fn open(&self, gate: Gate) {
        self.open[gate as usize].send_replace(true);
    }

    pub(crate) fn sink(self: &Arc<Self>) -> OutputSink {
        OutputSink::new(Arc::clone(self) as _, OutputHandling::Captured)
    }

    pub(crate) fn kept(&self) -> Kept {
        self.kept.borrow().clone()
    }

    pub(crate) fn stdout(&self) -> String {
        String::from_utf8(self.kept().stdout).unwrap()
    }

    pub(crate) fn stderr(&self) -> String {
        String::from_utf8(self.kept().stderr).unwrap()
    }

    /// Waits until what was sent is as wanted.
    pub(crate) async fn wait_for(&self, wanted: impl FnMut(&Kept) -> bool) {
        let mut kept = self.kept.subscribe();
        let waiting = kept.wait_for(wanted);
        tokio::time::timeout(FOREVER, waiting).await.expect("in time").unwrap();
    }

    async fn pass(&self, gate: Gate) {
        self.open[gate as usize].subscribe().wait_for(|open| *open).await.unwrap();
    }

    fn keep(&self, channel: usize, bytes: &[u8]) -> Result<(), SinkError> {
        let mut result = Ok(());
        self.kept.send_modify(|kept| {
            kept.seen[channel] += bytes.len();
            let stream = if channel == 0 { &mut kept.stdout } else { &mut kept.stderr };
            let mut room = usize::MAX;
            if let Some(refusal) = &self.refusal {
                room = refusal.after - stream.len();
                if bytes.len() > room {
                    result = Err(refusal.error.clone());
                }
            }
            stream.extend_from_slice(&bytes[..bytes.len().min(room)]);
        });
        result
    }
}

#[async_trait]
impl SinkBackend for Recorder {
    fn declaration(&self) -> &OutputDeclaration {
        &self.declaration
    }

    async fn send(&self, delta: Delta) -> Result<(), SinkError> {
        if let Some(display) = delta.display {
            self.pass(Gate::Display).await;
            self.kept.send_modify(|kept| kept.display.push(display));
        }
        for chunk in delta.chunks {
            let channel = self.declaration.index_of(chunk.stream.as_ref()).unwrap();
            self.pass([Gate::Stdout, Gate::Stderr][channel]).await;
            assert!(!*self.closed.lock().unwrap(), "a chunk after the end");
            self.keep(channel, &chunk.bytes)?;
        }
        Ok(())
    }

    fn close(&self) {
        *self.closed.lock().unwrap() = true;
    }

    fn abandon(&self) {
        self.close();
    }
}
