//! The wire types as they are published: everything that is written is valid by its schema.

use std::sync::Arc;

use artifacts::ArtifactStore;
use camino::Utf8Path;
use jsonschema::Validator;
use output_contract::limits::MAX_INLINE_STRUCTURED_BYTES;
use output_contract::{
    Attachment, Chunk, Content, ContentBody, Delta, EmittedMessage, EmittedRole, Fields,
    FullOutput, HistoryItem, LiveEvent, MessageRole, OutputDeclaration, SavedEvent, Timestamp,
    ToolResult, encode_event,
};
use serde_json::{Value, json};
use testkit::{MemoryJournal, MemoryStore, Script, ScriptedTool};
use tool_api::{CancellationToken, Completion, NewAttachment};
use tool_runtime::{RuntimeBuilder, ToolCall};

use crate::sandbox::Sandbox;

/// The schema of this name, as it is checked in.
struct Schema {
    name: &'static str,
    validator: Validator,
}

impl Schema {
    fn of(name: &'static str) -> Self {
        let root = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let path = root.join(format!("crates/output-contract/bindings/{name}.schema.json"));
        let schema = serde_json::from_slice(&fs_err::read(path).unwrap()).unwrap();
        jsonschema::meta::validate(&schema).unwrap();
        let id = format!("urn:overspill:{}:{name}", output_contract::PROTOCOL_VERSION);
        assert_eq!(schema["$id"], id.as_str());
        Self { name, validator: jsonschema::validator_for(&schema).unwrap() }
    }

    #[track_caller]
    fn accepts(&self, value: &Value) {
        let errors: Vec<String> = self
            .validator
            .iter_errors(value)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "no {}: {errors:#?}\n{value:#}", self.name);
    }

    #[track_caller]
    fn refuses(&self, value: &Value) {
        assert!(!self.validator.is_valid(value), "a {}: {value:#}", self.name);
    }
}

/// `value` with the field at `pointer` changed, or removed for null.
fn with(value: &Value, pointer: &str, change: &Value) -> Value {
    let mut value = value.clone();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = value.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    assert!(parent.contains_key(key), "{pointer}");
    match change {
        Value::Null => parent.remove(key),
        change => parent.insert(key.to_owned(), change.clone()),
    };
    value
}

#[test]
fn results_of_commands_and_the_logs_that_keep_them() {
    let sandbox = Sandbox::new();
    sandbox.configure("[store]\ndurability = \"fast\"\n[capture]\nmax_stream_bytes = 400000\n");
    let result = Schema::of("tool-result");
    for (options, script) in [
        (&[][..], "true"),
        (&["--max-lines", "3"], "seq 5000; echo oops >&2; exit 3"),
        (&["--max-bytes", "100", "--shape", "head"], "head -c 1000 /dev/zero | tr '\\0' x"),
        (&[], "head -c 100000 /dev/urandom"),
        (&[], "head -c 1000000 /dev/zero | tr '\\0' x"),
        (&["--timeout", "100ms"], "echo begun; sleep 60"),
        (&[], "kill -9 $$"),
    ] {
        result.accepts(&sandbox.run_json(options, script));
    }
    result.accepts(&sandbox.overspill(["run", "--json", "--", "/no/such/program"]).json());
    let shown = sandbox.overspill(["ls", "--json"]).json()[0]["sessionId"].clone();
    let shown = sandbox.overspill(["show", shown.as_str().unwrap(), "--json"]).json();
    let shown = shown.as_array().unwrap();
    assert_eq!(shown.len(), 8);
    shown.iter().for_each(|one| result.accepts(one));

    let event = Schema::of("saved-event");
    let mut lines = 0;
    for log in sandbox.home().join("sessions").read_dir_utf8().unwrap() {
        for line in fs_err::read_to_string(log.unwrap().path()).unwrap().lines() {
            event.accepts(&serde_json::from_str(line).unwrap());
            lines += 1;
        }
    }
    assert_eq!(lines, 1 + 2 * 8, "the session, and each call's start and end");

    // What would not be one of these is refused.
    let truncated = &shown[1];
    assert_eq!(truncated.pointer("/output/streams/0/truncated"), Some(&json!(true)));
    for (pointer, wrong) in [
        ("/callId", json!(null)),
        ("/status", json!("done")),
        ("/output/kind", json!("plural")),
        ("/output/manifest", json!("ABC")),
        ("/output/streams/0/artifact", json!("artifact://../stdout")),
        ("/output/streams/0/bytes", json!(-1)),
        ("/output/streams/0/name", json!("a/b")),
        ("/exit/code", json!("3")),
        ("/content/0/type", json!("hologram")),
        ("/incomplete", json!(null)),
    ] {
        result.refuses(&with(truncated, pointer, &wrong));
    }
}

