//! What a tool declares about its output before it runs.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::limits::MAX_STREAMS;
use crate::stream::{StreamName, StreamNameError};

/// One unnamed output, or one to eight named streams.
///
/// Named with a single stream is still named: it has a heading and a manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS, schemars::JsonSchema))]
#[serde(tag = "kind", content = "streams", rename_all = "snake_case")]
pub enum OutputDeclaration {
    /// One output without a name and without a heading.
    Single,
    /// Streams in the order in which the model sees them.
    Named(StreamNames),
}

impl OutputDeclaration {
    /// Declares named streams, in the order in which the model sees them.
    ///
    /// # Errors
    /// [`DeclarationError`] where a name is malformed or repeated, or where
    /// there are none or more than [`MAX_STREAMS`].
    pub fn named<I>(names: I) -> Result<Self, DeclarationError>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        let names = names
            .into_iter()
            .map(|name| {
                let name = name.as_ref();
                StreamName::new(name)
                    .map_err(|source| DeclarationError::Name { name: name.to_owned(), source })
            })
            .collect::<Result<Vec<_>, _>>()?;
        StreamNames::new(names).map(Self::Named)
    }

    /// How many channels this declares: 1 for a single output.
    pub fn channels(&self) -> usize {
        match self {
            Self::Single => 1,
            Self::Named(names) => names.as_slice().len(),
        }
    }

    /// The declared names in order; none for a single output.
    pub fn names(&self) -> &[StreamName] {
        match self {
            Self::Single => &[],
            Self::Named(names) => names.as_slice(),
        }
    }

    /// The name of channel `index`; a single output has none.
    pub fn name(&self, index: usize) -> Option<&StreamName> {
        self.names().get(index)
    }

    /// The index of the channel that `stream` names: `None` is the single
    /// output.
    pub fn index_of(&self, stream: Option<&StreamName>) -> Option<usize> {
        match (self, stream) {
            (Self::Single, None) => Some(0),
            (Self::Named(names), Some(name)) => names.as_slice().iter().position(|n| n == name),
            _ => None,
        }
    }
}

/// Names of 1 to [`MAX_STREAMS`] streams, each once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS, schemars::JsonSchema))]
#[serde(try_from = "Vec<StreamName>", into = "Vec<StreamName>")]
#[cfg_attr(feature = "bindings", ts(type = "Array<StreamName>"), schemars(extend("minItems" = 1, "maxItems" = MAX_STREAMS, "uniqueItems" = true)))]
pub struct StreamNames(Arc<[StreamName]>);

impl StreamNames {
    /// Checks the number of names and that none is repeated.
    ///
    /// # Errors
    /// [`DeclarationError`] says which rule is broken.
    pub fn new(names: Vec<StreamName>) -> Result<Self, DeclarationError> {
        if names.is_empty() {
            return Err(DeclarationError::NoStreams);
        }
        if names.len() > MAX_STREAMS {
            return Err(DeclarationError::TooManyStreams { count: names.len() });
        }
        for (index, name) in names.iter().enumerate() {
            if names[..index].contains(name) {
                return Err(DeclarationError::Duplicate { name: name.clone() });
            }
        }
        Ok(Self(names.into()))
    }

    /// The names, in declaration order.
    pub fn as_slice(&self) -> &[StreamName] {
        &self.0
    }
}

impl TryFrom<Vec<StreamName>> for StreamNames {
    type Error = DeclarationError;

    fn try_from(names: Vec<StreamName>) -> Result<Self, Self::Error> {
        Self::new(names)
    }
}

impl From<StreamNames> for Vec<StreamName> {
    fn from(names: StreamNames) -> Self {
        names.0.to_vec()
    }
}

/// Why a declaration is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeclarationError {
    /// A name breaks the grammar of stream names.
    #[error("invalid stream name {name:?}")]
    Name {
        /// The name as given.
        name: String,
        /// The rule it breaks.
        source: StreamNameError,
    },
    /// Named output without a stream.
    #[error("a named output declares at least one stream")]
    NoStreams,
    /// More than [`MAX_STREAMS`] streams.
    #[error("an output declares at most {MAX_STREAMS} streams, not {count}")]
    TooManyStreams {
        /// How many were declared.
        count: usize,
    },
    /// The same name twice.
    #[error("stream {name} is declared twice")]
    Duplicate {
        /// The repeated name.
        name: StreamName,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_count_are_kept() {
        let declaration = OutputDeclaration::named(["stderr", "stdout"]).unwrap();
        assert_eq!(declaration.channels(), 2);
        assert_eq!(declaration.name(0).unwrap().as_str(), "stderr");
        assert_eq!(declaration.index_of(Some(&"stdout".parse().unwrap())), Some(1));
        assert_eq!(declaration.index_of(None), None);
        assert_eq!(OutputDeclaration::Single.index_of(None), Some(0));
        assert_eq!(OutputDeclaration::Single.index_of(Some(&"stdout".parse().unwrap())), None);
    }

    #[test]
    fn invalid_declarations_are_distinct() {
        let names = |n: usize| (0..n).map(|i| format!("s{i}")).collect::<Vec<_>>();
        assert!(OutputDeclaration::named(names(8)).is_ok());
        assert_eq!(
            OutputDeclaration::named(names(9)),
            Err(DeclarationError::TooManyStreams { count: 9 })
        );
        assert_eq!(OutputDeclaration::named(names(0)), Err(DeclarationError::NoStreams));
        assert!(matches!(
            OutputDeclaration::named(["a", "b", "a"]),
            Err(DeclarationError::Duplicate { .. })
        ));
        assert!(matches!(
            OutputDeclaration::named(["a", ".."]),
            Err(DeclarationError::Name { .. })
        ));
    }

    #[test]
    fn json_goes_through_the_same_validator() {
        let json = r#"{"kind":"named","streams":["stdout","stderr"]}"#;
        let declaration: OutputDeclaration = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&declaration).unwrap(), json);
        assert_eq!(
            serde_json::to_string(&OutputDeclaration::Single).unwrap(),
            r#"{"kind":"single"}"#
        );
        for bad in [
            r#"{"kind":"named","streams":[]}"#,
            r#"{"kind":"named","streams":["a","a"]}"#,
            r#"{"kind":"named","streams":["a/b"]}"#,
            r#"{"kind":"named"}"#,
        ] {
            assert!(serde_json::from_str::<OutputDeclaration>(bad).is_err(), "{bad}");
        }
    }
}
