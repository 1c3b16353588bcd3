//! The world, and publishing, borrowing and recovery, step by step.

use super::collecting::off;
use super::faults::Fault;
use super::state::{
    AGENTS, Agent, At, BLOB, Collector, Files, Kind, LeaseFile, MANIFEST, Stage, State,
};

/// The store's protocol, right or with one fault, in a small world.
#[derive(Debug, Clone)]
pub(super) struct Protocol {
    pub(super) fault: Option<Fault>,
    pub(super) world: World,
}

/// How much may happen.
#[derive(Debug, Clone, Copy)]
pub(super) struct World {
    /// Operations of each agent.
    pub(super) operations: [u8; AGENTS],
    /// Runs of each collector.
    pub(super) runs: [u8; 2],
    /// Deaths of anyone.
    pub(super) crashes: u8,
    /// Owners that are released.
    pub(super) drops: u8,
    /// Blobs are published and borrowed without a manifest too.
    pub(super) blobs_alone: bool,
    /// Every file is removed in a batch of its own, not all in one.
    pub(super) batches: bool,
}

/// One step of someone; what is waited for cannot be done yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Begin(usize, Kind, Files),
    /// The agent goes on from where it is.
    Agent(usize, At),
    /// It gives its guard up without retaining anything.
    GiveUp(usize),
    /// It dies, at this point.
    Kill(usize, At),
    Restart(usize),
    /// It ends, all being done.
    Exit(usize),
    ReleaseOwner(usize),
    Collect(usize, Expired),
    Collector(usize, Stage),
    KillCollector(usize, Stage),
}

/// Whether the grace of dead leases is over in a collection.
pub(super) type Expired = bool;

impl Protocol {
    pub(super) fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    pub(super) fn first(&self, disk: Files) -> State {
        let agent = |operations| Agent {
            at: At::Idle,
            kind: Kind::Publish,
            files: 0,
            seen: 0,
            capture: 0,
            life: 0,
            operations,
        };
        State {
            disk,
            roots: [0; AGENTS],
            leases: Default::default(),
            agents: self.world.operations.map(agent),
            collectors: self.world.runs.map(off),
            crashes: self.world.crashes,
            drops: self.world.drops,
        }
    }

    /// All steps that someone may try.
    pub(super) fn steps(&self, state: &State, steps: &mut Vec<Step>) {
        for (who, agent) in state.agents.iter().enumerate() {
            match agent.at {
                At::Gone => continue,
                At::Dead => {
                    steps.push(Step::Restart(who));
                    continue;
                }
                At::Idle if agent.operations > 0 => {
                    let all = [MANIFEST | BLOB, BLOB];
                    for &files in &all[..1 + usize::from(self.world.blobs_alone)] {
                        steps.push(Step::Begin(who, Kind::Publish, files));
                        steps.push(Step::Begin(who, Kind::Borrow, files));
                    }
                }
                At::Idle => steps.push(Step::Exit(who)),
                at => {
                    steps.push(Step::Agent(who, at));
                    if at == At::Guarded && agent.kind != Kind::Recover {
                        steps.push(Step::GiveUp(who));
                    }
                }
            }
            if state.crashes > 0 && agent.life == 0 {
                steps.push(Step::Kill(who, agent.at));
            }
        }
        for owner in 0..AGENTS {
            if state.drops > 0 && state.roots[owner] != 0 {
                steps.push(Step::ReleaseOwner(owner));
            }
        }
        for (who, collector) in state.collectors.iter().enumerate() {
            if collector.at != Stage::Off {
                steps.push(Step::Collector(who, collector.at));
                if state.crashes > 0 {
                    steps.push(Step::KillCollector(who, collector.at));
                }
            } else if collector.runs > 0 && self.may_collect(state, who) {
                steps.extend([Step::Collect(who, false), Step::Collect(who, true)]);
            }
        }
    }

    /// The second collector begins after the first: they are alike.
    fn may_collect(&self, state: &State, who: usize) -> bool {
        let busy = state.collectors.iter().any(|other| other.at != Stage::Off);
        state.collectors[..who].iter().all(|other| other.runs == 0)
            && (!busy || self.has(Fault::TwoCollectors))
    }

