//! Histories in files of others: the formats of Anthropic and OpenAI, and of
//! programs that keep them.
//!
//! A [`Document`] is a file that was read as a history. Its
//! [`items`](Document::items) are what compaction works on, and
//! [`write`](Document::write) gives the file back with other items in the place
//! of its own. It is lossless: what no item changed is written from the bytes
//! it was read from, with its white space, key order, number spelling, keys
//! that come twice, and damage; of a result that was changed, only the text of
//! its output is written anew.
//!
//! | [`Shape`] | what it is |
//! |---|---|
//! | `Messages` | a list of Anthropic messages, or a request, response or record of both around it |
//! | `ClaudeCode` | a session of Claude Code: JSON Lines with `message` |
//! | `Pi` | a session of Pi, likewise |
//! | `Responses` | a list of OpenAI Responses items, or an object around it |
//! | `Chat` | the same of Chat Completions messages, or JSON Lines of them |
//! | `Codex` | a rollout of Codex: JSON Lines with `payload` |
//!
//! What is pruned
//! - The text of a result is replaced, be it a string or blocks in a list.
//!   Images, documents, blocks that nobody here knows, `is_error`,
//!   `cache_control` and every other field stay as they are. Where all of an
//!   output is to be omitted, its other blocks go as well.
//! - Calls and their arguments, thinking, signatures, server tools with their
//!   results, and everything else are never touched.
//! - Claude Code writes each result twice. The copy, `toolUseResult`, is
//!   replaced by the same text, whatever form it had. Pi's `details` go.
//!
//! How a call ended is known from `is_error` (Anthropic: absent means success).
//! OpenAI has no such flag. There the ending is taken from an outcome or an exit
//! code where an output has one in a field of its own, and is unknown
//! otherwise; in the pruned copy only the text that stands for the output says
//! it, because the format has no other place for it.
//!
//! `docs/design/compaction.md` has the whole of it.
//!
//! ```
//! use compaction::formats::{Document, Format};
//! use compaction::{Item, ItemView, NewOutput};
//!
//! let file = r#"[ {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function",
//!                  "function": {"name": "ls", "arguments": "{}"}}]},
//!                 {"role": "tool", "tool_call_id": "c1", "content": "a\nb\n"} ]"#;
//! let document = Document::parse(Format::OpenAi, file)?;
//! assert_eq!(document.write(document.items()), file.as_bytes());
//!
//! let mut items = document.items().to_vec();
//! assert!(matches!(items[1].view(), ItemView::Result(result) if result.call == Some("c1")));
//! items[1] = items[1].with_output(NewOutput::Reference("[2 files]"));
//! let pruned = String::from_utf8(document.write(&items))?;
//! assert_eq!(pruned, file.replace(r"a\nb\n", "[2 files]"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod anthropic;
mod chat;
mod compacted;
mod damage;
mod document;
mod error;
mod item;
mod json;
mod media;
mod message;
mod openai;
mod output;
mod reader;
mod records;

use std::fmt;
use std::str::FromStr;

pub use damage::{Damage, DamageReason};
pub use document::Document;
pub use error::FormatError;
pub use item::FileItem;

/// A provider's way to write histories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Responses and Chat Completions.
    OpenAi,
}

impl Format {
    const fn other(self) -> Self {
        match self {
            Self::Anthropic => Self::OpenAi,
            Self::OpenAi => Self::Anthropic,
        }
    }

    /// The shape of a list of its messages.
    const fn plain_shape(self) -> Shape {
        match self {
            Self::Anthropic => Shape::Messages,
            Self::OpenAi => Shape::Chat,
        }
    }

    /// What a file of it is.
    const fn expected(self) -> &'static str {
        match self {
            Self::Anthropic => {
                "a list of Anthropic messages, an object with `messages`, or JSON Lines of a session"
            }
            Self::OpenAi => {
                "a list of OpenAI items or messages, an object with `input`, `output` or \
                 `messages`, or JSON Lines of a rollout"
            }
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
        })
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        match name {
            "anthropic" => Ok(Self::Anthropic),
            "openai" => Ok(Self::OpenAi),
            _ => Err(UnknownFormat(name.to_owned())),
        }
    }
}

/// A name that is of no format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown format {0:?}; there are anthropic and openai")]
pub struct UnknownFormat(String);

/// What keeps a history in a provider's format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Shape {
    /// Messages of Anthropic's API.
    Messages,
    /// A session of Claude Code.
    ClaudeCode,
    /// A session of Pi.
    Pi,
    /// Items of OpenAI's Responses API.
    Responses,
    /// Messages of OpenAI's Chat Completions API.
    Chat,
    /// A rollout of Codex.
    Codex,
}

impl Shape {
    /// Whether its messages have lines of a log around them.
    const fn is_log(self) -> bool {
        matches!(self, Self::ClaudeCode | Self::Pi | Self::Codex)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Messages => "Anthropic messages",
            Self::ClaudeCode => "a Claude Code session",
            Self::Pi => "a Pi session",
            Self::Responses => "OpenAI Responses items",
            Self::Chat => "OpenAI Chat messages",
            Self::Codex => "a Codex rollout",
        })
    }
}
