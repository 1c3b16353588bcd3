//! Capture of a large text, against copying and hashing it.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Result;
use camino::Utf8Path;
use fs_err::File;
use sha2::{Digest, Sha256};

use crate::process::{self, Cost};
use crate::scratch::{Scratch, quiet};
use crate::statistics::{Sample, ratio, verdict};

/// What a run took, by side.
#[derive(Debug, Default)]
struct Side {
    wall: Sample,
    cpu: Sample,
    system: Sample,
}

impl Side {
    fn push(&mut self, cost: Cost) {
        self.wall.push_seconds(cost.wall);
        self.cpu.push_seconds(cost.cpu);
        self.system.push_seconds(cost.system);
    }

    fn print(&self, what: &str) {
        let (wall, cpu, system) = (self.wall.median(), self.cpu.median(), self.system.median());
        let least = self.wall.least();
        println!(
            "  {what:<40} wall {wall:.3} s (least {least:.3}), own CPU {cpu:.2} s ({system:.2} system)"
        );
    }
}

pub(crate) fn run(scratch: &Scratch, mib: u64, runs: usize) -> Result<()> {
    println!("capture: {mib} MiB of text, {runs} runs after one to warm up");
    let file = scratch.text_file("text", mib)?;
    let copy = scratch.path("copy");
    let [mut ours, mut cat, mut sha, mut tee, mut pipe]: [Side; 5] = Default::default();
    for run in 0..=runs {
        let costs = [
            overspill(scratch, &file)?,
            copying(&file, &copy)?,
            hashing(&file)?,
            shell(r#"cat "$0" | tee "$1" | openssl dgst -sha256"#, &file, &copy)?,
            shell(r#"cat "$0" | cat"#, &file, &copy)?,
        ];
        if run > 0 {
            let sides = [&mut ours, &mut cat, &mut sha, &mut tee, &mut pipe];
            sides.into_iter().zip(costs).for_each(|(side, cost)| side.push(cost));
        }
    }
    ours.print("overspill run -- cat FILE");
    cat.print("cat FILE > COPY");
    sha.print("sha2 of FILE");
    tee.print("cat FILE | tee COPY | openssl dgst");
    pipe.print("cat FILE | cat > /dev/null");
    let copy_and_hash = cat.cpu.with(&sha.cpu, |cat, sha| cat + sha);
    let limit = pipe.wall.with(&sha.wall, f64::max);
    verdict("own CPU / (cat > COPY + sha2)", ratio(&ours.cpu, &copy_and_hash), 1.15, "");
    verdict("wall / tee pipeline", ratio(&ours.wall, &tee.wall), 0.6, "");
    println!(
        "  wall / the longer of the pipe and one SHA-256 (the limit): {:.3}",
        ratio(&ours.wall, &limit)
    );
    Ok(())
}

fn overspill(scratch: &Scratch, file: &Utf8Path) -> Result<Cost> {
    let home = scratch.home("home", "fast")?;
    process::run(home.overspill()?.args(["run", "--", "cat", file.as_str()]))
}

fn copying(file: &Utf8Path, copy: &Utf8Path) -> Result<Cost> {
    let mut command = Command::new("cat");
    quiet(command.arg(file)).stdout(Stdio::from(File::create(copy)?.into_parts().0));
    let cost = process::run(&mut command);
    fs_err::remove_file(copy)?;
    cost
}

fn hashing(file: &Utf8Path) -> Result<Cost> {
    let mut command = Command::new(std::env::current_exe()?);
    process::run(quiet(command.args(["--sha256", file.as_str()])))
}

/// The cost of the whole pipeline; its CPU time is that of its members, and not measured.
fn shell(line: &str, file: &Utf8Path, copy: &Utf8Path) -> Result<Cost> {
    let mut command = Command::new("sh");
    let cost = process::run(quiet(command.args(["-c", line, file.as_str(), copy.as_str()])))?;
    if copy.exists() {
        fs_err::remove_file(copy)?;
    }
    Ok(Cost { cpu: Duration::ZERO, system: Duration::ZERO, ..cost })
}

/// Hashes a file on one thread.
pub(crate) fn hash(file: &Utf8Path) -> Result<()> {
    let (mut file, mut hasher) = (File::open(file)?, Sha256::new());
    let mut buffer = vec![0; 128 * 1024];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            read => hasher.update(&buffer[..read]),
        }
    }
    let digest: [u8; 32] = hasher.finalize().into();
    println!("{digest:02x?}");
    Ok(())
}