    /// What comes of a step; `None` where it has to wait.
    pub(super) fn after(&self, state: &State, step: Step) -> Option<State> {
        let mut next = *state;
        match step {
            Step::Begin(who, kind, files) => {
                let agent = &mut next.agents[who];
                let seen = state.disk & files;
                // A manifest that cannot be read says nothing of a closure.
                if kind == Kind::Borrow && seen != files {
                    return None;
                }
                agent.operations -= 1;
                (agent.kind, agent.files) = (kind, files);
                if kind == Kind::Publish {
                    agent.capture = files;
                }
                agent.seen = if self.looks_early() { seen } else { 0 };
                agent.at = At::Begun;
            }
            Step::Agent(who, at) => return self.go_on(next, who, at),
            Step::GiveUp(who) => end(&mut next, who),
            Step::Kill(who, _) => {
                next.crashes -= 1;
                next.agents[who].at = At::Dead;
                next.agents[who].seen = 0;
                let life = next.agents[who].life;
                next.leases[who][life].locked = false;
            }
            Step::Restart(who) => {
                let agent = &mut next.agents[who];
                agent.life += 1;
                (agent.kind, agent.files) = (Kind::Recover, agent.capture);
                let nothing = agent.capture == 0;
                agent.at = if nothing { At::Idle } else { At::Begun };
                if self.has(Fault::BlindReplay) && state.disk & agent.files == agent.files {
                    agent.at = At::Guarded;
                }
            }
            Step::Exit(who) => {
                let life = next.agents[who].life;
                next.leases[who][life].locked = false;
                next.agents[who].at = At::Gone;
            }
            Step::ReleaseOwner(owner) => {
                next.drops -= 1;
                next.roots[owner] = 0;
            }
            Step::Collect(who, expired) => {
                let first =
                    if self.has(Fault::RootsFirst) { Stage::Roots(0) } else { Stage::Note(0) };
                let runs = state.collectors[who].runs - 1;
                next.collectors[who] = Collector { at: first, expired, ..off(runs) };
            }
            Step::Collector(who, at) => return self.collect(next, who, at),
            Step::KillCollector(who, _) => {
                next.crashes -= 1;
                next.collectors[who] = off(state.collectors[who].runs);
            }
        }
        Some(next)
    }

    fn looks_early(&self) -> bool {
        self.has(Fault::CheckedBeforeLease) || self.has(Fault::LoanUnchecked)
    }

    fn go_on(&self, mut next: State, who: usize, at: At) -> Option<State> {
        let agent = &mut next.agents[who];
        let lease = &mut next.leases[who][agent.life];
        match at {
            At::Begun if lease.locked && lease.named => agent.at = At::Owner,
            // A faulty collector took its name; a new file is another story.
            At::Begun if lease.locked => return None,
            At::Begun => {
                *lease = LeaseFile::default();
                lease.named = true;
                agent.at = At::Made;
            }
            At::Made => {
                let found = lease.named || self.has(Fault::NameUnchecked);
                lease.locked = found;
                agent.at = if found { At::Owner } else { At::Begun };
            }
            At::Owner => {
                let manifest_only =
                    self.has(Fault::ManifestLeasedAlone) && agent.files & MANIFEST != 0;
                lease.append(if manifest_only { MANIFEST } else { agent.files });
                agent.at = At::Leased;
            }
            At::Leased => {
                if next.is_swept() && !self.has(Fault::NoSweepLock) {
                    return None;
                }
                next.agents[who].at = At::Inside;
            }
            At::Inside if agent.kind == Kind::Borrow => {
                let there = (next.disk | agent.seen) & agent.files == agent.files;
                agent.at = if there { At::Guarded } else { At::Refused };
                agent.seen = 0;
            }
            At::Inside | At::Halfway => {
                let two = agent.files & MANIFEST != 0;
                let first = if self.has(Fault::ManifestLinkedFirst) { MANIFEST } else { BLOB };
                let (link, then) = match at {
                    At::Inside if two => (first, At::Halfway),
                    At::Inside => (BLOB, At::Guarded),
                    _ => ((MANIFEST | BLOB) & !first, At::Guarded),
                };
                next.disk |= link & !agent.seen;
                agent.at = then;
                if then == At::Guarded {
                    agent.seen = 0;
                }
            }
            At::Guarded => {
                next.roots[who] |= agent.files;
                agent.at = At::Retained;
            }
            At::Retained | At::Refused => end(&mut next, who),
            At::Idle | At::Dead | At::Gone => return None,
        }
        Some(next)
    }
}

/// Ends an operation: the lease is released, the capture removed.
fn end(next: &mut State, who: usize) {
    let agent = &mut next.agents[who];
    next.leases[who][agent.life].release();
    (agent.at, agent.files, agent.capture) = (At::Idle, 0, 0);
    agent.kind = Kind::Publish;
}
