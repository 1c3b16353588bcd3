//! Why a file is not taken.

use super::Format;

/// Why a file is not read as a history, or has no place for a summary.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// There is nothing in the file.
    #[error("the file is empty; expected {}", .expected.expected())]
    Empty {
        /// What the file was to be.
        expected: Format,
    },
    /// The file is something else: another log, or no JSON at all.
    #[error("found {found}, which is no history; expected {}", .expected.expected())]
    NotAHistory {
        /// What the file is, in a few words.
        found: String,
        /// What it was to be.
        expected: Format,
    },
    /// The file is a history, but not one of this provider.
    #[error("found a history of the format {found}; expected {}", .expected.expected())]
    OtherFormat {
        /// The format that the file has.
        found: Format,
        /// The one it was to have.
        expected: Format,
    },
    /// The file holds more than one history, and a summary stands for one.
    #[error("the file holds {count} histories; each is compacted as a file of its own")]
    SeveralHistories {
        /// How many.
        count: usize,
    },
    /// The file is one message alone, with no list around it.
    #[error("the file is a single message, which has no place for a summary beside it")]
    SingleMessage,
}
