//! The new history: a summary, and after it what is kept, as it was.

use super::document::{Document, MessageAt};
use super::error::FormatError;
use super::json::{Fields, Json, Span, quote};
use super::records::Container;
use super::{Shape, anthropic, openai};

impl Document {
    /// The file with a summary in the place of all items before `from`, which
    /// is an index into [`items`](Self::items). What is kept, and what stands
    /// around it, is written byte for byte.
    ///
    /// The summary is a message of the user, in the provider's form or in that
    /// of the log. What the list begins with by way of instructions (`system`,
    /// `developer`) stays before it, and so do the lines of a log before its
    /// first message. Where `from` is inside of a message, all of that message
    /// is kept.
    ///
    /// # Errors
    /// [`FormatError::SeveralHistories`] and [`FormatError::SingleMessage`]
    /// where a summary has no place.
    pub fn compacted(&self, summary: &str, from: usize) -> Result<Vec<u8>, FormatError> {
        if self.histories > 1 {
            return Err(FormatError::SeveralHistories { count: self.histories });
        }
        let kept = match self.items().get(from) {
            Some(item) => item.entry(),
            None => self.messages.len(),
        };
        match (self.container, self.lists.first()) {
            (_, Some(&list)) => Ok(self.in_list(list, summary, kept)),
            (Container::Lines, None) => Ok(self.in_lines(summary, kept)),
            // A log of one line.
            (_, None) if self.shape.is_log() => Ok(self.in_lines(summary, kept)),
            _ => Err(FormatError::SingleMessage),
        }
    }

    fn in_list(&self, list: Span, summary: &str, kept: usize) -> Vec<u8> {
        let elements: Vec<&MessageAt> =
            self.messages.iter().take_while(|message| list.contains(message.record)).collect();
        let instructions = self.instructions.min(elements.len());
        let kept = kept.max(instructions);
        let message = self.summary(summary, kept);
        let comma = elements.first().map_or(&b","[..], |first| self.comma(first.record));
        let mut written = Vec::new();
        let (Some(first), Some(last)) = (elements.first(), elements.last()) else {
            written.extend_from_slice(&self.source[..list.start + 1]);
            written.extend_from_slice(message.as_bytes());
            written.extend_from_slice(&self.source[list.end - 1..]);
            return written;
        };
        match instructions.checked_sub(1).map(|last| elements[last]) {
            Some(instruction) => {
                written.extend_from_slice(&self.source[..instruction.record.end]);
                written.extend_from_slice(comma);
            }
            None => written.extend_from_slice(&self.source[..first.record.start]),
        }
        written.extend_from_slice(message.as_bytes());
        let (parted, kept) = self.parted(kept);
        for record in parted {
            written.extend_from_slice(comma);
            written.extend_from_slice(record.as_bytes());
        }
        match elements.get(kept) {
            Some(kept) => {
                written.extend_from_slice(comma);
                written.extend_from_slice(&self.source[kept.record.start..]);
            }
            None => written.extend_from_slice(&self.source[last.record.end..]),
        }
        written
    }

    fn in_lines(&self, summary: &str, kept: usize) -> Vec<u8> {
        let line_end: &[u8] = match memchr::memchr(b'\n', &self.source) {
            Some(at) if at > 0 && self.source[at - 1] == b'\r' => b"\r\n",
            _ => b"\n",
        };
        let kept = kept.max(self.instructions);
        let mut written = match self.instructions.checked_sub(1) {
            Some(last) => [&self.source[..self.messages[last].record.end], line_end].concat(),
            None => self.source[..self.first].to_vec(),
        };
        let (parted, next) = self.parted(kept);
        for record in [self.summary(summary, kept)].iter().chain(&parted) {
            written.extend_from_slice(record.as_bytes());
            written.extend_from_slice(line_end);
        }
        if let Some(message) = self.messages.get(next) {
            written.extend_from_slice(&self.source[message.record.start..]);
        }
        written
    }

    /// What stands between an element and the next one.
    fn comma(&self, element: Span) -> &[u8] {
        let rest = &self.source[element.end..];
        let blank =
            |bytes: &[u8]| bytes.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let before = blank(rest);
        match rest.get(before) {
            Some(b',') => &rest[..before + 1 + blank(&rest[before + 1..])],
            _ => b",",
        }
    }

