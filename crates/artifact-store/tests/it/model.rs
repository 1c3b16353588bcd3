//! The protocol of publishing, borrowing, recovery and collecting, checked in
//! every interleaving of a small world.
//!
//! What is modelled and what is not: `docs/design/store.md`, *Model*. The model
//! is a copy of the protocol and not the code: a change of one is a change of
//! the other. Every ingredient of the protocol has a test that leaves it out
//! and must find what is lost then.

mod collecting;
mod faults;
mod protocol;
mod state;

use stateright::{Checker, HasDiscoveries, Model, Property};

use self::faults::Fault;
use self::protocol::{Protocol, Step, World};
use self::state::{At, BLOB, Kind, MANIFEST, Stage, State};

const CLOSURE: &str = "a root has its whole closure";
const GUARD: &str = "a guard protects what it names";
const PARENT: &str = "a manifest has its blob";

impl Model for Protocol {
    type State = State;
    type Action = Step;

    /// A new store, and one full of garbage.
    fn init_states(&self) -> Vec<State> {
        vec![self.first(0), self.first(MANIFEST | BLOB)]
    }

    fn actions(&self, state: &State, steps: &mut Vec<Step>) {
        self.steps(state, steps);
    }

    fn next_state(&self, state: &State, step: Step) -> Option<State> {
        self.after(state, step)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut properties: Vec<Property<Self>> = vec![
            Property::always(CLOSURE, |_, state: &State| {
                state.roots.iter().all(|root| root & !state.disk == 0)
            }),
            Property::always(GUARD, |_, state: &State| {
                let holds = |at| matches!(at, At::Guarded | At::Retained);
                let mut agents = state.agents.iter().filter(|agent| holds(agent.at));
                agents.all(|agent| agent.files & !state.disk == 0)
            }),
            Property::always(PARENT, |_, state: &State| {
                state.disk & MANIFEST == 0 || state.disk & BLOB != 0
            }),
            Property::sometimes("something is removed", |model, state: &State| {
                let removes = |it: &state::Collector| match it.at {
                    Stage::Remove(nth) => model.removes(it, nth) & state.disk != 0,
                    _ => false,
                };
                state.collectors.iter().any(removes)
            }),
            Property::sometimes("a lease spares a candidate", |_, state: &State| {
                let spares = |it: &state::Collector| it.candidates & it.leased != 0;
                state.collectors.iter().any(spares)
            }),
            Property::sometimes("what is published is there already", |_, state: &State| {
                state.agents.iter().any(|agent| {
                    (agent.at, agent.kind) == (At::Inside, Kind::Publish)
                        && agent.files & !state.disk == 0
                })
            }),
            Property::sometimes("a loan is refused", |_, state: &State| {
                state.agents.iter().any(|agent| agent.at == At::Refused)
            }),
            Property::sometimes(
                "a lease that protected something is removed",
                |model: &Self, state: &State| {
                    state.collectors.iter().any(|it| {
                        let Stage::Forget(agent) = it.at else { return false };
                        state.named(agent).any(|life| {
                            model.forgets(state, it, agent, life)
                                && state.entries(agent, life).next().is_some()
                        })
                    })
                },
            ),
        ];
        if self.world.crashes > 0 {
            properties.push(Property::sometimes("a successor recovers", |_, state: &State| {
                let mut agents = state.agents.iter();
                agents.any(|agent| (agent.at, agent.kind) == (At::Retained, Kind::Recover))
            }));
        }
        properties
    }
}

/// Two agents with one operation each, two collectors, no crash.
const LIVING: World = World {
    operations: [1, 1],
    runs: [1, 1],
    crashes: 0,
    drops: 1,
    blobs_alone: true,
    batches: false,
};
/// One agent, two collectors.
const ALONE: World = World { operations: [1, 0], ..LIVING };
/// The collector lets go of its lock between the manifest and its blob.
const BATCHES: World = World { runs: [1, 0], batches: true, ..LIVING };
/// One agent's lease has two entries.
const AGAIN: World =
    World { operations: [2, 1], runs: [1, 0], drops: 0, blobs_alone: false, ..LIVING };
/// Someone dies: an agent, which has a successor, or the collector.
const DYING: World = World { operations: [1, 1], crashes: 1, ..AGAIN };
/// One agent and one collection: enough for most faults.
const TWO: World = World { operations: [1, 0], ..AGAIN };
const THREE: World = World { runs: [1, 1], ..TWO };
const TWICE: World = World { operations: [2, 0], ..TWO };
const ONE_DIES: World = World { crashes: 1, ..TWO };
/// Two die, and what one agent has left is collected.
const DEAD: World = World { crashes: 2, ..ALONE };

fn passes(world: World) {
    let checker = Protocol { fault: None, world }.checker().threads(2).spawn_bfs().join();
    println!("{} states, depth {}", checker.unique_state_count(), checker.max_depth());
    checker.assert_properties();
}

#[test]
fn living() {
    passes(LIVING);
}

#[test]
fn batches() {
    passes(BATCHES);
}

#[test]
fn again() {
    passes(AGAIN);
}

#[test]
fn dying() {
    passes(DYING);
}

#[test]
fn dead() {
    passes(DEAD);
}

/// With the fault there must be a way to break the property; it is printed.
fn breaks(fault: Fault, world: World, property: &'static str) {
    let found = HasDiscoveries::AnyOf([property].into());
    let protocol = Protocol { fault: Some(fault), world };
    let checker = protocol.checker().finish_when(found).spawn_bfs().join();
    let states = checker.unique_state_count();
    let path = checker.discovery(property).expect("something is lost without this ingredient");
    println!("{property}: not so, after {states} states:");
    for step in path.into_actions() {
        println!("  {step:?}");
    }
}

macro_rules! faults {
    ($($name:ident: $fault:ident, $world:ident, $property:ident;)*) => {$(
        #[test]
        fn $name() {
            breaks(Fault::$fault, $world, $property);
        }
    )*};
}

faults! {
    no_sweep_lock: NoSweepLock, TWO, CLOSURE;
    no_second_look_at_leases: NoRecheck, TWO, CLOSURE;
    released_leases_dropped_at_once: ReleasedDropped, TWO, CLOSURE;
    dead_leases_dropped_at_once: DeadDropped, ONE_DIES, CLOSURE;
    roots_read_first: RootsFirst, TWO, CLOSURE;
    existence_checked_before_the_lease: CheckedBeforeLease, TWO, CLOSURE;
    loan_checked_before_the_lease: LoanUnchecked, TWO, CLOSURE;
    blind_replay: BlindReplay, ONE_DIES, CLOSURE;
    manifest_leased_alone: ManifestLeasedAlone, TWO, CLOSURE;
    two_collectors_at_once: TwoCollectors, THREE, CLOSURE;
    lease_files_forgotten_in_part: FilesForgottenInPart, TWICE, CLOSURE;
    lease_files_of_the_living_forgotten: LivingForgotten, TWICE, GUARD;
    lease_files_without_a_name: NameUnchecked, TWO, GUARD;
    manifest_linked_first: ManifestLinkedFirst, TWO, PARENT;
    blob_removed_first: ChildrenRemovedFirst, TWO, PARENT;
}
