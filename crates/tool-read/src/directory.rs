//! Directories: one line an entry, in pages like those of a text file.
//!
//! Responsible for the order of the entries and for how each is shown: a
//! directory with a slash after its name, a symbolic link with its target, a
//! name that could be mistaken for something else as a JSON string. Nothing of
//! what the entries lead to is read.

use std::io;
use std::ops::Range;

use artifacts::{BlockingReader, ReadError};
use bytes::Bytes;
use camino::Utf8Path;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Dir, FileType, readlinkat, statat};
use tool_api::CancellationToken;

use crate::filesystem::error::FileError;

/// Most entries that are listed. All are needed in memory to be put in order.
const MAX_ENTRIES: usize = 100_000;

/// Between a symbolic link and its target.
const ARROW: &str = " -> ";

/// The entries of a directory as lines, `.` and `..` left out, in the order of
/// their names' bytes.
#[derive(Debug)]
pub(crate) struct Listing {
    lines: Bytes,
    /// Where each line starts.
    starts: Vec<u64>,
}

impl Listing {
    /// Lists a directory; `None` where `cancel` fired meanwhile. Blocking.
    ///
    /// # Errors
    /// [`FileError`] where it cannot be listed or has too many entries.
    pub(crate) fn of(
        directory: &OwnedFd,
        path: &Utf8Path,
        cancel: &CancellationToken,
    ) -> Result<Option<Self>, FileError> {
        Self::up_to(MAX_ENTRIES, directory, path, cancel)
    }

    fn up_to(
        max: usize,
        directory: &OwnedFd,
        path: &Utf8Path,
        cancel: &CancellationToken,
    ) -> Result<Option<Self>, FileError> {
        let failed = |errno| FileError::read(path, io::Error::from(errno));
        let mut entries = Vec::new();
        for entry in Dir::read_from(directory).map_err(failed)? {
            if cancel.is_cancelled() {
                return Ok(None);
            }
            let entry = entry.map_err(failed)?;
            if matches!(entry.file_name().to_bytes(), b"." | b"..") {
                continue;
            }
            if entries.len() == max {
                return Err(FileError::TooManyEntries { path: path.to_owned(), max });
            }
            entries.push((entry.file_name().to_owned(), entry.file_type()));
        }
        entries.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));

        let (mut lines, mut starts) = (String::new(), Vec::with_capacity(entries.len()));
        for (name, kind) in entries {
            if cancel.is_cancelled() {
                return Ok(None);
            }
            starts.push(lines.len() as u64);
            lines.push_str(&shown(&name.to_string_lossy()));
            // Some file systems say the kind only when asked for it alone.
            let kind = match kind {
                FileType::Unknown => statat(directory, &*name, AtFlags::SYMLINK_NOFOLLOW)
                    .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
                kind => kind,
            };
            match kind {
                FileType::Directory => lines.push('/'),
                FileType::Symlink => {
                    lines.push_str(ARROW);
                    // Gone or not to be looked at: the link is shown without its target.
                    if let Ok(target) = readlinkat(directory, &*name, Vec::new()) {
                        lines.push_str(&shown(&target.to_string_lossy()));
                    }
                }
                _ => {}
            }
            lines.push('\n');
        }
        Ok(Some(Self { lines: lines.into(), starts }))
    }
}

/// A name as it is, or, where that would not be clear, as a JSON string.
fn shown(name: &str) -> String {
    let unclear = name.chars().any(char::is_control) || name.contains(ARROW);
    if unclear || name.starts_with('"') {
        serde_json::Value::from(name).to_string()
    } else {
        name.to_owned()
    }
}

impl BlockingReader for Listing {
    fn bytes(&self) -> u64 {
        self.lines.len() as u64
    }

    fn lines(&self) -> u64 {
        self.starts.len() as u64
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes, ReadError> {
        let bounds = usize::try_from(range.start).ok().zip(usize::try_from(range.end).ok());
        match bounds {
            Some((start, end)) if start <= end && end <= self.lines.len() => {
                Ok(self.lines.slice(start..end))
            }
            _ => Err(ReadError::OutOfRange { range, bytes: self.bytes() }),
        }
    }

    fn line_start(&self, line: u64) -> Result<u64, ReadError> {
        let start = usize::try_from(line).ok().and_then(|line| self.starts.get(line));
        Ok(start.copied().unwrap_or(self.bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filesystem::open::{Opened, open};

    #[test]
    fn names_that_could_be_mistaken_are_quoted() {
        for (name, expect) in [
            ("plain", "plain"),
            (" é你.txt", " é你.txt"),
            ("a\nb", r#""a\nb""#),
            ("a\u{1b}[31m", r#""a\u001b[31m""#),
            ("a -> b", r#""a -> b""#),
            ("\"a\"", r#""\"a\"""#),
            ("a\"b", "a\"b"),
        ] {
            assert_eq!(shown(name), expect);
        }
    }

    #[test]
    fn a_directory_with_too_many_entries_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let path = fs_err::canonicalize(dir.path()).unwrap();
        let path = Utf8Path::from_path(&path).unwrap();
        let cancel = CancellationToken::new();
        let list = |max| match open(path).unwrap() {
            Opened::Directory(directory) => Listing::up_to(max, &directory, path, &cancel),
            Opened::File(_) => panic!("{path} is a file"),
        };
        for name in ["a", "b", "c"] {
            fs_err::write(path.join(name), "").unwrap();
        }
        assert_eq!(list(3).unwrap().unwrap().lines(), 3);
        let error = list(2).unwrap_err().to_string();
        let expect = "has more than 2 entries, which are too many to list; name one of them";
        assert_eq!(error, format!("{path} {expect}"));
        cancel.cancel();
        assert!(list(3).unwrap().is_none());
    }
}
