//! Loss of power, and death, after every change that a store makes.
//!
//! A script runs once on a [`CrashingDisk`]. For every moment of it, and every
//! sample of what may have survived, the store is opened again and must hold
//! what it promised by then: what was retained is there; whatever roots say is
//! there; nothing torn is served; and recovery and two collections leave exactly
//! what the roots name.

mod scripts;

use std::collections::BTreeMap;
use std::sync::Arc;

use artifact_store::{LocalStore, StoreOptions};
use artifacts::Durability;
use artifacts::fs::{Fs, Interposer, Operation, OperationKind};
use camino::{Utf8Path, Utf8PathBuf};
use output_contract::{CallId, Digest, SessionId};
use tempfile::TempDir;
use testkit::{CrashingDisk, DiskLie, Moment, Survival};

use crate::oracle::{Found, ensure, nothing_wrong_is_served, roots_hold, serves, settles};
use crate::scratch::memory_dir;

/// What a script may rely on from then on.
#[derive(Debug, Clone)]
enum Fact {
    Retained {
        owner: SessionId,
        call: CallId,
        digests: Vec<Digest>,
    },
    /// It may be released from now on.
    Releasing {
        owner: SessionId,
        call: Option<CallId>,
    },
}

/// A script's store, its disk, and what it was promised.
struct World {
    dir: TempDir,
    disk: Arc<CrashingDisk>,
    facts: Vec<Fact>,
}

fn base(dir: &TempDir) -> &Utf8Path {
    Utf8Path::from_path(dir.path()).unwrap()
}

/// The store is some directories deep, which it makes itself.
fn root_below(base: &Utf8Path) -> Utf8PathBuf {
    base.join("some/where/store")
}

impl World {
    /// A world in which `before` has happened, and is on the medium.
    fn after(before: impl FnOnce(&Utf8Path), lie: Option<DiskLie>) -> Self {
        let dir = memory_dir();
        before(&root_below(base(&dir)));
        let disk = Arc::new(CrashingDisk::new(base(&dir), lie).unwrap());
        Self { dir, disk, facts: Vec::new() }
    }

    fn open(&self, durability: Durability) -> LocalStore {
        let root = root_below(base(&self.dir));
        let fs = Fs::interposed(&root, Arc::clone(&self.disk) as Arc<dyn Interposer>);
        let options =
            StoreOptions { durability, allow_network_fs: true, ..StoreOptions::default() };
        LocalStore::open_on(&root, options, &fs).unwrap()
    }

    fn note(&mut self, fact: Fact) {
        self.facts.push(fact);
        self.disk.note();
    }

    /// What is wrong after the crashes at all moments, as far as `enough` of it
    /// is found; how many were tried.
    fn crash(&self, samples: impl Samples, enough: usize) -> (Vec<String>, u64) {
        let (mut wrong, mut tried) = (Vec::new(), 0);
        for (number, moment) in (0..).zip(self.disk.moments()) {
            for survival in samples(number) {
                tried += 1;
                if let Err(message) = self.holds(&moment, survival) {
                    let after = &moment.after;
                    wrong.push(format!("after {after}, surviving {survival:?}: {message}"));
                    if wrong.len() == enough {
                        return (wrong, tried);
                    }
                }
            }
        }
        (wrong, tried)
    }

    /// What was promised by `moment` holds.
    fn holds(&self, moment: &Moment, survival: Survival) -> Found {
        let dir = memory_dir();
        moment.recall(survival, base(&dir)).unwrap();
        let root = root_below(base(&dir));
        let options = StoreOptions {
            durability: Durability::Fast,
            allow_network_fs: true,
            ..StoreOptions::default()
        };
        let store = LocalStore::open(&root, options).map_err(|error| format!("{error:?}"))?;
        let promised = promised(&self.facts[..moment.facts]);
        let keeps = |store: &LocalStore| {
            promised.iter().try_for_each(|((owner, call), digests)| {
                let calls = store.retained_by(owner).map_err(|error| format!("{error:?}"))?;
                let kept = calls.iter().find(|kept| kept.call == *call);
                let kept =
                    kept.is_some_and(|kept| digests.iter().all(|d| kept.digests.contains(d)));
                ensure(kept, || format!("call {call} of {owner} is not retained any more"))?;
                digests.iter().try_for_each(|digest| serves(store, *digest))
            })
        };
        keeps(&store)?;
        roots_hold(&store)?;
        nothing_wrong_is_served(&root, &store)?;
        settles(&root, &store)?;
        keeps(&store)
    }
}

