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
    /// Streams of young manifests, which stay as long as those.
    young: HashSet<Digest>,
}

impl Marked {
    pub(super) fn contains(&self, digest: &Digest) -> bool {
        self.digests.contains(digest)
    }

    /// Whether `digest` is a stream of a young manifest.
    pub(super) fn is_young(&self, digest: &Digest) -> bool {
        self.young.contains(digest)
    }

    /// Marks `digests` and the streams of those that are manifests.
    pub(super) fn extend(
        &mut self,
        store: &Inner,
        digests: impl IntoIterator<Item = Digest>,
    ) -> Result<(), CollectError> {
        for digest in digests {
            self.digests.insert(digest);
            if self.followed.insert(digest) {
                self.digests.extend(streams(store, &digest)?);
            }
        }
        Ok(())
    }

    /// Lets the streams of the young manifest `digest` stay with it.
    pub(super) fn keep_young(
        &mut self,
        store: &Inner,
        digest: &Digest,
    ) -> Result<(), CollectError> {
        self.young.extend(streams(store, digest)?);
        Ok(())
    }
}

/// The streams of the manifest `digest`; none where it is no manifest.
fn streams(store: &Inner, digest: &Digest) -> Result<Vec<Digest>, CollectError> {
    let manifest = artifact::read_manifest(store, digest).map_err(|error| {
        let path = store.layout.manifests.path_of(digest);
        CollectError::Unreadable { what: "manifest", path, source: Box::new(error) }
    })?;
    Ok(manifest.iter().flat_map(Manifest::streams).map(|stream| stream.sha256).collect())
}
