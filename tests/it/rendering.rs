//! What the program prints, to the letter.

use crate::sandbox::Sandbox;

fn shown(sandbox: &Sandbox, options: &[&str], script: &str) -> String {
    let args = [&["run"], options, &["--", "bash", "-c", script]].concat();
    let text = sandbox.overspill(args).text();
    // The only part that is not the same everywhere is the manifest's digest.
    match text.split_once("artifact://") {
        Some((_, rest)) => text.replace(&rest[..64], "DIGEST"),
        None => text,
    }
}

#[test]
fn head_in_the_tool_form() {
    let sandbox = Sandbox::new();
    let options = ["--shape", "head", "--hints", "tool", "--max-lines", "2"];
    assert_eq!(
        shown(&sandbox, &options, "seq 4; seq 3 >&2"),
        "[stdout]\n1\n2\n\
         [Truncated. Read more: read(filePath=\"artifact://DIGEST/stdout\", offset=2)]\n\
         \n\
         [stderr]\n1\n2\n\
         [Truncated. Read more: read(filePath=\"artifact://DIGEST/stderr\", offset=2)]\n"
    );
    assert_eq!(
        shown(
            &sandbox,
            &["--shape", "head", "--hints", "tool", "--max-bytes", "10"],
            "printf %050d 7"
        ),
        "[stdout]\n0000000000\n\
         [Truncated. Read more: read(filePath=\"artifact://DIGEST/stdout\", offset=0, byteOffset=10)]\n\
         \n[stderr]\n"
    );
}

#[test]
fn head_and_tail_in_the_command_form() {
    let sandbox = Sandbox::new();
    assert_eq!(
        shown(&sandbox, &["--max-lines", "5"], "seq 50"),
        "[stdout]\n1\n2\n3\n\
         [Truncated. Read more: overspill read artifact://DIGEST/stdout --offset 3]\n\
         [Last 2 of 50 lines]\n49\n50\n\
         \n[stderr]\n"
    );
    assert_eq!(
        shown(&sandbox, &["--max-bytes", "9"], "printf abcdefghijklmnopqrstuvwxyz"),
        "[stdout]\nabcde\n\
         [Truncated. Read more: overspill read artifact://DIGEST/stdout --offset 0 --byte-offset 5]\n\
         [Last 4 of 26 bytes]\nwxyz\n\
         \n[stderr]\n"
    );
}

#[test]
fn status_lines() {
    let sandbox = Sandbox::new();
    for (script, expected) in [
        ("true", "[stdout]\n\n[stderr]\n"),
        ("echo out", "[stdout]\nout\n\n[stderr]\n"),
        ("printf out", "[stdout]\nout\n\n[stderr]\n"),
        ("printf err >&2; exit 3", "[stdout]\n\n[stderr]\nerr\n[exit code: 3]\n"),
        ("kill -9 $$", "[stdout]\n\n[stderr]\n[killed by signal 9]\n"),
    ] {
        assert_eq!(shown(&sandbox, &[], script), expected, "{script}");
    }
    assert_eq!(
        shown(&sandbox, &["--timeout", "200ms"], "sleep 30"),
        "[stdout]\n\n[stderr]\n[timed out after 200ms; output incomplete]\n"
    );
}

#[test]
fn escapes_are_dropped_and_controls_cannot_hide_text() {
    let sandbox = Sandbox::new();
    let script =
        r"printf '\x1b[1;31mred\x1b[0m \x1b]0;title\x07after\n\x1b]8;;open\nnext\x00line\n'";
    let sandbox_text = shown(&sandbox, &[], script);
    assert_eq!(sandbox_text, "[stdout]\nred after\n\nnext\u{2400}line\n\n[stderr]\n");
}

#[test]
fn control_characters_stay_within_the_aggregate_bound() {
    let sandbox = Sandbox::new();
    // ESC and BS are ordinary terminal output, so that this is no binary.
    let script = "for i in 1 2; do head -c 51200 /dev/zero | tr '\\0' '\\b' >&$i; done";
    let result = sandbox.run_json(&[], script);
    let escaped = result["content"][0].to_string().len();
    assert!(escaped < 2 * 1024 * 1024, "{escaped}");
}
