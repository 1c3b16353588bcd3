//! What holds of any history, however it is spelled.

use compaction::formats::{Document, FileItem, Format};
use compaction::{Body, Item as _, ItemView};
use output_contract::ArtifactUri;
use output_retention::{Place, Reference, is_pruned_output};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::pruning::{Kept, parse, prune_in};
use super::recorded::RECORDED;

/// A call, and what came of it.
#[derive(Debug, Clone)]
struct Turn {
    text: String,
    calls: Vec<(Option<u8>, String, Value)>,
    /// Results, which name a call of any turn, or none.
    results: Vec<(Option<u8>, Value, bool)>,
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z \\n\"\\\\]{0,30}",
        2 => "(你|é|\u{2028}|\u{1F600}|\r\n|\t|\u{0}|[a-z]){0,12}",
        1 => Just("[artifact read output omitted for compaction]".to_owned()),
        1 => Just("artifact://0000/x \"tool_result\": {\"filePath\": \"artifact://\"}".to_owned()),
        1 => Just("long ".repeat(200)),
    ]
}

fn content() -> impl Strategy<Value = Value> {
    let block = prop_oneof![
        4 => text().prop_map(|text| json!({"type": "text", "text": text})),
        1 => text().prop_map(|text| json!({"type": "text", "text": text, "cache_control": {"type": "ephemeral"}})),
        1 => Just(json!({"type": "image", "source": {"type": "base64", "data": "A".repeat(200)}})),
        1 => Just(json!({"type": "never_seen", "text": 7})),
        1 => Just(json!("bare")),
    ];
    prop_oneof![
        5 => text().prop_map(Value::from),
        3 => prop::collection::vec(block, 0..4).prop_map(Value::from),
        1 => Just(Value::Null),
    ]
}

fn arguments() -> impl Strategy<Value = Value> {
    let path = prop_oneof![
        Just(format!("artifact://{}", "0".repeat(64))),
        Just("ARTIFACT:x".to_owned()),
        Just("./artifact:x".to_owned()),
        text(),
    ];
    let key = prop_oneof![3 => Just("filePath".to_owned()), 1 => "[a-z]{1,3}"];
    (key, path, any::<bool>()).prop_map(|(key, path, nested)| {
        let fields = json!({key: path, "n": 1.0});
        if nested { json!({"inner": fields}) } else { fields }
    })
}

fn history() -> impl Strategy<Value = Vec<Turn>> {
    let id = || prop::option::weighted(0.9, 0..6_u8);
    let tool = prop_oneof![Just("read"), Just("bash"), Just("Read")].prop_map(str::to_owned);
    let turn = (
        text(),
        prop::collection::vec((id(), tool, arguments()), 0..3),
        prop::collection::vec((id(), content(), any::<bool>()), 0..3),
    );
    let turn = turn.prop_map(|(text, calls, results)| Turn { text, calls, results });
    prop::collection::vec(turn, 1..5)
}

/// A way to write the history down.
#[derive(Debug, Clone, Copy)]
enum Form {
    Anthropic,
    ClaudeCode,
    Responses,
    Codex,
    Chat,
}

impl Form {
    const fn format(self) -> Format {
        match self {
            Self::Anthropic | Self::ClaudeCode => Format::Anthropic,
            Self::Responses | Self::Codex | Self::Chat => Format::OpenAi,
        }
    }

    const fn is_lines(self) -> bool {
        matches!(self, Self::ClaudeCode | Self::Codex)
    }

    /// Messages or items, with their envelopes.
    fn records(self, history: &[Turn]) -> Vec<Value> {
        let mut records = vec![self.enveloped(json!({"role": "user", "content": "begin"}), None)];
        for Turn { text, calls, results } in history {
            match self {
                Self::Anthropic | Self::ClaudeCode => {
                    let mut blocks = vec![json!({"type": "text", "text": text})];
                    blocks.extend(calls.iter().map(|(id, tool, arguments)| {
                        without_null(json!({"type": "tool_use", "id": id.map(name), "name": tool, "input": arguments}))
                    }));
                    records.push(
                        self.enveloped(json!({"role": "assistant", "content": blocks}), None),
                    );
                    for (id, content, is_error) in results {
                        let block = without_null(
                            json!({"type": "tool_result", "tool_use_id": id.map(name), "is_error": is_error, "content": content}),
                        );
                        let message = json!({"role": "user", "content": [block]});
                        records.push(self.enveloped(message, Some(content)));
                    }
                }
                Self::Responses | Self::Codex => {
                    let said = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]});
                    records.push(self.enveloped(said, None));
                    for (id, tool, arguments) in calls {
                        let call = json!({"type": "function_call", "call_id": id.map(name), "name": tool, "arguments": arguments.to_string()});
                        records.push(self.enveloped(without_null(call), None));
                    }
                    for (id, content, _) in results {
                        let output = json!({"type": "function_call_output", "call_id": id.map(name), "output": content});
                        records.push(self.enveloped(without_null(output), None));
                    }
                }
                Self::Chat => {
                    let calls: Vec<Value> = calls
                        .iter()
                        .map(|(id, tool, arguments)| {
                            without_null(json!({"id": id.map(name), "type": "function", "function": {"name": tool, "arguments": arguments.to_string()}}))
                        })
                        .collect();
                    records
                        .push(json!({"role": "assistant", "content": text, "tool_calls": calls}));
                    for (id, content, _) in results {
                        records.push(without_null(json!({"role": "tool", "tool_call_id": id.map(name), "content": content})));
                    }
                }
            }
        }
        records
    }

    fn enveloped(self, message: Value, content: Option<&Value>) -> Value {
        match self {
            Self::ClaudeCode => {
                let mut line =
                    json!({"type": message["role"], "uuid": "u", "message": message, "x": 1.0});
                if let Some(content) = content {
                    line["toolUseResult"] = json!({"stdout": content, "interrupted": false});
                }
                line
            }
            Self::Codex => json!({"timestamp": "t", "type": "response_item", "payload": message}),
            Self::Anthropic | Self::Responses | Self::Chat => message,
        }
    }
}

