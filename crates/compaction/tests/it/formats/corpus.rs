//! The real histories of the corpus, each with what its manifest says to check.

use std::collections::HashMap;

use compaction::formats::{Document, FileItem, Format, Shape};
use compaction::{Body, Item as _, ItemView};
use output_contract::Status;
use output_retention::is_pruned_output;
use serde_json::Value;

use super::pruning::{parse, pruned, pruned_items};

/// What is to hold of one file.
type Check = fn(&File);

/// A file of the corpus, read.
struct File {
    name: String,
    source: Vec<u8>,
    document: Document,
}

/// Every A and B file of the manifest. A file that is not here fails the test.
const CHECKS: &[(&str, Format, Shape, Check)] = &[
    ("A01.jsonl", Format::Anthropic, Shape::ClaudeCode, a01_session),
    ("A01.messages.json", Format::Anthropic, Shape::Messages, a01),
    ("A02.jsonl", Format::Anthropic, Shape::ClaudeCode, a02_session),
    ("A02.messages.json", Format::Anthropic, Shape::Messages, a02),
    ("A02b.jsonl", Format::Anthropic, Shape::ClaudeCode, a02b),
    ("A02b.messages.json", Format::Anthropic, Shape::Messages, a02b),
    ("A03.request.json", Format::Anthropic, Shape::Messages, a03),
    ("A04-1.request.json", Format::Anthropic, Shape::Messages, a04),
    ("A04-2.request.json", Format::Anthropic, Shape::Messages, a04),
    ("A04-3.request.json", Format::Anthropic, Shape::Messages, a04),
    ("A05-1.request.json", Format::Anthropic, Shape::Messages, a05),
    ("A05-2.request.json", Format::Anthropic, Shape::Messages, a05),
    ("A05-3.request.json", Format::Anthropic, Shape::Messages, a05),
    ("A05-4.request.json", Format::Anthropic, Shape::Messages, a05),
    ("A05-5.request.json", Format::Anthropic, Shape::Messages, a05),
    ("A05-6.request.json", Format::Anthropic, Shape::Messages, a05),
    ("A05-7.request.json", Format::Anthropic, Shape::Messages, a05),
    ("A06.request.json", Format::Anthropic, Shape::Messages, a06),
    ("A07.json", Format::Anthropic, Shape::Messages, a07),
    ("A08.jsonl", Format::Anthropic, Shape::Pi, a08),
    ("A08.messages.json", Format::Anthropic, Shape::Messages, a08),
    ("B01-1.request.json", Format::OpenAi, Shape::Responses, b01),
    ("B01-1.naive-items.json", Format::OpenAi, Shape::Responses, b01_duplicates),
    ("B01-2.request.json", Format::OpenAi, Shape::Responses, b01),
    ("B01-2.naive-items.json", Format::OpenAi, Shape::Responses, b01_duplicates),
    ("B02.request.json", Format::OpenAi, Shape::Responses, b02),
    ("B03.json", Format::OpenAi, Shape::Responses, b03),
    ("B05.json", Format::OpenAi, Shape::Responses, b05),
    ("B06.json", Format::OpenAi, Shape::Chat, b06),
    ("B07.json", Format::OpenAi, Shape::Chat, b07),
    ("B08.jsonl", Format::OpenAi, Shape::Codex, b08_rollout),
    ("B08.items.json", Format::OpenAi, Shape::Responses, b08),
    ("B09.request.json", Format::OpenAi, Shape::Chat, b09),
];

#[test]
fn every_history_round_trips_and_is_pruned_as_its_manifest_says() {
    let Some(corpus) = testkit::corpus() else { return };
    let mut seen = 0;
    for entry in &corpus {
        if !matches!(entry.id.as_bytes(), [b'A' | b'B', b'0'..=b'9', ..]) {
            continue;
        }
        let check = CHECKS.iter().find(|(name, ..)| *name == entry.file);
        let &(name, format, shape, check) = check.expect("every history has a check");
        println!("{name}: {}", entry.check);
        let source = entry.read();
        let file = File { name: name.to_owned(), document: parse(format, &source), source };
        assert_eq!(file.document.shape(), shape, "{name}");
        assert_eq!(file.document.damage(), [], "{name}");
        file.holds_for_all();
        check(&file);
        seen += 1;
    }
    assert_eq!(seen, CHECKS.len());
}

