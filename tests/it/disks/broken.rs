//! System calls that fail: handles that cannot be had, and disks that refuse
//! one call.

use std::process::Command;

use super::outcome::{Kept, check, run, script, verify, works_again};
use crate::sandbox::{Sandbox, ran};

#[test]
fn with_few_handles_a_command_keeps_its_status_or_does_not_run() {
    let sandbox = Sandbox::new();
    assert_eq!(check(&sandbox, &run(&sandbox, 10), 10, "before"), Kept::All);
    let (mut kept, mut refused) = (Vec::new(), 0);
    for limit in [8, 10, 13, 16, 20, 24].into_iter().chain(29..39).chain([64]) {
        let stage = format!("{limit} handles");
        let begun = sandbox.work().join("begun");
        let script = format!("> {begun}; {}", script(3_000));
        let line = format!(
            "ulimit -n {limit}; exec overspill run --session s --json -- bash -c '{script}'"
        );
        let ran = sandbox.shell(&line);
        match ran.code {
            Some(7) => kept.push(check(&sandbox, &ran, 3_000, &stage)),
            // Its own failure, said so; nothing was run.
            Some(125) => {
                let said = (ran.stderr.clone() + &ran.text()).to_lowercase();
                assert!(said.contains("too many open files"), "{stage}: {said}");
                assert!(!begun.exists(), "{stage}: it was run");
                refused += 1;
            }
            _ => panic!("{stage}: {:?}: {}", ran.code, ran.stderr),
        }
        let _ = fs_err::remove_file(begun);
    }
    println!("{refused} refused, then {kept:?}");
    assert_eq!(kept.last(), Some(&Kept::All));
    works_again(&sandbox, 3_000, "enough handles");
}

/// Whether strace may fail system calls here.
fn may_inject() -> bool {
    let probe = "strace -qq -f -o /dev/null -e trace=fsync -e inject=fsync:error=EIO true";
    let allowed = Command::new("sh").args(["-c", probe]).output();
    let allowed = allowed.is_ok_and(|output| output.status.success());
    if !allowed {
        println!("skipped: strace is not there, or forbidden");
    }
    allowed
}

/// Lets the n-th of `calls` of every thread fail, for every n that is reached.
fn fails_at_every(calls: &str, error: &str, most: u64) {
    if !may_inject() {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.configure("[store]\ndurability = \"durable\"\n");
    assert_eq!(check(&sandbox, &run(&sandbox, 10), 10, "before"), Kept::All);
    let program = sandbox.home().with_file_name("bin").join("overspill");
    let trace = sandbox.work().join("trace");
    let mut kept = Vec::new();
    for nth in 1..=most {
        let stage = format!("{calls}:{error}:{nth}");
        // What is stored is new each time.
        let count = 60_000 + nth;
        let script = script(count);
        let ran = ran(sandbox
            .command("strace")
            .args(["-qq", "-f", "-o", trace.as_str(), "-e", &format!("trace={calls}")])
            .args(["-e", &format!("inject={calls}:error={error}:when={nth}")])
            .arg(&program)
            .args(["run", "--session", "s", "--json", "--", "bash", "-c", &script]));
        let injected = fs_err::read_to_string(&trace).unwrap().matches("(INJECTED)").count();
        let before = check(&sandbox, &ran, count, &stage);
        kept.push((nth, injected, before));
        if injected == 0 {
            break;
        }
    }
    println!("{calls} {error}: {kept:?}");
    verify(&sandbox, calls);
    assert!(kept[0].1 > 0, "{calls} was never called: {kept:?}");
    works_again(&sandbox, 3_000, calls);
}

#[test]
fn a_sync_that_fails() {
    fails_at_every("fsync,fdatasync", "EIO", 12);
}

#[test]
fn a_link_or_a_rename_that_fails() {
    fails_at_every("linkat", "ENOSPC", 6);
    fails_at_every("renameat,renameat2", "EIO", 4);
}

#[test]
fn a_directory_that_cannot_be_made() {
    fails_at_every("mkdirat", "ENOSPC", 6);
}

#[test]
fn a_write_at_a_place_that_fails() {
    fails_at_every("pwrite64", "EIO", 8);
}

#[test]
fn a_lock_that_fails() {
    fails_at_every("flock", "ENOLCK", 12);
}
