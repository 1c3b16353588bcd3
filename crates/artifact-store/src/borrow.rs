//! Protecting what is stored, by digest alone.

use std::sync::Arc;

use artifacts::{Manifest, OpenError};
use output_contract::Digest;

use crate::artifact;
use crate::guard::StoreGuard;
use crate::local::Inner;
use crate::lock::SweepShared;
use crate::shelf::Shelf;

/// A file that must be there, and its size where that is known.
struct Needed<'a> {
    shelf: &'a Shelf,
    digest: Digest,
    bytes: Option<u64>,
}

/// The lease names the closure, which the manifest's digest fixes, so the
/// manifest can be read before it is protected. Only then, under the lock, is
/// everything checked to be there.
pub(crate) fn borrow(store: &Arc<Inner>, digest: Digest) -> Result<StoreGuard, OpenError> {
    store.check_writable().map_err(|newer| OpenError::NewerFormat {
        format: newer.format,
        supported: newer.supported,
    })?;
    let layout = &store.layout;
    let manifest = artifact::read_manifest(store, &digest)?;
    let mut needed = Vec::new();
    if let Some(manifest) = &manifest {
        needed.extend(manifest.streams().iter().map(|stream| Needed {
            shelf: &layout.blobs,
            digest: stream.sha256,
            bytes: Some(stream.bytes),
        }));
        needed.push(Needed { shelf: &layout.manifests, digest, bytes: None });
    } else {
        needed.push(Needed { shelf: &layout.blobs, digest, bytes: None });
    }
    let children = manifest.iter().flat_map(Manifest::streams).map(|stream| stream.sha256);
    let digests: Vec<Digest> = [digest].into_iter().chain(children).collect();
    let lease = store.leases.take(&layout.leases, &digests)?;
    {
        let _no_sweep = SweepShared::take(&layout.locks)?;
        needed.iter().try_for_each(check)?;
    }
    if store.options.durability.waits() {
        layout.sync_root()?;
        for Needed { shelf, digest, .. } in &needed {
            // A root must not be more durable than what it names, whoever
            // published that.
            shelf.file(digest)?.sync()?;
            shelf.sync(&shelf.dir(digest)?)?;
        }
    }
    Ok(StoreGuard::new(Arc::clone(store), digests, lease, Vec::new()))
}

fn check(needed: &Needed<'_>) -> Result<(), OpenError> {
    let Needed { shelf, digest, bytes } = needed;
    let stat = shelf.stat(digest)?.ok_or(OpenError::Unknown { digest: *digest })?;
    if bytes.is_some_and(|bytes| bytes != stat.bytes) {
        return Err(OpenError::Corrupt { digest: *digest, range: 0..bytes.unwrap_or(stat.bytes) });
    }
    Ok(shelf.dir(digest)?.touch(&digest.to_string())?)
}
