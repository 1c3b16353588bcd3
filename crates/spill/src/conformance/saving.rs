//! What is saved is kept, whole and apart.

use std::collections::BTreeSet;

use super::{Harness, check, join, save, text};

/// The bytes of a text come back as they were, whatever they are.
pub async fn texts_are_kept_verbatim(harness: &dyn Harness) {
    let long = "0123456789 é 語 🦀\n".repeat(100_000);
    let wide = "w".repeat(300_000);
    for content in [
        "",
        "\n",
        "a",
        "no newline at the end",
        "one\r\ntwo\rthree\u{2028}four\n",
        "NUL \0, ESC \u{1b}[1m, BEL \u{7}, DEL \u{7f}",
        "\u{feff}a mark at the start",
        "e\u{301} is not é",
        &long,
        &wide,
    ] {
        save(harness, text("session", "verbatim.txt", content)).await;
    }
}

/// Texts that differ have different locators, however alike their names are.
pub async fn texts_of_one_name_have_locators_of_their_own(harness: &dyn Harness) {
    let mut locators = BTreeSet::new();
    for number in 0..20 {
        let content = format!("text {number}");
        let reference = save(harness, text("session", "same.txt", &content)).await;
        assert!(locators.insert(reference.locator.to_string()), "{} again", reference.locator);
    }
}

/// A reference leads to its text also after more was saved, also the same.
pub async fn what_was_saved_stays_when_more_is_saved(harness: &dyn Harness) {
    let first = save(harness, text("session", "a.txt", "the first")).await;
    let again = save(harness, text("session", "a.txt", "the first")).await;
    save(harness, text("session", "a.txt", "the second")).await;
    check(harness, &first, "the first").await;
    check(harness, &again, "the first").await;
}

/// Any session may own texts, whatever its id looks like, and no session's
/// texts are another's.
pub async fn sessions_are_kept_apart(harness: &dyn Harness) {
    let long = "s".repeat(256);
    let mut saved = Vec::new();
    for session in ["a", "A", "a/b", "a_b", "../a", "..", "~", "é", "日本", " ", &long] {
        let content = format!("of {session}");
        let reference = save(harness, text(session, "same.txt", &content)).await;
        saved.push((reference, content));
    }
    let locators: BTreeSet<&str> = saved.iter().map(|(saved, _)| saved.locator.as_str()).collect();
    assert_eq!(locators.len(), saved.len());
    for (reference, content) in &saved {
        check(harness, reference, content).await;
    }
}

/// Saves that run at once all end, each with its own text.
pub async fn saves_at_once_do_not_mix(harness: &dyn Harness) {
    let contents: Vec<String> =
        (0..24).map(|number| format!("text {number}\n").repeat(1 + number * 997)).collect();
    let saves = contents.iter().enumerate().map(|(number, content)| {
        let session = format!("session {}", number % 3);
        harness.store().save_text(text(&session, "at-once.txt", content))
    });
    let saved = join(saves).await;
    let mut locators = BTreeSet::new();
    for (saved, content) in saved.into_iter().zip(&contents) {
        let reference = saved.expect("it can be saved");
        check(harness, &reference, content).await;
        assert!(locators.insert(reference.locator.to_string()), "{} twice", reference.locator);
    }
}
