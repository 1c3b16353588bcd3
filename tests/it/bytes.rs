//! Bytes: what a command writes is what is stored.

use std::process::Stdio;

use serde_json::Value;

use crate::sandbox::{Sandbox, ran};

fn stdout_uri(result: &Value) -> &str {
    result["output"]["streams"][0]["artifact"].as_str().unwrap()
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

/// The digest of stdout in the manifest, as the program prints it.
fn digest_in_manifest(sandbox: &Sandbox, result: &Value) -> String {
    let manifest = result["output"]["manifest"].as_str().unwrap();
    let json = sandbox.read_all(&format!("artifact://{manifest}"));
    let manifest: Value = serde_json::from_slice(&json).unwrap();
    manifest["streams"][0]["sha256"].as_str().unwrap().to_owned()
}

fn sha256sum(sandbox: &Sandbox, script: &str) -> String {
    let summed = sandbox.shell(&format!("{script} | sha256sum"));
    summed.text().split(' ').next().unwrap().to_owned()
}

#[test]
fn the_digest_is_that_of_sha256sum() {
    let sandbox = Sandbox::new();
    for script in [
        "seq 100000",
        "printf ''",
        "printf 'one\\ntwo \\xff\\xfe bad\\nthree\\n'",
        "head -c 3000000 /dev/urandom > random; cat random",
    ] {
        let result = sandbox.run_json(&[], script);
        let script = script.rsplit("; ").next().unwrap();
        assert_eq!(digest_in_manifest(&sandbox, &result), sha256sum(&sandbox, script), "{script}");
    }
}

#[test]
fn a_gigabyte_is_stored_exactly() {
    let sandbox = Sandbox::new();
    sandbox.configure(
        "[store]\ndurability = \"fast\"\n[capture]\nmax_stream_bytes = 2000000000\nmax_call_bytes = 2000000000\n",
    );
    // A block that no boundary of ours divides, repeated to one GiB.
    let script = "yes \"$(seq -s ' ' 1 997)\" | head -c 1073741824";
    let result = sandbox.run_json(&[], script);
    assert_eq!(result["output"]["streams"][0]["bytes"], 1_073_741_824_u64);
    assert_eq!(digest_in_manifest(&sandbox, &result), sha256sum(&sandbox, script));
    let page = sandbox.shell(&format!(
        "overspill read {} --offset 200000 --limit 1 | sha256sum",
        stdout_uri(&result)
    ));
    assert_eq!(page.text(), sandbox.shell("seq -s ' ' 1 997 | sha256sum").text());
}

#[test]
fn bad_utf8_is_exact_and_later_lines_are_visible() {
    let sandbox = Sandbox::new();
    let result = sandbox.run_json(&[], "printf 'one\\ntwo \\xff\\xfe bad\\nthree\\n'; exit 3");
    assert_eq!(result["output"]["streams"][0]["lines"], 3);
    assert_eq!(
        text(&result),
        "[stdout]\none\ntwo \u{FFFD}\u{FFFD} bad\nthree\n\n[stderr]\n[exit code: 3]"
    );
    assert_eq!(sandbox.read_all(stdout_uri(&result)), b"one\ntwo \xff\xfe bad\nthree\n");
}

#[test]
fn a_tarball_is_summarised_in_one_line() {
    let sandbox = Sandbox::new();
    let result = sandbox.run_json(&[], "seq 1 50000 > n; tar -cz n > a.tar.gz; cat a.tar.gz");
    let bytes = fs_err::read(sandbox.work().join("a.tar.gz")).unwrap();
    let uri = stdout_uri(&result);
    assert_eq!(
        text(&result),
        format!("[stdout]\n[binary output: {} bytes, gzip, {uri}]\n\n[stderr]", bytes.len())
    );
    assert_eq!(sandbox.read_all(uri), bytes);
}

#[test]
fn characters_cut_by_writes_and_pages_stay_whole() {
    let sandbox = Sandbox::new();
    let writer = "import os,sys\n\
        data=('\u{4f60}'*50000).encode()\n\
        size=int(sys.argv[1])\n\
        for i in range(0,len(data),size): os.write(1,data[i:i+size])\n";
    fs_err::write(sandbox.work().join("writer.py"), writer).unwrap();
    let mut digests = Vec::new();
    for size in [1, 2, 3, 4095, 4096, 65536] {
        let result = sandbox.run_json(&[], &format!("python3 writer.py {size}"));
        assert!(!text(&result).contains('\u{FFFD}'), "writes of {size}");
        digests.push(digest_in_manifest(&sandbox, &result));
        let uri = stdout_uri(&result);
        let mut line = format!("overspill read {uri}");
        loop {
            let page = sandbox.shell(&line);
            assert!(!page.text().contains('\u{FFFD}'));
            match crate::sandbox::continuation(&page.stderr) {
                Some(next) => line = next,
                None => break,
            }
        }
    }
    digests.dedup();
    assert_eq!(digests.len(), 1);
}

#[test]
fn a_character_split_over_writes_with_a_line_on_stderr_between() {
    let sandbox = Sandbox::new();
    let script = "printf 'caf\\xc3'; echo between >&2; printf '\\xa9\\n'";
    let result = sandbox.run_json(&[], script);
    assert_eq!(text(&result), "[stdout]\ncaf\u{e9}\n\n[stderr]\nbetween\n");
    assert_eq!(sandbox.read_all(stdout_uri(&result)), "caf\u{e9}\n".as_bytes());
}

#[test]
fn one_line_rule_everywhere() {
    let sandbox = Sandbox::new();
    let cases: [(&str, &[u8], u64); 10] = [
        ("", b"", 0),
        ("a", b"a", 1),
        ("a\\n", b"a\n", 1),
        ("\\n", b"\n", 1),
        ("\\n\\n\\n", b"\n\n\n", 3),
        ("a\\r\\nb\\r\\n", b"a\r\nb\r\n", 2),
        ("a\\rb\\rc", b"a\rb\rc", 1),
        ("a\\xe2\\x80\\xa8b\\n", "a\u{2028}b\n".as_bytes(), 1),
        ("a\\fb\\nc", b"a\x0cb\nc", 2),
        ("a\\xc2\\x85b\\n", "a\u{85}b\n".as_bytes(), 1),
    ];
    for (format, bytes, lines) in cases {
        let result = sandbox.run_json(&[], &format!("printf '{format}'"));
        let stream = &result["output"]["streams"][0];
        assert_eq!(stream["lines"], lines, "{format}");
        assert_eq!(stream["bytes"], bytes.len(), "{format}");
        let uri = stdout_uri(&result);
        assert_eq!(sandbox.read_all(uri), bytes, "{format}");
        let page = sandbox.overspill(["read", uri, "--json"]).json();
        assert_eq!(page["totalLines"], lines, "{format}");
        assert_eq!(page["lines"], lines, "{format}");
        if lines > 0 {
            let last = sandbox.overspill(["read", uri, "--offset", &(lines - 1).to_string()]);
            let expected = bytes.split_inclusive(|&b| b == b'\n').next_back().unwrap();
            assert_eq!(last.stdout, expected, "{format}");
        }
    }
}

#[test]
fn stored_is_seen_through_every_path() {
    let sandbox = Sandbox::new();
    let input: String = (0..).map(|n| format!("line {n}\n")).take(40_000).collect();
    let input = &input[..265 * 1024];
    fs_err::write(sandbox.work().join("in"), input).unwrap();
    for script in ["cat in", "cat in >&2", "cat in; cat in >&2", "cat in | (sleep .1; cat)"] {
        let result = sandbox.run_json(&[], script);
        for stream in result["output"]["streams"].as_array().unwrap() {
            assert_eq!(stream["bytes"], stream["seenBytes"], "{script}");
            let stored = sandbox.read_all(stream["artifact"].as_str().unwrap());
            assert!(stored.is_empty() || stored == input.as_bytes(), "{script}");
            if !stored.is_empty() {
                assert_eq!(stream["truncated"], true, "{script}");
            }
        }
        assert_eq!(result["incomplete"], Value::Null, "{script}");
    }
}

#[test]
fn the_log_holds_references_and_not_the_bytes() {
    let sandbox = Sandbox::new();
    let result = sandbox.run_json(&["--session", "s"], "seq 800000; echo unseen-$((6*7)) >&2");
    assert!(result["output"]["streams"][0]["bytes"].as_u64().unwrap() > 5_000_000);
    let mut total = 0;
    for entry in fs_err::read_dir(sandbox.home().join("sessions")).unwrap() {
        total += entry.unwrap().metadata().unwrap().len();
    }
    assert!(total < 200_000, "{total} bytes of log");
}

#[test]
fn eight_runs_at_once_on_one_store() {
    let sandbox = Sandbox::new();
    let program = sandbox.home().with_file_name("bin").join("overspill");
    let children: Vec<_> = (0..8)
        .map(|n| {
            sandbox
                .command(program.as_str())
                .args([
                    "run",
                    "--session",
                    "s",
                    "--",
                    "bash",
                    "-c",
                    &format!("seq {n} 60000; echo {n} >&2"),
                ])
                .stdout(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let results = sandbox.overspill(["show", "s", "--json"]).json();
    let results = results.as_array().unwrap();
    assert_eq!(results.len(), 8);
    let gc = ran(sandbox.command(program.as_str()).args(["gc", "--grace", "0s"]));
    assert_eq!(gc.code, Some(0), "{}", gc.stderr);
    for result in results {
        let uri = result["output"]["streams"][1]["artifact"].as_str().unwrap();
        let n: u64 = String::from_utf8(sandbox.read_all(uri)).unwrap().trim().parse().unwrap();
        let expected: String = (n..=60000).map(|n| format!("{n}\n")).collect();
        assert_eq!(sandbox.read_all(stdout_uri(result)), expected.as_bytes());
    }
}
