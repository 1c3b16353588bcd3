//! Damage to what is read: blobs, manifests, sidecars.

use artifacts::{OpenError, ReadError};
use output_contract::ArtifactUri;

use super::world::{LARGE, Target, World, text};

#[test]
fn a_flipped_bit_in_a_small_blob_is_found() {
    let world = World::new();
    let store = world.open();
    let target = Target::new(world.path("blobs", &world.small));
    target.each(&target.all_bits(), |flip| {
        let error = store.open_artifact(&ArtifactUri::bare(world.small)).unwrap_err();
        assert!(matches!(error, OpenError::Corrupt { .. }), "{flip}: {error}");
    });
    target.each(&target.some_bytes(10), |flip| {
        assert_eq!(world.refused(&store), ["small"], "{flip}");
    });
    assert_eq!(world.refused(&store), [""; 0]);
}

#[test]
fn a_flipped_bit_in_a_large_blob_is_found_where_it_is() {
    let world = World::new();
    let store = world.open();
    let target = Target::new(world.path("blobs", &world.large));
    let (content, mut bits) = (text(LARGE), target.some_bytes(500).into_iter());
    let uri = ArtifactUri::bare(world.large);
    target.each(&target.some_bytes(500), |flip| {
        let at = bits.next().unwrap().0 as u64;
        let artifact = store.open_artifact(&uri).unwrap();
        // A part of every block: only that with the flip is refused, by name.
        for start in (0..LARGE as u64).step_by(65_536) {
            let block = start..(start + 65_536).min(LARGE as u64);
            let range = start + 100..block.end - 100;
            match artifact.read(range.clone()) {
                Ok(bytes) => {
                    assert!(!block.contains(&at), "{flip}: served {range:?}");
                    assert_eq!(bytes, content[range.start as usize..range.end as usize], "{flip}");
                }
                Err(ReadError::Corrupt { range, .. }) => {
                    assert!(block.contains(&at) && range.contains(&at), "{flip}: {range:?}");
                }
                Err(error) => panic!("{flip}: {error}"),
            }
        }
    });
    target.each(&target.some_bytes(10), |flip| {
        assert_eq!(world.refused(&store), ["large", "out0"], "{flip}");
    });
    assert_eq!(world.refused(&store), [""; 0]);
}

#[test]
fn a_flipped_bit_in_a_large_blob_without_sidecar_is_found() {
    let world = World::new();
    let store = world.open();
    let sidecar = world.path("index", &world.large);
    let target = Target::new(world.path("blobs", &world.large));
    target.each(&target.some_bytes(100), |flip| {
        let _ = fs_err::remove_file(&sidecar);
        let error = store.open_artifact(&ArtifactUri::bare(world.large)).unwrap_err();
        assert!(matches!(error, OpenError::Corrupt { .. }), "{flip}: {error}");
        assert!(!sidecar.exists(), "{flip}: no sidecar is made of damage");
    });
}

#[test]
fn a_flipped_bit_in_a_sidecar_does_no_harm() {
    let world = World::new();
    let store = world.open();
    let target = Target::new(world.path("index", &world.large));
    target.each(&target.some_bytes(40), |flip| {
        assert_eq!(world.refused(&store), [""; 0], "{flip}");
    });
    let uri = ArtifactUri::bare(world.large);
    let content = text(LARGE);
    let bits = [target.all_bytes(0), target.all_bytes(1)].concat();
    target.each(&bits, |flip| {
        let artifact = store.open_artifact(&uri).unwrap();
        assert_eq!(artifact.lines(), content.split_inclusive(|&b| b == b'\n').count() as u64);
        let line = artifact.line_start(9_000).unwrap() as usize;
        assert!(content[line..].starts_with(b"line 9000 of"), "{flip}");
        assert_eq!(artifact.read(65_530..65_600).unwrap(), content[65_530..65_600], "{flip}");
    });
}

#[test]
fn a_flipped_bit_in_a_manifest_is_found() {
    let world = World::new();
    let store = world.open();
    let target = Target::new(world.path("manifests", &world.manifest));
    target.each(&target.all_bits(), |flip| {
        for stream in [None, Some("out1".parse().unwrap())] {
            let uri = ArtifactUri { digest: world.manifest, stream };
            let error = store.open_artifact(&uri).unwrap_err();
            assert!(matches!(error, OpenError::Corrupt { .. }), "{flip}: {error}");
        }
        assert!(store.borrow(world.manifest).is_err(), "{flip}");
    });
    target.each(&target.some_bytes(10), |flip| {
        assert_eq!(world.refused(&store), ["out0", "out1", "manifest"], "{flip}");
    });
}
