//! Reading: addresses, errors, possession.

use serde_json::Value;

use crate::sandbox::Sandbox;

const ZEROS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

fn run(sandbox: &Sandbox, session: &str, script: &str) -> (String, String) {
    let result = sandbox.run_json(&["--session", session], script);
    let manifest = result["output"]["manifest"].as_str().unwrap().to_owned();
    let blob = result["output"]["streams"][0]["sha256"].as_str().unwrap().to_owned();
    (manifest, blob)
}

/// The error of a read that must fail.
fn error(sandbox: &Sandbox, uri: &str) -> String {
    let read = sandbox.overspill(["read", uri]);
    assert_eq!(read.code, Some(1), "{uri}: {}", read.text());
    assert!(read.stdout.is_empty(), "{uri}");
    read.stderr
}

#[test]
fn malformed_addresses_are_never_files() {
    let sandbox = Sandbox::new();
    let (manifest, _) = run(&sandbox, "s", "echo x");
    let upper = manifest.to_uppercase();
    for uri in [
        "artifact://../../etc/passwd",
        "artifact://%2e%2e/etc/passwd",
        "artifact:/etc/passwd",
        "artifact:",
        "Artifact://x",
        &format!("artifact://{upper}"),
        &format!("ARTIFACT://{manifest}"),
        &format!("artifact://{manifest}/"),
        &format!("artifact://{manifest}/stdout/"),
        &format!("artifact://{manifest}/../stdout"),
        &format!("artifact://{manifest}/std%6fut"),
        &format!("artifact://{manifest}?stream=stdout"),
        &format!("artifact://{manifest}#stdout"),
        &format!("artifact://sha256/{manifest}"),
        &format!("artifact://{manifest} "),
    ] {
        let error = error(&sandbox, uri);
        assert!(error.contains("malformed artifact URI"), "{uri}: {error}");
        assert!(!error.contains("root:"), "{uri}: {error}");
    }
    let error = error(&sandbox, "/etc/passwd");
    assert!(error.contains("is no artifact URI"), "{error}");
}

#[test]
fn each_way_to_fail_says_which() {
    let sandbox = Sandbox::new();
    let (manifest, blob) = run(&sandbox, "s", "seq 10");
    let unknown = error(&sandbox, &format!("artifact://{ZEROS}"));
    assert!(unknown.contains("unknown"), "{unknown}");
    let stream = error(&sandbox, &format!("artifact://{manifest}/log"));
    assert!(stream.contains("stdout, stderr"), "{stream}");
    let unnamed = error(&sandbox, &format!("artifact://{blob}/stdout"));
    assert!(unnamed.contains("not") && unnamed.contains("named"), "{unnamed}");

    let path = sandbox.home().join("store/blobs/sha256").join(&blob[..2]).join(&blob);
    let planted = fs_err::read(&path).unwrap().iter().map(|b| b ^ 1).collect::<Vec<_>>();
    fs_err::remove_file(&path).unwrap();
    fs_err::write(&path, planted).unwrap();
    let corrupt = error(&sandbox, &format!("artifact://{manifest}/stdout"));
    assert!(corrupt.contains("corrupt"), "{corrupt}");
    let all = [&unknown, &stream, &unnamed, &corrupt];
    for (index, one) in all.iter().enumerate() {
        assert!(all[..index].iter().all(|other| other != one));
    }

    // The same output again heals it.
    run(&sandbox, "s", "seq 10");
    assert!(sandbox.read_all(&format!("artifact://{manifest}/stdout")).starts_with(b"1\n2\n"));
}

