//! Any suggested name will do, and the size of a reference is known before.

use super::{Harness, save, text};

/// Names that someone, or some tool, will suggest.
fn nasty_names() -> Vec<String> {
    let mut names: Vec<String> = [
        "",
        " ",
        ".",
        "..",
        "/",
        "//",
        "~",
        "~root",
        "-",
        "--help",
        "a/b",
        "/etc/passwd",
        "../../../etc/passwd",
        "..\\..\\x",
        "a\0b",
        "a\nb",
        "a\r\tb",
        "a\u{1b}[31mb",
        "a:b|c*?\"<>",
        "CON",
        "nul.txt",
        ".hidden",
        "trailing.",
        "trailing ",
        "é",
        "e\u{301}",
        "日本語.html",
        "🦀",
        "\u{202e}txt.exe",
        "\u{feff}",
        "%2e%2e%2f",
        "$(id)",
        "`id`",
        "'\"",
        "a.tar.gz",
    ]
    .map(str::to_owned)
    .to_vec();
    names.push("x".repeat(10_000));
    names.push("語".repeat(10_000));
    names.push("/".repeat(10_000));
    names.push(format!("{}.txt", "a b".repeat(5_000)));
    names
}

/// A text is kept, and read back, whatever its name is.
pub async fn any_name_is_taken(harness: &dyn Harness) {
    for (number, name) in nasty_names().iter().enumerate() {
        save(harness, text("session", name, &format!("text {number}"))).await;
    }
}

/// Locator and hint together are no longer than was said before.
pub async fn references_stay_within_their_bound(harness: &dyn Harness) {
    let long_session = "s".repeat(256);
    for name in &nasty_names() {
        for session in ["s", &long_session] {
            let bound = harness.store().max_reference_bytes(name);
            let content = format!("{session} {name}").repeat(50);
            let reference = save(harness, text(session, name, &content)).await;
            let bytes = reference.reference_bytes();
            assert!(bytes <= bound, "{bytes} bytes, not {bound}: {reference:?} for {name:?}");
            assert_eq!(harness.store().max_reference_bytes(name), bound, "it is no guess");
        }
    }
}
