//! Tools that follow a script.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use output_contract::{
    Chunk, Content, Delta, EmittedMessage, EmittedRole, FullOutput, OutputDeclaration, Status,
};
use serde_json::json;
use testkit::{Script, ScriptedTool};
use tool_api::{
    CallContext, CancellationToken, Completion, NewAttachment, OutputMode, OutputSink,
    PrepareError, Resource, SinkBackend, SinkError, Tool,
};

/// A sink that remembers.
#[derive(Debug)]
struct Memory {
    declaration: OutputDeclaration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    deltas: Vec<Delta>,
    closed: bool,
    abandoned: bool,
}

#[async_trait]
impl SinkBackend for Memory {
    fn declaration(&self) -> &OutputDeclaration {
        &self.declaration
    }

    async fn send(&self, delta: Delta) -> Result<(), SinkError> {
        let mut state = self.state.lock().unwrap();
        if state.closed {
            return Err(SinkError::Finished);
        }
        state.deltas.push(delta);
        Ok(())
    }

    fn close(&self) {
        self.state.lock().unwrap().closed = true;
    }

    fn abandon(&self) {
        self.state.lock().unwrap().abandoned = true;
    }
}

/// Starts a call of `tool`; its end, its sink, and the way to cancel it.
async fn start(
    tool: &ScriptedTool,
) -> (impl Future<Output = Completion> + Send + use<>, Arc<Memory>, CancellationToken) {
    let spec = tool.spec();
    let sink = Arc::new(Memory { declaration: spec.output.clone(), state: Mutex::default() });
    let cancel = CancellationToken::new();
    let cx = CallContext {
        session_id: "s".parse().unwrap(),
        call_id: "c".parse().unwrap(),
        parent_call_id: None,
        sink: OutputSink::new(sink.clone(), spec.handling),
        cancel: cancel.clone(),
        spill: None,
    };
    let call = tool.prepare(json!({"a": 1})).await.unwrap();
    (call.execute(cx), sink, cancel)
}

fn deltas() -> Vec<Delta> {
    vec![Chunk::single("a\n").into(), Delta::display("working"), Chunk::single("b").into()]
}

#[tokio::test]
async fn output_is_sent_or_supplied_as_the_script_says() {
    let streamed = ScriptedTool::single("t", Script::Stream(deltas()));
    let (end, sink, _) = start(&streamed).await;
    let end = end.await;
    assert_eq!(end.status, Status::Completed);
    assert!(matches!(end.output.into_mode(), OutputMode::Streamed));
    assert_eq!(sink.state.lock().unwrap().deltas, deltas());
    assert_eq!((streamed.executed(), streamed.refused()), (1, vec![]));

    let full = ScriptedTool::single("t", Script::Full(FullOutput::Single("x".into())));
    let OutputMode::Full(channels) = start(&full).await.0.await.output.into_mode() else {
        panic!("not full")
    };
    assert_eq!(channels, ["x"]);

    let streams = vec![("b".parse().unwrap(), "2".into()), ("a".parse().unwrap(), "1".into())];
    let named = ScriptedTool::named("t", &["a", "b"], Script::Full(FullOutput::Named(streams)));
    let OutputMode::Full(channels) = start(&named).await.0.await.output.into_mode() else {
        panic!("not full")
    };
    assert_eq!(channels, ["1", "2"]);

    let page = ScriptedTool::paginating("t", Script::Page(vec![Content::text("p")]));
    let OutputMode::Page(content) = start(&page).await.0.await.output.into_mode() else {
        panic!("no page")
    };
    assert_eq!(content, [Content::text("p")]);

    let misfit = ScriptedTool::named("t", &["a"], Script::Full(FullOutput::Single("x".into())));
    let end = start(&misfit).await.0.await;
    assert_eq!(end.status, Status::Failed);
    assert!(end.display.unwrap().contains("named streams"));
}

