//! Damage to what a collection goes by: what cannot be read is no reason to
//! remove anything.

use artifacts::CollectError;
use output_contract::ArtifactUri;

use super::world::{Target, World, collect, publish};

/// Flips a bit of every byte of what a collection must be able to read, with something
/// there that it would remove otherwise.
fn stops_the_collector(world: &World, target: &Target) {
    let store = world.open();
    publish(&store, &[b"garbage\n"], false).release();
    let before = world.shelved();
    target.each(&target.all_bytes(0), |flip| {
        let error = collect(&store).unwrap_err();
        assert!(matches!(error, CollectError::Unreadable { .. }), "{flip}: {error}");
    });
    assert_eq!(world.shelved(), before, "nothing was removed");
    assert_eq!(collect(&store).unwrap().removed, 1);
    assert_eq!(world.refused(&store), [""; 0]);
}

#[test]
fn a_flipped_bit_in_roots_removes_nothing() {
    let world = World::new();
    stops_the_collector(&world, &Target::new(world.only("roots")));
}

#[test]
fn a_flipped_bit_in_a_manifest_removes_nothing() {
    let world = World::new();
    stops_the_collector(&world, &Target::new(world.path("manifests", &world.manifest)));
}

#[test]
fn a_flipped_bit_in_a_lease_removes_nothing() {
    let world = World::new();
    let store = world.open();
    // The lease of the process that made the world goes.
    collect(&store).unwrap();
    let guard = publish(&store, &[b"guarded\n", b"too\n"], true);
    stops_the_collector(&world, &Target::new(world.only("leases")));
    for digest in guard.digests() {
        store.open_artifact(&ArtifactUri::bare(*digest)).unwrap();
    }
}

#[test]
fn a_flipped_bit_in_roots_keeps_nobody_from_reading() {
    let world = World::new();
    let store = world.open();
    let target = Target::new(world.only("roots"));
    target.each(&target.some_bytes(20), |flip| {
        assert_eq!(world.refused(&store), [""; 0], "{flip}");
    });
}

/// Flips a bit of every byte of what only explains things. A collection goes on, and
/// removes nothing that is retained.
fn hinders_nothing(world: &World, target: &Target) {
    let store = world.open();
    let before = world.shelved();
    target.each(&target.all_bytes(0), |flip| {
        assert_eq!(collect(&store).unwrap().removed, 0, "{flip}");
    });
    assert_eq!(world.shelved(), before, "nothing was removed");
    target.each(&target.some_bytes(20), |flip| {
        assert_eq!(world.refused(&store), [""; 0], "{flip}");
    });
}

#[test]
fn a_flipped_bit_in_the_list_of_owners_does_no_harm() {
    let world = World::new();
    hinders_nothing(&world, &Target::new(world.root().join("owners")));
}

#[test]
fn a_flipped_bit_in_a_tombstone_does_no_harm() {
    let world = World::new();
    hinders_nothing(&world, &Target::new(world.root().join("expired")));
}
