//! Items of OpenAI's Responses API.
//!
//! Calls and results are items of their own, paired by `call_id`. Nothing says
//! whether a call failed, but three outputs do: `shell_call_output` has an
//! outcome, `apply_patch_call_output` a status, and Codex wraps what a command
//! wrote into JSON with its exit code. What the provider runs itself, reasoning
//! and items that nobody here knows are not touched.

use std::borrow::Cow;

use output_contract::{Exit, Status};

use output_retention::Ended;

use super::chat;
use super::json::{Fields, Json};
use super::media::payload;
use super::message::{Answer, Call, Message, Role, Said};
use super::output::{Form, Output, Wrapped};

/// The type of a text block that the model is given.
pub(super) const INPUT_TEXT: &str = "input_text";

/// Takes an item or a Chat message apart; `None` where it is nothing that is
/// known.
pub(super) fn item(source: &[u8], json: Json<'_>) -> Option<Message> {
    let fields = json.fields()?;
    let kind = fields.string("type");
    if let Some(role) = fields.string("role")
        && kind.as_deref().is_none_or(|kind| kind == "message")
    {
        let message = chat::message(source, json, &fields, &role)?;
        return Some(Message { is_typed: kind.is_some(), ..message });
    }
    let span = json.span(source);
    let mut message = match kind.as_deref()? {
        "function_call" => Message::of(Role::Model, span, call(source, &fields, "arguments")),
        "custom_tool_call" => Message::of(Role::Model, span, call(source, &fields, "input")),
        kind @ ("local_shell_call" | "shell_call" | "apply_patch_call") => {
            let tool = kind.trim_end_matches("_call");
            let arguments = if kind == "apply_patch_call" { "operation" } else { "action" };
            Message::of(
                Role::Model,
                span,
                Said::Call(Call {
                    id: call_id(&fields),
                    tool: tool.to_owned(),
                    arguments: fields.get(arguments).map(|json| json.span(source)),
                }),
            )
        }
        kind @ ("function_call_output"
        | "custom_tool_call_output"
        | "local_shell_call_output"
        | "shell_call_output"
        | "apply_patch_call_output") => {
            let mut message = Message::of(Role::Tool, span, answer(source, &fields, kind));
            message.parts[0].payload = fields.get("output").map_or(0, payload);
            message
        }
        "reasoning"
        | "web_search_call"
        | "file_search_call"
        | "code_interpreter_call"
        | "image_generation_call"
        | "computer_call"
        | "mcp_call"
        | "mcp_list_tools"
        | "mcp_approval_request"
        | "tool_search_call" => Message::of(Role::Model, span, Said::Other),
        "computer_call_output"
        | "mcp_approval_response"
        | "compaction"
        | "compaction_summary"
        | "item_reference"
        | "ghost_snapshot"
        | "tool_search_output" => Message::of(Role::Unknown, span, Said::Other),
        _ => return None,
    };
    message.is_typed = true;
    Some(message)
}

fn call(source: &[u8], fields: &Fields<'_>, arguments: &str) -> Said {
    Said::Call(Call {
        id: call_id(fields),
        tool: fields.string("name").unwrap_or_default().into_owned(),
        arguments: fields.get(arguments).map(|json| json.span(source)),
    })
}

/// A local shell call may have no id but its item's.
fn call_id(fields: &Fields<'_>) -> Option<String> {
    fields.string("call_id").or_else(|| fields.string("id")).map(Cow::into_owned)
}

fn answer(source: &[u8], fields: &Fields<'_>, kind: &str) -> Said {
    let form = match kind {
        "shell_call_output" if fields.get("output").is_some_and(Json::is_array) => Form::Streams,
        _ => Form::Content(INPUT_TEXT),
    };
    Said::Answer(Answer {
        call: call_id(fields),
        ended: match kind {
            "shell_call_output" => of_outcomes(fields),
            "apply_patch_call_output" => of_status(fields),
            _ => of_wrapped(fields),
        },
        output: Output::read(source, fields.all("output"), form, true),
    })
}

/// The first of several commands that did not succeed says how the call ended.
fn of_outcomes(fields: &Fields<'_>) -> Ended {
    let commands = fields.get("output").and_then(Json::elements).unwrap_or_default();
    let outcomes = commands.into_iter().filter_map(|command| {
        let outcome = command.fields()?.object("outcome")?;
        match outcome.string("type")?.as_ref() {
            "timeout" => Some(Ended { status: Some(Status::TimedOut), ..Ended::default() }),
            _ => Some(exited(outcome.get("exit_code")?.integer()?)),
        }
    });
    let failed = |ended: &Ended| ended.status != Some(Status::Completed);
    let mut endings: Vec<Ended> = outcomes.collect();
    let at = endings.iter().position(failed).unwrap_or(0);
    if endings.is_empty() { Ended::default() } else { endings.swap_remove(at) }
}

fn of_status(fields: &Fields<'_>) -> Ended {
    let status = match fields.string("status").as_deref() {
        Some("completed") => Some(Status::Completed),
        Some("failed") => Some(Status::Failed),
        _ => None,
    };
    Ended { status, ..Ended::default() }
}

fn of_wrapped(fields: &Fields<'_>) -> Ended {
    let wrapped = fields.get("output").and_then(Wrapped::read);
    wrapped.map_or_else(Ended::default, |wrapped| exited(wrapped.exit_code))
}

fn exited(code: i32) -> Ended {
    let exit = Exit::Code(code);
    let status = if exit.success() { Status::Completed } else { Status::Failed };
    Ended { status: Some(status), exit: Some(exit), incomplete: None }
}
