//! `overspill compact`: saved histories of every format, and a command that
//! summarises them.

use camino::Utf8PathBuf;
use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox};

/// The addresses in a text.
fn uris(text: &str) -> Vec<String> {
    let is_uri = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    let after = text.split("(filePath=\\\"artifact://").skip(1);
    let end = |rest: &str| rest.find(|c| !is_uri(c)).unwrap_or(rest.len());
    after.map(|rest| format!("artifact://{}", &rest[..end(rest)])).collect()
}

/// The report on the last line of standard error.
fn report(ran: &Ran) -> Value {
    serde_json::from_str(ran.stderr.lines().last().unwrap()).unwrap()
}

struct File {
    sandbox: Sandbox,
    path: Utf8PathBuf,
    text: String,
    format: &'static str,
}

impl File {
    fn new(format: &'static str, text: String) -> Self {
        let sandbox = Sandbox::new();
        let path = sandbox.work().join("history");
        fs_err::write(&path, &text).unwrap();
        Self { sandbox, path, text, format }
    }

    /// Runs it, and sees that the file stays as it is.
    fn compact(&self, options: &[&str]) -> Ran {
        let args = [&["compact", "--format", self.format], options, &[self.path.as_str()]].concat();
        let ran = self.sandbox.overspill(args);
        assert_eq!(fs_err::read_to_string(&self.path).unwrap(), self.text);
        ran
    }

    /// With a summariser that first keeps what it is asked, in `asked-N`.
    fn summarize(&self, options: &[&str], script: &str) -> Ran {
        let keep = "n=$(ls | grep -c asked-); cat > asked-$n; ";
        self.compact(&[options, &["--summarizer", &format!("{keep}{script}")]].concat())
    }

    fn asked(&self) -> Vec<Value> {
        let files = (0..).map(|n| self.sandbox.work().join(format!("asked-{n}")));
        let read = files.map_while(|path| fs_err::read(path).ok());
        read.map(|json| serde_json::from_slice(&json).unwrap()).collect()
    }
}

const LONG: usize = 400;

fn anthropic() -> File {
    let long = "a line of output\n".repeat(LONG);
    let messages = [
        json!({ "role": "user", "content": "list the files" }),
        json!({ "role": "assistant", "content": [
            { "type": "tool_use", "id": "t1", "name": "bash", "input": { "command": "ls" } },
            { "type": "tool_use", "id": "t2", "name": "read",
              "input": { "filePath": format!("artifact://{}", "0".repeat(64)) } },
        ] }),
        json!({ "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "t2", "content": "a page", "is_error": true },
            { "type": "tool_result", "tool_use_id": "t1", "content": long },
        ] }),
        json!({ "role": "assistant", "content": "done" }),
        json!({ "role": "user", "content": "thank you" }),
    ];
    let lines: Vec<String> = messages.iter().map(|message| format!("  {message}")).collect();
    File::new("anthropic", format!("[\n{}\n]\n", lines.join(" ,\n")))
}

fn openai() -> File {
    let long = "a line of output\n".repeat(LONG);
    let messages = json!([
        { "role": "user", "content": "list the files" },
        { "role": "assistant", "tool_calls": [{ "id": "t1", "type": "function",
          "function": { "name": "bash", "arguments": "{\"command\":\"ls\"}" } }] },
        { "role": "tool", "tool_call_id": "t1", "content": long },
        { "role": "user", "content": "thank you" },
    ]);
    File::new("openai", messages.to_string())
}

/// The log of a session with a few runs.
fn overspill() -> File {
    let sandbox = Sandbox::new();
    for script in ["seq 2000", "echo failed >&2; exit 3", "true"] {
        sandbox.run_json(&["--session", "s"], script);
    }
    let logs = fs_err::read_dir(sandbox.home().join("sessions")).unwrap();
    let logs: Vec<_> = logs.map(|entry| entry.unwrap().path()).collect();
    let log = logs.iter().find(|path| path.to_str().unwrap().contains(".jsonl")).unwrap();
    let path = Utf8PathBuf::try_from(log.clone()).unwrap();
    let text = fs_err::read_to_string(&path).unwrap();
    File { sandbox, path, text, format: "overspill" }
}

