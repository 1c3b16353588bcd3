//! How much of a call is stored.

use std::sync::atomic::{AtomicU64, Ordering};

use output_contract::limits::{DEFAULT_MAX_CALL_BYTES, DEFAULT_MAX_STREAM_BYTES};

/// Caps on what is stored of one call. Exactly min(seen, cap) is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaptureLimits {
    /// Most bytes stored of one stream (`[capture] max_stream_bytes`).
    pub max_stream_bytes: u64,
    /// Most bytes stored of all streams together (`[capture] max_call_bytes`).
    pub max_call_bytes: u64,
}

impl Default for CaptureLimits {
    fn default() -> Self {
        Self { max_stream_bytes: DEFAULT_MAX_STREAM_BYTES, max_call_bytes: DEFAULT_MAX_CALL_BYTES }
    }
}

/// The share of a call's cap that its streams have not taken yet.
#[derive(Debug)]
pub(crate) struct CallBudget {
    limits: CaptureLimits,
    left: AtomicU64,
}

impl CallBudget {
    pub(crate) fn new(limits: CaptureLimits) -> Self {
        Self { limits, left: AtomicU64::new(limits.max_call_bytes) }
    }

    /// Takes up to `wanted` bytes for a stream that has stored `stored` so far.
    pub(crate) fn take(&self, stored: u64, wanted: u64) -> u64 {
        let wanted = wanted.min(self.limits.max_stream_bytes.saturating_sub(stored));
        let left = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                Some(left.saturating_sub(wanted))
            })
            .expect("the update always gives a value");
        wanted.min(left)
    }

    /// Gives back what was taken and could not be stored.
    pub(crate) fn give_back(&self, bytes: u64) {
        self.left.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The cap that stopped a stream with `stored` bytes.
    pub(crate) fn reached(&self, stored: u64) -> u64 {
        if stored >= self.limits.max_stream_bytes {
            self.limits.max_stream_bytes
        } else {
            self.limits.max_call_bytes
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smaller_cap_counts() {
        let budget = CallBudget::new(CaptureLimits { max_stream_bytes: 10, max_call_bytes: 15 });
        assert_eq!(budget.take(0, 8), 8);
        assert_eq!(budget.take(8, 8), 2);
        assert_eq!(budget.take(10, 1), 0);
        assert_eq!(budget.reached(10), 10);
        assert_eq!(budget.take(0, 8), 5);
        assert_eq!(budget.reached(5), 15);
        budget.give_back(3);
        assert_eq!(budget.take(5, 8), 3);
    }
}
