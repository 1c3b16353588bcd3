//! The output of one result: where its texts stand, and what stands for them in
//! a pruned copy.
//!
//! A reference takes the place of the texts and of nothing else: images,
//! documents and blocks that nobody here knows stay in their place, and so do
//! the other fields of the block that carries it, such as `cache_control`. A
//! string stays a string, and a list stays a list. Where all of an output is to
//! go, the other blocks go too.

use std::borrow::Cow;

use crate::item::{Body, InlinePart, NewOutput, OutputView};

use super::json::{Json, Span, quote};

/// The longest text, in bytes of JSON, that is decoded once and kept, to tell
/// whether it is a line of ours. Those are short.
pub(super) const LONGEST_LINE: usize = 8 << 10;

/// Most blocks that are parts of their own. More are one part, so that the line
/// that names the parts stays short.
const MAX_PARTS: usize = 8;

const STREAMS: [&str; 2] = ["stdout", "stderr"];

/// Where the output of a result stands.
#[derive(Debug)]
pub(super) struct Output {
    /// Each value that is the output; a field that comes twice has two. The
    /// last counts.
    fields: Vec<Span>,
    /// Copies of it elsewhere in the record.
    pub(super) copies: Vec<Span>,
    /// What else the record has of it, which becomes `null`.
    pub(super) details: Vec<Span>,
    /// The texts of the value that counts, in order.
    texts: Vec<Text>,
    form: Form,
    /// Whether there is anything besides text.
    has_others: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A string or a list of blocks; a text block is made with this type.
    Content(&'static str),
    /// A list of what commands wrote: `{outcome, stdout, stderr}`.
    Streams,
}

/// A text of an output.
#[derive(Debug, Clone, Copy)]
struct Text {
    /// The JSON string.
    span: Span,
    /// The stream it is of.
    stream: Option<&'static str>,
    /// Whether it is JSON that holds the text and an exit code.
    wrapped: bool,
}

/// Bytes of a source, and what stands there instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) span: Span,
    pub(super) text: String,
}

