//! Small histories of the project's own, with what real ones are odd for.

use compaction::formats::{Document, Format, Shape};
use compaction::{Item as _, ItemView};

use serde_json::Value;

use super::pruning::{parse, pruned, pruned_items};

/// The histories: a name, their format and shape, their bytes.
pub(super) const RECORDED: &[(&str, Format, Shape, &[u8])] = &[
    (
        "claude-code",
        Format::Anthropic,
        Shape::ClaudeCode,
        include_bytes!("fixtures/claude-code.jsonl"),
    ),
    (
        "anthropic-request",
        Format::Anthropic,
        Shape::Messages,
        include_bytes!("fixtures/anthropic-request.json"),
    ),
    ("pi", Format::Anthropic, Shape::Pi, include_bytes!("fixtures/pi.jsonl")),
    ("codex", Format::OpenAi, Shape::Codex, include_bytes!("fixtures/codex.jsonl")),
    ("responses", Format::OpenAi, Shape::Responses, include_bytes!("fixtures/responses.json")),
    ("chat", Format::OpenAi, Shape::Chat, include_bytes!("fixtures/chat.json")),
];

#[test]
fn they_round_trip() {
    for &(name, format, shape, source) in RECORDED {
        let document = parse(format, source);
        assert_eq!(document.shape(), shape, "{name}");
        assert!(document.write(document.items()) == source, "{name}");
        let marked = [b"\xef\xbb\xbf \r\n", source].concat();
        let document = parse(format, &marked);
        assert!(document.write(document.items()) == marked, "{name} with a byte order mark");
    }
}

#[test]
fn their_pruned_forms_are_golden() {
    for &(name, format, _, source) in RECORDED {
        let pruned = String::from_utf8(pruned(&parse(format, source))).unwrap();
        insta::assert_snapshot!(name, pruned);
    }
}

#[test]
fn pruning_again_changes_nothing() {
    for &(name, format, _, source) in RECORDED {
        let once = pruned(&parse(format, source));
        assert!(pruned(&parse(format, &once)) == once, "{name}");
    }
}

#[test]
fn what_their_items_are_is_golden() {
    for &(name, format, _, source) in RECORDED {
        let document = parse(format, source);
        insta::assert_snapshot!(format!("{name}-items"), listed(&document));
    }
}

#[test]
fn a_summariser_gets_the_messages_alone() {
    for &(name, format, _, source) in RECORDED {
        let document = parse(format, source);
        let messages =
            String::from_utf8(document.messages(&pruned_items(document.items()))).unwrap();
        let messages: Vec<Value> = serde_json::from_str(&messages).unwrap();
        let first = document.items().iter().filter(|item| !item.continues()).count();
        // Lines of one message are several messages here.
        assert!(messages.len() >= first, "{name}: {} {first}", messages.len());
        assert!(messages.iter().all(|message| message.get("payload").is_none()), "{name}");
    }
}

/// Each item in a line.
fn listed(document: &Document) -> String {
    let mut lines: Vec<String> = Vec::new();
    for item in document.items() {
        let joint = if item.continues() { "+ " } else { "" };
        let what = match item.view() {
            ItemView::Instructions => "instructions".to_owned(),
            ItemView::User => "user".to_owned(),
            ItemView::Summary => "summary".to_owned(),
            ItemView::Other => "other".to_owned(),
            ItemView::Call(call) => {
                let compaction::Arguments::Text(arguments) = &call.arguments else { panic!() };
                format!("call {:?} {} {arguments}", call.id.unwrap_or("-"), call.tool)
            }
            ItemView::Result(result) => {
                let ended = result.ended;
                let ending = match (ended.status, ended.exit) {
                    (Some(status), Some(exit)) => format!("{status}, {exit:?}"),
                    (Some(status), None) => status.to_string(),
                    (None, _) => "-".to_owned(),
                };
                let parts: Vec<String> = result
                    .output
                    .inline
                    .iter()
                    .map(|part| {
                        let compaction::Body::Text(text) = &part.body else { panic!() };
                        format!("{}{text:?}", part.label.as_deref().unwrap_or_default())
                    })
                    .collect();
                format!("result {:?} ({ending}) {}", result.call.unwrap_or("-"), parts.join(" "))
            }
        };
        lines.push(format!("{joint}{what}"));
    }
    lines.extend(document.damage().iter().map(ToString::to_string));
    lines.join("\n")
}
