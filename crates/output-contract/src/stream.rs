//! Stream names: one validator for declarations, chunks, URIs and manifests.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::limits::MAX_STREAM_NAME_BYTES;

/// The name of one output stream: 1 to 64 bytes of `[A-Za-z0-9._-]`, not `.`
/// or `..`, case-sensitive, never percent-decoded.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS, schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "bindings", ts(as = "String"), schemars(extend("pattern" = "^(?!\\.{1,2}$)[A-Za-z0-9._-]{1,64}$")))]
pub struct StreamName(Arc<str>);

impl StreamName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Checks `name` and keeps it.
    ///
    /// # Errors
    /// [`StreamNameError`] says which rule `name` breaks.
    pub fn new(name: &str) -> Result<Self, StreamNameError> {
        if name.is_empty() {
            return Err(StreamNameError::Empty);
        }
        if name.len() > MAX_STREAM_NAME_BYTES {
            return Err(StreamNameError::TooLong { bytes: name.len() });
        }
        if name == "." || name == ".." {
            return Err(StreamNameError::Traversal);
        }
        let allowed = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        match name.char_indices().find(|(_, c)| !allowed(c)) {
            Some((index, character)) => Err(StreamNameError::Character { character, index }),
            None => Ok(Self(name.into())),
        }
    }
}

/// Why a text is no stream name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StreamNameError {
    /// The name has no bytes.
    #[error("a stream name must not be empty")]
    Empty,
    /// The name is longer than [`MAX_STREAM_NAME_BYTES`].
    #[error("a stream name has at most {MAX_STREAM_NAME_BYTES} bytes, not {bytes}")]
    TooLong {
        /// Length found, in bytes.
        bytes: usize,
    },
    /// The name is `.` or `..`.
    #[error("a stream name must not be \".\" or \"..\"")]
    Traversal,
    /// The name has a character outside `[A-Za-z0-9._-]`.
    #[error("a stream name has only letters, digits, '.', '_' and '-', not {character:?}")]
    Character {
        /// The first character that is not allowed.
        character: char,
        /// Its position, in bytes.
        index: usize,
    },
}

impl fmt::Display for StreamName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for StreamName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl FromStr for StreamName {
    type Err = StreamNameError;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Self::new(s)
    }
}

impl TryFrom<String> for StreamName {
    type Error = StreamNameError;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        Self::new(&name)
    }
}

impl TryFrom<&str> for StreamName {
    type Error = StreamNameError;

    fn try_from(name: &str) -> Result<Self, Self::Error> {
        Self::new(name)
    }
}

impl From<StreamName> for String {
    fn from(name: StreamName) -> Self {
        name.0.as_ref().to_owned()
    }
}

impl AsRef<str> for StreamName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for StreamName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_exactly_the_grammar() {
        for good in ["stdout", "a", "A.b_c-9", "...", &"x".repeat(64)] {
            assert_eq!(StreamName::new(good).unwrap().as_str(), good);
        }
        for bad in ["", ".", "..", "a/b", "a\\b", "a b", "a\n", "a\0", "ü", "a%2e", &"x".repeat(65)]
        {
            assert!(StreamName::new(bad).is_err(), "{bad:?}");
            let json = serde_json::to_string(bad).unwrap();
            assert!(serde_json::from_str::<StreamName>(&json).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn names_differ_by_case() {
        assert_ne!(StreamName::new("Out").unwrap(), StreamName::new("out").unwrap());
    }
}
