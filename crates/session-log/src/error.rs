//! What can go wrong with a log that is not a matter of its content.

use artifacts::{FileError, JournalError};
use camino::Utf8PathBuf;
use output_contract::SessionId;

/// Why a log could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The directory is another user's, who could replace every log in it.
    #[error("{dir} belongs to the user with id {owner}")]
    ForeignDirectory {
        /// The directory.
        dir: Utf8PathBuf,
        /// Whose it is.
        owner: u32,
    },
    /// There is something else where a log should be.
    #[error("{path} is not a regular file")]
    NotAFile {
        /// The path.
        path: Utf8PathBuf,
    },
    /// The file of a session begins with the name of another session.
    #[error("{path} is the log of session {found}, not of {session}")]
    OtherSession {
        /// The file.
        path: Utf8PathBuf,
        /// Whose log it should be.
        session: SessionId,
        /// Whose it is.
        found: SessionId,
    },
    /// The session has no log.
    #[error("session {session} has no log")]
    NoSuchSession {
        /// The session.
        session: SessionId,
    },
    /// An event whose arguments or values are nested so deeply that no reader
    /// would take them.
    #[error("an event has at most {limit} levels of nesting, not {depth}")]
    TooDeep {
        /// Levels found.
        depth: usize,
        /// Most levels that can be read back.
        limit: usize,
    },
    /// A file operation.
    #[error(transparent)]
    File(#[from] FileError),
}

impl From<LogError> for JournalError {
    fn from(error: LogError) -> Self {
        match error {
            LogError::File(error) => Self::File(error),
            other => Self::Backend(Box::new(other)),
        }
    }
}
