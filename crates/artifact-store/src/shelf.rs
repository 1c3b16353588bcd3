//! A shelf: files by digest, spread over directories by their first byte.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use artifacts::{FileError, FileId};
use camino::Utf8PathBuf;
use output_contract::Digest;

use crate::tree::{Dir, File, FileStat, vanished};

/// The directories of a shelf, by the first byte of what is in them.
const FAN_OUT: usize = 256;

/// How often a directory that vanished is made again.
const TRIES: usize = 8;

/// `blobs/sha256`, `manifests/sha256` or `index/sha256`.
#[derive(Debug)]
pub(crate) struct Shelf {
    base: Dir,
    /// Directories whose own name this process has brought to the medium.
    synced: Mutex<HashSet<FileId>>,
}

/// One file on a shelf, as a listing found it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shelved {
    pub(crate) digest: Digest,
    pub(crate) stat: FileStat,
}

/// The directory of a digest: its first byte.
fn fan_out(digest: &Digest) -> String {
    format!("{:02x}", digest.as_bytes()[0])
}

/// The first byte of what a directory of this name has in it.
fn first_byte(name: &str) -> Option<u8> {
    let lowercase = |c: char| c.is_ascii_digit() || matches!(c, 'a'..='f');
    let byte = (name.len() == 2 && name.chars().all(lowercase)).then_some(name)?;
    u8::from_str_radix(byte, 16).ok()
}

/// A shelf that is gone through in the order of digests: each of its
/// directories is opened once. One that is removed and made again meanwhile
/// seems to be empty.
#[derive(Debug)]
pub(crate) struct Walk<'a> {
    shelf: &'a Shelf,
    open: Option<(u8, Option<Dir>)>,
}

impl<'a> Walk<'a> {
    pub(crate) const fn new(shelf: &'a Shelf) -> Self {
        Self { shelf, open: None }
    }

    /// The directory in which `digest` is, where there is one.
    pub(crate) fn dir(&mut self, digest: &Digest) -> Result<Option<&Dir>, FileError> {
        let byte = digest.as_bytes()[0];
        if self.open.as_ref().is_none_or(|(open, _)| *open != byte) {
            self.open = Some((byte, self.shelf.find_dir(digest)?));
        }
        Ok(self.open.as_ref().and_then(|(_, dir)| dir.as_ref()))
    }

    /// The state of the file of `digest`.
    pub(crate) fn stat(&mut self, digest: &Digest) -> Result<Option<FileStat>, FileError> {
        match self.dir(digest)? {
            Some(dir) => dir.stat(&digest.to_string()),
            None => Ok(None),
        }
    }
}

impl Shelf {
    pub(crate) fn new(base: Dir) -> Self {
        Self { base, synced: Mutex::default() }
    }

    /// Where `digest` is, for messages.
    pub(crate) fn path_of(&self, digest: &Digest) -> Utf8PathBuf {
        self.base.path().join(fan_out(digest)).join(digest.to_string())
    }

    /// The directory in which `digest` is, where there is one.
    pub(crate) fn find_dir(&self, digest: &Digest) -> Result<Option<Dir>, FileError> {
        self.base.find_dir(&fan_out(digest))
    }

    /// The directory in which `digest` must be.
    pub(crate) fn dir(&self, digest: &Digest) -> Result<Dir, FileError> {
        self.base.dir(&fan_out(digest))
    }

    /// The directory in which `digest` is to be.
    pub(crate) fn make_dir(&self, digest: &Digest) -> Result<Dir, FileError> {
        self.base.make_dir(&fan_out(digest))
    }

    /// Does something in the directory of `digest`, making it again where it
    /// vanishes meanwhile.
    pub(crate) fn in_dir<T>(
        &self,
        digest: &Digest,
        mut operation: impl FnMut(&Dir) -> Result<T, FileError>,
    ) -> Result<T, FileError> {
        let mut tries = 0;
        loop {
            match operation(&self.make_dir(digest)?) {
                Err(error) if vanished(&error) && tries < TRIES => tries += 1,
                done => return done,
            }
        }
    }

    /// Opens the file of `digest`, which must be there.
    pub(crate) fn file(&self, digest: &Digest) -> Result<File, FileError> {
        self.dir(digest)?.file(&digest.to_string())
    }

    /// Opens the file of `digest` for reading.
    pub(crate) fn open(&self, digest: &Digest) -> Result<Option<File>, FileError> {
        match self.find_dir(digest)? {
            Some(dir) => dir.open_read(&digest.to_string()),
            None => Ok(None),
        }
    }

    /// The state of the file of `digest`.
    pub(crate) fn stat(&self, digest: &Digest) -> Result<Option<FileStat>, FileError> {
        match self.find_dir(digest)? {
            Some(dir) => dir.stat(&digest.to_string()),
            None => Ok(None),
        }
    }

    /// Brings the names in `dir`, one of this shelf's, to the medium, and its
    /// own name too: another process may have made it and not come to that.
    pub(crate) fn sync(&self, dir: &Dir) -> Result<(), FileError> {
        dir.sync()?;
        let id = dir.own_stat()?.id;
        let known = || self.synced.lock().unwrap_or_else(PoisonError::into_inner);
        if !known().contains(&id) {
            self.base.sync()?;
            known().insert(id);
        }
        Ok(())
    }

    /// All names on the shelf that are a digest in its place, by directory and
    /// sorted. Of what has these names nothing is asked.
    pub(crate) fn digests(&self) -> Result<Vec<Vec<Digest>>, FileError> {
        let mut digests = vec![Vec::new(); FAN_OUT];
        for name in self.base.names()? {
            let Some(byte) = first_byte(&name) else { continue };
            let Some(dir) = self.base.find_dir(&name)? else { continue };
            let found = &mut digests[usize::from(byte)];
            dir.each_name(|name| {
                found.extend(Digest::parse(name).ok().filter(|it| it.as_bytes()[0] == byte));
            })?;
            found.sort_unstable();
        }
        Ok(digests)
    }

    /// All files on the shelf whose name is a digest in its place.
    pub(crate) fn list(&self) -> Result<Vec<Shelved>, FileError> {
        let mut found = Vec::new();
        for name in self.base.names()? {
            // Whatever else a person or a program put here is not ours.
            if first_byte(&name).is_none() {
                continue;
            }
            let Some(dir) = self.base.find_dir(&name)? else { continue };
            for file in dir.names()? {
                let Ok(digest) = Digest::parse(&file) else { continue };
                if fan_out(&digest) == name
                    && let Some(stat) = dir.stat(&file)?
                    && stat.is_file
                {
                    found.push(Shelved { digest, stat });
                }
            }
        }
        Ok(found)
    }
}
