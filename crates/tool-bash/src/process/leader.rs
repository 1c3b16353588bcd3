//! The leader of a process group: the command that was started.
//!
//! Responsible for its life: a thread of its own waits for its exit *without*
//! reaping it; only the [`Leader`] does that, or that thread once the `Leader`
//! is gone. So as long as there is a `Leader`, its process id, which is the
//! group's, is nobody else's. A `Leader` that is dropped before
//! [`Leader::reap`] kills the group.

use std::process::{ChildStderr, ChildStdin, ChildStdout};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use output_contract::Exit;
use process_wrap::std::{CommandWrap, ProcessSession};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::error::SpawnError;
use super::group::{Life, life};
use super::spec::ProcessSpec;

/// How long SIGKILL may take. Only a process that the kernel cannot interrupt
/// takes longer, and that may be for ever.
const DEATH_WAIT: Duration = Duration::from_secs(5);
/// First and longest pause between two looks at the group.
const LOOK_PAUSES: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(64));

/// A process that was started and is not reaped.
#[derive(Debug)]
pub(super) struct Leader {
    group: Pid,
    exit: watch::Receiver<Option<Waited>>,
    /// `None` once it is reaped.
    keeper: Option<Keeper>,
}

/// What waiting found.
#[derive(Debug, Clone, Copy)]
enum Waited {
    /// It is a zombie.
    Exited(Exit),
    /// It is not ours to wait for: someone else reaped it.
    Lost,
}

/// The thread that waits. Where this is dropped, it reaps.
#[derive(Debug)]
struct Keeper(mpsc::Sender<Fact>);

/// What the thread is told of the process.
#[derive(Debug)]
enum Fact {
    Started(Pid),
    Reaped,
}

/// A process and its pipes.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) leader: Leader,
    /// Where the spec asks for a pipe.
    pub(super) stdin: Option<ChildStdin>,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
}

impl Leader {
    /// Starts the process. It blocks until the process runs or cannot: for as
    /// long as the system takes to `fork` and `exec`.
    pub(super) fn start(spec: &ProcessSpec) -> Result<Started, SpawnError> {
        let (exit, exited) = watch::channel(None);
        let (facts, known) = mpsc::channel();
        // First, so that nothing runs that nobody waits for.
        thread::Builder::new()
            .name("process-keeper".to_owned())
            .spawn(move || keep(&exit, &known))
            .map_err(|source| SpawnError::Other { program: spec.program.clone(), source })?;
        // A session of its own, and so a group of its own: without a terminal, a
        // program that asks for a password on /dev/tty fails at once instead of
        // being stopped for good.
        let mut child = match CommandWrap::from(spec.command()).wrap(ProcessSession).spawn() {
            // Without its wrapper: only the leader is waited for here.
            Ok(child) => child.into_inner(),
            Err(error) => return Err(SpawnError::diagnose(error, spec)),
        };
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let group = group.expect("a process has a positive id that fits pid_t");
        let _ = facts.send(Fact::Started(group));
        let leader = Self { group, exit: exited, keeper: Some(Keeper(facts)) };
        let stdin = child.stdin().take();
        let stdout = child.stdout().take().expect("the command asks for a pipe");
        let stderr = child.stderr().take().expect("the command asks for a pipe");
        Ok(Started { leader, stdin, stdout, stderr })
    }

    /// Waits until it has exited, or is not ours.
    pub(super) async fn exited(&self) {
        // The sender lives until the thread has reaped.
        let _ = self.exit.clone().wait_for(Option::is_some).await;
    }

    /// Asks the whole group to end, gives it time, and kills it. Says who of
    /// it is still alive then.
    pub(super) async fn end_group(&self, first: Signal, grace: Duration) -> Life {
        self.signal(first);
        // Who is stopped cannot act on it.
        self.signal(Signal::CONT);
        let ended_by_itself = async {
            if self.until_dead().await == Life::Unknown {
                std::future::pending::<()>().await;
            }
        };
        let _ = timeout(grace, ended_by_itself).await;
        self.signal(Signal::KILL);
        timeout(DEATH_WAIT, self.until_dead()).await.unwrap_or(Life::Alive)
    }

    /// Waits until nobody of the group is alive, or the leader is dead and the
    /// rest unknown.
    async fn until_dead(&self) -> Life {
        self.exited().await;
        let group = self.group;
        let (mut pause, longest) = LOOK_PAUSES;
        loop {
            let look = tokio::task::spawn_blocking(move || life(group)).await;
            match look.unwrap_or(Life::Unknown) {
                Life::Alive => sleep(pause).await,
                known => return known,
            }
            pause = longest.min(pause * 2);
        }
    }

    fn signal(&self, signal: Signal) {
        if !matches!(*self.exit.borrow(), Some(Waited::Lost)) {
            // Nobody left, or nobody whom we may signal: nothing to do.
            let _ = kill_process_group(self.group, signal);
        }
    }

    /// Reaps it, and leaves what is left of its group alone. `None` where it
    /// cannot be had: it does not die, or someone else reaped it.
    pub(super) fn reap(mut self) -> Option<Exit> {
        let waited = *self.exit.borrow();
        if let Some(Waited::Exited(exit)) = waited
            && let Some(Keeper(keeper)) = self.keeper.take()
        {
            reap(self.group);
            let _ = keeper.send(Fact::Reaped);
            return Some(exit);
        }
        None
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        if self.keeper.is_some() {
            self.signal(Signal::KILL);
        }
    }
}

/// The life of a keeper thread.
fn keep(exit: &watch::Sender<Option<Waited>>, known: &mpsc::Receiver<Fact>) {
    let Ok(Fact::Started(pid)) = known.recv() else { return };
    exit.send_replace(Some(wait(pid)));
    if known.recv().is_err() {
        reap(pid);
    }
}

/// Takes away a zombie.
fn reap(pid: Pid) {
    while let Err(Errno::INTR) = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED) {}
}

/// Waits for the exit and leaves the zombie.
fn wait(pid: Pid) -> Waited {
    loop {
        match waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
            Ok(Some(status)) => {
                let code = status.exit_status().map(Exit::Code);
                let exit = code.or_else(|| status.terminating_signal().map(Exit::Signal));
                return exit.map_or(Waited::Lost, Waited::Exited);
            }
            Err(Errno::INTR) => {}
            Ok(None) | Err(_) => return Waited::Lost,
        }
    }
}
