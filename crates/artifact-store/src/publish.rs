//! Publishing: sealed captures become blobs, and a manifest names them.
//!
//! The order of things, and why:
//! 1. the lease, before anything is looked at: from here on no sweep removes
//!    what it names;
//! 2. comparing with what is there already, which may take long;
//! 3. under the shared sweep lock, for as long as some links take: children,
//!    then the manifest. What was compared must still be the same file;
//! 4. the barrier: everything is on the medium before any root can refer to it.

mod place;
mod staging;

use std::collections::HashSet;
use std::sync::Arc;

use artifacts::{FileError, Manifest, Publication, PublishError};
use output_contract::Digest;

use self::place::Placing;
use self::staging::Source;
use crate::guard::StoreGuard;
use crate::local::Inner;
use crate::lock::SweepShared;

pub(crate) use self::staging::Staged;

/// How often something new at an address is compared before it is replaced.
const COMPARISONS: usize = 4;

pub(crate) fn publish(
    store: &Arc<Inner>,
    publication: &Publication,
) -> Result<StoreGuard, PublishError> {
    store.check_writable().map_err(|newer| PublishError::NewerFormat {
        format: newer.format,
        supported: newer.supported,
    })?;
    check_streams(publication)?;
    let mut sources = Vec::new();
    let mut seen = HashSet::new();
    for blob in &publication.blobs {
        if seen.insert(blob.digest()) {
            sources.push(Source::open(store, blob)?);
        }
    }
    let manifest = stage_manifest(store, publication, &sources)?;
    let sidecars = sources
        .iter()
        .filter_map(|source| source.stage_sidecar().transpose())
        .collect::<Result<Vec<_>, _>>()?;

    let digests: Vec<Digest> = (manifest.iter().map(|manifest| manifest.digest))
        .chain(publication.blobs.iter().map(|blob| blob.digest()))
        .collect();
    let lease = store.leases.take(&store.layout.leases, &digests)?;

    let mut placings = Vec::new();
    for source in &sources {
        placings.push(Placing::new(&store.layout.blobs, source.digest, source.file())?);
    }
    if let Some(staged) = &manifest {
        placings.push(Placing::new(&store.layout.manifests, staged.digest, staged.file())?);
    }
    place_all(store, &sidecars, &mut placings)?;
    if store.options.durability.waits() {
        store.layout.sync_root()?;
        for placing in &placings {
            placing.sync()?;
        }
    }
    let healed = placings.iter().filter_map(Placing::healed).collect();
    Ok(StoreGuard::new(Arc::clone(store), digests, lease, healed))
}

/// Links everything, in order, while nothing can be removed.
fn place_all(
    store: &Inner,
    sidecars: &[Staged<'_>],
    placings: &mut [Placing<'_>],
) -> Result<(), FileError> {
    for attempt in 1.. {
        for placing in &mut *placings {
            placing.compare()?;
        }
        let _no_sweep = SweepShared::take(&store.layout.locks)?;
        if attempt == 1 {
            // Whoever sees a blob also sees its sidecar, which is worth no
            // error: it can be made anew.
            for sidecar in sidecars {
                let _ = sidecar.move_to(&store.layout.index);
            }
        }
        let mut done = true;
        for placing in &mut *placings {
            done = done && placing.place(attempt >= COMPARISONS)?;
        }
        if done {
            break;
        }
    }
    Ok(())
}

/// Every stream of the manifest must be among the blobs, with its facts.
fn check_streams(publication: &Publication) -> Result<(), PublishError> {
    for stream in publication.manifest.iter().flat_map(Manifest::streams) {
        let published = publication.blobs.iter().any(|blob| {
            (blob.digest(), blob.bytes(), blob.lines())
                == (stream.sha256, stream.bytes, stream.lines)
        });
        if !published {
            let (stream, digest) = (stream.name.clone(), stream.sha256);
            return Err(PublishError::StreamNotPublished { stream, digest });
        }
    }
    Ok(())
}

/// Writes the manifest beside the first capture it names.
fn stage_manifest<'a>(
    store: &Inner,
    publication: &Publication,
    sources: &'a [Source<'_>],
) -> Result<Option<Staged<'a>>, FileError> {
    let Some(manifest) = &publication.manifest else { return Ok(None) };
    let source = sources.first().expect("a manifest has a stream, and every stream is a blob");
    let bytes = manifest.encode();
    source.stage(manifest.digest(), &bytes, store.options.durability).map(Some)
}
