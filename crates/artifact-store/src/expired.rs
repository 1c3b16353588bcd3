//! Tombstones: what collections removed, so that a reader can be told.
//!
//! The file `expired` has one line (module `record`) for each removed blob or
//! manifest, the newest last:
//!
//! ```json
//! {"digest":"<64 hex>","bytes":12,"at":<ms since 1970>,"owner":"<session id>","call":"<call id>"}
//! ```
//!
//! Owner and call are those whose release let it go; without them no call had
//! kept it. Only the collector writes, and keeps the newest [`MOST`] at least
//! and twice as many at most. Nothing depends on it: damaged lines are left
//! out, and what cannot be written is not.
//!
//! History: this is the first format. Further fields are passed over.

use artifacts::{FileError, OpenError};
use output_contract::{CallId, Digest, SessionId, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::local::Inner;
use crate::lock::Collector;
use crate::record;
use crate::tree::Dir;
use crate::verify;

/// The name of the file.
pub(crate) const EXPIRED: &str = "expired";
/// Tombstones that are kept at least.
pub(crate) const MOST: usize = 4096;
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// One line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Tombstone {
    pub(crate) digest: Digest,
    pub(crate) bytes: u64,
    pub(crate) at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) owner: Option<SessionId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) call: Option<CallId>,
}

/// Adds tombstones, and drops the oldest where there are too many.
pub(crate) fn add(root: &Dir, new: &[Tombstone], _collector: &Collector) -> Result<(), FileError> {
    if new.is_empty() {
        return Ok(());
    }
    let before = read(root);
    if before.len() + new.len() <= 2 * MOST {
        let file = match root.open_append(EXPIRED)? {
            Some(file) => Some(file),
            None => root.create_new(EXPIRED)?,
        };
        let lines: Vec<u8> = new.iter().flat_map(record::encode).collect();
        return file.map_or(Ok(()), |file| record::append(&file, &lines));
    }
    let newest = before.iter().chain(new).skip((before.len() + new.len()).saturating_sub(MOST));
    let lines: Vec<u8> = newest.flat_map(record::encode).collect();
    let temporary = format!("{EXPIRED}.{}", Uuid::new_v4());
    let Some(file) = root.create_new(&temporary)? else { return Ok(()) };
    let replaced = file.append(&lines).and_then(|()| root.rename(&temporary, root, EXPIRED));
    if replaced.is_err() {
        root.unlink(&temporary)?;
    }
    replaced
}

/// All tombstones that can be read; none where the file cannot.
fn read(root: &Dir) -> Vec<Tombstone> {
    let file = root.open_read(EXPIRED).ok().flatten();
    let bytes = file.and_then(|file| file.read_up_to(MAX_BYTES).ok()).unwrap_or_default();
    record::decode_readable(&bytes)
}

/// Says of what is unknown that it was damaged or has expired, where that is
/// known.
pub(crate) fn explain(store: &Inner, error: OpenError) -> OpenError {
    let OpenError::Unknown { digest } = error else { return error };
    if let Some(bytes) = verify::quarantined(store, &digest) {
        return OpenError::Corrupt { digest, range: 0..bytes };
    }
    let found = read(&store.layout.root).into_iter().rfind(|stone| stone.digest == digest);
    let Some(Tombstone { bytes, at, owner, call, .. }) = found else {
        return OpenError::Unknown { digest };
    };
    let what = match (owner, call) {
        (Some(owner), Some(call)) => format!("an output of call {call} of session {owner}"),
        _ => "an output that no call kept".to_owned(),
    };
    OpenError::Expired { digest, bytes, when: at, what }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_are_golden_and_read_leniently() {
        let stone = Tombstone {
            digest: Digest::EMPTY,
            bytes: 12,
            at: Timestamp(7),
            owner: Some("s \"1\"".parse().unwrap()),
            call: Some("c".parse().unwrap()),
        };
        let bare = Tombstone { owner: None, call: None, ..stone.clone() };
        let lines: Vec<u8> = [&stone, &bare].into_iter().flat_map(record::encode).collect();
        insta::assert_snapshot!(String::from_utf8(lines.clone()).unwrap(), @r#"
        13543405 {"digest":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","bytes":12,"at":7,"owner":"s \"1\"","call":"c"}
        c4e07e56 {"digest":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","bytes":12,"at":7}
        "#);
        let newer = record::encode(&serde_json::json!({
            "digest": Digest::EMPTY, "bytes": 1, "at": 2, "why": "a field of a later version",
        }));
        let damaged = [&lines[..40], b"damage\n", &lines[..], &newer[..]].concat();
        let found: Vec<Tombstone> = record::decode_readable(&damaged);
        let bytes: Vec<u64> = found.iter().map(|stone| stone.bytes).collect();
        assert_eq!(bytes, [12, 12, 1]);
    }
}
