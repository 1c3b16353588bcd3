//! `cargo xtask tidy`: house rules that no compiler checks.
//!
//! Each kind of file has its module of pure functions, text in and findings out: Rust sources
//! ([`source`], [`size`]), manifests ([`manifest`]), docs ([`docs`]), and every text file
//! ([`text`]). Only git's file list is read, so that build output and scratch files are not judged.

mod docs;
mod manifest;
mod size;
pub(crate) mod source;
mod text;

use std::collections::BTreeSet;

use anyhow::Result;
use camino::{Utf8Path, Utf8PathBuf};

use crate::finding::Finding;
use crate::workspace::Workspace;

/// Checks every tracked file, and prints the median and 90th percentile of the source files' sizes.
pub(crate) fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let files = workspace.files()?;
    let members = workspace.members()?;
    let mut findings = Vec::new();
    let mut sizes = Vec::new();
    let house = docs::House::new(workspace, &files, &members)?;
    for path in &files {
        let Some(content) = workspace.text(path)? else { continue };
        findings.extend(text::check(path, &content));
        if path.extension() == Some("rs") {
            findings.extend(source::check(path, &content));
            sizes.push(size::Size::of(path, &content));
        }
        if is_doc(path) {
            findings.extend(docs::check(path, &content, &house));
        }
    }
    findings.extend(size::check(&sizes));
    println!("{}", size::summary(&sizes));

    for member in &members {
        let path = member.manifest();
        findings.extend(manifest::check(&path, &workspace.read(&path)?, &files)?);
    }
    let root = workspace.read("Cargo.toml".into())?;
    findings.extend(manifest::check_msrv(&root, &workspace.read("clippy.toml".into())?)?);
    Ok(findings)
}

fn is_doc(path: &Utf8Path) -> bool {
    let page = path.starts_with("docs") && path.extension() == Some("md");
    page || path == "README.md" || path == "AGENTS.md"
}

/// The files and every directory above them: what a path in the docs may name.
fn with_directories(files: &[Utf8PathBuf]) -> BTreeSet<Utf8PathBuf> {
    files.iter().flat_map(|path| path.ancestors().map(Utf8Path::to_owned)).collect()
}
