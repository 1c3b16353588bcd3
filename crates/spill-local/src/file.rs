//! A text becomes a file: whole under its name, or not at all.
//!
//! Responsible for names that cannot be guessed, for modes, and for leaving
//! nothing behind. The text is written under a hidden name in the same
//! directory, brought to the medium, and then given its own name, which must be
//! free.

use std::os::fd::OwnedFd;

use camino::Utf8PathBuf;
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use spill::{SpillError, encode_name};

use crate::directory::{Directory, file_error};

const FILE_MODE: u32 = 0o600;
/// How many names are tried. Of 2⁴⁸ that are drawn at random, none is taken but
/// by whoever knows them all.
const TRIES: usize = 8;

/// A file that is removed again unless it is kept.
#[derive(Debug)]
pub(crate) struct Written {
    file: Removed,
    bytes: u64,
}

impl Written {
    /// Where it is.
    pub(crate) fn path(&self) -> Utf8PathBuf {
        self.file.path()
    }

    /// Its size.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The directory that it is in.
    pub(crate) fn directory(&self) -> &Directory {
        &self.file.directory
    }

    /// Lets it stay.
    pub(crate) fn keep(mut self) {
        self.file.name = None;
    }
}

/// Writes `content` to a new file in `directory`, under a name that ends in
/// `suggested_name` as far as it can.
///
/// # Errors
/// [`SpillError::File`]; nothing is left then.
pub(crate) fn write_new(
    directory: Directory,
    suggested_name: &str,
    content: &str,
    mut random: impl FnMut() -> String,
) -> Result<Written, SpillError> {
    let mut file = Removed { directory, name: None };
    let fd = file.create(&mut random)?;
    write_all(&fd, content.as_bytes()).map_err(|errno| file.error("write", errno))?;
    // What could not be allocated yet is refused here, or never.
    rustix::io::retry_on_intr(|| rustix::fs::fsync(&fd))
        .map_err(|errno| file.error("sync", errno))?;
    let name = encode_name(suggested_name);
    file.rename(|| format!("{}-{name}", random()))?;
    Ok(Written { file, bytes: content.len() as u64 })
}

/// A name in a directory that is removed when this is dropped.
#[derive(Debug)]
struct Removed {
    directory: Directory,
    name: Option<String>,
}

impl Removed {
    fn path(&self) -> Utf8PathBuf {
        self.directory.join(self.name.as_deref().unwrap_or_default())
    }

    fn error(&self, action: &'static str, errno: Errno) -> SpillError {
        file_error(action, &self.path(), errno)
    }

    /// Makes a hidden file, for this user only whatever the umask.
    fn create(&mut self, mut random: impl FnMut() -> String) -> Result<OwnedFd, SpillError> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let (name, fd) = first_free(
            || format!(".{}.tmp", random()),
            |name| rustix::fs::openat(&self.directory, name, flags, Mode::from_raw_mode(FILE_MODE)),
        )
        .map_err(|(name, errno)| file_error("make", &self.directory.join(&name), errno))?;
        self.name = Some(name);
        rustix::fs::fchmod(&fd, Mode::from_raw_mode(FILE_MODE))
            .map_err(|errno| self.error("set the mode of", errno))?;
        Ok(fd)
    }

    /// Gives the file the first free one of the names that `names` gives.
    fn rename(&mut self, names: impl FnMut() -> String) -> Result<(), SpillError> {
        let hidden = self.name.clone().expect("it was made");
        let (name, ()) =
            first_free(names, |name| rename_to_free(&self.directory, &hidden, name))
                .map_err(|(name, errno)| file_error("make", &self.directory.join(&name), errno))?;
        self.name = Some(name);
        Ok(())
    }
}

impl Drop for Removed {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            // Nobody knows its name: what cannot be removed is only space.
            let _ = rustix::fs::unlinkat(&self.directory, name.as_str(), AtFlags::empty());
        }
    }
}

