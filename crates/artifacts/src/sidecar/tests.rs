//! The bytes of a sidecar, and that none of them can change unnoticed.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use crate::hash::ContentHasher;

fn sidecar_of(bytes: &[u8]) -> Option<Sidecar> {
    let mut hasher = ContentHasher::new();
    hasher.update(bytes);
    Sidecar::of(hasher.finish())
}

fn content(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| if i % 100 == 99 { b'\n' } else { b'a' + (i / 7 % 26) as u8 }).collect()
}

static EXAMPLE: LazyLock<Vec<u8>> =
    LazyLock::new(|| sidecar_of(&content(300_000)).unwrap().encode());

#[test]
fn only_large_blobs_have_one() {
    assert_eq!(sidecar_of(&content(SIDECAR_MIN_BYTES as usize)), None);
    let sidecar = sidecar_of(&content(SIDECAR_MIN_BYTES as usize + 1)).unwrap();
    assert_eq!(sidecar.blocks().len(), 5);
}

#[test]
fn the_bytes_are_golden() {
    let bytes = &*EXAMPLE;
    assert_eq!(bytes.len() as u64, sidecar_bytes(300_000));
    let hex = |range: Range<usize>| {
        bytes[range].iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    insta::assert_snapshot!(
        [
            ("magic", 0..8), ("version", 8..12), ("flags", 12..16), ("bytes", 16..24),
            ("newlines", 24..32), ("longest", 32..40), ("sha256", 40..72), ("blocks", 72..80),
            ("newlines before 1", 120..128), ("chaining after 1", 128..160),
            ("newlines before 4", 240..248), ("chaining after 4", 248..280), ("own sha256", 280..312),
        ]
        .map(|(name, range)| format!("{name}: {}", hex(range)))
        .join("\n"), @r"
    magic: 4f56535049445800
    version: 01000000
    flags: 03000000
    bytes: e093040000000000
    newlines: b80b000000000000
    longest: 6300000000000000
    sha256: 45123c3a838c2eef33fe2b3a1df9d39b928172cac5cfccce3c5599adaf3b9362
    blocks: 0500000000000000
    newlines before 1: 8f02000000000000
    chaining after 1: 68733a21fde5d66109516ca776d7598796c1c65b21b1e9794694fd272001e841
    newlines before 4: 3d0a000000000000
    chaining after 4: 45123c3a838c2eef33fe2b3a1df9d39b928172cac5cfccce3c5599adaf3b9362
    own sha256: 72a0b4469e9b5388bc42f8ff07401971bbf24e5166d391da85be6a3436fd0a69
    ");
}

#[test]
fn what_was_encoded_decodes() {
    for bytes in [262_145, 300_000, 327_680] {
        let sidecar = sidecar_of(&content(bytes)).unwrap();
        assert_eq!(Sidecar::decode(&sidecar.encode()).unwrap(), sidecar);
    }
}

#[test]
fn each_kind_of_damage_has_its_error() {
    let good = &*EXAMPLE;
    let damaged = |at: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[at] = value;
        Sidecar::decode(&bytes).unwrap_err()
    };
    assert_eq!(damaged(0, 0), SidecarError::Magic);
    assert_eq!(damaged(8, 2), SidecarError::Version { version: 2 });
    assert_eq!(damaged(12, 0xff), SidecarError::Inconsistent);
    assert_eq!(damaged(90, 0xff), SidecarError::Digest);
    // Counts are never believed: these ask for exabytes.
    assert_eq!(damaged(23, 0xff), SidecarError::Inconsistent);
    assert_eq!(damaged(79, 0xff), SidecarError::Inconsistent);
    assert_eq!(Sidecar::decode(&good[..good.len() - 1]).unwrap_err(), SidecarError::Length);
    assert_eq!(Sidecar::decode(&[&good[..], b"x"].concat()).unwrap_err(), SidecarError::Length);
    assert_eq!(Sidecar::decode(&good[..HEADER_BYTES + 5]).unwrap_err(), SidecarError::Length);
    assert_eq!(Sidecar::decode(b"").unwrap_err(), SidecarError::Length);
}

proptest! {
    #[test]
    fn no_bit_can_change_unnoticed(at in any::<prop::sample::Index>(), bit in 0u32..8) {
        let mut bytes = EXAMPLE.clone();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        prop_assert!(Sidecar::decode(&bytes).is_err());
    }

    #[test]
    fn any_bytes_are_read_without_panic(
        start in 0usize..400,
        tail in proptest::collection::vec(any::<u8>(), 0..400),
    ) {
        let good = &*EXAMPLE;
        let bytes = [&good[..start.min(good.len())], &tail].concat();
        prop_assert!(bytes == *good || Sidecar::decode(&bytes).is_err());
    }
}
