//! What roots and leases refer to, manifests' streams included.

use artifacts::{CollectError, Manifest};
use output_contract::Digest;

use crate::artifact;
use crate::local::Inner;

/// Digests that stay, as blobs and as manifests.
///
/// They are all of a store in the worst case, so they are 32 bytes each.
#[derive(Debug, Default)]
pub(super) struct Marked {
    /// Without order until they are [closed](Self::close); then sorted.
    digests: Vec<Digest>,
}

impl Marked {
    pub(super) fn add(&mut self, digests: impl IntoIterator<Item = Digest>) {
        self.digests.extend(digests);
    }

    /// Marks the streams of the marked manifests too, which ends marking.
    ///
    /// What names a manifest came after it, so that all that can be marked are
    /// listed now; whatever else is marked is no manifest.
    pub(super) fn close(mut self, store: &Inner) -> Result<Self, CollectError> {
        self.sort();
        let mut children = Vec::new();
        for manifest in store.layout.manifests.digests()?.iter().flatten() {
            if self.contains(manifest) {
                children.extend(streams(store, manifest)?);
            }
        }
        self.digests.extend(children);
        self.sort();
        Ok(self)
    }

    fn sort(&mut self) {
        self.digests.sort_unstable();
        self.digests.dedup();
    }

    pub(super) fn contains(&self, digest: &Digest) -> bool {
        self.digests.binary_search(digest).is_ok()
    }
}

/// The streams of the manifest `digest`; none where it is no manifest.
pub(super) fn streams(store: &Inner, digest: &Digest) -> Result<Vec<Digest>, CollectError> {
    let manifest = artifact::read_manifest(store, digest).map_err(|error| {
        let path = store.layout.manifests.path_of(digest);
        CollectError::Unreadable { what: "manifest", path, source: Box::new(error) }
    })?;
    Ok(manifest.iter().flat_map(Manifest::streams).map(|stream| stream.sha256).collect())
}
