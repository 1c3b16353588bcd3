//! What the roots say was let go.

use std::collections::HashMap;

use output_contract::{CallId, Digest, SessionId, Timestamp};

use super::sweep::Swept;
use crate::expired::Tombstone;
use crate::roots::OwnerRoots;

/// Digests that calls retained and released; sorted.
#[derive(Debug)]
pub(super) struct Released(Vec<Digest>);

impl Released {
    pub(super) fn new(mut digests: Vec<Digest>) -> Self {
        digests.sort_unstable();
        Self(digests)
    }

    pub(super) fn contains(&self, digest: &Digest) -> bool {
        self.0.binary_search(digest).is_ok()
    }
}

/// The tombstones of what was removed, and who had released it, as far as that
/// is found.
#[derive(Debug)]
pub(super) struct Tombstones<'a> {
    swept: &'a Swept,
    by: HashMap<Digest, Option<(SessionId, CallId)>>,
}

impl<'a> Tombstones<'a> {
    pub(super) fn new(swept: &'a Swept) -> Self {
        Self { swept, by: swept.last.iter().map(|(digest, _)| (*digest, None)).collect() }
    }

    /// Notes what calls of one owner had released.
    pub(super) fn look_at(&mut self, roots: &OwnerRoots) {
        if self.by.is_empty() {
            return;
        }
        for (call, digests) in roots.released() {
            for digest in digests {
                if let Some(by) = self.by.get_mut(digest) {
                    *by = Some((roots.owner().clone(), call.clone()));
                }
            }
        }
    }

    /// They were removed at `at`.
    pub(super) fn written(mut self, at: Timestamp) -> Vec<Tombstone> {
        let stone = |&(digest, bytes): &(Digest, u64)| {
            let (owner, call) = self.by.remove(&digest).flatten().unzip();
            Tombstone { digest, bytes, at, owner, call }
        };
        self.swept.last.iter().map(stone).collect()
    }
}
