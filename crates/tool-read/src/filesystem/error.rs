//! Why a path is not read: one message for each reason, for the model to act
//! on.

use std::io;
use std::sync::Arc;

use artifacts::PageError;
use camino::{Utf8Path, Utf8PathBuf};
use output_contract::limits::{MAX_ATTACHMENT_BYTES, MAX_PAGE_BYTES};

/// Why a path is not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum FileError {
    #[error("no such file: {path}{}", missing_details(path, dir, at, similar))]
    Missing {
        path: Utf8PathBuf,
        /// The nearest directory that exists.
        dir: Utf8PathBuf,
        /// What that directory does not have.
        at: Utf8PathBuf,
        /// What it has instead.
        similar: Vec<String>,
    },
    #[error("no such file: {path}: {at} is not a directory")]
    NotADirectory { path: Utf8PathBuf, at: Utf8PathBuf },
    #[error("permission denied: {path} must not be read by this user")]
    Denied { path: Utf8PathBuf },
    #[error("cannot open {path}")]
    Open {
        path: Utf8PathBuf,
        #[source]
        source: io::Error,
    },
    #[error(
        "{path} became a symbolic link after this call was checked; it was not read, call again"
    )]
    Changed { path: Utf8PathBuf },
    #[error("{path} is {kind}; only regular files and directories are read")]
    Special { path: Utf8PathBuf, kind: &'static str },
    #[error("{path} has more than {max} entries, which are too many to list; name one of them")]
    TooManyEntries { path: Utf8PathBuf, max: usize },
    #[error(
        "{path} has {bytes} bytes ({media_type}), and an attachment has at most \
         {MAX_ATTACHMENT_BYTES}; {advice}"
    )]
    MediaTooLarge { path: Utf8PathBuf, media_type: &'static str, bytes: u64, advice: &'static str },
    #[error(
        "{path} is a binary file ({}{bytes} bytes); text, images, PDFs and directories are read",
        kind.map(|kind| format!("{kind}, ")).unwrap_or_default()
    )]
    Binary { path: Utf8PathBuf, kind: Option<&'static str>, bytes: u64 },
    #[error(
        "byteOffset {byte_offset} is past the end of line {offset}, which has {line_bytes} bytes"
    )]
    ByteOffset { offset: u64, byte_offset: u64, line_bytes: u64 },
    #[error(
        "the lines asked for are larger, as shown, than the {MAX_PAGE_BYTES} bytes that a page holds; \
         this works: {works}"
    )]
    TooLarge { works: String },
    #[error("cannot read {path}")]
    Read {
        path: Utf8PathBuf,
        #[source]
        source: Arc<io::Error>,
    },
    #[error("cannot read a page of {path}")]
    Page {
        path: Utf8PathBuf,
        #[source]
        source: PageError,
    },
}

impl FileError {
    pub(crate) fn read(path: &Utf8Path, source: impl Into<Arc<io::Error>>) -> Self {
        Self::Read { path: path.to_owned(), source: source.into() }
    }
}

fn missing_details(path: &Utf8Path, dir: &Utf8Path, at: &Utf8Path, similar: &[String]) -> String {
    let mut details = String::new();
    if at != path {
        details = format!(" ({at} does not exist)");
    }
    if !similar.is_empty() {
        details = format!("{details}; similar names in {dir}: {}", similar.join(", "));
    }
    details
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_shows_where_the_way_ends() {
        let message = |path: &str, at: &str, similar: &[&str]| {
            let similar = similar.iter().map(|&name| name.to_owned()).collect();
            let error =
                FileError::Missing { path: path.into(), dir: "/w".into(), at: at.into(), similar };
            error.to_string()
        };
        assert_eq!(message("/w/a", "/w/a", &[]), "no such file: /w/a");
        assert_eq!(
            message("/w/a", "/w/a", &["b", "c"]),
            "no such file: /w/a; similar names in /w: b, c"
        );
        assert_eq!(
            message("/w/srx/a", "/w/srx", &["src"]),
            "no such file: /w/srx/a (/w/srx does not exist); similar names in /w: src"
        );
    }
}
