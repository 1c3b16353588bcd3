//! Where the workspace is, and what it is made of: its root, its files, its crates.

use std::env;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use camino::{Utf8Path, Utf8PathBuf};
use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};

/// The root directory of the workspace; everything else is read from below it.
#[derive(Debug)]
pub(crate) struct Workspace {
    root: Utf8PathBuf,
}

impl Workspace {
    /// Finds the workspace this program belongs to.
    ///
    /// `cargo run` says where the package is *now*; the directory it was built in (the fallback)
    /// can be another clone, where the two share a target directory.
    pub(crate) fn locate() -> Result<Self> {
        let package = env::var("CARGO_MANIFEST_DIR")
            .unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").to_owned());
        let root = Utf8Path::new(&package).parent().context("xtask has no parent directory")?;
        Ok(Self { root: root.to_owned() })
    }

    /// Something below the root, as an absolute path.
    pub(crate) fn path(&self, relative: impl AsRef<Utf8Path>) -> Utf8PathBuf {
        self.root.join(relative)
    }

    /// Where cargo puts what it builds.
    pub(crate) fn target_directory(&self) -> Result<Utf8PathBuf> {
        Ok(self.metadata()?.target_directory)
    }

    /// A command that runs in the root and cannot wait for input.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root).stdin(Stdio::null());
        command
    }

    /// The cargo that runs this program, so that all steps use one toolchain.
    pub(crate) fn cargo<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = self.command(&env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()));
        command.args(args);
        command
    }

    /// The member crates as declared. Dependencies are not resolved: no network, no lock file.
    pub(crate) fn members(&self) -> Result<Vec<Member>> {
        let metadata = self.metadata()?;
        let root = &metadata.workspace_root;
        metadata
            .workspace_packages()
            .into_iter()
            .map(|package| Member::new(package, root))
            .collect()
    }

    fn metadata(&self) -> Result<Metadata> {
        MetadataCommand::new()
            .current_dir(&self.root)
            .no_deps()
            .exec()
            .context("failed to read the workspace's manifests")
    }

    /// The files git tracks or would track, relative to the root and sorted.
    ///
    /// Files deleted but still in the index are left out, and so are symbolic links.
    pub(crate) fn files(&self) -> Result<Vec<Utf8PathBuf>> {
        let output = self
            .command("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .stderr(Stdio::inherit())
            .output()
            .context("failed to start git")?;
        ensure!(output.status.success(), "git ls-files failed ({})", output.status);
        let listing = String::from_utf8(output.stdout).context("a file name is not UTF-8")?;
        let mut files: Vec<Utf8PathBuf> = listing
            .split_terminator('\0')
            .map(Utf8PathBuf::from)
            .filter(|path| {
                self.root.join(path).symlink_metadata().is_ok_and(|found| found.is_file())
            })
            .collect();
        files.sort();
        files.dedup();
        Ok(files)
    }

    /// The content of a text file.
    pub(crate) fn read(&self, path: &Utf8Path) -> Result<String> {
        Ok(fs_err::read_to_string(self.root.join(path))?)
    }

    /// The content of a file, or nothing where it is not text (a NUL, or not UTF-8).
    pub(crate) fn text(&self, path: &Utf8Path) -> Result<Option<String>> {
        let bytes = fs_err::read(self.root.join(path))?;
        Ok(String::from_utf8(bytes).ok().filter(|text| !text.contains('\0')))
    }
}

/// A crate of the workspace.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    /// Relative to the workspace's root.
    pub(crate) directory: Utf8PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
}

/// One entry of a crate's dependency tables.
#[derive(Clone, Debug)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) kind: DependencyKind,
    pub(crate) optional: bool,
}

impl Member {
    fn new(package: &Package, root: &Utf8Path) -> Result<Self> {
        let path = &package.manifest_path;
        let manifest =
            path.strip_prefix(root).with_context(|| format!("{path} is outside {root}"))?;
        let directory = manifest.parent().context("a manifest has a directory")?;
        let dependencies = package.dependencies.iter().map(|dependency| Dependency {
            name: dependency.name.clone(),
            kind: dependency.kind,
            optional: dependency.optional,
        });
        Ok(Self {
            name: package.name.to_string(),
            directory: directory.to_owned(),
            dependencies: dependencies.collect(),
        })
    }

    /// The path of the crate's manifest, relative to the root.
    pub(crate) fn manifest(&self) -> Utf8PathBuf {
        self.directory.join("Cargo.toml")
    }
}
