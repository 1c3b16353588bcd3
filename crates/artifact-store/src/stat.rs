//! What a store holds, in numbers.

use std::collections::{HashMap, HashSet};

use artifacts::{CaptureError, FileError};
use camino::Utf8PathBuf;
use output_contract::{Digest, SessionId};

use crate::local::Inner;
use crate::roots::OwnerRoots;

/// What a store holds. Sizes are in bytes, and those of blobs and manifests,
/// without what the store keeps for itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoreStat {
    /// Blobs and manifests.
    pub artifacts: u64,
    /// Their size; what several calls share counts once.
    pub bytes: u64,
    /// Those of the artifacts that calls retain.
    pub retained: u64,
    /// Their size; what several calls share counts once.
    pub retained_bytes: u64,
    /// What the calls of all owners would take without sharing.
    pub unshared_bytes: u64,
    /// Owners that retain something, by name.
    pub owners: Vec<OwnerStat>,
    /// Captures that processes are writing right now.
    pub live_captures: u64,
    /// Damaged artifacts that were put aside.
    pub quarantined: u64,
    /// Their size.
    pub quarantined_bytes: u64,
    /// Roots that cannot be read, and why: what they retain is not counted.
    pub unreadable: Vec<(Utf8PathBuf, String)>,
}

/// What one owner retains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnerStat {
    /// The owner.
    pub owner: SessionId,
    /// Its calls that retain something.
    pub calls: u64,
    /// The size of what they retain; what they share counts once.
    pub bytes: u64,
}

impl StoreStat {
    /// Bytes that are not stored because something else has them already.
    pub const fn saved_bytes(&self) -> u64 {
        self.unshared_bytes.saturating_sub(self.retained_bytes)
    }
}

/// Blobs and manifests with their sizes in bytes.
pub(crate) fn sizes(store: &Inner) -> Result<HashMap<Digest, u64>, FileError> {
    let layout = &store.layout;
    let mut sizes = HashMap::new();
    for found in layout.blobs.list()?.into_iter().chain(layout.manifests.list()?) {
        *sizes.entry(found.digest).or_default() += found.stat.bytes;
    }
    Ok(sizes)
}

pub(crate) fn stat(store: &Inner) -> Result<StoreStat, FileError> {
    let layout = &store.layout;
    let sizes = sizes(store)?;
    let size = |digest: &Digest| sizes.get(digest).copied().unwrap_or(0);
    let mut found = StoreStat {
        artifacts: (layout.blobs.list()?.len() + layout.manifests.list()?.len()) as u64,
        bytes: sizes.values().sum(),
        live_captures: live_captures(store)?,
        ..StoreStat::default()
    };
    let mut retained = HashSet::new();
    for name in layout.roots.names()? {
        let roots = match layout.roots.read(&name) {
            Ok(roots) => roots,
            Err(error) => {
                let reason = std::error::Error::source(&error).map(ToString::to_string);
                let path = layout.roots.path_of(&name);
                found.unreadable.push((path, reason.unwrap_or_else(|| error.to_string())));
                continue;
            }
        };
        let Some(roots) = roots.filter(|roots| !roots.is_empty()) else { continue };
        let own: HashSet<Digest> = roots.digests().copied().collect();
        let (owner, bytes) = (roots.owner().clone(), own.iter().map(size).sum());
        let mut calls = 0;
        for call in OwnerRoots::into_calls(roots) {
            calls += 1;
            let digests: HashSet<Digest> = call.digests.into_iter().collect();
            found.unshared_bytes += digests.iter().map(size).sum::<u64>();
        }
        found.owners.push(OwnerStat { owner, calls, bytes });
        retained.extend(own);
    }
    retained.retain(|digest| sizes.contains_key(digest));
    found.retained = retained.len() as u64;
    found.retained_bytes = retained.iter().map(size).sum();
    found.owners.sort_by(|a, b| a.owner.cmp(&b.owner));
    for name in layout.quarantine.names()? {
        if let Some(stat) = layout.quarantine.stat(&name)? {
            found.quarantined += 1;
            found.quarantined_bytes += stat.bytes;
        }
    }
    Ok(found)
}

fn live_captures(store: &Inner) -> Result<u64, FileError> {
    match store.captures.live() {
        Ok(live) => Ok(live.len() as u64),
        Err(CaptureError::File(error)) => Err(error),
        Err(_) => Ok(0),
    }
}
