//! Events as lines that can be read back.

use output_contract::{SavedEvent, encode_event};

use crate::check;
use crate::error::LogError;

/// Most levels of nesting that `serde_json` reads.
const MAX_DEPTH: usize = 127;

/// One event as one line, its `\n` included.
pub(crate) fn encode(event: &SavedEvent) -> Result<Vec<u8>, LogError> {
    let mut line = encode_event(event);
    let depth = depth(&line);
    if depth > MAX_DEPTH {
        return Err(LogError::TooDeep { depth, limit: MAX_DEPTH });
    }
    line.pop();
    check::add(&mut line);
    line.push(b'\n');
    Ok(line)
}

/// How deeply the objects and arrays of valid JSON are nested.
fn depth(json: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut quoted, mut escaped) = (false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !quoted => depth -= 1,
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use output_contract::{SessionId, Timestamp, decode_event};
    use serde_json::{Value, json};

    use super::*;

    fn started(levels: usize) -> SavedEvent {
        let arguments = (0..levels).fold(json!("\\\"[[[{{{"), |inner, _| Value::Array(vec![inner]));
        SavedEvent::CallStarted {
            session_id: SessionId::new("s").unwrap(),
            call_id: "c".parse().unwrap(),
            parent_call_id: None,
            tool: "t".parse().unwrap(),
            arguments,
            output: None,
            at: Timestamp(0),
        }
    }

    #[test]
    fn what_is_saved_can_be_read_back() {
        for levels in [0, 1, 125, 126] {
            let line = encode(&started(levels)).unwrap();
            assert_eq!(decode_event(&line).unwrap(), started(levels), "{levels}");
        }
        let error = encode(&started(127)).unwrap_err();
        assert!(matches!(error, LogError::TooDeep { depth: 128, limit: 127, .. }), "{error}");
        assert!(decode_event(&encode_event(&started(127))).is_err());
    }
}
