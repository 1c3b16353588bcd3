//! A document, pruned.

use std::collections::HashMap;
use std::sync::Mutex;

use artifacts::hash::ContentHasher;
use async_trait::async_trait;
use compaction::formats::{Document, FileItem, Format};
use compaction::{PruneOptions, PruneReport, RetainError, Retained, Retainer, prune};
use output_contract::Digest;
use tokio_util::sync::CancellationToken;

/// Outputs, kept in memory.
#[derive(Debug, Default)]
pub(super) struct Kept(pub(super) Mutex<HashMap<Digest, Vec<u8>>>);

#[async_trait]
impl Retainer for Kept {
    async fn stored(&self, digests: &[Digest]) -> Result<Vec<bool>, RetainError> {
        let kept = self.0.lock().unwrap();
        Ok(digests.iter().map(|digest| kept.contains_key(digest)).collect())
    }

    async fn retain(&self, parts: Vec<Vec<u8>>) -> Result<Vec<Retained>, RetainError> {
        let mut kept = self.0.lock().unwrap();
        let retain = |part: Vec<u8>| {
            let mut hasher = ContentHasher::new();
            hasher.update(&part);
            let digest = hasher.finish().facts.digest;
            let lines = part.split_inclusive(|&byte| byte == b'\n').count() as u64;
            kept.insert(digest, part);
            Retained { digest, lines }
        };
        Ok(parts.into_iter().map(retain).collect())
    }
}

/// Items with every output pruned, and what was done.
pub(super) fn prune_in(kept: &Kept, items: &[FileItem]) -> (Vec<FileItem>, PruneReport) {
    let (options, cancel) = (PruneOptions::default(), CancellationToken::new());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let pruned = runtime.block_on(prune(items, &options, kept, &cancel)).unwrap();
    (pruned.items, pruned.report)
}

pub(super) fn pruned_items(items: &[FileItem]) -> Vec<FileItem> {
    prune_in(&Kept::default(), items).0
}

/// The file with every output pruned.
pub(super) fn pruned(document: &Document) -> Vec<u8> {
    document.write(&pruned_items(document.items()))
}

pub(super) fn parse(format: Format, source: &[u8]) -> Document {
    Document::parse(format, source.to_vec()).unwrap()
}