#[test]
fn a_history_is_not_taken_for_one_of_the_other_provider() {
    let Some(corpus) = testkit::corpus() else { return };
    for &(name, format, ..) in CHECKS {
        // These have no calls of ours: words alone may be of either.
        if ["A05-3.request.json", "A05-6.request.json", "A06.request.json", "B03.json"]
            .contains(&name)
        {
            continue;
        }
        let other = match format {
            Format::Anthropic => Format::OpenAi,
            Format::OpenAi => Format::Anthropic,
        };
        let entry = corpus.iter().find(|entry| entry.file == name).unwrap();
        let Err(error) = Document::parse(other, entry.read()) else { panic!("{name}") };
        assert!(
            error.to_string().starts_with(&format!("found a history of the format {format}")),
            "{name}: {error}"
        );
    }
}

impl File {
    /// What holds whatever is in the file.
    fn holds_for_all(&self) {
        let Self { name, source, document } = self;
        assert!(document.write(document.items()) == *source, "{name}: byte for byte");
        let items = pruned_items(document.items());
        let once = document.write(&items);
        let again = parse(document.format(), &once);
        assert!(pruned(&again) == once, "{name}: pruned twice");
        assert_eq!(again.items().len(), items.len(), "{name}");
        for ((before, after), read) in document.items().iter().zip(&items).zip(again.items()) {
            assert_eq!(after.bytes(), read.bytes(), "{name}: the size is that of what is written");
            match (before.view(), read.view()) {
                (ItemView::Result(before), ItemView::Result(after)) => {
                    assert_eq!(before.call, after.call, "{name}");
                }
                (before, after) => assert_eq!(before, after, "{name}: only results change"),
            }
        }
        let messages: Vec<Value> = serde_json::from_slice(&document.messages(&items)).unwrap();
        assert!(messages.len() <= items.len(), "{name}");
    }

    fn pruned(&self) -> String {
        String::from_utf8(pruned(&self.document)).unwrap()
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.source).unwrap()
    }

    fn pruned_json(&self) -> Value {
        serde_json::from_str(&self.pruned()).unwrap()
    }

    fn calls(&self) -> Vec<(Option<String>, String, String)> {
        calls(self.document.items())
    }

    /// The call that each result names, in the order of the file.
    fn results(&self) -> Vec<Option<String>> {
        let result = |item: &FileItem| match item.view() {
            ItemView::Result(result) => Some(result.call.map(ToOwned::to_owned)),
            _ => None,
        };
        self.document.items().iter().filter_map(result).collect()
    }

    /// How the results ended.
    fn statuses(&self) -> Vec<Option<Status>> {
        let status = |item: &FileItem| match item.view() {
            ItemView::Result(result) => Some(result.ended.status),
            _ => None,
        };
        self.document.items().iter().filter_map(status).collect()
    }

    /// The texts of each result.
    fn texts(&self) -> Vec<Vec<(Option<String>, String)>> {
        self.document.items().iter().filter_map(texts).collect()
    }
}

fn calls(items: &[FileItem]) -> Vec<(Option<String>, String, String)> {
    let call = |item: &FileItem| match item.view() {
        ItemView::Call(call) => {
            let compaction::Arguments::Text(arguments) = call.arguments else { return None };
            Some((call.id.map(ToOwned::to_owned), call.tool.to_owned(), arguments.into_owned()))
        }
        _ => None,
    };
    items.iter().filter_map(call).collect()
}

fn texts(item: &FileItem) -> Option<Vec<(Option<String>, String)>> {
    let ItemView::Result(result) = item.view() else { return None };
    let text = |part: &compaction::InlinePart<'_>| {
        let Body::Text(text) = &part.body else { panic!("text alone is given out") };
        (part.label.clone().map(Into::into), text.clone().into_owned())
    };
    Some(result.output.inline.iter().map(text).collect())
}

