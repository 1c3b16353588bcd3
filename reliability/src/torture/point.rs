//! Named points: before or after the n-th system call of a kind in a part of
//! the store, at which a worker kills itself or holds still.

use std::fmt;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::options::Role;
use anyhow::Result;
use artifacts::fs::{Fs, Interposer, Operation, OperationKind, Verdict};
use camino::Utf8Path;
use reliability::Random;
use rustix::process::{Signal, getpid, kill_process};

use OperationKind::{
    Create, Link, Lock, MakeDir, Read, RemoveDir, Rename, SyncDir, SyncFile, Touch, Truncate,
    Unlink, Write as WriteBytes,
};

/// Calls of a worker that publishes and releases, by the part of the store
/// that they go to.
const WRITING: &[(OperationKind, &str)] = &[
    (MakeDir, "blobs"),
    (MakeDir, "captures"),
    (MakeDir, "manifests"),
    (RemoveDir, "captures"),
    (Create, "captures"),
    (Create, "leases"),
    (Create, "owners"),
    (Create, "roots"),
    (WriteBytes, "captures"),
    (WriteBytes, "leases"),
    (WriteBytes, "owners"),
    (WriteBytes, "roots"),
    (SyncFile, "captures"),
    (SyncFile, "roots"),
    (SyncDir, "blobs"),
    (SyncDir, "manifests"),
    (SyncDir, "roots"),
    (Touch, "blobs"),
    (Touch, "manifests"),
    (Touch, "roots"),
    (Link, "blobs"),
    (Link, "manifests"),
    (Rename, "captures"),
    (Rename, "index"),
    (Unlink, "captures"),
    (Lock, "captures"),
    (Lock, "leases"),
    (Lock, "locks"),
    (Lock, "owners"),
    (Lock, "roots"),
];
/// Calls of one that collects.
const COLLECTING: &[(OperationKind, &str)] = &[
    (MakeDir, "trash"),
    (RemoveDir, "trash"),
    (Create, "expired"),
    (Create, "roots"),
    (WriteBytes, "expired"),
    (WriteBytes, "owners"),
    (WriteBytes, "roots"),
    (Touch, "locks"),
    (Truncate, "owners"),
    (Rename, "roots"),
    (Rename, "trash"),
    (Unlink, "captures"),
    (Unlink, "leases"),
    (Unlink, "roots"),
    (Unlink, "trash"),
    (Lock, "captures"),
    (Lock, "leases"),
    (Lock, "locks"),
    (Lock, "owners"),
    (Lock, "roots"),
    (Read, "leases"),
    (Read, "manifests"),
    (Read, "roots"),
];
/// The point is at one of so many calls from the beginning.
const LATEST: u64 = 6;

/// What a worker does at its point.
#[derive(Debug, Clone, Copy)]
enum Action {
    Die,
    /// It holds still, and whatever it has locked.
    Wait(Duration),
}

#[derive(Debug)]
struct Point {
    kind: OperationKind,
    area: &'static str,
    after: bool,
    /// Calls until then.
    left: AtomicU64,
    action: Action,
    /// Where the worker writes down that it came there.
    log: Mutex<fs_err::File>,
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = if self.after { "after" } else { "before" };
        write!(f, "point:{side}-{:?}-{}", self.kind, self.area)
    }
}

/// The way to the disk of a worker that has a point to come to.
pub(crate) fn choose(
    store: &Utf8Path,
    log: &Utf8Path,
    role: Role,
    random: &mut Random,
) -> Result<Fs> {
    let points = if role == Role::Collector { COLLECTING } else { WRITING };
    let Some(&(kind, area)) = random.pick(points) else { return Ok(Fs::real()) };
    let action = if random.percent(70) {
        Action::Die
    } else {
        Action::Wait(Duration::from_millis(random.below(300)))
    };
    let log = fs_err::OpenOptions::new().append(true).open(log)?;
    let point = Point {
        kind,
        area,
        after: random.percent(50),
        left: AtomicU64::new(random.below(LATEST)),
        action,
        log: Mutex::new(log),
    };
    Ok(Fs::interposed(store, Arc::new(point)))
}

impl Interposer for Point {
    fn before(&self, operation: &Operation<'_>) -> Verdict {
        if !self.after {
            self.pass(operation);
        }
        Verdict::Proceed
    }

    fn after(&self, operation: &Operation<'_>, _file: Option<artifacts::FileId>) {
        if self.after {
            self.pass(operation);
        }
    }
}

impl Point {
    fn pass(&self, operation: &Operation<'_>) {
        let here = (operation.kind, operation.area) == (self.kind, self.area);
        if !here || self.left.fetch_sub(1, Ordering::Relaxed) != 0 {
            return;
        }
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        // Not worth an error: it is one more of a number.
        let _ = log.write_all(format!("{self} 1 .\n").as_bytes());
        match self.action {
            Action::Wait(span) => std::thread::sleep(span),
            Action::Die => loop {
                let _ = kill_process(getpid(), Signal::KILL);
                std::thread::park();
            },
        }
    }
}
