//! What the roots say was let go.

use std::collections::HashMap;
use std::sync::Arc;

use output_contract::{CallId, Digest, SessionId};

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

    pub(super) fn contains(&self, digest: &Digest) -> bool {
        self.by.contains_key(digest)
    }
}
