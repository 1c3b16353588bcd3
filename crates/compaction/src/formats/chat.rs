//! Messages of OpenAI's Chat Completions API, and those of the Responses API
//! that have a role.
//!
//! Calls are in `tool_calls` of an assistant's message, each result is a
//! message of the role `tool`. Nothing says whether a call failed. Two
//! variations are read: the older `function_call` with messages of the role
//! `function`, and `tool_call_ids` with a single id.

use super::json::{Fields, Json};
use super::media::payload;
use super::message::{Answer, Call, Message, Part, Role, Said};
use super::output::{Form, Output};
use output_retention::Ended;

/// The type of a text part.
pub(super) const TEXT: &str = "text";

/// Takes a message with a role apart.
pub(super) fn message(
    source: &[u8],
    json: Json<'_>,
    fields: &Fields<'_>,
    role: &str,
) -> Option<Message> {
    let role = match role {
        "user" => Role::User,
        "assistant" => Role::Model,
        "system" | "developer" => Role::System,
        "tool" | "function" => Role::Tool,
        _ => Role::Unknown,
    };
    let content = fields.get("content");
    if role == Role::Tool {
        let answer = Answer {
            call: answered(fields),
            ended: Ended::default(),
            output: Output::read(source, fields.all("content"), Form::Content(TEXT), false),
        };
        let mut message = Message::of(role, json.span(source), Said::Answer(answer));
        message.parts[0].payload = content.map_or(0, payload);
        return Some(message);
    }
    let mut parts = Vec::new();
    if let Some(content) = content.filter(|content| !matches!(content.text(), "null" | r#""""#)) {
        let said = if role == Role::User { Said::User } else { Said::Other };
        parts.push(Part { span: content.span(source), said, payload: payload(content) });
    }
    for call in fields.get("tool_calls").and_then(Json::elements).unwrap_or_default() {
        let said = call.fields().map_or(Said::Other, |fields| tool_call(source, &fields));
        parts.push(Part { span: call.span(source), said, payload: 0 });
    }
    if let Some(call) = fields.get("function_call")
        && let Some(function) = call.fields()
    {
        let said = called(source, None, &function, "arguments");
        parts.push(Part { span: call.span(source), said, payload: 0 });
    }
    if parts.is_empty() {
        if role == Role::Unknown && content.is_none() {
            return None;
        }
        return Some(Message::of(role, json.span(source), Said::Other));
    }
    parts.sort_by_key(|part| part.span);
    Some(Message { role, id: None, is_typed: false, parts })
}

fn answered(fields: &Fields<'_>) -> Option<String> {
    if let Some(id) = fields.string("tool_call_id") {
        return Some(id.into_owned());
    }
    match fields.get("tool_call_ids")?.elements()?.as_slice() {
        [id] => id.string().map(Into::into),
        _ => None,
    }
}

fn tool_call(source: &[u8], fields: &Fields<'_>) -> Said {
    let id = fields.string("id").map(Into::into);
    match (fields.object("function"), fields.object("custom")) {
        (Some(function), _) => called(source, id, &function, "arguments"),
        (None, Some(custom)) => called(source, id, &custom, "input"),
        (None, None) => Said::Other,
    }
}

fn called(source: &[u8], id: Option<String>, fields: &Fields<'_>, arguments: &str) -> Said {
    Said::Call(Call {
        id,
        tool: fields.string("name").unwrap_or_default().into_owned(),
        arguments: fields.get(arguments).map(|json| json.span(source)),
    })
}
