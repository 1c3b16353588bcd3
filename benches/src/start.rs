//! What a command costs that writes nothing, and the parts of it.

use std::process::Command;

use anyhow::Result;

use crate::process;
use crate::scratch::{Home, Scratch, quiet};
use crate::statistics::{Sample, verdict};

/// A run is short, so there are more of them.
const MORE: usize = 10;

pub(crate) fn run(memory: &Scratch, disk: &Scratch, runs: usize) -> Result<()> {
    let runs = runs * MORE;
    println!("start: `true`, {runs} runs after one to warm up; medians");
    let fast = memory.home("fast", "fast")?;
    let empty = memory.home("empty", "fast")?;
    let durable = disk.home("durable", "durable")?;
    let mut sides: [Sample; 8] = Default::default();
    for run in 0..=runs {
        let walls = [
            bash(&["-c", "true"])?,
            wall(quiet(&mut Command::new("true")))?,
            ours(&fast, &["--version"])?,
            ours(&fast, &["config"])?,
            ours(&empty, &["ls"])?,
            ours(&fast, &["run", "--", "true"])?,
            ours(&durable, &["run", "--", "true"])?,
            sync(disk)?,
        ];
        if run > 0 {
            sides.iter_mut().zip(walls).for_each(|(side, wall)| side.push(wall));
        }
    }
    let [bash, command, version, config, home, fast, durable, sync] =
        sides.each_ref().map(Sample::median);
    println!("  bash -c true                      {bash:>8.3} ms");
    println!("  the program true by itself        {command:>8.3} ms");
    println!("  process start (--version)         {version:>8.3} ms");
    println!("  + runtime, configuration          {:>8.3} ms", config - version);
    println!("  + store, logs, recovery           {:>8.3} ms", home - config);
    println!("  + running true                    {command:>8.3} ms");
    println!("  + capture, publish, save          {:>8.3} ms", fast - home - command);
    println!("  = run -- true, fast               {fast:>8.3} ms");
    println!("  + syncs                           {:>8.3} ms", durable - fast);
    println!("  = run -- true, durable            {durable:>8.3} ms");
    println!("  one fdatasync of a new file there {sync:>8.3} ms");
    verdict("added to bash -c true, fast", fast - bash, 2.0, " ms");
    verdict("added to bash -c true, durable", durable - bash, 5.0, " ms");
    Ok(())
}

fn bash(args: &[&str]) -> Result<f64> {
    wall(quiet(Command::new("bash").args(args)))
}

fn ours(home: &Home, args: &[&str]) -> Result<f64> {
    wall(home.overspill()?.args(args))
}

fn wall(command: &mut Command) -> Result<f64> {
    Ok(process::run(command)?.wall.as_secs_f64() * 1e3)
}

fn sync(disk: &Scratch) -> Result<f64> {
    let path = disk.path("synced");
    fs_err::write(&path, [0; 256])?;
    let file = fs_err::File::open(&path)?;
    let start = std::time::Instant::now();
    file.sync_data()?;
    let took = start.elapsed();
    fs_err::remove_file(&path)?;
    Ok(took.as_secs_f64() * 1e3)
}
