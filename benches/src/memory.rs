//! Peak memory of the program, by the size of what it stores and by calls at once.

use anyhow::{Context, Result};

use crate::process::{self, Peak};
use crate::scratch::Scratch;
use crate::statistics::{Sample, verdict};

const LARGE_MIB: u64 = 2048;
const CALLS: usize = 8;

pub(crate) fn run(scratch: &Scratch, runs: usize) -> Result<()> {
    println!("memory: peak resident, {runs} runs");
    let [mut small, mut large, mut one, mut shared, mut eight]: [Sample; 5] = Default::default();
    for _ in 0..runs {
        small.push(peak(scratch, 1)?.all as f64);
        large.push(peak(scratch, LARGE_MIB)?.all as f64);
        let peak = peak(scratch, 64)?;
        one.push(peak.all as f64);
        shared.push(peak.shared as f64);
        eight.push(together(scratch, 64)?);
    }
    let mib = |sample: &Sample| sample.median() / 1024.0;
    println!("  of 1 MiB {:.2} MiB, of {LARGE_MIB} MiB {:.2} MiB", mib(&small), mib(&large));
    println!("  of 64 MiB {:.2} MiB, {CALLS} at once {:.2} MiB in all", mib(&one), mib(&eight));
    let once = mib(&eight) - mib(&shared) * (CALLS - 1) as f64;
    println!(
        "  with the {:.2} MiB of program that they share counted once {once:.2} MiB",
        mib(&shared)
    );
    verdict("more for 2 GiB than for 1 MiB", mib(&large) - mib(&small), 8.0, " MiB");
    let ratio = eight.median() / one.median();
    verdict("eight at once / one", ratio, CALLS as f64, "");
    Ok(())
}

fn peak(scratch: &Scratch, mib: u64) -> Result<Peak> {
    let home = scratch.home("home", "fast")?;
    let bytes = format!("{mib}M");
    let mut command = home.overspill()?;
    command.args(["run", "--", "sh", "-c", r#"yes "some line of output" | head -c "$0""#, &bytes]);
    process::peak(&mut command)
}

/// The sum of the peaks of calls on one store.
fn together(scratch: &Scratch, mib: u64) -> Result<f64> {
    let home = scratch.home("shared", "fast")?;
    let bytes = format!("{mib}M");
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..CALLS)
            .map(|call| {
                let (home, bytes) = (&home, &bytes);
                scope.spawn(move || {
                    let mut command = home.overspill()?;
                    let line = format!(r#"yes "line of call {call}" | head -c "$0""#);
                    command.args(["run", "--", "sh", "-c", &line, bytes]);
                    process::peak(&mut command)
                })
            })
            .collect();
        let mut sum = 0;
        for call in calls {
            sum += call.join().ok().context("a call panicked")??.all;
        }
        Ok(sum as f64)
    })
}
