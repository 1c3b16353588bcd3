//! Collecting, step by step.

use super::faults::Fault;
use super::protocol::Protocol;
use super::state::{AGENTS, BLOB, Collector, Entry, Files, LeaseFile, MANIFEST, Stage, State};

impl Protocol {
    /// The next step of a collector.
    pub(super) fn collect(&self, mut next: State, who: usize, at: Stage) -> Option<State> {
        let state = next;
        let it = &mut next.collectors[who];
        let last = |agent| agent + 1 == AGENTS;
        it.at = match at {
            Stage::Off => return None,
            Stage::Note(agent) => {
                for life in state.named(agent) {
                    let dead = !state.leases[agent][life].locked && it.expired;
                    for entry in state.entries(agent, life).filter(|entry| dead || entry.released) {
                        it.forgotten |= entry.id;
                    }
                }
                if last(agent) { Stage::List } else { Stage::Note(agent + 1) }
            }
            Stage::List => {
                it.candidates = state.disk;
                Stage::Leases(0)
            }
            Stage::Leases(agent) => {
                it.marked |= self.leased(&state, *it, agent);
                // Marking follows manifests, as far as they are there.
                if it.marked & state.disk & MANIFEST != 0 {
                    it.marked |= BLOB;
                }
                match agent {
                    _ if !last(agent) => Stage::Leases(agent + 1),
                    _ if self.has(Fault::RootsFirst) => marked(it),
                    _ => Stage::Roots(0),
                }
            }
            Stage::Roots(owner) => {
                it.marked |= state.roots[owner];
                match owner {
                    _ if !last(owner) => Stage::Roots(owner + 1),
                    _ if self.has(Fault::RootsFirst) => Stage::Note(0),
                    _ => marked(it),
                }
            }
            Stage::Forget(agent) => {
                for life in state.named(agent).filter(|&life| self.forgets(&state, it, agent, life))
                {
                    let file = &mut next.leases[agent][life];
                    file.named = false;
                    if !file.locked {
                        *file = LeaseFile::default();
                    }
                }
                match agent {
                    _ if !last(agent) => Stage::Forget(agent + 1),
                    _ if it.candidates != 0 => Stage::Lock,
                    _ => {
                        *it = off(it.runs);
                        return Some(next);
                    }
                }
            }
            Stage::Lock => {
                if (state.is_shared() || state.is_swept()) && !self.has(Fault::NoSweepLock) {
                    return None;
                }
                Stage::Reread(0)
            }
            Stage::Reread(agent) => {
                if !self.has(Fault::NoRecheck) {
                    it.leased |= self.leased(&state, *it, agent);
                }
                match agent {
                    _ if !last(agent) => Stage::Reread(agent + 1),
                    _ if self.world.batches && it.candidates & MANIFEST == 0 => Stage::Remove(1),
                    _ => Stage::Remove(0),
                }
            }
            Stage::Remove(nth) => {
                next.disk &= !self.removes(it, nth);
                if nth == 0 && !self.world.batches {
                    Stage::Remove(1)
                } else if nth == 0 && it.candidates & BLOB != 0 {
                    (it.candidates, it.leased) = (BLOB, 0);
                    Stage::Lock
                } else {
                    *it = off(it.runs);
                    return Some(next);
                }
            }
        };
        Some(next)
    }

    /// What a collector removes in a step of its sweep.
    pub(super) fn removes(&self, it: &Collector, nth: usize) -> Files {
        let order = [MANIFEST, BLOB];
        let file = order[if self.has(Fault::ChildrenRemovedFirst) { 1 - nth } else { nth }];
        file & it.candidates & !it.leased
    }

    /// Whether a collector removes a lease file that it finds.
    pub(super) fn forgets(&self, state: &State, it: &Collector, agent: usize, life: usize) -> bool {
        let mut forgotten = state.entries(agent, life).map(|entry| entry.id & it.forgotten != 0);
        let done = if self.has(Fault::FilesForgottenInPart) {
            forgotten.any(|forgotten| forgotten)
        } else {
            forgotten.all(|forgotten| forgotten)
        };
        done && (!state.leases[agent][life].locked || self.has(Fault::LivingForgotten))
    }

    /// What the leases of an agent protect, as a collector sees it.
    fn leased(&self, state: &State, it: Collector, agent: usize) -> Files {
        let mut leased = 0;
        for life in state.named(agent) {
            let dead = !state.leases[agent][life].locked && it.expired;
            let counts = |entry: &Entry| {
                entry.id & it.forgotten == 0
                    && !(self.has(Fault::ReleasedDropped) && entry.released)
                    && !(self.has(Fault::DeadDropped) && dead)
            };
            leased |= state.entries(agent, life).filter(counts).fold(0, |all, it| all | it.files);
        }
        leased
    }
}

/// Marking is done: what is marked is no candidate.
fn marked(it: &mut Collector) -> Stage {
    it.candidates &= !it.marked;
    it.marked = 0;
    Stage::Forget(0)
}

/// A collector that does nothing, and may run so often.
pub(super) fn off(runs: u8) -> Collector {
    Collector {
        at: Stage::Off,
        runs,
        expired: false,
        forgotten: 0,
        candidates: 0,
        marked: 0,
        leased: 0,
    }
}