/// Tries names until one is not taken.
fn first_free<T>(
    mut names: impl FnMut() -> String,
    mut take: impl FnMut(&str) -> Result<T, Errno>,
) -> Result<(String, T), (String, Errno)> {
    let mut tried = 0;
    loop {
        let name = names();
        tried += 1;
        match take(&name) {
            Ok(taken) => return Ok((name, taken)),
            Err(Errno::EXIST | Errno::LOOP) if tried < TRIES => {}
            Err(errno) => return Err((name, errno)),
        }
    }
}

/// Renames a file to a name that must be free. Where the file system cannot
/// promise that in one step, it has both names for a moment.
fn rename_to_free(directory: &Directory, from: &str, to: &str) -> Result<(), Errno> {
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    {
        let flags = rustix::fs::RenameFlags::NOREPLACE;
        match rustix::fs::renameat_with(directory, from, directory, to, flags) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            renamed => return renamed,
        }
    }
    rustix::fs::linkat(directory, from, directory, to, AtFlags::empty())?;
    rustix::fs::unlinkat(directory, from, AtFlags::empty())
}

fn write_all(fd: &OwnedFd, mut rest: &[u8]) -> Result<(), Errno> {
    while !rest.is_empty() {
        match rustix::io::write(fd, rest) {
            Ok(0) => return Err(Errno::IO),
            Ok(written) => rest = &rest[written..],
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use fs_err::os::unix::fs::symlink;

    use super::*;
    use crate::testing::Scratch;

    fn names(scratch: &Scratch) -> Vec<String> {
        let entries = fs_err::read_dir(scratch.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn directory(scratch: &Scratch) -> Directory {
        Directory::open_or_make(scratch.path()).unwrap()
    }

    /// Names that are drawn in this order.
    fn drawn<const N: usize>(names: [&'static str; N]) -> impl FnMut() -> String {
        let mut names = names.into_iter();
        move || names.next().unwrap().to_owned()
    }

    #[test]
    fn what_is_not_kept_is_removed() {
        let scratch = Scratch::new();
        let written = write_new(directory(&scratch), "a.txt", "text", drawn(["0", "1"])).unwrap();
        assert_eq!(names(&scratch), ["1-a.txt"]);
        drop(written);
        assert_eq!(names(&scratch), [""; 0]);
        write_new(directory(&scratch), "a.txt", "text", drawn(["0", "1"])).unwrap().keep();
        assert_eq!(names(&scratch), ["1-a.txt"]);
        assert_eq!(fs_err::read_to_string(scratch.join("1-a.txt")).unwrap(), "text");
    }

    #[test]
    fn what_is_in_the_way_is_neither_followed_nor_replaced() {
        let scratch = Scratch::new();
        fs_err::write(scratch.join("theirs"), "theirs").unwrap();
        for (way, name) in [("theirs", ".0.tmp"), ("nowhere", ".1.tmp"), ("theirs", "3-a.txt")] {
            symlink(scratch.join(way), scratch.join(name)).unwrap();
        }
        fs_err::write(scratch.join("4-a.txt"), "also theirs").unwrap();
        let random = drawn(["0", "1", "2", "3", "4", "5"]);
        write_new(directory(&scratch), "a.txt", "mine", random).unwrap().keep();
        let found = [".0.tmp", ".1.tmp", "3-a.txt", "4-a.txt", "5-a.txt", "theirs"];
        assert_eq!(names(&scratch), found);
        assert_eq!(fs_err::read_to_string(scratch.join("theirs")).unwrap(), "theirs");
        assert_eq!(fs_err::read_to_string(scratch.join("4-a.txt")).unwrap(), "also theirs");
        assert_eq!(fs_err::read_to_string(scratch.join("5-a.txt")).unwrap(), "mine");
    }

    #[test]
    fn a_directory_full_of_traps_is_given_up() {
        let scratch = Scratch::new();
        fs_err::write(scratch.join("0-a.txt"), "theirs").unwrap();
        let refused = write_new(directory(&scratch), "a.txt", "mine", || "0".to_owned());
        let error = refused.unwrap_err();
        assert_eq!(error.to_string(), format!("could not make {}", scratch.join("0-a.txt")));
        assert_eq!(names(&scratch), ["0-a.txt"]);
    }
}
