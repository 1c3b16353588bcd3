//! The supervisor: starts workers, kills and stops them, and starts them again.

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use reliability::Random;
use rustix::process::{Pid, Signal, kill_process};

use crate::options::{Options, Role};
use crate::place::Place;

/// The workers, by name and by what they mostly do.
const WORKERS: [(&str, Role); 7] = [
    ("writer-1", Role::Writer),
    ("writer-2", Role::Writer),
    ("writer-3", Role::Writer),
    ("reader-1", Role::Reader),
    ("reader-2", Role::Reader),
    ("collector-1", Role::Collector),
    ("collector-2", Role::Collector),
];
/// How long a worker may take to end once it is told to.
const END: Duration = Duration::from_secs(120);
/// How long a worker may take to come to its point.
const SPARED: Duration = Duration::from_secs(4);

/// What the supervisor did, and what went wrong.
#[derive(Debug, Default)]
pub(crate) struct Supervised {
    pub(crate) kills: u64,
    pub(crate) named_kills: u64,
    pub(crate) stops: u64,
    pub(crate) starts: u64,
    pub(crate) failures: Vec<String>,
}

#[derive(Debug)]
struct Running {
    name: &'static str,
    role: Role,
    child: Child,
    /// A worker with a point to come to is not killed before.
    spared_until: Option<Instant>,
    killed: bool,
    stopped_until: Option<Instant>,
}

/// The names of all workers.
pub(crate) fn names() -> Vec<String> {
    WORKERS.iter().map(|(name, _)| (*name).to_owned()).collect()
}

/// Lets the workers work for so long, under fire.
pub(crate) fn run(place: &Place, options: &Options, random: &mut Random) -> Result<Supervised> {
    let mut done = Supervised::default();
    let mut running = Vec::new();
    for (name, role) in WORKERS {
        running.push(start(place, options, name, role, random, &mut done)?);
    }
    let end = Instant::now() + Duration::from_secs(options.seconds());
    while Instant::now() < end && done.failures.is_empty() {
        std::thread::sleep(Duration::from_millis(5 + random.below(60)));
        for worker in &mut running {
            worker.wake(false)?;
            if let Some(status) = worker.child.try_wait()? {
                judge(worker, status, false, &mut done);
                let (name, role) = (worker.name, worker.role);
                *worker = start(place, options, name, role, random, &mut done)?;
            }
        }
        let Some(index) = random.index(running.len()) else { continue };
        match random.below(100) {
            0..30 => running[index].kill(&mut done)?,
            30..50 => running[index].stop(random, &mut done)?,
            _ => {}
        }
    }
    place.stop()?;
    finish(running, &mut done)?;
    Ok(done)
}

fn start(
    place: &Place,
    options: &Options,
    name: &'static str,
    role: Role,
    random: &mut Random,
    done: &mut Supervised,
) -> Result<Running> {
    let mut command = Command::new(std::env::current_exe().context("where this program is")?);
    command.args(["--dir", place.dir().as_str(), "--worker", name]);
    command.args(["--role", &Options::value_name(&role)?]);
    command.args(["--seed", &random.next().to_string()]);
    if let Some(fault) = options.fault {
        command.args(["--fault", &Options::value_name(&fault)?]);
    }
    let pointed = role != Role::Reader && random.percent(60);
    if pointed {
        command.arg("--pointed");
    }
    let spared_until = pointed.then(|| Instant::now() + SPARED);
    let child = command.stdin(Stdio::null()).spawn().context("start a worker")?;
    done.starts += 1;
    Ok(Running { name, role, child, spared_until, killed: false, stopped_until: None })
}

/// A worker ends by itself only when all are told to, and well.
fn judge(worker: &Running, status: std::process::ExitStatus, may_end: bool, done: &mut Supervised) {
    let is_killed = status.signal() == Some(Signal::KILL.as_raw());
    match (is_killed, worker.killed) {
        (true, true) => done.kills += 1,
        (true, false) => done.named_kills += 1,
        _ if status.success() && may_end => {}
        _ => done.failures.push(format!("{}: {status}", worker.name)),
    }
}

/// Waits for all to end.
fn finish(mut running: Vec<Running>, done: &mut Supervised) -> Result<()> {
    // All of them, before any is waited for: one that is stopped may have locked
    // what another waits for.
    for worker in &mut running {
        worker.wake(true)?;
    }
    let end = Instant::now() + END;
    for mut worker in running {
        let status = loop {
            if let Some(status) = worker.child.try_wait()? {
                break status;
            }
            if Instant::now() > end {
                done.failures.push(format!("{} does not end", worker.name));
                worker.child.kill()?;
                worker.killed = true;
                break worker.child.wait()?;
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        judge(&worker, status, true, done);
    }
    Ok(())
}

impl Running {
    fn kill(&mut self, done: &mut Supervised) -> Result<()> {
        if self.spared_until.is_some_and(|until| Instant::now() < until) {
            return Ok(());
        }
        // It may have come to its own end in between.
        if self.child.try_wait()?.is_none() && done.failures.is_empty() {
            self.killed = true;
            self.child.kill()?;
        }
        Ok(())
    }

    fn stop(&mut self, random: &mut Random, done: &mut Supervised) -> Result<()> {
        if self.stopped_until.is_none() && self.child.try_wait()?.is_none() {
            self.signal(Signal::STOP)?;
            let span = if random.percent(10) { 3000 } else { 300 };
            let span = Duration::from_millis(random.below(span));
            self.stopped_until = Some(Instant::now() + span);
            done.stops += 1;
        }
        Ok(())
    }

    fn wake(&mut self, now: bool) -> Result<()> {
        if self.stopped_until.is_some_and(|until| now || until <= Instant::now()) {
            self.stopped_until = None;
            self.signal(Signal::CONT)?;
        }
        Ok(())
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        // Not reaped yet, so that the id is still its own.
        Ok(kill_process(Pid::from_child(&self.child), signal)?)
    }
}
