//! The store against a map: any sequence of what can be done to it.
//!
//! The reference (module `reference`) knows contents by number, who retains what,
//! and what was damaged. After each step the store serves exactly what the
//! reference says, byte for byte, or says that it is corrupt; after a collection
//! without grace it holds exactly what is retained or guarded.

mod reference;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use artifact_store::{LocalStore, RetentionLimits, StoreGuard, StoreOptions};
use artifacts::fs::{Errno, Fs, Interposer, Operation, OperationKind, Verdict};
use artifacts::hash::digest_of;
use artifacts::{CollectOptions, OpenError};
use output_contract::{CallId, Digest, SessionId, Timestamp};
use proptest::test_runner::Config;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest, prop_state_machine};

use self::reference::{CONTENTS, Expected, Item, Reference, State, Transition};
use crate::oracle::{on_shelf, read};
use crate::scratch::{Scratch, call, owner, publish, publish_named};

prop_state_machine! {
    #![proptest_config(Config {
        // Enough for every pair of transitions, and the same in every run.
        cases: 64,
        rng_seed: proptest::test_runner::RngSeed::Fixed(7),
        failure_persistence: None,
        max_shrink_iters: 2_000,
        ..Config::default()
    })]

    #[test]
    fn the_store_is_a_map(sequential 10..40 => Machine);
}

/// A disk that takes nothing more once its process is dead.
#[derive(Debug, Default)]
struct Mortal {
    dead: AtomicBool,
}

impl Interposer for Mortal {
    fn before(&self, operation: &Operation<'_>) -> Verdict {
        match operation.kind {
            _ if self.dead.load(Ordering::Relaxed) => Verdict::Fail(Errno::IO),
            OperationKind::SyncFile | OperationKind::SyncDir => Verdict::Pretend,
            _ => Verdict::Proceed,
        }
    }
}

struct Machine {
    scratch: Scratch,
    process: Option<Process>,
}

/// What a process has in its memory.
struct Process {
    life: Arc<Mortal>,
    store: LocalStore,
    guards: Vec<StoreGuard>,
}

impl Process {
    fn start(scratch: &Scratch) -> Self {
        let life = Arc::new(Mortal::default());
        let fs = Fs::interposed(&scratch.root(), Arc::clone(&life) as Arc<dyn Interposer>);
        let options = StoreOptions { allow_network_fs: true, ..StoreOptions::default() };
        let store = LocalStore::open_on(&scratch.root(), options, &fs).unwrap();
        Self { life, store, guards: Vec::new() }
    }
}

fn content(number: u8) -> Vec<u8> {
    match number {
        0 => Vec::new(),
        1 => b"a line\n".to_vec(),
        2 => b"no end".to_vec(),
        // With a sidecar.
        _ => b"a line of sixteen\n".repeat(15_000),
    }
}

fn blob(number: u8) -> Digest {
    digest_of(&content(number))
}

/// The digests of an item, the manifest's first.
fn digests(item: Item) -> Vec<Digest> {
    match item {
        Item::Blob(number) => vec![blob(number)],
        Item::Named(number) => {
            let content = content(number);
            let stream = artifacts::ManifestStream {
                name: "out".parse().unwrap(),
                sha256: digest_of(&content),
                bytes: content.len() as u64,
                lines: content.split_inclusive(|byte| *byte == b'\n').count() as u64,
            };
            vec![artifacts::Manifest::new(vec![stream]).unwrap().digest(), blob(number)]
        }
    }
}

fn owner_of(number: u8) -> SessionId {
    owner(["one", "two"][usize::from(number)])
}

fn call_of(number: u8) -> CallId {
    call(["first", "second"][usize::from(number)])
}

impl Machine {
    fn process(&mut self) -> &mut Process {
        self.process.as_mut().expect("there is always one, but for an instant")
    }

    fn store(&self) -> &LocalStore {
        &self.process.as_ref().expect("there is always one, but for an instant").store
    }

    /// Flips a bit of a stored file.
    fn damage(&self, shelf: &str, number: u8) {
        let path = self.scratch.path(shelf, &blob(number));
        fs_err::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
        let mut bytes = fs_err::read(&path).unwrap();
        let at = bytes.len() * 2 / 3;
        bytes[at] ^= 4;
        fs_err::write(&path, bytes).unwrap();
    }

    fn collect(&self, grace: Duration) {
        let options = CollectOptions { grace, dry_run: false, force: false };
        self.store().collect(&options).unwrap();
    }
}

impl StateMachineTest for Machine {
    type SystemUnderTest = Self;
    type Reference = Reference;

    fn init_test(_: &State) -> Self {
        let scratch = Scratch::in_memory();
        let process = Some(Process::start(&scratch));
        Self { scratch, process }
    }

    fn apply(machine: Self, state: &State, transition: Transition) -> Self {
        machine.step(state, &transition)
    }

    fn check_invariants(machine: &Self, state: &State) {
        machine.holds(state);
    }
}

