//! Command lines for people: titles, and an argv as a shell would take it.

use std::ffi::OsString;

use output_contract::limits::MAX_TITLE_BYTES;
use output_contract::split_text;

/// The first line of a command that is not blank, cut to
/// [`MAX_TITLE_BYTES`] bytes between characters.
pub(crate) fn title(command: &str) -> String {
    let line = command.split('\n').map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    split_text(line, MAX_TITLE_BYTES).next().unwrap_or_default().to_owned()
}

/// The words as one line for a shell. What is no UTF-8 is shown lossily.
pub(crate) fn quote<'a>(words: impl IntoIterator<Item = &'a OsString>) -> String {
    let words: Vec<String> = words.into_iter().map(quote_word).collect();
    words.join(" ")
}

fn quote_word(word: &OsString) -> String {
    let word = word.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.into_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles() {
        assert_eq!(title("ls -l"), "ls -l");
        assert_eq!(title("\n\n  make test\nmake install"), "make test");
        assert_eq!(title("  \n"), "");
        assert_eq!(title(&"x".repeat(MAX_TITLE_BYTES)).len(), MAX_TITLE_BYTES);
        let long = format!("x{}", "é".repeat(MAX_TITLE_BYTES));
        assert_eq!(title(&long), long[..MAX_TITLE_BYTES - 1]);
    }

    #[test]
    fn words_are_quoted_where_a_shell_would_split_or_expand_them() {
        let line = |words: &[&str]| quote(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(line(&["cargo", "test", "--features=a,b"]), "cargo test --features=a,b");
        assert_eq!(
            line(&["echo", "", "a b", "$x", "it's", "é"]),
            r"echo '' 'a b' '$x' 'it'\''s' 'é'"
        );
    }
}
