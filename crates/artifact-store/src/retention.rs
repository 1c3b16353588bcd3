//! Which calls are let go, by age and by size.
//!
//! The [`plan`] is a pure function: calls, sizes, now and limits in, calls to
//! release out. A call was last used when it last retained something.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use artifacts::{CollectError, RetainedCall};
use output_contract::limits::{DEFAULT_RETENTION_MAX_AGE_SECS, DEFAULT_RETENTION_MAX_BYTES};
use output_contract::{Digest, Timestamp};

use crate::lease::state;
use crate::local::Inner;
use crate::roots::OwnerRoots;
use crate::shelf::Walk;
use crate::stat;

/// How long and how much is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetentionLimits {
    /// Calls that were last used longer ago are let go.
    pub max_age: Duration,
    /// The bytes that all calls may retain; what they share counts once.
    pub max_bytes: u64,
}

impl Default for RetentionLimits {
    fn default() -> Self {
        Self {
            max_age: Duration::from_secs(DEFAULT_RETENTION_MAX_AGE_SECS),
            max_bytes: DEFAULT_RETENTION_MAX_BYTES,
        }
    }
}

impl RetentionLimits {
    /// What was last used before that is let go.
    fn oldest(&self, now: Timestamp) -> Timestamp {
        let age = u64::try_from(self.max_age.as_millis()).unwrap_or(u64::MAX);
        Timestamp(now.0.saturating_sub(age))
    }
}

/// What a plan is made of.
#[derive(Debug)]
struct Inventory {
    /// All calls that retain something.
    calls: Vec<RetainedCall>,
    /// What is stored, with sizes in bytes.
    sizes: HashMap<Digest, u64>,
    /// What a process works with right now.
    leased: HashSet<Digest>,
}

/// The calls to let go, the one that was used longest ago first.
///
/// Those past the age go, then as many as it takes to come under the size.
/// Letting a call go frees what no other call retains. Never goes a call of
/// which something is leased, or that `held` says is running.
fn plan(
    inventory: Inventory,
    held: impl Fn(&RetainedCall) -> bool,
    now: Timestamp,
    limits: &RetentionLimits,
) -> Vec<RetainedCall> {
    let Inventory { mut calls, sizes, leased } = inventory;
    let mut users: HashMap<Digest, u64> = HashMap::new();
    for call in &mut calls {
        let own: HashSet<Digest> = call.digests.drain(..).collect();
        call.digests.extend(own);
        for digest in &call.digests {
            *users.entry(*digest).or_default() += 1;
        }
    }
    let size = |digest: &Digest| sizes.get(digest).copied().unwrap_or(0);
    let mut bytes: u64 = users.keys().map(size).sum();
    calls.retain(|call| !held(call) && !call.digests.iter().any(|digest| leased.contains(digest)));
    calls.sort_by(|a, b| (b.at, &b.owner, &b.call).cmp(&(a.at, &a.owner, &a.call)));
    let oldest = limits.oldest(now);
    let mut planned = Vec::new();
    while let Some(call) = calls.pop_if(|call| call.at < oldest || bytes > limits.max_bytes) {
        for digest in &call.digests {
            let left = users.entry(*digest).or_default();
            *left = left.saturating_sub(1);
            if *left == 0 {
                bytes -= size(digest);
            }
        }
        planned.push(call);
    }
    planned
}

/// What the limits let go of in a store.
pub(crate) fn retire(
    store: &Inner,
    limits: &RetentionLimits,
    now: Timestamp,
) -> Result<Vec<RetainedCall>, CollectError> {
    if !is_past(store, limits, now)? {
        return Ok(Vec::new());
    }
    let layout = &store.layout;
    // Of a dead process too, until a collection has forgotten it.
    let leases = state::read_all(&layout.leases, |_| false)?;
    let leased = state::leased(&leases, &state::forgettable(&leases, |_| false));
    let live = store.captures.live()?;
    let mut calls = Vec::new();
    for name in layout.roots.names()? {
        // The collection after this says which cannot be read.
        let roots = layout.roots.read(&name).ok().flatten();
        calls.extend(roots.into_iter().flat_map(OwnerRoots::into_calls));
    }
    let sizes = stat::sizes(store)?;
    let held = |call: &RetainedCall| {
        live.iter().any(|meta| meta.session_id == call.owner && meta.call_id == call.call)
    };
    Ok(plan(Inventory { calls, sizes, leased }, held, now, limits))
}

