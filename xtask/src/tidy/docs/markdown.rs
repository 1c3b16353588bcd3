//! As much Markdown as the docs need: prose, code spans, fenced blocks, and what they name.

/// A run of text of one kind, within one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    /// Zero-based.
    pub(super) line: usize,
    pub(super) kind: Kind,
    pub(super) text: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Prose,
    /// Between backticks.
    Span,
    /// A line of a fenced block.
    Block,
}

/// Takes a document apart. A code span is looked for within its line.
pub(super) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut fence: Option<&str> = None;
    for (line, content) in text.lines().enumerate() {
        let trimmed = content.trim_start();
        match fence {
            Some(open) if trimmed.starts_with(open) => fence = None,
            Some(_) => pieces.push(Piece { line, kind: Kind::Block, text: content }),
            None => match ["```", "~~~"].into_iter().find(|open| trimmed.starts_with(open)) {
                Some(open) => fence = Some(open),
                None => split_spans(line, content, &mut pieces),
            },
        }
    }
    pieces
}

fn split_spans<'a>(line: usize, content: &'a str, pieces: &mut Vec<Piece<'a>>) {
    let mut rest = content;
    while let Some(start) = rest.find('`') {
        let after = &rest[start..];
        let ticks = after.len() - after.trim_start_matches('`').len();
        let (open, inside) = after.split_at(ticks);
        let Some(end) = inside.find(open) else { break };
        pieces.push(Piece { line, kind: Kind::Prose, text: &rest[..start] });
        pieces.push(Piece { line, kind: Kind::Span, text: inside[..end].trim() });
        rest = &inside[end + ticks..];
    }
    pieces.push(Piece { line, kind: Kind::Prose, text: rest });
}

/// The targets of the links in a piece of prose: `[…](target "title")` and `[…]: target`.
///
/// A link's text may be a code span, in which case the piece begins with the bracket's end.
pub(super) fn link_targets(prose: &str) -> Vec<&str> {
    let mut targets = Vec::new();
    for (at, _) in prose.match_indices("](") {
        let inside = &prose[at + "](".len()..];
        if let Some(end) = inside.find(')') {
            targets.push(&inside[..end]);
        }
    }
    if let Some((_, target)) = prose.split_once("]: ").filter(|_| prose.starts_with('[')) {
        targets.push(target);
    }
    let bare = targets.into_iter().filter_map(|target| target.split_whitespace().next());
    bare.map(|target| target.trim_start_matches('<').trim_end_matches('>')).collect()
}

/// The paths below `crates/` that a text names. `crates/*` and `crates/NAME` name none.
pub(super) fn crate_paths(text: &str) -> Vec<&str> {
    const START: &str = "crates/";
    let in_path = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let mut paths = Vec::new();
    for (at, _) in text.match_indices(START) {
        let name = &text[at + START.len()..];
        if text[..at].ends_with(in_path) || !name.starts_with(|c: char| c.is_ascii_lowercase()) {
            continue;
        }
        let end = name.find(|c| !in_path(c)).unwrap_or(name.len());
        paths.push(text[at..at + START.len() + end].trim_end_matches(['.', '/']));
    }
    paths
}

/// What follows `program` and one space, wherever a command starts with it.
///
/// Two spaces or more are a table or a tree of files, not a command with its argument.
pub(super) fn invocations<'a>(code: &'a str, program: &str) -> Vec<&'a str> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices(program) {
        let before = code[..at].trim_end();
        let starts = before.is_empty() || before.ends_with(['$', '|', '&', ';', '(', ':']);
        // Directly after `(` is `$(overspill …)`, but `a:overspill` or `x|overspill` is a word.
        let apart = code[..at].is_empty() || code[..at].ends_with([' ', '\t', '(']);
        let rest = &code[at + program.len()..];
        if let Some(arguments) = rest.strip_prefix(' ').filter(|_| starts && apart) {
            found.push(arguments);
        }
    }
    found
}

/// A word that can be a subcommand or a step; not a flag, a placeholder or a comment.
pub(super) fn plain_word(word: &str) -> Option<&str> {
    let word = word.trim_end_matches([')', ']', ';', ',', '`']);
    let is_plain = word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    is_plain.then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_taken_apart() {
        let text = "a `b` c\n```sh\n`d`\n```\n``e`f`` g\n";
        let found: Vec<_> = pieces(text)
            .into_iter()
            .filter(|piece| !piece.text.is_empty())
            .map(|piece| (piece.line, piece.kind, piece.text))
            .collect();
        let expect = [
            (0, Kind::Prose, "a "),
            (0, Kind::Span, "b"),
            (0, Kind::Prose, " c"),
            (2, Kind::Block, "`d`"),
            (4, Kind::Span, "e`f"),
            (4, Kind::Prose, " g"),
        ];
        assert_eq!(found, expect);
    }

    #[test]
    fn link_targets_of_all_forms() {
        assert_eq!(link_targets("[a](b) ![c](<d> \"e\") x](f)"), ["b", "d", "f"]);
        assert_eq!(link_targets("[a]: b 'title'"), ["b"]);
        assert_eq!(link_targets("a [b] (c) [d]("), [""; 0]);
    }

    #[test]
    fn crate_paths_are_cut_at_their_end() {
        assert_eq!(
            crate_paths("(crates/a/src/x_y.rs), crates/b-c/."),
            ["crates/a/src/x_y.rs", "crates/b-c"]
        );
        assert_eq!(crate_paths("x.io/crates/a crates/* crates/NAME"), [""; 0]);
    }

    #[test]
    fn an_invocation_starts_a_command() {
        assert_eq!(invocations("$ x read a | x run", "x"), ["read a | x run", "run"]);
        assert_eq!(invocations("y=$(x read a)", "x"), ["read a)"]);
        assert_eq!(invocations("[More: x read a]", "x"), ["read a]"]);
        assert_eq!(invocations("crates/x read, the x run, x  table", "x"), [""; 0]);
    }

    #[test]
    fn flags_and_placeholders_are_not_words() {
        assert_eq!(plain_word("read)"), Some("read"));
        for word in ["--json", "URI", "<step>", "[STEP", "#", ""] {
            assert_eq!(plain_word(word), None, "{word}");
        }
    }
}
