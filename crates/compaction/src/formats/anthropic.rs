//! Messages of Anthropic's API, and of programs that keep them much alike.
//!
//! Calls are `tool_use` blocks, results are `tool_result` blocks. What
//! the provider runs itself (`server_tool_use`, `mcp_tool_use` and their
//! results) is not ours to prune, and neither are thinking, images, and blocks
//! that nobody here knows. Pi's sessions have `toolCall` blocks and messages of
//! the role `toolResult` instead.

use output_contract::Status;

use output_retention::Ended;

use super::json::{Fields, Json};
use super::media::payload;
use super::message::{Answer, Call, Message, Part, Role, Said};
use super::output::{Form, Output};

/// The type of a text block.
pub(super) const TEXT: &str = "text";

/// Takes a message apart; `None` where it is none.
pub(super) fn message(source: &[u8], json: Json<'_>) -> Option<Message> {
    let fields = json.fields()?;
    let name = fields.string("role")?;
    let content = fields.get("content")?;
    let role = match name.as_ref() {
        "user" => Role::User,
        "assistant" => Role::Model,
        "system" | "developer" => Role::System,
        "toolResult" => return Some(pi_result(source, json, &fields)),
        _ => Role::Unknown,
    };
    let blocks = content.elements().unwrap_or_default();
    let mut parts: Vec<Part> = blocks.into_iter().map(|block| part(source, block)).collect();
    if parts.is_empty() {
        parts.push(Part { span: content.span(source), said: Said::Other, payload: 0 });
    }
    if role == Role::User && !parts.iter().any(|part| matches!(part.said, Said::Answer(_))) {
        parts[0].said = Said::User;
    }
    let id = fields.string("id").map(Into::into);
    Some(Message { role, id, is_typed: false, parts })
}

fn part(source: &[u8], block: Json<'_>) -> Part {
    let fields = block.fields();
    let kind = fields.as_ref().and_then(|fields| fields.string("type"));
    let said = match (kind.as_deref(), &fields) {
        (Some("tool_use"), Some(fields)) => call(source, fields, "input"),
        (Some("toolCall"), Some(fields)) => call(source, fields, "arguments"),
        (Some("tool_result"), Some(fields)) => {
            return Part {
                span: block.span(source),
                payload: fields.get("content").map_or(0, payload),
                said: Said::Answer(Answer {
                    call: fields.string("tool_use_id").map(Into::into),
                    ended: ended(fields, "is_error"),
                    output: Output::read(source, fields.all("content"), Form::Content(TEXT), false),
                }),
            };
        }
        _ => Said::Other,
    };
    Part { span: block.span(source), said, payload: payload(block) }
}

fn call(source: &[u8], fields: &Fields<'_>, arguments: &str) -> Said {
    Said::Call(Call {
        id: fields.string("id").map(Into::into),
        tool: fields.string("name").unwrap_or_default().into_owned(),
        arguments: fields.get(arguments).map(|json| json.span(source)),
    })
}

/// A result is an error where its flag says so; without the flag it is none.
fn ended(fields: &Fields<'_>, flag: &str) -> Ended {
    let status = if fields.is_true(flag) { Status::Failed } else { Status::Completed };
    Ended { status: Some(status), ..Ended::default() }
}

/// Pi keeps more of an output in `details`, which goes with it.
fn pi_result(source: &[u8], json: Json<'_>, fields: &Fields<'_>) -> Message {
    let mut output = Output::read(source, fields.all("content"), Form::Content(TEXT), false);
    output.details = fields.all("details").map(|details| details.span(source)).collect();
    let answer = Answer {
        call: fields.string("toolCallId").map(Into::into),
        ended: ended(fields, "isError"),
        output,
    };
    let mut message = Message::of(Role::Tool, json.span(source), Said::Answer(answer));
    message.parts[0].payload = fields.get("content").map_or(0, payload);
    message
}
