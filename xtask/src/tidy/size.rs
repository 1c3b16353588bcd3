//! Sizes of source files: one idea a file, so that a reader finds it and can hold it.
//!
//! A size is in lines, the trailing test module not counted. The limit for one file holds for test
//! files too; median and 90th percentile are those of the other files.

use camino::{Utf8Path, Utf8PathBuf};

use super::source;
use crate::finding::Finding;

const MAX_LIB: usize = 120;
const MAX_FILE: usize = 800;
const MAX_MEDIAN: usize = 200;
const MAX_P90: usize = 400;

/// One source file and its number of lines.
#[derive(Debug)]
pub(super) struct Size {
    path: Utf8PathBuf,
    lines: usize,
}

impl Size {
    pub(super) fn of(path: &Utf8Path, text: &str) -> Self {
        Self {
            path: path.to_owned(),
            lines: source::without_tests(text).trim_end().lines().count(),
        }
    }
}

/// Checks each file against its limit, then all together.
pub(super) fn check(sizes: &[Size]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for Size { path, lines } in sizes {
        let is_lib = path.file_name() == Some("lib.rs") && !source::is_test(path);
        if is_lib && *lines > MAX_LIB {
            let message = format!("{lines} lines: a lib.rs is a table of contents of {MAX_LIB}");
            findings.push(Finding::of(path, message));
        } else if *lines > MAX_FILE {
            let message = format!("{lines} lines without tests, at most {MAX_FILE}");
            findings.push(Finding::of(path, message));
        }
    }
    let counts = counts(sizes);
    for (name, percent, limit) in [("median", 50, MAX_MEDIAN), ("p90", 90, MAX_P90)] {
        let lines = percentile(&counts, percent);
        if lines > limit {
            let message = format!("{name} of the source files is {lines} lines, at most {limit}");
            findings.push(Finding::of("sizes", message));
        }
    }
    findings
}

/// One line about all files.
pub(super) fn summary(sizes: &[Size]) -> String {
    let counts = counts(sizes);
    format!(
        "{} source files, {} lines; median {}, p90 {}, largest {} (tests not counted)",
        counts.len(),
        counts.iter().sum::<usize>(),
        percentile(&counts, 50),
        percentile(&counts, 90),
        percentile(&counts, 100),
    )
}

/// The sizes of the files that are not tests, in ascending order.
fn counts(sizes: &[Size]) -> Vec<usize> {
    let sources = sizes.iter().filter(|size| !source::is_test(&size.path));
    let mut counts: Vec<usize> = sources.map(|size| size.lines).collect();
    counts.sort_unstable();
    counts
}

/// The nearest-rank percentile of ascending `counts`; 0 of none.
fn percentile(counts: &[usize], percent: usize) -> usize {
    let rank = (counts.len() * percent).div_ceil(100);
    counts.get(rank.saturating_sub(1)).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(path: &str, lines: usize) -> Size {
        Size::of(path.into(), &"x\n".repeat(lines))
    }

    #[track_caller]
    fn check_all(sizes: &[Size], expect: &[&str]) {
        let found: Vec<String> = check(sizes).iter().map(ToString::to_string).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn limits_are_inclusive() {
        let small = || (0..9).map(|_| size("src/a.rs", 10));
        let with = |one: Size| small().chain([one]).collect::<Vec<_>>();
        check_all(&with(size("src/b.rs", 800)), &[]);
        check_all(
            &with(size("src/b.rs", 801)),
            &["src/b.rs: 801 lines without tests, at most 800"],
        );
        check_all(
            &with(size("a/tests/b.rs", 801)),
            &["a/tests/b.rs: 801 lines without tests, at most 800"],
        );
        check_all(&with(size("a/src/lib.rs", 120)), &[]);
        check_all(
            &with(size("a/src/lib.rs", 121)),
            &["a/src/lib.rs: 121 lines: a lib.rs is a table of contents of 120"],
        );
    }

    #[test]
    fn median_and_p90_are_of_sources_only() {
        check_all(&[size("src/a.rs", 200), size("src/b.rs", 400)], &[]);
        check_all(
            &[size("src/a.rs", 201), size("src/b.rs", 401)],
            &[
                "sizes: median of the source files is 201 lines, at most 200",
                "sizes: p90 of the source files is 401 lines, at most 400",
            ],
        );
        check_all(&[size("src/a.rs", 1), size("tests/b.rs", 401), size("tests/c.rs", 401)], &[]);
        check_all(&[], &[]);
    }

    #[test]
    fn a_trailing_test_module_does_not_count() {
        let text = format!("a\nb\n\n#[cfg(test)]\nmod tests {{\n{}}}\n", "    x\n".repeat(900));
        assert_eq!(Size::of("src/a.rs".into(), &text).lines, 2);
    }
}