#[test]
fn pages_with_and_without_an_end() {
    let sandbox = Sandbox::new();
    let result = sandbox.run_json(&[], "seq 5000; printf '\\xff' >&2");
    let page = Schema::of("page-record");
    let read = |stream: usize, options: &[&str]| {
        let uri = result["output"]["streams"][stream]["artifact"].as_str().unwrap();
        let record = sandbox.overspill([&["read", uri, "--json"], options].concat()).json();
        page.accepts(&record);
        record
    };
    let first = read(0, &[]);
    assert_eq!((&first["nextOffset"], &first["nextByteOffset"]), (&json!(2000), &json!(0)));
    let inside = read(0, &["--offset", "4000", "--byte-offset", "2"]);
    assert_eq!((&inside["offset"], &inside["byteOffset"]), (&json!(4000), &json!(2)));
    assert!(inside["nextOffset"].is_null() && inside["nextByteOffset"].is_null());
    assert_eq!(read(0, &["--offset", "9999"])["text"], "");
    let binary = read(1, &[]);
    assert_eq!(binary["base64"], "/w==");

    page.refuses(&with(&binary, "/base64", &json!(null)));
    page.refuses(&with(&inside, "/nextOffset", &json!(null)));
    page.refuses(&with(&inside, "/totalBytes", &json!("all")));
}

/// A tool whose result has everything that a result may have.
fn rich_tool() -> ScriptedTool {
    let chunks = vec![Chunk::named("a".parse().unwrap(), "1\n")];
    let deltas = vec![Delta { chunks, display: Some("live".to_owned()) }];
    ScriptedTool::named("rich", &["a", "b"], Script::Stream(deltas)).titled("all").completing(rich)
}

fn rich(completion: &mut Completion) {
    let png = NewAttachment::new("image/png", Some("a.png".to_owned()), b"\x89PNG".to_vec());
    completion.attach(png.unwrap()).unwrap();
    let link = ContentBody::ResourceLink {
        uri: "https://example.org/".to_owned(),
        name: "more".to_owned(),
        media_type: Some("text/html".to_owned()),
    };
    let annotations = Fields::from([("priority".to_owned(), json!(0.5))]);
    let meta = Fields::from([("trace".to_owned(), json!({ "id": 1 }))]);
    completion.link(Content { annotations, meta, ..Content::from(link) });
    let message = EmittedMessage { role: EmittedRole::User, text: "look".to_owned() };
    completion.emit(message).unwrap();
    completion.set_metadata("nested", json!([{ "deep": null }])).unwrap();
    completion.structured = Some(json!({ "rows": [1, 2] }));
}

