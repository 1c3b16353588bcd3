//! Identifiers of sessions, calls and tools.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::limits::{MAX_ID_BYTES, MAX_TOOL_NAME_BYTES};

/// Why a text is no id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdError {
    /// No bytes.
    #[error("{what} must not be empty")]
    Empty {
        /// Which id.
        what: &'static str,
    },
    /// Longer than allowed.
    #[error("{what} has at most {limit} bytes, not {bytes}")]
    TooLong {
        /// Which id.
        what: &'static str,
        /// Most bytes allowed.
        limit: usize,
        /// Bytes found.
        bytes: usize,
    },
    /// A control character.
    #[error("{what} must not have control characters")]
    Control {
        /// Which id.
        what: &'static str,
    },
}

fn check(what: &'static str, text: &str, limit: usize) -> Result<(), IdError> {
    if text.is_empty() {
        return Err(IdError::Empty { what });
    }
    if text.len() > limit {
        return Err(IdError::TooLong { what, limit, bytes: text.len() });
    }
    if text.chars().any(char::is_control) {
        return Err(IdError::Control { what });
    }
    Ok(())
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $what:literal, $limit:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "bindings", derive(ts_rs::TS, schemars::JsonSchema))]
        #[serde(try_from = "String", into = "String")]
        #[cfg_attr(
            feature = "bindings",
            ts(as = "String"),
            schemars(extend("minLength" = 1, "maxLength" = $limit))
        )]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks `text` and keeps it.
            ///
            /// # Errors
            /// [`IdError`] where `text` is empty, too long, or has control
            /// characters.
            pub fn new(text: impl AsRef<str>) -> Result<Self, IdError> {
                let text = text.as_ref();
                check($what, text, $limit)?;
                Ok(Self(text.into()))
            }

            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&*self.0, f)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                Self::new(text)
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;

            fn try_from(text: String) -> Result<Self, IdError> {
                Self::new(text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0.as_ref().to_owned()
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }
    };
}

id! {
    /// A session: the owner of calls and of what they retain. 1 to 256 bytes
    /// without control characters; opaque.
    SessionId, "a session id", MAX_ID_BYTES
}
id! {
    /// A tool call, unique within its session. 1 to 256 bytes without control
    /// characters; it correlates a call with its result and addresses nothing.
    CallId, "a call id", MAX_ID_BYTES
}
id! {
    /// The name of a tool, 1 to 128 bytes without control characters.
    ToolName, "a tool name", MAX_TOOL_NAME_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_hold_for_json_too() {
        assert!(ToolName::new("x".repeat(128)).is_ok());
        assert!(ToolName::new("x".repeat(129)).is_err());
        assert!(serde_json::from_str::<SessionId>(r#""""#).is_err());
        assert!(serde_json::from_str::<CallId>("\"a\\n\"").is_err());
        assert_eq!(serde_json::from_str::<CallId>(r#""c 1/é""#).unwrap().as_str(), "c 1/é");
    }
}
