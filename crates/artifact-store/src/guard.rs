//! Protection of stored artifacts while someone works with them.

use std::sync::Arc;

use artifacts::RootError;
use output_contract::{CallId, Digest, SessionId};

use crate::lease::Lease;
use crate::local::Inner;

/// While it lives, what it names is not collected.
///
/// Dropping it is releasing it. What was retained through it stays.
#[derive(Debug)]
pub struct StoreGuard {
    store: Arc<Inner>,
    digests: Vec<Digest>,
    lease: Lease,
    healed: Vec<Digest>,
}

impl StoreGuard {
    pub(crate) fn new(
        store: Arc<Inner>,
        digests: Vec<Digest>,
        lease: Lease,
        healed: Vec<Digest>,
    ) -> Self {
        Self { store, digests, lease, healed }
    }

    /// What it names: the manifest first, where there is one, then the blobs.
    pub fn digests(&self) -> &[Digest] {
        &self.digests
    }

    /// Those of which a damaged copy was replaced by publishing.
    pub fn healed(&self) -> &[Digest] {
        &self.healed
    }

    /// Keeps everything that this guard names for a call, until the call or
    /// its owner is released. Durable when it returns, where the store is.
    ///
    /// # Errors
    /// [`RootError::LeaseLost`] where the guard protects nothing any more; the
    /// others where the root cannot be recorded. Nothing is retained then.
    pub fn retain(&self, owner: &SessionId, call: &CallId) -> Result<(), RootError> {
        if !self.lease.is_held()? {
            return Err(RootError::LeaseLost);
        }
        self.store.retain(owner, call, &self.digests)
    }

    /// Ends the protection.
    pub fn release(self) {
        self.lease.release();
    }
}
