//! A text file as the artifact seam's pages need it: its size, its lines, and
//! where they are.
//!
//! Responsible for the one pass that counts, in memory bounded by the file's
//! size over 131,072, and for reading what a page asks for. How a page is cut
//! is not decided here.

use std::io;
use std::ops::Range;

use artifacts::{BlockingReader, ReadError};
use bytes::Bytes;
use camino::{Utf8Path, Utf8PathBuf};
use tool_api::CancellationToken;

use crate::filesystem::error::FileError;
use crate::filesystem::open::RegularFile;

/// How much is read at once, and has one entry in the index, in bytes.
const BLOCK_BYTES: u64 = 1024 * 1024;

/// A text file whose lines were counted.
#[derive(Debug)]
pub(crate) struct TextFile {
    file: RegularFile,
    path: Utf8PathBuf,
    bytes: u64,
    lines: u64,
    /// For each block, how many line ends there are before it.
    newlines_before: Vec<u64>,
}

impl TextFile {
    /// Reads `file` through once; `None` where `cancel` fired meanwhile.
    /// Blocking.
    ///
    /// What is appended after it was opened is left out.
    ///
    /// # Errors
    /// [`FileError`] where it cannot be read.
    pub(crate) fn survey(
        file: RegularFile,
        path: &Utf8Path,
        cancel: &CancellationToken,
    ) -> Result<Option<Self>, FileError> {
        let end = if file.bytes > 0 { file.bytes } else { u64::MAX };
        let mut block = vec![0; length(BLOCK_BYTES.min(end))];
        let mut newlines_before = Vec::new();
        let (mut bytes, mut newlines, mut last) = (0, 0, b'\n');
        loop {
            if cancel.is_cancelled() {
                return Ok(None);
            }
            let room = length((end - bytes).min(BLOCK_BYTES)).min(block.len());
            let read = file
                .read_at(&mut block[..room], bytes)
                .map_err(|error| FileError::read(path, error))?;
            let Some(&last_read) = block[..read].last() else { break };
            newlines_before.push(newlines);
            newlines += count_newlines(&block[..read]);
            bytes += read as u64;
            last = last_read;
        }
        let lines = newlines + u64::from(last != b'\n');
        Ok(Some(Self { file, path: path.to_owned(), bytes, lines, newlines_before }))
    }

    fn read_exact(&self, range: Range<u64>) -> Result<Vec<u8>, ReadError> {
        let mut bytes = vec![0; length(range.end - range.start)];
        let failed = |source: io::Error| {
            ReadError::File(artifacts::FileError::new("read", &*self.path, source))
        };
        match self.file.read_at(&mut bytes, range.start) {
            Ok(read) if read == bytes.len() => Ok(bytes),
            Ok(_) => Err(failed(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "it became shorter while it was read; call again",
            ))),
            Err(error) => Err(failed(error)),
        }
    }
}

impl BlockingReader for TextFile {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn lines(&self) -> u64 {
        self.lines
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes, ReadError> {
        if range.start > range.end || range.end > self.bytes {
            return Err(ReadError::OutOfRange { range, bytes: self.bytes });
        }
        self.read_exact(range).map(Bytes::from)
    }

    fn line_start(&self, line: u64) -> Result<u64, ReadError> {
        if line == 0 {
            return Ok(0);
        }
        // The last block with fewer line ends before it has the one looked for.
        let after = self.newlines_before.partition_point(|&before| before < line);
        let Some(index) = after.checked_sub(1) else { return Ok(self.bytes) };
        let start = index as u64 * BLOCK_BYTES;
        let block = self.read_exact(start..self.bytes.min(start + BLOCK_BYTES))?;
        let nth = line - self.newlines_before[index] - 1;
        let newline =
            usize::try_from(nth).ok().and_then(|nth| memchr::memchr_iter(b'\n', &block).nth(nth));
        Ok(newline.map_or(self.bytes, |newline| start + newline as u64 + 1))
    }
}

fn count_newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// A length in memory, which is at most a few blocks.
fn length(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use artifacts::{PageError, PageRequest, page_blocking};

    use super::*;
    use crate::filesystem::open::{Opened, open};

    const BLOCK: usize = BLOCK_BYTES as usize;

    fn scratch() -> (tempfile::TempDir, Utf8PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::try_from(fs_err::canonicalize(dir.path()).unwrap()).unwrap();
        (dir, path.join("file"))
    }

    fn open_file(path: &Utf8Path) -> RegularFile {
        match open(path).unwrap() {
            Opened::File(file) => file,
            Opened::Directory(_) => panic!("{path} is a directory"),
        }
    }

    fn survey(path: &Utf8Path) -> TextFile {
        TextFile::survey(open_file(path), path, &CancellationToken::new()).unwrap().unwrap()
    }

    #[test]
    fn every_line_is_found_also_at_the_borders_of_blocks() {
        let (_guard, path) = scratch();
        let ends = [0, 1, 5, BLOCK - 2, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK - 1, 3 * BLOCK + 7];
        for (length, unterminated) in [(3 * BLOCK + 8, 0), (3 * BLOCK + 9, 1), (4 * BLOCK, 1)] {
            let mut content = vec![b'x'; length];
            ends.iter().for_each(|&end| content[end] = b'\n');
            fs_err::write(&path, &content).unwrap();
            let text = survey(&path);
            assert_eq!(text.bytes(), length as u64);
            assert_eq!(text.lines(), (ends.len() + unterminated) as u64);
            let mut start = 0;
            for (line, &end) in ends.iter().enumerate() {
                assert_eq!(text.line_start(line as u64).unwrap(), start, "line {line}");
                start = end as u64 + 1;
            }
            let last = ends.len() as u64;
            assert_eq!(text.line_start(last).unwrap(), start);
            for past in [last + 1, u64::MAX] {
                assert_eq!(text.line_start(past).unwrap(), length as u64);
            }
            let border = text.read(BLOCK as u64 - 3..BLOCK as u64 + 3).unwrap();
            assert_eq!(border, b"x\n\n\n\nx"[..]);
        }
    }

    #[test]
    fn an_empty_file_has_no_lines() {
        let (_guard, path) = scratch();
        fs_err::write(&path, "").unwrap();
        let text = survey(&path);
        assert_eq!((text.bytes(), text.lines()), (0, 0));
        assert_eq!(text.line_start(0).unwrap(), 0);
        assert_eq!(text.line_start(1).unwrap(), 0);
        assert!(matches!(text.read(0..1), Err(ReadError::OutOfRange { bytes: 0, .. })));
    }

    #[test]
    fn a_cancelled_survey_ends() {
        let (_guard, path) = scratch();
        fs_err::write(&path, "x").unwrap();
        let cancel = CancellationToken::new();
        cancel.cancel();
        let survey = TextFile::survey(open_file(&path), &path, &cancel).unwrap();
        assert!(survey.is_none());
    }

    #[test]
    fn what_happens_to_the_file_meanwhile() {
        let (_guard, path) = scratch();
        fs_err::write(&path, "one\ntwo\n").unwrap();
        let opened = open_file(&path);
        fs_err::write(&path, "one\ntwo\nthree\n").unwrap();
        let text = TextFile::survey(opened, &path, &CancellationToken::new()).unwrap().unwrap();
        assert_eq!((text.bytes(), text.lines()), (8, 2));

        fs_err::write(&path, "one\n").unwrap();
        let request = PageRequest { offset: 0, limit: None, byte_offset: 0, page_bytes: 100 };
        match page_blocking(&text, &request) {
            Err(PageError::Read(ReadError::File(error))) => {
                assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
            }
            other => panic!("{other:?}"),
        }
    }
}