fn name(id: u8) -> String {
    format!("call_{id}")
}

/// A field that is null is one that is missing.
fn without_null(mut value: Value) -> Value {
    let fields = value.as_object_mut().unwrap();
    fields.retain(|key, value| !value.is_null() || key == "content" || key == "output");
    value
}

/// Writes JSON with white space, key order, escapes and numbers of its own,
/// and with keys that come twice.
struct Scribe(u64);

impl Scribe {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn blank(&mut self, lines: bool, out: &mut String) {
        let kinds: &[&str] =
            if lines { &["", "", " ", "\t"] } else { &["", "", " ", "\n  ", "\r\n"] };
        out.push_str(kinds[self.roll(kinds.len() as u64) as usize]);
    }

    fn string(&mut self, text: &str, out: &mut String) {
        out.push('"');
        for character in text.chars() {
            if character < ' ' || matches!(character, '"' | '\\') || self.roll(9) == 0 {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            } else {
                out.push(character);
            }
        }
        out.push('"');
    }

    fn value(&mut self, value: &Value, lines: bool, out: &mut String) {
        match value {
            Value::Object(fields) => {
                let mut names: Vec<&String> = fields.keys().collect();
                for at in (1..names.len()).rev() {
                    names.swap(at, self.roll(at as u64 + 1) as usize);
                }
                out.push('{');
                for (at, name) in names.into_iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    self.blank(lines, out);
                    if self.roll(12) == 0 {
                        self.string(name, out);
                        out.push_str(":\"before\",");
                    }
                    self.string(name, out);
                    self.blank(lines, out);
                    out.push(':');
                    self.blank(lines, out);
                    self.value(&fields[name], lines, out);
                    self.blank(lines, out);
                }
                out.push('}');
            }
            Value::Array(values) => {
                out.push('[');
                for (at, value) in values.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    self.blank(lines, out);
                    self.value(value, lines, out);
                    self.blank(lines, out);
                }
                out.push(']');
            }
            Value::String(text) => self.string(text, out),
            other => out.push_str(&other.to_string()),
        }
    }

    fn file(&mut self, form: Form, records: &[Value]) -> String {
        let mut out = String::new();
        if form.is_lines() {
            for record in records {
                self.value(record, true, &mut out);
                // Some are glued to the next.
                out.push_str(["\n", "\n", "\r\n", "\n\n", ""][self.roll(5) as usize]);
            }
        } else {
            self.value(&Value::from(records), false, &mut out);
        }
        out
    }
}

/// The values with every output gone.
fn masked(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kind = fields.get("type").and_then(Value::as_str);
            let is_result = matches!(kind, Some("tool_result" | "function_call_output"))
                || fields.get("role").is_some_and(|role| role == "tool");
            let mask = |(key, value): (&String, &Value)| {
                let is_output = is_result && matches!(key.as_str(), "content" | "output");
                let gone = is_output || key == "toolUseResult";
                (key.clone(), if gone { Value::Null } else { masked(value) })
            };
            fields.iter().map(mask).collect::<Map<_, _>>().into()
        }
        Value::Array(values) => values.iter().map(masked).collect(),
        other => other.clone(),
    }
}

fn values(source: &[u8]) -> Vec<Value> {
    let mut values: Vec<Value> =
        serde_json::Deserializer::from_slice(source).into_iter().map(Result::unwrap).collect();
    if let [Value::Array(elements)] = values.as_mut_slice() {
        return std::mem::take(elements);
    }
    values
}

