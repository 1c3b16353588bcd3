//! Images, documents and sound inside of messages: base64, which is no text.

use super::json::{Fields, Json};
use super::output::is_text;

/// Shorter data is not worth telling from text.
const SHORT: usize = 64;

/// How many bytes of a block, or of each block in a list, are base64 data.
pub(super) fn payload(json: Json<'_>) -> usize {
    if let Some(blocks) = json.elements() {
        return blocks.into_iter().filter_map(Json::fields).map(|block| of_block(&block)).sum();
    }
    json.fields().map_or(0, |block| of_block(&block))
}

/// Where each provider puts the data: Anthropic in `source.data`, Responses in
/// `image_url` and `file_data`, Chat one object deeper, others in `data`.
fn of_block(block: &Fields<'_>) -> usize {
    let kind = block.string("type");
    if kind.as_deref().is_none_or(|kind| is_text(Some(kind)) || kind == "tool_use") {
        return 0;
    }
    let mut bytes = 0;
    for name in ["source", "image_url", "file", "input_audio"] {
        let Some(value) = block.get(name) else { continue };
        match value.fields() {
            // A document may be plain text.
            Some(inner) if is_text(inner.string("type").as_deref()) => {}
            Some(inner) => {
                bytes += ["data", "file_data", "url"]
                    .iter()
                    .map(|name| data(&inner, name))
                    .sum::<usize>();
            }
            None => bytes += data(block, name),
        }
    }
    bytes + data(block, "data") + data(block, "file_data")
}

fn data(fields: &Fields<'_>, name: &str) -> usize {
    let Some(text) = fields.get(name).and_then(Json::plain_string) else { return 0 };
    let is_data = if name.ends_with("url") { text.starts_with("data:") } else { true };
    if is_data && text.len() > SHORT { text.len() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_found_where_each_provider_has_it() {
        let data = "QUJD".repeat(100);
        let check = |json: String, expect: usize| {
            assert_eq!(payload(Json::parse(&json).unwrap()), expect, "{json}");
        };
        let url = format!("data:image/png;base64,{data}");
        check(format!(r#"{{"type":"image","source":{{"type":"base64","data":"{data}"}}}}"#), 400);
        check(
            format!(r#"[{{"type":"input_image","image_url":"{url}"}},{{"type":"x"}}]"#),
            url.len(),
        );
        check(format!(r#"{{"type":"image_url","image_url":{{"url":"{url}"}}}}"#), url.len());
        check(format!(r#"{{"type":"file","file":{{"file_data":"{data}"}}}}"#), 400);
        check(format!(r#"{{"type":"image","data":"{data}","mimeType":"image/png"}}"#), 400);
        check(format!(r#"{{"type":"text","data":"{data}"}}"#), 0);
        check(format!(r#"{{"type":"input_image","image_url":"https://{data}"}}"#), 0);
        check(format!(r#"{{"type":"input_text","data":"{data}"}}"#), 0);
        check(format!(r#"{{"type":"document","source":{{"type":"text","data":"{data}"}}}}"#), 0);
        check("7".to_owned(), 0);
    }
}
