//! A finding: one place where the tree breaks a rule.

use std::fmt;

use camino::{Utf8Path, Utf8PathBuf};

/// One broken rule, printed as `path:line: message` so that editors can jump to it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: Utf8PathBuf,
    /// One-based; absent where the whole file or crate is meant.
    line: Option<usize>,
    message: String,
}

impl Finding {
    /// A finding about a whole file, directory or crate.
    pub(crate) fn of(path: impl AsRef<Utf8Path>, message: impl Into<String>) -> Self {
        Self { path: path.as_ref().to_owned(), line: None, message: message.into() }
    }

    /// A finding about the zero-based line `index` of a file.
    pub(crate) fn at(path: impl AsRef<Utf8Path>, index: usize, message: impl Into<String>) -> Self {
        Self { line: Some(index + 1), ..Self::of(path, message) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.path, self.message),
            None => write!(f, "{}: {}", self.path, self.message),
        }
    }
}

/// Prints every finding on stderr.
pub(crate) fn print(findings: &[Finding]) {
    for finding in findings {
        eprintln!("{finding}");
    }
}
