//! The system calls that storing an output durably is made of, those that change something, and a
//! plain read of what was stored. It checks nothing, hashes nothing and remembers nothing.

use std::cell::Cell;
use std::os::fd::OwnedFd;

use anyhow::Result;
use rustix::fs::{AtFlags, Mode, OFlags};

use super::Job;

/// The directories and files that are open all the time.
#[derive(Debug)]
pub(super) struct Bare {
    captures: OwnedFd,
    blobs: OwnedFd,
    roots: OwnedFd,
    lease: OwnedFd,
    /// Fan-out directories that were made.
    made: Cell<[u64; 4]>,
    seed: u64,
}

const LINE: [u8; 160] = [b'x'; 160];
const NEW: OFlags = OFlags::RDWR.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::CLOEXEC);

fn directory(at: &OwnedFd, name: &str) -> Result<OwnedFd> {
    Ok(rustix::fs::openat(at, name, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())?)
}

fn make_directory(at: &OwnedFd, name: &str) -> Result<OwnedFd> {
    match rustix::fs::mkdirat(at, name, Mode::RWXU) {
        Ok(()) | Err(rustix::io::Errno::EXIST) => directory(at, name),
        Err(errno) => Err(errno.into()),
    }
}

fn new_file(at: &OwnedFd, name: &str) -> Result<OwnedFd> {
    Ok(rustix::fs::openat(at, name, NEW, Mode::RUSR | Mode::WUSR)?)
}

impl Bare {
    pub(super) fn new(job: &Job) -> Result<Self> {
        fs_err::create_dir_all(&job.dir)?;
        let root = rustix::fs::open(job.dir.as_std_path(), OFlags::DIRECTORY, Mode::empty())?;
        let logs = make_directory(&root, "logs")?;
        Ok(Self {
            captures: make_directory(&root, "captures")?,
            blobs: make_directory(&root, "blobs")?,
            roots: new_file(&logs, &format!("roots-{}", job.seed))?,
            lease: new_file(&logs, &format!("lease-{}", job.seed))?,
            made: Cell::default(),
            seed: job.seed,
        })
    }

    pub(super) fn store(&self, output: u64, bytes: &[u8]) -> Result<()> {
        let id = format!("{:08x}{output:08x}", self.seed);
        let lock = format!("{id}.lock");
        let _lock = new_file(&self.captures, &lock)?;
        rustix::fs::mkdirat(&self.captures, &id, Mode::RWXU)?;
        let capture = directory(&self.captures, &id)?;
        rustix::io::write(new_file(&capture, "meta.json")?, &LINE)?;
        let file = new_file(&capture, "stream-0")?;
        rustix::io::write(&file, bytes)?;
        rustix::fs::fchmod(&file, Mode::RUSR)?;
        rustix::fs::fdatasync(&file)?;

        rustix::io::write(&self.lease, &LINE)?;
        let fan_out = self.fan_out(output)?;
        rustix::fs::linkat(&capture, "stream-0", &fan_out, &id, AtFlags::empty())?;
        rustix::fs::fsync(&fan_out)?;
        rustix::io::write(&self.roots, &LINE)?;
        rustix::fs::fdatasync(&self.roots)?;
        rustix::io::write(&self.lease, &LINE)?;

        rustix::fs::unlinkat(&capture, "stream-0", AtFlags::empty())?;
        rustix::fs::unlinkat(&capture, "meta.json", AtFlags::empty())?;
        rustix::fs::unlinkat(&self.captures, &id, AtFlags::REMOVEDIR)?;
        rustix::fs::unlinkat(&self.captures, &lock, AtFlags::empty())?;

        let stored = rustix::fs::openat(&fan_out, &id, OFlags::RDONLY, Mode::empty())?;
        let mut read = vec![0; bytes.len()];
        rustix::io::read(stored, &mut read)?;
        Ok(())
    }

    /// One of 256 directories, all over, as digests have it; its parent is brought to the medium
    /// when it is made.
    fn fan_out(&self, output: u64) -> Result<OwnedFd> {
        let number = (output.wrapping_add(self.seed).wrapping_mul(0x9e37_79b9_7f4a_7c15)) >> 56;
        let name = format!("{number:02x}");
        let (word, bit) = (number as usize / 64, 1 << (number % 64));
        let mut made = self.made.get();
        if made[word] & bit == 0 {
            let dir = make_directory(&self.blobs, &name)?;
            rustix::fs::fsync(&self.blobs)?;
            made[word] |= bit;
            self.made.set(made);
            return Ok(dir);
        }
        directory(&self.blobs, &name)
    }
}
