//! One page of stored output, as other programs read it.

use serde::{Deserialize, Serialize};

use crate::uri::ArtifactUri;

/// A piece of an artifact and its place there: what `overspill read --json`
/// prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS, schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PageRecord {
    /// The artifact.
    pub uri: ArtifactUri,
    /// Zero-based line of the first byte.
    pub offset: u64,
    /// Bytes of that line before the page.
    pub byte_offset: u64,
    /// The artifact's bytes.
    #[serde(flatten)]
    pub content: PageContent,
    /// Lines in the page; a part of one counts as one.
    pub lines: u64,
    /// Bytes in the page, before any encoding.
    pub bytes: u64,
    /// The line where the next page begins; `None` at the end of the artifact.
    pub next_offset: Option<u64>,
    /// Bytes of that line before the next page; `None` at the end.
    pub next_byte_offset: Option<u64>,
    /// Lines in the artifact; an unterminated rest is one more.
    pub total_lines: u64,
    /// Bytes in the artifact.
    pub total_bytes: u64,
}

/// The bytes of a page, exactly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS, schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum PageContent {
    /// Where they are UTF-8.
    Text(String),
    /// Where they are not: in standard base64, padded.
    Base64(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Digest;

    #[test]
    fn a_page_has_text_or_base64_and_says_where_the_next_begins() {
        let page = PageRecord {
            uri: ArtifactUri::bare(Digest::EMPTY),
            offset: 3,
            byte_offset: 1,
            content: PageContent::Text("b\n".to_owned()),
            lines: 1,
            bytes: 2,
            next_offset: Some(4),
            next_byte_offset: Some(0),
            total_lines: 9,
            total_bytes: 30,
        };
        let json = serde_json::to_string(&page).unwrap();
        let uri = &page.uri;
        assert_eq!(
            json,
            format!(
                r#"{{"uri":"{uri}","offset":3,"byteOffset":1,"text":"b\n","lines":1,"bytes":2,"nextOffset":4,"nextByteOffset":0,"totalLines":9,"totalBytes":30}}"#
            )
        );
        assert_eq!(serde_json::from_str::<PageRecord>(&json).unwrap(), page);
        let content = PageContent::Base64("/w==".to_owned());
        let last = PageRecord { content, next_offset: None, next_byte_offset: None, ..page };
        let json = serde_json::to_value(&last).unwrap();
        assert_eq!((json["base64"].as_str(), json.get("text")), (Some("/w=="), None));
        assert!(json["nextOffset"].is_null() && json["nextByteOffset"].is_null());
    }
}
