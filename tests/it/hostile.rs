//! Places and streams that are not as they should be.

use std::os::unix::fs::PermissionsExt;

use camino::Utf8Path;

use crate::sandbox::Sandbox;

fn mode(path: &Utf8Path) -> u32 {
    fs_err::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn an_output_that_cannot_be_written_costs_no_exit_status() {
    let sandbox = Sandbox::new();
    for (line, code) in [
        ("overspill run -- sh -c 'exit 3' > /dev/full", 3),
        ("overspill run -- true > /dev/full", 125),
        ("overspill run -- sh -c 'exit 3' > /dev/full 2> /dev/full", 3),
        ("overspill run -- sh -c 'exit 3' >&- 2>&-", 3),
        ("overspill read nonsense 2> /dev/full", 1),
        ("overspill ls > /dev/full", 1),
        ("overspill config > /dev/full", 1),
        ("overspill config | head -c 0", 0),
    ] {
        assert_eq!(sandbox.shell(line).code, Some(code), "{line}");
    }
    let result = sandbox.run_json(&[], "seq 5000");
    let uri = result["output"]["streams"][0]["artifact"].as_str().unwrap();
    let read = sandbox.shell(&format!("overspill read {uri} > /dev/null 2> /dev/full"));
    assert_eq!(read.code, Some(0), "nobody can be told of the continuation");
}

#[test]
fn no_session_is_called_all() {
    let sandbox = Sandbox::new();
    let ran = sandbox.overspill(["run", "--session", "all", "--", "true"]);
    assert_eq!(ran.code, Some(125));
    assert!(ran.stderr.contains("every session"), "{}", ran.stderr);
}

#[test]
fn listings_show_titles_and_names_safely() {
    let sandbox = Sandbox::new();
    let session = "a\u{202e}b";
    let trick = "true \u{1b}[2Jx\nforged  completed  row";
    sandbox.overspill(["run", "--session", session, "--", "echo", trick]);
    for listing in [vec!["ls"], vec!["ls", session], vec!["show", session]] {
        let text = sandbox.overspill(&listing).text();
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text:?}");
        let rows = text.lines().filter(|line| line.starts_with("forged")).count();
        let own = usize::from(listing[0] == "show");
        assert_eq!(rows, own, "a title makes no row: {text:?}");
    }
}

#[test]
fn a_home_that_is_a_link_is_where_it_leads() {
    let sandbox = Sandbox::new();
    let link = sandbox.other_home();
    fs_err::os::unix::fs::symlink(sandbox.home(), &link).unwrap();
    let line = format!("OVERSPILL_HOME={link} overspill run --session s -- echo hi");
    assert_eq!(sandbox.shell(&line).code, Some(0));
    assert_eq!(sandbox.overspill(["ls"]).text(), "s  1 call, 3 bytes\n");
}

#[test]
fn a_home_that_others_may_write_to_is_refused() {
    let sandbox = Sandbox::new();
    fs_err::set_permissions(sandbox.home(), PermissionsExt::from_mode(0o777)).unwrap();
    let ran = sandbox.run("echo hi");
    assert_eq!(ran.code, Some(125));
    assert!(ran.stderr.contains("chmod 700"), "{}", ran.stderr);
    assert!(!sandbox.home().join("store").exists());
}

#[test]
fn modes_hold_under_any_umask() {
    let sandbox = Sandbox::new();
    let deep = sandbox.other_home().join("a/b");
    let line = format!("umask 000; OVERSPILL_HOME={deep} overspill run --session s -- seq 100000");
    assert_eq!(sandbox.shell(&line).code, Some(0));
    let mut pending = vec![sandbox.other_home()];
    let mut seen = 0;
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            assert_eq!(mode(&path), 0o700, "{path}");
            let entries = fs_err::read_dir(&path).unwrap();
            pending.extend(entries.map(|e| e.unwrap().path().try_into().unwrap()));
            continue;
        }
        seen += 1;
        let blob = path.as_str().contains("/blobs/") || path.as_str().contains("/manifests/");
        let allowed: &[u32] = if blob { &[0o444] } else { &[0o600, 0o444, 0o400] };
        assert!(allowed.contains(&mode(&path)), "{path} has {:o}", mode(&path));
    }
    assert!(seen >= 6, "{seen}");
}

#[test]
fn a_planted_link_is_not_followed() {
    for place in ["store", "sessions", "store/captures", "store/blobs", "store/roots"] {
        let sandbox = Sandbox::new();
        sandbox.run("echo before");
        let elsewhere = sandbox.work().join("elsewhere");
        fs_err::rename(sandbox.home().join(place), &elsewhere).unwrap();
        fs_err::os::unix::fs::symlink(&elsewhere, sandbox.home().join(place)).unwrap();
        let ran = sandbox.run("echo after");
        assert_eq!(ran.code, Some(125), "{place}: {}", ran.stderr);
        assert!(ran.stderr.contains(place.rsplit('/').next().unwrap()), "{}", ran.stderr);
    }
}

#[test]
fn a_file_size_limit_keeps_status_and_preview() {
    let sandbox = Sandbox::new();
    // bash counts in units of 1,024 bytes. The second part begins when the
    // first is in the capture file.
    let stored = "until [ \"$(stat -c %s $OVERSPILL_HOME/store/captures/*/stream-0)\" = 3893 ]; \
                  do sleep .02; done";
    let script = format!("seq 1000; {stored}; seq 1001 100000; exit 7");
    let line = format!("ulimit -f 100; overspill run --json --timeout 60s -- bash -c '{script}'");
    let ran = sandbox.shell(&line);
    assert_eq!(ran.code, Some(7), "{}", ran.stderr);
    let result = ran.json();
    let stdout = &result["output"]["streams"][0];
    assert_eq!(stdout["incomplete"]["reason"], "storage_error", "{stdout}");
    assert_eq!(stdout["seenBytes"], 588_895);
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("[stdout]\n1\n2\n"), "{text}");
    assert!(text.contains("(storage error: file too large)]"), "{text}");
    let stored = stdout["bytes"].as_u64().unwrap();
    // What was written whole before the limit.
    assert!((3893..=102_400).contains(&stored), "{stored}");
    let all = sandbox.read_all(stdout["artifact"].as_str().unwrap());
    let expected: String = (1..=100_000).map(|n| format!("{n}\n")).collect();
    assert_eq!(all, &expected.as_bytes()[..usize::try_from(stored).unwrap()]);
}

