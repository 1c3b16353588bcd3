//! Hashing what a capture writes: on the way while it is little, on a thread
//! beside the writing once it is much.
//!
//! Responsible for nothing but the order: whoever writes gives every accepted
//! byte once, and gets the facts of all of them in the end.

use std::mem;
use std::sync::mpsc::{self, SyncSender};
use std::thread::{self, JoinHandle};

use bytes::Bytes;

use crate::hash::{ContentHasher, HashedContent};

/// From so many bytes on they are hashed beside the writing. Starting a thread
/// takes a fraction of the time that hashing these took.
pub(super) const BESIDE_FROM_BYTES: u64 = 2 * 1024 * 1024;
/// Pieces on their way to the thread. There can be no more than one more that
/// it has.
const QUEUED_PIECES: usize = 4;
/// A shorter piece, in bytes, is copied and goes with others: waking a thread
/// costs more than that.
const SMALL_BYTES: usize = 16 * 1024;
/// When copied pieces go to the thread, in bytes.
const BATCH_BYTES: usize = 64 * 1024;

/// A hasher that may have moved to a thread.
#[derive(Debug)]
pub(super) enum Hashing {
    /// It is here, until it has taken `limit` bytes.
    Here { hasher: ContentHasher, limit: u64 },
    /// It is on a thread.
    Beside(Beside),
}

impl Hashing {
    /// A hasher that has seen nothing, and moves after `limit` bytes.
    pub(super) fn new(limit: u64) -> Self {
        Self::Here { hasher: ContentHasher::new(), limit }
    }

    /// Takes the next bytes. It waits while the thread is far behind.
    pub(super) fn update(&mut self, piece: &[u8]) {
        match self {
            Self::Here { hasher, .. } => hasher.update(piece),
            Self::Beside(beside) => beside.copy(piece),
        }
    }

    /// The same, without copying what is not small.
    pub(super) fn update_shared(&mut self, piece: Bytes) {
        if let Self::Here { hasher, limit } = self
            && hasher.bytes() >= *limit
        {
            match Beside::start(thread::Builder::new(), hasher) {
                Some(beside) => *self = Self::Beside(beside),
                // Without a thread it takes longer, and that is all.
                None => *limit = u64::MAX,
            }
        }
        match self {
            Self::Beside(beside) if piece.len() >= SMALL_BYTES => beside.pass(piece),
            _ => self.update(&piece),
        }
    }

    /// What was learnt of all bytes.
    pub(super) fn finish(self) -> HashedContent {
        match self {
            Self::Here { hasher, .. } => hasher.finish(),
            Self::Beside(beside) => beside.finish(),
        }
    }
}

/// A thread that hashes. Dropping this waits until it has hashed what it was
/// given, which is bounded.
#[derive(Debug)]
pub(super) struct Beside {
    /// Copied pieces that are not on their way yet.
    batch: Vec<u8>,
    /// Both are there until it is dropped or finished.
    running: Option<(SyncSender<Bytes>, JoinHandle<ContentHasher>)>,
}

impl Beside {
    /// Goes on from where `hasher` is; `None` where there is no thread to be had.
    fn start(thread: thread::Builder, hasher: &ContentHasher) -> Option<Self> {
        let (pieces, given) = mpsc::sync_channel::<Bytes>(QUEUED_PIECES);
        // A copy, because one that is moved goes down with a failed start.
        let mut hasher = hasher.clone();
        let hash = move || {
            given.iter().for_each(|piece| hasher.update(&piece));
            hasher
        };
        let thread = thread.name("overspill-hasher".to_owned()).spawn(hash).ok()?;
        Some(Self { batch: Vec::new(), running: Some((pieces, thread)) })
    }

    fn copy(&mut self, mut piece: &[u8]) {
        while !piece.is_empty() {
            let room = BATCH_BYTES - self.batch.len();
            let (now, rest) = piece.split_at(room.min(piece.len()));
            self.batch.reserve_exact(room);
            self.batch.extend_from_slice(now);
            if self.batch.len() == BATCH_BYTES {
                self.pass_batch();
            }
            piece = rest;
        }
    }

