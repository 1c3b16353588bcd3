//! Real inputs that are kept outside of the project.

use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;

/// The variable that names the folder of the corpus.
pub const CORPUS_VARIABLE: &str = "OVERSPILL_CORPUS";

/// One file of the corpus. Several may have the same id.
#[derive(Debug, Clone, Deserialize)]
pub struct CorpusEntry {
    /// What the file is referred to by.
    pub id: String,
    /// Where it is, relative to the corpus.
    pub file: String,
    /// Its size, in bytes.
    pub bytes: u64,
    /// The SHA-256 of its bytes, in hex.
    pub sha256: String,
    /// What is odd about it.
    #[serde(default)]
    pub quirk: String,
    /// What is to be checked.
    #[serde(default)]
    pub check: String,
    /// Where it comes from, in a word.
    #[serde(default)]
    pub kind: String,
    #[serde(skip)]
    corpus: Utf8PathBuf,
}

impl CorpusEntry {
    /// Where the file is.
    pub fn path(&self) -> Utf8PathBuf {
        self.corpus.join(&self.file)
    }

    /// The file's bytes.
    ///
    /// # Panics
    /// Where it cannot be read: a corpus that is named is whole.
    pub fn read(&self) -> Vec<u8> {
        fs_err::read(self.path()).expect("the corpus has every file of its manifest")
    }
}

/// The files of the corpus, or, after saying so on standard error, `None` where
/// no corpus is named: then the test is skipped.
///
/// # Panics
/// Where a corpus is named and its manifest cannot be read.
pub fn corpus() -> Option<Vec<CorpusEntry>> {
    match std::env::var(CORPUS_VARIABLE) {
        Ok(folder) if !folder.is_empty() => Some(corpus_in(folder.as_str().into())),
        _ => {
            eprintln!("skipped: {CORPUS_VARIABLE} names no folder of real inputs");
            None
        }
    }
}

/// The files of the corpus in `folder`.
///
/// # Panics
/// Where its manifest cannot be read.
pub fn corpus_in(folder: &Utf8Path) -> Vec<CorpusEntry> {
    let manifest = fs_err::read(folder.join("MANIFEST.json")).expect("a corpus has a manifest");
    let mut entries: Vec<CorpusEntry> =
        serde_json::from_slice(&manifest).expect("the manifest is a list of files");
    for entry in &mut entries {
        folder.clone_into(&mut entry.corpus);
    }
    entries
}
