//! What a backend gives for a text that it keeps.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where a text is kept: a path, a URI, a key. Only the backend's own reader
/// knows which.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SpillLocator(String);

/// Why a text is no locator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LocatorError {
    /// No bytes.
    #[error("a locator must not be empty")]
    Empty,
    /// It would not stay on one line.
    #[error("a locator must not have control characters")]
    Control,
}

impl SpillLocator {
    /// Checks `text` and keeps it.
    ///
    /// # Errors
    /// [`LocatorError`] where it is empty, or has control characters, so that it
    /// could not be presented on one line.
    pub fn new(text: impl Into<String>) -> Result<Self, LocatorError> {
        let text = text.into();
        if text.is_empty() {
            return Err(LocatorError::Empty);
        }
        if text.chars().any(char::is_control) {
            return Err(LocatorError::Control);
        }
        Ok(Self(text))
    }

    /// The locator as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SpillLocator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for SpillLocator {
    type Error = LocatorError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::new(text)
    }
}

impl From<SpillLocator> for String {
    fn from(locator: SpillLocator) -> Self {
        locator.0
    }
}

/// A text that is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SpillRef {
    /// Where it is.
    pub locator: SpillLocator,
    /// Its size, in bytes of UTF-8.
    pub bytes: u64,
    /// How the model reads it, in words, on one line.
    pub retrieval_hint: String,
}

impl SpillRef {
    /// What presenting it costs beside fixed words: locator and hint, in bytes.
    pub fn reference_bytes(&self) -> usize {
        self.locator.as_str().len() + self.retrieval_hint.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locator_stays_on_one_line() {
        assert_eq!(SpillLocator::new(""), Err(LocatorError::Empty));
        for text in ["a\nb", "a\u{85}b", "a\0", "\u{1b}[m"] {
            assert_eq!(SpillLocator::new(text), Err(LocatorError::Control), "{text:?}");
        }
        let json = r#""/spill/日本 1.txt""#;
        let locator: SpillLocator = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&locator).unwrap(), json);
        assert!(serde_json::from_str::<SpillLocator>(r#""""#).is_err());
    }
}
