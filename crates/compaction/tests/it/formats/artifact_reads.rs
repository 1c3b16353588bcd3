//! What is an artifact read, in each format, and what is kept of an output.

use compaction::formats::Format;
use output_retention::{ARTIFACT_READ_OMITTED, is_pruned_output};
use serde_json::{Value, json};

use super::pruning::{parse, pruned};

const URI: &str = "artifact://0000000000000000000000000000000000000000000000000000000000000000";

/// The content of the only result after pruning, of a call with these
/// arguments, which are given as an object and as a string.
fn contents(tool: &str, arguments: &Value, content: &Value, is_error: bool) -> Vec<Value> {
    let text = arguments.to_string();
    let blocks = |input: &Value| {
        json!([
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": tool, "input": input}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": content, "is_error": is_error}]},
        ])
    };
    let items = |arguments: &Value| {
        json!([
            {"type": "function_call", "call_id": "c", "name": tool, "arguments": arguments},
            {"type": "function_call_output", "call_id": "c", "output": content},
        ])
    };
    let messages = json!([
        {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {"name": tool, "arguments": text}}]},
        {"role": "tool", "tool_call_id": "c", "content": content},
    ]);
    let text = Value::String(text.clone());
    let mut found = Vec::new();
    for (format, history, path) in [
        (Format::Anthropic, blocks(arguments), "/1/content/0/content"),
        (Format::Anthropic, blocks(&text), "/1/content/0/content"),
        (Format::OpenAi, items(&text), "/1/output"),
        (Format::OpenAi, items(arguments), "/1/output"),
        (Format::OpenAi, messages, "/1/content"),
    ] {
        let source = serde_json::to_vec(&history).unwrap();
        let pruned: Value = serde_json::from_slice(&pruned(&parse(format, &source))).unwrap();
        assert_eq!(pruned[0], history[0], "the call is as it was");
        found.push(pruned.pointer(path).unwrap().clone());
    }
    found
}

#[test]
fn reads_of_artifacts_are_omitted() {
    for (arguments, is_error) in [
        (json!({"filePath": URI}), false),
        (
            json!({"filePath": format!("{URI}/stdout"), "offset": 3, "limit": 2, "extra": [URI]}),
            false,
        ),
        (json!({"limit": 1, "filePath": URI.to_uppercase()}), false),
        (json!({"filePath": "ARTIFACT:/etc/passwd"}), true),
    ] {
        for content in contents("read", &arguments, &json!("a page"), is_error) {
            assert_eq!(content, ARTIFACT_READ_OMITTED, "{arguments}");
        }
    }
}

#[test]
fn everything_of_an_artifact_read_is_omitted() {
    let content = json!([
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
        {"type": "text", "text": "a page"},
        {"type": "text", "text": "and more of it"},
        {"type": "unknown", "x": 1},
    ]);
    for content in contents("read", &json!({"filePath": URI}), &content, false) {
        assert_eq!(content, json!([{"type": "text", "text": ARTIFACT_READ_OMITTED}]));
    }
    let content = json!([{"type": "image", "source": {"type": "url", "url": "https://x"}}]);
    for content in contents("read", &json!({"filePath": URI}), &content, false) {
        assert_eq!(content[0]["text"], ARTIFACT_READ_OMITTED);
        assert_eq!(content.as_array().unwrap().len(), 1);
    }
}

#[test]
fn other_reads_are_ordinary() {
    let about = format!("see {URI}, and {{\"filePath\":\"{URI}\"}}");
    for (tool, arguments) in [
        ("Read", json!({"filePath": URI})),
        ("myread", json!({"filePath": URI})),
        ("read", json!({"filePath": "./artifact:x"})),
        ("read", json!({"filePath": format!(" {URI}")})),
        ("read", json!({"file_path": URI, "path": URI, "filepath": URI})),
        ("read", json!({"options": {"filePath": URI}})),
        ("read", json!({"filePath": [URI]})),
        ("read", json!([URI])),
        ("bash", json!({"command": about})),
    ] {
        for content in contents(tool, &arguments, &json!(about), false) {
            let content = content.as_str().unwrap();
            assert!(
                content.starts_with("[tool output omitted for compaction: "),
                "{tool} {arguments}"
            );
            assert!(is_pruned_output(content));
        }
    }
}

#[test]
fn notices_of_others_are_data() {
    for notice in [
        "<persisted-output>\nOutput too large (575.5KB). Full output saved to: /x\n</persisted-output>",
        "[Truncated. Read more: read(filePath=\"artifact://x\", offset=3)]",
        "[artifact read output omitted for compaction] ",
        "Warning: output was truncated.",
    ] {
        for content in contents("bash", &json!({}), &json!(notice), false) {
            assert!(is_pruned_output(content.as_str().unwrap()), "{notice}");
            assert_ne!(content, ARTIFACT_READ_OMITTED);
        }
    }
}

#[test]
fn what_is_no_text_of_an_ordinary_output_stays_in_its_place() {
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}});
    let cached = json!({"text": "c", "cache_control": {"type": "ephemeral"}, "type": "text"});
    let text = |text: &str| json!({"type": "text", "text": text});
    let check = |content: Value, expect: &[&str]| {
        for found in contents("shot", &json!({}), &content, false) {
            let kinds: Vec<&str> = found
                .as_array()
                .unwrap()
                .iter()
                .map(|block| match block["text"].as_str() {
                    None => {
                        assert!(content.as_array().unwrap().contains(block), "{block}");
                        "as it was"
                    }
                    Some(text) if block.get("cache_control").is_some() => {
                        assert!(is_pruned_output(text));
                        "cached line"
                    }
                    Some(text) => {
                        assert!(is_pruned_output(text), "{text}");
                        "line"
                    }
                })
                .collect();
            assert_eq!(kinds, expect, "{content}");
        }
    };
    check(json!([text("a"), image, text("b")]), &["line", "as it was"]);
    check(json!([image, text("a"), text("b"), image]), &["as it was", "line", "as it was"]);
    check(json!([text("a"), text("b"), cached]), &["cached line"]);
    check(json!([cached, image, text("b")]), &["cached line", "as it was"]);
    check(json!([text("a"), {"type": "text", "text": "b", "citations": null}]), &["line"]);
    check(Value::from(vec![text("many"); 100]), &["line"]);
    check(Value::from(vec![cached.clone(); 3]), &["cached line"; 3]);
    check(json!([image]), &["as it was"]);
    check(json!([{"type": "tool_reference", "tool_name": "x"}]), &["as it was"]);
    check(
        json!([{"type": "text"}, "bare", 7, text("a")]),
        &["as it was", "as it was", "as it was", "line"],
    );
    check(json!([]), &[]);
}
