//! What the roots say was let go.

use std::collections::HashMap;
use std::sync::Arc;

use output_contract::{CallId, Digest, SessionId, Timestamp};

use crate::expired::Tombstone;
use crate::roots::OwnerRoots;

/// Digests that calls retained and released.
#[derive(Debug, Default)]
pub(super) struct Released {
    by: HashMap<Digest, (Arc<SessionId>, Arc<CallId>)>,
}

impl Released {
    pub(super) fn add(&mut self, roots: &OwnerRoots) {
        let owner = Arc::new(roots.owner().clone());
        for (call, digests) in roots.released() {
            let call = Arc::new(call.clone());
            for digest in digests {
                self.by.insert(*digest, (Arc::clone(&owner), Arc::clone(&call)));
            }
        }
    }

    /// The tombstone of what was removed now.
    pub(super) fn tombstone(&self, digest: Digest, bytes: u64, at: Timestamp) -> Tombstone {
        let (owner, call) = self.by.get(&digest).cloned().unzip();
        let owner = owner.map(Arc::unwrap_or_clone);
        Tombstone { digest, bytes, at, owner, call: call.map(Arc::unwrap_or_clone) }
    }

    pub(super) fn contains(&self, digest: &Digest) -> bool {
        self.by.contains_key(digest)
    }
}
