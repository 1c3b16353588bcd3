//! Collecting half of a large store: how long it takes, and how much memory.

use std::process::Command;

use anyhow::{Result, ensure};
use camino::Utf8Path;

use super::populated::{self, Records};
use crate::process::{self, Cost};
use crate::scratch::{Home, Scratch, quiet};
use crate::statistics::{Sample, ratio, verdict};

const BLOBS: usize = 200_000;

/// What the stores keep.
pub(super) fn records(scratch: &Scratch) -> Result<Records> {
    Records::make(scratch, "records", BLOBS)
}

/// `overspill gc`, against `find -type f -delete` on a copy of all blobs.
pub(super) fn speed(scratch: &Scratch, records: &Records, runs: usize) -> Result<()> {
    println!(
        "store: collecting {BLOBS} blobs, half of them retained, on {}, {runs} runs",
        scratch.medium()?
    );
    let [mut ours, mut find]: [Sample; 2] = Default::default();
    for run in 0..=runs {
        let home = scratch.home("home", "fast")?;
        records.populate(&home.dir)?;
        let copy = scratch.path("copy");
        records.copy(&copy)?;
        // What was written just now may be in the way of whoever comes first.
        let costs = if run % 2 == 0 {
            [collect(&home)?, delete(&copy)?]
        } else {
            let find = delete(&copy)?;
            [collect(&home)?, find]
        };
        fs_err::remove_dir_all(&copy)?;
        if run > 0 {
            ours.push_seconds(costs[0].wall);
            find.push_seconds(costs[1].wall);
        }
    }
    println!("  overspill gc {:.3} s, find {:.3} s", ours.median(), find.median());
    verdict("overspill gc / find COPY -type f -delete", ratio(&ours, &find), 1.0, "");
    Ok(())
}

/// What `gc` of a large store takes more than that of an empty one.
pub(super) fn memory(scratch: &Scratch, records: &Records, runs: usize) -> Result<()> {
    println!("store: peak memory of collecting the same, {runs} runs");
    let [mut large, mut small]: [Sample; 2] = Default::default();
    for _ in 0..runs {
        let home = scratch.home("home", "fast")?;
        records.populate(&home.dir)?;
        large.push(process::peak(&mut gc(&home)?)?.all as f64);
        half_is_left(&home)?;
        let home = scratch.home("empty", "fast")?;
        populated::empty(&home.dir)?;
        small.push(process::peak(&mut gc(&home)?)?.all as f64);
    }
    println!("  {:.1} MiB, empty {:.1} MiB", large.median() / 1024.0, small.median() / 1024.0);
    let each = (large.median() - small.median()) * 1024.0 / BLOBS as f64;
    verdict("more memory for each blob", each, 100.0, " bytes");
    Ok(())
}

fn gc(home: &Home) -> Result<Command> {
    let mut gc = home.overspill()?;
    gc.args(["gc", "--grace", "0s"]);
    Ok(gc)
}

fn collect(home: &Home) -> Result<Cost> {
    let cost = process::run(&mut gc(home)?)?;
    half_is_left(home)?;
    Ok(cost)
}

fn half_is_left(home: &Home) -> Result<()> {
    let left = populated::count(&home.dir.join("store/blobs/sha256"))?;
    ensure!(left == BLOBS / 2, "{left} blobs are left");
    Ok(())
}

fn delete(copy: &Utf8Path) -> Result<Cost> {
    let mut find = Command::new("find");
    let cost = process::run(quiet(find.args([copy.as_str(), "-type", "f", "-delete"])))?;
    ensure!(populated::count(copy)? == 0, "find left something");
    Ok(cost)
}
