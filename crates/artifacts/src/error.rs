//! How the operations of this seam fail.
//!
//! Each operation has its own error. `Backend` carries whatever a store that
//! is not made of local files has to say.

use std::error::Error;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use camino::Utf8PathBuf;
use output_contract::{Digest, StreamName, Timestamp};

pub use crate::capture::CaptureError;
pub use crate::manifest::ManifestError;

/// What a backend of another kind reports.
pub type BackendError = Box<dyn Error + Send + Sync + 'static>;

/// One file operation that failed.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{action} {path}")]
pub struct FileError {
    /// What was to be done, as in "failed to open".
    pub action: &'static str,
    /// The file or directory.
    pub path: Utf8PathBuf,
    /// What the system said.
    pub source: Arc<io::Error>,
}

impl FileError {
    /// An operation on `path` that failed with `source`.
    pub fn new(
        action: &'static str,
        path: impl Into<Utf8PathBuf>,
        source: impl Into<io::Error>,
    ) -> Self {
        Self { action, path: path.into(), source: Arc::new(source.into()) }
    }

    /// The kind of the system's error.
    pub fn kind(&self) -> io::ErrorKind {
        self.source.kind()
    }

    /// What the system said, as a lowercase fragment without the error number:
    /// `no space left on device`.
    pub fn detail(&self) -> String {
        let text = self.source.to_string();
        let text = text.rsplit_once(" (os error ").map_or(text.as_str(), |(text, _)| text);
        let mut chars = text.chars();
        match (chars.next(), chars.clone().next()) {
            // An acronym (`EOF`) stays as it is.
            (Some(first), Some(second)) if !second.is_uppercase() => {
                first.to_lowercase().chain(chars).collect()
            }
            _ => text.to_owned(),
        }
    }
}

/// Why nothing was published.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// A sealed capture that is not below this store's captures.
    #[error("{path} is no capture of this store")]
    ForeignCapture {
        /// Where it is.
        path: Utf8PathBuf,
    },
    /// The file is not the one that was sealed.
    #[error("{path} has changed since it was sealed")]
    CaptureChanged {
        /// Where it was.
        path: Utf8PathBuf,
    },
    /// The manifest names a stream that is not among the blobs, or whose size
    /// or lines are others.
    #[error("the manifest's stream {stream} ({digest}) is not among the published blobs")]
    StreamNotPublished {
        /// The stream.
        stream: StreamName,
        /// Its digest in the manifest.
        digest: Digest,
    },
    /// The store was written by a newer version and is only read.
    #[error("the store's format {format} is newer than {supported}")]
    NewerFormat {
        /// The format found.
        format: u64,
        /// The newest that can be written.
        supported: u64,
    },
    /// A file operation.
    #[error(transparent)]
    File(#[from] FileError),
    /// A backend of another kind.
    #[error("the backend failed")]
    Backend(#[source] BackendError),
}

/// Why an artifact cannot be opened or borrowed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Nothing is stored under this digest.
    #[error("unknown artifact {digest}")]
    Unknown {
        /// The digest.
        digest: Digest,
    },
    /// Something was stored under this digest, and a collection removed it once
    /// nothing kept it any more. Asking again does not bring it back;
    /// publishing the same bytes does.
    #[error(
        "artifact {digest} has expired: it was {what}, {bytes} bytes, and was removed at {}; do \
         not read it again, run the command again where its output is still needed",
        moment(*when)
    )]
    Expired {
        /// The digest.
        digest: Digest,
        /// How many bytes it had.
        bytes: u64,
        /// When it was removed.
        when: Timestamp,
        /// What it was, for a message: `an output of call 7 of session s`.
        what: String,
    },
    /// A stream was asked of an artifact that is no manifest.
    #[error("artifact {digest} is not a named output")]
    NotNamed {
        /// The artifact.
        digest: Digest,
    },
    /// The manifest has no stream of this name.
    #[error("unknown stream {stream}; declared: {}", names(declared))]
    UnknownStream {
        /// The name asked for.
        stream: StreamName,
        /// The names there are, in declaration order.
        declared: Vec<StreamName>,
    },
    /// The stored bytes do not have the digest.
    #[error("artifact {digest} is corrupt in bytes {}..{}", range.start, range.end)]
    Corrupt {
        /// The digest.
        digest: Digest,
        /// The bytes that are known to hold the damage.
        range: Range<u64>,
    },
    /// The bytes have the digest, but are no manifest that can be read.
    #[error("unreadable manifest {digest}")]
    Manifest {
        /// The digest.
        digest: Digest,
        /// The rule it breaks.
        source: ManifestError,
    },
    /// Borrowing writes, and the store was written by a newer version.
    #[error("the store's format {format} is newer than {supported}")]
    NewerFormat {
        /// The format found.
        format: u64,
        /// The newest that can be written.
        supported: u64,
    },
    /// A file operation.
    #[error(transparent)]
    File(#[from] FileError),
    /// A backend of another kind.
    #[error("the backend failed")]
    Backend(#[source] BackendError),
}

/// A time as `2026-01-31T12:00:00Z`.
fn moment(at: Timestamp) -> String {
    let latest = Duration::from_secs(253_402_300_799);
    let time = SystemTime::UNIX_EPOCH + Duration::from_millis(at.0).min(latest);
    humantime::format_rfc3339_seconds(time).to_string()
}

fn names(names: &[StreamName]) -> String {
    names.iter().map(StreamName::as_str).collect::<Vec<_>>().join(", ")
}

/// Why bytes of an open artifact cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The stored bytes do not have the digest.
    #[error("artifact {digest} is corrupt in bytes {}..{}", range.start, range.end)]
    Corrupt {
        /// The digest.
        digest: Digest,
        /// The bytes that are known to hold the damage.
        range: Range<u64>,
    },
    /// Asked for bytes that are not there.
    #[error("bytes {}..{} are not within the artifact's {bytes} bytes", range.start, range.end)]
    OutOfRange {
        /// The bytes asked for.
        range: Range<u64>,
        /// How many there are.
        bytes: u64,
    },
    /// A file operation.
    #[error(transparent)]
    File(#[from] FileError),
    /// A backend of another kind.
    #[error("the backend failed")]
    Backend(#[source] BackendError),
}

impl From<ReadError> for OpenError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Corrupt { digest, range } => Self::Corrupt { digest, range },
            ReadError::File(error) => Self::File(error),
            ReadError::Backend(error) => Self::Backend(error),
            error @ ReadError::OutOfRange { .. } => Self::Backend(Box::new(error)),
        }
    }
}

