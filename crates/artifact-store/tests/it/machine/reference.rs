//! What the store must be: maps and sets.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::sample::select;
use proptest_state_machine::ReferenceStateMachine;

/// Contents are known by number: 0 is empty, and the last has a sidecar.
pub(super) const CONTENTS: u8 = 4;

/// What can be published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Item {
    Blob(u8),
    /// A manifest whose only stream is that blob, and the blob.
    Named(u8),
}

impl Item {
    pub(super) const fn number(self) -> u8 {
        match self {
            Self::Blob(number) | Self::Named(number) => number,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Transition {
    Publish(Item),
    Borrow(Item),
    /// Guards are known by their place.
    Retain {
        guard: usize,
        owner: u8,
        call: u8,
    },
    DropGuard(usize),
    Release {
        owner: u8,
        call: Option<u8>,
    },
    /// Everything is too old.
    Retire,
    Collect,
    /// Nothing is old.
    CollectOld,
    Die,
    Reopen,
    Damage(u8),
    DamageSidecar(u8),
    Verify,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    Served,
    Corrupt,
    Missing,
}

#[derive(Debug, Clone, Default)]
pub(super) struct State {
    pub(super) roots: BTreeMap<(u8, u8), BTreeSet<Item>>,
    /// What is at its address; a `Named` stands for the manifest alone.
    pub(super) stored: BTreeSet<Item>,
    guards: Vec<Item>,
    /// What processes had leased that are dead.
    dead: BTreeSet<Item>,
    damaged: BTreeSet<u8>,
    quarantined: BTreeSet<u8>,
    /// Whether the last step replaced a damaged copy.
    pub(super) healed: bool,
    /// Whether the last step could borrow.
    pub(super) borrowed: bool,
    /// What the last step put aside.
    pub(super) put_aside: BTreeSet<u8>,
}

impl State {
    pub(super) fn is_stored(&self, item: Item) -> bool {
        self.stored.contains(&item)
    }

    pub(super) fn expected(&self, number: u8) -> Expected {
        if self.is_stored(Item::Blob(number)) {
            if self.damaged.contains(&number) { Expected::Corrupt } else { Expected::Served }
        } else if self.quarantined.contains(&number) {
            Expected::Corrupt
        } else {
            Expected::Missing
        }
    }

    /// Whether a lease names something of `item`.
    fn is_leased(&self, item: Item) -> bool {
        let leased = self.guards.iter().chain(&self.dead);
        // Manifests are shared by items that are equal, blobs by their number.
        leased.into_iter().any(|leased| leased.number() == item.number())
    }

    fn can_be_borrowed(&self, item: Item) -> bool {
        self.is_stored(Item::Blob(item.number())) && self.is_stored(item)
    }
}

pub(super) struct Reference;

fn item() -> impl Strategy<Value = Item> {
    prop_oneof![(0..CONTENTS).prop_map(Item::Blob), (0..CONTENTS).prop_map(Item::Named)]
}

impl ReferenceStateMachine for Reference {
    type State = State;
    type Transition = Transition;

    fn init_state() -> BoxedStrategy<State> {
        Just(State::default()).boxed()
    }

    fn transitions(state: &State) -> BoxedStrategy<Transition> {
        let always = prop_oneof![
            6 => item().prop_map(Transition::Publish),
            2 => item().prop_map(Transition::Borrow),
            2 => (0..2_u8, proptest::option::of(0..2_u8))
                .prop_map(|(owner, call)| Transition::Release { owner, call }),
            1 => Just(Transition::Retire),
            3 => Just(Transition::Collect),
            1 => Just(Transition::CollectOld),
            1 => Just(Transition::Die),
            1 => Just(Transition::Reopen),
            1 => Just(Transition::DamageSidecar(CONTENTS - 1)),
            2 => Just(Transition::Verify),
        ];
        let damageable: Vec<u8> = (1..CONTENTS).filter(|n| can_be_damaged(state, *n)).collect();
        let guards = state.guards.len();
        let mut all = vec![(20, always.boxed())];
        if guards > 0 {
            let retain = (0..guards, 0..2_u8, 0..2_u8)
                .prop_map(|(guard, owner, call)| Transition::Retain { guard, owner, call });
            all.push((7, retain.boxed()));
            all.push((4, (0..guards).prop_map(Transition::DropGuard).boxed()));
        }
        if !damageable.is_empty() {
            all.push((2, select(damageable).prop_map(Transition::Damage).boxed()));
        }
        proptest::strategy::Union::new_weighted(all).boxed()
    }

    fn preconditions(state: &State, transition: &Transition) -> bool {
        match transition {
            Transition::Retain { guard, .. } | Transition::DropGuard(guard) => {
                *guard < state.guards.len()
            }
            Transition::Damage(number) => can_be_damaged(state, *number),
            _ => true,
        }
    }

    fn apply(mut state: State, transition: &Transition) -> State {
        (state.healed, state.borrowed) = (false, false);
        state.put_aside.clear();
        match transition {
            Transition::Publish(item) => {
                state.healed = state.damaged.remove(&item.number());
                state.stored.insert(Item::Blob(item.number()));
                state.stored.insert(*item);
                state.guards.push(*item);
            }
            Transition::Borrow(item) => {
                state.borrowed = state.can_be_borrowed(*item);
                if state.borrowed {
                    state.guards.push(*item);
                }
            }
            Transition::Retain { guard, owner, call } => {
                let item = state.guards[*guard];
                state.roots.entry((*owner, *call)).or_default().insert(item);
            }
            Transition::DropGuard(guard) => {
                state.guards.remove(*guard);
            }
            Transition::Release { owner, call } => {
                let stays = |o, c| o != *owner || call.is_some_and(|call| call != c);
                state.roots.retain(|(o, c), _| stays(*o, *c));
            }
            Transition::Retire => {
                let mut roots = std::mem::take(&mut state.roots);
                roots.retain(|_, items| items.iter().any(|item| state.is_leased(*item)));
                state.roots = roots;
            }
            Transition::Collect => {
                state.dead.clear();
                let rooted = state.roots.values().flatten();
                let kept: BTreeSet<Item> = rooted.chain(&state.guards).copied().collect();
                let is_kept = |item: &Item| match item {
                    Item::Named(_) => kept.contains(item),
                    Item::Blob(number) => kept.iter().any(|kept| kept.number() == *number),
                };
                state.stored.retain(is_kept);
                let stored = &state.stored;
                state.damaged.retain(|number| stored.contains(&Item::Blob(*number)));
            }
            Transition::CollectOld | Transition::DamageSidecar(_) => {}
            Transition::Die => {
                let left = std::mem::take(&mut state.guards);
                state.dead.extend(left);
            }
            Transition::Reopen => state.guards.clear(),
            Transition::Damage(number) => {
                state.damaged.insert(*number);
            }
            Transition::Verify => {
                state.put_aside = std::mem::take(&mut state.damaged);
                for number in &state.put_aside {
                    state.stored.remove(&Item::Blob(*number));
                    state.quarantined.insert(*number);
                }
            }
        }
        state
    }
}

fn can_be_damaged(state: &State, number: u8) -> bool {
    state.is_stored(Item::Blob(number)) && !state.damaged.contains(&number)
}