/// All values of the JSON that are under `name`, at any depth.
fn under<'a>(value: &'a Value, name: &str, found: &mut Vec<&'a Value>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                if key == name {
                    found.push(value);
                }
                under(value, name, found);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| under(value, name, found)),
        _ => {}
    }
}

/// All objects with this type, at any depth.
fn of_type(value: &Value, kind: &str) -> Vec<Value> {
    let mut found = Vec::new();
    fn visit(value: &Value, kind: &str, found: &mut Vec<Value>) {
        match value {
            Value::Object(fields) => {
                if fields.get("type").is_some_and(|value| value == kind) {
                    found.push(value.clone());
                }
                fields.values().for_each(|value| visit(value, kind, found));
            }
            Value::Array(values) => values.iter().for_each(|value| visit(value, kind, found)),
            _ => {}
        }
    }
    visit(value, kind, &mut found);
    found
}

/// Pairs by id, not by order; all calls kept; one line for the big result.
fn a01(file: &File) {
    let calls = file.calls();
    assert_eq!(calls.len(), 25);
    let results = file.results();
    let ids: Vec<Option<String>> = calls.iter().map(|call| call.0.clone()).collect();
    assert_ne!(ids, results, "results come out of order");
    let place: HashMap<_, _> = ids.iter().enumerate().map(|(at, id)| (id, at)).collect();
    let inversions = results.windows(2).filter(|pair| place[&pair[0]] > place[&pair[1]]).count();
    assert!(inversions >= 3, "{inversions}");
    let largest = file.texts().into_iter().flatten().map(|(_, text)| text.len()).max();
    assert!(largest.unwrap() > 80_000);
    let pruned = parse(Format::Anthropic, file.pruned().as_bytes());
    assert_eq!(self::calls(pruned.items()), calls);
    for item in pruned.items() {
        if let ItemView::Result(result) = item.view() {
            let text = result.output.text;
            assert!(text.is_some_and(|text| text.is_empty() || is_pruned_output(text)), "{text:?}");
        }
    }
    assert!(file.pruned().len() < 40_000);
}

