//! A file of a provider: read into items, written back byte for byte.

use bytes::Bytes;

use super::damage::Damage;
use super::error::FormatError;
use super::item::FileItem;
use super::json::Span;
use super::message::{Role, Said};
use super::output::Edit;
use super::reader::{self, Entry, Found};
use super::records::{Container, Records, records};
use super::{Format, Shape};

/// A history in a file of a provider's format.
///
/// It keeps the file's bytes, and its items share them.
#[derive(Debug)]
pub struct Document {
    pub(super) source: Bytes,
    pub(super) format: Format,
    pub(super) shape: Shape,
    pub(super) container: Container,
    pub(super) lists: Vec<Span>,
    pub(super) histories: usize,
    /// Where the first message begins.
    pub(super) first: usize,
    pub(super) messages: Vec<MessageAt>,
    /// How many of them are instructions that stay before a summary.
    pub(super) instructions: usize,
    items: Vec<FileItem>,
    damage: Vec<Damage>,
}

/// Where a message stands.
#[derive(Debug)]
pub(super) struct MessageAt {
    /// The message itself.
    pub(super) span: Span,
    /// The line, element or object that it is in.
    pub(super) record: Span,
    /// Whether other messages are in the same record.
    pub(super) shares_record: bool,
}

impl Document {
    /// Reads a file as a history of `format`. What of it is damaged is passed
    /// over and told by [`damage`](Self::damage).
    ///
    /// # Errors
    /// [`FormatError`] where the file is no history, or one of another format.
    pub fn parse(format: Format, source: impl Into<Bytes>) -> Result<Self, FormatError> {
        let source = source.into();
        let records = records(&source);
        if records.spans.is_empty()
            && records.damage.is_empty()
            && records.container == Container::Lines
        {
            return Err(FormatError::Empty { expected: format });
        }
        let found = reader::read(&source, &records, format);
        let found = match found {
            Some(found) if found.has_tools() => found,
            // Without calls and results, the formats look much the same.
            found => {
                let other = reader::read(&source, &records, format.other());
                match (found, other) {
                    (_, Some(other)) if other.has_tools() => {
                        return Err(FormatError::OtherFormat {
                            found: format.other(),
                            expected: format,
                        });
                    }
                    (Some(found), _) => found,
                    (None, Some(_)) => {
                        return Err(FormatError::OtherFormat {
                            found: format.other(),
                            expected: format,
                        });
                    }
                    (None, None) => {
                        let found = describe(&source, &records);
                        return Err(FormatError::NotAHistory { found, expected: format });
                    }
                }
            }
        };
        Ok(Self::new(source, format, found, records))
    }

    fn new(source: Bytes, format: Format, found: Found, records: Records) -> Self {
        let Found { shape, entries, first, lists, histories } = found;
        let mut document = Self {
            first: first.unwrap_or(source.len()),
            messages: Vec::with_capacity(entries.len()),
            items: Vec::with_capacity(entries.len()),
            container: records.container,
            damage: records.damage,
            source,
            format,
            shape,
            lists,
            histories,
            instructions: 0,
        };
        let mut before = Before::default();
        for (at, mut entry) in entries.into_iter().enumerate() {
            // Those of a log are its program's to write again.
            let is_first = at == document.instructions && !shape.is_log();
            if is_first && entry.message.role == Role::System {
                document.instructions += 1;
                for part in &mut entry.message.parts {
                    part.said = Said::Instructions;
                }
            }
            let continues = before.is_continued_by(&entry);
            document.push(entry, continues);
        }
        document
    }

    fn push(&mut self, entry: Entry, continues: bool) {
        let Entry { span, record, message, shares_record, .. } = entry;
        let at = self.messages.len();
        self.messages.push(MessageAt { span, record, shares_record });
        let inside: usize = message.parts.iter().map(|part| part.span.len()).sum();
        let mut around = span.len() - inside;
        let mut continues = continues;
        for part in message.parts {
            self.items.push(FileItem::new(self.source.clone(), at, part, around, continues));
            around = 0;
            continues = true;
        }
    }

    /// The format it was read as.
    pub const fn format(&self) -> Format {
        self.format
    }

    /// What keeps the history in this format.
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// The active history: every call, result and other part of its messages,
    /// in the order of the file.
    pub fn items(&self) -> &[FileItem] {
        &self.items
    }

