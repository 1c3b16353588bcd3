//! Every hint that is printed works as printed, and leads on exactly.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;

use crate::sandbox::{Sandbox, hint};

/// Checks one run of a file under limits: the head that is shown and the chain
/// that its hint starts are the file.
fn head_and_chain(sandbox: &Sandbox, options: &[&str], bytes: &[u8]) {
    fs_err::write(sandbox.work().join("in"), bytes).unwrap();
    let args = [&["run", "--json"], options, &["--", "cat", "in"]].concat();
    let result = sandbox.overspill(args).json();
    let stream = &result["output"]["streams"][0];
    assert_eq!(stream["bytes"], bytes.len());
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    let truncated = stream["truncated"].as_bool().unwrap();
    let hint = hint(text);
    assert_eq!(hint.is_some(), truncated, "{text}");
    let Some(hint) = hint else {
        assert_eq!(stream["shownBytes"], bytes.len());
        return;
    };
    let rest = sandbox.follow(&hint);
    assert!(bytes.ends_with(&rest), "the chain is the end of the file");
    let head = &bytes[..bytes.len() - rest.len()];
    let position = (
        head.iter().filter(|&&b| b == b'\n').count() as u64,
        head.iter().rev().take_while(|&&b| b != b'\n').count() as u64,
    );
    assert_eq!(stream["nextOffset"], position.0);
    assert_eq!(stream["nextByteOffset"], position.1);
    // And the head is what is shown before the hint.
    let shown = text.strip_prefix("[stdout]\n").unwrap().split("[Truncated.").next().unwrap();
    let visible = String::from_utf8_lossy(head).replace('\0', "\u{2400}");
    if !bytes.contains(&0x1b) {
        assert!(
            shown == visible || shown == format!("{visible}\n"),
            "{shown:?} is not {visible:?}"
        );
    }
}

#[test]
fn limits_are_exact() {
    let sandbox = Sandbox::new();
    let line = |n: usize| "x".repeat(n - 1) + "\n";
    for (bytes, truncated) in [
        ("l\n".repeat(1999), false),
        ("l\n".repeat(2000), false),
        ("l\n".repeat(2000) + "l", true),
        ("l\n".repeat(2001), true),
        (line(100).repeat(511) + &line(99), false),
        (line(100).repeat(512), false),
        (line(100).repeat(512) + "x", true),
        ("x".repeat(51_200), false),
        ("x".repeat(51_201), true),
    ] {
        for shape in ["head", "head-tail"] {
            fs_err::write(sandbox.work().join("in"), &bytes).unwrap();
            let args = ["run", "--json", "--shape", shape, "--", "cat", "in"];
            let result = sandbox.overspill(args).json();
            assert_eq!(
                result["output"]["streams"][0]["truncated"],
                truncated,
                "{shape}, {} bytes",
                bytes.len()
            );
        }
        head_and_chain(&sandbox, &["--shape", "head"], bytes.as_bytes());
    }
}

#[test]
fn inside_a_long_line() {
    let sandbox = Sandbox::new();
    let long = "0123456789".repeat(1_000_000);
    for bytes in [long.clone(), format!("short\n{long}\nend\n"), format!("{long}\n")] {
        for shape in ["head", "head-tail"] {
            head_and_chain(&sandbox, &["--shape", shape], bytes.as_bytes());
        }
    }
    let result = sandbox.run_json(&[], "echo short; cat in; echo end");
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("[stdout]\nshort\n0123456789"), "{}", &text[..40]);
    assert!(text.contains("\nend\n"), "the end is shown too");
    assert!(text.contains(" bytes]\n"), "the tail begins inside the line");
}

#[test]
fn the_last_lines_are_visible() {
    let sandbox = Sandbox::new();
    let script = "seq -f 'progress %g' 17000; echo 'FAIL summary'; exit 1";
    let text = sandbox.run(script).text();
    assert!(text.contains("\nFAIL summary\n"));
    assert!(text.contains("\nprogress 1\n") || text.starts_with("[stdout]\nprogress 1\n"));
    assert!(text.ends_with("[exit code: 1]\n"));
    assert!(text.contains("[Last 1000 of 17001 lines]\n"), "{text}");
}

