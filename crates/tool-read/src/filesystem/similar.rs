//! Names in a directory that may have been meant instead of a missing one.

use rustix::fd::BorrowedFd;
use rustix::fs::{Dir, Mode, OFlags, openat};

/// Most names proposed.
const MAX_NAMES: usize = 3;
/// Most names looked at: a directory may have millions.
const MAX_ENTRIES: usize = 10_000;

/// Names in the directory that resemble `name`, the closest first. None where
/// it cannot be listed.
pub(crate) fn similar_names(dir: BorrowedFd<'_>, name: &str) -> Vec<String> {
    // The directory itself, not its path: that may lead elsewhere by now.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let listing = openat(dir, ".", flags, Mode::empty()).and_then(Dir::new);
    let Ok(listing) = listing else { return Vec::new() };
    let names = listing
        .take(MAX_ENTRIES)
        .map_while(Result::ok)
        .filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned));
    closest(name, names)
}

fn closest(name: &str, candidates: impl Iterator<Item = String>) -> Vec<String> {
    let wanted = Name::new(name);
    let mut scored: Vec<(usize, String)> = candidates
        .filter(|candidate| !matches!(candidate.as_str(), "." | ".."))
        .filter_map(|candidate| Some((wanted.distance(&Name::new(&candidate))?, candidate)))
        .collect();
    scored.sort_unstable();
    scored.truncate(MAX_NAMES);
    scored.into_iter().map(|(_, name)| name).collect()
}

/// A name in lower case, and what is before its last dot.
struct Name {
    whole: Vec<char>,
    stem: usize,
}

impl Name {
    fn new(name: &str) -> Self {
        let whole: Vec<char> = name.chars().flat_map(char::to_lowercase).collect();
        let dot = whole.iter().rposition(|&c| c == '.').filter(|&dot| dot > 0);
        Self { stem: dot.unwrap_or(whole.len()), whole }
    }

    /// How far apart two names are; `None` where nobody mistakes one for the
    /// other.
    fn distance(&self, other: &Self) -> Option<usize> {
        let most = (self.whole.len() / 3).max(1);
        let same_stem = self.whole[..self.stem] == other.whole[..other.stem];
        edits(&self.whole, &other.whole, most).or(same_stem.then_some(most + 1))
    }
}

/// The least number of characters to insert, remove, replace or swap with the
/// next one to get from `a` to `b`, if that is at most `most`.
fn edits(a: &[char], b: &[char], most: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > most {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = Vec::with_capacity(last.len());
        row.push(i);
        for j in 1..=b.len() {
            let replace = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replace.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row.push(least);
        }
        if row.iter().all(|&cost| cost > most) {
            return None;
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().filter(|&cost| cost <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_have_been_meant() {
        let files = ["main.rs", "main.py", "lib.rs", "README.md", "Cargo.toml", "a", "b"];
        for (name, expect) in [
            ("mian.rs", &["main.rs"][..]),
            ("MAIN.RS", &["main.rs", "main.py"]),
            ("readme.md", &["README.md"]),
            ("readme", &["README.md"]),
            ("main.go", &["main.py", "main.rs"]),
            ("cargo.tml", &["Cargo.toml"]),
            ("unrelated.txt", &[]),
        ] {
            let found = closest(name, files.iter().map(|&file| file.to_owned()));
            assert_eq!(found, expect, "{name}");
        }
    }

    #[test]
    fn at_most_three_and_the_closest_first() {
        let files = ["x1000.txt", "x100.txt", "x10.txt", "x1.txt", "x2.txt"];
        let found = closest("x10.tx", files.iter().map(|&file| file.to_owned()));
        assert_eq!(found, ["x10.txt", "x1.txt", "x100.txt"]);
    }

    #[test]
    fn edits_are_counted_up_to_a_limit() {
        let edits = |a: &str, b: &str, most| {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            edits(&chars(a), &chars(b), most)
        };
        assert_eq!(edits("", "", 0), Some(0));
        assert_eq!(edits("abc", "abc", 0), Some(0));
        assert_eq!(edits("abc", "acb", 1), Some(1));
        assert_eq!(edits("kitten", "sitting", 3), Some(3));
        assert_eq!(edits("kitten", "sitting", 2), None);
        assert_eq!(edits("a", "abcdef", 3), None);
    }
}
