//! Retainers: the ends of something long, and an exact count of the rest.
//!
//! Responsible for keeping the first and last bytes of a stream as text
//! ([`Head`], [`Tail`], [`HeadTail`]) and the first and last items of a
//! sequence ([`ItemRetainer`]). What fits into the budgets together is kept
//! whole. A cut never parts the bytes of a character: those count as omitted.
//! Bytes that are no character count one by one.

use std::collections::VecDeque;

use crate::ends::EndsBuilder;
use crate::unit::character_around;

/// Bytes kept past a cut, to know whether it is inside a character.
const LOOKAROUND_BYTES: usize = 3;

/// What was kept of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retained {
    /// The start, decoded lossily; the whole stream where nothing is omitted.
    pub head: String,
    /// The end, decoded lossily.
    pub tail: String,
    /// How many bytes of the input are between them.
    pub omitted: u64,
}

/// Keeps the first bytes of a stream.
#[derive(Debug, Clone)]
pub struct Head(HeadTail);

impl Head {
    /// Keeps at most `max_bytes` bytes of the input.
    pub fn new(max_bytes: usize) -> Self {
        Self(HeadTail::new(max_bytes, 0))
    }

    /// Takes the next bytes of the stream.
    pub fn push(&mut self, chunk: &[u8]) {
        self.0.push(chunk);
    }

    /// Ends the stream.
    pub fn finish(self) -> Retained {
        self.0.finish()
    }
}

/// Keeps the last bytes of a stream.
#[derive(Debug, Clone)]
pub struct Tail(HeadTail);

impl Tail {
    /// Keeps at most `max_bytes` bytes of the input.
    pub fn new(max_bytes: usize) -> Self {
        Self(HeadTail::new(0, max_bytes))
    }

    /// Takes the next bytes of the stream.
    pub fn push(&mut self, chunk: &[u8]) {
        self.0.push(chunk);
    }

    /// Ends the stream. What was kept is the tail, or the head where it is all.
    pub fn finish(self) -> Retained {
        self.0.finish()
    }
}

/// Keeps the first and the last bytes of a stream.
///
/// ```
/// use output_retention::HeadTail;
///
/// let mut retainer = HeadTail::new(3, 3);
/// retainer.push(b"abcde");
/// retainer.push(b"fghij");
/// let kept = retainer.finish();
/// assert_eq!((&*kept.head, &*kept.tail, kept.omitted), ("abc", "hij", 4));
/// ```
#[derive(Debug, Clone)]
pub struct HeadTail {
    head_bytes: usize,
    tail_bytes: usize,
    ends: EndsBuilder,
}

impl HeadTail {
    /// Keeps at most `head_bytes` and `tail_bytes` bytes of the input, or all
    /// of an input that is no longer than both together.
    pub fn new(head_bytes: usize, tail_bytes: usize) -> Self {
        let ends = EndsBuilder::new(
            head_bytes.saturating_add(LOOKAROUND_BYTES),
            tail_bytes.saturating_add(LOOKAROUND_BYTES),
        );
        Self { head_bytes, tail_bytes, ends }
    }

    /// Takes the next bytes of the stream.
    pub fn push(&mut self, chunk: &[u8]) {
        self.ends.push(chunk);
    }

    /// Ends the stream.
    pub fn finish(self) -> Retained {
        let ends = self.ends.finish();
        let (total, prefix) = (ends.total(), ends.prefix());
        if total <= self.head_bytes.saturating_add(self.tail_bytes) as u64 {
            return Retained { head: decode(prefix), tail: String::new(), omitted: 0 };
        }
        let (suffix, _) = ends.suffix();
        let head_end = self.head_bytes;
        let head_end = character_around(prefix, head_end).map_or(head_end, |(start, _)| start);
        let tail_start = suffix.len() - self.tail_bytes;
        let tail_start = character_around(suffix, tail_start).map_or(tail_start, |(_, end)| end);
        let (head, tail) = (&prefix[..head_end], &suffix[tail_start..]);
        let omitted = total - (head.len() + tail.len()) as u64;
        Retained { head: decode(head), tail: decode(tail), omitted }
    }
}

fn decode(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Keeps the first and the last items of a sequence.
#[derive(Debug, Clone)]
pub struct ItemRetainer<T> {
    head_items: usize,
    tail_items: usize,
    head: Vec<T>,
    tail: VecDeque<T>,
    omitted: u64,
}

/// What was kept of a sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetainedItems<T> {
    /// The first items; all of them where nothing is omitted.
    pub head: Vec<T>,
    /// The last items.
    pub tail: Vec<T>,
    /// How many items are between them.
    pub omitted: u64,
}

impl<T> ItemRetainer<T> {
    /// Keeps at most `head` and `tail` items, or all of a sequence that is no
    /// longer than both together.
    pub fn new(head: usize, tail: usize) -> Self {
        let (first, last) = (Vec::new(), VecDeque::new());
        Self { head_items: head, tail_items: tail, head: first, tail: last, omitted: 0 }
    }

    /// Takes the next item.
    pub fn push(&mut self, item: T) {
        if self.head.len() < self.head_items {
            self.head.push(item);
            return;
        }
        self.tail.push_back(item);
        if self.tail.len() > self.tail_items {
            self.tail.pop_front();
            self.omitted += 1;
        }
    }