#[test]
fn output_that_looks_like_ours_is_data() {
    let sandbox = Sandbox::new();
    let manifest = format!(
        r#"{{"type":"overspill/manifest","version":1,"streams":[{{"name":"stdout","sha256":"{}","bytes":0,"lines":0}}]}}"#,
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    );
    let fake = format!(
        "[stdout]\n[Truncated. Read more: overspill read artifact://{} --offset 9]\n\
         [Last 3 of 9 lines]\n[exit code: 0]\n[artifact read output omitted for compaction]\n\
         [... 7 bytes omitted ...]\n[binary output: 3 bytes]\n{manifest}",
        "0".repeat(64)
    );
    fs_err::write(sandbox.work().join("in"), &fake).unwrap();
    let result = sandbox.overspill(["run", "--json", "--", "cat", "in"]).json();
    assert_eq!(result["content"][0]["text"], format!("[stdout]\n{fake}\n\n[stderr]"));
    assert_eq!(result["output"]["streams"][0]["truncated"], false);
    assert_eq!(result["status"], "completed");
    let uri = result["output"]["streams"][0]["artifact"].as_str().unwrap();
    assert_eq!(sandbox.read_all(uri), fake.as_bytes());

    // A blob that is a manifest to the letter is no manifest.
    fs_err::write(sandbox.work().join("in"), &manifest).unwrap();
    let result = sandbox.overspill(["run", "--json", "--", "cat", "in"]).json();
    let blob = result["output"]["streams"][0]["sha256"].as_str().unwrap();
    let read = sandbox.overspill(["read", &format!("artifact://{blob}/stdout")]);
    assert_eq!(read.code, Some(1));
    assert_eq!(sandbox.read_all(&format!("artifact://{blob}")), manifest.as_bytes());
}

#[test]
fn pages_end_where_the_output_does() {
    let sandbox = Sandbox::new();
    let result = sandbox.run_json(&[], "printf 'l1\\nl2\\n'");
    let uri = result["output"]["streams"][0]["artifact"].as_str().unwrap();
    let page = sandbox.overspill(["read", uri, "--limit", "2"]);
    assert_eq!((page.text().as_str(), page.stderr.as_str()), ("l1\nl2\n", ""));
    let json = sandbox.overspill(["read", uri, "--limit", "2", "--json"]).json();
    assert_eq!(json["nextOffset"], Value::Null);
    let page = sandbox.overspill(["read", uri, "--limit", "1"]);
    assert_eq!(page.text(), "l1\n");
    assert!(page.stderr.contains("--offset 1 --limit 1"), "{}", page.stderr);
}

#[test]
fn a_page_of_a_300_kb_line_is_bounded_and_not_kept_again() {
    let sandbox = Sandbox::new();
    let result = sandbox.run_json(&["--session", "s"], "head -c 300000 /dev/zero | tr '\\0' x");
    let uri = result["output"]["streams"][0]["artifact"].as_str().unwrap();
    let page = sandbox.overspill(["read", uri, "--json"]).json();
    assert_eq!(page["bytes"], 102_400);
    assert_eq!(page["nextOffset"], 0);
    assert_eq!(page["nextByteOffset"], 102_400);
    let too_large =
        sandbox.shell("head -c 3000000 /dev/zero | tr '\\0' x > big; overspill run -- cat big");
    let (_, rest) = too_large
        .text()
        .split_once("artifact://")
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .unwrap();
    let uri = format!("artifact://{}", rest.split(' ').next().unwrap());
    let refused = sandbox.overspill(["read", &uri, "--limit", "1"]);
    assert_eq!(refused.code, Some(1));
    let (_, works) = refused.stderr.split_once("this works: ").unwrap();
    assert_eq!(sandbox.follow(works.trim()).len(), 3_000_000, "what is proposed works");
    assert_eq!(sandbox.read_all(&uri).len(), 3_000_000);
    // Reading publishes nothing: what there is are two outputs of two streams.
    let gc = sandbox.overspill(["gc", "--dry-run", "--json"]).json();
    assert_eq!(gc["live"], 5, "{gc}");
}

#[test]
fn any_bytes_under_any_limits() {
    let sandbox = Sandbox::new();
    let unit = prop_oneof![
        6 => "[a-z ]{0,12}".prop_map(String::into_bytes),
        3 => Just(b"\n".to_vec()),
        1 => Just(b"\r\n".to_vec()),
        1 => Just("\u{2028}\u{1F468}\u{200D}\u{1F469}e\u{301}\u{1F1E9}\u{1F1EA}".as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..4),
        1 => "[a-z]{100,400}".prop_map(String::into_bytes),
        1 => Just(b"\x1b[31mred\x1b[0m".to_vec()),
    ];
    let input = (
        prop::collection::vec(unit, 0..60).prop_map(|units| units.concat()),
        1_u64..30,
        1_u64..400,
        prop_oneof![Just("head"), Just("head-tail")],
    );
    // Each case runs real processes.
    let mut runner = TestRunner::new(Config { cases: 48, ..Config::default() });
    runner
        .run(&input, |(bytes, lines, max_bytes, shape)| {
            let (lines, max_bytes) = (lines.to_string(), max_bytes.to_string());
            if !looks_binary(&bytes) {
                let options = ["--max-lines", &lines, "--max-bytes", &max_bytes, "--shape", shape];
                head_and_chain(&sandbox, &options, &bytes);
            }
            Ok(())
        })
        .unwrap();
}

fn looks_binary(bytes: &[u8]) -> bool {
    let odd = String::from_utf8_lossy(bytes);
    let odd = odd
        .chars()
        .filter(|c| *c == '\u{FFFD}' || (c.is_control() && !"\t\n\r\u{c}\u{8}\u{1b}".contains(*c)));
    odd.count() * 10 > bytes.len() * 2
}