#[test]
fn what_was_seen_is_shown_where_nothing_can_be_stored() {
    let sandbox = Sandbox::new();
    // Nothing can be added to any file of this size or more: not to the log,
    // not to a capture, except for its first block.
    let line = "ulimit -f 1; \
                overspill run --json -- bash -c 'seq 30000; exit 7' 2> errors";
    let ran = sandbox.shell(line);
    assert_eq!(ran.code, Some(7));
    let result = ran.json();
    let stdout = &result["output"]["streams"][0];
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("[stdout]\n1\n2\n3\n"), "{text}");
    assert!(text.contains("\n30000\n"), "the end was seen, and is shown");
    assert!(text.contains(" bytes not kept]\n"), "no hint to what is not there");
    assert_eq!(stdout["incomplete"]["reason"], "storage_error", "{stdout}");
    assert_eq!(
        (&stdout["truncated"], &stdout["nextOffset"]),
        (&false.into(), &serde_json::Value::Null)
    );
}

#[test]
fn a_bad_entry_among_the_captures_keeps_nothing_back() {
    let sandbox = Sandbox::new();
    sandbox.run("echo before");
    let captures = sandbox.home().join("store/captures");
    let id = |n: u32| format!("01a22de8-0000-7000-8000-00000000000{n}");
    fs_err::os::unix::fs::symlink("/etc/passwd", captures.join(id(1) + ".lock")).unwrap();
    fs_err::create_dir(captures.join(id(2) + ".lock")).unwrap();
    fs_err::write(captures.join(id(3)), "a file").unwrap();
    for args in [vec!["ls"], vec!["gc"], vec!["gc", "--grace", "0s"]] {
        let ran = sandbox.overspill(&args);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{args:?}");
    }
    assert_eq!(sandbox.run("echo after").code, Some(0));
    assert_eq!(sandbox.overspill(["rm", "--session", "all"]).code, Some(0));
}

#[test]
fn damaged_roots_stop_the_collector_and_nobody_else() {
    let sandbox = Sandbox::new();
    for session in ["a", "b"] {
        sandbox.overspill(["run", "--session", session, "--", "echo", session]);
    }
    let roots = sandbox.home().join("store/roots");
    for entry in fs_err::read_dir(&roots).unwrap() {
        let path = entry.unwrap().path();
        let mut bytes = fs_err::read(&path).unwrap();
        if bytes.windows(11).any(|w| w == br#""owner":"a""#) {
            bytes[20] ^= 1;
            fs_err::write(&path, bytes).unwrap();
        }
    }
    fs_err::write(roots.join(".DS_Store"), "").unwrap();

    let gc = sandbox.overspill(["gc", "--grace", "0s"]);
    assert_eq!(gc.code, Some(1), "what is kept is not known");
    let ran = sandbox.overspill(["run", "--session", "a", "--", "echo", "again"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert_eq!(sandbox.overspill(["rm", "--session", "b"]).code, Some(0));
    assert_eq!(sandbox.overspill(["rm", "--session", "a"]).code, Some(0));
    let gc = sandbox.overspill(["gc", "--grace", "0s", "--json"]);
    assert_eq!(gc.json()["live"], 0, "{}", gc.stderr);
}

#[test]
fn removing_all_sessions_removes_logs_that_name_none() {
    let sandbox = Sandbox::new();
    sandbox.run("echo hi");
    let logs = sandbox.home().join("sessions");
    let log = fs_err::read_dir(&logs).unwrap().next().unwrap().unwrap().path();
    let name = log.file_name().unwrap().to_str().unwrap().to_owned();
    for (first, content) in [("x", ""), ("y", "garbage\n"), ("z", "\0\0\0\0")] {
        fs_err::write(logs.join(format!("{first}{}", &name[1..])), content).unwrap();
    }
    fs_err::write(logs.join("notes.txt"), "not ours").unwrap();
    assert_eq!(sandbox.overspill(["rm", "--session", "all"]).code, Some(0));
    let left = fs_err::read_dir(&logs).unwrap().map(|e| e.unwrap().file_name());
    assert_eq!(left.collect::<Vec<_>>(), ["notes.txt"]);
}

#[test]
fn a_home_that_the_system_refuses_costs_the_record_and_not_the_command() {
    let sandbox = Sandbox::new();
    // The smallest limit: not even the description of a new store can be
    // written.
    let home = sandbox.other_home();
    let line = format!(
        "ulimit -f 0; OVERSPILL_HOME={home} overspill run -- sh -c 'seq 3000; exit 3' | cat"
    );
    let ran = sandbox.shell(&format!("set -o pipefail; {line}"));
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    assert!(ran.text().starts_with("[stdout]\n1\n2\n"), "{}", ran.text());
    assert!(ran.text().contains("\n3000\n"), "the preview stays");
    assert!(ran.text().contains("(storage error: "), "{}", ran.text());
    assert!(!ran.text().contains("artifact://"), "there is nothing to read");
    assert!(ran.stderr.contains("could not be saved"), "{}", ran.stderr);
}