    /// What of the file is out of order, in its order.
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// The file with these items of it in the place of its own. What no item
    /// changed is written as it was read, byte for byte.
    pub fn write(&self, items: &[FileItem]) -> Vec<u8> {
        let edits = edits(items);
        let mut written = Vec::with_capacity(length(self.source.len(), &edits));
        self.copy(Span::new(0, self.source.len()), &edits, &mut written);
        written
    }

    /// The messages that these items of it are of, as one JSON array in the
    /// provider's form, without what a log has around them: what a summariser
    /// is given.
    pub fn messages(&self, items: &[FileItem]) -> Vec<u8> {
        let edits = edits(items);
        let mut written = vec![b'['];
        let mut last = None;
        for entry in items.iter().map(FileItem::entry) {
            if last == Some(entry) {
                continue;
            }
            if last.replace(entry).is_some() {
                written.push(b',');
            }
            self.copy(self.messages[entry].span, &edits, &mut written);
        }
        written.push(b']');
        written
    }

    /// Copies a part of the file, changed where an edit is.
    fn copy(&self, span: Span, edits: &[&Edit], written: &mut Vec<u8>) {
        let mut at = span.start;
        let from = edits.partition_point(|edit| edit.span.start < span.start);
        for edit in &edits[from..] {
            if edit.span.end > span.end {
                break;
            }
            written.extend_from_slice(&self.source[at..edit.span.start]);
            written.extend_from_slice(edit.text.as_bytes());
            at = edit.span.end;
        }
        written.extend_from_slice(&self.source[at..span.end]);
    }
}

/// All edits in the order of the file. Results of one line share the copy of
/// their output, and the first of them replaces it.
fn edits(items: &[FileItem]) -> Vec<&Edit> {
    let mut edits: Vec<&Edit> = items.iter().flat_map(FileItem::edits).collect();
    edits.sort_by_key(|edit| edit.span);
    edits.dedup_by_key(|edit| edit.span);
    edits
}

fn length(source: usize, edits: &[&Edit]) -> usize {
    let gone: usize = edits.iter().map(|edit| edit.span.len()).sum();
    let new: usize = edits.iter().map(|edit| edit.text.len()).sum();
    source - gone + new
}

/// What came before a message, to tell what cannot be parted from it.
#[derive(Default)]
struct Before {
    role: Option<Role>,
    /// The id of the last message of the model.
    model: Option<String>,
}

impl Before {
    /// Whether the message belongs to the one before it: what a model says at
    /// once may be several items or lines, even with results between them.
    fn is_continued_by(&mut self, entry: &Entry) -> bool {
        let role = entry.message.role;
        let mut continues = false;
        if role == Role::Model {
            let id = entry.message.id.as_ref();
            continues =
                self.role == Some(Role::Model) || (id.is_some() && id == self.model.as_ref());
            self.model = id.cloned();
        }
        self.role = Some(role);
        continues
    }
}

/// What a file is that is no history, in a few words.
fn describe(source: &[u8], records: &Records) -> String {
    const SHOWN: usize = 4;
    let list = |names: Vec<String>| {
        let more = if names.len() > SHOWN { ", …" } else { "" };
        format!("{}{more}", names[..names.len().min(SHOWN)].join(", "))
    };
    let of = |span: &Span| {
        let fields = span.json(source).fields()?;
        Some(list(fields.names().map(|name| format!("`{name}`")).collect()))
    };
    let count = records.spans.len();
    match (records.container, records.spans.first()) {
        (Container::Object, Some(span)) => {
            format!("an object with the fields {}", of(span).unwrap_or_default())
        }
        (Container::List(_), first) => match first.and_then(of) {
            Some(fields) => {
                format!("an array of {count} values, the first with the fields {fields}")
            }
            None => format!("an array of {count} values that are no messages"),
        },
        (_, None) => match records.damage.first() {
            Some(damage) => format!("no JSON ({damage})"),
            None => "nothing".to_owned(),
        },
        (_, Some(first)) => {
            let kind = |span: &Span| Some(span.json(source).fields()?.string("type")?.into_owned());
            let mut kinds: Vec<String> = Vec::new();
            for kind in records.spans.iter().filter_map(kind) {
                if kinds.len() <= SHOWN && !kinds.contains(&kind) {
                    kinds.push(kind);
                }
            }
            if kinds.is_empty() {
                format!(
                    "{count} JSON Lines, the first with the fields {}",
                    of(first).unwrap_or_default()
                )
            } else {
                let kinds = kinds.iter().map(|kind| format!("`{kind}`")).collect();
                format!("{count} JSON Lines of the types {}", list(kinds))
            }
        }
    }
}
