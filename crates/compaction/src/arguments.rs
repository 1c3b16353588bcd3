//! The arguments of a call, as far as they say that it reads an artifact.
//!
//! Responsible for reading them by their structure: the value of the top-level
//! key `filePath`, and nothing that merely looks like it.

use std::borrow::Cow;
use std::fmt;

use output_contract::is_artifact_intent;
use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

const FILE_PATH: &str = "filePath";

/// The arguments of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Arguments<'a> {
    /// A JSON value. A string in it is read as the text of an object.
    Value(&'a Value),
    /// The text of a JSON object, as some providers write arguments and as any file
    /// has them.
    Text(Cow<'a, str>),
}

impl Arguments<'_> {
    /// The string under the top-level key `filePath`; of several, the last.
    pub fn file_path(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Value(Value::Object(fields)) => {
                fields.get(FILE_PATH).and_then(Value::as_str).map(Cow::Borrowed)
            }
            Self::Value(Value::String(text)) => file_path_in(text).map(Cow::Owned),
            Self::Value(_) => None,
            Self::Text(text) => file_path_in(text).map(Cow::Owned),
        }
    }

    /// Whether a call of a reader with these arguments reads an artifact.
    pub fn read_an_artifact(&self) -> bool {
        self.file_path().is_some_and(|path| is_artifact_intent(&path))
    }
}

/// Reads one field of an object and passes over the others.
fn file_path_in(json: &str) -> Option<String> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let found = deserializer.deserialize_map(FilePath).ok()?;
    deserializer.end().ok()?;
    found
}

struct FilePath;

impl<'de> Visitor<'de> for FilePath {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of arguments")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            if key == FILE_PATH {
                found = match map.next_value::<Value>()? {
                    Value::String(path) => Some(path),
                    _ => None,
                };
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(json: &str, expect: Option<&str>) {
        let text = Arguments::Text(json.into());
        assert_eq!(text.file_path().as_deref(), expect, "as text: {json}");
        let Ok(value) = serde_json::from_str(json) else { return };
        assert_eq!(Arguments::Value(&value).file_path().as_deref(), expect, "as a value: {json}");
        let string = Value::String(json.to_owned());
        assert_eq!(Arguments::Value(&string).file_path().as_deref(), expect, "in a string: {json}");
    }

    #[test]
    fn the_top_level_key_and_nothing_that_looks_like_it() {
        check(r#"{"filePath":"a"}"#, Some("a"));
        check(r#" { "limit" : 3, "filePath" : "\u0061\n", "x": [{}] } "#, Some("a\n"));
        check(r#"{"\u0066ilePath":"a"}"#, Some("a"));
        check(r#"{"filePath":"a","filePath":"b"}"#, Some("b"));
        check(r#"{"filePath":"a","filePath":7}"#, None);
        check(r#"{"filePath":["a"]}"#, None);
        check(r#"{"filepath":"a","file_path":"a","path":"a"}"#, None);
        check(r#"{"input":{"filePath":"a"}}"#, None);
        check(r#"{"command":"read(filePath=\"artifact://x\")"}"#, None);
        check(r#"["filePath","a"]"#, None);
        check("null", None);
        check("", None);
        check(r#"{"filePath":"a""#, None);
        check(r#"{"filePath":"a"} x"#, None);
    }

    #[test]
    fn intent_is_of_the_path() {
        let reads = |path: &str| Arguments::Value(&json!({ "filePath": path })).read_an_artifact();
        assert!(reads("artifact://x") && reads("ARTIFACT:x") && reads("artifact:"));
        assert!(!reads("./artifact:x") && !reads(" artifact://x") && !reads("/tmp/artifact:x"));
    }
}