impl Output {
    /// The output that these values are. With `wrapped`, a string may hold
    /// JSON with the text in it.
    pub(super) fn read<'a>(
        source: &[u8],
        values: impl Iterator<Item = Json<'a>>,
        form: Form,
        wrapped: bool,
    ) -> Self {
        let values: Vec<Json<'_>> = values.collect();
        let mut found = Self {
            fields: values.iter().map(|value| value.span(source)).collect(),
            copies: Vec::new(),
            details: Vec::new(),
            texts: Vec::new(),
            form,
            has_others: false,
        };
        let Some(&value) = values.last() else { return found };
        if value.is_string() {
            let wrapped = wrapped && Wrapped::read(value).is_some();
            found.texts.push(Text { span: value.span(source), stream: None, wrapped });
        } else if let Some(elements) = value.elements() {
            for element in elements {
                found.element(source, element);
            }
        } else {
            found.has_others = value.text() != "null";
        }
        found
    }

    fn element(&mut self, source: &[u8], element: Json<'_>) {
        let fields = element.fields();
        let mut text = |json: Json<'_>, stream| {
            let span = json.span(source);
            self.texts.push(Text { span, stream, wrapped: false });
        };
        match (self.form, fields) {
            (Form::Content(_), Some(fields)) if is_text(fields.string("type").as_deref()) => {
                match fields.get("text").filter(|text| text.is_string()) {
                    Some(json) => text(json, None),
                    None => self.has_others = true,
                }
            }
            (Form::Streams, Some(fields)) => {
                for stream in STREAMS {
                    if let Some(json) = fields.get(stream).filter(|text| text.is_string()) {
                        text(json, Some(stream));
                    }
                }
            }
            _ => self.has_others = true,
        }
    }

    /// The output in parts. Blocks that are no text are not among them: they
    /// stay where they are.
    pub(super) fn view<'a>(&self, source: &'a [u8], line: Option<&'a str>) -> OutputView<'a> {
        let inline = match self.form {
            Form::Content(_) => self.blocks(source),
            Form::Streams => self.streams(source),
        };
        let text = if inline.is_empty() && !self.has_others { Some("") } else { line };
        OutputView { text, ..OutputView::of_parts(inline) }
    }

    /// The text, where there is no other text and it could be a line of ours.
    /// Several blocks may have the same one: each that has a `cache_control`
    /// stays, and says it.
    pub(super) fn line<'a>(&self, source: &'a [u8]) -> Option<Cow<'a, str>> {
        let mut texts = self.texts.iter().filter(|text| text.span.len() > r#""""#.len());
        let only = texts.next()?;
        if texts.any(|text| text.span.of(source) != only.span.of(source)) {
            return None;
        }
        let plain = only.span.json(source).plain_string().filter(|_| !only.wrapped);
        match plain {
            Some(plain) => Some(Cow::Borrowed(plain)),
            None => (only.span.len() <= LONGEST_LINE).then(|| only.decode(source)),
        }
    }

    /// The text of each block that has one, or of all of them with each on a
    /// line of its own.
    fn blocks<'a>(&self, source: &'a [u8]) -> Vec<InlinePart<'a>> {
        let texts = self.texts.iter().map(|text| text.decode(source));
        let texts = texts.filter(|text| !text.is_empty());
        if self.texts.len() <= MAX_PARTS {
            return texts.map(|text| part(None, text)).collect();
        }
        let mut all = String::new();
        for text in texts {
            if !(all.is_empty() || all.ends_with('\n')) {
                all.push('\n');
            }
            all.push_str(&text);
        }
        if all.is_empty() { Vec::new() } else { vec![part(None, all.into())] }
    }

    /// What each stream got, where any got something.
    fn streams<'a>(&self, source: &'a [u8]) -> Vec<InlinePart<'a>> {
        let of = |stream| {
            let texts = self.texts.iter().filter(move |text| text.stream == Some(stream));
            let mut texts = texts.map(|text| text.decode(source));
            let first = texts.next().unwrap_or_default();
            texts.fold(first, |all, next| all + next)
        };
        let streams = STREAMS.map(|stream| (stream, of(stream)));
        if streams.iter().all(|(_, text)| text.is_empty()) {
            return Vec::new();
        }
        streams.into_iter().map(|(stream, text)| part(Some(stream), text)).collect()
    }

    /// What has to be changed in the source for another output.
    pub(super) fn replace(&self, source: &[u8], output: NewOutput<'_>) -> Vec<Edit> {
        let line = quote(output.text());
        let keep = matches!(output, NewOutput::Reference(_));
        if keep && self.texts.is_empty() {
            return Vec::new();
        }
        let mut edits = Vec::new();
        for &span in &self.fields {
            let value = span.json(source);
            match (self.form, value.elements()) {
                (Form::Content(kind), Some(blocks)) => {
                    replace_blocks(source, span, &blocks, &line, kind, keep, &mut edits);
                }
                (Form::Content(_), None) if value.is_string() || !keep => {
                    edits.push(Edit { span, text: line.clone() });
                }
                (Form::Streams, Some(commands)) => {
                    replace_streams(source, &commands, &line, &mut edits);
                }
                _ => {}
            }
        }
        edits.extend(self.copies.iter().map(|&span| Edit { span, text: line.clone() }));
        edits.extend(self.details.iter().map(|&span| Edit { span, text: "null".to_owned() }));
        edits
    }
}

impl Text {
    fn decode(self, source: &[u8]) -> Cow<'_, str> {
        let json = self.span.json(source);
        if self.wrapped
            && let Some(Wrapped { output, .. }) = Wrapped::read(json)
        {
            return Cow::Owned(output);
        }
        json.string().unwrap_or_default()
    }
}

/// JSON that stands in a string, as Codex writes what a command gave:
/// `{"output": …, "metadata": {"exit_code": …}}`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wrapped {
    pub(super) output: String,
    pub(super) exit_code: i32,
}

