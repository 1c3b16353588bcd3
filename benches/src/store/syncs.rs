//! How often storing an output waits for the medium, as `strace` counts it.

use std::process::Command;

use anyhow::{Context, Result};

use super::worker::{Job, Side, under};
use crate::scratch::{Scratch, quiet};
use crate::statistics::verdict;

const OUTPUTS: u64 = 50;
const SYNCS: &str = "fsync,fdatasync,sync_file_range,syncfs,msync,sync";
const CHANGES: &str = "openat,mkdirat,linkat,renameat,unlinkat,write,pwrite64,fchmod,fchmodat,\
    ftruncate,utimensat";

pub(super) fn run(scratch: &Scratch) -> Result<()> {
    println!("store: system calls of a durable output, by strace");
    if quiet(Command::new("strace").arg("--version")).status().is_err() {
        println!("  skipped: there is no strace");
        return Ok(());
    }
    // Blobs, directories with the parents that a new process cannot know to be there, and two.
    for (side, what, bar) in [
        (Side::Durable, "syncs of an output of one stream", 1.0 + (1.0 + 1.0) + 2.0),
        (Side::Streams, "syncs of one of two streams and a manifest", 3.0 + (3.0 + 2.0) + 2.0),
    ] {
        verdict(what, each(scratch, side, SYNCS)?, bar, "");
    }
    for (side, what) in [(Side::Durable, "ours"), (Side::Bare, "bare")] {
        println!(
            "  system calls that change or open something, {what}: {:.1}",
            each(scratch, side, CHANGES)?
        );
    }
    Ok(())
}

/// Calls for each output, without those of starting and ending.
fn each(scratch: &Scratch, side: Side, calls: &str) -> Result<f64> {
    let dir = scratch.path("counted");
    // The first makes the store.
    let count = |seed, outputs| -> Result<f64> {
        let job = Job { side, dir: dir.clone(), bytes: 1024, outputs, seed };
        let trace = scratch.path("trace");
        let mut strace = Command::new("strace");
        strace.args(["-f", "-qq", "-e", &format!("trace={calls}"), "-o", trace.as_str()]);
        under(&mut strace, &job).context("strace may not be permitted here")?;
        let lines = fs_err::read_to_string(&trace)?;
        Ok(lines.lines().filter(|line| !line.contains(" resumed>")).count() as f64)
    };
    count(0, 0)?;
    let (without, with) = (count(1, 0)?, count(2, OUTPUTS)?);
    fs_err::remove_dir_all(&dir)?;
    Ok((with - without) / OUTPUTS as f64)
}