#[test]
fn the_first_trial_is_all_of_it() {
    for file in [anthropic(), openai()] {
        let ran = file.summarize(&["--keep", "1"], "echo all is well");
        assert_eq!((ran.code, report(&ran)["outcome"].as_str()), (Some(0), Some("compacted")));
        let new: Vec<Value> = serde_json::from_slice(&ran.stdout).unwrap();
        assert_eq!(new.len(), 2, "{new:?}");
        assert!(new[0].to_string().contains("all is well"), "{new:?}");
        let old: Vec<Value> = serde_json::from_str(&file.text).unwrap();
        assert_eq!(new[1], old[old.len() - 1]);
        assert_eq!(file.asked(), [Value::from(old)]);
        assert_eq!(report(&ran)["pruned"], Value::Null);
    }
}

#[test]
fn what_is_too_long_is_tried_once_more_by_reference() {
    for (file, references, omitted) in [(anthropic(), 1, 1), (openai(), 1, 0)] {
        let script = "[ $n -gt 0 ] || exit 75; echo all is well";
        let ran = file.summarize(&["--session", "kept"], script);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let report = report(&ran);
        assert_eq!(report["pruned"]["references"], references, "{report}");
        assert_eq!(report["pruned"]["omitted"], omitted, "{report}");
        let [whole, pruned] = file.asked().try_into().unwrap();
        assert_eq!(whole, serde_json::from_str::<Value>(&file.text).unwrap());
        let pruned = pruned.to_string();
        assert!(!pruned.contains("a line of output") && pruned.contains("ls"), "{pruned}");
        let [uri] = uris(&pruned).try_into().unwrap();
        let output = "a line of output\n".repeat(LONG);
        assert_eq!(file.sandbox.read_all(&uri), output.as_bytes());
        // It is kept for the session, and goes with it.
        let gc = ["gc", "--grace", "0s", "--json"];
        assert_eq!(file.sandbox.overspill(gc).json()["removed"], 0);
        let stat = file.sandbox.overspill(["stat"]);
        assert_eq!(stat.code, Some(0), "{}", stat.stderr);
    }
}

#[test]
fn a_history_that_is_not_summarised_stays_as_it_is() {
    for (script, code, why) in [
        ("exit 75", 75, "even the pruned history exceeds the context"),
        ("echo no >&2; exit 3", 1, "the command ended with exit status: 3"),
        ("true", 1, "the summary is empty"),
        ("echo", 1, "the summary is empty"),
        (r"printf '\377'", 1, "the summary is no text"),
        ("seq 99999", 1, "no progress"),
    ] {
        let file = anthropic();
        let ran = file.summarize(&[], script);
        assert_eq!(ran.code, Some(code), "{script}: {}", ran.stderr);
        assert!(ran.stderr.contains(why), "{script}: {}", ran.stderr);
        assert!(ran.stdout.is_empty(), "{script}");
        assert_eq!(file.asked().len(), if code == 75 { 2 } else { 1 }, "{script}");
    }
    let file = anthropic();
    let ran = file.summarize(&["--keep", "2"], "echo unused");
    assert_eq!((ran.code, file.asked().len()), (Some(1), 0), "{}", ran.stderr);
    assert!(ran.stderr.contains("nothing to compact"), "{}", ran.stderr);
}

