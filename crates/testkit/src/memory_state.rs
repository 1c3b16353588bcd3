//! What a memory store holds, and the rules of keeping it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Instant;

use artifacts::{CollectOptions, CollectReport, Manifest, OpenError, hash};
use bytes::Bytes;
use output_contract::{CallId, Digest, SessionId, StreamName};

/// Blobs and manifests, in a namespace each; who protects them; who retains
/// them.
#[derive(Debug, Default)]
pub(crate) struct State {
    blobs: HashMap<Digest, Stored>,
    manifests: HashMap<Digest, (Manifest, Stored)>,
    /// What each live guard names.
    pub(crate) guards: HashMap<u64, Vec<Digest>>,
    next_guard: u64,
    /// What each call of each owner retains.
    pub(crate) roots: BTreeMap<SessionId, BTreeMap<CallId, Vec<Digest>>>,
}

#[derive(Debug)]
struct Stored {
    bytes: Bytes,
    /// When it was last published.
    touched: Instant,
}

impl Stored {
    fn new(bytes: Bytes) -> Self {
        Self { bytes, touched: Instant::now() }
    }
}

impl State {
    /// Stores a blob. A good copy heals a damaged one.
    pub(crate) fn add_blob(&mut self, digest: Digest, bytes: Bytes) {
        self.blobs.insert(digest, Stored::new(bytes));
    }

    pub(crate) fn add_manifest(&mut self, manifest: Manifest) -> Digest {
        let digest = manifest.digest();
        let stored = Stored::new(manifest.encode().into());
        self.manifests.insert(digest, (manifest, stored));
        digest
    }

    pub(crate) fn len(&self) -> usize {
        self.blobs.len() + self.manifests.len()
    }

    pub(crate) fn manifest(&self, digest: Digest) -> Option<&Manifest> {
        self.manifests.get(&digest).map(|(manifest, _)| manifest)
    }

    /// The bytes under a digest, whole or not.
    pub(crate) fn bytes(&self, digest: Digest) -> Option<Bytes> {
        let manifest = self.manifests.get(&digest).map(|(_, stored)| stored);
        manifest.or_else(|| self.blobs.get(&digest)).map(|stored| stored.bytes.clone())
    }

    /// The bytes under a digest, checked against it.
    pub(crate) fn open(&self, digest: Digest) -> Result<Bytes, OpenError> {
        let bytes = self.bytes(digest).ok_or(OpenError::Unknown { digest })?;
        if hash::digest_of(&bytes) == digest {
            Ok(bytes)
        } else {
            Err(OpenError::Corrupt { digest, range: 0..bytes.len() as u64 })
        }
    }

    /// The digest of a stream of a manifest. Only what was published as a
    /// manifest is one, whatever a blob looks like.
    pub(crate) fn stream(&self, digest: Digest, name: &StreamName) -> Result<Digest, OpenError> {
        let Some(manifest) = self.manifest(digest) else {
            return Err(match self.blobs.contains_key(&digest) {
                true => OpenError::NotNamed { digest },
                false => OpenError::Unknown { digest },
            });
        };
        self.open(digest)?;
        manifest.stream(name).map(|stream| stream.sha256).ok_or_else(|| OpenError::UnknownStream {
            stream: name.clone(),
            declared: manifest.streams().iter().map(|stream| stream.name.clone()).collect(),
        })
    }

    pub(crate) fn corrupt(&mut self, digest: Digest) -> bool {
        let manifest = self.manifests.get_mut(&digest).map(|(_, stored)| stored);
        let Some(stored) = manifest.or_else(|| self.blobs.get_mut(&digest)) else { return false };
        let mut bytes = stored.bytes.to_vec();
        let Some(byte) = bytes.last_mut() else { return false };
        *byte ^= 1;
        stored.bytes = bytes.into();
        true
    }

    /// Registers a guard and returns its number.
    pub(crate) fn protect(&mut self, digests: Vec<Digest>) -> u64 {
        self.next_guard += 1;
        self.guards.insert(self.next_guard, digests);
        self.next_guard
    }

    pub(crate) fn retain(&mut self, owner: &SessionId, call: &CallId, digests: &[Digest]) {
        let calls = self.roots.entry(owner.clone()).or_default();
        let retained = calls.entry(call.clone()).or_default();
        for digest in digests {
            if !retained.contains(digest) {
                retained.push(*digest);
            }
        }
    }

    pub(crate) fn release(&mut self, owner: &SessionId, call: Option<&CallId>) {
        match call {
            None => drop(self.roots.remove(owner)),
            Some(call) => {
                if let Some(calls) = self.roots.get_mut(owner) {
                    calls.remove(call);
                }
            }
        }
    }

    /// Removes what neither a guard nor a root names and what is older than the
    /// grace.
    pub(crate) fn collect(&mut self, options: &CollectOptions) -> CollectReport {
        let live = self.live();
        let mut report = CollectReport::default();
        let mut keep = |digest: &Digest, stored: &Stored| {
            if live.contains(digest) {
                report.live += 1;
                return true;
            }
            if stored.touched.elapsed() < options.grace {
                report.young += 1;
                return true;
            }
            report.removed += 1;
            report.removed_bytes += stored.bytes.len() as u64;
            options.dry_run
        };
        self.manifests.retain(|digest, (_, stored)| keep(digest, stored));
        self.blobs.retain(|digest, stored| keep(digest, stored));
        report
    }

    /// What guards and roots name. A guard names a manifest's streams with it.
    fn live(&self) -> HashSet<Digest> {
        let retained = self.roots.values().flat_map(BTreeMap::values);
        self.guards.values().chain(retained).flatten().copied().collect()
    }
}
