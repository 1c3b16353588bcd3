//! The arguments of one call: their schema, and the decoding of what a model
//! actually sends.
//!
//! Responsible for every message about a wrong argument, each of which says
//! what would be right. It knows nothing of paths and artifacts.

use output_contract::ToolName;
use output_contract::limits::MAX_PAGE_LINES;
use serde_json::{Map, Number, Value, json};
use tool_api::PrepareError;

const FILE_PATH: &str = "filePath";
const OFFSET: &str = "offset";
const LIMIT: &str = "limit";
const BYTE_OFFSET: &str = "byteOffset";

/// What one call asks for, checked by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Arguments {
    /// A path or an artifact URI, as it was given.
    pub(crate) file_path: String,
    /// The zero-based first line.
    pub(crate) offset: u64,
    /// How many lines, at least 1; `None` where it is left to the tool.
    pub(crate) limit: Option<u64>,
    /// How many bytes of the first line to skip.
    pub(crate) byte_offset: u64,
}

impl Arguments {
    /// Decodes the arguments of one call of `tool`.
    ///
    /// Whole numbers may be written as floats, and an optional argument may be
    /// `null`: models do both, and neither can mean anything else. A number
    /// that no file reaches counts as the greatest one.
    ///
    /// # Errors
    /// [`PrepareError::Arguments`].
    pub(crate) fn decode(tool: &ToolName, arguments: Value) -> Result<Self, PrepareError> {
        let Value::Object(mut fields) = arguments else {
            return Err(wrong(format!(
                "the arguments must be an object such as {{\"{FILE_PATH}\": \"notes.txt\"}}, not {}",
                kind(&arguments)
            )));
        };
        let decoded = Self {
            file_path: file_path(&mut fields)?,
            offset: number(&mut fields, OFFSET, 0)?.unwrap_or(0),
            limit: number(&mut fields, LIMIT, 1)?,
            byte_offset: number(&mut fields, BYTE_OFFSET, 0)?.unwrap_or(0),
        };
        match fields.keys().next() {
            None => Ok(decoded),
            Some(unknown) => Err(wrong(format!(
                "unknown argument {:?}; {tool} takes {FILE_PATH}, {OFFSET}, {LIMIT} and {BYTE_OFFSET}",
                excerpt(unknown)
            ))),
        }
    }
}

/// The schema of the arguments.
pub(crate) fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            FILE_PATH: {
                "type": "string",
                "minLength": 1,
                "description": "A file or directory: absolute, relative to the working directory, or below ~. \
                    Or stored output: artifact://<64 lowercase hex digits>, with /<stream> after \
                    it for one of several streams.",
            },
            OFFSET: {
                "type": "integer",
                "minimum": 0,
                "default": 0,
                "description": "The first line to read, counted from 0.",
            },
            LIMIT: {
                "type": "integer",
                "minimum": 1,
                "description": format!(
                    "How many lines to read; {MAX_PAGE_LINES} at most. Without it, a page of \
                     moderate size."
                ),
            },
            BYTE_OFFSET: {
                "type": "integer",
                "minimum": 0,
                "default": 0,
                "description": "How many bytes of the first line to skip, to go on inside a long \
                    line.",
            },
        },
        "required": [FILE_PATH],
        "additionalProperties": false,
    })
}

/// The start of a text that a message repeats.
pub(crate) fn excerpt(text: &str) -> &str {
    const BYTES: usize = 200;
    let end = (0..=BYTES.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

fn file_path(fields: &mut Map<String, Value>) -> Result<String, PrepareError> {
    match fields.remove(FILE_PATH) {
        Some(Value::String(path)) if path.is_empty() => {
            Err(wrong(format!("{FILE_PATH} must not be empty; it is a path or an artifact URI")))
        }
        Some(Value::String(path)) => Ok(path),
        Some(other) => Err(wrong(format!("{FILE_PATH} must be a string, not {}", kind(&other)))),
        None => Err(wrong(match fields.keys().next() {
            None => format!("{FILE_PATH} is missing"),
            Some(_) => {
                let given: Vec<&str> = fields.keys().take(8).map(|key| excerpt(key)).collect();
                format!("{FILE_PATH} is missing; given are {}", given.join(", "))
            }
        })),
    }
}

fn number(
    fields: &mut Map<String, Value>,
    name: &str,
    least: u64,
) -> Result<Option<u64>, PrepareError> {
    let number = match fields.remove(name) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Number(number)) => number,
        Some(other) => {
            return Err(wrong(format!("{name} must be an integer, not {}", kind(&other))));
        }
    };
    match whole(&number) {
        Whole::Natural(value) if value >= least => Ok(Some(value)),
        Whole::Natural(_) | Whole::Negative => {
            Err(wrong(format!("{name} must be at least {least}, not {number}")))
        }
        Whole::Fraction => Err(wrong(format!("{name} must be a whole number, not {number}"))),
    }
}