#[tokio::test]
async fn refused_deltas_are_remembered() {
    let odd = Delta::from(Chunk::named("a".parse().unwrap(), "x"));
    let tool = ScriptedTool::single("t", Script::Stream([vec![odd], deltas()].concat()));
    let (end, sink, _) = start(&tool).await;
    assert_eq!(end.await.status, Status::Completed);
    assert!(matches!(tool.refused().as_slice(), [SinkError::Delta(_)]));
    assert_eq!(sink.state.lock().unwrap().deltas.len(), 3);

    let late = Script::SendAfterFinish(vec![], Bytes::from("late"));
    let tool = ScriptedTool::named("t", &["a", "b"], late);
    assert_eq!(start(&tool).await.0.await.status, Status::Completed);
    assert_eq!(tool.refused(), [SinkError::Finished]);
}

#[tokio::test]
async fn a_tool_that_waits_ends_when_it_is_cancelled() {
    let tool = ScriptedTool::single("t", Script::WaitForCancel(deltas()));
    let (end, sink, cancel) = start(&tool).await;
    let end = tokio::spawn(end);
    tool.sent().await;
    assert_eq!(sink.state.lock().unwrap().deltas.len(), 3);
    cancel.cancel();
    assert_eq!(end.await.unwrap().status, Status::Cancelled);
}

#[tokio::test]
async fn tools_misbehave_as_the_script_says() {
    let panics = ScriptedTool::single("t", Script::Panic(deltas()));
    let (end, sink, _) = start(&panics).await;
    assert!(tokio::spawn(end).await.unwrap_err().is_panic());
    assert!(sink.state.lock().unwrap().abandoned);

    let drops = ScriptedTool::single("t", Script::DropSink(deltas()));
    let (end, sink, _) = start(&drops).await;
    let end = tokio::spawn(end);
    drops.sent().await;
    while !sink.state.lock().unwrap().abandoned {
        tokio::task::yield_now().await;
    }
    assert!(!end.is_finished());
    end.abort();

    let ignores = ScriptedTool::single("t", Script::IgnoreCancel(deltas()));
    let (end, sink, cancel) = start(&ignores).await;
    let end = tokio::spawn(end);
    ignores.sent().await;
    cancel.cancel();
    tokio::task::yield_now().await;
    assert!(!end.is_finished());
    assert!(!sink.state.lock().unwrap().abandoned);
    end.abort();
    assert!(end.await.unwrap_err().is_cancelled());
    assert!(sink.state.lock().unwrap().abandoned);
}

#[tokio::test]
async fn completions_are_adjusted_and_calls_described() {
    let tool = ScriptedTool::single("t", Script::Full(FullOutput::Empty))
        .titled("does nothing")
        .touching(vec![Resource::Network { host: "h".to_owned() }])
        .completing(|completion| {
            completion.status = Status::Failed;
            completion.attach(NewAttachment::new("image/png", None, "png").unwrap()).unwrap();
            let message = EmittedMessage { role: EmittedRole::User, text: "hi".to_owned() };
            completion.emit(message).unwrap();
        });
    let call = tool.prepare(json!({})).await.unwrap();
    assert_eq!((call.title(), call.resources().len()), ("does nothing".to_owned(), 1));
    let end = start(&tool).await.0.await;
    assert_eq!(end.status, Status::Failed);
    assert_eq!((end.attachments().len(), end.emitted().len()), (1, 1));

    let refusing = tool.refusing("say please");
    let error = refusing.prepare(json!({})).await.unwrap_err();
    assert!(matches!(error, PrepareError::Arguments { .. }), "{error}");
}

#[tokio::test]
async fn a_closure_gets_context_and_arguments() {
    let spec = ScriptedTool::single("t", Script::Stream(vec![])).spec().clone();
    let tool = ScriptedTool::running(spec, async |cx, arguments| {
        let text = format!("{} {arguments}", cx.call_id);
        match cx.sink.full(text) {
            Ok(output) => Completion::completed(output),
            Err(rejected) => Completion::failed(rejected.sink.empty()),
        }
    });
    let OutputMode::Full(channels) = start(&tool).await.0.await.output.into_mode() else {
        panic!("not full")
    };
    assert_eq!(channels, [r#"c {"a":1}"#]);
    assert_eq!(tool.executed(), 1);
}
