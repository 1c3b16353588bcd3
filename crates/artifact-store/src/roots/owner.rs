//! The records of one owner.

use std::collections::BTreeMap;

use artifacts::error::BackendError;
use artifacts::{FileError, RetainedCall};
use output_contract::{CallId, Digest, SessionId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::record;
use crate::tree::File;

const VERSION: u32 = 1;

/// A line of a roots file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum RootRecord {
    /// The first line.
    Owner { version: u32, owner: SessionId },
    /// The call retains these, beside what it retains already.
    Retain { call: CallId, digests: Vec<Digest>, at: Timestamp },
    /// The call retains nothing.
    Release { call: CallId },
    /// No call retains anything.
    ReleaseAll,
}

impl RootRecord {
    /// The first line of the file of `owner`.
    pub(super) fn first(owner: &SessionId) -> Self {
        Self::Owner { version: VERSION, owner: owner.clone() }
    }
}

/// How a roots file begins.
#[derive(Debug)]
pub(super) enum Head {
    /// Not with a whole line: nothing was ever recorded.
    Missing,
    /// With its owner.
    Owner(SessionId),
    /// With an owner, in a version that is not ours.
    Version(u32),
    /// With something else.
    Damaged,
}

/// Longer than the first line of any owner, in bytes.
const HEAD_BYTES: usize = 4096;

/// Reads how a file begins.
pub(super) fn head(file: &File) -> Result<Head, FileError> {
    let mut head = vec![0; HEAD_BYTES];
    let read = file.read_at(&mut head, 0)?;
    let head = &head[..read];
    let Some(end) = head.iter().position(|&byte| byte == b'\n') else {
        return Ok(if read < HEAD_BYTES { Head::Missing } else { Head::Damaged });
    };
    let first = record::decode::<RootRecord>(&head[..=end]).ok();
    Ok(match first.and_then(|found| found.records.into_iter().next()) {
        Some(RootRecord::Owner { version: VERSION, owner }) => Head::Owner(owner),
        Some(RootRecord::Owner { version, .. }) => Head::Version(version),
        _ => Head::Damaged,
    })
}

/// What one owner retains.
#[derive(Debug)]
pub(crate) struct OwnerRoots {
    owner: SessionId,
    calls: BTreeMap<CallId, Retained>,
    /// What calls retained before they were released, as far as the lines say.
    released: BTreeMap<CallId, Retained>,
    superfluous: bool,
}

#[derive(Debug)]
struct Retained {
    digests: Vec<Digest>,
    /// When the call last retained something.
    at: Timestamp,
}

