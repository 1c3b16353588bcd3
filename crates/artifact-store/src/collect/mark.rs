//! What roots and leases refer to, manifests' streams included.

use std::collections::HashSet;

use artifacts::{CollectError, Manifest};
use output_contract::Digest;

use crate::artifact;
use crate::local::Inner;

/// Digests that stay, as blobs and as manifests.
#[derive(Debug, Default)]
pub(super) struct Marked {
    digests: HashSet<Digest>,
    /// Those of which it is known whether they are manifests.
    followed: HashSet<Digest>,
}

impl Marked {
    pub(super) fn contains(&self, digest: &Digest) -> bool {
        self.digests.contains(digest)
    }

    /// Marks `digests` and the streams of those that are manifests.
    pub(super) fn extend(
        &mut self,
        store: &Inner,
        digests: impl IntoIterator<Item = Digest>,
    ) -> Result<(), CollectError> {
        for digest in digests {
            self.digests.insert(digest);
            self.keep_streams(store, &digest)?;
        }
        Ok(())
    }

    /// Marks the streams of the manifest `digest`, where it is one.
    pub(super) fn keep_streams(
        &mut self,
        store: &Inner,
        digest: &Digest,
    ) -> Result<(), CollectError> {
        if !self.followed.insert(*digest) {
            return Ok(());
        }
        let manifest = artifact::read_manifest(store, digest).map_err(|error| {
            let path = store.layout.manifests.path_of(digest);
            CollectError::Unreadable { what: "manifest", path, source: Box::new(error) }
        })?;
        self.digests.extend(manifest.iter().flat_map(Manifest::streams).map(|s| s.sha256));
        Ok(())
    }
}
