//! Every reference that this product writes is a call of `read`, or a command
//! line of it, with a public address. This looks at what renders them, and at
//! what all tests and documents expect of that.

use camino::{Utf8Path, Utf8PathBuf};

/// How lines of ours begin that say where something is read.
const READ_MORE: &str = "Truncated. Read more: ";
const OMITTED: &str = "[tool output omitted for compaction: ";

fn files(directory: &Utf8Path, found: &mut Vec<Utf8PathBuf>) {
    for entry in directory.read_dir_utf8().unwrap() {
        let path = entry.unwrap().into_path();
        let name = path.file_name().unwrap_or_default();
        if path.is_dir() && !name.starts_with('.') && name != "target" && name != "node_modules" {
            files(&path, found);
        } else if ["rs", "snap", "md", "ts", "json", "jsonl"]
            .contains(&path.extension().unwrap_or_default())
        {
            found.push(path);
        }
    }
}

/// The text of every such line, from after its beginning on, with where it is.
fn lines_of_ours(beginning: &str) -> Vec<(String, String)> {
    let root = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut paths = Vec::new();
    files(root, &mut paths);
    let mut found = Vec::new();
    for path in paths.iter().filter(|path| path.file_name() != Some("references.rs")) {
        let text = fs_err::read_to_string(path).unwrap();
        for (index, line) in text.lines().enumerate() {
            let plain = line.replace(['\\'], "");
            let place = format!("{}:{}", path.strip_prefix(root).unwrap(), index + 1);
            for rest in plain.split(beginning).skip(1) {
                found.push((place.clone(), rest.to_owned()));
            }
        }
    }
    found
}

/// `NAME(filePath="artifact://…`, or the template of it.
fn is_call(text: &str) -> bool {
    let Some((name, rest)) = text.split_once("(filePath=\"") else { return false };
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_{}".contains(c);
    !name.is_empty() && name.chars().all(is_name) && is_address(rest)
}

/// `PROGRAM read artifact://…`, or the template of it.
fn is_command(text: &str) -> bool {
    let Some((program, rest)) = text.split_once(" read ") else { return false };
    !program.contains(char::is_whitespace) && is_address(rest)
}

fn is_address(text: &str) -> bool {
    (text.starts_with("artifact://") && !text.starts_with("artifact://sha256/"))
        || text.starts_with("{uri}")
}

#[test]
fn every_hint_is_a_call_or_a_command_line() {
    let found = lines_of_ours(READ_MORE);
    assert!(found.len() > 20, "{}", found.len());
    for (place, text) in found {
        // The end of a literal that a test looks for.
        let is_beginning_alone = text.starts_with('"');
        let forged = text.starts_with("read(filePath=\"x\")");
        assert!(
            is_beginning_alone || forged || is_call(&text) || is_command(&text),
            "{place}: {text}"
        );
    }
}

#[test]
fn every_reference_of_compaction_is_a_call() {
    let found = lines_of_ours(OMITTED);
    assert!(found.len() > 10, "{}", found.len());
    for (place, text) in found {
        for (before, _) in text.match_indices("artifact:").map(|(at, _)| text.split_at(at)) {
            assert!(before.ends_with("(filePath=\""), "{place}: {text}");
        }
    }
}

#[test]
fn nothing_offers_the_reader_of_old() {
    let root = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut paths = Vec::new();
    for krate in
        ["output-retention", "tool-read", "tool-runtime", "tool-bash", "overspill", "compaction"]
    {
        files(&root.join("crates").join(krate).join("src"), &mut paths);
    }
    for path in paths {
        let text = fs_err::read_to_string(&path).unwrap();
        assert!(!text.contains("read_tool_result"), "{path}");
    }
}
