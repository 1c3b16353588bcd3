//! Watching calls without ever holding them back.

use std::sync::Arc;

use output_capture::DisplayObserver;
use output_contract::{CallId, LiveEvent};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

/// Events kept for a subscriber that lags before it is told of a gap.
const BACKLOG: usize = 1024;

/// A stream of [`LiveEvent`]s.
#[derive(Debug)]
pub struct Subscription(broadcast::Receiver<LiveEvent>);

impl Subscription {
    /// The next event; `None` once the runtime is gone. Where this subscriber
    /// was too slow, the next is [`LiveEvent::Gap`], and the offsets of the
    /// display events after it say what is missing.
    pub async fn next(&mut self) -> Option<LiveEvent> {
        match self.0.recv().await {
            Ok(event) => Some(event),
            Err(RecvError::Lagged(missed)) => Some(LiveEvent::Gap { missed }),
            Err(RecvError::Closed) => None,
        }
    }
}

/// Where a runtime's events go.
#[derive(Debug, Clone)]
pub(crate) struct Publisher(broadcast::Sender<LiveEvent>);

impl Publisher {
    pub(crate) fn new() -> Self {
        Self(broadcast::Sender::new(BACKLOG))
    }

    pub(crate) fn subscribe(&self) -> Subscription {
        Subscription(self.0.subscribe())
    }

    pub(crate) fn publish(&self, event: impl FnOnce() -> LiveEvent) {
        if self.0.receiver_count() > 0 {
            // Fails only when the last subscriber has just left.
            let _ = self.0.send(event());
        }
    }

    pub(crate) fn display_of(&self, call_id: CallId) -> Arc<dyn DisplayObserver> {
        Arc::new(CallDisplay { publisher: self.clone(), call_id })
    }
}

#[derive(Debug)]
struct CallDisplay {
    publisher: Publisher,
    call_id: CallId,
}

impl DisplayObserver for CallDisplay {
    fn appended(&self, offset: u64, text: &str) {
        self.publisher.publish(|| LiveEvent::Display {
            call_id: self.call_id.clone(),
            offset,
            text: text.to_owned(),
        });
    }
}
