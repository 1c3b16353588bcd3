//! What a capture is of, on disk for whoever finds it after a crash.

use std::sync::Arc;

use output_contract::{CallId, OutputDeclaration, SessionId, Timestamp, ToolName};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::directory::Directory;
use super::error::CaptureError;
use super::writer::write_all;
use crate::fs::{OperationKind, Target};

/// The name of the description in a capture's directory.
pub(super) const META_FILE: &str = "meta.json";
/// Longest description that is read, in bytes.
const MAX_META_BYTES: usize = 64 * 1024;

/// The call whose output a capture holds.
///
/// `meta.json` is one JSON object without a version. It only ever gains
/// fields; optional ones that do not fit are their defaults.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CaptureMeta {
    /// The session that owns the call.
    pub session_id: SessionId,
    /// The call.
    pub call_id: CallId,
    /// The call that made this one, where it is nested.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub parent_call_id: Option<CallId>,
    /// The tool.
    pub tool: ToolName,
    /// What the tool said it does.
    #[serde(default, deserialize_with = "lenient")]
    pub title: String,
    /// The declared output: `stream-N` is its channel N.
    pub output: OutputDeclaration,
    /// When the call started.
    #[serde(default, deserialize_with = "lenient")]
    pub started_at: Timestamp,
    /// Its timeout, in milliseconds.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

fn lenient<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    let value = Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}

impl CaptureMeta {
    /// Writes the description. A part of it is no JSON, and so no description:
    /// whoever finds one knows that nothing was captured yet.
    pub(super) fn write(&self, dir: &Directory) -> Result<(), CaptureError> {
        let json = serde_json::to_vec(self).map_err(|source| CaptureError::Meta {
            path: dir.path().join(META_FILE),
            source: Arc::new(source),
        })?;
        let file = dir.create_new(META_FILE, 0o600)?;
        write_all(dir.fs(), &file, &dir.path().join(META_FILE), &json, 0)
            .map_err(|errno| dir.fail("write", META_FILE, errno))?;
        Ok(())
    }

    /// Reads the description; `None` where there is none that can be read.
    pub(super) fn read(dir: &Directory) -> Option<Self> {
        let file = dir.open_file(META_FILE).ok()??;
        let path = dir.path().join(META_FILE);
        let mut json = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            let read = dir.fs().run(Target::of(OperationKind::Read, &file, &path), || {
                rustix::io::pread(&file, &mut buffer, json.len() as u64)
            });
            match read {
                Ok(0) => break,
                Ok(n) => json.extend_from_slice(&buffer[..n]),
                Err(_) => return None,
            }
            if json.len() > MAX_META_BYTES {
                return None;
            }
        }
        serde_json::from_slice(&json).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_json_is_golden_and_read_leniently() {
        let json = r#"{"sessionId":"s","callId":"c","tool":"bash","title":"ls","output":{"kind":"named","streams":["stdout"]},"startedAt":7,"timeoutMs":30000}"#;
        let meta: CaptureMeta = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&meta).unwrap(), json);
        let odd = r#"{"sessionId":"s","callId":"c","tool":"bash","title":[],"startedAt":-1,
            "timeoutMs":"x","parentCallId":"","new":1,"output":{"kind":"single"}}"#;
        let odd: CaptureMeta = serde_json::from_str(odd).unwrap();
        assert_eq!(
            odd,
            CaptureMeta {
                title: String::new(),
                output: OutputDeclaration::Single,
                started_at: Timestamp(0),
                timeout_ms: None,
                ..meta
            }
        );
    }
}
