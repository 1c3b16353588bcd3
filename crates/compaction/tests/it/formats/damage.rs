//! Files that are no history, or not wholly.

use compaction::formats::{Document, Format};
use compaction::{Item as _, ItemView};

use super::pruning::{parse, pruned};
use super::recorded::RECORDED;

#[track_caller]
fn refused(format: Format, source: impl AsRef<[u8]>, expect: &str) {
    let error = Document::parse(format, source.as_ref().to_vec()).unwrap_err().to_string();
    assert!(error.starts_with(expect), "{error}");
}

#[test]
fn a_file_that_is_no_history_is_refused_with_what_it_is() {
    use Format::{Anthropic, OpenAi};
    refused(Anthropic, "", "the file is empty; expected a list of Anthropic messages");
    refused(OpenAi, " \r\n\n", "the file is empty; expected a list of OpenAI items");
    refused(
        Anthropic,
        "hello\nworld",
        "found no JSON (line 1, 5 bytes from byte 0: not JSON), which",
    );
    refused(Anthropic, b"\xff\xfe{\0", "found no JSON (line 1, 4 bytes from byte 0: not UTF-8)");
    refused(Anthropic, "{\"a\":1,\"b\":2}", "found an object with the fields `a`, `b`, which");
    refused(OpenAi, "{\"messages\":7}", "found an object with the fields `messages`, which");
    refused(OpenAi, "[1,2]", "found an array of 2 values that are no messages");
    refused(OpenAi, "[{\"ts\":1}]", "found an array of 1 values, the first with the fields `ts`");
    let log = "{\"type\":\"a\",\"message\":\"x\"}\n{\"type\":\"b\"}\n{\"type\":\"a\"}\n";
    refused(Anthropic, log, "found 3 JSON Lines of the types `a`, `b`, which is no history");
    refused(
        OpenAi,
        "{\"level\":1}\n{\"level\":2}",
        "found 2 JSON Lines, the first with the fields",
    );
    refused(Anthropic, "\"messages\"", "found no JSON");
    refused(Anthropic, "{\"messages\": [", "found no JSON (line 1, 14 bytes from byte 0: a torn");
}

#[test]
fn a_history_of_the_other_provider_is_refused_by_name() {
    for &(name, format, _, source) in RECORDED {
        let (other, found) = match format {
            Format::Anthropic => (Format::OpenAi, "anthropic"),
            Format::OpenAi => (Format::Anthropic, "openai"),
        };
        println!("{name}");
        refused(other, source, &format!("found a history of the format {found}; expected"));
    }
}

#[test]
fn an_empty_history_is_one() {
    for source in ["[]", " [ ]\n", "{\"messages\":[]}"] {
        for format in [Format::Anthropic, Format::OpenAi] {
            let document = parse(format, source.as_bytes());
            assert!(document.items().is_empty());
            assert_eq!(document.write(&[]), source.as_bytes());
        }
    }
}

/// However a log is cut or garbled, the rest is read and nothing is lost.
#[test]
fn a_damaged_log_is_written_back_as_it_is() {
    for &(name, format, shape, source) in RECORDED {
        for at in (0..source.len()).step_by(source.len() / 60) {
            for garble in [0, b'\n', b'"', 0xff] {
                let mut damaged = source.to_vec();
                damaged[at] = garble;
                let Ok(document) = Document::parse(format, damaged.clone()) else {
                    assert!(!shape.to_string().contains("session"), "{name}: a line of many");
                    continue;
                };
                assert!(document.write(document.items()) == damaged, "{name}: {at}");
            }
            let cut = &source[..at];
            if let Ok(document) = Document::parse(format, cut.to_vec()) {
                assert!(document.write(document.items()) == cut, "{name}: cut at {at}");
            }
        }
    }
}

const CALL: &str = r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"t","input":{}}]}}"#;
const RESULT: &str = r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"long enough to be pruned"}]}}"#;

fn kinds(document: &Document) -> String {
    let kind = |view: ItemView<'_>| match view {
        ItemView::Call(_) => 'c',
        ItemView::Result(_) => 'r',
        _ => '.',
    };
    document.items().iter().map(|item| kind(item.view())).collect()
}

