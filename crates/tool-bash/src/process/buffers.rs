//! The memory that pipes are read into.
//!
//! Responsible for using the same few buffers again once whoever got their
//! bytes has let go of them, so that a large output costs no fresh memory: the
//! kernel would have to find and clear every page of it.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};

/// Size of a buffer, in bytes. Small reads share one.
const BUFFER_BYTES: usize = 256 * 1024;
/// The least room that a read gets, in bytes.
const MIN_READ_BYTES: usize = 64 * 1024;
/// Most buffers that are waited for: a full queue of a channel, what its writer
/// holds, and what was not read full.
const MAX_LENT: usize = 8;

/// A buffer to read into, and those whose bytes others still hold.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    current: Option<BytesMut>,
    /// The one that was lent first is first.
    lent: VecDeque<BytesMut>,
}

impl Buffers {
    /// Where the next read goes: it has room for [`MIN_READ_BYTES`] or more.
    pub(super) fn room(&mut self) -> &mut BytesMut {
        let room = |buffer: &BytesMut| buffer.capacity() - buffer.len();
        if self.current.as_ref().is_none_or(|current| room(current) < MIN_READ_BYTES) {
            self.next();
        }
        self.current.as_mut().expect("there is one after the first `next`")
    }

    /// What was read since the last time.
    pub(super) fn take(&mut self) -> Bytes {
        self.current.as_mut().map(BytesMut::split).unwrap_or_default().freeze()
    }

    fn next(&mut self) {
        // Bytes come back in the order in which they were lent.
        let returned = self.lent.front_mut().is_some_and(|first| first.try_reclaim(BUFFER_BYTES));
        let next = if returned { self.lent.pop_front() } else { None };
        let next = next.unwrap_or_else(|| BytesMut::with_capacity(BUFFER_BYTES));
        self.lent.extend(self.current.replace(next));
        if self.lent.len() > MAX_LENT {
            // Someone keeps it for good.
            self.lent.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::BufMut;

    use super::*;

    /// Reads `count` bytes of `byte`; returns them, and where they lie.
    fn read(buffers: &mut Buffers, byte: u8, count: usize) -> (Bytes, *const u8) {
        buffers.room().put_bytes(byte, count);
        let bytes = buffers.take();
        let place = bytes.as_ptr();
        (bytes, place)
    }

    #[test]
    fn what_was_let_go_is_used_again() {
        let mut buffers = Buffers::default();
        let places: Vec<_> = (0..10).map(|byte| read(&mut buffers, byte, BUFFER_BYTES).1).collect();
        assert!(places.iter().skip(2).all(|place| places[..2].contains(place)), "{places:?}");
    }

    #[test]
    fn what_is_held_is_left_alone() {
        let mut buffers = Buffers::default();
        let held: Vec<_> = (0..40).map(|byte| read(&mut buffers, byte, 200_000).0).collect();
        for (byte, bytes) in (0..).zip(&held) {
            assert_eq!(bytes.len(), 200_000);
            assert!(bytes.iter().all(|&found| found == byte), "{byte}");
        }
        assert!(buffers.lent.len() <= MAX_LENT);
    }

    #[test]
    fn small_reads_share_a_buffer() {
        let mut buffers = Buffers::default();
        let (_first, place) = read(&mut buffers, b'a', 10);
        let (_second, next) = read(&mut buffers, b'b', 10);
        assert_eq!(next, place.wrapping_add(10));
    }
}
