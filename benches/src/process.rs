//! Running a program and asking the kernel what it cost.

use std::process::{Child, Command};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// What a process cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    /// From before it was started to its exit.
    pub(crate) wall: Duration,
    /// CPU time of its own threads, without its children; in the kernel's ticks.
    pub(crate) cpu: Duration,
    /// Of that, in the kernel.
    pub(crate) system: Duration,
}

/// Runs a command that must succeed.
pub(crate) fn run(command: &mut Command) -> Result<Cost> {
    let start = Instant::now();
    let mut child = start_child(command)?;
    let exited = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(Pid::from_child(&child)), exited)?;
    let wall = start.elapsed();
    // A zombie still tells what it used.
    let (user, system) = ticks(child.id())?;
    let status = child.wait()?;
    ensure!(status.success(), "{command:?}: {status}");
    Ok(Cost { wall, cpu: user + system, system })
}

/// Resident memory at its peak, in KiB.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Peak {
    /// All of it.
    pub(crate) all: u64,
    /// The pages of files among it: of the program and its libraries, which all
    /// processes that run them share.
    pub(crate) shared: u64,
}

/// Runs a command and watches its resident memory.
pub(crate) fn peak(command: &mut Command) -> Result<Peak> {
    let mut child = start_child(command)?;
    let path = format!("/proc/{}/status", child.id());
    let mut peak = Peak::default();
    loop {
        // They only ever grow, so that the last look before the exit is the one that counts.
        if let Ok(status) = fs_err::read_to_string(&path) {
            peak.all = field(&status, "VmHWM:").unwrap_or(0).max(peak.all);
            peak.shared = field(&status, "RssFile:").unwrap_or(0).max(peak.shared);
        }
        if let Some(status) = child.try_wait()? {
            ensure!(status.success(), "{command:?}: {status}");
            return Ok(peak);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Forgets the peak of this process, and returns its resident memory in KiB.
pub(crate) fn reset_own_peak() -> Result<u64> {
    // See proc(5): 5 resets `VmHWM` to what is resident now.
    fs_err::write("/proc/self/clear_refs", "5")?;
    own_peak_kib()
}

/// The peak of the resident memory of this process, in KiB.
pub(crate) fn own_peak_kib() -> Result<u64> {
    field(&fs_err::read_to_string("/proc/self/status")?, "VmHWM:").context("no VmHWM")
}

fn start_child(command: &mut Command) -> Result<Child> {
    command.spawn().with_context(|| format!("could not start {command:?}"))
}

/// A number of a file of the kernel's, by the name before it.
pub(crate) fn field(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// User and system time.
fn ticks(pid: u32) -> Result<(Duration, Duration)> {
    let stat = fs_err::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name is in parentheses and may contain anything.
    let fields = stat.rsplit_once(')').context("no process name")?.1;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let time = |index: usize| -> Result<Duration> {
        let ticks: u64 = fields.get(index).context("too few fields")?.parse()?;
        let second = rustix::param::clock_ticks_per_second();
        Ok(Duration::from_secs_f64(ticks as f64 / second as f64))
    };
    Ok((time(11)?, time(12)?))
}