#[test]
fn glued_and_torn_records_are_told_by_position() {
    let torn = &RESULT[..40];
    let source = format!("{CALL}{RESULT}\n{torn}{CALL}\n{torn}\n{RESULT}\r\n{torn}");
    let document = parse(Format::Anthropic, source.as_bytes());
    assert_eq!(kinds(&document), "crcr");
    let damage: Vec<String> = document.damage().iter().map(ToString::to_string).collect();
    let second = CALL.len() + RESULT.len() + 1;
    let third = second + torn.len() + CALL.len() + 1;
    let last = third + torn.len() + 1 + RESULT.len() + 2;
    assert_eq!(
        damage,
        [
            format!(
                "line 1, {} bytes from byte {}: a record glued to the one before it, which was read",
                RESULT.len(),
                CALL.len()
            ),
            format!("line 2, 40 bytes from byte {second}: a torn record"),
            format!(
                "line 2, {} bytes from byte {}: a record glued to the one before it, which was read",
                CALL.len(),
                second + 40
            ),
            format!("line 3, 40 bytes from byte {third}: a torn record"),
            format!("line 5, 40 bytes from byte {last}: a torn record"),
        ]
    );
    let pruned = String::from_utf8(pruned(&document)).unwrap();
    assert!(!pruned.contains("long enough"));
    assert_eq!(pruned.matches(torn).count(), 5, "torn bytes are carried");
}

#[test]
fn a_torn_list_is_read_as_far_as_it_goes() {
    let source = r#"[{"role":"user","content":"x"}, {"role":"assistant","content":[{"type":"te"#;
    let document = parse(Format::Anthropic, source.as_bytes());
    assert_eq!(document.items().len(), 1);
    assert_eq!(document.damage()[0].position, 32);
    assert_eq!(document.write(document.items()), source.as_bytes());
}

#[test]
fn depth_is_no_danger() {
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let source = format!(
        r#"[{{"role":"assistant","content":[{{"type":"tool_use","id":"c","name":"read","input":{{"filePath":{deep}}}}}]}},
        {{"role":"user","content":[{{"type":"tool_result","tool_use_id":"c","content":"an output","x":{deep}}}]}}]"#
    );
    let document = parse(Format::Anthropic, source.as_bytes());
    assert_eq!(kinds(&document), "cr");
    assert_eq!(document.write(document.items()), source.as_bytes());
    let pruned = String::from_utf8(pruned(&document)).unwrap();
    assert!(pruned.contains(&deep) && !pruned.contains("an output"));
}

#[test]
fn discarded_history_is_not_read_again() {
    let text =
        |text: &str| format!(r#"{{"type":"user","message":{{"role":"user","content":"{text}"}}}}"#);
    let summary =
        r#"{"type":"user","isCompactSummary":true,"message":{"role":"user","content":"s"}}"#;
    let boundary =
        r#"{"type":"system","subtype":"compact_boundary","content":"Conversation compacted"}"#;
    let aside =
        r#"{"type":"assistant","isSidechain":true,"message":{"role":"assistant","content":[]}}"#;
    let source = [CALL, RESULT, boundary, summary, &text("a"), aside, CALL].join("\n");
    let document = parse(Format::Anthropic, source.as_bytes());
    let views: Vec<ItemView<'_>> = document.items().iter().map(|item| item.view()).collect();
    assert!(
        matches!(views[..], [ItemView::Summary, ItemView::User, ItemView::Call(_)]),
        "{views:?}"
    );

    let item = |item: &str| format!(r#"{{"type":"response_item","payload":{item}}}"#);
    let output = r#"{"type":"function_call_output","call_id":"c","output":"x"}"#;
    let user = r#"{"type":"message","role":"user","content":[]}"#;
    let compacted = r#"{"type":"compacted","payload":{"message":"s"}}"#;
    let source =
        [&item(output), compacted, &item(user), &item(output)].map(String::from).join("\n");
    let document = parse(Format::OpenAi, source.as_bytes());
    let views: Vec<ItemView<'_>> = document.items().iter().map(|item| item.view()).collect();
    assert!(
        matches!(views[..], [ItemView::Summary, ItemView::User, ItemView::Result(_)]),
        "{views:?}"
    );
    let replaced = format!(
        r#"{{"type":"compacted","payload":{{"message":"s","replacement_history":[{user},{output}]}}}}"#
    );
    let source = [item(output), replaced, item(output)].join("\n");
    let document = parse(Format::OpenAi, source.as_bytes());
    let views: Vec<ItemView<'_>> = document.items().iter().map(|item| item.view()).collect();
    assert!(
        matches!(views[..], [ItemView::User, ItemView::Result(_), ItemView::Result(_)]),
        "{views:?}"
    );
}