/// The texts that are kept of an output, and the line in its place.
fn resolves(kept: &Kept, before: &FileItem, after: &FileItem) -> Result<(), TestCaseError> {
    let (ItemView::Result(before), ItemView::Result(after)) = (before.view(), after.view()) else {
        return Ok(());
    };
    let Some(line) = after.output.text.and_then(Reference::parse) else { return Ok(()) };
    if before.output.text.is_some_and(is_pruned_output) {
        return Ok(());
    }
    prop_assert_eq!(line.parts.len(), before.output.inline.len());
    let kept = kept.0.lock().unwrap();
    for (part, inline) in line.parts.iter().zip(&before.output.inline) {
        let Place::Stored(ArtifactUri { digest, .. }) = &part.place else { continue };
        let Body::Text(text) = &inline.body else { continue };
        prop_assert_eq!(&kept[digest], text.as_bytes());
    }
    Ok(())
}

fn form() -> impl Strategy<Value = Form> {
    prop_oneof![
        Just(Form::Anthropic),
        Just(Form::ClaudeCode),
        Just(Form::Responses),
        Just(Form::Codex),
        Just(Form::Chat),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..<_>::default() })]

    #[test]
    fn pruning_changes_outputs_and_nothing_else(history in history(), form in form(), seed in any::<u64>()) {
        let records = form.records(&history);
        let source = Scribe(seed).file(form, &records);
        let Ok(document) = Document::parse(form.format(), source.clone()) else {
            // Words alone may be a history of the other format, nothing else.
            prop_assert!(false, "{source}");
            return Ok(());
        };
        prop_assert_eq!(document.write(document.items()), source.as_bytes());
        prop_assert_eq!(document.damage().iter().filter(|damage| !damage.reason.was_read()).count(), 0);
        let calls = history.iter().map(|turn| turn.calls.len()).sum::<usize>();
        let results = history.iter().map(|turn| turn.results.len()).sum::<usize>();
        let is = |pick: fn(&ItemView<'_>) -> bool| document.items().iter().filter(|item| pick(&item.view())).count();
        prop_assert_eq!(is(|view| matches!(view, ItemView::Call(_))), calls);
        prop_assert_eq!(is(|view| matches!(view, ItemView::Result(_))), results);

        let kept = Kept::default();
        let (items, report) = prune_in(&kept, document.items());
        let once = document.write(&items);
        let again = parse(form.format(), &once);
        let (twice, second) = prune_in(&kept, again.items());
        prop_assert_eq!(second.touched(), 0);
        prop_assert_eq!(again.write(&twice), once.clone());
        prop_assert_eq!(report.after, second.before);
        prop_assert_eq!(items.len(), again.items().len());
        for ((before, after), read) in document.items().iter().zip(&items).zip(again.items()) {
            resolves(&kept, before, after)?;
            prop_assert_eq!(before.continues(), read.continues());
            match (before.view(), read.view()) {
                (ItemView::Result(before), ItemView::Result(read)) => {
                    prop_assert_eq!(before.call, read.call);
                }
                (before, read) => prop_assert_eq!(before, read),
            }
        }
        let (before, after) = (values(source.as_bytes()), values(&once));
        prop_assert_eq!(before.len(), after.len());
        for (before, after) in before.iter().zip(&after) {
            prop_assert_eq!(masked(before), masked(after));
        }
    }

    /// Whatever is in a file: no panic, nothing lost.
    #[test]
    fn any_bytes_are_written_back(which in 0..RECORDED.len(), changes in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(&b"{}[]\",:\\n0 \n\xff\x00"[..])), 0..6), from in any::<prop::sample::Index>()) {
        let mut source = RECORDED[which].3.to_vec();
        for (at, byte) in &changes {
            let at = at.index(source.len());
            source[at] = *byte;
        }
        for format in [Format::Anthropic, Format::OpenAi] {
            let Ok(document) = Document::parse(format, source.clone()) else { continue };
            prop_assert_eq!(document.write(document.items()), source.clone());
            let read: u64 = document.damage().iter().map(|damage| damage.bytes).sum();
            prop_assert!(read <= source.len() as u64);
            let (items, _) = prune_in(&Kept::default(), document.items());
            let pruned = document.write(&items);
            prop_assert_eq!(parse(format, &pruned).items().len(), items.len());
            let new = document.compacted("so far", from.index(items.len() + 1));
            prop_assert!(new.is_err() || Document::parse(format, new.unwrap()).is_ok());
        }
    }

    #[test]
    fn what_is_kept_ends_the_new_history(history in history(), form in form(), seed in any::<u64>(), from in any::<prop::sample::Index>()) {
        let source = Scribe(seed).file(form, &form.records(&history));
        let document = parse(form.format(), source.as_bytes());
        let from = from.index(document.items().len() + 1);
        let new = document.compacted("so far", from).unwrap();
        let again = parse(form.format(), &new);
        let kept: Vec<&FileItem> = document.items()[from..].iter().skip_while(|item| item.continues()).collect();
        let last = again.items().iter().rev().zip(kept.iter().rev());
        for (after, before) in last {
            prop_assert_eq!(after.view(), before.view());
        }
        prop_assert!(matches!(again.items()[0].view(), ItemView::User | ItemView::Summary));
    }
}