impl Machine {
    fn step(mut self, state: &State, transition: &Transition) -> Self {
        match *transition {
            Transition::Publish(item) => {
                let store = self.store();
                let guard = match item {
                    Item::Blob(number) => publish(store, &[&content(number)]),
                    Item::Named(number) => publish_named(store, &content(number)),
                };
                assert_eq!(guard.digests(), digests(item));
                assert_eq!(!guard.healed().is_empty(), state.healed);
                self.process().guards.push(guard);
            }
            Transition::Borrow(item) => match self.store().borrow(digests(item)[0]) {
                Ok(guard) => {
                    assert!(state.borrowed, "{item:?} is not there");
                    assert_eq!(guard.digests(), digests(item));
                    self.process().guards.push(guard);
                }
                Err(error) => assert!(!state.borrowed, "{item:?}: {error:?}"),
            },
            Transition::Retain { guard, owner, call } => {
                self.process().guards[guard].retain(&owner_of(owner), &call_of(call)).unwrap();
            }
            Transition::DropGuard(guard) => drop(self.process().guards.remove(guard)),
            Transition::Release { owner, call } => {
                let call = call.map(call_of);
                self.store().release(&owner_of(owner), call.as_ref()).unwrap();
            }
            Transition::Retire => {
                let limits = RetentionLimits { max_age: Duration::ZERO, max_bytes: 0 };
                self.store().retire(&limits, Timestamp(u64::MAX), false).unwrap();
            }
            Transition::Collect => self.collect(Duration::ZERO),
            Transition::CollectOld => self.collect(Duration::from_secs(3600)),
            Transition::Die => {
                let process = self.process.take().expect("there is always one");
                process.life.dead.store(true, Ordering::Relaxed);
                drop(process);
                self.process = Some(Process::start(&self.scratch));
            }
            Transition::Reopen => {
                drop(self.process.take());
                self.process = Some(Process::start(&self.scratch));
            }
            Transition::Damage(number) => self.damage("blobs", number),
            Transition::DamageSidecar(number) => {
                if self.scratch.path("index", &blob(number)).exists() {
                    self.damage("index", number);
                }
            }
            Transition::Verify => {
                let report = self.store().verify(NonZero::<usize>::MIN, &|_| {}).unwrap();
                let corrupt: BTreeSet<Digest> = report.corrupt.iter().map(|c| c.digest).collect();
                let expected: BTreeSet<Digest> = state.put_aside.iter().map(|n| blob(*n)).collect();
                assert_eq!(corrupt, expected);
                assert!(report.unreadable.is_empty(), "{report:?}");
                let missing: BTreeSet<Digest> = report.missing.iter().map(|m| m.digest).collect();
                let kept = state.roots.values().flatten().map(|item| item.number());
                let gone = kept.filter(|number| !state.is_stored(Item::Blob(*number)));
                // What was put aside just now is named once.
                let expected: BTreeSet<Digest> = gone.map(blob).collect();
                assert_eq!(missing, &expected - &corrupt);
            }
        }
        if *transition == Transition::Collect {
            let stored = &on_shelf(&self.scratch.root(), "blobs")
                | &on_shelf(&self.scratch.root(), "manifests");
            let expected: BTreeSet<Digest> =
                state.stored.iter().flat_map(|item| digests(*item)).collect();
            // What was put aside is retained without being there.
            let expected = expected.into_iter().filter(|digest| {
                !(0..CONTENTS).any(|n| blob(n) == *digest && !state.is_stored(Item::Blob(n)))
            });
            assert_eq!(stored, expected.collect());
        }
        self
    }

    fn holds(&self, state: &State) {
        for number in 0..CONTENTS {
            match (state.expected(number), read(self.store(), blob(number))) {
                (Expected::Served, Ok(bytes)) => assert!(bytes == content(number), "{number}"),
                (Expected::Corrupt, Err(OpenError::Corrupt { .. })) => {}
                (Expected::Missing, Err(OpenError::Unknown { .. } | OpenError::Expired { .. })) => {
                }
                (expected, found) => {
                    let found = found.map(|bytes| bytes.len());
                    panic!("{number}: {expected:?}, but {found:?}");
                }
            }
        }
        let mut retained: BTreeMap<_, BTreeSet<Digest>> = BTreeMap::new();
        for kept in self.store().retained().unwrap() {
            retained.insert((kept.owner, kept.call), kept.digests.into_iter().collect());
        }
        let expected = state.roots.iter().map(|((owner, call), items)| {
            let digests = items.iter().flat_map(|item| digests(*item)).collect();
            ((owner_of(*owner), call_of(*call)), digests)
        });
        assert_eq!(retained, expected.collect());
    }
}

#[test]
fn the_reference_reaches_every_transition() {
    use proptest::strategy::{Strategy, ValueTree};
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let mut seen = BTreeSet::new();
    for _ in 0..64 {
        let tree = Reference::sequential_strategy(10..40).new_tree(&mut runner).unwrap();
        let (_, transitions, _) = tree.current();
        let names = transitions.iter().map(|transition| format!("{transition:?}"));
        seen.extend(names.map(|name| name.split([' ', '(']).next().unwrap().to_owned()));
    }
    assert_eq!(seen.len(), 13, "{seen:?}");
}
