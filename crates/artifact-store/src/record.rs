//! Lines that check themselves: the format of lease and roots files.
//!
//! A line is 8 hex digits, a space, one JSON object, and `\n`. The digits are
//! the first 4 bytes of the object's SHA-256. Files are only appended to,
//! under a lock.
//!
//! An append that was cut off leaves a tail without `\n`. It was never
//! acknowledged, so readers leave it out; the next append first closes it with
//! `\n` and the line `"torn"`, which says that the line before it is no record.
//! A line that fails its check and is not followed by `"torn"` is damage, and
//! the file is unreadable: what it said is unknown.
//!
//! History: this is the first format. Kinds of records and their versions are
//! the files' own.

use artifacts::FileError;
use artifacts::hash::digest_of;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::tree::File;

const CHECK_DIGITS: usize = 8;
const TORN: &[u8] = b"\"torn\"";

/// Records as they were read.
#[derive(Debug)]
pub(crate) struct Records<T> {
    pub(crate) records: Vec<T>,
    /// The file ends inside a line, or holds closed torn ones.
    pub(crate) torn: bool,
}

/// A line that can be neither read nor left out.
#[derive(Debug, thiserror::Error)]
#[error("line {line} is damaged or of an unknown kind")]
pub(crate) struct DamagedLine {
    /// One-based.
    line: usize,
}

/// One line, its `\n` included.
pub(crate) fn encode(record: &impl Serialize) -> Vec<u8> {
    line(&serde_json::to_vec(record).expect("records have string keys and no floats"))
}

/// A line of which `payload` is the JSON.
pub(crate) fn line(payload: &[u8]) -> Vec<u8> {
    [&check_of(payload)[..], b" ", payload, b"\n"].concat()
}

/// The first hex digits of the payload's SHA-256.
fn check_of(payload: &[u8]) -> [u8; CHECK_DIGITS] {
    let hex = digest_of(payload).to_string();
    std::array::from_fn(|digit| hex.as_bytes()[digit])
}

/// Appends lines to a locked file, whole or not at all, after a torn tail has
/// been closed.
pub(crate) fn append(file: &File, lines: &[u8]) -> Result<(), FileError> {
    let bytes = file.stat()?.bytes;
    let mut last = *b"\n";
    if bytes > 0 {
        file.read_at(&mut last, bytes - 1)?;
    }
    if last == *b"\n" {
        file.append(lines)
    } else {
        file.append(&[&close_torn_tail(), lines].concat())
    }
}

fn close_torn_tail() -> Vec<u8> {
    [b"\n".to_vec(), line(TORN)].concat()
}

/// Reads all records.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<Records<T>, DamagedLine> {
    let mut found = Records { records: Vec::new(), torn: false };
    let mut damaged = None;
    let mut lines = bytes.split(|byte| *byte == b'\n').enumerate().peekable();
    while let Some((index, line)) = lines.next() {
        let tail = lines.peek().is_none();
        if tail && line.is_empty() {
            break;
        }
        match payload(line) {
            Some(TORN) => (found.torn, damaged) = (true, None),
            _ if damaged.is_some() => break,
            Some(payload) => match serde_json::from_slice(payload) {
                Ok(record) => {
                    found.records.push(record);
                    found.torn |= tail;
                }
                Err(_) => damaged = Some(index + 1),
            },
            // A whole record and one byte more is no cut-off append.
            None if tail && payload(&line[..line.len() - 1]).is_none() => found.torn = true,
            None => damaged = Some(index + 1),
        }
    }
    match damaged {
        Some(line) => Err(DamagedLine { line }),
        None => Ok(found),
    }
}

/// Reads the records that can be read, of a file that loses nothing with the
/// others.
pub(crate) fn decode_readable<T: DeserializeOwned>(bytes: &[u8]) -> Vec<T> {
    let payloads = bytes.split(|byte| *byte == b'\n').filter_map(payload);
    payloads.filter_map(|payload| serde_json::from_slice(payload).ok()).collect()
}

/// The JSON of a line that passes its check.
fn payload(line: &[u8]) -> Option<&[u8]> {
    let (check, payload) = line.split_at_checked(CHECK_DIGITS)?;
    let payload = payload.strip_prefix(b" ")?;
    (check == check_of(payload)).then_some(payload)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(bytes: &[u8]) -> Result<(Vec<u64>, bool), usize> {
        decode(bytes).map(|found| (found.records, found.torn)).map_err(|damaged| damaged.line)
    }

    #[test]
    fn a_line_is_golden() {
        assert_eq!(String::from_utf8(encode(&7_u64)).unwrap(), "7902699b 7\n");
        assert_eq!(String::from_utf8(close_torn_tail()).unwrap(), "\nf4de38ba \"torn\"\n");
    }

    #[test]
    fn a_torn_tail_is_left_out_and_can_be_closed() {
        let (one, two) = (encode(&1_u64), encode(&2_u64));
        assert_eq!(read(b""), Ok((vec![], false)));
        assert_eq!(read(&one), Ok((vec![1], false)));
        for cut in 1..two.len() {
            let torn = [&one[..], &two[..cut]].concat();
            // All but the `\n` is a whole record.
            let records = if cut == two.len() - 1 { vec![1, 2] } else { vec![1] };
            assert_eq!(read(&torn), Ok((records.clone(), true)), "{cut}");
            let closed = [&torn[..], &close_torn_tail(), &two].concat();
            let records = [&records[..], &[2]].concat();
            assert_eq!(read(&closed), Ok((records, true)), "{cut}");
        }
    }

    #[test]
    fn zeros_where_a_tail_was_lost_are_a_torn_tail() {
        let lost = [encode(&1_u64), vec![0; 100]].concat();
        assert_eq!(read(&lost), Ok((vec![1], true)));
    }

    #[test]
    fn an_unknown_kind_is_damage() {
        let unknown = [encode(&1_u64), encode(&"new"), encode(&2_u64)].concat();
        assert_eq!(read(&unknown), Err(2));
        assert_eq!(read(&encode(&"new")), Err(1));
    }

    proptest! {
        #[test]
        fn a_flipped_bit_is_never_taken_for_a_record(
            records in proptest::collection::vec(any::<u64>(), 1..6),
            at in any::<prop::sample::Index>(),
            bit in 0u32..8,
        ) {
            let mut bytes: Vec<u8> = records.iter().flat_map(encode).collect();
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            prop_assert!(read(&bytes).is_err());
        }
    }
}
