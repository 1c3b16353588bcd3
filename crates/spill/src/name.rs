//! Suggested names as names of files and keys.
//!
//! Responsible for turning any text into one path segment that a person still
//! recognises. What is lost on the way is lost: names are for people, and a
//! backend adds to them what makes them unique.

/// Longest encoded name, in bytes: with what a backend puts before it, a name
/// stays within the 255 bytes that file systems take.
pub const MAX_NAME_BYTES: usize = 180;
/// Longest ending that is kept of a name that is cut, in bytes, with its dot.
const MAX_EXTENSION_BYTES: usize = 16;
/// What stands for a name of which nothing is left.
const UNNAMED: &str = "text";

/// One path segment of 1 to [`MAX_NAME_BYTES`] bytes that reads like `name`.
///
/// Letters and digits of any script, `.`, `-` and `_` are kept; a run of
/// anything else becomes one `_`. It does not begin with a dot. A long name is
/// cut between characters, and keeps a short extension.
///
/// ```
/// use spill::encode_name;
///
/// assert_eq!(encode_name("web_fetch.txt"), "web_fetch.txt");
/// assert_eq!(encode_name("../~/etc/passwd"), "__etc_passwd");
/// assert_eq!(encode_name("日本語 1.html"), "日本語_1.html");
/// assert_eq!(encode_name(""), "text");
/// ```
pub fn encode_name(name: &str) -> String {
    let kept = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    // Of a name that is far too long, its ends say all that can be kept.
    let (start, end) = ends(name);
    let mut encoded = String::with_capacity(start.len() + end.len());
    for c in start.chars().chain(end.chars()) {
        match c {
            c if kept(c) => encoded.push(c),
            _ if encoded.ends_with('_') => {}
            _ => encoded.push('_'),
        }
    }
    if encoded.starts_with('.') {
        let dots = encoded.len() - encoded.trim_start_matches('.').len();
        encoded.replace_range(..dots, "_");
    }
    if encoded.trim_matches(['_', '.']).is_empty() {
        return UNNAMED.to_owned();
    }
    shorten(encoded)
}

/// The start and the end of a name, of which nothing more can matter.
fn ends(name: &str) -> (&str, &str) {
    if name.len() <= 8 * MAX_NAME_BYTES {
        return (name, "");
    }
    let start = boundary_at_most(name, 4 * MAX_NAME_BYTES);
    let end = boundary_at_most(name, name.len() - MAX_NAME_BYTES);
    (&name[..start], &name[end..])
}

fn shorten(name: String) -> String {
    if name.len() <= MAX_NAME_BYTES {
        return name;
    }
    let extension = name.rfind('.').map(|dot| &name[dot..]).unwrap_or_default();
    let extension = if extension.len() > MAX_EXTENSION_BYTES { "" } else { extension };
    let stem = boundary_at_most(&name, MAX_NAME_BYTES - extension.len());
    format!("{}{extension}", &name[..stem])
}

fn boundary_at_most(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_stay_readable() {
        for (name, expect) in [
            ("web_fetch.txt", "web_fetch.txt"),
            ("a-b_c.1", "a-b_c.1"),
            ("a/b\\c", "a_b_c"),
            ("a\0b\nc", "a_b_c"),
            ("~root", "_root"),
            ("a  b", "a_b"),
            ("a _ b", "a__b"),
            ("...hidden", "_hidden"),
            ("a..b", "a..b"),
            ("", "text"),
            (".", "text"),
            ("..", "text"),
            ("../..", "text"),
            ("///", "text"),
            ("été", "été"),
            ("日本語", "日本語"),
            ("🦀.rs", "_.rs"),
            // A separator that only looks like a letter's neighbour, and one that reverses text.
            ("a\u{202e}b", "a_b"),
        ] {
            assert_eq!(encode_name(name), expect, "{name:?}");
        }
    }

    #[test]
    fn long_names_keep_their_ends() {
        let long = format!("{}.json", "x".repeat(10_000));
        assert_eq!(encode_name(&long), format!("{}.json", "x".repeat(175)));
        let wide = format!("a{}", "語".repeat(100));
        assert_eq!(encode_name(&wide), format!("a{}", "語".repeat(59)));
        let no_extension = format!("a.{}", "x".repeat(300));
        assert_eq!(encode_name(&no_extension), format!("a.{}", "x".repeat(178)));
    }

    proptest! {
        #[test]
        fn any_name_is_one_safe_segment(name in ".{0,300}|[\0/.~a😀é]{0,2000}") {
            let encoded = encode_name(&name);
            prop_assert!((1..=MAX_NAME_BYTES).contains(&encoded.len()), "{encoded:?}");
            prop_assert!(!encoded.starts_with('.') && encoded != "_", "{encoded:?}");
            prop_assert!(!encoded.contains(['/', '\\', '~', '\0']), "{encoded:?}");
            prop_assert!(!encoded.chars().any(|c| c.is_control() || c.is_whitespace()));
            prop_assert_eq!(encode_name(&encoded), encoded.clone(), "encoding again changes nothing");
        }
    }
}
