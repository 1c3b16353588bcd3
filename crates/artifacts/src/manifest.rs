//! Manifests: the stored JSON that names the streams of one call.
//!
//! The bytes are canonical, so that the same streams always have the same
//! manifest digest: keys in this order, no spaces, no final newline.
//!
//! ```json
//! {"type":"overspill/manifest","version":1,"streams":[{"name":…,"sha256":…,"bytes":…,"lines":…}]}
//! ```
//!
//! History: version 1 is the first. A reader refuses a newer version by an
//! error of its own and never guesses.

use std::fmt::Write as _;

use output_contract::{DeclarationError, Digest, StreamName, StreamNames};
use serde::Deserialize;
use serde_json::Value;

use crate::hash;

/// The version that this crate writes.
pub const MANIFEST_VERSION: u64 = 1;
/// Longest manifest that is read, in bytes; eight streams need a quarter of it.
pub const MAX_MANIFEST_BYTES: u64 = 8 * 1024;

const TYPE: &str = "overspill/manifest";

/// The named streams of one call, in declaration order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    streams: Vec<ManifestStream>,
}

/// One stream of a [`Manifest`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManifestStream {
    /// Its name.
    pub name: StreamName,
    /// The digest of its bytes.
    pub sha256: Digest,
    /// How many bytes it has.
    pub bytes: u64,
    /// How many lines it has; an unterminated rest is one more.
    pub lines: u64,
}

impl Manifest {
    /// A manifest of `streams`.
    ///
    /// # Errors
    /// [`ManifestError::Streams`] where there are none, too many, or two of the
    /// same name.
    pub fn new(streams: Vec<ManifestStream>) -> Result<Self, ManifestError> {
        StreamNames::new(streams.iter().map(|stream| stream.name.clone()).collect())
            .map_err(ManifestError::Streams)?;
        Ok(Self { streams })
    }

    /// The streams, in declaration order.
    pub fn streams(&self) -> &[ManifestStream] {
        &self.streams
    }

    /// The stream called `name`.
    pub fn stream(&self, name: &StreamName) -> Option<&ManifestStream> {
        self.streams.iter().find(|stream| stream.name == *name)
    }

    /// The canonical bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut json = format!(r#"{{"type":"{TYPE}","version":{MANIFEST_VERSION},"streams":["#);
        for (index, ManifestStream { name, sha256, bytes, lines }) in
            self.streams.iter().enumerate()
        {
            let comma = if index == 0 { "" } else { "," };
            // Names are of `[A-Za-z0-9._-]`: nothing needs escaping.
            write!(
                json,
                r#"{comma}{{"name":"{name}","sha256":"{sha256}","bytes":{bytes},"lines":{lines}}}"#
            )
            .expect("a String takes all that is written");
        }
        json.push_str("]}");
        json.into_bytes()
    }

    /// The digest of the canonical bytes: the address of this manifest.
    pub fn digest(&self) -> Digest {
        hash::digest_of(&self.encode())
    }

    /// Reads canonical bytes and nothing else.
    ///
    /// # Errors
    /// [`ManifestError`] says which rule `bytes` break.
    pub fn decode(bytes: &[u8]) -> Result<Self, ManifestError> {
        if bytes.len() as u64 > MAX_MANIFEST_BYTES {
            return Err(ManifestError::TooLong { bytes: bytes.len() });
        }
        let value: Value = serde_json::from_slice(bytes).map_err(ManifestError::Json)?;
        if value.get("type").and_then(Value::as_str) != Some(TYPE) {
            return Err(ManifestError::NotAManifest);
        }
        match value.get("version").and_then(Value::as_u64) {
            Some(MANIFEST_VERSION) => {}
            Some(version) if version > MANIFEST_VERSION => {
                return Err(ManifestError::Newer { version });
            }
            _ => return Err(ManifestError::NotAManifest),
        }
        let streams = value.get("streams").cloned().unwrap_or_default();
        let streams = serde_json::from_value(streams).map_err(ManifestError::Json)?;
        let manifest = Self::new(streams)?;
        if manifest.encode() == bytes { Ok(manifest) } else { Err(ManifestError::NotCanonical) }
    }
}

