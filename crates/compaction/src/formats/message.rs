//! What a message of a provider says, in the words of no provider.

use output_retention::Ended;

use super::json::Span;
use super::output::Output;

/// One message or item of a provider, taken apart.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) role: Role,
    /// What the lines of one message share, where it is spread over several.
    pub(super) id: Option<String>,
    /// Whether it says its type, as items do and messages need not.
    pub(super) is_typed: bool,
    /// At least one.
    pub(super) parts: Vec<Part>,
}

impl Message {
    /// A message of one part, which is all of it.
    pub(super) fn of(role: Role, span: Span, said: Said) -> Self {
        Self { role, id: None, is_typed: false, parts: vec![Part { span, said, payload: 0 }] }
    }
}

/// Who made a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Whoever sets the rules.
    System,
    User,
    Model,
    /// Only results.
    Tool,
    Unknown,
}

/// A part of a message.
#[derive(Debug)]
pub(super) struct Part {
    /// Where it stands; parts do not overlap.
    pub(super) span: Span,
    pub(super) said: Said,
    /// How much of it is base64, in bytes.
    pub(super) payload: usize,
}

#[derive(Debug)]
pub(super) enum Said {
    /// Instructions before all else, which stay there.
    Instructions,
    User,
    Summary,
    Call(Call),
    Answer(Answer),
    Other,
}

#[derive(Debug)]
pub(super) struct Call {
    pub(super) id: Option<String>,
    pub(super) tool: String,
    /// An object, or a string that holds one.
    pub(super) arguments: Option<Span>,
}

#[derive(Debug)]
pub(super) struct Answer {
    pub(super) call: Option<String>,
    pub(super) ended: Ended,
    pub(super) output: Output,
}