enum Whole {
    Natural(u64),
    Negative,
    Fraction,
}

fn whole(number: &Number) -> Whole {
    if let Some(value) = number.as_u64() {
        return Whole::Natural(value);
    }
    match number.as_f64() {
        Some(value) if value.fract() != 0.0 => Whole::Fraction,
        Some(value) if value < 0.0 => Whole::Negative,
        // The conversion saturates.
        Some(value) => Whole::Natural(value as u64),
        None => Whole::Fraction,
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn wrong(message: impl Into<String>) -> PrepareError {
    PrepareError::arguments(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(arguments: Value) -> Result<Arguments, String> {
        Arguments::decode(&ToolName::new("read").unwrap(), arguments)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn what_models_send() {
        let expect = |offset, limit, byte_offset| {
            Ok(Arguments { file_path: "a".into(), offset, limit, byte_offset })
        };
        for (arguments, expect) in [
            (json!({"filePath": "a"}), expect(0, None, 0)),
            (
                json!({"filePath": "a", "offset": 3, "limit": 200, "byteOffset": 7}),
                expect(3, Some(200), 7),
            ),
            (json!({"filePath": "a", "offset": 3.0, "limit": 200.0}), expect(3, Some(200), 0)),
            (
                json!({"filePath": "a", "offset": null, "limit": null, "byteOffset": null}),
                expect(0, None, 0),
            ),
            (json!({"filePath": "a", "limit": u64::MAX}), expect(0, Some(u64::MAX), 0)),
            (json!({"filePath": "a", "limit": 1e300}), expect(0, Some(u64::MAX), 0)),
            (json!({"filePath": "a", "offset": -0.0}), expect(0, None, 0)),
        ] {
            assert_eq!(decode(arguments.clone()), expect, "{arguments}");
        }
    }

    #[test]
    fn messages_say_what_is_right() {
        for (arguments, expect) in [
            (
                json!("a"),
                "the arguments must be an object such as {\"filePath\": \"notes.txt\"}, not a string",
            ),
            (
                json!(null),
                "the arguments must be an object such as {\"filePath\": \"notes.txt\"}, not null",
            ),
            (json!({}), "filePath is missing"),
            (json!({"file_path": "a"}), "filePath is missing; given are file_path"),
            (
                json!({"filePath": ""}),
                "filePath must not be empty; it is a path or an artifact URI",
            ),
            (json!({"filePath": 1}), "filePath must be a string, not a number"),
            (json!({"filePath": null}), "filePath must be a string, not null"),
            (json!({"filePath": ["a"]}), "filePath must be a string, not an array"),
            (json!({"filePath": "a", "limit": 0}), "limit must be at least 1, not 0"),
            (json!({"filePath": "a", "limit": -5}), "limit must be at least 1, not -5"),
            (json!({"filePath": "a", "limit": -5.0}), "limit must be at least 1, not -5.0"),
            (json!({"filePath": "a", "limit": 1.5}), "limit must be a whole number, not 1.5"),
            (json!({"filePath": "a", "limit": "200"}), "limit must be an integer, not a string"),
            (json!({"filePath": "a", "limit": true}), "limit must be an integer, not a boolean"),
            (json!({"filePath": "a", "offset": -1}), "offset must be at least 0, not -1"),
            (json!({"filePath": "a", "byteOffset": -1}), "byteOffset must be at least 0, not -1"),
            (
                json!({"filePath": "a", "stream": "stdout"}),
                "unknown argument \"stream\"; read takes filePath, offset, limit and byteOffset",
            ),
        ] {
            let expect = format!("invalid arguments: {expect}");
            assert_eq!(decode(arguments.clone()), Err(expect), "{arguments}");
        }
    }

    #[test]
    fn an_excerpt_ends_between_characters() {
        assert_eq!(excerpt("abc"), "abc");
        assert_eq!(excerpt(&"é".repeat(200)).len(), 200);
        assert_eq!(excerpt(&format!("a{}", "é".repeat(200))).len(), 199);
    }
}
