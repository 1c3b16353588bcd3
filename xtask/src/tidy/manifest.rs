//! Manifests: package keys, lints and dependencies come from the workspace, and a crate's tests are
//! one binary.

use anyhow::{Context, Result};
use camino::{Utf8Path, Utf8PathBuf};
use toml::{Table, Value};

use crate::finding::Finding;

/// Keys every crate takes from `[workspace.package]`. `publish` is one because only a private crate
/// may name its path dependencies without a version (deny.toml).
const INHERITED: &[&str] = &["version", "edition", "rust-version", "license", "publish"];
const DEPENDENCY_TABLES: &[&str] = &["dependencies", "dev-dependencies", "build-dependencies"];

/// Checks the manifest of one member; `files` are all files of the workspace.
pub(super) fn check(path: &Utf8Path, text: &str, files: &[Utf8PathBuf]) -> Result<Vec<Finding>> {
    let manifest: Table = text.parse().with_context(|| format!("failed to parse {path}"))?;
    let directory = path.parent().context("a manifest has a directory")?;
    let mut messages = inheritance(&manifest);
    messages.extend(test_binaries(&manifest, directory, files));
    let exists = |name: &str| files.contains(&directory.join(name));
    if directory.starts_with("crates") {
        if !exists("src/lib.rs") && !exists("src/main.rs") {
            messages.push("has neither src/lib.rs nor src/main.rs".to_owned());
        }
        if exists("README.md") {
            messages.push("has a README.md: a crate's page is the `//!` of its lib.rs".to_owned());
        }
    }
    Ok(messages.into_iter().map(|message| Finding::of(path, message)).collect())
}

/// Checks that clippy's MSRV lint looks for the version the manifests promise.
pub(super) fn check_msrv(root_manifest: &str, clippy: &str) -> Result<Vec<Finding>> {
    let manifest: Table = root_manifest.parse().context("failed to parse Cargo.toml")?;
    let clippy: Table = clippy.parse().context("failed to parse clippy.toml")?;
    let promised = manifest
        .get("workspace")
        .and_then(|workspace| workspace.get("package"))
        .and_then(|package| package.get("rust-version"));
    if promised.is_some() && promised == clippy.get("msrv") {
        return Ok(Vec::new());
    }
    Ok(vec![Finding::of("clippy.toml", "`msrv` is not the `rust-version` of Cargo.toml")])
}

fn inheritance(manifest: &Table) -> Vec<String> {
    let mut messages = Vec::new();
    let package = manifest.get("package");
    for key in INHERITED {
        if !inherits(package.and_then(|package| package.get(key))) {
            messages.push(format!("package: `{key}.workspace = true` is missing"));
        }
    }
    if !inherits(manifest.get("lints")) {
        messages.push("`[lints] workspace = true` is missing".to_owned());
    }
    let targets = manifest.get("target").and_then(Value::as_table).into_iter().flatten();
    let tables = targets.filter_map(|(_, target)| target.as_table()).chain([manifest]);
    for table in tables {
        for name in DEPENDENCY_TABLES {
            let entries = table.get(*name).and_then(Value::as_table).into_iter().flatten();
            for (dependency, _) in entries.filter(|(_, entry)| !inherits(Some(entry))) {
                messages.push(format!("{name}: `{dependency}` does not say `workspace = true`"));
            }
        }
    }
    messages
}

fn inherits(value: Option<&Value>) -> bool {
    value.and_then(|value| value.get("workspace")) == Some(&Value::Boolean(true))
}

