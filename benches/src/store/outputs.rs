//! What an output costs: stored and read back, against others who do the same bytes.

use anyhow::Result;

use super::worker::{Job, Side, together};
use crate::scratch::Scratch;
use crate::statistics::{Sample, ratio, verdict};

const KIB: usize = 1024;
const SIZES: [usize; 2] = [KIB, 64 * KIB];
const PROCESSES: [u64; 2] = [1, 8];
/// Outputs of a run, over all of its processes.
const OUTPUTS: u64 = 1600;
const DURABLE_OUTPUTS: u64 = 160;

/// Ours, without waiting for the medium, against `cacache`.
pub(super) fn fast(scratch: &Scratch, runs: usize) -> Result<()> {
    println!("store: outputs stored and read back, fast, on {}, {runs} runs", scratch.medium()?);
    println!("  ours: a locked capture, one blob, lease, root; opened and read by digest");
    println!("  cacache: write_sync (a blob and an index entry), read_hash_sync");
    against(scratch, [Side::Fast, Side::Cacache], OUTPUTS, runs, 1.0)
}

/// Ours, waiting for the medium, against the system calls alone.
pub(super) fn durable(scratch: &Scratch, runs: usize) -> Result<()> {
    println!("store: outputs stored and read back, durable, on {}, {runs} runs", scratch.medium()?);
    println!("  bare: the system calls of ours that change something, and a read");
    against(scratch, [Side::Durable, Side::Bare], DURABLE_OUTPUTS, runs, 1.25)
}

fn against(scratch: &Scratch, sides: [Side; 2], outputs: u64, runs: usize, bar: f64) -> Result<()> {
    for bytes in SIZES {
        for processes in PROCESSES {
            let [mut ours, mut theirs]: [Sample; 2] = Default::default();
            let dirs = ["ours", "theirs"].map(|name| scratch.path(name));
            for run in 0..=runs as u64 {
                let mut took = Vec::new();
                for (side, dir) in sides.iter().zip(&dirs) {
                    let job = |process| Job {
                        side: *side,
                        dir: dir.clone(),
                        bytes,
                        outputs: outputs / processes,
                        seed: run * 1000 + process,
                    };
                    took.push(together(&(0..processes).map(job).collect::<Vec<_>>())?);
                }
                if run > 0 {
                    ours.push_seconds(took[0]);
                    theirs.push_seconds(took[1]);
                }
            }
            for dir in &dirs {
                fs_err::remove_dir_all(dir)?;
            }
            let each = |sample: &Sample| sample.median() * 1e6 / outputs as f64;
            let what = format!("{} KiB, {processes} at once, time", bytes / KIB);
            let (us, them) = (each(&ours), each(&theirs));
            println!("  an output: ours {us:.1} µs, theirs {them:.1} µs");
            verdict(&what, ratio(&ours, &theirs), bar, "");
        }
    }
    Ok(())
}
