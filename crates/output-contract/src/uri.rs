//! The public address of stored output: `artifact://<digest>[/<stream>]`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::digest::{Digest, DigestError};
use crate::stream::{StreamName, StreamNameError};

const SCHEME: &str = "artifact:";
const PREFIX: &str = "artifact://";

/// Whether `path` means an artifact: it starts with `artifact:` in any letter
/// case.
///
/// This one predicate serves dispatch, approval and compaction, and it runs
/// before any path handling: what it accepts is then an [`ArtifactUri`] or an
/// error, never a file. `./artifact:x` is a file.
pub fn is_artifact_intent(path: &str) -> bool {
    path.as_bytes()
        .get(..SCHEME.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(SCHEME.as_bytes()))
}

/// `artifact://` + 64 lowercase hex digits + optionally `/` and one stream
/// name; nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS, schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "bindings", ts(as = "String"), schemars(extend("pattern" = "^artifact://[0-9a-f]{64}(/[A-Za-z0-9._-]{1,64})?$")))]
pub struct ArtifactUri {
    /// A stored output, or a manifest of named streams.
    pub digest: Digest,
    /// A stream that the manifest names.
    pub stream: Option<StreamName>,
}

impl ArtifactUri {
    /// The address of the stored bytes themselves.
    pub const fn bare(digest: Digest) -> Self {
        Self { digest, stream: None }
    }

    /// The address of one stream of a manifest.
    pub const fn stream(manifest: Digest, stream: StreamName) -> Self {
        Self { digest: manifest, stream: Some(stream) }
    }

    /// Parses the exact grammar.
    ///
    /// # Errors
    /// [`ArtifactUriError`] says what is malformed and shows the valid form.
    pub fn parse(uri: &str) -> Result<Self, ArtifactUriError> {
        let rest = uri.strip_prefix(PREFIX).ok_or(ArtifactUriError::Prefix)?;
        if rest.starts_with("sha256/") {
            return Err(ArtifactUriError::Internal);
        }
        let (hex, stream) = match rest.split_once('/') {
            Some((hex, stream)) => (hex, Some(stream)),
            None => (rest, None),
        };
        let digest = Digest::parse(hex).map_err(ArtifactUriError::Digest)?;
        let stream = stream.map(StreamName::new).transpose().map_err(ArtifactUriError::Stream)?;
        Ok(Self { digest, stream })
    }
}

/// Why a text is no artifact URI.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArtifactUriError {
    /// Does not start with `artifact://`, in lower case.
    #[error("an artifact URI is artifact://<64 lowercase hex digits>[/<stream>]")]
    Prefix,
    /// The internal form `artifact://sha256/<digest>`.
    #[error(
        "artifact://sha256/… is an internal reference; read artifact://<64 lowercase hex digits>"
    )]
    Internal,
    /// What follows `artifact://` is no digest.
    #[error("an artifact URI is artifact://<64 lowercase hex digits>[/<stream>]")]
    Digest(#[source] DigestError),
    /// What follows the digest is no stream name.
    #[error("only one stream name may follow the digest of an artifact URI")]
    Stream(#[source] StreamNameError),
}

impl fmt::Display for ArtifactUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.digest)?;
        match &self.stream {
            Some(stream) => write!(f, "/{stream}"),
            None => Ok(()),
        }
    }
}

impl FromStr for ArtifactUri {
    type Err = ArtifactUriError;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Self::parse(s)
    }
}

impl TryFrom<String> for ArtifactUri {
    type Error = ArtifactUriError;

    fn try_from(uri: String) -> Result<Self, Self::Error> {
        Self::parse(&uri)
    }
}

impl From<ArtifactUri> for String {
    fn from(uri: ArtifactUri) -> Self {
        uri.to_string()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HEX: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn both_forms_round_trip() {
        for uri in [format!("artifact://{HEX}"), format!("artifact://{HEX}/stdout")] {
            assert_eq!(ArtifactUri::parse(&uri).unwrap().to_string(), uri);
        }
    }

    #[test]
    fn nothing_else_is_an_artifact() {
        let upper = HEX.to_uppercase();
        for bad in [
            "artifact:",
            "artifact://",
            "artifact:///",
            "artifact://../../etc/passwd",
            "artifact://%2e%2e",
            &format!("ARTIFACT://{HEX}"),
            &format!("artifact:{HEX}"),
            &format!("artifact://{upper}"),
            &format!("artifact://{HEX}/"),
            &format!("artifact://{HEX}//stdout"),
            &format!("artifact://{HEX}/stdout/"),
            &format!("artifact://{HEX}/a/b"),
            &format!("artifact://{HEX}/.."),
            &format!("artifact://{HEX}/%73tdout"),
            &format!("artifact://{HEX}?x=1"),
            &format!("artifact://{HEX}#x"),
            &format!("artifact://{HEX}/stdout?x"),
            &format!("artifact://{HEX}\0"),
            &format!("artifact://{HEX} "),
            &format!(" artifact://{HEX}"),
            &format!("artifact://sha256/{HEX}"),
        ] {
            assert!(ArtifactUri::parse(bad).is_err(), "{bad:?}");
        }
        assert_eq!(
            ArtifactUri::parse(&format!("artifact://sha256/{HEX}")),
            Err(ArtifactUriError::Internal)
        );
    }

    #[test]
    fn intent_is_seen_in_any_case_and_only_at_the_start() {
        for yes in ["artifact:", "Artifact://x", "ARTIFACT:/etc/passwd", "artifact://../x"] {
            assert!(is_artifact_intent(yes), "{yes}");
        }
        for no in ["", "artifact", "./artifact:x", " artifact:", "/artifact:", "ärtifact:x"] {
            assert!(!is_artifact_intent(no), "{no}");
        }
    }

    proptest! {
        #[test]
        fn what_parses_prints_the_same(uri in "(artifact://)?[0-9a-fA-F]{63,65}(/[a-z./%]{0,5})?") {
            if let Ok(parsed) = ArtifactUri::parse(&uri) {
                prop_assert_eq!(parsed.to_string(), uri.clone());
                prop_assert!(is_artifact_intent(&uri));
            }
        }
    }
}
