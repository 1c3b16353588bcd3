//! The two ends of a byte stream of any length, in bounded memory.
//!
//! Responsible for keeping the first and the last bytes of what is pushed, in
//! any chunking and mostly by bulk copies. What is done with them is decided
//! when the stream has ended.

use std::collections::VecDeque;

/// Collects the first `head_capacity` and the last `tail_capacity` bytes.
#[derive(Debug, Clone)]
pub(crate) struct EndsBuilder {
    head_capacity: usize,
    tail_capacity: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl EndsBuilder {
    /// Capacities in bytes. Memory grows as bytes come, up to their sum.
    pub(crate) fn new(head_capacity: usize, tail_capacity: usize) -> Self {
        let (head, tail) = (Vec::new(), VecDeque::new());
        Self { head_capacity, tail_capacity, head, tail, total: 0 }
    }

    pub(crate) fn push(&mut self, chunk: &[u8]) {
        self.total += chunk.len() as u64;
        let room = self.head_capacity - self.head.len();
        let (first, rest) = chunk.split_at(room.min(chunk.len()));
        self.head.extend_from_slice(first);
        let last = &rest[rest.len().saturating_sub(self.tail_capacity)..];
        let overflow = (self.tail.len() + last.len()).saturating_sub(self.tail_capacity);
        self.tail.drain(..overflow);
        self.tail.extend(last);
    }

    pub(crate) fn finish(self) -> Ends {
        let Self { mut head, tail, total, .. } = self;
        let mut tail = Vec::from(tail);
        if (head.len() + tail.len()) as u64 == total {
            head.append(&mut tail);
        }
        Ends { head, tail, total }
    }
}

/// The kept ends of a stream that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ends {
    /// The start of the stream; all of it, where nothing was dropped.
    head: Vec<u8>,
    /// The end of the stream; empty where `head` is all of it.
    tail: Vec<u8>,
    total: u64,
}

impl Ends {
    /// Length of the stream, in bytes.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// The kept start of the stream, at least as long as the capacity allows.
    pub(crate) fn prefix(&self) -> &[u8] {
        &self.head
    }

    /// The kept end of the stream, at least as long as the capacity allows, and
    /// where in the stream it begins.
    pub(crate) fn suffix(&self) -> (&[u8], u64) {
        if self.is_whole() {
            (&self.head, 0)
        } else {
            (&self.tail, self.total - self.tail.len() as u64)
        }
    }

    /// Whether [`Self::prefix`] is the whole stream.
    pub(crate) fn is_whole(&self) -> bool {
        self.head.len() as u64 == self.total
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::chunked;

    proptest! {
        #[test]
        fn ends_are_those_of_the_stream(
            bytes in prop::collection::vec(any::<u8>(), 0..80),
            sizes in prop::collection::vec(1usize..40, 1..5),
            head in 0usize..40,
            tail in 0usize..40,
        ) {
            let mut builder = EndsBuilder::new(head, tail);
            chunked(&bytes, &sizes).for_each(|chunk| builder.push(chunk));
            prop_assert!(builder.head.len() <= head && builder.tail.len() <= tail);
            let ends = builder.finish();
            prop_assert_eq!(ends.total(), bytes.len() as u64);
            prop_assert!(bytes.starts_with(ends.prefix()));
            prop_assert!(ends.prefix().len() >= head.min(bytes.len()));
            let (suffix, start) = ends.suffix();
            prop_assert_eq!(suffix, &bytes[usize::try_from(start).unwrap()..]);
            prop_assert!(suffix.len() >= tail.min(bytes.len()));
            prop_assert_eq!(ends.is_whole(), bytes.len() <= head + tail);
        }
    }
}
