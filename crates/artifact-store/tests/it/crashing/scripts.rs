//! What is done before the power goes.

use std::num::NonZero;
use std::os::unix::fs::PermissionsExt;

use artifact_store::{LocalStore, StoreGuard};
use artifacts::Durability;
use artifacts::hash::digest_of;
use camino::Utf8Path;
use testkit::DiskLie;

use super::{Fact, World};
use crate::oracle::{HOUR, NOW, recover};
use crate::scratch::{call, meta, open_at, owner, publish, publish_named};

/// Just large enough for a sidecar.
fn large() -> Vec<u8> {
    b"a line of sixteen\n".repeat(15_000)
}

fn retain(world: &mut World, guard: &StoreGuard, by: &str, id: &str) {
    guard.retain(&owner(by), &call(id)).unwrap();
    let digests = guard.digests().to_vec();
    world.note(Fact::Retained { owner: owner(by), call: call(id), digests });
}

fn release(world: &mut World, store: &LocalStore, by: &str, id: Option<&str>) {
    let (owner, call) = (owner(by), id.map(call));
    world.note(Fact::Releasing { owner: owner.clone(), call: call.clone() });
    store.release(&owner, call.as_ref()).unwrap();
}

/// A new store; results of all kinds; calls and owners released; collections.
pub(super) fn results(durability: Durability, lie: Option<DiskLie>) -> World {
    let mut world = World::after(|_| {}, lie);
    let store = world.open(durability);
    let guard = publish(&store, &[b"one\n"]);
    retain(&mut world, &guard, "a", "1");
    drop(guard);
    let long = publish_named(&store, &large());
    retain(&mut world, &long, "a", "2");
    // The same once more, the one with a name and the other without.
    let again = publish(&store, &[b"one\n", b"", &large()]);
    retain(&mut world, &again, "b", "1");
    drop((long, again));
    release(&mut world, &store, "a", Some("1"));
    store.collect(&NOW).unwrap();
    let manifest = store.retained_by(&owner("a")).unwrap()[0].digests[0];
    let loan = store.borrow(manifest).unwrap();
    retain(&mut world, &loan, "fork", "2");
    drop(loan);
    release(&mut world, &store, "a", None);
    publish(&store, &[b"garbage\n"]);
    store.collect(&NOW).unwrap();
    // What was just removed comes back.
    let back = publish(&store, &[b"garbage\n"]);
    retain(&mut world, &back, "a", "3");
    world
}

/// A fast process makes the store and publishes; durable ones build on it.
pub(super) fn inherited(lie: Option<DiskLie>) -> World {
    let mut world = World::after(|_| {}, lie);
    let fast = world.open(Durability::Fast);
    let guards = [publish(&fast, &[b"one\n", b""]), publish_named(&fast, b"two\n")];
    let manifest = guards[1].digests()[0];
    let store = world.open(Durability::Durable);
    let one = publish(&store, &[b"one\n", b""]);
    retain(&mut world, &one, "a", "1");
    let two = store.borrow(manifest).unwrap();
    retain(&mut world, &two, "b", "1");
    drop((guards, one, two));
    store.collect(&NOW).unwrap();
    world
}

/// Damages a file in place.
fn damage(root: &Utf8Path, shelf: &str, content: &[u8]) {
    let hex = digest_of(content).to_string();
    let path = root.join(shelf).join("sha256").join(&hex[..2]).join(hex);
    fs_err::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    let mut bytes = fs_err::read(&path).unwrap();
    bytes[0] ^= 1;
    fs_err::write(&path, bytes).unwrap();
}

/// Damaged copies are replaced by publishing, or put aside by `verify`.
pub(super) fn healing() -> World {
    let before = |root: &Utf8Path| {
        let store = open_at(root, Durability::Fast);
        publish(&store, &[b"healed\n", b"put aside\n", &large()]);
        damage(root, "blobs", b"healed\n");
        damage(root, "blobs", b"put aside\n");
        damage(root, "index", &large());
    };
    let mut world = World::after(before, None);
    let store = world.open(Durability::Durable);
    let healed = publish(&store, &[b"healed\n"]);
    assert_eq!(healed.healed().len(), 1);
    retain(&mut world, &healed, "a", "1");
    let report = store.verify(NonZero::<usize>::MIN, &|_| {}).unwrap();
    assert_eq!((report.corrupt.len(), report.repaired), (1, 1));
    let back = publish(&store, &[b"put aside\n", &large()]);
    retain(&mut world, &back, "a", "2");
    world
}

/// Garbage of all kinds is collected, beside what stays.
pub(super) fn collecting() -> World {
    let before = |root: &Utf8Path| {
        let store = open_at(root, Durability::Fast);
        for (by, id, content) in [("a", "1", b"one\n"), ("a", "2", b"two\n"), ("b", "1", b"one\n")]
        {
            publish(&store, &[content]).retain(&owner(by), &call(id)).unwrap();
        }
        publish_named(&store, &large()).retain(&owner("c"), &call("1")).unwrap();
        publish(&store, &[b"garbage\n"]);
        drop(store.captures().create(&meta(&[])).unwrap());
    };
    let mut world = World::after(before, None);
    let store = world.open(Durability::Durable);
    for (by, id) in [("a", "2"), ("b", "1")] {
        let kept = store.retained_by(&owner(by)).unwrap();
        let digests = kept.into_iter().find(|kept| kept.call == call(id)).unwrap().digests;
        world.note(Fact::Retained { owner: owner(by), call: call(id), digests });
    }
    release(&mut world, &store, "a", Some("1"));
    release(&mut world, &store, "c", None);
    store.collect(&NOW).unwrap();
    // Now the sizes of all roots files are known. One shrinks, one goes, and
    // most of what is stored never had a root.
    let more = publish(&store, &[b"three\n"]);
    retain(&mut world, &more, "a", "3");
    drop(more);
    publish(&store, &[b"1", b"2", b"3", b"4", b"5"]);
    store.collect(&HOUR).unwrap();
    release(&mut world, &store, "a", Some("3"));
    release(&mut world, &store, "b", Some("1"));
    store.collect(&NOW).unwrap();
    world
}

/// A process died while it captured; another one publishes what it left.
pub(super) fn recovering() -> World {
    let before = |root: &Utf8Path| {
        let store = open_at(root, Durability::Fast);
        for content in [&b"left behind\n"[..], b""] {
            let capture = store.captures().create(&meta(&[])).unwrap();
            let mut writer = capture.stream_writer(0).unwrap();
            writer.append(content).unwrap();
        }
    };
    let mut world = World::after(before, None);
    let store = world.open(Durability::Durable);
    recover(&store).unwrap();
    for kept in store.retained().unwrap() {
        let (owner, call, digests) = (kept.owner, kept.call, kept.digests);
        assert!([digest_of(b"left behind\n"), digest_of(b"")].contains(&digests[0]));
        world.note(Fact::Retained { owner, call, digests });
    }
    world
}
