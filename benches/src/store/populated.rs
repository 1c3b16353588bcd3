//! Stores with many blobs, made quickly: the files are written straight to their addresses, and
//! what is kept is recorded once, by the store itself.

use std::os::fd::OwnedFd;
use std::process::Command;

use anyhow::{Result, ensure};
use artifact_store::{LocalStore, StoreOptions};
use artifacts::Durability;
use artifacts::hash::digest_of;
use camino::{Utf8Path, Utf8PathBuf};
use output_contract::{Digest, SessionId};
use rustix::fs::{AtFlags, Mode, OFlags};

use crate::scratch::{Scratch, quiet};

/// Calls of a session.
const CALLS: usize = 500;

/// A store without its blobs, whose roots name them.
#[derive(Debug)]
pub(super) struct Records {
    dir: Utf8PathBuf,
    blobs: usize,
}

fn content(number: usize) -> String {
    format!("output {number}\nof a command that says little\n")
}

fn open(dir: &Utf8Path) -> Result<LocalStore> {
    let options = StoreOptions { durability: Durability::Fast, ..StoreOptions::default() };
    Ok(LocalStore::open(dir, options)?)
}

impl Records {
    /// Records of that many blobs, all retained once, each by a call of its own; then every second
    /// session was released.
    pub(super) fn make(scratch: &Scratch, name: &str, blobs: usize) -> Result<Self> {
        let dir = scratch.path(name);
        let store = open(&dir)?;
        write_blobs(&dir.join("blobs/sha256"), blobs)?;
        for first in (0..blobs).step_by(CALLS) {
            let session: SessionId = format!("session-{first}").parse()?;
            for number in first..blobs.min(first + CALLS) {
                let guard = store.borrow(digest_of(content(number).as_bytes()))?;
                guard.retain(&session, &format!("call-{number}").parse()?)?;
            }
            if first / CALLS % 2 == 1 {
                store.release(&session, None)?;
            }
        }
        for (place, other) in [("blobs", "sha256"), ("leases", "")] {
            fs_err::remove_dir_all(dir.join(place))?;
            fs_err::create_dir_all(dir.join(place).join(other))?;
        }
        Ok(Self { dir, blobs })
    }

    /// Makes the store of a home, with its blobs.
    pub(super) fn populate(&self, home: &Utf8Path) -> Result<()> {
        let store = home.join("store");
        let mut copy = Command::new("cp");
        let copied = quiet(copy.args(["-r", self.dir.as_str(), store.as_str()])).status()?;
        ensure!(copied.success(), "could not copy the records");
        write_blobs(&store.join("blobs/sha256"), self.blobs)
    }

    /// The same files without a store.
    pub(super) fn copy(&self, dir: &Utf8Path) -> Result<()> {
        write_blobs(dir, self.blobs)
    }
}

/// Makes the store of a home and nothing in it.
pub(super) fn empty(home: &Utf8Path) -> Result<()> {
    open(&home.join("store")).map(drop)
}

/// A store of that many blobs that all have the same, few files: opening looks at none of them.
pub(super) fn linked(home: &Utf8Path, blobs: u64) -> Result<()> {
    let store = home.join("store");
    open(&store)?;
    let fan_out = FanOut::make(&store.join("blobs/sha256"))?;
    for number in 0..blobs {
        let mut digest = [0; 32];
        digest[0] = number as u8;
        digest[24..].copy_from_slice(&number.to_be_bytes());
        let digest = Digest::from_bytes(digest);
        if number < 256 {
            fan_out.write(&digest, b"x")?;
        } else {
            let mut first = [0; 32];
            (first[0], first[31]) = (number as u8, number as u8);
            fan_out.link(&Digest::from_bytes(first), &digest)?;
        }
    }
    Ok(())
}

fn write_blobs(dir: &Utf8Path, blobs: usize) -> Result<()> {
    let fan_out = FanOut::make(dir)?;
    for number in 0..blobs {
        let content = content(number);
        fan_out.write(&digest_of(content.as_bytes()), content.as_bytes())?;
    }
    Ok(())
}

/// How many files lie in the fan-out directories of `dir`.
pub(super) fn count(dir: &Utf8Path) -> Result<usize> {
    let mut files = 0;
    for fan_out in fs_err::read_dir(dir)? {
        files += fs_err::read_dir(fan_out?.path())?.count();
    }
    Ok(files)
}

/// The 256 directories of a shelf, open.
struct FanOut(Vec<OwnedFd>);

impl FanOut {
    fn make(dir: &Utf8Path) -> Result<Self> {
        let mut dirs = Vec::new();
        for number in 0..=u8::MAX {
            let path = dir.join(format!("{number:02x}"));
            fs_err::create_dir_all(&path)?;
            let flags = OFlags::RDONLY | OFlags::DIRECTORY;
            dirs.push(rustix::fs::open(path.as_std_path(), flags, Mode::empty())?);
        }
        Ok(Self(dirs))
    }

    fn dir(&self, digest: &Digest) -> &OwnedFd {
        &self.0[usize::from(digest.as_bytes()[0])]
    }

    fn write(&self, digest: &Digest, bytes: &[u8]) -> Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let mode = Mode::RUSR | Mode::RGRP | Mode::ROTH;
        let file = rustix::fs::openat(self.dir(digest), digest.to_string(), flags, mode)?;
        rustix::io::write(file, bytes)?;
        Ok(())
    }

    fn link(&self, from: &Digest, to: &Digest) -> Result<()> {
        let (dir, name) = (self.dir(to), to.to_string());
        rustix::fs::linkat(self.dir(from), from.to_string(), dir, name, AtFlags::empty())?;
        Ok(())
    }
}
