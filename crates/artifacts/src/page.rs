//! Pages: the one way to cut a readable piece out of an artifact, for the
//! `read` tool, the command line and the server alike.
//!
//! A page is artifact bytes and nothing else. It begins at a line, or inside
//! one, and knows where the next begins: the pages that follow one another
//! from the start are the artifact, nothing twice and nothing left out.

mod cut;

use std::ops::Range;

use bytes::Bytes;
use output_contract::limits::{MAX_PAGE_BYTES, MAX_PAGE_LINES};

use self::cut::{Cut, Step};
use crate::error::ReadError;
use crate::store::ArtifactReader;

/// Which page to cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest {
    /// Zero-based line to begin at.
    pub offset: u64,
    /// Lines wanted: at least 1, at most [`MAX_PAGE_LINES`] (more is as much).
    /// They must fit in [`MAX_PAGE_BYTES`]. Without it, the page holds the
    /// whole lines that fit in `page_bytes`, or a part of the first.
    pub limit: Option<u64>,
    /// Bytes of line `offset` to leave out.
    pub byte_offset: u64,
    /// Size of a page without `limit`, in bytes; [`MAX_PAGE_BYTES`] at most. A
    /// page has at least one code point, however small this is.
    pub page_bytes: u64,
}

/// Where a page begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PagePosition {
    /// Zero-based line.
    pub offset: u64,
    /// Bytes of that line before the page.
    pub byte_offset: u64,
}

/// A piece of an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The artifact's bytes.
    pub bytes: Bytes,
    /// Zero-based line of the first byte.
    pub offset: u64,
    /// Bytes of that line before the page.
    pub byte_offset: u64,
    /// Lines in the page; a part of one counts as one.
    pub lines: u64,
    /// Lines in the artifact; an unterminated rest is one more.
    pub total_lines: u64,
    /// Bytes in the artifact.
    pub total_bytes: u64,
    /// Where the next page begins; `None` at the end of the artifact.
    pub next: Option<PagePosition>,
}

/// A call that works where another did not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageSuggestion {
    /// The same line.
    pub offset: u64,
    /// A smaller limit, or none.
    pub limit: Option<u64>,
    /// The same position in that line.
    pub byte_offset: u64,
}

impl std::fmt::Display for PageSuggestion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "offset={}", self.offset)?;
        match self.limit {
            Some(limit) => write!(f, ", limit={limit}"),
            None => write!(f, ", byteOffset={} and no limit", self.byte_offset),
        }?;
        match (self.limit, self.byte_offset) {
            (Some(_), 1..) => write!(f, ", byteOffset={}", self.byte_offset),
            _ => Ok(()),
        }
    }
}

/// Why a page cannot be cut.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PageError {
    /// A limit of no lines.
    #[error("limit must be at least 1")]
    LimitZero,
    /// The lines asked for do not fit in a page.
    #[error("{limit} lines from line {offset} have more than {max_bytes} bytes; use {suggestion}")]
    TooLarge {
        /// The line asked for.
        offset: u64,
        /// Lines asked for.
        limit: u64,
        /// The most bytes that a page may have.
        max_bytes: u64,
        /// A call that works.
        suggestion: PageSuggestion,
    },
    /// The position lies behind the end of the line.
    #[error(
        "byteOffset {byte_offset} is past the end of line {offset}, which has {line_bytes} bytes"
    )]
    ByteOffsetPastLine {
        /// The line.
        offset: u64,
        /// The position asked for.
        byte_offset: u64,
        /// The line's length, in bytes without its newline.
        line_bytes: u64,
    },
    /// The artifact cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// Blocking counterpart of [`ArtifactReader`], for stores whose core is not
/// asynchronous.
pub trait BlockingReader {
    /// How many bytes there are.
    fn bytes(&self) -> u64;

    /// How many lines there are; an unterminated rest is one more.
    fn lines(&self) -> u64;

    /// Reads exactly `range`, verified.
    ///
    /// # Errors
    /// [`ReadError`], as for [`ArtifactReader::read`].
    fn read(&self, range: Range<u64>) -> Result<Bytes, ReadError>;

    /// The position of the first byte of the zero-based `line`.
    ///
    /// # Errors
    /// [`ReadError`], as for [`ArtifactReader::line_start`].
    fn line_start(&self, line: u64) -> Result<u64, ReadError>;
}

/// Cuts a page. Past the end it is empty, with the totals.
///
/// # Errors
/// [`PageError`]; where the request is at fault, it says what would work.
pub async fn page(reader: &dyn ArtifactReader, request: &PageRequest) -> Result<Page, PageError> {
    let mut cut = Cut::new(*request, reader.bytes(), reader.lines())?;
    loop {
        match cut.step()? {
            Step::LineStart(line) => cut.line_start(reader.line_start(line).await?),
            Step::Read(range) => cut.window(&reader.read(range).await?),
            Step::Done(page) => return Ok(page),
        }
    }
}

/// Cuts a page as [`page`] does, blocking.
///
/// # Errors
/// As for [`page`].
pub fn page_blocking(
    reader: &impl BlockingReader,
    request: &PageRequest,
) -> Result<Page, PageError> {
    let mut cut = Cut::new(*request, reader.bytes(), reader.lines())?;
    loop {
        match cut.step()? {
            Step::LineStart(line) => cut.line_start(reader.line_start(line)?),
            Step::Read(range) => cut.window(&reader.read(range)?),
            Step::Done(page) => return Ok(page),
        }
    }
}

#[cfg(test)]
mod tests;
