//! The check of a record: damage that leaves valid JSON is damage all the same.
//!
//! The last member of every object that is written is `"check"`: the first 8
//! hex digits of the SHA-256 of all that stands before it, without the comma.
//! Records of before that have none, and are read as they are.

use artifacts::hash::digest_of;

const KEY: &[u8] = b",\"check\":\"";
const DIGITS: usize = 8;
const END: &[u8] = b"\"}";

/// Adds the check to one object, which ends with `}` and is not empty.
pub(crate) fn add(json: &mut Vec<u8>) {
    json.pop();
    let check = digits(json);
    for part in [KEY, check.as_bytes(), END] {
        json.extend_from_slice(part);
    }
}

/// Whether the check of an object holds; one without a check has nothing to
/// hold.
pub(crate) fn holds(json: &[u8]) -> bool {
    let Some(rest) = json.strip_suffix(END) else { return true };
    let Some((rest, check)) = rest.split_at_checked(rest.len().wrapping_sub(DIGITS)) else {
        return true;
    };
    rest.strip_suffix(KEY).is_none_or(|rest| digits(rest).as_bytes() == check)
}

fn digits(bytes: &[u8]) -> String {
    let mut hex = digest_of(bytes).to_string();
    hex.truncate(DIGITS);
    hex
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_golden_and_holds() {
        let mut json = br#"{"a":1}"#.to_vec();
        assert!(holds(&json), "nothing to hold");
        add(&mut json);
        assert_eq!(str::from_utf8(&json).unwrap(), r#"{"a":1,"check":"8b0f0d75"}"#);
        assert!(holds(&json));
    }

    #[test]
    fn a_flipped_bit_of_the_content_does_not_hold() {
        let mut json = br#"{"a":"some text"}"#.to_vec();
        let content = json.len() - 1;
        add(&mut json);
        for at in 0..content {
            json[at] ^= 1;
            assert!(!holds(&json), "{at}");
            json[at] ^= 1;
        }
        for short in [b"".as_slice(), b"}", b"\"}", b"1234567\"}", b",\"check\":\"\"}"] {
            assert!(holds(short));
        }
    }
}