/// And neither copy of it is left.
fn a01_session(file: &File) {
    let pruned = file.pruned();
    let longest = |text: &str| text.lines().map(str::len).max().unwrap();
    assert!(longest(std::str::from_utf8(&file.source).unwrap()) > 175_000);
    assert!(longest(&pruned) < 10_000, "{}", longest(&pruned));
    assert_eq!(pruned.lines().count(), file.source.iter().filter(|&&b| b == b'\n').count());
    assert!(pruned.contains(r#""citations":null"#));
    assert!(pruned.len() < 100_000, "{}", pruned.len());
    let calls = file.calls();
    assert_eq!(calls.len(), 25);
    assert_eq!(file.results().len(), 25);
    let again = parse(Format::Anthropic, pruned.as_bytes());
    assert_eq!(self::calls(again.items()), calls);
}

/// Lists stay lists, signatures as they are.
fn a02(file: &File) {
    let texts = file.texts();
    assert_eq!(texts.len(), 4);
    assert!(texts.iter().all(|texts| texts.len() == 2), "each block is a part");
    let (before, after) = (file.json(), file.pruned_json());
    for result in of_type(&after, "tool_result") {
        assert_eq!(result["content"].as_array().unwrap().len(), 1);
        assert_eq!(result["content"][0]["type"], "text");
    }
    assert_eq!(of_type(&before, "thinking"), of_type(&after, "thinking"));
    assert_eq!(of_type(&before, "tool_use"), of_type(&after, "tool_use"));
}

fn a02_session(file: &File) {
    let pruned = file.pruned();
    let before = std::str::from_utf8(&file.source).unwrap();
    assert_eq!(file.results().len(), 4);
    for (before, after) in before.lines().zip(pruned.lines()) {
        if before.contains("tool_result") {
            let after: Value = serde_json::from_str(after).unwrap();
            assert_eq!(
                after["toolUseResult"],
                after["message"]["content"][0]["content"][0]["text"]
            );
        } else {
            assert_eq!(before, after);
        }
    }
}

/// Nothing is made larger.
fn a02b(file: &File) {
    assert_eq!(file.texts(), [[]]);
    assert_eq!(file.statuses(), [Some(Status::Completed)]);
    assert_eq!(file.pruned().as_bytes(), file.source);
}

/// The image stays where it is, and is no text.
fn a03(file: &File) {
    let texts = file.texts();
    assert_eq!(texts.len(), 1);
    assert_eq!(texts[0].len(), 2);
    assert!(texts[0].iter().all(|(_, text)| text.len() < 100), "no base64");
    let bytes: usize = file.document.items().iter().map(compaction::Item::bytes).sum();
    assert!(bytes < 2_000, "base64 does not count as text: {bytes}");
    let (before, after) = (file.json(), file.pruned_json());
    assert_eq!(of_type(&before, "image"), of_type(&after, "image"));
    let content = of_type(&after, "tool_result")[0]["content"].clone();
    assert_eq!(content.as_array().unwrap().len(), 2);
    assert!(is_pruned_output(content[0]["text"].as_str().unwrap()));
    assert_eq!(content[1]["type"], "image");
}

/// Server tools stay as they are, without a result too.
fn a04(file: &File) {
    assert_eq!(file.calls().len(), 1);
    assert_eq!(file.results(), [file.calls()[0].0.clone()]);
    let (before, after) = (file.json(), file.pruned_json());
    for kind in ["mcp_tool_use", "server_tool_use", "tool_use", "web_search_tool_result"] {
        assert_eq!(of_type(&before, kind), of_type(&after, kind));
    }
    let results = of_type(&after, "tool_result");
    assert_eq!(results.len(), 1, "none is invented");
    assert!(is_pruned_output(results[0]["content"][0]["text"].as_str().unwrap()));
}

/// Blocks that are no text are as they were, and so is `cache_control`.
fn a05(file: &File) {
    let (before, after) = (file.json(), file.pruned_json());
    for kind in [
        "thinking",
        "redacted_thinking",
        "server_tool_use",
        "tool_search_tool_result",
        "tool_use",
        "tool_reference",
        "bash_code_execution_tool_result",
        "container_upload",
        "document",
    ] {
        assert_eq!(of_type(&before, kind), of_type(&after, kind), "{}: {kind}", file.name);
    }
    let (mut caches, mut flags) = ((Vec::new(), Vec::new()), (Vec::new(), Vec::new()));
    under(&before, "cache_control", &mut caches.0);
    under(&after, "cache_control", &mut caches.1);
    assert_eq!(caches.0, caches.1);
    under(&before, "is_error", &mut flags.0);
    under(&after, "is_error", &mut flags.1);
    assert_eq!(flags.0, flags.1);
    for result in of_type(&after, "tool_result") {
        let has_text = !of_type(&result["content"], "text").is_empty();
        let is_text = result["content"].is_string();
        assert_eq!(has_text || is_text, result.to_string().contains("[tool output"), "{result}");
    }
}

/// The provider's own summary is one block among the others.
fn a06(file: &File) {
    let (before, after) = (file.json(), file.pruned_json());
    assert_eq!(before, after);
    assert_eq!(of_type(&after, "compaction").len(), 1);
    let messages: Value =
        serde_json::from_slice(&file.document.messages(file.document.items())).unwrap();
    assert_eq!(messages, before["messages"], "the first trial has all of it");
}

/// Ten histories, some of which end in a call.
fn a07(file: &File) {
    let exchanges = file.json().as_array().unwrap().clone();
    let mut pending = 0;
    for exchange in &exchanges {
        let alone = serde_json::to_vec_pretty(exchange).unwrap();
        let document = parse(Format::Anthropic, &alone);
        assert_eq!(document.write(document.items()), alone);
        let answered = |call: &Option<String>| {
            document.items().iter().any(|item| match item.view() {
                ItemView::Result(result) => result.call == call.as_deref(),
                _ => false,
            })
        };
        let calls = calls(document.items());
        pending += usize::from(calls.iter().any(|(id, ..)| !answered(id)));
        let messages: Vec<Value> =
            serde_json::from_slice(&document.messages(document.items())).unwrap();
        let expect = exchange["body"]["messages"].as_array().unwrap().len() + 1;
        assert_eq!(messages.len(), expect, "the history is the request and its response");
    }
    assert_eq!(pending, 4);
    assert!(file.document.compacted("x", 0).unwrap_err().to_string().contains("10 histories"));
}

/// Orphans stay, failures are known, numbers are spelled as they were.
fn a08(file: &File) {
    assert_eq!(file.calls().len(), 391);
    let results = file.results();
    assert_eq!(results.len(), 373);
    let orphans = file.calls().into_iter().filter(|call| !results.contains(&call.0)).count();
    assert_eq!(orphans, 18);
    let failed = file.statuses().iter().filter(|status| **status == Some(Status::Failed)).count();
    assert_eq!(failed, 19);
    let pruned = file.pruned();
    let lines = pruned.matches("[tool output omitted for compaction: ").count();
    let failed = pruned.matches("; failed]").count();
    assert!(lines >= 373 && failed >= 18, "{lines} {failed}");
    let source = std::str::from_utf8(&file.source).unwrap();
    let float = "0.013875000000000002";
    assert_eq!(source.matches(float).count(), pruned.matches(float).count());
}

/// Long ids with a colon pair as they are.
fn b01(file: &File) {
    let calls = file.calls();
    let ids: Vec<Option<String>> = calls.iter().map(|call| call.0.clone()).collect();
    assert_eq!(ids.iter().collect::<std::collections::HashSet<_>>().len(), ids.len());
    assert!(ids.iter().flatten().all(|id| id.len() >= 64 && id.contains(':')));
    assert_eq!(ids, file.results());
    let after = file.pruned_json();
    let outputs = of_type(&after, "function_call_output");
    assert!(outputs.iter().all(|output| is_pruned_output(output["output"].as_str().unwrap())));
}

/// Two calls with one id are two calls.
fn b01_duplicates(file: &File) {
    let calls = file.calls();
    assert!(calls.len() >= 2);
    assert!(calls.iter().all(|call| call.0.as_deref() == Some("call_0")));
    assert_eq!(file.results().len(), calls.len());
    let tools: Vec<&str> = calls.iter().map(|call| call.1.as_str()).collect();
    assert_eq!(tools[..2], ["first_tool", "second_tool"]);
}

fn b02(file: &File) {
    let texts = file.texts();
    assert_eq!(texts.len(), 1);
    assert_eq!(texts[0].len(), 2);
    assert_eq!(file.statuses(), [None], "there is no flag");
    let bytes: usize = file.document.items().iter().map(compaction::Item::bytes).sum();
    assert!(bytes < 4_000, "a data URL does not count as text: {bytes}");
    let (before, after) = (file.json(), file.pruned_json());
    for kind in ["reasoning", "input_image", "function_call"] {
        assert_eq!(of_type(&before, kind), of_type(&after, kind));
    }
    let output = of_type(&after, "function_call_output")[0]["output"].clone();
    assert_eq!(output[0]["type"], "input_text");
    assert!(is_pruned_output(output[0]["text"].as_str().unwrap()));
    assert_eq!(output[1]["type"], "input_image");
    assert_eq!(output.as_array().unwrap().len(), 2);
}

fn b03(file: &File) {
    assert_eq!(file.pruned().as_bytes(), file.source);
    let messages: Value =
        serde_json::from_slice(&file.document.messages(file.document.items())).unwrap();
    assert_eq!(messages, file.json()["output"]);
}

/// Streams and status come from their fields.
fn b05(file: &File) {
    let texts = file.texts();
    assert_eq!(texts.len(), 2);
    for texts in texts {
        let labels: Vec<_> = texts.iter().map(|(label, _)| label.as_deref()).collect();
        assert_eq!(labels, [Some("stdout"), Some("stderr")]);
        assert!(!texts[0].1.is_empty());
    }
    assert_eq!(file.statuses(), [Some(Status::Completed); 2]);
    let after = file.pruned_json();
    for output in of_type(&after, "shell_call_output") {
        assert_eq!(output["output"][0]["outcome"]["exit_code"], 0);
        assert!(is_pruned_output(output["output"][0]["stdout"].as_str().unwrap()));
        assert_eq!(output["output"][0]["stderr"], "");
    }
}

/// Separators, floats and `cache_control` survive.
fn b06(file: &File) {
    let pruned = file.pruned();
    assert!(pruned.contains(r#", "tool_call_id": ""#));
    assert!(pruned.ends_with("\"latency_sec\": 5.606487989425659}\n"));
    let floats = |text: &str| text.matches("1757015046.").count();
    assert_eq!(floats(&pruned), floats(std::str::from_utf8(&file.source).unwrap()));
    let (before, after) = (file.json(), file.pruned_json());
    let mut caches = (Vec::new(), Vec::new());
    under(&before, "cache_control", &mut caches.0);
    under(&after, "cache_control", &mut caches.1);
    assert_eq!(caches.0, caches.1);
    let messages = after["messages"].as_array().unwrap();
    let tools: Vec<&Value> = messages.iter().filter(|message| message["role"] == "tool").collect();
    assert_eq!(tools.len(), file.results().len());
    for tool in tools {
        assert!(is_pruned_output(tool["content"][0]["text"].as_str().unwrap()), "{tool}");
    }
}

/// `tool_call_ids` with one id pairs.
fn b07(file: &File) {
    let results = file.results();
    let ids: Vec<Option<String>> = file.calls().into_iter().map(|call| call.0).collect();
    assert_eq!(ids[..results.len()], results[..]);
    assert!(results.iter().all(Option::is_some) && results.len() >= 10);
    let source = std::str::from_utf8(&file.source).unwrap();
    assert!(source.contains(r"\r\n") && file.pruned().contains(r"\r\n"));
    assert!(file.texts().iter().flatten().any(|(_, text)| text.contains("\r\n")));
}

/// The exit code is found inside of the string.
fn b08(file: &File) {
    assert_eq!(file.calls().len(), 39);
    assert_eq!(file.results().len(), 39);
    let statuses = file.statuses();
    let count = |status| statuses.iter().filter(|found| **found == status).count();
    assert_eq!(count(Some(Status::Failed)), 3);
    assert_eq!(count(None), 2, "`Plan updated` has none");
    let texts = file.texts();
    assert!(texts[0][0].1.starts_with("LM Studio configuration.md\nREADME.md\n"));
    let pruned = file.pruned();
    assert_eq!(pruned.matches("; exit code: 2]").count(), 2);
    let source = std::str::from_utf8(&file.source).unwrap();
    let encrypted = |text: &str| text.matches("encrypted_content").count();
    assert_eq!(encrypted(&pruned), encrypted(source));
}

/// And only items are items: what events tell of them again is not.
fn b08_rollout(file: &File) {
    b08(file);
    let pruned = file.pruned();
    let source = std::str::from_utf8(&file.source).unwrap();
    for (before, after) in source.lines().zip(pruned.lines()) {
        if !before.contains(r#""type":"function_call_output""#) {
            assert_eq!(before, after);
        }
    }
    let messages: Vec<Value> =
        serde_json::from_slice(&file.document.messages(file.document.items())).unwrap();
    assert_eq!(messages.len(), source.matches(r#""type":"response_item""#).count());
}

fn b09(file: &File) {
    let calls = file.calls();
    let ids: Vec<Option<String>> = calls.iter().map(|call| call.0.clone()).collect();
    assert_eq!(calls.len(), 3);
    assert_eq!(ids, file.results());
    let messages = file.pruned_json()["messages"].clone();
    let tools = messages.as_array().unwrap().iter().filter(|message| message["role"] == "tool");
    for tool in tools {
        assert!(is_pruned_output(tool["content"].as_str().unwrap()));
    }
}
