//! Opening a store of very many blobs, against an empty one.

use std::time::Instant;

use anyhow::Result;
use artifact_store::{LocalStore, StoreOptions};
use artifacts::Durability;

use super::populated;
use crate::process;
use crate::scratch::{Home, Scratch};
use crate::statistics::{Sample, verdict};

const BLOBS: u64 = 1_000_000;
/// What the names of that many files take, with room to spare.
const INODES: u64 = BLOBS + BLOBS / 10;
const MEMORY_KIB: u64 = 2 * 1024 * 1024;
/// A run is short, so there are more of them.
const MORE: usize = 10;

pub(super) fn run(scratch: &Scratch, runs: usize) -> Result<()> {
    println!("store: opening one of {BLOBS} blobs, on {}, {} runs", scratch.medium()?, runs * MORE);
    if let Some(why) = scratch.lacks(INODES, MEMORY_KIB)? {
        println!("  skipped: {why}");
        return Ok(());
    }
    let homes = [scratch.home("full", "fast")?, scratch.home("empty", "fast")?];
    populated::linked(&homes[0].dir, BLOBS)?;
    populated::empty(&homes[1].dir)?;
    let mut opened: [Sample; 2] = Default::default();
    let mut listed: [Sample; 2] = Default::default();
    for run in 0..=runs * MORE {
        for ((home, opened), listed) in homes.iter().zip(&mut opened).zip(&mut listed) {
            let times = [open(home)?, list(home)?];
            if run > 0 {
                opened.push(times[0]);
                listed.push(times[1]);
            }
        }
    }
    for (what, [full, empty]) in [("LocalStore::open", &opened), ("overspill ls", &listed)] {
        let (full, empty) = (full.median(), empty.median());
        println!("  {what}: {full:.3} ms, empty {empty:.3} ms");
        verdict(&format!("{what}, more than of an empty one"), full - empty, 5.0, " ms");
    }
    Ok(())
}

/// Milliseconds.
fn open(home: &Home) -> Result<f64> {
    let options = StoreOptions { durability: Durability::Fast, ..StoreOptions::default() };
    let dir = home.dir.join("store");
    let start = Instant::now();
    let store = LocalStore::open(&dir, options)?;
    let took = start.elapsed();
    drop(store);
    Ok(took.as_secs_f64() * 1e3)
}

fn list(home: &Home) -> Result<f64> {
    Ok(process::run(home.overspill()?.arg("ls"))?.wall.as_secs_f64() * 1e3)
}