    /// What Codex kept at an earlier compaction is in one record with others:
    /// a record for each of those messages from `kept` on, and the index of the
    /// first message after them.
    fn parted(&self, kept: usize) -> (Vec<String>, usize) {
        let rest = self.messages.get(kept..).unwrap_or_default();
        let parted = rest.iter().take_while(|message| message.shares_record);
        let parted: Vec<String> = parted
            .map(|message| {
                let (time, item) = (self.time(message.record), message.span.json(&self.source));
                format!(r#"{{{time}"type":"response_item","payload":{}}}"#, item.text())
            })
            .collect();
        let next = kept + parted.len();
        (parted, next)
    }

    /// The summary as a message. It takes its envelope from the first message
    /// that is kept, or else from the last one.
    fn summary(&self, summary: &str, kept: usize) -> String {
        let text = quote(summary);
        let neighbour = self.messages.get(kept).or(self.messages.last());
        let is_kept = kept < self.messages.len();
        match self.shape {
            Shape::Messages | Shape::Chat => format!(r#"{{"role":"user","content":{text}}}"#),
            Shape::Responses => format!(
                r#"{{"type":"message","role":"user","content":[{{"type":"{}","text":{text}}}]}}"#,
                openai::INPUT_TEXT
            ),
            Shape::Codex => {
                let time = neighbour.map_or_else(String::new, |message| self.time(message.record));
                format!(r#"{{{time}"type":"compacted","payload":{{"message":{text}}}}}"#)
            }
            Shape::Pi => {
                let time = neighbour.map_or_else(String::new, |message| self.time(message.record));
                let fields =
                    neighbour.and_then(|message| message.record.json(&self.source).fields());
                let id = place(fields.as_ref(), "id", "parentId", is_kept);
                let id = id.map_or_else(String::new, |id| format!(r#""id":{id},"parentId":null,"#));
                let kind = anthropic::TEXT;
                format!(
                    r#"{{"type":"message",{id}{time}"message":{{"role":"user","content":[{{"type":"{kind}","text":{text}}}]}}}}"#
                )
            }
            Shape::ClaudeCode => {
                let fields =
                    neighbour.and_then(|message| message.record.json(&self.source).fields());
                claude_code(&text, fields.as_ref(), is_kept)
            }
        }
    }

    /// The time of a record, as the first field of another.
    fn time(&self, record: Span) -> String {
        let fields = record.json(&self.source).fields();
        let time = fields.as_ref().and_then(|fields| fields.get("timestamp"));
        time.map_or_else(String::new, |time| format!(r#""timestamp":{},"#, time.text()))
    }
}

/// The identifier of a summary, as it is spelled. It is the one that the first
/// kept line names as its parent, so that the chain of lines is whole; where
/// nothing is kept, that of the last line.
fn place<'a>(
    neighbour: Option<&Fields<'a>>,
    id: &str,
    parent: &str,
    is_kept: bool,
) -> Option<&'a str> {
    let value = neighbour?.get(if is_kept { parent } else { id })?;
    value.is_string().then_some(value.text())
}

/// A line of Claude Code.
fn claude_code(text: &str, neighbour: Option<&Fields<'_>>, is_kept: bool) -> String {
    const COPIED: [&str; 8] =
        ["isSidechain", "userType", "cwd", "sessionId", "version", "gitBranch", "agentId", "slug"];
    let get = |name: &str| neighbour.and_then(|fields| fields.get(name));
    let mut line = r#"{"parentUuid":null,"#.to_owned();
    for name in COPIED {
        if let Some(value) = get(name) {
            line += &format!(r#""{name}":{},"#, value.text());
        }
    }
    line += &format!(
        r#""type":"user","message":{{"role":"user","content":{text}}},"isCompactSummary":true"#
    );
    let uuid = place(neighbour, "uuid", "parentUuid", is_kept);
    for (name, value) in [("uuid", uuid), ("timestamp", get("timestamp").map(Json::text))] {
        if let Some(value) = value {
            line += &format!(r#","{name}":{value}"#);
        }
    }
    line + "}"
}
