//! Histories in this program's own format: a JSON array of history items, JSON
//! Lines of them, or the log of a session, as far as it is active.
//!
//! Responsible for writing an item that was not changed in the bytes that it
//! was read from.

use std::sync::Arc;

use anyhow::{Context, ensure};
use compaction::{Item, ItemView, NewOutput};
use output_contract::HistoryItem;
use session_log::{SessionRecords, replay};

use super::source::Source;

/// A history of our own items.
#[derive(Debug)]
pub(super) struct OwnHistory {
    items: Vec<OwnItem>,
    is_array: bool,
    damage: Vec<String>,
}

/// An item, and how it was written.
#[derive(Debug, Clone)]
pub(super) struct OwnItem {
    item: HistoryItem,
    json: Arc<str>,
}

impl OwnItem {
    fn new(item: HistoryItem) -> Self {
        let json = serde_json::to_string(&item).expect("an item has string keys");
        Self { item, json: json.into() }
    }
}

/// The item that comes next, as it is written, and what follows it.
fn next_item(bytes: &[u8]) -> anyhow::Result<Option<(OwnItem, &[u8])>> {
    let bytes = bytes.trim_ascii_start();
    let mut items = serde_json::Deserializer::from_slice(bytes).into_iter();
    let Some(item) = items.next().transpose()? else { return Ok(None) };
    let (json, after) = bytes.split_at(items.byte_offset());
    let json = str::from_utf8(json)?.into();
    Ok(Some((OwnItem { item, json }, after)))
}

impl Item for OwnItem {
    fn view(&self) -> ItemView<'_> {
        self.item.view()
    }

    fn bytes(&self) -> usize {
        self.json.len()
    }

    fn with_output(&self, output: NewOutput<'_>) -> Self {
        Self::new(self.item.with_output(output))
    }
}

impl OwnHistory {
    pub(super) fn parse(bytes: &[u8]) -> anyhow::Result<Self> {
        if bytes.trim_ascii_start().starts_with(b"[") {
            return Self::array(bytes);
        }
        let records = SessionRecords::parse(bytes);
        if records.events.is_empty() { Self::lines(bytes) } else { Ok(Self::log(records)) }
    }

    fn array(bytes: &[u8]) -> anyhow::Result<Self> {
        let mut items = Vec::new();
        let mut rest = bytes.trim_ascii_start().strip_prefix(b"[").context("no array")?;
        while !rest.trim_ascii_start().starts_with(b"]") {
            let number = items.len() + 1;
            let (item, after) = next_item(rest)
                .with_context(|| format!("element {number} is no history item"))?
                .with_context(|| format!("the array ends after element {}", items.len()))?;
            items.push(item);
            rest = after.trim_ascii_start();
            rest = rest.strip_prefix(b",").unwrap_or(rest);
        }
        Ok(Self { items, is_array: true, damage: Vec::new() })
    }

    fn log(records: SessionRecords) -> Self {
        let mut damage: Vec<String> =
            records.diagnostics.iter().map(|skipped| format!("skipped {skipped}")).collect();
        let replay = replay(records);
        if let Some(point) = replay.forked.as_ref().filter(|_| replay.inherits()) {
            damage.push(format!("what is inherited of session {} is not in it", point.from));
        }
        let items = replay.history().into_iter().map(|active| OwnItem::new(active.item)).collect();
        Self { items, is_array: false, damage }
    }

    fn lines(bytes: &[u8]) -> anyhow::Result<Self> {
        let (mut items, mut damage) = (Vec::new(), Vec::new());
        for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
            let mut rest = line;
            // Two records may be glued on one line.
            while !rest.trim_ascii_start().is_empty() {
                match next_item(rest) {
                    Ok(Some((item, after))) => {
                        items.push(item);
                        rest = after;
                    }
                    Ok(None) => break,
                    Err(error) => {
                        damage.push(format!("skipped the rest of line {}: {error}", index + 1));
                        break;
                    }
                }
            }
        }
        ensure!(
            !items.is_empty(),
            "no history: expected a JSON array of history items, JSON Lines of them, or the log of \
             a session{}",
            damage.first().map(|why| format!(" ({why})")).unwrap_or_default()
        );
        Ok(Self { items, is_array: false, damage })
    }

    fn write<'a>(&self, items: impl Iterator<Item = &'a OwnItem>) -> Vec<u8> {
        let (start, between, end) =
            if self.is_array { ("[", ",\n", "]\n") } else { ("", "\n", "\n") };
        let mut written = start.to_owned();
        for (index, item) in items.enumerate() {
            if index > 0 {
                written.push_str(between);
            }
            written.push_str(&item.json);
        }
        written.push_str(end);
        written.into_bytes()
    }
}

impl Source for OwnHistory {
    type Item = OwnItem;

    fn items(&self) -> &[OwnItem] {
        &self.items
    }

    fn damage(&self) -> Vec<String> {
        self.damage.clone()
    }

    fn to_summarize(&self, items: &[OwnItem]) -> Vec<u8> {
        let json: Vec<&str> = items.iter().map(|item| &*item.json).collect();
        format!("[{}]", json.join(",")).into_bytes()
    }

    fn with_items(&self, items: &[OwnItem]) -> Vec<u8> {
        self.write(items.iter())
    }

    fn compacted(&self, summary: &str, from: usize) -> anyhow::Result<Vec<u8>> {
        let summary = OwnItem::new(HistoryItem::Summary { text: summary.to_owned() });
        Ok(self.write([&summary].into_iter().chain(&self.items[from..])))
    }
}