#[test]
fn the_private_copy_can_be_seen() {
    let file = anthropic();
    let ran = file.compact(&["--prune-only"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let copy = ran.text();
    let marker = "[artifact read output omitted for compaction]";
    assert!(copy.contains(marker) && copy.contains("\"is_error\":true"), "{copy}");
    // The rest of the file is as it was, white space and all.
    let lines: Vec<(&str, &str)> = file.text.lines().zip(copy.lines()).collect();
    let changed: Vec<usize> =
        (0..lines.len()).filter(|&index| lines[index].0 != lines[index].1).collect();
    assert_eq!(changed, [3]);
    // And so is its copy.
    fs_err::write(&file.path, &copy).unwrap();
    let args = ["compact", "--format", "anthropic", "--prune-only", file.path.as_str()];
    assert_eq!(file.sandbox.overspill(args).text(), copy);
}

#[test]
fn a_session_of_our_own_by_its_log() {
    let file = overspill();
    let ran = file.compact(&["--prune-only"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let items: Vec<Value> =
        ran.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = items.iter().map(|item| item["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["tool_call", "tool_result"].repeat(3));
    let text = |index: usize| items[index]["content"][0]["text"].as_str().unwrap();
    assert!(text(1).contains("stdout 8893 bytes, 2000 lines, read(filePath="), "{}", text(1));
    assert!(text(3).ends_with("; exit code: 3]"), "{}", text(3));
    assert_eq!(text(5), "[stdout]\n\n[stderr]", "nothing to refer to");
    let uris = uris(&ran.text());
    assert_eq!(uris.len(), 2, "{uris:?}");
    let whole: String = (1..=2000).map(|n| format!("{n}\n")).collect();
    assert_eq!(file.sandbox.read_all(&uris[0]), whole.as_bytes());
    assert_eq!(file.sandbox.read_all(&uris[1]), b"failed\n");

    // Its copy is a history too, as lines and as an array, and is kept to the letter.
    let lines = ran.text();
    let array = format!("[{}]", lines.trim_end().replace('\n', " , "));
    for text in [lines, array] {
        let path = file.sandbox.work().join("items");
        fs_err::write(&path, &text).unwrap();
        let again = file.sandbox.overspill([
            "compact",
            "--format",
            "overspill",
            "--summarizer",
            "echo three runs",
            "--keep",
            "0",
            path.as_str(),
        ]);
        assert_eq!(again.code, Some(0), "{}", again.stderr);
        assert!(again.text().contains(r#"{"type":"summary","text":"three runs\n"}"#));
    }
}

#[test]
fn what_a_summariser_leaves_behind_is_not_waited_for() {
    let file = anthropic();
    let ran = file.compact(&[
        "--keep",
        "0",
        "--summarizer",
        "echo short; sleep 1000 2> /dev/null & echo $! > left",
    ]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.text().contains("short"), "{}", ran.text());
    let left = fs_err::read_to_string(file.sandbox.work().join("left")).unwrap();
    file.sandbox.shell(&format!("kill -9 {left}"));
}

#[test]
fn a_summariser_ends_with_the_program_and_its_summary_with_the_history() {
    let file = anthropic();
    let line = format!(
        "overspill compact --format anthropic --keep 0 \
         --summarizer 'echo $$ > pid; sleep 1000; true' {} & \
         until [ -s pid ]; do :; done; kill -TERM $!; wait $!; echo $?; \
         while kill -0 $(cat pid) 2> /dev/null; do :; done",
        file.path
    );
    let ran = file.sandbox.shell(&line);
    assert_eq!(ran.text(), "1\n", "{}", ran.stderr);
    assert!(ran.stderr.contains("cancelled"), "{}", ran.stderr);

    // More than a pipe holds is never read, and more than that is written.
    let text = file.text.replace("a line of output", &"a line of output".repeat(40));
    let file = File::new("anthropic", text);
    let endless = file.compact(&["--keep", "0", "--summarizer", "yes"]);
    assert_eq!(endless.code, Some(1));
    assert!(endless.stderr.contains("no progress"), "{}", endless.stderr);
}

#[test]
fn what_is_no_history_is_refused() {
    for (format, text) in [
        ("overspill", "not JSON at all\n"),
        ("overspill", "[{\"type\":\"message\"}]"),
        ("overspill", ""),
        ("anthropic", "{\"a\":1}"),
        ("openai", ""),
    ] {
        let file = File::new(format, text.to_owned());
        let ran = file.compact(&["--prune-only"]);
        assert_eq!(ran.code, Some(1), "{format} {text:?}");
        assert!(ran.stdout.is_empty() && ran.stderr.contains("history"), "{}", ran.stderr);
    }
}
