//! What a result carries for the model: text, attachments, links, messages.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::digest::Digest;
use crate::lenient;

/// Free-form JSON fields beside a piece of content.
pub type Fields = BTreeMap<String, Value>;

/// One piece of a result's content, in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS, schemars::JsonSchema))]
pub struct Content {
    /// The content itself.
    #[serde(flatten)]
    pub body: ContentBody,
    /// Hints of the tool for whoever shows this, such as audience or priority.
    #[serde(
        default,
        deserialize_with = "lenient::field",
        skip_serializing_if = "Fields::is_empty"
    )]
    pub annotations: Fields,
    /// Fields that are passed through and never interpreted.
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient::field",
        skip_serializing_if = "Fields::is_empty"
    )]
    pub meta: Fields,
}

impl Content {
    /// Plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::from(ContentBody::Text { text: text.into() })
    }

    /// The text, where this is text.
    pub fn as_text(&self) -> Option<&str> {
        match &self.body {
            ContentBody::Text { text } => Some(text),
            _ => None,
        }
    }
}

impl From<ContentBody> for Content {
    fn from(body: ContentBody) -> Self {
        Self { body, annotations: Fields::new(), meta: Fields::new() }
    }
}

/// The kinds of content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS, schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ContentBody {
    /// Text that the model reads.
    Text {
        /// The text.
        text: String,
    },
    /// Bytes of a media type, stored as an artifact.
    Attachment(Attachment),
    /// A link to something that is not part of the result.
    ResourceLink {
        /// Where it is.
        uri: String,
        /// What it is called.
        name: String,
        /// Its media type, where known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        media_type: Option<String>,
    },
}

/// Bytes that belong to a result: stored, named by the session's roots, never
/// written into an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS, schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Attachment {
    /// The media type, such as `image/png`.
    pub media_type: String,
    /// The stored bytes; `None` where the store could not take them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<Digest>,
    /// Their number.
    pub bytes: u64,
    /// A file name to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// The structured value beside a result's content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS, schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Structured {
    /// The value itself.
    Inline(Value),
    /// A value above [`crate::limits::MAX_INLINE_STRUCTURED_BYTES`]: its
    /// compact JSON is stored.
    Stored {
        /// The stored JSON; `None` where the store could not take it.
        artifact: Option<Digest>,
        /// Its size, in bytes.
        bytes: u64,
    },
}

/// A message that a tool adds to the history after its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS, schemars::JsonSchema))]
pub struct EmittedMessage {
    /// Who is taken to speak.
    pub role: EmittedRole,
    /// What is said.
    pub text: String,
}

/// Roles that a tool may speak in: never the assistant's, the system's or a
/// tool's, so that an output cannot pose as a decision or an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS, schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EmittedRole {
    /// The user.
    User,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_keeps_what_it_does_not_know() {
        let json = r#"{"type":"text","text":"hi","annotations":{"priority":1},"_meta":{"k":[1]}}"#;
        let content: Content = serde_json::from_str(json).unwrap();
        assert_eq!(content.as_text(), Some("hi"));
        assert_eq!(serde_json::to_string(&content).unwrap(), json);
    }

    #[test]
    fn attachments_hold_a_digest_and_no_bytes() {
        let content = Content::from(ContentBody::Attachment(Attachment {
            media_type: "image/png".into(),
            artifact: Some(Digest::EMPTY),
            bytes: 0,
            name: None,
        }));
        let json = serde_json::to_string(&content).unwrap();
        assert_eq!(
            json,
            format!(
                r#"{{"type":"attachment","mediaType":"image/png","artifact":"{}","bytes":0}}"#,
                Digest::EMPTY
            )
        );
        assert_eq!(serde_json::from_str::<Content>(&json).unwrap(), content);
    }

    #[test]
    fn a_tool_cannot_speak_as_anyone_but_the_user() {
        for role in ["assistant", "system", "tool"] {
            let json = format!(r#"{{"role":"{role}","text":"x"}}"#);
            assert!(serde_json::from_str::<EmittedMessage>(&json).is_err(), "{role}");
        }
        assert!(serde_json::from_str::<EmittedMessage>(r#"{"role":"user","text":"x"}"#).is_ok());
    }
}
