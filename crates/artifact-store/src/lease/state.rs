//! Reading all leases, as a collector does.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use artifacts::error::BackendError;
use artifacts::{CollectError, FileError};
use output_contract::Digest;
use uuid::Uuid;

use super::LeaseRecord;
use crate::lock::Locked;
use crate::record;
use crate::tree::{Dir, File, LockMode};

/// A lease file has at most 1,024 guards of some digests each; one that is
/// longer is not ours.
const MAX_LEASE_BYTES: u64 = 256 * 1024 * 1024;

/// One entry of one lease file.
pub(crate) type EntryId = (String, u64);

/// A lease file as it was read.
#[derive(Debug)]
pub(crate) struct LeaseState {
    pub(crate) name: String,
    /// No process holds it any more.
    dead: bool,
    /// When it was last appended to.
    changed: Duration,
    entries: BTreeMap<u64, Entry>,
}

#[derive(Debug)]
pub(crate) struct Entry {
    digests: Vec<Digest>,
    released: bool,
}

impl LeaseState {
    /// The entries that this state says nobody relies on any more: the
    /// released ones, and all of a dead process that is `expired`.
    fn forgettable(&self, expired: bool) -> impl Iterator<Item = EntryId> {
        let all = self.dead && expired;
        self.entries
            .iter()
            .filter(move |(_, entry)| all || entry.released)
            .map(|(guard, _)| (self.name.clone(), *guard))
    }
}

/// Every lease file there is.
///
/// A dead one that is `expired` counts for nothing, so it need not be readable:
/// power loss may have taken parts of it.
pub(crate) fn read_all(
    leases: &Dir,
    expired: impl Fn(Duration) -> bool,
) -> Result<Vec<LeaseState>, CollectError> {
    let mut states = Vec::new();
    for name in leases.names()? {
        let unreadable = |source: BackendError| {
            let path = leases.path().join(&name);
            CollectError::Unreadable { what: "lease", path, source }
        };
        if Uuid::try_parse(&name).is_err() {
            return Err(unreadable("not a lease's name".into()));
        }
        let Some(file) = leases.open_read(&name).map_err(|error| unreadable(error.into()))? else {
            continue;
        };
        let dead = is_dead(&file)?;
        let changed = file.stat()?.changed;
        let entries = match entries(&file) {
            Ok(entries) => entries,
            Err(_) if dead && expired(changed) => BTreeMap::new(),
            Err(error) => return Err(unreadable(error)),
        };
        states.push(LeaseState { name, dead, changed, entries });
    }
    Ok(states)
}

fn is_dead(file: &File) -> Result<bool, FileError> {
    let dead = file.try_lock(LockMode::Shared)?;
    if dead {
        file.unlock();
    }
    Ok(dead)
}

fn entries(file: &File) -> Result<BTreeMap<u64, Entry>, BackendError> {
    let bytes = file.read_up_to(MAX_LEASE_BYTES)?;
    if bytes.len() as u64 > MAX_LEASE_BYTES {
        return Err("it is too long".into());
    }
    parse(&bytes)
}

/// Reads the bytes of a lease file.
pub(crate) fn parse(bytes: &[u8]) -> Result<BTreeMap<u64, Entry>, BackendError> {
    let mut entries = BTreeMap::new();
    for (index, line) in record::decode::<LeaseRecord>(bytes)?.records.into_iter().enumerate() {
        match line {
            LeaseRecord::LeaseFile { version: 1 } if index == 0 => {}
            LeaseRecord::Take { guard, digests } if index > 0 => {
                entries.insert(guard, Entry { digests, released: false });
            }
            LeaseRecord::Release { guard } if entries.contains_key(&guard) => {
                entries.entry(guard).and_modify(|entry| entry.released = true);
            }
            other => return Err(format!("an unexpected record {other:?}").into()),
        }
    }
    Ok(entries)
}

/// The entries that need not be looked at in a collection that begins now:
/// whatever they protected is in the roots, which are read later, or is
/// protected no more.
pub(crate) fn forgettable(
    states: &[LeaseState],
    expired: impl Fn(Duration) -> bool,
) -> HashSet<EntryId> {
    states.iter().flat_map(|state| state.forgettable(expired(state.changed))).collect()
}

/// All digests that are leased, but for the `forgotten` entries.
pub(crate) fn leased(states: &[LeaseState], forgotten: &HashSet<EntryId>) -> HashSet<Digest> {
    let mut leased = HashSet::new();
    for state in states {
        for (guard, entry) in &state.entries {
            if !forgotten.contains(&(state.name.clone(), *guard)) {
                leased.extend(&entry.digests);
            }
        }
    }
    leased
}

/// Removes the files of `states` whose process is gone and whose entries are
/// all forgotten.
pub(crate) fn remove_forgotten(
    leases: &Dir,
    states: &[LeaseState],
    forgotten: &HashSet<EntryId>,
    expired: impl Fn(Duration) -> bool,
) -> Result<(), FileError> {
    for state in states.iter().filter(|state| state.dead) {
        let Some(file) = leases.open_read(&state.name)? else { continue };
        if !file.try_lock(LockMode::Exclusive)? {
            continue;
        }
        // Only now, under its lock, can nobody append to it any more.
        let file = Locked(file);
        let unreadable = state.entries.is_empty();
        let done = match entries(&file.0) {
            Ok(entries) => {
                entries.keys().all(|guard| forgotten.contains(&(state.name.clone(), *guard)))
            }
            Err(_) => unreadable && expired(file.0.stat()?.changed),
        };
        if done {
            leases.unlink(&state.name)?;
        }
    }
    Ok(())
}
