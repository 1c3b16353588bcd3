//! The readers of this crate's own files, for fuzz targets. For tests only: it
//! may change with the store.

use crate::lease::state;
use crate::{record, roots};

/// Every line of `bytes` with the check that it should have, so that what is
/// behind the check is reached.
pub fn with_checks(bytes: &[u8]) -> Vec<u8> {
    bytes.split(|&byte| byte == b'\n').flat_map(record::line).collect()
}

/// Reads a roots file and writes it as a collection would; `None` where it
/// cannot be read, or retains and released nothing.
pub fn rewrite_roots(bytes: &[u8]) -> Option<Vec<u8>> {
    roots::rewrite(bytes)
}

/// Reads a lease file: how many entries it has; `None` where it cannot be read.
pub fn leased(bytes: &[u8]) -> Option<usize> {
    state::parse(bytes).ok().map(|entries| entries.len())
}