#[test]
fn possession_is_access() {
    let sandbox = Sandbox::new();
    let (manifest, _) = run(&sandbox, "a", "echo of session a");
    let uri = format!("artifact://{manifest}/stdout");
    let read = sandbox.run_json(&["--session", "b"], &format!("overspill read {uri} | tr a-z A-Z"));
    assert_eq!(read["content"][0]["text"], "[stdout]\nOF SESSION A\n\n[stderr]");
    // Another session that made the same output keeps it when the first goes.
    run(&sandbox, "c", "echo of session a");
    assert_eq!(sandbox.overspill(["rm", "--session", "a"]).code, Some(0));
    assert_eq!(sandbox.overspill(["gc", "--grace", "0s"]).code, Some(0));
    assert_eq!(sandbox.read_all(&uri), b"of session a\n");
    assert_eq!(sandbox.overspill(["rm", "--session", "c"]).code, Some(0));
    assert_eq!(sandbox.overspill(["gc", "--grace", "0s"]).code, Some(0));
    assert!(error(&sandbox, &uri).contains("expired"));
}

#[test]
fn what_expired_says_what_it_was_and_comes_back_with_the_same_output() {
    let sandbox = Sandbox::new();
    let result = sandbox.run_json(&["--session", "old"], "echo gone");
    let (manifest, call) = (&result["output"]["manifest"], result["callId"].as_str().unwrap());
    let uri = format!("artifact://{}/stdout", manifest.as_str().unwrap());
    sandbox.overspill(["rm", "--session", "old"]);
    // The young stay; that they were released is not forgotten meanwhile.
    assert_eq!(sandbox.overspill(["gc"]).code, Some(0));
    assert_eq!(sandbox.read_all(&uri), b"gone\n");
    assert_eq!(sandbox.overspill(["gc", "--grace", "0s"]).code, Some(0));
    let expired = error(&sandbox, &uri);
    for part in ["has expired", "session old", call, "bytes, and was removed at 20", "do not read"]
    {
        assert!(expired.contains(part), "{part}: {expired}");
    }
    run(&sandbox, "new", "echo gone");
    assert_eq!(sandbox.read_all(&uri), b"gone\n");
}

#[test]
fn a_bare_manifest_is_its_json() {
    let sandbox = Sandbox::new();
    let (manifest, blob) = run(&sandbox, "s", "printf 'a\\nb'");
    let json = sandbox.read_all(&format!("artifact://{manifest}"));
    assert_eq!(
        String::from_utf8(json).unwrap(),
        format!(
            r#"{{"type":"overspill/manifest","version":1,"streams":[{{"name":"stdout","sha256":"{blob}","bytes":3,"lines":2}},{{"name":"stderr","sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","bytes":0,"lines":0}}]}}"#
        )
    );
}

#[test]
fn pages_past_the_end_are_empty_and_say_the_totals() {
    let sandbox = Sandbox::new();
    let (manifest, _) = run(&sandbox, "s", "seq 10");
    let uri = format!("artifact://{manifest}/stdout");
    let page = sandbox.overspill(["read", &uri, "--offset", "99"]);
    assert_eq!((page.code, page.stdout.len()), (Some(0), 0));
    assert!(page.stderr.contains("10 lines, 21 bytes"), "{}", page.stderr);
    for wrong in [["--limit", "0"], ["--limit", "-1"], ["--offset", "-1"], ["--limit", "x"]] {
        let args = [&["read", uri.as_str()], &wrong[..]].concat();
        assert_eq!(sandbox.overspill(args).code, Some(2), "{wrong:?}");
    }
    let clamped = sandbox.overspill(["read", &uri, "--limit", "999999"]);
    assert_eq!(clamped.stdout.len(), 21);
}

#[test]
fn json_pages_carry_text_or_base64() {
    let sandbox = Sandbox::new();
    let (manifest, _) = run(&sandbox, "s", "printf 'a\\nb\\n'; printf '\\xff' >&2");
    let page = |stream: &str| {
        sandbox.overspill(["read", &format!("artifact://{manifest}/{stream}"), "--json"]).json()
    };
    let stdout = page("stdout");
    assert_eq!(stdout["text"], "a\nb\n");
    assert_eq!(stdout["base64"], Value::Null);
    let stderr = page("stderr");
    assert_eq!(stderr["base64"], "/w==");
    assert_eq!(stderr["text"], Value::Null);
}
