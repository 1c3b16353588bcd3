//! What the model knows at one instant: the disk, the processes, the budgets.

/// A set of files, by bit.
pub(super) type Files = u8;
pub(super) const MANIFEST: Files = 1;
/// The one stream of the manifest.
pub(super) const BLOB: Files = 2;
/// In an entry of a lease, beside the files.
const RELEASED: u8 = 4;

pub(super) const AGENTS: usize = 2;
/// Processes that one agent may be: the first, and the one after a crash.
const LIVES: usize = 2;
const GUARDS: usize = 2;

/// A set of entries of leases, by bit.
pub(super) type Entries = u8;

/// Everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct State {
    pub(super) disk: Files,
    /// What each agent's owner retains.
    pub(super) roots: [Files; AGENTS],
    pub(super) leases: [[LeaseFile; LIVES]; AGENTS],
    pub(super) agents: [Agent; AGENTS],
    pub(super) collectors: [Collector; 2],
    /// Crashes that may still happen, of anyone.
    pub(super) crashes: u8,
    /// Owners that may still be released.
    pub(super) drops: u8,
}

/// A lease file. Its name says whether it is found, its lock whether its
/// process lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct LeaseFile {
    pub(super) named: bool,
    pub(super) locked: bool,
    /// Zero where there is none yet.
    entries: [u8; GUARDS],
}

/// One entry of a lease.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    /// As a set of one.
    pub(super) id: Entries,
    pub(super) files: Files,
    pub(super) released: bool,
}

impl LeaseFile {
    pub(super) fn append(&mut self, files: Files) {
        *self.entries.iter_mut().find(|entry| **entry == 0).expect("as many as operations") = files;
    }

    /// Releases the last entry.
    pub(super) fn release(&mut self) {
        if let Some(last) = self.entries.iter_mut().rfind(|entry| **entry != 0) {
            *last |= RELEASED;
        }
    }
}

impl State {
    /// The entries of one lease file.
    pub(super) fn entries(&self, agent: usize, life: usize) -> impl Iterator<Item = Entry> {
        let entries = self.leases[agent][life].entries;
        (0..GUARDS).filter(move |&guard| entries[guard] != 0).map(move |guard| Entry {
            id: 1 << ((agent * LIVES + life) * GUARDS + guard),
            files: entries[guard] & !RELEASED,
            released: entries[guard] & RELEASED != 0,
        })
    }

    /// The lease files that a collector finds of one agent, by life.
    pub(super) fn named(&self, agent: usize) -> impl Iterator<Item = usize> {
        let files = self.leases[agent];
        (0..LIVES).filter(move |&life| files[life].named)
    }

    /// Whether someone holds the sweep lock shared.
    pub(super) fn is_shared(&self) -> bool {
        self.agents.iter().any(|agent| matches!(agent.at, At::Inside | At::Halfway))
    }

    /// Whether someone holds it exclusively.
    pub(super) fn is_swept(&self) -> bool {
        self.collectors.iter().any(|it| matches!(it.at, Stage::Reread(_) | Stage::Remove(_)))
    }
}

/// A process that publishes or borrows, and its successor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Agent {
    pub(super) at: At,
    pub(super) kind: Kind,
    /// What the operation is about.
    pub(super) files: Files,
    /// Of those, what was there when it began; what only faulty protocols
    /// look at.
    pub(super) seen: Files,
    /// The capture that it publishes from: what a successor publishes.
    pub(super) capture: Files,
    pub(super) life: usize,
    pub(super) operations: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Publish,
    Borrow,
    /// Publishing what a dead process captured.
    Recover,
}

/// What an agent has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum At {
    Idle,
    Begun,
    /// It has made a lease file.
    Made,
    /// It has locked it, or had one.
    Owner,
    /// Its lease says what it is about to do.
    Leased,
    /// It holds the sweep lock shared.
    Inside,
    /// The first of two files is linked.
    Halfway,
    /// It has a guard.
    Guarded,
    /// Its owner has a root.
    Retained,
    /// It was refused, and its lease is to be released.
    Refused,
    Dead,
    /// It has ended.
    Gone,
}

/// A process that collects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Collector {
    pub(super) at: Stage,
    pub(super) runs: u8,
    /// The grace of dead processes' leases is over.
    pub(super) expired: bool,
    /// What nobody relied on when it began.
    pub(super) forgotten: Entries,
    pub(super) candidates: Files,
    pub(super) marked: Files,
    /// What was found leased under the exclusive lock.
    pub(super) leased: Files,
}

/// What a collector does next; the numbers are agents, or files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Stage {
    Off,
    /// Note what is released in one lease after the other.
    Note(usize),
    List,
    Leases(usize),
    Roots(usize),
    /// Remove lease files that count for nothing.
    Forget(usize),
    /// Lock the sweep exclusively.
    Lock,
    Reread(usize),
    /// Remove the first or the second, and then unlock.
    Remove(usize),
}
