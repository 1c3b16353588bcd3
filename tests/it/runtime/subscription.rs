//! Watching: live and replay show the same, and nobody holds capture back.

use output_contract::{Delta, LiveEvent, Status};
use serde_json::json;
use tool_api::Completion;

use super::agent::{Agent, call_of, run, single};

#[tokio::test]
async fn live_appends_and_the_end_replaces() {
    let agent = Agent::new();
    let tool = single("t", async |cx| {
        let sink = cx.sink.stream();
        for n in 0..3 {
            sink.send(Delta::display(format!("\u{1b}[32mstep {n}\u{1b}[0m\u{7}\n"))).await.unwrap();
        }
        Completion::completed(sink.finish()).with_display("done: \u{1b}[1m3\u{1b}[0m steps")
    });
    let runtime = agent.builder().tool(tool).build().unwrap();
    let mut events = runtime.subscribe();
    let result = run(&runtime, call_of("t", "c", json!({}))).await;
    drop(runtime);

    let mut live = String::new();
    let mut ended = None;
    assert!(matches!(events.next().await, Some(LiveEvent::CallStarted { .. })));
    while let Some(event) = events.next().await {
        match event {
            LiveEvent::Display { offset, text, .. } => {
                assert_eq!(offset, live.len() as u64);
                live.push_str(&text);
            }
            LiveEvent::CallFinished { result } => ended = Some(*result),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(live, "step 0 \nstep 1 \nstep 2 \n");
    assert_eq!(result.display, "done: 3 steps");
    assert_eq!(ended.as_ref(), Some(&result));
    assert_eq!(agent.saved("s", "c"), Some(result), "replay shows what live showed");
}

#[tokio::test]
async fn a_slow_subscriber_is_told_of_a_gap_and_loses_no_output() {
    let agent = Agent::new();
    let tool = single("t", async |cx| {
        let sink = cx.sink.stream();
        let output = sink.channel(None).unwrap();
        for n in 0..5000 {
            output.send(format!("{n}\n")).await.unwrap();
            sink.send(Delta::display(format!("{n:06}\n"))).await.unwrap();
        }
        Completion::completed(sink.finish())
    });
    let runtime = agent.builder().tool(tool).build().unwrap();
    let mut slow = runtime.subscribe();
    let _asleep = runtime.subscribe();
    let result = run(&runtime, call_of("t", "c", json!({}))).await;
    assert_eq!(result.status, Status::Completed);
    let expected: String = (0..5000).map(|n| format!("{n}\n")).collect();
    assert_eq!(result.output.streams[0].bytes, expected.len() as u64);

    let Some(LiveEvent::Gap { missed }) = slow.next().await else { panic!("no gap") };
    let Some(LiveEvent::Display { offset, text, .. }) = slow.next().await else { panic!() };
    // One event is the start of the call; each of the others is seven bytes.
    assert_eq!(offset, (missed - 1) * 7);
    assert_eq!(text, format!("{:06}\n", missed - 1));
}

#[tokio::test]
async fn no_display_is_an_empty_one() {
    let agent = Agent::new();
    let tool = single("t", async |cx| Completion::completed(cx.sink.full("output\n").unwrap()));
    let runtime = agent.builder().tool(tool).build().unwrap();
    let result = run(&runtime, call_of("t", "c", json!({}))).await;
    assert_eq!(result.display, "");
    assert_eq!(result.text(), "output\n");
}
