//! Why a text is not kept.

use std::error::Error;
use std::io;

/// An error of a backend that this crate has no word for.
pub type BackendError = Box<dyn Error + Send + Sync>;

/// Why a text is not kept. Nothing of it is left behind.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpillError {
    /// The place is not safe to keep a text in: a symbolic link, another's
    /// directory, or one that others may write to.
    #[error("refused to spill to {place}: {reason}")]
    Unsafe {
        /// The place.
        place: String,
        /// What is wrong with it, and what would be right.
        reason: String,
    },
    /// The system refused a file operation: no space, no descriptor, no access.
    #[error("could not {action} {place}")]
    File {
        /// What was to be done.
        action: &'static str,
        /// With which file or directory.
        place: String,
        /// What the system said, with its number.
        source: io::Error,
    },
    /// The text is larger than the backend takes.
    #[error("a spilled text has at most {limit} bytes here, not {bytes}")]
    TooLarge {
        /// The most bytes that are taken.
        limit: u64,
        /// Its size, in bytes.
        bytes: u64,
    },
    /// A backend of another kind.
    #[error("the spill backend failed")]
    Backend(#[source] BackendError),
}
