//! What a scripted tool does with its output.

use bytes::Bytes;
use output_contract::{Content, Delta, FullOutput, Status, StreamName};
use tool_api::{
    CallContext, CancellationToken, Completion, RejectedOutput, SinkError, StreamingSink,
};

/// The behaviour of one tool, in every call.
///
/// Deltas are all sent, whatever the sink says of one of them.
#[derive(Debug, Clone)]
pub enum Script {
    /// Sends these and finishes as streamed.
    Stream(Vec<Delta>),
    /// Finishes at once. Output that does not fit the declaration makes the
    /// call failed, with the reason on the display.
    Full(FullOutput),
    /// Finishes with a page, which a captured tool may not do: then as for
    /// [`Full`](Self::Full).
    Page(Vec<Content>),
    /// Sends these, finishes as streamed, and sends more through a handle that
    /// it kept.
    SendAfterFinish(Vec<Delta>, Bytes),
    /// Sends these, waits to be cancelled, and ends as cancelled.
    WaitForCancel(Vec<Delta>),
    /// Sends these and never ends, cancelled or not.
    IgnoreCancel(Vec<Delta>),
    /// Sends these and panics.
    Panic(Vec<Delta>),
    /// Sends these, drops its sink, and never ends.
    DropSink(Vec<Delta>),
}

/// What a script tells while it runs.
pub(crate) trait Watch {
    /// All deltas are sent.
    fn sent(&self);

    /// The sink refused something.
    fn refused(&self, error: SinkError);
}

impl Script {
    /// Acts out the script in one call.
    pub(crate) async fn run(self, cx: CallContext, watch: &(impl Watch + Sync)) -> Completion {
        let CallContext { sink, cancel, .. } = cx;
        let (deltas, end) = match self {
            Self::Full(output) => return finish(sink.full_output(output), watch),
            Self::Page(content) => return finish(sink.page(content), watch),
            Self::Stream(deltas) => (deltas, End::Finish),
            Self::SendAfterFinish(deltas, late) => {
                let stream = sink.declaration().name(0).cloned();
                (deltas, End::SendLate { stream, late })
            }
            Self::WaitForCancel(deltas) => (deltas, End::WaitForCancel),
            Self::IgnoreCancel(deltas) => (deltas, End::Never),
            Self::Panic(deltas) => (deltas, End::Panic),
            Self::DropSink(deltas) => (deltas, End::DropSink),
        };
        let sink = sink.stream();
        for delta in deltas {
            if let Err(error) = sink.send(delta).await {
                watch.refused(error);
            }
        }
        watch.sent();
        end.act(sink, &cancel, watch).await
    }
}

enum End {
    Finish,
    SendLate { stream: Option<StreamName>, late: Bytes },
    WaitForCancel,
    Never,
    Panic,
    DropSink,
}

impl End {
    async fn act(
        self,
        sink: StreamingSink,
        cancel: &CancellationToken,
        watch: &(impl Watch + Sync),
    ) -> Completion {
        match self {
            Self::Finish => Completion::completed(sink.finish()),
            Self::SendLate { stream, late } => {
                let handle = sink.channel(stream.as_ref());
                let output = sink.finish();
                let sent = match handle {
                    Ok(handle) => handle.send(late).await,
                    Err(error) => Err(error),
                };
                if let Err(error) = sent {
                    watch.refused(error);
                }
                Completion::completed(output)
            }
            Self::WaitForCancel => {
                cancel.cancelled().await;
                Completion::new(sink.finish(), Status::Cancelled)
            }
            Self::Never => {
                let _open = sink;
                std::future::pending().await
            }
            Self::Panic => panic!("as the script says"),
            Self::DropSink => {
                drop(sink);
                std::future::pending().await
            }
        }
    }
}

fn finish(
    finished: Result<tool_api::Output, Box<RejectedOutput>>,
    watch: &impl Watch,
) -> Completion {
    watch.sent();
    match finished {
        Ok(output) => Completion::completed(output),
        Err(rejected) => {
            let reason = rejected.reason.to_string();
            Completion::failed(rejected.sink.empty()).with_display(reason)
        }
    }
}