/// Whether there can be anything to let go. Mostly there is not, and then it
/// takes less than a plan: of each digest that is retained 32 bytes of memory,
/// and a look at its file.
fn is_past(store: &Inner, limits: &RetentionLimits, now: Timestamp) -> Result<bool, CollectError> {
    let (layout, oldest) = (&store.layout, limits.oldest(now));
    let mut retained = Vec::new();
    for name in layout.roots.names()? {
        let Some(roots) = layout.roots.read(&name).ok().flatten() else { continue };
        if roots.times().any(|at| at < oldest) {
            return Ok(true);
        }
        retained.extend(roots.digests().copied());
    }
    retained.sort_unstable();
    retained.dedup();
    let mut bytes = 0;
    for shelf in [&layout.blobs, &layout.manifests] {
        let mut walk = Walk::new(shelf);
        for digest in &retained {
            bytes += walk.stat(digest)?.map_or(0, |stat| stat.bytes);
            if bytes > limits.max_bytes {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: u64 = 24 * 3600 * 1000;

    /// Calls as `(name, last use in days, blobs)`; blob *n* has *n* bytes.
    fn planned(calls: &[(&str, u64, &[u8])], held: &str, leased: u8, max_bytes: u64) -> String {
        let digest = |n: &u8| Digest::from_bytes([*n; 32]);
        let calls: Vec<RetainedCall> = calls
            .iter()
            .map(|(name, at, blobs)| RetainedCall {
                owner: "s".parse().unwrap(),
                call: name.parse().unwrap(),
                digests: blobs.iter().map(digest).collect(),
                at: Timestamp(at * DAY),
            })
            .collect();
        let sizes = (1..=100).map(|n| (digest(&n), u64::from(n))).collect();
        let inventory = Inventory { calls, sizes, leased: HashSet::from([digest(&leased)]) };
        let limits = RetentionLimits { max_age: Duration::from_secs(30 * 24 * 3600), max_bytes };
        let held = |call: &RetainedCall| call.call.as_str() == held;
        let plan = plan(inventory, held, Timestamp(40 * DAY), &limits);
        plan.iter().map(|call| call.call.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_old_go_and_the_oldest_first() {
        let calls: &[(&str, u64, &[u8])] =
            &[("new", 39, &[1]), ("edge", 10, &[2]), ("old", 9, &[3]), ("older", 1, &[4])];
        assert_eq!(planned(calls, "", 0, 1000), "older old");
        assert_eq!(planned(calls, "older", 0, 1000), "old");
        assert_eq!(planned(calls, "", 3, 1000), "older");
        assert_eq!(planned(&[], "", 0, 0), "");
    }

    #[test]
    fn as_many_go_as_it_takes() {
        let calls: &[(&str, u64, &[u8])] =
            &[("c", 39, &[30]), ("a", 37, &[10, 10]), ("b", 38, &[20])];
        assert_eq!(planned(calls, "", 0, 60), "");
        assert_eq!(planned(calls, "", 0, 59), "a");
        assert_eq!(planned(calls, "", 0, 49), "a b");
        assert_eq!(planned(calls, "a", 0, 59), "b");
        assert_eq!(planned(calls, "a", 0, 1), "b c");
    }

    #[test]
    fn what_is_shared_counts_once_and_is_freed_by_its_last_user() {
        let calls: &[(&str, u64, &[u8])] =
            &[("a", 36, &[50]), ("b", 37, &[50, 1]), ("c", 38, &[7]), ("d", 39, &[8])];
        assert_eq!(planned(calls, "", 0, 66), "");
        assert_eq!(planned(calls, "", 0, 65), "a b");
        assert_eq!(planned(calls, "", 0, 14), "a b c");
    }
}
