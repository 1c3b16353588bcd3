//! How capturing fails.

use std::sync::Arc;

use camino::Utf8PathBuf;

use crate::error::FileError;

/// Why something could not be captured, sealed or cleaned up.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// A name that is not a plain file name.
    #[error("{name:?} is no name for a capture's file")]
    Name {
        /// The name as given.
        name: String,
    },
    /// The capture's description could not be encoded or read.
    #[error("read or write the description {path}")]
    Meta {
        /// The file.
        path: Utf8PathBuf,
        /// What the JSON library said.
        source: Arc<serde_json::Error>,
    },
    /// The file does not hold what was written to it.
    #[error("{path} has {found} bytes where {accepted} were written")]
    Size {
        /// The file.
        path: Utf8PathBuf,
        /// Bytes written and hashed.
        accepted: u64,
        /// Bytes found.
        found: u64,
    },
    /// The medium refused the file: what it holds is unknown, and it must not
    /// be used. Trying again would only hide that.
    #[error("{} is lost: it could not be brought to the medium", source.path)]
    Lost {
        /// The failed operation.
        source: FileError,
    },
    /// No lock could be had for a new capture.
    #[error("no new capture could be locked in {path}")]
    Contended {
        /// The directory of all captures.
        path: Utf8PathBuf,
    },
    /// A file operation.
    #[error(transparent)]
    File(#[from] FileError),
}

impl CaptureError {
    /// What the system said, as a lowercase fragment: `no space left on device`.
    pub fn detail(&self) -> String {
        match self {
            Self::File(error) | Self::Lost { source: error } => error.detail(),
            other => other.to_string(),
        }
    }
}