/// Why bytes are no manifest.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// Longer than [`MAX_MANIFEST_BYTES`].
    #[error("a manifest has at most {MAX_MANIFEST_BYTES} bytes, not {bytes}")]
    TooLong {
        /// Length found, in bytes.
        bytes: usize,
    },
    /// No JSON, or a field that is missing or of the wrong kind.
    #[error("read a manifest's JSON")]
    Json(#[source] serde_json::Error),
    /// JSON of another type.
    #[error("the JSON is not an {TYPE}")]
    NotAManifest,
    /// Written by a newer version.
    #[error("manifest version {version} is newer than {MANIFEST_VERSION}")]
    Newer {
        /// The version found.
        version: u64,
    },
    /// No streams, too many, or a repeated name.
    #[error("a manifest's streams break a rule")]
    Streams(#[source] DeclarationError),
    /// The same JSON value in other bytes.
    #[error("the manifest is not in its canonical form")]
    NotCanonical,
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOLDEN: &str = concat!(
        r#"{"type":"overspill/manifest","version":1,"streams":["#,
        r#"{"name":"stdout","sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","#,
        r#""bytes":0,"lines":0},"#,
        r#"{"name":"stderr","sha256":"0000000000000000000000000000000000000000000000000000000000000000","#,
        r#""bytes":18446744073709551615,"lines":3}]}"#
    );

    fn stream(name: &str) -> ManifestStream {
        ManifestStream { name: name.parse().unwrap(), sha256: Digest::EMPTY, bytes: 0, lines: 0 }
    }

    #[test]
    fn the_bytes_are_golden() {
        let stderr = ManifestStream {
            sha256: Digest::from_bytes([0; 32]),
            bytes: u64::MAX,
            lines: 3,
            ..stream("stderr")
        };
        let manifest = Manifest::new(vec![stream("stdout"), stderr]).unwrap();
        assert_eq!(String::from_utf8(manifest.encode()).unwrap(), GOLDEN);
        assert_eq!(Manifest::decode(GOLDEN.as_bytes()).unwrap(), manifest);
        assert_eq!(
            manifest.digest().to_string(),
            "4789f6326ac5475359683dd5cd1ea6443bab31bf67328babbf028111a0d9e09f"
        );
    }

    #[test]
    fn the_longest_manifest_is_well_within_the_limit() {
        let streams = (0..8)
            .map(|i| ManifestStream {
                bytes: u64::MAX,
                lines: u64::MAX,
                ..stream(&format!("{i:x>64}"))
            })
            .collect();
        let bytes = Manifest::new(streams).unwrap().encode();
        assert!((bytes.len() as u64) < MAX_MANIFEST_BYTES / 2);
        Manifest::decode(&bytes).unwrap();
    }

    #[test]
    fn nothing_but_the_canonical_form_is_read() {
        let refuse = |from: &str, to: &str| {
            let changed = GOLDEN.replacen(from, to, 1);
            assert_ne!(changed, GOLDEN, "{from}");
            Manifest::decode(changed.as_bytes()).unwrap_err()
        };
        assert!(matches!(
            refuse(r#""version":1"#, r#""version":2"#),
            ManifestError::Newer { version: 2 }
        ));
        assert!(matches!(refuse(r#""version":1"#, r#""version":0"#), ManifestError::NotAManifest));
        assert!(matches!(refuse("/manifest", "/m"), ManifestError::NotAManifest));
        assert!(matches!(refuse("]}", "]}\n"), ManifestError::NotCanonical));
        assert!(matches!(refuse(":1,", ": 1,"), ManifestError::NotCanonical));
        assert!(matches!(refuse("]}", r#"],"x":1}"#), ManifestError::NotCanonical));
        assert!(matches!(refuse(r#""lines":3"#, r#""lines":3,"x":1"#), ManifestError::Json(_)));
        assert!(matches!(refuse(r#""lines":3"#, r#""lines":-3"#), ManifestError::Json(_)));
        assert!(matches!(refuse("e3b0", "E3B0"), ManifestError::Json(_)));
        assert!(matches!(refuse(r#""stderr""#, r#""stdout""#), ManifestError::Streams(_)));
        assert!(matches!(refuse(r#""stderr""#, r#""..""#), ManifestError::Json(_)));
        let swapped = refuse(
            r#""type":"overspill/manifest","version":1"#,
            r#""version":1,"type":"overspill/manifest""#,
        );
        assert!(matches!(swapped, ManifestError::NotCanonical));
        assert!(matches!(Manifest::decode(b"").unwrap_err(), ManifestError::Json(_)));
        assert!(matches!(Manifest::decode(b"7").unwrap_err(), ManifestError::NotAManifest));
        assert!(matches!(
            Manifest::decode(&[b'['; 9000]).unwrap_err(),
            ManifestError::TooLong { .. }
        ));
        assert!(matches!(Manifest::new(vec![]).unwrap_err(), ManifestError::Streams(_)));
    }
}
