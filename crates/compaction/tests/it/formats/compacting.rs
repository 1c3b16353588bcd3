//! The new history: a summary and what is kept.

use compaction::formats::{Document, FileItem, Format, FormatError, Shape};
use compaction::{Item as _, ItemView};
use serde_json::Value;

use super::pruning::parse;
use super::recorded::RECORDED;

const SUMMARY: &str = "They \"fixed\" the till.\n\u{2028}";

#[test]
fn what_is_kept_is_kept_byte_for_byte() {
    for &(name, format, shape, source) in RECORDED {
        let document = parse(format, source);
        let is_first = |item: &&FileItem| item.view() == ItemView::Instructions;
        let instructions = document.items().iter().take_while(is_first).count();
        for from in instructions..=document.items().len() {
            if document.items().get(from).is_some_and(compaction::Item::continues) {
                continue;
            }
            let new = document.compacted(SUMMARY, from).unwrap();
            let again = parse(format, &new);
            assert_eq!(again.shape(), shape, "{name}");
            let kept = &document.items()[from..];
            let added = again.items().len().checked_sub(kept.len()).expect("all that is kept");
            assert_eq!(added, instructions + 1, "{name}: {from}");
            assert!(matches!(
                again.items()[instructions].view(),
                ItemView::User | ItemView::Summary
            ));
            for (before, after) in kept.iter().zip(&again.items()[added..]) {
                assert_eq!(before.view(), after.view(), "{name}: {from}");
            }
            let messages = |document: &Document, from: usize| {
                document.messages(&document.items()[from..]).split_off(1)
            };
            assert!(messages(&again, added) == messages(&document, from), "{name}: {from}");
            // Half of a surrogate pair is more than this parser takes.
            let said = String::from_utf8(again.messages(again.items())).unwrap();
            let said: Vec<Value> = serde_json::from_str(&said.replace(r"\ud83d", "")).unwrap();
            assert!(said[instructions].to_string().contains("the till."), "{name}");
        }
    }
}

/// As the first messages, and what of the file stays around them.
#[test]
fn heads_are_golden() {
    for &(name, format, _, source) in RECORDED {
        let document = parse(format, source);
        let last = document.items().len() - 1;
        let new = String::from_utf8(document.compacted(SUMMARY, last).unwrap()).unwrap();
        insta::assert_snapshot!(format!("{name}-compacted"), new);
    }
}

#[test]
fn instructions_stay_first() {
    let source = br#"{"input":[{"role":"system","content":"s"},{"role":"user","content":"u"},{"type":"function_call","call_id":"c","name":"n","arguments":"{}"}],"model":"m"}"#;
    let document = parse(Format::OpenAi, source);
    let new: Value = serde_json::from_slice(&document.compacted("x", 0).unwrap()).unwrap();
    assert_eq!(new["input"][0]["role"], "system");
    assert_eq!(new["input"][1]["content"][0]["text"], "x");
    assert_eq!(new["input"].as_array().unwrap().len(), 4);
    assert_eq!(new["model"], "m");
}

#[test]
fn instructions_stay_first_in_lines_too() {
    let source = b"{\"role\":\"system\",\"content\":\"s\"}\r\n{\"role\":\"user\",\"content\":\"u\"}\r\n{\"role\":\"tool\",\"content\":\"o\"}";
    let document = parse(Format::OpenAi, source);
    let new = String::from_utf8(document.compacted("x", 2).unwrap()).unwrap();
    let expect = "{\"role\":\"system\",\"content\":\"s\"}\r\n{\"role\":\"user\",\"content\":\"x\"}\r\n{\"role\":\"tool\",\"content\":\"o\"}";
    assert_eq!(new, expect);
}

#[test]
fn a_response_after_its_request_is_kept() {
    let source = br#"{"body":{"messages":[{"role":"user","content":"u"}]},"response":{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"n","input":{}}]}}"#;
    let document = parse(Format::Anthropic, source);
    assert_eq!(document.items().len(), 2);
    let new: Value = serde_json::from_slice(&document.compacted("x", 2).unwrap()).unwrap();
    assert_eq!(new["body"]["messages"][0]["content"], "x");
    assert_eq!(new["response"]["content"][0]["id"], "c");
}

#[test]
fn a_summary_needs_a_place() {
    let one =
        br#"{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"n","input":{}}]}"#;
    let document = parse(Format::Anthropic, one);
    assert_eq!(document.compacted("x", 1), Err(FormatError::SingleMessage));
    let two = br#"{"messages":[{"role":"user","content":"a"}]}
        {"messages":[{"role":"user","content":"b"}]}"#;
    let document = parse(Format::Anthropic, two);
    assert_eq!(document.items().len(), 2);
    assert_eq!(document.compacted("x", 1), Err(FormatError::SeveralHistories { count: 2 }));
}

#[test]
fn what_codex_kept_before_is_written_as_items() {
    let source = br#"{"timestamp":"t0","type":"session_meta","payload":{}}
{"timestamp":"t1","type":"compacted","payload":{"message":"s","replacement_history":[{"type":"message","role":"user","content":[]},{"type":"function_call","call_id":"c","name":"n","arguments":"{}"}]}}
{"timestamp":"t2","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"o"}}
"#;
    let document = parse(Format::OpenAi, source);
    assert_eq!((document.items().len(), document.shape()), (3, Shape::Codex));
    let new = String::from_utf8(document.compacted("x", 1).unwrap()).unwrap();
    let expect = r#"{"timestamp":"t0","type":"session_meta","payload":{}}
{"timestamp":"t1","type":"compacted","payload":{"message":"x"}}
{"timestamp":"t1","type":"response_item","payload":{"type":"function_call","call_id":"c","name":"n","arguments":"{}"}}
{"timestamp":"t2","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"o"}}
"#;
    assert_eq!(new, expect);

    let list =
        format!("[{}]", String::from_utf8(source.to_vec()).unwrap().trim().replace('\n', " , "));
    let new = parse(Format::OpenAi, list.as_bytes()).compacted("x", 1).unwrap();
    let expect: Vec<Value> =
        expect.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // The first is no message: it is before the first one.
    assert_eq!(serde_json::from_slice::<Vec<Value>>(&new).unwrap(), expect);
}

/// The line takes the place that the first kept one names.
#[test]
fn the_chain_of_a_session_is_whole() {
    let (_, format, _, source) = RECORDED[0];
    let document = parse(format, source);
    let last = document.items().len() - 1;
    let new = String::from_utf8(document.compacted("x", last).unwrap()).unwrap();
    let lines: Vec<Value> = new.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [.., summary, kept] = lines.as_slice() else { panic!("{new}") };
    assert_eq!(summary["uuid"], kept["parentUuid"]);
    assert_eq!(summary["sessionId"], kept["sessionId"]);
    assert_eq!(summary["parentUuid"], Value::Null);
    assert_eq!(summary["isCompactSummary"], true);
}