#[tokio::test]
async fn live_events_and_everything_a_result_may_have() {
    let store: Arc<dyn ArtifactStore> = Arc::new(MemoryStore::new().unwrap());
    let journal = MemoryJournal::default();
    let page = Script::Page(vec![Content::text("a page"), Content::text("[more]")]);
    let runtime = RuntimeBuilder::new(store, Arc::new(journal.clone()), || Timestamp(1))
        .tool(rich_tool())
        .tool(ScriptedTool::paginating("page", page))
        .tool(ScriptedTool::single("panics", Script::Panic(Vec::new())))
        .tool(ScriptedTool::single("big", Script::Full(FullOutput::Empty)).completing(|big| {
            big.structured = Some("x".repeat(2 * MAX_INLINE_STRUCTURED_BYTES).into());
        }))
        .build()
        .unwrap();
    let mut events = runtime.subscribe();
    let mut results = Vec::new();
    for (index, tool) in ["rich", "page", "panics", "big", "unknown"].into_iter().enumerate() {
        let call = ToolCall {
            session_id: "s".parse().unwrap(),
            call_id: format!("c{index}").parse().unwrap(),
            parent_call_id: (index > 0).then(|| "c0".parse().unwrap()),
            tool: tool.parse().unwrap(),
            arguments: json!({ "any": ["thing", 1.5] }),
        };
        results.push(runtime.call(call, &CancellationToken::new()).await.unwrap());
    }
    drop(runtime);

    let schema = Schema::of("live-event");
    let mut kinds = Vec::new();
    while let Some(event) = events.next().await {
        let event = serde_json::to_value(&event).unwrap();
        schema.accepts(&event);
        kinds.push(event["type"].as_str().unwrap().to_owned());
    }
    for kind in ["call_started", "display", "call_finished"] {
        assert!(kinds.iter().any(|seen| seen == kind), "{kinds:?}");
    }
    schema.accepts(&serde_json::to_value(LiveEvent::Gap { missed: u64::MAX }).unwrap());
    schema.refuses(&json!({ "type": "gap" }));

    let schema = Schema::of("saved-event");
    for event in journal.events(&"s".parse().unwrap()) {
        schema.accepts(&serde_json::from_slice(&encode_event(&event)).unwrap());
    }
    let rich = serde_json::to_value(&results[0]).unwrap();
    for field in ["structured", "emitted", "metadata"] {
        assert!(rich.get(field).is_some(), "{field} is missing: {rich:#}");
    }
    assert!(serde_json::to_value(&results[3]).unwrap()["structured"]["stored"].is_object());
    let schema = Schema::of("tool-result");
    schema.refuses(&with(&rich, "/emitted/0/role", &json!("assistant")));
    schema.refuses(&with(&rich, "/structured/inline", &json!(null)));
    check_history(results.remove(0));
}

/// Items, contents and declarations that no call writes by itself.
fn check_history(result: ToolResult) {
    let at = Timestamp(u64::MAX);
    let content = vec![
        Content::text("look"),
        Content::from(ContentBody::Attachment(Attachment {
            media_type: "image/png".to_owned(),
            artifact: None,
            bytes: 7,
            name: None,
        })),
    ];
    let (item, event) = (Schema::of("history-item"), Schema::of("saved-event"));
    let one = Schema::of("content");
    content.iter().for_each(|content| one.accepts(&serde_json::to_value(content).unwrap()));
    for history in [
        HistoryItem::Message { role: MessageRole::Assistant, content },
        HistoryItem::ToolCall {
            call_id: result.call_id.clone(),
            tool: result.tool.clone(),
            arguments: Value::Null,
        },
        HistoryItem::ToolResult(Box::new(result)),
        HistoryItem::Summary { text: String::new() },
    ] {
        item.accepts(&serde_json::to_value(&history).unwrap());
        event.accepts(&serde_json::to_value(SavedEvent::Item { item: history, at }).unwrap());
    }
    item.refuses(&json!({ "type": "message", "role": "tool", "content": [] }));

    let declaration = Schema::of("output-declaration");
    for declared in [OutputDeclaration::Single, OutputDeclaration::named(["a", "b"]).unwrap()] {
        declaration.accepts(&serde_json::to_value(&declared).unwrap());
    }
    for wrong in [json!(["a", "a"]), json!([]), json!([".."]), json!(["a b"])] {
        declaration.refuses(&json!({ "kind": "named", "streams": wrong }));
    }
}