/// Each integration test binary is linked and started on its own, so a crate has one; and cargo
/// must not guess it, because then the next file would be the next binary.
fn test_binaries(manifest: &Table, directory: &Utf8Path, files: &[Utf8PathBuf]) -> Vec<String> {
    let tests = directory.join("tests");
    let has_tests =
        files.iter().any(|file| file.starts_with(&tests) && file.extension() == Some("rs"));
    let declared = manifest.get("test").and_then(Value::as_array).map_or(0, Vec::len);
    let autotests = manifest.get("package").and_then(|package| package.get("autotests"));
    let mut messages = Vec::new();
    if has_tests && autotests != Some(&Value::Boolean(false)) {
        messages.push("has tests/ but not `autotests = false`".to_owned());
    }
    if has_tests && declared == 0 {
        messages.push("has tests/ but no `[[test]]`, so that they never run".to_owned());
    }
    if declared > 1 {
        messages.push(format!("has {declared} integration test binaries, at most one"));
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
[package]
name = "a"
version.workspace = true
edition.workspace = true
rust-version.workspace = true
license.workspace = true
publish.workspace = true

[dependencies]
serde.workspace = true
bytes = { workspace = true, optional = true }

[lints]
workspace = true
"#;

    #[track_caller]
    fn check_one(text: &str, files: &[&str], expect: &[&str]) {
        let mut all: Vec<Utf8PathBuf> = vec!["crates/a/src/lib.rs".into()];
        all.extend(files.iter().map(Utf8PathBuf::from));
        let found = check("crates/a/Cargo.toml".into(), text, &all).expect("valid TOML");
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        let expect: Vec<String> =
            expect.iter().map(|message| format!("crates/a/Cargo.toml: {message}")).collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn keys_and_lints_are_inherited() {
        check_one(GOOD, &[], &[]);
        for key in INHERITED {
            let other = GOOD.replace(&format!("\n{key}.workspace = true"), "");
            check_one(&other, &[], &[&format!("package: `{key}.workspace = true` is missing")]);
        }
        let own = GOOD.replace("version.workspace = true\ned", "version = \"1.0.0\"\ned");
        check_one(&own, &[], &["package: `version.workspace = true` is missing"]);
        let unlinted = GOOD.replace("[lints]\nworkspace = true", "");
        check_one(&unlinted, &[], &["`[lints] workspace = true` is missing"]);
    }

    #[test]
    fn dependencies_are_inherited_in_every_table() {
        for table in DEPENDENCY_TABLES {
            for prefix in ["", "target.'cfg(unix)'."] {
                let header = format!("[{prefix}{table}]");
                let text = GOOD.replace("[dependencies]", &header)
                    + &format!("[{prefix}{table}.rand]\nversion = \"1\"\n");
                let message = format!("{table}: `rand` does not say `workspace = true`");
                check_one(&text, &[], &[&message]);
            }
        }
        let text = GOOD.replace("serde.workspace = true", "serde = \"1\"");
        check_one(&text, &[], &["dependencies: `serde` does not say `workspace = true`"]);
    }

    #[test]
    fn integration_tests_are_one_declared_binary() {
        let tests = &["crates/a/tests/it.rs"];
        let manual = GOOD.replace("name = \"a\"", "name = \"a\"\nautotests = false");
        let one = format!("{manual}[[test]]\nname = \"it\"\n");
        check_one(&one, tests, &[]);
        let unsaid = "has tests/ but not `autotests = false`";
        check_one(&format!("{GOOD}[[test]]\nname = \"it\"\n"), tests, &[unsaid]);
        let never = "has tests/ but no `[[test]]`, so that they never run";
        check_one(&manual, tests, &[never]);
        let two = format!("{one}[[test]]\nname = \"other\"\n");
        check_one(&two, tests, &["has 2 integration test binaries, at most one"]);
    }

    #[test]
    fn a_crate_has_a_documented_root_and_no_readme() {
        let readme = "has a README.md: a crate's page is the `//!` of its lib.rs";
        check_one(GOOD, &["crates/a/README.md"], &[readme]);
        let found = check("crates/b/Cargo.toml".into(), GOOD, &[]).expect("valid TOML");
        let message = "has neither src/lib.rs nor src/main.rs";
        assert_eq!(found, [Finding::of("crates/b/Cargo.toml", message)]);
    }

    #[test]
    fn clippy_and_the_manifest_agree_on_the_msrv() {
        let manifest = "[workspace.package]\nrust-version = \"1.89\"\n";
        assert_eq!(check_msrv(manifest, "msrv = \"1.89\"").expect("valid TOML"), []);
        for clippy in ["msrv = \"1.90\"", ""] {
            assert_eq!(check_msrv(manifest, clippy).expect("valid TOML").len(), 1, "{clippy:?}");
        }
    }
}
