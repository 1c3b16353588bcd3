//! Finding real inputs.

use artifacts::hash::digest_of;
use camino::Utf8Path;
use testkit::{CORPUS_VARIABLE, corpus, corpus_in};

#[test]
fn a_manifest_names_the_files() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = Utf8Path::from_path(scratch.path()).unwrap();
    let manifest = r#"[{"id":"X1","file":"x/one.log","bytes":3,"sha256":"00","quirk":"short",
        "check":"reads","kind":"blob","path":["a","b"],"note":""},
        {"id":"X1","file":"two","bytes":0,"sha256":"00"}]"#;
    fs_err::write(folder.join("MANIFEST.json"), manifest).unwrap();
    fs_err::create_dir(folder.join("x")).unwrap();
    fs_err::write(folder.join("x/one.log"), "abc").unwrap();

    let entries = corpus_in(folder);
    assert_eq!(entries.len(), 2);
    assert_eq!((entries[0].check.as_str(), entries[0].read().as_slice()), ("reads", &b"abc"[..]));
    assert_eq!(entries[1].check, "");
}

#[test]
fn the_corpus_of_this_machine_is_whole() {
    let Some(entries) = corpus() else {
        assert!(std::env::var(CORPUS_VARIABLE).unwrap_or_default().is_empty());
        return;
    };
    assert!(!entries.is_empty());
    for entry in entries {
        let bytes = entry.read();
        assert_eq!(bytes.len() as u64, entry.bytes, "{}", entry.file);
        assert_eq!(digest_of(&bytes).to_string(), entry.sha256, "{}", entry.file);
    }
}
