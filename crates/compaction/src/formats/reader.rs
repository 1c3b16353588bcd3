//! The active history of a file: which of its records are messages, and which
//! of those a model would still be given.
//!
//! Responsible for looking into the envelopes of logs and the objects around
//! lists of messages. What is no message is passed over and stays in the file.

use super::json::{Fields, Json, Span};
use super::message::{Message, Role, Said};
use super::records::{Container, Records};
use super::{Format, Shape, anthropic, openai};

/// Where Claude Code has the other copy of a result.
const COPIES: [&str; 2] = ["toolUseResult", "tool_use_result"];

/// One message of the active history.
#[derive(Debug)]
pub(super) struct Entry {
    /// The message or item itself.
    pub(super) span: Span,
    /// What stands around it: a line, an element, an object.
    pub(super) record: Span,
    pub(super) message: Message,
    /// Whether it is of another agent's history that the file tells too.
    is_aside: bool,
    /// Whether several entries share the record.
    pub(super) shares_record: bool,
}

/// What was found in a file.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) shape: Shape,
    pub(super) entries: Vec<Entry>,
    /// Where the first message begins, be it of the active history or not.
    pub(super) first: Option<usize>,
    /// The lists that hold the messages, where a list does.
    pub(super) lists: Vec<Span>,
    /// How many histories the file holds.
    pub(super) histories: usize,
}

impl Found {
    /// Whether anything calls a tool or answers a call.
    pub(super) fn has_tools(&self) -> bool {
        let parts = self.entries.iter().flat_map(|entry| &entry.message.parts);
        parts.into_iter().any(|part| matches!(part.said, Said::Call(_) | Said::Answer(_)))
    }
}

/// Reads the records of a file as a history of `format`; `None` where they are
/// none.
pub(super) fn read(source: &[u8], records: &Records, format: Format) -> Option<Found> {
    let found = Found {
        shape: format.plain_shape(),
        entries: Vec::new(),
        first: None,
        lists: Vec::new(),
        histories: 0,
    };
    let mut reader = Reader { source, format, found, is_known: false };
    for &span in &records.spans {
        reader.record(span, records.container);
    }
    if let Container::List(list) = records.container
        && reader.found.histories == 0
    {
        reader.found.lists.push(list);
        reader.is_known |= records.spans.is_empty() && records.damage.is_empty();
    }
    if !reader.is_known {
        return None;
    }
    let mut found = reader.found;
    found.histories = found.histories.max(1);
    if found.entries.iter().any(|entry| !entry.is_aside) {
        found.entries.retain(|entry| !entry.is_aside);
    }
    Some(found)
}

struct Reader<'a> {
    source: &'a [u8],
    format: Format,
    found: Found,
    /// Whether anything was a message or a list of messages.
    is_known: bool,
}

impl<'a> Reader<'a> {
    fn record(&mut self, span: Span, container: Container) {
        let json = span.json(self.source);
        let Some(fields) = json.fields() else { return };
        let was_enveloped = match self.format {
            Format::Anthropic => self.anthropic_envelope(&fields, span),
            Format::OpenAi => self.codex_envelope(&fields, span),
        };
        if was_enveloped {
            return;
        }
        if let Some(message) = self.message(json) {
            self.push(json, span, message);
        } else if self.wrapped(&fields) {
            self.found.histories += 1;
        } else if matches!(container, Container::List(_)) {
            self.unknown(json, span);
        }
    }

    /// A message without an envelope.
    fn message(&self, json: Json<'_>) -> Option<Message> {
        match self.format {
            Format::Anthropic => anthropic::message(self.source, json),
            Format::OpenAi => openai::item(self.source, json),
        }
    }

    fn push(&mut self, json: Json<'_>, record: Span, message: Message) -> &mut Entry {
        self.is_known = true;
        self.found.first.get_or_insert(record.start);
        if message.is_typed && self.found.shape == Shape::Chat {
            self.found.shape = Shape::Responses;
        }
        let span = json.span(self.source);
        let entry = Entry { span, record, message, is_aside: false, shares_record: false };
        self.found.entries.push(entry);
        self.found.entries.last_mut().expect("it was just pushed")
    }

    /// An element of a list of messages that nobody here knows is kept with
    /// the others.
    fn unknown(&mut self, json: Json<'_>, record: Span) {
        let was_known = self.is_known;
        let message = Message::of(Role::Unknown, json.span(self.source), Said::Other);
        self.push(json, record, message);
        self.is_known = was_known;
    }

    /// Lines of Claude Code and of Pi: the message is in `message`.
    fn anthropic_envelope(&mut self, fields: &Fields<'a>, record: Span) -> bool {
        if fields.string("subtype").as_deref() == Some("compact_boundary") {
            self.found.entries.clear();
            return true;
        }
        let Some(json) = fields.get("message") else { return false };
        let Some(mut message) = anthropic::message(self.source, json) else { return false };
        let is_pi = fields.string("type").as_deref() == Some("message");
        self.found.shape = if is_pi { Shape::Pi } else { Shape::ClaudeCode };
        if fields.is_true("isCompactSummary") {
            message.parts[0].said = Said::Summary;
        } else if fields.is_true("isMeta") && matches!(message.parts[0].said, Said::User) {
            message.parts[0].said = Said::Other;
        }
        self.copies(fields, &mut message);
        let is_aside = fields.is_true("isSidechain");
        self.push(json, record, message).is_aside = is_aside;
        true
    }

