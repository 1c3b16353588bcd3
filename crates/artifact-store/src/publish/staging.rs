//! What is to be placed: files in captures, complete and read-only.

use artifacts::{Durability, FileError, PublishError, SealedCapture};
use camino::Utf8Component;
use output_contract::Digest;
use uuid::Uuid;

use crate::local::Inner;
use crate::shelf::Shelf;
use crate::tree::{Dir, File, FileStat};

/// A sealed capture, found again from the store's own root.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) digest: Digest,
    capture: &'a SealedCapture,
    dir: Dir,
    name: String,
    stat: FileStat,
}

/// A file that can be linked to its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate<'a> {
    pub(super) dir: &'a Dir,
    pub(super) name: &'a str,
    pub(super) stat: &'a FileStat,
    /// Its bytes are on the medium.
    pub(super) synced: bool,
}

impl Candidate<'_> {
    /// Opens the file, which few need.
    pub(super) fn open(&self) -> Result<File, FileError> {
        let file = self.dir.file(self.name)?;
        if file.stat()?.id == self.stat.id {
            return Ok(file);
        }
        let gone = std::io::Error::from(std::io::ErrorKind::NotFound);
        Err(FileError::new("open", file.path(), gone))
    }
}

impl<'a> Source<'a> {
    /// Finds the file that was sealed: in this store's captures, and the very
    /// same one.
    pub(super) fn open(store: &Inner, capture: &'a SealedCapture) -> Result<Self, PublishError> {
        let path = capture.path();
        let foreign = || PublishError::ForeignCapture { path: path.to_owned() };
        let changed = || PublishError::CaptureChanged { path: path.to_owned() };
        let below = path.strip_prefix(store.captures.path()).map_err(|_| foreign())?;
        let mut parts = below.components();
        let (Some(Utf8Component::Normal(id)), Some(Utf8Component::Normal(name)), None) =
            (parts.next(), parts.next(), parts.next())
        else {
            return Err(foreign());
        };
        let dir = store.layout.captures.find_dir(id)?.ok_or_else(changed)?;
        let stat = dir.stat(name)?.ok_or_else(changed)?;
        if stat.id != capture.file_id() || stat.bytes != capture.bytes() || !stat.is_file {
            return Err(changed());
        }
        // Its age counts from now, not from when it was last written to.
        dir.touch(name)?;
        Ok(Self { digest: capture.digest(), capture, dir, name: name.to_owned(), stat })
    }

    pub(super) fn file(&self) -> Candidate<'_> {
        Candidate {
            dir: &self.dir,
            name: &self.name,
            stat: &self.stat,
            synced: self.capture.durability() == Durability::Durable,
        }
    }

    /// Writes the sidecar beside the capture. It is not brought to the medium:
    /// a lost one is made anew.
    pub(super) fn stage_sidecar(&self) -> Result<Option<Staged<'_>>, FileError> {
        match self.capture.sidecar() {
            Some(sidecar) => self.stage(self.digest, &sidecar.encode(), Durability::Fast).map(Some),
            None => Ok(None),
        }
    }

    /// Writes `bytes` beside the capture.
    pub(super) fn stage(
        &self,
        digest: Digest,
        bytes: &[u8],
        durability: Durability,
    ) -> Result<Staged<'_>, FileError> {
        Staged::write(&self.dir, digest, bytes, durability)
    }
}

/// A file written for publishing; its name goes with it.
#[derive(Debug)]
pub(crate) struct Staged<'a> {
    pub(super) digest: Digest,
    dir: &'a Dir,
    name: String,
    stat: FileStat,
    durability: Durability,
}

impl<'a> Staged<'a> {
    /// Writes `bytes` to a new file in `dir`.
    pub(crate) fn write(
        dir: &'a Dir,
        digest: Digest,
        bytes: &[u8],
        durability: Durability,
    ) -> Result<Self, FileError> {
        let name = temporary_name();
        let exists = || {
            let source = std::io::Error::from(std::io::ErrorKind::AlreadyExists);
            FileError::new("create", dir.path().join(&name), source)
        };
        let file = dir.create_new(&name)?.ok_or_else(exists)?;
        let written = (|| {
            file.append(bytes)?;
            file.set_mode(0o444)?;
            if durability.waits() {
                file.sync()?;
            }
            file.stat()
        })();
        match written {
            Ok(stat) => Ok(Self { digest, dir, name, stat, durability }),
            Err(error) => {
                let _ = dir.unlink(&name);
                Err(error)
            }
        }
    }

    pub(super) fn file(&self) -> Candidate<'_> {
        Candidate {
            dir: self.dir,
            name: &self.name,
            stat: &self.stat,
            synced: self.durability.waits(),
        }
    }

    /// Moves it to its place, over whatever is there.
    pub(crate) fn move_to(&self, shelf: &Shelf) -> Result<(), FileError> {
        shelf.in_dir(&self.digest, |dir| self.dir.rename(&self.name, dir, &self.digest.to_string()))
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        let _ = self.dir.unlink(&self.name);
    }
}

/// A name that nothing has.
pub(super) fn temporary_name() -> String {
    format!("staged-{}", Uuid::new_v4())
}