impl OwnerRoots {
    pub(crate) const fn owner(&self) -> &SessionId {
        &self.owner
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Whether there are lines that say nothing any more.
    pub(crate) const fn has_superfluous_lines(&self) -> bool {
        self.superfluous
    }

    /// All digests that are retained.
    pub(crate) fn digests(&self) -> impl Iterator<Item = &Digest> {
        self.calls.values().flat_map(|retained| &retained.digests)
    }

    /// When each call last retained something.
    pub(crate) fn times(&self) -> impl Iterator<Item = Timestamp> {
        self.calls.values().map(|retained| retained.at)
    }

    /// What calls retained once and released, while the lines say so.
    pub(crate) fn released(&self) -> impl Iterator<Item = (&CallId, &[Digest])> {
        self.released.iter().map(|(call, retained)| (call, &*retained.digests))
    }

    /// The lines that say the same, and of what was released no more than
    /// `keep` wants; `None` where that is nothing.
    pub(super) fn lines(self, keep: impl Fn(&Digest) -> bool) -> Option<Vec<u8>> {
        let mut lines = record::encode(&RootRecord::first(&self.owner));
        let before = lines.len();
        for (call, Retained { mut digests, at }) in self.released {
            digests.retain(&keep);
            if !digests.is_empty() {
                let retain = RootRecord::Retain { call: call.clone(), digests, at };
                lines.extend(record::encode(&retain));
                lines.extend(record::encode(&RootRecord::Release { call }));
            }
        }
        for (call, Retained { digests, at }) in self.calls {
            lines.extend(record::encode(&RootRecord::Retain { call, digests, at }));
        }
        (lines.len() > before).then_some(lines)
    }

    /// The calls that retain something.
    pub(crate) fn into_calls(self) -> impl Iterator<Item = RetainedCall> {
        let owner = self.owner;
        self.calls.into_iter().map(move |(call, Retained { digests, at })| RetainedCall {
            owner: owner.clone(),
            call,
            digests,
            at,
        })
    }

    fn release(&mut self, call: CallId, retained: Retained) {
        match self.released.get_mut(&call) {
            None => {
                self.released.insert(call, retained);
            }
            Some(before) => {
                before.at = retained.at;
                before.digests.extend(retained.digests);
            }
        }
    }

    fn retain(&mut self, call: CallId, digests: Vec<Digest>, at: Timestamp) {
        match self.calls.get_mut(&call) {
            None => {
                self.calls.insert(call, Retained { digests, at });
            }
            Some(retained) => {
                self.superfluous = true;
                retained.at = at;
                for digest in digests {
                    if !retained.digests.contains(&digest) {
                        retained.digests.push(digest);
                    }
                }
            }
        }
    }
}

/// Reads the bytes of a roots file; `None` where they do not name an owner
/// yet, and so nothing that is retained.
pub(super) fn parse(bytes: &[u8]) -> Result<Option<OwnerRoots>, BackendError> {
    let record::Records { records, torn } = record::decode::<RootRecord>(bytes)?;
    let mut records = records.into_iter();
    let owner = match records.next() {
        None => return Ok(None),
        Some(RootRecord::Owner { version: VERSION, owner }) => owner,
        Some(RootRecord::Owner { version, .. }) => {
            return Err(format!("version {version} is not {VERSION}").into());
        }
        Some(_) => return Err("it does not begin with its owner".into()),
    };
    let mut roots =
        OwnerRoots { owner, calls: BTreeMap::new(), released: BTreeMap::new(), superfluous: torn };
    for record in records {
        match record {
            // A first line that lacks only its end is followed by another.
            RootRecord::Owner { version: VERSION, owner } if owner == roots.owner => {
                roots.superfluous = true;
            }
            RootRecord::Owner { .. } => return Err("it names another owner too".into()),
            RootRecord::Retain { call, digests, at } => roots.retain(call, digests, at),
            RootRecord::Release { call } => {
                if let Some(retained) = roots.calls.remove(&call) {
                    roots.release(call, retained);
                }
                roots.superfluous = true;
            }
            RootRecord::ReleaseAll => {
                for (call, retained) in std::mem::take(&mut roots.calls) {
                    roots.release(call, retained);
                }
                roots.superfluous = true;
            }
        }
    }
    Ok(Some(roots))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str) -> CallId {
        id.parse().unwrap()
    }

    fn records() -> Vec<RootRecord> {
        let retain = |id, byte, at| RootRecord::Retain {
            call: call(id),
            digests: vec![Digest::from_bytes([byte; 32])],
            at: Timestamp(at),
        };
        vec![
            RootRecord::first(&"s \"1\"".parse().unwrap()),
            retain("a", 1, 7),
            retain("b", 2, 8),
            retain("a", 3, 9),
            RootRecord::Release { call: call("b") },
        ]
    }

    fn bytes(records: &[RootRecord]) -> Vec<u8> {
        records.iter().flat_map(record::encode).collect()
    }

    #[test]
    fn the_lines_are_golden() {
        let mut records = records();
        records.push(RootRecord::ReleaseAll);
        insta::assert_snapshot!(String::from_utf8(bytes(&records)).unwrap(), @r#"
        17a01a50 {"type":"owner","version":1,"owner":"s \"1\""}
        4fb8a96b {"type":"retain","call":"a","digests":["0101010101010101010101010101010101010101010101010101010101010101"],"at":7}
        0c1af91e {"type":"retain","call":"b","digests":["0202020202020202020202020202020202020202020202020202020202020202"],"at":8}
        68edb96e {"type":"retain","call":"a","digests":["0303030303030303030303030303030303030303030303030303030303030303"],"at":9}
        ea00eeb0 {"type":"release","call":"b"}
        754289e0 {"type":"release_all"}
        "#);
    }

    #[test]
    fn a_call_retains_the_union_until_it_is_released() {
        let mut records = records();
        let digest = |byte| Digest::from_bytes([byte; 32]);
        let roots = parse(&bytes(&records)).unwrap().unwrap();
        let calls: Vec<_> = roots.into_calls().map(|c| (c.call, c.digests, c.at.0)).collect();
        assert_eq!(calls, [(call("a"), vec![digest(1), digest(3)], 9)]);
        records.push(RootRecord::ReleaseAll);
        assert!(parse(&bytes(&records)).unwrap().unwrap().is_empty());
    }

    #[test]
    fn what_is_not_a_roots_file_is_an_error() {
        let records = records();
        assert!(parse(b"").unwrap().is_none());
        assert!(parse(&bytes(&records[1..])).is_err());
        let other = RootRecord::first(&"other".parse().unwrap());
        assert!(parse(&bytes(&[&records[..], &[other]].concat())).is_err());
        let owner = "s".parse().unwrap();
        assert!(parse(&bytes(&[RootRecord::Owner { version: 2, owner }])).is_err());
    }
}
