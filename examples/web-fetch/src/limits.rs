//! What a fetch may cost.

use std::time::Duration;

/// The limits of one fetch. They protect the network and the memory; how much
/// of the result a model sees is not their business.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FetchLimits {
    /// Largest response body, in bytes. A larger one is an error.
    pub response_bytes: usize,
    /// Longest text of a body, in characters. A longer one is cut, and says so.
    pub body_chars: usize,
    /// Most redirects that are followed.
    pub redirects: usize,
    /// Longest time of a whole fetch, with its redirects.
    pub timeout: Duration,
}

impl Default for FetchLimits {
    /// 10 MiB, a million characters, 5 redirects, 30 s.
    fn default() -> Self {
        Self {
            response_bytes: 10 * 1024 * 1024,
            body_chars: 1_000_000,
            redirects: 5,
            timeout: Duration::from_secs(30),
        }
    }
}
