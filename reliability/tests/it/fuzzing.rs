//! Every fuzz target over its seeds, and over changes of them that are always
//! the same.

use camino::{Utf8Path, Utf8PathBuf};
use reliability::Random;
use reliability::fuzzing::TARGETS;

/// Changed inputs for each target.
const CHANGED: usize = 3_000;
const MOST_BYTES: usize = 4_096;

/// Pieces that the formats are made of.
const WORDS: &[&[u8]] = &[
    b"artifact://",
    b"\n",
    b"\"torn\"",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\"",
    b"\\u0000",
    b"-1",
    b"1e308",
    b"18446744073709551615",
    b"null",
    b"\xff",
    b"\0",
    b"\xe2\x80\xa8",
    b"/",
    b"stdout",
    b"sha256/",
    b"\"type\":\"release\"",
    b"\"type\":\"release_all\"",
    b"{\"type\":\"item\"",
    b"\"digests\":[]",
    b"\"at\":0",
    b"\"version\":2",
];

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let dir = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/fixtures").join(target);
    let entries = dir.read_dir_utf8().unwrap_or_else(|error| panic!("{dir}: {error}"));
    let mut paths: Vec<Utf8PathBuf> = entries.map(|e| e.unwrap().path().to_owned()).collect();
    paths.sort();
    paths.iter().map(|path| fs_err::read(path).unwrap()).collect()
}

/// Changes `bytes` in one of the ways in which inputs go wrong.
fn change(bytes: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut Random) {
    let at = random.index(bytes.len() + 1).unwrap();
    match random.below(7) {
        0 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
        1 => bytes.truncate(at),
        2 => drop(bytes.drain(at..(at + random.below(64) as usize).min(bytes.len()))),
        3 => {
            let word = random.pick(WORDS).unwrap();
            drop(bytes.splice(at..at, word.iter().copied()));
        }
        4 => {
            let end = (at + random.below(256) as usize).min(bytes.len());
            let piece = bytes[at..end].to_vec();
            let to = random.index(bytes.len() + 1).unwrap();
            drop(bytes.splice(to..to, piece));
        }
        5 => {
            let other = random.pick(seeds).unwrap();
            bytes.truncate(at);
            bytes.extend(&other[random.index(other.len() + 1).unwrap()..]);
        }
        _ => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = random.next() as u8;
            }
        }
    }
    bytes.truncate(MOST_BYTES);
}

#[test]
fn every_target_stands_its_seeds_and_changes_of_them() {
    for (name, target) in TARGETS {
        let seeds = seeds(name);
        seeds.iter().for_each(|seed| target(seed));
        let mut random = Random::new(7);
        for _ in 0..CHANGED {
            let mut bytes = random.pick(&seeds).unwrap().clone();
            for _ in 0..1 + random.below(4) {
                change(&mut bytes, &seeds, &mut random);
            }
            target(&bytes);
        }
        println!("{name}: {} seeds, {CHANGED} changes", seeds.len());
    }
}

#[test]
fn every_target_has_a_program() {
    for (name, _) in TARGETS {
        let dir = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz");
        let program = fs_err::read_to_string(dir.join(format!("fuzz_targets/{name}.rs"))).unwrap();
        assert!(program.contains(&format!("reliability::fuzzing::{name}(bytes)")), "{name}");
        let manifest = fs_err::read_to_string(dir.join("Cargo.toml")).unwrap();
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
    }
}
