//! A home directory of its own, and the program on a `PATH` of its own.

use std::ffi::OsStr;
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;
use tempfile::TempDir;

/// A place to run `overspill` in; removed in the end.
#[derive(Debug)]
pub(crate) struct Sandbox {
    _dir: TempDir,
    root: Utf8PathBuf,
}

/// What a program did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap().canonicalize_utf8().unwrap();
        fs_err::create_dir(root.join("bin")).unwrap();
        fs_err::create_dir(root.join("work")).unwrap();
        let program = env!("CARGO_BIN_EXE_overspill-under-test");
        fs_err::os::unix::fs::symlink(program, root.join("bin/overspill")).unwrap();
        let sandbox = Self { _dir: dir, root };
        // Most tests are not about surviving a loss of power.
        sandbox.configure("[store]\ndurability = \"fast\"\n");
        sandbox
    }

    pub(crate) fn home(&self) -> Utf8PathBuf {
        self.root.join("home")
    }

    /// Another home than [`Self::home`], which is not made yet.
    pub(crate) fn other_home(&self) -> Utf8PathBuf {
        self.root.join("other")
    }

    /// Where commands run; not where anything is kept.
    pub(crate) fn work(&self) -> Utf8PathBuf {
        self.root.join("work")
    }

    pub(crate) fn configure(&self, toml: &str) {
        fs_err::create_dir_all(self.home()).unwrap();
        fs_err::write(self.home().join("overspill.toml"), toml).unwrap();
    }

    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var("PATH").unwrap();
        command
            .env("PATH", format!("{}:{path}", self.root.join("bin")))
            .env("OVERSPILL_HOME", self.home())
            .current_dir(self.work())
            .stdin(Stdio::null());
        command
    }

    /// The program.
    pub(crate) fn program(&self) -> Utf8PathBuf {
        self.root.join("bin/overspill")
    }

    pub(crate) fn overspill<I>(&self, args: I) -> Ran
    where
        I: IntoIterator,
        I::Item: AsRef<OsStr>,
    {
        ran(self.command(self.program().as_str()).args(args))
    }

    /// `overspill run -- bash -c SCRIPT`
    pub(crate) fn run(&self, script: &str) -> Ran {
        self.overspill(["run", "--", "bash", "-c", script])
    }

    /// `overspill run OPTIONS --json -- bash -c SCRIPT`
    pub(crate) fn run_json(&self, options: &[&str], script: &str) -> Value {
        let args = [&["run", "--json"], options, &["--", "bash", "-c", script]].concat();
        self.overspill(args).json()
    }

    /// Runs a line as a person would who copies it from the terminal.
    pub(crate) fn shell(&self, line: &str) -> Ran {
        ran(self.command("bash").arg("-c").arg(line))
    }

    /// The whole of a stored stream, read page by page by the continuations
    /// that the program prints.
    pub(crate) fn read_all(&self, uri: &str) -> Vec<u8> {
        self.follow(&format!("overspill read {uri}"))
    }

    /// What a command line prints, and what the continuations after it do.
    pub(crate) fn follow(&self, line: &str) -> Vec<u8> {
        let mut line = line.to_owned();
        let mut all = Vec::new();
        loop {
            let page = self.shell(&line);
            assert_eq!(page.code, Some(0), "{line}: {}", page.stderr);
            all.extend_from_slice(&page.stdout);
            let Some(next) = continuation(&page.stderr) else { return all };
            assert!(!page.stdout.is_empty(), "no progress: {line}");
            line = next;
        }
    }
}

/// The command line in the note that a page is followed by.
pub(crate) fn continuation(stderr: &str) -> Option<String> {
    let (_, command) = stderr.trim_end().rsplit_once("Continue: ")?;
    Some(command.trim_end_matches(']').to_owned())
}

/// The command line in the hint of a truncated preview.
pub(crate) fn hint(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("[Truncated. Read more: ")?;
    Some(rest.lines().next().unwrap().trim_end_matches(']').to_owned())
}

pub(crate) fn ran(command: &mut Command) -> Ran {
    let output = command.output().unwrap();
    Ran {
        code: output.status.code(),
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

impl Ran {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.stdout.clone()).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}\n{}", self.stderr, self.text()))
    }
}
