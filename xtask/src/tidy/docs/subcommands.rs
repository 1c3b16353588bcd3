//! The subcommands of `overspill`, read from the source of its command line.
//!
//! The source is the one place that is always there and never stale: running `overspill --help`
//! would make `tidy` wait for a build of the whole program, and a binary found in the target
//! directory may be an old one. The price is a convention: the subcommands are the variants of the
//! enum `Command` in `crates/overspill/src/cli.rs`, laid out by rustfmt, and named as clap names
//! them (kebab case, or `#[command(name = "…")]`).

use std::collections::BTreeSet;

use anyhow::{Result, ensure};
use camino::{Utf8Path, Utf8PathBuf};

use crate::workspace::Workspace;

const SOURCE: &str = "crates/overspill/src/cli.rs";

/// Reads the subcommands; there are none while the program does not exist.
pub(super) fn read(workspace: &Workspace, files: &[Utf8PathBuf]) -> Result<BTreeSet<String>> {
    if !files.iter().any(|file| file.starts_with("crates/overspill")) {
        return Ok(BTreeSet::new());
    }
    let names = scan(&workspace.read(Utf8Path::new(SOURCE))?);
    ensure!(!names.is_empty(), "no variants of `enum Command` found in {SOURCE}");
    Ok(names)
}

fn scan(source: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut lines = source.lines().skip_while(|line| !line.ends_with("enum Command {"));
    lines.next();
    let mut given = None;
    for line in lines.take_while(|line| *line != "}") {
        // Deeper lines are a variant's fields.
        let Some(item) = line.strip_prefix("    ").filter(|item| !item.starts_with(' ')) else {
            continue;
        };
        if item.starts_with("#[command(") {
            given = given.or_else(|| quoted_name(item));
        } else if item.starts_with(|c: char| c.is_ascii_uppercase()) {
            let end = item.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(item.len());
            names.insert(given.take().unwrap_or_else(|| kebab(&item[..end])));
        }
    }
    if !names.is_empty() {
        names.insert("help".to_owned());
    }
    names
}

fn quoted_name(attribute: &str) -> Option<String> {
    let (_, rest) = attribute.split_once("name = \"")?;
    Some(rest.split('"').next()?.to_owned())
}

fn kebab(variant: &str) -> String {
    let mut name = String::new();
    for c in variant.chars() {
        if c.is_ascii_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_are_subcommands() {
        let source = r#"
enum Other {
    NotMe,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Runs a command.
    Run(RunArgs),
    /// Lists.
    #[command(name = "ls", alias = "list")]
    List,
    CacheDir {
        #[arg(long)]
        Field: bool,
    },
}

struct NorMe;
"#;
        let found: Vec<String> = scan(source).into_iter().collect();
        assert_eq!(found, ["cache-dir", "help", "ls", "run"]);
        assert!(scan("enum Other {\n    A,\n}\n").is_empty());
    }
}
