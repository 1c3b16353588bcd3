//! `overspill run`: a command under capture.

use std::io::{IsTerminal, stderr, stdin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use anyhow::Context;
use output_contract::{CallId, ToolResult};
use tokio::signal::unix::{SignalKind, signal};
use tool_api::CancellationToken;
use tool_bash::process::{CancelSignal, NotStarted, ProcessSpec, Stdin};
use tool_bash::{RUN_TOOL, RunTool};
use tool_runtime::{CallError, HintStyle, RuntimeBuilder, RuntimeConfig, ToolCall};
use uuid::Uuid;

use crate::cli::{HintsArg, RunArgs, ShapeArg};
use crate::config::Config;
use crate::exit;
use crate::home::{PROGRAM, default_session, now};
use crate::opened::Opened;
use crate::progress::Progress;
use crate::spilling::{Spilling, hints};
use crate::{terminal, upkeep};

/// How long a command has to end, once it was asked to: enough for a test
/// runner to print what it has.
const KILL_GRACE: Duration = Duration::from_secs(2);

pub(crate) async fn run(args: RunArgs) -> anyhow::Result<u8> {
    let cancel = CancellationToken::new();
    let process = process(&args);
    let cancelled_by = cancel_on_signals(&cancel, &process.cancel_signal)?;
    let Opened { config, store, journal, root, home } = Opened::open().await?;
    let tool_hints = args.hints == HintsArg::Tool;
    let spilling = Spilling::new(&config.spill, &root, &store, &hints(tool_hints))?;
    let config = runtime_config(&config, &args);
    let tool = RunTool::new(process);
    let builder = RuntimeBuilder::new(store, journal, now).config(config).tool(tool.clone());
    let runtime = builder.plugin(&spilling).build()?;
    let call = ToolCall {
        session_id: args.session.clone().unwrap_or_else(|| default_session(now())),
        call_id: CallId::new(Uuid::now_v7().simple().to_string()).context("a new call id")?,
        parent_call_id: None,
        tool: RUN_TOOL.parse().context("the tool's name")?,
        arguments: tool.arguments(),
    };
    tracing::info!(session = %call.session_id, call = %call.call_id, "running");
    let progress =
        stderr().is_terminal().then(|| Progress::start(runtime.subscribe(), &tool.title()));
    let ended = runtime.call(call, &cancel).await;
    if let Some(progress) = progress {
        progress.finish();
    }
    let result = match ended {
        Ok(result) => result,
        Err(CallError::NotSaved { result, source }) => {
            let error = anyhow::Error::new(source);
            terminal::note(&format!("overspill: the result could not be saved: {error:#}"));
            *result
        }
        Err(error) => return Err(error.into()),
    };
    for stream in &result.output.streams {
        let name = stream.name.as_ref().map_or("output", |name| name.as_str());
        let artifact = stream.artifact.as_ref().map(ToString::to_string);
        tracing::info!(name, bytes = stream.bytes, lines = stream.lines, artifact, "stored");
    }
    let signal = cancelled_by.load(Ordering::Relaxed);
    let code = match NotStarted::from_metadata(&result.metadata) {
        Some(reason) => reason.exit_code(),
        None => exit::of_run(&result, (signal != 0).then_some(signal)),
    };
    let printed = print(&args, &result);
    if let Some(home) = home {
        upkeep::start(home.store.blocking(), &home.root);
    }
    match printed {
        // What the command did is worth more than that it could not be told.
        Err(error) if code != exit::OK => {
            terminal::note(&format!("overspill: {error:#}"));
            Ok(code)
        }
        printed => printed.map(|()| code),
    }
}

fn print(args: &RunArgs, result: &ToolResult) -> anyhow::Result<()> {
    if args.json {
        return terminal::print_json(result);
    }
    terminal::print_text(&result.text())?;
    Ok(())
}

fn runtime_config(config: &Config, args: &RunArgs) -> RuntimeConfig {
    let mut config = config.runtime(PROGRAM);
    config.max_lines = args.max_lines.unwrap_or(config.max_lines);
    config.max_bytes = args.max_bytes.unwrap_or(config.max_bytes);
    if let Some(shape) = args.shape {
        config.shape = match shape {
            ShapeArg::Head => output_retention::Shape::Head,
            ShapeArg::HeadTail => output_retention::Shape::HeadTail,
        };
    }
    if args.hints == HintsArg::Tool {
        config.hints = HintStyle::Tool { name: "read".to_owned() };
    }
    config
}

fn process(args: &RunArgs) -> ProcessSpec {
    let (program, rest) = args.command.split_first().expect("clap requires a command");
    let stdin = match (args.stdin, stdin().is_terminal()) {
        (false, _) => Stdin::Null,
        // In a session of its own the command would compete with the shell for it.
        (true, true) => Stdin::Relay,
        (true, false) => Stdin::Inherit,
    };
    let mut spec = ProcessSpec::new(program).with_args(rest);
    spec.stdin = stdin;
    spec.timeout = args.timeout;
    spec.kill_grace = KILL_GRACE;
    spec
}

/// Cancels on the signals that ask a program to end, so that the command gets
/// the same one, and keeps which came first.
fn cancel_on_signals(
    cancel: &CancellationToken,
    to_command: &CancelSignal,
) -> anyhow::Result<Arc<AtomicU8>> {
    let first = Arc::new(AtomicU8::new(0));
    for kind in
        [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup(), SignalKind::quit()]
    {
        let mut signals = signal(kind).context("could not listen for signals")?;
        let (cancel, first, to_command) = (cancel.clone(), Arc::clone(&first), to_command.clone());
        tokio::spawn(async move {
            while signals.recv().await.is_some() {
                let number = u8::try_from(kind.as_raw_value()).unwrap_or(15);
                if first.compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                    to_command.set(i32::from(number));
                    cancel.cancel();
                }
            }
        });
    }
    Ok(first)
}
