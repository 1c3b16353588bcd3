//! One channel's queue, and the thread behind it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, mpsc};
use std::thread;

use bytes::Bytes;
use output_contract::limits::CHANNEL_QUEUE_BYTES;
use output_contract::{Incomplete, IncompleteReason};
use output_retention::{Limits, Preview};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tool_api::SinkError;

use crate::writer::{CapturedStream, ChannelWriter, Stop};

/// A queue of at most [`CHANNEL_QUEUE_BYTES`] bytes and, once there was
/// something to write, a thread that drains it.
#[derive(Debug)]
pub(crate) struct Channel {
    room: Arc<Semaphore>,
    seen: Arc<AtomicU64>,
    stop: Arc<OnceLock<Stop>>,
    limits: Limits,
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    Idle(Box<ChannelWriter>),
    Running { queue: mpsc::Sender<Bytes>, sealed: oneshot::Receiver<CapturedStream> },
    Finished,
}

/// A channel that takes no more chunks.
#[derive(Debug)]
pub(crate) enum Closed {
    Unused(Box<ChannelWriter>),
    Draining(oneshot::Receiver<CapturedStream>),
    Gone,
}

/// What a chunk in the queue consists of. There is room for another once it is
/// neither waiting to be written nor to be hashed.
#[derive(Debug)]
struct Queued {
    bytes: Bytes,
    _room: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Queued {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Channel {
    pub(crate) fn new(writer: ChannelWriter, limits: Limits) -> Self {
        Self {
            room: Arc::new(Semaphore::new(CHANNEL_QUEUE_BYTES)),
            seen: Arc::default(),
            stop: Arc::default(),
            limits,
            state: Mutex::new(State::Idle(Box::new(writer))),
        }
    }

    /// Queues one chunk; waits while there is no room. An error says that the
    /// stream is no longer stored; the chunk is counted all the same.
    pub(crate) async fn send(&self, bytes: Bytes) -> Result<(), SinkError> {
        if bytes.is_empty() {
            return Ok(());
        }
        // Past the size limit nothing needs to be written. After a storage
        // error the preview of what was seen goes on.
        if let Some(Stop::SizeLimit { limit }) = self.stop.get() {
            self.seen.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            return Err(SinkError::SizeLimit { limit: *limit });
        }
        let size = u32::try_from(bytes.len()).expect("a chunk has at most 1 MiB");
        let room = Arc::clone(&self.room).acquire_many_owned(size).await;
        let Ok(room) = room else { return Err(SinkError::Finished) };
        self.enqueue(Bytes::from_owner(Queued { bytes, _room: room }))?;
        match self.stop.get() {
            None => Ok(()),
            Some(Stop::SizeLimit { limit }) => Err(SinkError::SizeLimit { limit: *limit }),
            Some(Stop::Storage { detail }) => Err(SinkError::Storage { detail: detail.clone() }),
        }
    }

    fn enqueue(&self, piece: Bytes) -> Result<(), SinkError> {
        let mut state = self.lock();
        let size = piece.len() as u64;
        if let State::Idle(_) = &*state {
            let State::Idle(writer) = std::mem::replace(&mut *state, State::Finished) else {
                unreachable!("the state was just seen to be idle");
            };
            *state = self.start(*writer);
        }
        let State::Running { queue, .. } = &*state else { return Err(SinkError::Finished) };
        self.seen.fetch_add(size, Ordering::Relaxed);
        // A writer that is gone has panicked; finishing reports it.
        let _ = queue.send(piece);
        Ok(())
    }

    fn start(&self, mut writer: ChannelWriter) -> State {
        let (queue, pieces) = mpsc::channel::<Bytes>();
        let (done, sealed) = oneshot::channel();
        let (stop, seen) = (Arc::clone(&self.stop), Arc::clone(&self.seen));
        let spawned = thread::Builder::new().name("overspill-writer".to_owned()).spawn(move || {
            for piece in pieces {
                if let Err(reason) = writer.write(&piece) {
                    let _ = stop.set(reason);
                }
            }
            let _ = done.send(writer.seal(seen.load(Ordering::Relaxed)));
        });
        if let Err(error) = spawned {
            // The writer went down with the closure; finishing finds no result.
            let _ = self.stop.set(Stop::Storage { detail: error.to_string() });
        }
        State::Running { queue, sealed }
    }

    /// Refuses further chunks. The thread drains the queue and seals the file.
    pub(crate) fn close(&self) -> Closed {
        self.room.close();
        match std::mem::replace(&mut *self.lock(), State::Finished) {
            State::Idle(writer) => Closed::Unused(writer),
            State::Running { sealed, .. } => Closed::Draining(sealed),
            State::Finished => Closed::Gone,
        }
    }

    /// What became of the channel, once its file is sealed.
    pub(crate) async fn sealed(&self, closed: Closed) -> CapturedStream {
        let sealed = match closed {
            Closed::Gone => None,
            // An empty file has nothing to wait for; making it took longer.
            Closed::Unused(writer) => Some(writer.seal(0)),
            Closed::Draining(sealed) => sealed.await.ok(),
        };
        sealed.unwrap_or_else(|| self.lost())
    }

    fn lost(&self) -> CapturedStream {
        let detail = match self.stop.get() {
            Some(Stop::Storage { detail }) => detail.clone(),
            _ => "the writer ended".to_owned(),
        };
        CapturedStream {
            sealed: None,
            preview: Preview::of(&[], self.limits),
            seen_preview: None,
            seen_bytes: self.seen.load(Ordering::Relaxed),
            incomplete: Some(Incomplete {
                reason: IncompleteReason::StorageError,
                detail: Some(detail),
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics while the lock is held; the state is whole either way.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
