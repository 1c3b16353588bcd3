//! What must hold of a run, whatever the disk did.

use serde_json::Value;

use crate::sandbox::{Ran, Sandbox};

/// How much of an output was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kept {
    Nothing,
    Some,
    All,
}

/// `seq COUNT`, with the exit status 7.
pub(super) fn script(count: u64) -> String {
    format!("seq {count}; exit 7")
}

pub(super) fn run(sandbox: &Sandbox, count: u64) -> Ran {
    let script = script(count);
    sandbox.overspill(["run", "--session", "s", "--json", "--", "bash", "-c", &script])
}

/// Checks a run of [`script`]: the status and both ends of the preview are
/// there; what is not kept is said so, and nothing leads to what is not there;
/// what is kept can be read and is the beginning of what was written.
pub(super) fn check(sandbox: &Sandbox, ran: &Ran, count: u64, stage: &str) -> Kept {
    assert_eq!(ran.code, Some(7), "{stage}: {}", ran.stderr);
    let result = ran.json();
    let text = result["content"][0]["text"].as_str().unwrap();
    let status = (&result["status"], result["exit"]["code"].as_i64());
    assert_eq!(status, (&"failed".into(), Some(7)), "{stage}: {result}");
    assert!(text.starts_with("[stdout]\n1\n2\n3\n"), "{stage}: {text}");
    assert!(text.ends_with("[exit code: 7]"), "{stage}: {text}");
    let expected: String = (1..=count).map(|n| format!("{n}\n")).collect();
    let stdout = &result["output"]["streams"][0];
    assert_eq!(stdout["seenBytes"], expected.len(), "{stage}: {result}");

    let Some(uri) = stdout["artifact"].as_str() else {
        assert_eq!(result["incomplete"]["reason"], "storage_error", "{stage}: {result}");
        assert_eq!(stdout["incomplete"]["reason"], "storage_error", "{stage}: {result}");
        assert_eq!(result["output"]["manifest"], Value::Null, "{stage}: {result}");
        assert!(text.contains(&format!("\n{count}\n")), "{stage}: the end was seen: {text}");
        assert!(!text.contains("artifact://"), "{stage}: {text}");
        assert!(
            text.contains(" bytes not kept]") || !text.contains("[Truncated"),
            "{stage}: {text}"
        );
        assert!(text.contains("(storage error: "), "{stage}: {text}");
        return Kept::Nothing;
    };
    let stored = sandbox.read_all(uri);
    assert_eq!(stdout["bytes"], stored.len(), "{stage}: {result}");
    assert!(expected.as_bytes().starts_with(&stored), "{stage}: {} bytes", stored.len());
    if stored.len() == expected.len() {
        assert_eq!(stdout["incomplete"], Value::Null, "{stage}: {result}");
        assert!(text.contains(&format!("\n{count}\n")), "{stage}: {text}");
        return Kept::All;
    }
    assert_eq!(stdout["incomplete"]["reason"], "storage_error", "{stage}: {result}");
    assert!(text.contains("[output incomplete: stored "), "{stage}: {text}");
    Kept::Some
}

/// All that is stored is whole.
pub(super) fn verify(sandbox: &Sandbox, stage: &str) {
    let report = sandbox.overspill(["verify"]);
    assert_eq!(report.code, Some(0), "{stage}: {}{}", report.text(), report.stderr);
}

/// Nothing is in the way of what comes after: everything works, and nothing is
/// left of what failed.
pub(super) fn works_again(sandbox: &Sandbox, count: u64, stage: &str) {
    let ran = run(sandbox, count);
    assert_eq!(ran.stderr, "", "{stage}");
    let gc = sandbox.overspill(["gc", "--grace", "0s"]);
    assert_eq!((gc.code, gc.stderr.as_str()), (Some(0), ""), "{stage}");
    assert_eq!(check(sandbox, &ran, count, stage), Kept::All, "{stage}");
    for dir in ["captures", "trash", "quarantine", "leases"] {
        let left = sandbox.home().join("store").join(dir).read_dir_utf8().unwrap();
        assert_eq!(left.count(), 0, "{stage}: {dir}");
    }
}
