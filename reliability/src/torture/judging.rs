//! The end: what is on the disk must be what the logs say, and nothing else.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::num::NonZero;

use anyhow::{Context, Result};
use artifact_store::LocalStore;
use artifacts::fs::Fs;
use artifacts::sidecar::SIDECAR_MIN_BYTES;
use artifacts::{Manifest, RetainedCall};
use camino::Utf8Path;
use output_contract::{ArtifactUri, Digest};
use reliability::Random;

use crate::oracle::Oracle;
use crate::place::Place;
use crate::reading;
use crate::worker::{self, Worker};

/// What is in the root of a store.
const KNOWN: [&str; 12] = [
    "blobs",
    "captures",
    "expired",
    "index",
    "leases",
    "locks",
    "manifests",
    "owners",
    "quarantine",
    "roots",
    "store.json",
    "trash",
];

/// What the end found.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    /// Roots at the end, and the blobs and manifests that they keep.
    pub(crate) roots: usize,
    pub(crate) kept: usize,
    pub(crate) losses: Vec<String>,
    pub(crate) leaks: Vec<String>,
}

/// Recovers, collects twice, and looks at everything.
pub(crate) fn judge(place: &Place, worker: &str, seed: u64) -> Result<Verdict> {
    // One process more, which does what every process does when it begins.
    Worker::begin(place.clone(), worker, None, seed)?;
    let mut random = Random::new(seed);
    for round in 0..2 {
        let removed = worker::collect(&worker::open(&place.store(), &Fs::real(), &mut random)?)?;
        if round == 1 && removed > 0 {
            return Ok(Verdict {
                leaks: vec![format!("a second collection removed {removed} more")],
                ..Verdict::default()
            });
        }
    }
    let mut verdict = Verdict::default();
    let store = worker::open(&place.store(), &Fs::real(), &mut random)?;
    let retained = store.retained().context("read the roots")?;
    verdict.roots = retained.len();
    losses(place, &store, &retained, &mut random, &mut verdict)?;
    leaks(place, &store, &retained, &mut verdict)?;
    Ok(verdict)
}

fn losses(
    place: &Place,
    store: &LocalStore,
    retained: &[RetainedCall],
    random: &mut Random,
    verdict: &mut Verdict,
) -> Result<()> {
    let oracle = Oracle::open(&place.logs())?;
    let roots: BTreeMap<(&str, &str), &RetainedCall> =
        retained.iter().map(|root| ((root.owner.as_str(), root.call.as_str()), root)).collect();
    for worker in &oracle.workers {
        for (name, call) in worker.committed() {
            let Some(root) = roots.get(&(worker.name.as_str(), name.as_str())) else {
                verdict.losses.push(format!("{name} of {} has no root", worker.name));
                continue;
            };
            if root.digests.first() != call.committed.as_ref() {
                verdict.losses.push(format!("{name} of {} has another root", worker.name));
            }
        }
    }
    for ((owner, name), root) in &roots {
        let call = oracle.worker(owner).and_then(|worker| worker.calls.get(*name));
        match (call, root.digests.first()) {
            (Some(call), Some(digest)) => {
                if let Err(error) = reading::compare(store, *digest, &call.output, random) {
                    verdict.losses.push(format!("{name} of {owner}: {error:#}"));
                }
            }
            _ => verdict.leaks.push(format!("{name} of {owner} was released or never was")),
        }
    }
    let report = store.verify(NonZero::<usize>::MIN, &|_| ())?;
    verdict.losses.extend(report.corrupt.iter().map(|corrupt| format!("{corrupt:?}")));
    verdict.losses.extend(report.missing.iter().map(|missing| format!("{missing:?}")));
    verdict.losses.extend(report.unreadable.iter().map(ToString::to_string));
    Ok(())
}

/// Blobs and manifests are the closure of the roots, sidecars are of large
/// blobs, and nothing else is there.
fn leaks(
    place: &Place,
    store: &LocalStore,
    retained: &[RetainedCall],
    verdict: &mut Verdict,
) -> Result<()> {
    let root = place.store();
    let [blobs, manifests, index] =
        ["blobs", "manifests", "index"].map(|shelf| files(&root.join(shelf)));
    let (blobs, manifests, index) = (blobs?, manifests?, index?);
    let mut closure = HashSet::new();
    for digest in retained.iter().flat_map(|root| &root.digests) {
        closure.insert(*digest);
        if manifests.contains_key(&digest.to_string()) {
            let artifact = store.open_artifact(&ArtifactUri::bare(*digest))?;
            let manifest = Manifest::decode(&artifact.read(0..artifact.bytes())?)?;
            closure.extend(manifest.streams().iter().map(|stream| stream.sha256));
        }
    }
    verdict.kept = blobs.len() + manifests.len();
    let kept = |name: &str| Digest::parse(name).is_ok_and(|digest| closure.contains(&digest));
    let mut leak = |what: &str, name: &str| verdict.leaks.push(format!("{what} {name}"));
    blobs.keys().filter(|name| !kept(name)).for_each(|name| leak("blob", name));
    manifests.keys().filter(|name| !kept(name)).for_each(|name| leak("manifest", name));
    let is_large = |name: &String| blobs.get(name).is_some_and(|&bytes| bytes > SIDECAR_MIN_BYTES);
    index.keys().filter(|name| !is_large(name)).for_each(|name| leak("sidecar", name));
    for dir in ["captures", "trash", "quarantine"] {
        names(&root.join(dir))?.iter().for_each(|name| leak(dir, name));
    }
    // The store that is open here has retained nothing, and so has no lease.
    names(&root.join("leases"))?.iter().for_each(|name| leak("lease", name));
    let is_root = |name: &&String| Digest::parse(name).is_err();
    names(&root.join("roots"))?.iter().filter(is_root).for_each(|name| leak("roots", name));
    let known = |name: &&String| !KNOWN.contains(&name.as_str());
    names(&root)?.iter().filter(known).for_each(|name| leak("in the root", name));
    Ok(())
}

/// The names in a directory.
fn names(dir: &Utf8Path) -> Result<BTreeSet<String>> {
    let entries = dir.read_dir_utf8().with_context(|| format!("list {dir}"))?;
    entries.map(|entry| Ok(entry?.file_name().to_owned())).collect()
}

/// All files of a shelf with their sizes, whatever their names and places.
fn files(shelf: &Utf8Path) -> Result<BTreeMap<String, u64>> {
    let mut found = BTreeMap::new();
    let mut pending = vec![shelf.to_owned()];
    while let Some(dir) = pending.pop() {
        for entry in dir.read_dir_utf8().with_context(|| format!("list {dir}"))? {
            let entry = entry?;
            let metadata = fs_err::symlink_metadata(entry.path())?;
            if metadata.is_dir() {
                pending.push(entry.path().to_owned());
            } else {
                found.insert(entry.file_name().to_owned(), metadata.len());
            }
        }
    }
    Ok(found)
}
