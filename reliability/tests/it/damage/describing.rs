//! Damage to what describes a store or a capture.

use artifacts::CollectError;
use output_contract::OutputDeclaration;

use super::world::{Target, World, collect, meta, open};

#[test]
fn a_flipped_bit_in_the_description_of_a_store_loses_nothing() {
    let world = World::new();
    let before = world.shelved();
    let target = Target::new(world.root().join("store.json"));
    let (mut refused, mut newer) = (0, 0);
    target.each(&target.all_bits(), |flip| match open(&world.root()) {
        Err(_) => refused += 1,
        Ok(store) => {
            // Another id, or a format that is older or newer.
            match collect(&store) {
                Ok(report) => assert_eq!(report.removed, 0, "{flip}"),
                Err(CollectError::NewerFormat { .. }) => newer += 1,
                Err(error) => panic!("{flip}: {error}"),
            }
        }
    });
    assert!(refused > 0 && newer > 0, "{refused} {newer}");
    assert_eq!(world.shelved(), before);
    assert_eq!(world.refused(&world.open()), [""; 0]);
}

#[test]
fn a_flipped_bit_in_the_description_of_a_capture_changes_no_byte_of_it() {
    let world = World::new();
    let store = world.open();
    let capture = store.captures().create(&meta()).unwrap();
    let mut writer = capture.stream_writer(0).unwrap();
    writer.append(b"captured\n").unwrap();
    let dir = capture.dir().to_owned();
    // Its process is gone.
    drop((writer, capture));
    let target = Target::new(dir.join("meta.json"));
    let (mut found, mut left) = (0, 0);
    target.each(&target.all_bits(), |flip| {
        let dead = store.captures().dead().unwrap();
        let Some(dead) = dead.first() else {
            left += 1;
            return;
        };
        found += 1;
        assert_eq!(dead.meta().output, OutputDeclaration::Single, "{flip}");
        for sealed in dead.seal().streams {
            let sealed = sealed.unwrap();
            assert_eq!(fs_err::read(sealed.path()).unwrap(), b"captured\n", "{flip}");
            assert_eq!(sealed.digest(), artifacts::hash::digest_of(b"captured\n"), "{flip}");
        }
    });
    assert!(found > 0 && left > 0, "{found} {left}");
    assert!(dir.join("stream-0").exists(), "what cannot be told whose it is stays for the grace");
}