    fn pass(&mut self, piece: Bytes) {
        self.pass_batch();
        self.send(piece);
    }

    fn pass_batch(&mut self) {
        if !self.batch.is_empty() {
            let batch = mem::take(&mut self.batch);
            self.send(batch.into());
        }
    }

    fn send(&self, piece: Bytes) {
        if let Some((pieces, _)) = &self.running {
            // It takes everything unless it has panicked, which finishing finds.
            let _ = pieces.send(piece);
        }
    }

    fn finish(mut self) -> HashedContent {
        self.pass_batch();
        match self.join().expect("it is joined once") {
            Ok(hasher) => hasher.finish(),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }

    fn join(&mut self) -> Option<thread::Result<ContentHasher>> {
        let (pieces, thread) = self.running.take()?;
        drop(pieces);
        Some(thread.join())
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        drop(self.join());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;

    fn bytes(len: usize) -> Vec<u8> {
        (0..len).map(|i| if i % 61 == 60 { b'\n' } else { (i * 7 + i / 251) as u8 }).collect()
    }

    fn whole(bytes: &[u8]) -> HashedContent {
        let mut hasher = ContentHasher::new();
        hasher.update(bytes);
        hasher.finish()
    }

    #[test]
    fn it_moves_once_enough_was_taken() {
        let mut hashing = Hashing::new(100);
        for (len, beside) in [(99, false), (1, false), (0, true), (1, true)] {
            hashing.update_shared(vec![b'x'; len].into());
            assert_eq!(matches!(hashing, Hashing::Beside(_)), beside, "{len}");
        }
        assert_eq!(hashing.finish(), whole(&[b'x'; 101]));
    }

    #[test]
    fn without_a_thread_it_goes_on_here() {
        let mut hashing = Hashing::new(0);
        let Hashing::Here { hasher, limit } = &mut hashing else { panic!("it has just begun") };
        let too_much = thread::Builder::new().stack_size(usize::MAX >> 8);
        assert!(Beside::start(too_much, hasher).is_none());
        *limit = u64::MAX;
        let content = bytes(3 * SMALL_BYTES);
        hashing.update_shared(content.clone().into());
        assert!(matches!(hashing, Hashing::Here { .. }));
        assert_eq!(hashing.finish(), whole(&content));
    }

    /// Bytes of which it is known when nobody has them any more.
    #[derive(Debug)]
    struct Owned(Arc<Vec<u8>>);

    impl AsRef<[u8]> for Owned {
        fn as_ref(&self) -> &[u8] {
            &self.0
        }
    }

    #[test]
    fn what_is_dropped_has_let_go_of_everything() {
        let content = Arc::new(bytes(1_000_000));
        let mut hashing = Hashing::new(0);
        for len in [SMALL_BYTES - 1, SMALL_BYTES, 300_000, 1_000_000] {
            let owned = Bytes::from_owner(Owned(Arc::clone(&content)));
            hashing.update_shared(owned.slice(..len));
        }
        drop(hashing);
        assert_eq!(Arc::strong_count(&content), 1);
    }

    proptest! {
        #[test]
        fn pieces_and_where_they_are_hashed_do_not_matter(
            limit in 0u64..200_000,
            pieces in proptest::collection::vec(
                (any::<bool>(), prop_oneof![0usize..300, 15_000usize..70_000, Just(SMALL_BYTES)]),
                0..20,
            ),
        ) {
            let content = Bytes::from(bytes(pieces.iter().map(|(_, len)| len).sum()));
            let mut hashing = Hashing::new(limit);
            let mut rest = content.clone();
            for (shared, len) in pieces {
                let piece = rest.split_to(len);
                if shared { hashing.update_shared(piece) } else { hashing.update(&piece) }
            }
            prop_assert_eq!(hashing.finish(), whole(&content));
        }
    }
}
