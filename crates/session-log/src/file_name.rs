//! The name of a session's file: readable, and unlike every other session's.

use std::fmt::Write as _;

use output_contract::SessionId;
use sha2::{Digest as _, Sha256};

/// Longest readable part, in bytes.
const MAX_READABLE: usize = 48;
/// Bytes of the digest that are part of the name.
const DIGEST_BYTES: usize = 6;
const EXTENSION: &str = ".jsonl";

/// `<readable>-<12 hex>.jsonl`: what is safe of the session's id, then the
/// start of its SHA-256, which tells apart what the first part does not.
pub(crate) fn file_name(session: &SessionId) -> String {
    let mut name: String = session
        .as_str()
        .chars()
        .take(MAX_READABLE)
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_') { c } else { '-' })
        .collect();
    if name.starts_with('.') {
        name.replace_range(..1, "-");
    }
    name.push('-');
    for byte in &Sha256::digest(session.as_str())[..DIGEST_BYTES] {
        write!(name, "{byte:02x}").expect("writing to a string does not fail");
    }
    name + EXTENSION
}

/// Whether a file of this name may be a session's. Whose it is, is inside.
pub(crate) fn is_log(name: &str) -> bool {
    let hex = |c: char| matches!(c, '0'..='9' | 'a'..='f');
    name.strip_suffix(EXTENSION)
        .and_then(|stem| stem.rsplit_once('-'))
        .is_some_and(|(_, digest)| digest.len() == 2 * DIGEST_BYTES && digest.chars().all(hex))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(session: &str) -> String {
        file_name(&SessionId::new(session).unwrap())
    }

    #[test]
    fn names_are_readable_safe_and_distinct() {
        assert_eq!(name("2026-11-30"), "2026-11-30-e0b7c44611a4.jsonl");
        assert_eq!(name("../../etc/passwd"), "-.-..-etc-passwd-3754d6cb3a38.jsonl");
        assert_ne!(name("A"), name("a"));
        assert_ne!(name("a/b"), name("a-b"));
        let long = name(&"é".repeat(128));
        assert!(is_log(&long) && long.len() < 255 && long.is_ascii(), "{long}");
    }

    #[test]
    fn other_files_are_not_ours() {
        for ours in [name("x"), name("."), name("a b.jsonl")] {
            assert!(is_log(&ours), "{ours}");
        }
        for other in [
            "",
            "x.jsonl",
            ".jsonl",
            "x-5bd21ca28de.jsonl",
            "x-5BD21CA28DE0.jsonl",
            "x-5bd21ca28de0",
        ] {
            assert!(!is_log(other), "{other}");
        }
    }
}
