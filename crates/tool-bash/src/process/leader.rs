//! The leader of a process group: the command that was started.
//!
//! Responsible for its life: whoever waits for its exit looks at each SIGCHLD
//! whether it is a zombie, *without* reaping it; only [`Leader::reap`] does that.
//! So as long as there is a [`Leader`], its process id, which is the group's, is
//! nobody else's. A `Leader` that is dropped before that kills the group, and
//! leaves the reaping to a thread.

use std::process::{ChildStderr, ChildStdin, ChildStdout};
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use output_contract::Exit;
use process_wrap::std::{CommandWrap, ProcessSession};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{sleep, timeout};

use super::error::SpawnError;
use super::group::{Life, life};
use super::spec::ProcessSpec;

/// How long SIGKILL may take. Only a process that the kernel cannot interrupt
/// takes longer, and that may be for ever.
const DEATH_WAIT: Duration = Duration::from_secs(5);
/// First and longest pause between two looks at the group.
const LOOK_PAUSES: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(64));

/// How often to look whether it has exited where no signal says so: the host may
/// have put a handler of its own in place of ours.
const MISSED_SIGNAL: Duration = Duration::from_millis(500);

/// A process that was started and is not reaped.
#[derive(Debug)]
pub(super) struct Leader {
    group: Pid,
    waited: OnceLock<Waited>,
    reaped: bool,
}

/// What waiting found.
#[derive(Debug, Clone, Copy)]
enum Waited {
    /// It is a zombie.
    Exited(Exit),
    /// It is not ours to wait for: someone else reaped it.
    Lost,
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
        // Before anything runs: a parent may have left SIGCHLD ignored, and then
        // there would be no exit status.
        let listening = signal(SignalKind::child());
        drop(listening.map_err(|source| {
            let program = spec.program.clone();
            SpawnError::Other { program, source }
        })?);
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
        let leader = Self { group, waited: OnceLock::new(), reaped: false };
        let stdin = child.stdin().take();
        let stdout = child.stdout().take().expect("the command asks for a pipe");
        let stderr = child.stderr().take().expect("the command asks for a pipe");
        Ok(Started { leader, stdin, stdout, stderr })
    }

    /// Waits until it has exited, or is not ours.
    pub(super) async fn exited(&self) {
        // Listening begins before looking, so that no exit falls in between.
        let mut children = signal(SignalKind::child()).ok();
        while self.look().is_none() {
            let told = async {
                match &mut children {
                    Some(children) => children.recv().await,
                    None => std::future::pending().await,
                }
            };
            let _ = timeout(MISSED_SIGNAL, told).await;
        }
    }

    /// What became of it, where it has exited. The zombie stays.
    fn look(&self) -> Option<Waited> {
        if let Some(waited) = self.waited.get() {
            return Some(*waited);
        }
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let waited = match waitid(WaitId::Pid(self.group), options) {
            Ok(None) | Err(Errno::INTR) => return None,
            Ok(Some(status)) => {
                let code = status.exit_status().map(Exit::Code);
                let exit = code.or_else(|| status.terminating_signal().map(Exit::Signal));
                exit.map_or(Waited::Lost, Waited::Exited)
            }
            Err(_) => Waited::Lost,
        };
        Some(*self.waited.get_or_init(|| waited))
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
        if !matches!(self.look(), Some(Waited::Lost)) {
            // Nobody left, or nobody whom we may signal: nothing to do.
            let _ = kill_process_group(self.group, signal);
        }
    }

    /// Reaps it, and leaves what is left of its group alone. `None` where it
    /// cannot be had: it does not die, or someone else reaped it.
    pub(super) fn reap(mut self) -> Option<Exit> {
        let Some(Waited::Exited(exit)) = self.look() else { return None };
        reap(self.group);
        self.reaped = true;
        Some(exit)
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        if self.reaped || matches!(self.look(), Some(Waited::Lost)) {
            return;
        }
        self.signal(Signal::KILL);
        // It dies at once unless the kernel is busy with it. Without a thread
        // the zombie stays until this process ends.
        let group = self.group;
        let _ = thread::Builder::new().name("reaper".to_owned()).spawn(move || reap(group));
    }
}

/// Takes a zombie away, once it is one.
fn reap(pid: Pid) {
    while let Err(Errno::INTR) = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED) {}
}
