//! The arguments of one `bash` call.
//!
//! Responsible for their schema, and for errors from which a model learns what
//! would have been right.

use std::time::Duration;

use camino::Utf8PathBuf;
use serde_json::{Map, Value, json};
use tool_api::PrepareError;

use super::BashConfig;

/// Checked arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Arguments {
    pub(super) command: String,
    pub(super) timeout: Option<Duration>,
    pub(super) description: Option<String>,
    pub(super) cwd: Option<Utf8PathBuf>,
}

/// The schema that [`Arguments::decode`] goes by.
pub(super) fn schema(config: &BashConfig) -> Value {
    json!({
        "type": "object",
        "properties": {
            "command": {"type": "string", "description": "The command line."},
            "timeout": {
                "type": "integer",
                "minimum": 1,
                "maximum": milliseconds(config.max_timeout),
                "description": "How long it may run, in milliseconds.",
            },
            "description": {
                "type": "string",
                "description": "What it does, in a few words for a person.",
            },
            "cwd": {
                "type": "string",
                "description": "The directory to run it in, if not the usual one.",
            },
        },
        "required": ["command"],
        "additionalProperties": false,
    })
}

impl Arguments {
    /// Reads them. An optional one that is null counts as not given.
    pub(super) fn decode(arguments: Value, max_timeout: Duration) -> Result<Self, PrepareError> {
        let Value::Object(mut fields) = arguments else {
            return Err(PrepareError::arguments("they must be an object with `command`"));
        };
        let command = text(&mut fields, "command")?
            .filter(|command| !command.trim().is_empty())
            .ok_or_else(|| PrepareError::arguments("`command` is missing or empty"))?;
        let decoded = Self {
            command,
            timeout: timeout(&mut fields, max_timeout)?,
            description: text(&mut fields, "description")?,
            cwd: text(&mut fields, "cwd")?.filter(|cwd| !cwd.is_empty()).map(Utf8PathBuf::from),
        };
        match fields.keys().next() {
            Some(unknown) => Err(PrepareError::arguments(format!(
                "unknown argument `{unknown}`; there are `command`, `timeout`, `description` and `cwd`"
            ))),
            None => Ok(decoded),
        }
    }
}

/// Takes a text that a process can be given.
fn text(fields: &mut Map<String, Value>, name: &str) -> Result<Option<String>, PrepareError> {
    match fields.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.contains('\0') => {
            Err(PrepareError::arguments(format!("`{name}` must not contain NUL")))
        }
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => {
            Err(PrepareError::arguments(format!("`{name}` must be a string, not {other}")))
        }
    }
}

fn timeout(
    fields: &mut Map<String, Value>,
    max: Duration,
) -> Result<Option<Duration>, PrepareError> {
    let Some(value) = fields.remove("timeout").filter(|value| !value.is_null()) else {
        return Ok(None);
    };
    let max = milliseconds(max);
    match value.as_u64().filter(|ms| (1..=max).contains(ms)) {
        Some(ms) => Ok(Some(Duration::from_millis(ms))),
        None => Err(PrepareError::arguments(format!(
            "`timeout` must be a whole number of milliseconds from 1 to {max}, not {value}"
        ))),
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(arguments: Value) -> Result<Arguments, String> {
        Arguments::decode(arguments, Duration::from_secs(600)).map_err(|error| error.to_string())
    }

    #[test]
    fn all_and_only_the_required() {
        let all = json!({"command": "ls", "timeout": 600_000, "description": "list", "cwd": "src"});
        let expect = Arguments {
            command: "ls".into(),
            timeout: Some(Duration::from_secs(600)),
            description: Some("list".into()),
            cwd: Some("src".into()),
        };
        assert_eq!(decode(all).unwrap(), expect);
        let bare = Arguments { timeout: None, description: None, cwd: None, ..expect };
        assert_eq!(decode(json!({"command": "ls"})).unwrap(), bare);
        let nulls = json!({"command": "ls", "timeout": null, "description": null, "cwd": null});
        assert_eq!(decode(nulls).unwrap(), bare);
    }

    #[test]
    fn errors_say_what_would_be_right() {
        let range = "`timeout` must be a whole number of milliseconds from 1 to 600000, not";
        for (arguments, expect) in [
            (json!("ls"), "they must be an object with `command`".to_owned()),
            (json!({}), "`command` is missing or empty".to_owned()),
            (json!({"command": " \n"}), "`command` is missing or empty".to_owned()),
            (json!({"command": ["ls"]}), r#"`command` must be a string, not ["ls"]"#.to_owned()),
            (json!({"command": "a\0b"}), "`command` must not contain NUL".to_owned()),
            (
                json!({"command": "ls", "time": 1}),
                "unknown argument `time`; there are `command`, `timeout`, `description` and `cwd`"
                    .to_owned(),
            ),
            (json!({"command": "ls", "timeout": 0}), format!("{range} 0")),
            (json!({"command": "ls", "timeout": 600_001}), format!("{range} 600001")),
            (json!({"command": "ls", "timeout": -5}), format!("{range} -5")),
            (json!({"command": "ls", "timeout": 1.5}), format!("{range} 1.5")),
            (json!({"command": "ls", "timeout": "9"}), format!(r#"{range} "9""#)),
        ] {
            assert_eq!(decode(arguments).unwrap_err(), format!("invalid arguments: {expect}"));
        }
    }
}
