//! A history in a file, whatever its format.

use compaction::formats::{Document, FileItem};

/// A file that was read as a history, and how to write it again.
pub(super) trait Source: Send + Sync + 'static {
    /// Its items.
    type Item;

    /// The history.
    fn items(&self) -> &[Self::Item];

    /// What could not be read, one line each.
    fn damage(&self) -> Vec<String>;

    /// These items of it as one JSON array, for a summariser.
    fn to_summarize(&self, items: &[Self::Item]) -> Vec<u8>;

    /// The file with these items in the place of its own.
    fn with_items(&self, items: &[Self::Item]) -> Vec<u8>;

    /// The file with a summary in the place of what is before the item `from`.
    fn compacted(&self, summary: &str, from: usize) -> anyhow::Result<Vec<u8>>;
}

impl Source for Document {
    type Item = FileItem;

    fn items(&self) -> &[FileItem] {
        self.items()
    }

    fn damage(&self) -> Vec<String> {
        self.damage().iter().map(ToString::to_string).collect()
    }

    fn to_summarize(&self, items: &[FileItem]) -> Vec<u8> {
        self.messages(items)
    }

    fn with_items(&self, items: &[FileItem]) -> Vec<u8> {
        self.write(items)
    }

    fn compacted(&self, summary: &str, from: usize) -> anyhow::Result<Vec<u8>> {
        Ok(self.compacted(summary, from)?)
    }
}
