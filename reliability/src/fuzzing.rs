//! What the fuzz targets do with their bytes. `fuzz/` runs it under libFuzzer;
//! the test `fuzzing` runs it over the seeds and changes of them.
//!
//! None of it may panic, whatever the bytes. What is accepted says the same
//! when it is written again.

use std::ops::Range;

use artifact_store::fuzzing;
use artifacts::hash::{count_newlines, digest_of};
use artifacts::sidecar::Sidecar;
use artifacts::{BlockingReader, Manifest, PageRequest, ReadError, page_blocking};
use output_contract::{ArtifactUri, encode_event, is_artifact_intent};
use session_log::SessionRecords;

/// A target: its name, and what it does.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: &[Target] = &[
    ("uri", uri),
    ("manifest", manifest),
    ("sidecar", sidecar),
    ("roots", roots),
    ("leases", leases),
    ("saved_events", saved_events),
    ("page", page),
];

/// An artifact URI: what is accepted is the text itself.
pub fn uri(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    if let Ok(uri) = ArtifactUri::parse(text) {
        assert_eq!(uri.to_string(), text);
        assert!(is_artifact_intent(text), "what is a URI is meant as one");
    }
}

/// A manifest: canonical bytes and nothing else.
pub fn manifest(bytes: &[u8]) {
    if let Ok(manifest) = Manifest::decode(bytes) {
        assert_eq!(manifest.encode(), bytes);
        assert_eq!(manifest.digest(), digest_of(bytes));
    }
}

/// A sidecar, as it is and with the digest of its own that it should have.
pub fn sidecar(bytes: &[u8]) {
    let sealed = bytes.len().checked_sub(32).map(|content| {
        let content = &bytes[..content];
        [content, digest_of(content).as_bytes()].concat()
    });
    for bytes in [Some(bytes.to_vec()), sealed].into_iter().flatten() {
        if let Ok(sidecar) = Sidecar::decode(&bytes) {
            assert_eq!(sidecar.encode(), bytes);
        }
    }
}

/// The roots of an owner, as they are and with the checks that the lines should
/// have: what is rewritten says the same.
pub fn roots(bytes: &[u8]) {
    for bytes in [bytes.to_vec(), fuzzing::with_checks(bytes)] {
        if let Some(lines) = fuzzing::rewrite_roots(&bytes) {
            assert_eq!(fuzzing::rewrite_roots(&lines).as_ref(), Some(&lines));
        }
    }
}

/// A lease file, as it is and with the checks that the lines should have.
pub fn leases(bytes: &[u8]) {
    for bytes in [bytes.to_vec(), fuzzing::with_checks(bytes)] {
        let _ = fuzzing::leased(&bytes);
    }
}

/// A session log: every byte is in an event, skipped, or blank; and an event
/// that is saved again is the same.
pub fn saved_events(bytes: &[u8]) {
    let records = SessionRecords::parse(bytes);
    let mut end = 0;
    for skipped in &records.diagnostics {
        assert!(skipped.position >= end && skipped.bytes > 0, "{skipped}");
        end = skipped.position + skipped.bytes;
        assert!(end <= bytes.len() as u64, "{skipped}");
    }
    for (_, event) in records.events {
        let again = SessionRecords::parse(&encode_event(&event));
        assert_eq!((again.events.as_slice(), again.diagnostics), (&[(0, event)][..], Vec::new()));
    }
}

/// Pages of what follows the first four bytes, which say how they are cut: one
/// after the other they are all of it.
pub fn page(bytes: &[u8]) {
    let Some((&[size, limit, offset, byte_offset], content)) = bytes.split_first_chunk() else {
        return;
    };
    let content = Memory(content.to_vec().into());
    let limit = (limit > 127).then(|| u64::from(limit - 127));
    let page_bytes = 4 + u64::from(size);
    // Anywhere: it is a page or an error.
    let (offset, byte_offset) = (u64::from(offset), u64::from(byte_offset));
    let _ = page_blocking(&content, &PageRequest { offset, limit, byte_offset, page_bytes });

    let mut all = Vec::new();
    let mut next = Some((0, 0));
    while let Some((offset, byte_offset)) = next {
        let request = PageRequest { offset, limit, byte_offset, page_bytes };
        let page = page_blocking(&content, &request).expect("a continuation works");
        assert!(!page.bytes.is_empty() || content.0.is_empty(), "every page gets on");
        all.extend_from_slice(&page.bytes);
        next = page.next.map(|next| (next.offset, next.byte_offset));
    }
    assert_eq!(all, content.0);
}

struct Memory(bytes::Bytes);

impl BlockingReader for Memory {
    fn bytes(&self) -> u64 {
        self.0.len() as u64
    }

    fn lines(&self) -> u64 {
        let rest = !self.0.is_empty() && !self.0.ends_with(b"\n");
        count_newlines(&self.0) + u64::from(rest)
    }

    fn read(&self, range: Range<u64>) -> Result<bytes::Bytes, ReadError> {
        Ok(self.0.slice(range.start as usize..range.end as usize))
    }

    fn line_start(&self, line: u64) -> Result<u64, ReadError> {
        let lines = self.0.split_inclusive(|&byte| byte == b'\n').take(line as usize);
        Ok(lines.map(<[u8]>::len).sum::<usize>() as u64)
    }
}
