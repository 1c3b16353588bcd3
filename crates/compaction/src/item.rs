//! The seam to a history: what compaction must know of one item, whatever type
//! an agent has for it.

use std::borrow::Cow;
use std::sync::Arc;

use output_contract::ArtifactUri;
use output_retention::Ended;

use crate::arguments::Arguments;

/// One item of a history that can be compacted: an agent's own type, a
/// [`HistoryItem`](output_contract::HistoryItem), or an entry of a provider's
/// file.
///
/// - One item is one call, one result, or anything else. A message that holds
///   several calls or results is several items, of which all but the first
///   [continue](Self::continues) it.
/// - [`view`](Self::view) is asked a few times of each item. It borrows what
///   it can and does no I/O.
/// - Cloning should be cheap; `Arc<T>` is an item where `T` is.
/// - Items are never changed. What is pruned is a new item, made by
///   [`with_output`](Self::with_output).
pub trait Item: Clone + Send + Sync {
    /// What this item is.
    fn view(&self) -> ItemView<'_>;

    /// Size of the item as a summariser gets it, in bytes of its serialised
    /// form. For decisions and reports; it need not be exact.
    fn bytes(&self) -> usize;

    /// The same result with another output: its place, its call, its status
    /// and all that pairs it stay. Asked of results only; anything else
    /// returns a clone.
    #[must_use]
    fn with_output(&self, output: NewOutput<'_>) -> Self;

    /// Whether this item cannot be parted from the one before it, because both
    /// are of one message. A kept suffix never begins here.
    fn continues(&self) -> bool {
        false
    }
}

/// A history of shared items: a pruned copy shares what was not touched, and
/// takes no more memory than what was.
impl<T: Item> Item for Arc<T> {
    fn view(&self) -> ItemView<'_> {
        (**self).view()
    }

    fn bytes(&self) -> usize {
        (**self).bytes()
    }

    fn with_output(&self, output: NewOutput<'_>) -> Self {
        Self::new((**self).with_output(output))
    }

    fn continues(&self) -> bool {
        (**self).continues()
    }
}

/// What an item is.
#[derive(Debug, Clone, PartialEq)]
pub enum ItemView<'a> {
    /// Instructions that the history begins with, and that stay before a
    /// summary: a system message, where it is one of the messages.
    Instructions,
    /// Something the user said: a turn begins here. A message that only
    /// carries results is none.
    User,
    /// A summary that stands for everything before it.
    Summary,
    /// A call that the model made.
    Call(CallView<'a>),
    /// What came back of one.
    Result(ResultView<'a>),
    /// Anything else.
    Other,
}

/// A call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallView<'a> {
    /// Its id, which its result names; `None` where the history has none.
    pub id: Option<&'a str>,
    /// The tool that was called.
    pub tool: &'a str,
    /// Its arguments.
    pub arguments: Arguments<'a>,
}

/// A result.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultView<'a> {
    /// The id of its call; `None` where the history has none.
    pub call: Option<&'a str>,
    /// How the call ended, as far as the history says.
    pub ended: Ended,
    /// What came out of it.
    pub output: OutputView<'a>,
}

/// The output of a result, in the parts of which it consists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutputView<'a> {
    /// The whole output, where it is one text and nothing else. An output that
    /// is wholly a line of ours is recognised by it.
    pub text: Option<&'a str>,
    /// What a store keeps already.
    pub stored: Vec<StoredPart<'a>>,
    /// What only the history has.
    pub inline: Vec<InlinePart<'a>>,
}

impl<'a> OutputView<'a> {
    /// An output that is one text, which only the history has.
    pub fn of_text(text: &'a str) -> Self {
        let part = InlinePart { label: None, body: Body::Text(Cow::Borrowed(text)) };
        Self { text: Some(text), stored: Vec::new(), inline: vec![part] }
    }

    /// An output of these parts, which only the history has.
    pub const fn of_parts(inline: Vec<InlinePart<'a>>) -> Self {
        Self { text: None, stored: Vec::new(), inline }
    }
}

/// A part of an output that was stored when it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPart<'a> {
    /// What it is called: a stream's name or a media type.
    pub label: Option<&'a str>,
    /// Where it is read; `None` where it could not be kept.
    pub uri: Option<ArtifactUri>,
    /// Bytes stored; where nothing was kept, bytes produced.
    pub bytes: u64,
    /// Lines stored, where it is counted in lines.
    pub lines: Option<u64>,
}

/// A part of an output that has to be stored before it can be left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlinePart<'a> {
    /// What it is called: a stream's name or a media type; text needs none.
    pub label: Option<Cow<'a, str>>,
    /// What it holds.
    pub body: Body<'a>,
}

/// What an inline part holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body<'a> {
    /// Text, decoded: no JSON escapes.
    Text(Cow<'a, str>),
    /// Bytes in standard base64, padded or not; what does not decode is kept
    /// as this text.
    Base64(&'a str),
}

/// What stands for an output in a pruned copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewOutput<'a> {
    /// This text, in the place of content, structured value, metadata and
    /// attachments. What the tool made the user say after its result stays.
    Reference(&'a str),
    /// This text, in the place of all that came of the call, emitted messages
    /// included.
    Omitted(&'a str),
}

impl<'a> NewOutput<'a> {
    /// The text.
    pub const fn text(self) -> &'a str {
        match self {
            Self::Reference(text) | Self::Omitted(text) => text,
        }
    }
}