/// Why a root could not be recorded or released.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RootError {
    /// The guard's lease is gone: what it named may have been removed. Publish
    /// again from the captures.
    #[error("the lease that protected the artifacts is gone")]
    LeaseLost,
    /// The owner's record cannot be read, so nothing may be added to it.
    #[error("unreadable roots {path}")]
    Unreadable {
        /// The record.
        path: Utf8PathBuf,
        /// Why.
        source: BackendError,
    },
    /// The store was written by a newer version and is only read.
    #[error("the store's format {format} is newer than {supported}")]
    NewerFormat {
        /// The format found.
        format: u64,
        /// The newest that can be written.
        supported: u64,
    },
    /// A file operation.
    #[error(transparent)]
    File(#[from] FileError),
    /// A backend of another kind.
    #[error("the backend failed")]
    Backend(#[source] BackendError),
}

/// Why a collection removed nothing, or stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CollectError {
    /// A root, a lease or a manifest that cannot be read: what it refers to is
    /// not known, so nothing is removed.
    #[error("unreadable {what} {path}")]
    Unreadable {
        /// `roots`, `lease` or `manifest`.
        what: &'static str,
        /// Which.
        path: Utf8PathBuf,
        /// Why.
        source: BackendError,
    },
    /// The store was written by a newer version and is only read.
    #[error("the store's format {format} is newer than {supported}")]
    NewerFormat {
        /// The format found.
        format: u64,
        /// The newest that can be written.
        supported: u64,
    },
    /// Records of roots are gone that nobody released, and most of what is
    /// stored would go with them. Bring the records back, or collect with
    /// `force`.
    #[error(
        "{unexplained} of {stored} stored artifacts ({bytes} bytes) would go because records of \
         roots are lost, of which none was released"
    )]
    RootsLost {
        /// Blobs and manifests that would go without having been released.
        unexplained: u64,
        /// Their size, in bytes.
        bytes: u64,
        /// All blobs and manifests.
        stored: u64,
        /// The records that are missing or shorter than they were.
        lost: Vec<Utf8PathBuf>,
    },
    /// A capture that could not be removed.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// A file operation.
    #[error(transparent)]
    File(#[from] FileError),
    /// A backend of another kind.
    #[error("the backend failed")]
    Backend(#[source] BackendError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_expired_says_what_it_was_and_when() {
        let (digest, what) = (Digest::EMPTY, "an output of call 7 of session s".to_owned());
        let expired = |ms| {
            let what = what.clone();
            OpenError::Expired { digest, bytes: 7, when: Timestamp(ms), what }.to_string()
        };
        let text = expired(1_700_000_000_000);
        for part in ["expired", "call 7 of session s, 7 bytes", "2023-11-14T22:13:20Z", "not read"]
        {
            assert!(text.contains(part), "{text}");
        }
        assert!(expired(u64::MAX).contains("9999-12-31"));
    }

    #[test]
    fn details_are_lowercase_fragments() {
        let detail = |error: io::Error| FileError::new("write", "/x", error).detail();
        assert_eq!(detail(io::Error::from_raw_os_error(28)), "no space left on device");
        assert_eq!(detail(io::Error::other("EOF reached")), "EOF reached");
        assert_eq!(detail(io::Error::other("Odd")), "odd");
    }
}
