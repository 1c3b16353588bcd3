//! Raw outputs of real programs, from the folder that `OVERSPILL_CORPUS` names.

use camino::Utf8PathBuf;
use serde_json::Value;

use crate::sandbox::{Sandbox, hint};

/// The folder, or `None` (with a message) where there is none.
fn corpus() -> Option<Utf8PathBuf> {
    let folder = std::env::var("OVERSPILL_CORPUS").ok();
    if folder.is_none() {
        eprintln!("skipped: OVERSPILL_CORPUS is not set");
    }
    folder.map(Utf8PathBuf::from)
}

struct Shown {
    result: Value,
    text: String,
    bytes: Vec<u8>,
}

impl Shown {
    fn stream(&self) -> &Value {
        &self.result["output"]["streams"][0]
    }

    fn lines(&self) -> Vec<&str> {
        self.text.lines().collect()
    }
}

/// Runs `cat` on a file of the corpus, and checks what holds for every one.
fn show(sandbox: &Sandbox, corpus: &Utf8PathBuf, file: &str) -> Shown {
    let path = corpus.join(file);
    let bytes = fs_err::read(&path).unwrap();
    let result = sandbox.overspill(["run", "--json", "--", "cat", path.as_str()]).json();
    let text = result["content"][0]["text"].as_str().unwrap().to_owned();
    let shown = Shown { result, text, bytes };
    let stream = shown.stream();
    assert_eq!(stream["bytes"], shown.bytes.len(), "{file}");
    let lines = shown.bytes.split_inclusive(|&b| b == b'\n').count();
    assert_eq!(stream["lines"], lines, "{file}: only a newline ends a line");
    assert_eq!(sandbox.read_all(stream["artifact"].as_str().unwrap()), shown.bytes, "{file}");
    assert!(!shown.text.contains('\u{1b}'), "{file}: an escape is shown");
    match hint(&shown.text) {
        Some(hint) => assert!(shown.bytes.ends_with(&sandbox.follow(&hint)), "{file}"),
        None => assert_eq!(stream["truncated"], stream["binary"] == true, "{file}"),
    }
    shown
}

#[test]
fn colours_are_dropped_whole_and_the_end_is_shown() {
    let Some(corpus) = corpus() else { return };
    let sandbox = Sandbox::new();
    let npm = show(&sandbox, &corpus, "E02.raw");
    // Half of a sequence would leave its parameters behind.
    assert!(npm.lines().iter().all(|line| !line.starts_with("[0m") && !line.ends_with("\u{1b}[")));
    let end = String::from_utf8_lossy(&npm.bytes);
    let last = end.trim_end().lines().next_back().unwrap();
    // What is between two escapes stands in the text as it is.
    let plain = last.split('\u{1b}').filter_map(|part| part.split_once('m'));
    let longest = plain.map(|(_, text)| text.trim()).max_by_key(|text| text.len()).unwrap();
    let tail = npm.lines().split_off(npm.lines().len().saturating_sub(10)).join("\n");
    assert!(tail.contains(longest), "the end of the log is shown: {longest:?} in {tail}");
    let maven = show(&sandbox, &corpus, "E26.txt");
    assert_eq!(maven.stream()["truncated"], false);
    assert!(maven.text.contains("[INFO]") || maven.text.contains("[ERROR]"));
}

#[test]
fn carriage_returns_and_long_lines() {
    let Some(corpus) = corpus() else { return };
    let sandbox = Sandbox::new();
    show(&sandbox, &corpus, "E03.raw");
    let huge = show(&sandbox, &corpus, "E04.raw");
    assert_eq!(huge.stream()["truncated"], false, "within the limits as it is");
    let path = corpus.join("E04.raw");
    let options = ["run", "--json", "--max-bytes", "4000", "--", "cat", path.as_str()];
    let cut = sandbox.overspill(options).json();
    let text = cut["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("--byte-offset "), "the cut is inside the long line");
    assert!(huge.bytes.ends_with(&sandbox.follow(&hint(text).unwrap())));
    let maven = show(&sandbox, &corpus, "E06.txt");
    assert_eq!(maven.stream()["truncated"], true);
}

#[test]
fn a_log_with_nuls_is_text() {
    let Some(corpus) = corpus() else { return };
    let sandbox = Sandbox::new();
    let log = show(&sandbox, &corpus, "E09.log");
    assert_eq!(log.stream().get("binary"), None);
    assert!(!log.text.contains("[binary output"), "{}", &log.text[..200]);
    assert!(!log.text.contains('\0'));
}

#[test]
fn summaries_at_the_end_are_visible() {
    let Some(corpus) = corpus() else { return };
    let sandbox = Sandbox::new();
    for file in ["E11.log", "E20.log"] {
        let log = show(&sandbox, &corpus, file);
        let text = String::from_utf8_lossy(&log.bytes).into_owned();
        let last = text.lines().rfind(|line| !line.trim().is_empty()).unwrap();
        let plain = last.split('\u{1b}').next().unwrap();
        assert!(log.text.contains(plain), "{file}: {last}");
    }
}

#[test]
fn encodings_are_shown_honestly() {
    let Some(corpus) = corpus() else { return };
    let sandbox = Sandbox::new();
    for (file, kind) in [
        ("E12/bat-test_UTF-16LE.txt", "utf-16le"),
        ("E12/bat-test_UTF-16BE-complicated.txt", "utf-16be"),
        ("E12/pCobra-requirements.txt", "utf-16le"),
    ] {
        let shown = show(&sandbox, &corpus, file);
        let expected = format!("[binary output: {} bytes, {kind}", shown.bytes.len());
        assert!(shown.text.contains(&expected), "{file}: {}", shown.text);
    }
    for file in [
        "E12/bat-control_characters.txt",
        "E12/bat-nonprintable.txt",
        "E12/bat-test_BOM.txt",
        "E12/pCobra-pytest_output.txt",
    ] {
        show(&sandbox, &corpus, file);
    }
    let french = show(&sandbox, &corpus, "E13/sample-french-1.txt");
    assert!(french.text.contains('\u{FFFD}'), "bytes that are no UTF-8 are marked");
    show(&sandbox, &corpus, "E13/sample-polish.txt");
}

#[test]
fn structured_text_is_not_touched() {
    let Some(corpus) = corpus() else { return };
    let sandbox = Sandbox::new();
    for file in [
        "E18/bin_fragment_delta_modify_large.patch",
        "E18/file_bin_modify.patch",
        "E19.json",
        "E23/theme.cast",
        "E23/resizing.cast",
        "E23/markers.cast",
    ] {
        let shown = show(&sandbox, &corpus, file);
        let exact = String::from_utf8(shown.bytes.clone()).unwrap();
        assert!(shown.text.starts_with(&format!("[stdout]\n{exact}")), "{file}");
        assert_eq!(shown.stream()["truncated"], false, "{file}");
    }
    // JSON that is cut says so.
    let path = corpus.join("E19.json");
    let options = ["run", "--json", "--max-bytes", "1000", "--", "cat", path.as_str()];
    let cut = sandbox.overspill(options).json();
    assert_eq!(cut["output"]["streams"][0]["truncated"], true);
    assert!(cut["content"][0]["text"].as_str().unwrap().contains("[Truncated. Read more: "));
}