    /// Claude Code writes a result twice: into the message, and for its own use
    /// into `toolUseResult`, or `tool_use_result` where it streams.
    fn copies(&self, fields: &Fields<'_>, message: &mut Message) {
        let copies: Vec<Json<'_>> = COPIES.iter().flat_map(|name| fields.all(name)).collect();
        if copies.is_empty() {
            return;
        }
        let mut answers: Vec<_> = message
            .parts
            .iter_mut()
            .filter_map(|part| match &mut part.said {
                Said::Answer(answer) => Some(answer),
                _ => None,
            })
            .collect();
        let interrupted =
            copies.iter().any(|copy| copy.fields().is_some_and(|copy| copy.is_true("interrupted")));
        if let ([answer], true) = (answers.as_mut_slice(), interrupted) {
            answer.ended.status = Some(output_contract::Status::Interrupted);
        }
        for answer in answers {
            answer.output.copies = copies.iter().map(|copy| copy.span(self.source)).collect();
        }
    }

    /// Lines of a Codex rollout: the item is in `payload`. What else a rollout
    /// tells of the same messages is not counted again.
    fn codex_envelope(&mut self, fields: &Fields<'a>, record: Span) -> bool {
        let Some(json) = fields.get("payload") else { return false };
        let (Some(kind), Some(payload)) = (fields.string("type"), json.fields()) else {
            return false;
        };
        match kind.as_ref() {
            "response_item" => {
                self.found.shape = Shape::Codex;
                match self.message(json) {
                    Some(message) => drop(self.push(json, record, message)),
                    None => self.unknown(json, record),
                }
            }
            "compacted" => {
                self.found.shape = Shape::Codex;
                self.found.entries.clear();
                self.replacement(json, &payload, record);
            }
            "event_msg" if payload.string("type").as_deref() == Some("thread_rolled_back") => {
                let turns = payload.get("num_turns").and_then(Json::integer).unwrap_or(0);
                self.roll_back(turns);
            }
            "session_meta" | "turn_context" | "event_msg" => {}
            _ => return false,
        }
        true
    }

    /// What Codex put in the place of all before.
    fn replacement(&mut self, json: Json<'a>, payload: &Fields<'a>, record: Span) {
        let Some(items) = payload.get("replacement_history").and_then(Json::elements) else {
            let message = Message::of(Role::User, json.span(self.source), Said::Summary);
            self.push(json, record, message);
            return;
        };
        for item in items {
            match self.message(item) {
                Some(message) => drop(self.push(item, record, message)),
                None => self.unknown(item, record),
            }
            self.found.entries.last_mut().expect("it was just pushed").shares_record = true;
        }
    }

    fn roll_back(&mut self, turns: usize) {
        let begins_turn = |entry: &Entry| matches!(entry.message.parts[0].said, Said::User);
        for _ in 0..turns {
            let Some(start) = self.found.entries.iter().rposition(begins_turn) else { return };
            self.found.entries.truncate(start);
        }
    }

    /// An object around a history: a request, a response, a record of both.
    fn wrapped(&mut self, fields: &Fields<'a>) -> bool {
        let lists: &[&str] = match self.format {
            Format::Anthropic => &["messages"],
            Format::OpenAi => &["input", "messages", "items", "history", "data"],
        };
        let mut found = false;
        for name in lists {
            if !found && let Some(value) = fields.get(name) {
                found = self.list(value, name);
            }
        }
        for name in ["body", "request"] {
            if !found && let Some(inner) = fields.get(name).filter(|inner| inner.is_object()) {
                found = inner.fields().is_some_and(|fields| self.wrapped(&fields));
            }
        }
        if self.format == Format::OpenAi {
            if let Some(output) = fields.get("output") {
                found |= self.list(output, "output");
            }
            let choices = fields.get("choices").and_then(Json::elements).unwrap_or_default();
            if let Some(json) = choices.first().and_then(|choice| choice.fields()?.get("message")) {
                found |= self.single(json);
            }
        }
        if let Some(response) = fields.get("response").filter(|inner| inner.is_object()) {
            found |= self.single(response)
                || response.fields().is_some_and(|fields| self.wrapped(&fields));
        }
        found
    }

    fn single(&mut self, json: Json<'a>) -> bool {
        let Some(message) = self.message(json) else { return false };
        self.push(json, json.span(self.source), message);
        true
    }

    /// A list of messages under `name`, if it is one.
    fn list(&mut self, value: Json<'a>, name: &str) -> bool {
        if name == "input" && value.is_string() {
            let message = Message::of(Role::User, value.span(self.source), Said::User);
            self.push(value, value.span(self.source), message);
            return true;
        }
        let Some(elements) = value.elements() else { return false };
        let objects = elements.iter().filter(|element| element.is_object());
        // `data`, `history`, `items` and `output` may be anything.
        let mut messages = objects.clone().filter(|element| self.message(**element).is_some());
        if messages.next().is_none()
            && !(elements.is_empty() && matches!(name, "messages" | "input"))
        {
            return false;
        }
        self.is_known = true;
        if matches!(name, "input" | "output") {
            self.found.shape = Shape::Responses;
        }
        self.found.lists.push(value.span(self.source));
        for element in objects {
            let span = element.span(self.source);
            match self.message(*element) {
                Some(message) => drop(self.push(*element, span, message)),
                None => self.unknown(*element, span),
            }
        }
        true
    }
}
