//! How opening a store fails.

use artifacts::FileError;
use camino::Utf8PathBuf;

/// Why a store cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The directory belongs to someone else, who could change what is stored.
    #[error("{path} belongs to user {owner}, not to user {user}")]
    ForeignOwner {
        /// The directory.
        path: Utf8PathBuf,
        /// Its owner.
        owner: u32,
        /// The user that this process acts as.
        user: u32,
    },
    /// Others may write to the directory.
    #[error("others may write to {path} (mode {mode:o})")]
    OpenToOthers {
        /// The directory.
        path: Utf8PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The directory holds something else.
    #[error("{path} is not a store: it holds {entry}")]
    NotAStore {
        /// The directory.
        path: Utf8PathBuf,
        /// The first foreign entry found.
        entry: String,
    },
    /// A file system on which locks and links cannot be relied on.
    #[error("{path} is on {kind}, where a store is not safe (allow_network_fs)")]
    NetworkFileSystem {
        /// The directory.
        path: Utf8PathBuf,
        /// The kind of file system.
        kind: &'static str,
    },
    /// `store.json` cannot be understood.
    #[error("read the description {path}")]
    Description {
        /// The file.
        path: Utf8PathBuf,
        /// What the JSON library said.
        source: serde_json::Error,
    },
    /// A file operation.
    #[error(transparent)]
    File(#[from] FileError),
}

/// The store was written by a newer version: it is read, not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NewerFormat {
    pub(crate) format: u64,
    pub(crate) supported: u64,
}