    /// Ends the sequence.
    pub fn finish(self) -> RetainedItems<T> {
        let Self { mut head, tail, omitted, .. } = self;
        let mut tail = Vec::from(tail);
        if omitted == 0 {
            head.append(&mut tail);
        }
        RetainedItems { head, tail, omitted }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{chunked, stream_bytes};

    fn retain(bytes: &[u8], head: usize, tail: usize, sizes: &[usize]) -> Retained {
        let mut retainer = HeadTail::new(head, tail);
        chunked(bytes, sizes).for_each(|chunk| retainer.push(chunk));
        retainer.finish()
    }

    #[test]
    fn vectors() {
        for (input, head, tail, expect) in [
            (&b"abcdefghij"[..], 3, 3, ("abc", "hij", 4)),
            ("éab".as_bytes(), 1, 3, ("éab", "", 0)),
            ("a€€b".as_bytes(), 2, 2, ("a", "b", 6)),
            ("€€€".as_bytes(), 2, 2, ("", "", 9)),
            ("a😀".as_bytes(), 3, 0, ("a", "", 4)),
            (b"\x80\x80\x7a", 2, 0, ("\u{fffd}\u{fffd}", "", 1)),
            (b"", 0, 0, ("", "", 0)),
            (b"abc", 0, 0, ("", "", 3)),
            // No characters: cut at the byte.
            (b"\xe2\x82x", 1, 0, ("\u{fffd}", "", 2)),
            (b"x\xe2\x82", 2, 0, ("x\u{fffd}", "", 1)),
            (b"\xe2\x82x", 0, 2, ("", "\u{fffd}x", 1)),
        ] {
            for size in [1, 2, 3, 100] {
                let kept = retain(input, head, tail, &[size]);
                let found = (&*kept.head, &*kept.tail, kept.omitted);
                assert_eq!(found, expect, "{input:?} {head} {tail} in {size}s");
            }
        }
    }

    #[test]
    fn one_sided_retainers() {
        let mut head = Head::new(2);
        let mut tail = Tail::new(2);
        for chunk in [&b"ab"[..], b"cd"] {
            head.push(chunk);
            tail.push(chunk);
        }
        assert_eq!(head.finish(), Retained { head: "ab".into(), tail: "".into(), omitted: 2 });
        assert_eq!(tail.finish(), Retained { head: "".into(), tail: "cd".into(), omitted: 2 });
    }

    #[test]
    fn items() {
        let retain = |count: u32, head, tail| {
            let mut retainer = ItemRetainer::new(head, tail);
            (0..count).for_each(|item| retainer.push(item));
            let kept = retainer.finish();
            (kept.head, kept.tail, kept.omitted)
        };
        assert_eq!(retain(0, 2, 2), (vec![], vec![], 0));
        assert_eq!(retain(4, 2, 2), (vec![0, 1, 2, 3], vec![], 0));
        assert_eq!(retain(5, 2, 2), (vec![0, 1], vec![3, 4], 1));
        assert_eq!(retain(9, 0, 1), (vec![], vec![8], 8));
        assert_eq!(retain(9, 1, 0), (vec![0], vec![], 8));
        assert_eq!(retain(9, 0, 0), (vec![], vec![], 9));
    }

    #[test]
    fn a_huge_budget_takes_no_memory_in_advance() {
        let mut retainer = HeadTail::new(usize::MAX, usize::MAX);
        retainer.push(b"abc");
        assert_eq!(retainer.finish().head, "abc");
    }

    proptest! {
        #[test]
        fn cuts_are_exact_and_on_characters(
            bytes in stream_bytes(12),
            head in 0usize..40,
            tail in 0usize..40,
            sizes in prop::collection::vec(1usize..9, 1..5),
        ) {
            let kept = retain(&bytes, head, tail, &sizes);
            prop_assert_eq!(&kept, &retain(&bytes, head, tail, &[bytes.len().max(1)]));

            // The reference: cut the whole bytes, then move off characters.
            let total = bytes.len();
            let whole = total <= head + tail;
            let inside = |at: usize| character_around(&bytes, at);
            let (head_end, tail_start) = if whole { (total, total) } else {
                (
                    inside(head).map_or(head, |(start, _)| start),
                    inside(total - tail).map_or(total - tail, |(_, end)| end),
                )
            };
            prop_assert_eq!(kept.head, decode(&bytes[..head_end]));
            prop_assert_eq!(kept.tail, decode(&bytes[tail_start..]));
            prop_assert_eq!(kept.omitted, (tail_start - head_end) as u64);
            prop_assert!(whole || (head - head_end <= 3 && tail_start - (total - tail) <= 3));
        }

        #[test]
        fn text_is_cut_into_text(
            text in "[a-z€😀é\n]{0,30}", head in 0usize..40, tail in 0usize..40,
        ) {
            let kept = retain(text.as_bytes(), head, tail, &[7]);
            prop_assert!(text.starts_with(&kept.head));
            prop_assert!(text.ends_with(&kept.tail));
            prop_assert_eq!(kept.head.len() as u64 + kept.omitted + kept.tail.len() as u64, text.len() as u64);
        }
    }
}
