//! A document, pruned.

use std::collections::HashMap;

use compaction::formats::{Document, FileItem, Format};
use compaction::{Item as _, ItemView, NewOutput};
use output_retention::{ARTIFACT_READ_OMITTED, Place, Reference, ReferencePart, is_pruned_output};

/// The file with every output pruned.
pub(super) fn pruned(document: &Document) -> Vec<u8> {
    document.write(&prune(document.items()))
}

pub(super) fn parse(format: Format, source: &[u8]) -> Document {
    Document::parse(format, source.to_vec()).unwrap()
}

/// STUB
pub(super) fn prune(items: &[FileItem]) -> Vec<FileItem> {
    let mut calls: HashMap<String, Vec<bool>> = HashMap::new();
    for item in items {
        if let ItemView::Call(call) = item.view() {
            let reads = call.tool == "read" && call.arguments.read_an_artifact();
            calls.entry(call.id.unwrap_or_default().to_owned()).or_default().push(reads);
        }
    }
    items
        .iter()
        .map(|item| {
            let ItemView::Result(result) = item.view() else { return item.clone() };
            if result.output.text.is_some_and(is_pruned_output) {
                return item.clone();
            }
            if calls.get(result.call.unwrap_or_default()).is_some_and(|calls| calls[0]) {
                return item.with_output(NewOutput::Omitted(ARTIFACT_READ_OMITTED));
            }
            if result.output.inline.is_empty() {
                return item.clone();
            }
            let part = ReferencePart { label: None, bytes: 7, lines: None, place: Place::NotKept };
            let line = Reference { parts: vec![part], ended: result.ended }.line("read");
            item.with_output(NewOutput::Reference(&line))
        })
        .collect()
}
