//! Peak memory of the program, by the size of what it stores and by calls at once.

use anyhow::{Context, Result};

use crate::process;
use crate::scratch::Scratch;
use crate::statistics::{Sample, verdict};

const LARGE_MIB: u64 = 2048;
const CALLS: usize = 8;

pub(crate) fn run(scratch: &Scratch, runs: usize) -> Result<()> {
    println!("memory: peak resident, {runs} runs");
    let [mut small, mut large, mut one, mut eight]: [Sample; 4] = Default::default();
    for _ in 0..runs {
        small.push(peak(scratch, 1, "home")?);
        large.push(peak(scratch, LARGE_MIB, "home")?);
        one.push(peak(scratch, 64, "home")?);
        eight.push(together(scratch, 64)?);
    }
    let mib = |sample: &Sample| sample.median() / 1024.0;
    println!("  of 1 MiB {:.2} MiB, of {LARGE_MIB} MiB {:.2} MiB", mib(&small), mib(&large));
    println!("  of 64 MiB {:.2} MiB, {CALLS} at once {:.2} MiB in all", mib(&one), mib(&eight));
    verdict("more for 2 GiB than for 1 MiB", mib(&large) - mib(&small), 8.0, " MiB");
    let ratio = eight.median() / one.median();
    verdict("eight at once / one", ratio, CALLS as f64, "");
    Ok(())
}

fn peak(scratch: &Scratch, mib: u64, name: &str) -> Result<f64> {
    let home = scratch.home(name, "fast")?;
    let bytes = format!("{mib}M");
    let mut command = home.overspill()?;
    command.args(["run", "--", "sh", "-c", r#"yes "some line of output" | head -c "$0""#, &bytes]);
    Ok(process::peak_kib(&mut command)? as f64)
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
                    process::peak_kib(&mut command)
                })
            })
            .collect();
        let mut sum = 0;
        for call in calls {
            sum += call.join().ok().context("a call panicked")??;
        }
        Ok(sum as f64)
    })
}
