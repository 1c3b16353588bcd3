//! Bringing one file to its address.

use artifacts::hash::BLOCK_BYTES;
use artifacts::{FileError, FileId};
use output_contract::Digest;

use super::staging::{Candidate, temporary_name};
use crate::shelf::Shelf;
use crate::tree::{Dir, File, vanished};

/// What is at the address, as far as it was compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    /// Not looked at since something changed.
    Unknown,
    Nothing,
    /// This very file has the right bytes.
    Good(FileId),
    /// This very file has other bytes.
    Bad(FileId),
}

/// How the file got there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Linked,
    /// A good copy was there.
    Kept,
    /// A bad copy was there, and was replaced.
    Healed,
    /// Copies came and went too fast to be compared; ours is there now.
    Replaced,
}

/// A file on its way to its address.
#[derive(Debug)]
pub(super) struct Placing<'a> {
    shelf: &'a Shelf,
    /// Where it goes.
    dir: Dir,
    digest: Digest,
    ours: Candidate<'a>,
    found: Found,
    outcome: Option<Outcome>,
}

impl<'a> Placing<'a> {
    pub(super) fn new(
        shelf: &'a Shelf,
        digest: Digest,
        ours: Candidate<'a>,
    ) -> Result<Self, FileError> {
        // Made now rather than under the lock.
        let dir = shelf.make_dir(&digest)?;
        Ok(Self { shelf, dir, digest, ours, found: Found::Unknown, outcome: None })
    }

    /// The digest, where a bad copy was replaced.
    pub(super) fn healed(&self) -> Option<Digest> {
        (self.outcome == Some(Outcome::Healed)).then_some(self.digest)
    }

    /// Looks at what is there, unless it is known. Reads both files.
    pub(super) fn compare(&mut self) -> Result<(), FileError> {
        if self.outcome.is_some() || self.found != Found::Unknown {
            return Ok(());
        }
        let name = self.digest.to_string();
        let Some(stat) = self.dir.stat(&name)? else {
            self.found = Found::Nothing;
            return Ok(());
        };
        // What cannot be opened or read is as bad as what differs.
        let good = stat.id == self.ours.stat.id
            || stat.is_file
                && stat.bytes == self.ours.stat.bytes
                && matches!(self.dir.open_read(&name), Ok(Some(theirs))
                    if theirs.stat()?.id == stat.id && self.same_content(&theirs)?);
        self.found = if good { Found::Good(stat.id) } else { Found::Bad(stat.id) };
        Ok(())
    }

    fn same_content(&self, theirs: &File) -> Result<bool, FileError> {
        let ours_open = self.ours.open()?;
        let mut buffers = [vec![0; BLOCK_BYTES as usize], vec![0; BLOCK_BYTES as usize]];
        let [ours, other] = &mut buffers;
        let mut offset = 0;
        loop {
            let read = ours_open.read_at(ours, offset)?;
            let Ok(other_read) = theirs.read_at(other, offset) else { return Ok(false) };
            if ours[..read] != other[..other_read] {
                return Ok(false);
            }
            if read < ours.len() {
                return Ok(true);
            }
            offset += read as u64;
        }
    }

    /// Links the file, under the shared sweep lock; `false` where something
    /// has come that must be compared first. `force` replaces even that.
    pub(super) fn place(&mut self, force: bool) -> Result<bool, FileError> {
        if self.outcome.is_some() {
            return Ok(true);
        }
        let name = self.digest.to_string();
        let ours = self.ours;
        let linked = self.in_dir(|dir| ours.dir.link(ours.name, dir, &name))?;
        if linked {
            self.outcome = Some(Outcome::Linked);
            return Ok(true);
        }
        let there = self.dir.stat(&name)?.map(|stat| stat.id);
        self.outcome = match (self.found, there) {
            (Found::Good(compared), Some(id)) if compared == id => {
                self.dir.touch(&name)?;
                Some(Outcome::Kept)
            }
            (Found::Bad(compared), Some(id)) if compared == id => {
                self.replace()?;
                Some(Outcome::Healed)
            }
            _ if force => {
                self.replace()?;
                Some(Outcome::Replaced)
            }
            _ => {
                self.found = Found::Unknown;
                None
            }
        };
        Ok(self.outcome.is_some())
    }

    /// Puts our file over what is there, by a second name of it: renaming the
    /// first would take it from the capture.
    fn replace(&mut self) -> Result<(), FileError> {
        let (ours, second, name) = (self.ours, temporary_name(), self.digest.to_string());
        ours.dir.link(ours.name, ours.dir, &second)?;
        let moved = self.in_dir(|dir| ours.dir.rename(&second, dir, &name));
        // Renaming one name of a file over another of it leaves both.
        ours.dir.unlink(&second)?;
        moved
    }

    /// Does something in the directory, making it again where it has vanished.
    fn in_dir<T>(
        &mut self,
        mut operation: impl FnMut(&Dir) -> Result<T, FileError>,
    ) -> Result<T, FileError> {
        match operation(&self.dir) {
            Err(error) if vanished(&error) => {}
            done => return done,
        }
        let done = self.shelf.in_dir(&self.digest, operation)?;
        self.dir = self.shelf.make_dir(&self.digest)?;
        Ok(done)
    }

    /// Brings the file and its name to the medium. A copy that was there
    /// already may never have been: its first writer need not be durable, or
    /// may not have come to that. Of an empty file there is only the name.
    pub(super) fn sync(&self) -> Result<(), FileError> {
        if self.ours.stat.bytes == 0 {
            return self.shelf.sync(&self.dir);
        }
        if self.outcome == Some(Outcome::Kept) {
            self.dir.file(&self.digest.to_string())?.sync()?;
        } else if !self.ours.synced {
            self.ours.open()?.sync()?;
        }
        self.shelf.sync(&self.dir)
    }
}
