//! A disk of which one system call fails.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use artifacts::fs::{Errno, Interposer, Operation, OperationKind, Verdict};

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskFault {
    /// `EIO`, of any call.
    Io,
    /// `ENOSPC`, of what needs space, and of syncs.
    NoSpace,
    /// `EINTR`, of any call.
    Interrupted,
    /// A write ends half-way.
    ShortWrite,
    /// A write writes nothing.
    NoWrite,
}

impl DiskFault {
    fn concerns(self, kind: OperationKind) -> bool {
        use OperationKind as Kind;
        match self {
            Self::Io | Self::Interrupted => true,
            Self::NoSpace => matches!(
                kind,
                Kind::MakeDir
                    | Kind::Create
                    | Kind::Link
                    | Kind::Rename
                    | Kind::Write
                    | Kind::SyncFile
                    | Kind::SyncDir
            ),
            Self::ShortWrite | Self::NoWrite => kind == Kind::Write,
        }
    }

    fn verdict(self, bytes: usize) -> Verdict {
        match self {
            Self::Io => Verdict::Fail(Errno::IO),
            Self::NoSpace => Verdict::Fail(Errno::NOSPC),
            Self::Interrupted => Verdict::Fail(Errno::INTR),
            Self::ShortWrite => Verdict::Shorten(bytes / 2),
            Self::NoWrite => Verdict::Shorten(0),
        }
    }
}

/// An [`Interposer`] that lets chosen calls fail. Syncs are pretended, since
/// nobody takes the power.
#[derive(Debug)]
pub struct FaultyDisk {
    fault: DiskFault,
    first: u64,
    lasting: bool,
    asked: AtomicU64,
    failed: AtomicBool,
}

impl FaultyDisk {
    /// The call number `number`, from 0 of those that `fault` can happen to,
    /// fails.
    pub const fn once(fault: DiskFault, number: u64) -> Self {
        let (asked, failed) = (AtomicU64::new(0), AtomicBool::new(false));
        Self { fault, first: number, lasting: false, asked, failed }
    }

    /// That call and all after it fail.
    pub const fn lasting(fault: DiskFault, number: u64) -> Self {
        Self { lasting: true, ..Self::once(fault, number) }
    }

    /// Whether a call failed.
    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }
}

impl Interposer for FaultyDisk {
    fn before(&self, operation: &Operation<'_>) -> Verdict {
        if self.fault.concerns(operation.kind) {
            let number = self.asked.fetch_add(1, Ordering::Relaxed);
            if number == self.first || self.lasting && number > self.first {
                self.failed.store(true, Ordering::Relaxed);
                return self.fault.verdict(operation.bytes.len());
            }
        }
        match operation.kind {
            OperationKind::SyncFile | OperationKind::SyncDir => Verdict::Pretend,
            _ => Verdict::Proceed,
        }
    }
}