type Promised = BTreeMap<(SessionId, CallId), Vec<Digest>>;

/// What must be retained, whatever happened to what is being released.
fn promised(facts: &[Fact]) -> Promised {
    let mut promised = Promised::new();
    for fact in facts {
        match fact {
            Fact::Retained { owner, call, digests } => {
                let key = (owner.clone(), call.clone());
                promised.entry(key).or_default().extend(digests);
            }
            Fact::Releasing { owner, call } => promised
                .retain(|(o, c), _| o != owner || call.as_ref().is_some_and(|call| c != call)),
        }
    }
    promised
}

/// The cases that are tried at the moment of that number.
trait Samples: Fn(u64) -> Vec<Survival> {}
impl<T: Fn(u64) -> Vec<Survival>> Samples for T {}

#[track_caller]
fn survives(world: &World, samples: impl Samples) {
    let (wrong, tried) = world.crash(samples, 5);
    println!("{} moments, {tried} crashes", world.disk.moments().len());
    assert!(wrong.is_empty(), "in {tried} crashes something is wrong: {wrong:#?}");
}

fn some(moment: u64) -> Vec<Survival> {
    Survival::samples(moment, 5).collect()
}

#[test]
fn what_was_promised_survives_a_loss_of_power() {
    survives(&scripts::results(Durability::Durable, None), some);
}

#[test]
fn what_was_completed_survives_death_in_a_fast_store() {
    // The system lives on, and with it everything that was done.
    survives(&scripts::results(Durability::Fast, None), |_| vec![Survival::Everything]);
}

#[test]
fn what_a_fast_process_left_is_made_durable_by_whoever_retains_it() {
    survives(&scripts::inherited(None), some);
}

#[test]
fn healing_and_putting_aside_survive_a_loss_of_power() {
    survives(&scripts::healing(), some);
}

#[test]
fn a_collection_survives_a_loss_of_power() {
    survives(&scripts::collecting(), some);
}

#[test]
fn recovery_survives_a_loss_of_power() {
    survives(&scripts::recovering(), some);
}

/// A mistake that must be found: either the store forgets a sync, or does it
/// too late.
#[track_caller]
fn is_found(script: fn(Option<DiskLie>) -> World, lie: DiskLie) {
    let (wrong, tried) = script(Some(lie)).crash(some, 1);
    println!("found at crash {tried}: {wrong:?}");
    assert!(!wrong.is_empty(), "the mistake is not found in {tried} crashes");
}

fn durable(lie: Option<DiskLie>) -> World {
    scripts::results(Durability::Durable, lie)
}

fn is_sync(operation: &Operation<'_>) -> bool {
    matches!(operation.kind, OperationKind::SyncFile | OperationKind::SyncDir)
}

#[test]
fn bytes_that_are_not_synced_are_found() {
    is_found(durable, DiskLie::Forgets(|o| is_sync(o) && o.area == "captures"));
}

#[test]
fn names_that_are_not_synced_are_found() {
    is_found(durable, DiskLie::Forgets(|o| is_sync(o) && o.area == "blobs"));
    is_found(durable, DiskLie::Forgets(|o| is_sync(o) && o.area == "manifests"));
}

#[test]
fn names_of_new_directories_that_are_not_synced_are_found() {
    is_found(durable, DiskLie::Forgets(|o| is_sync(o) && o.path.ends_with("blobs/sha256")));
    is_found(durable, DiskLie::Forgets(|o| is_sync(o) && o.path.ends_with("blobs")));
    is_found(durable, DiskLie::Forgets(|o| is_sync(o) && o.path.ends_with("some")));
}

#[test]
fn roots_that_are_not_synced_are_found() {
    is_found(durable, DiskLie::Forgets(|o| o.kind == OperationKind::SyncFile && o.area == "roots"));
    is_found(durable, DiskLie::Forgets(|o| o.kind == OperationKind::SyncDir && o.area == "roots"));
}

#[test]
fn a_root_before_the_barrier_is_found() {
    let lie = DiskLie::Delays {
        what: |o| o.kind == OperationKind::SyncDir && ["blobs", "manifests"].contains(&o.area),
        until: |o| o.kind == OperationKind::SyncFile && o.area == "roots",
    };
    is_found(durable, lie);
}

#[test]
fn copies_of_others_that_are_not_synced_are_found() {
    // The publisher's own files are synced as captures.
    let lie = DiskLie::Forgets(|o| o.kind == OperationKind::SyncFile && o.area == "blobs");
    is_found(scripts::inherited, lie);
}
