//! The torture finds what is wrong, and nothing where nothing is.

use std::process::{Command, Output};

use camino::Utf8Path;

/// Runs it in a directory of its own, and says what is left in there.
fn torture(args: &[&str]) -> (Output, usize) {
    let dir = tempfile::tempdir().unwrap();
    let dir = Utf8Path::from_path(dir.path()).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_torture"));
    let output = command.args(["--dir", dir.as_str(), "--seed", "1"]).args(args).output().unwrap();
    (output, dir.read_dir_utf8().unwrap().count())
}

#[test]
fn workers_that_keep_the_rules_pass() {
    let (output, left) = torture(&["--seconds", "2"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.starts_with("cargo xtask torture --seconds 2 --seed 1"), "{text}");
    assert_eq!(left, 0, "the store is removed");
}

#[test]
fn workers_that_break_a_rule_are_found() {
    for (fault, finding) in [
        // Released before it was retained, so that a collection takes it.
        ("unretained", "LOST"),
        ("deleting", "LOST"),
        ("littering", "blob litter"),
    ] {
        // It ends at the first loss; what is left behind is looked for at the end.
        let seconds = if fault == "littering" { "3" } else { "60" };
        let (output, left) = torture(&["--seconds", seconds, "--fault", fault]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{fault}");
        assert!(errors.contains(finding), "{fault}: {errors}");
        assert!(errors.contains("to repeat: cargo xtask torture"), "{fault}: {errors}");
        assert_eq!(left, 1, "{fault}: the store is kept");
    }
}