impl Wrapped {
    /// Reads that JSON and nothing that merely resembles it.
    pub(super) fn read(string: Json<'_>) -> Option<Self> {
        let text = string.string()?;
        if !text.starts_with('{') {
            return None;
        }
        let fields = Json::parse(&text)?.fields()?;
        let exit_code = fields.object("metadata")?.get("exit_code")?.integer()?;
        let output = fields.string("output")?.into_owned();
        (fields.len() == 2).then_some(Self { output, exit_code })
    }
}

fn part<'a>(stream: Option<&'static str>, text: Cow<'a, str>) -> InlinePart<'a> {
    InlinePart { label: stream.map(Cow::Borrowed), body: Body::Text(text) }
}

/// Whether blocks of this type are text.
pub(super) fn is_text(kind: Option<&str>) -> bool {
    matches!(kind, Some("text" | "input_text" | "output_text"))
}

/// The line goes into the text blocks that end a part of the prompt that is
/// cached, or else into the first one; other text blocks go.
fn replace_blocks(
    source: &[u8],
    list: Span,
    blocks: &[Json<'_>],
    line: &str,
    kind: &str,
    keep: bool,
    edits: &mut Vec<Edit>,
) {
    let texts: Vec<Option<BlockText>> =
        blocks.iter().map(|block| BlockText::read(source, *block)).collect();
    let has_cached = texts.iter().flatten().any(|text| text.is_cached);
    let first_text = texts.iter().position(Option::is_some);
    let carries = |at: usize| match &texts[at] {
        Some(text) if has_cached => text.is_cached,
        Some(_) => Some(at) == first_text,
        None => false,
    };
    let stays = |at: usize| if texts[at].is_some() { carries(at) } else { keep };
    let Some(first) = (0..blocks.len()).find(|&at| stays(at)) else {
        edits.push(Edit { span: list, text: format!(r#"[{{"type":"{kind}","text":{line}}}]"#) });
        return;
    };
    let span = |at: usize| blocks[at].span(source);
    for (at, text) in texts.iter().enumerate() {
        if stays(at) {
            let spans = text.iter().flat_map(|text| &text.spans);
            edits.extend(spans.map(|&span| Edit { span, text: line.to_owned() }));
            continue;
        }
        // With it goes the comma to its neighbour on the side of one that stays.
        let gone = if at < first {
            Span::new(span(at).start, span(at + 1).start)
        } else {
            Span::new(span(at - 1).end, span(at).end)
        };
        edits.push(Edit { span: gone, text: String::new() });
    }
}

/// The text of a block in a list.
struct BlockText {
    /// Each value of the field.
    spans: Vec<Span>,
    /// Whether the block has a `cache_control`.
    is_cached: bool,
}

impl BlockText {
    fn read(source: &[u8], block: Json<'_>) -> Option<Self> {
        let fields = block.fields()?;
        if !is_text(fields.string("type").as_deref()) || !fields.get("text")?.is_string() {
            return None;
        }
        let spans = fields.all("text").map(|text| text.span(source)).collect();
        let is_cached = fields.get("cache_control").is_some_and(Json::is_object);
        Some(Self { spans, is_cached })
    }
}

/// The line goes into the first stream, the others become empty; outcomes stay.
fn replace_streams(source: &[u8], commands: &[Json<'_>], line: &str, edits: &mut Vec<Edit>) {
    let mut text = line;
    for fields in commands.iter().filter_map(|command| command.fields()) {
        for stream in STREAMS {
            let Some(last) = fields.get(stream).filter(|value| value.is_string()) else { continue };
            for value in fields.all(stream) {
                let new =
                    if value.text().as_ptr() == last.text().as_ptr() { text } else { r#""""# };
                edits.push(Edit { span: value.span(source), text: new.to_owned() });
            }
            text = r#""""#;
        }
    }
}
