//! Hints name the reader that is offered, and each of them works.

use serde_json::{Value, json};
use tool_api::Completion;
use tool_read::{ReadConfig, ReadTool};
use tool_runtime::Runtime;

use super::agent::{Agent, call_of, run, single};

/// The arguments in `NAME(filePath="…", offset=…, byteOffset=…)`, which must
/// be a call of `name`.
fn arguments(text: &str, name: &str) -> Option<Value> {
    let start = text.find(&format!("{name}(filePath=\""))? + name.len() + 1;
    let call = &text[start..start + text[start..].find(')')?];
    let mut arguments = serde_json::Map::new();
    for argument in call.split(", ") {
        let (key, value) = argument.split_once('=')?;
        arguments.insert(key.to_owned(), serde_json::from_str(value).ok()?);
    }
    Some(arguments.into())
}

/// Follows a hint and the continuations after it to the end.
async fn follow(runtime: &Runtime, name: &str, mut arguments: Value) -> String {
    let mut all = String::new();
    for page in 0.. {
        let result = run(runtime, call_of(name, &format!("page {page}"), arguments)).await;
        assert!(result.output.streams.is_empty(), "a page is not captured");
        all.push_str(result.content[0].as_text().unwrap());
        let Some(note) = result.content.get(1) else { break };
        arguments = self::arguments(note.as_text().unwrap(), name).unwrap();
        assert_eq!(result.metadata["nextOffset"], arguments["offset"]);
    }
    all
}

async fn head_and_chain(reader: Option<&str>, output: String) {
    let agent = Agent::new();
    let expected = output.clone();
    let tool = single("t", move |cx| {
        let output = output.clone();
        async move { Completion::completed(cx.sink.full(output).unwrap()) }
    });
    let mut builder = agent.builder().tool(tool);
    if let Some(name) = reader {
        let mut config = ReadConfig::new(agent.root.clone());
        config.name = name.parse().unwrap();
        builder = builder.tool(ReadTool::new(agent.artifacts(), config).unwrap());
    }
    let runtime = builder.build().unwrap();
    assert!(runtime.tools().all(|tool| tool.spec().name.as_str() != "read_tool_result"));
    let result = run(&runtime, call_of("t", "c", json!({}))).await;
    let text = result.text();
    let Some(name) = reader else {
        let omitted = expected.len() as u64 - result.output.streams[0].shown_bytes;
        assert!(text.ends_with(&format!("[Truncated: {omitted} bytes not shown]")), "{text}");
        return;
    };
    let (head, _) = text.split_once("[Truncated. Read more: ").unwrap();
    let rest = follow(&runtime, name, arguments(&text, name).unwrap()).await;
    let head = if expected.starts_with(head) { head } else { head.trim_end_matches('\n') };
    assert_eq!(format!("{head}{rest}"), expected);
}

#[tokio::test]
async fn a_reader_under_any_name() {
    let lines: String = (0..30_000).map(|n| format!("line {n}\n")).collect();
    let long_line = "\u{4f60}\u{597d}".repeat(60_000);
    for reader in [Some("read"), Some("open_file"), None] {
        head_and_chain(reader, lines.clone()).await;
        head_and_chain(reader, long_line.clone()).await;
        head_and_chain(reader, format!("a\nb\n{long_line}\nc")).await;
    }
}
