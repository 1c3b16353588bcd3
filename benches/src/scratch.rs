//! The scratch directory, the text that is captured, and the program under test.

use std::io::Write;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use camino::{Utf8Path, Utf8PathBuf};
use tempfile::TempDir;

use crate::process;

pub(crate) const MIB: u64 = 1024 * 1024;

/// A directory that is removed in the end.
#[derive(Debug)]
pub(crate) struct Scratch {
    dir: Utf8PathBuf,
    _removed: TempDir,
}

impl Scratch {
    pub(crate) fn new(parent: &Utf8Path) -> Result<Self> {
        let removed = tempfile::Builder::new()
            .prefix("overspill-bench-")
            .tempdir_in(parent)
            .with_context(|| format!("could not make a directory in {parent}"))?;
        let dir = removed.path().to_owned().try_into().context("the path must be UTF-8")?;
        Ok(Self { dir, _removed: removed })
    }

    pub(crate) fn path(&self, name: &str) -> Utf8PathBuf {
        self.dir.join(name)
    }

    /// Where it is, and on which file system.
    pub(crate) fn medium(&self) -> Result<String> {
        let mounts = fs_err::read_to_string("/proc/self/mounts")?;
        let mut found = ("", "an unknown file system");
        for line in mounts.lines() {
            if let [_, at, kind, ..] = line.split(' ').collect::<Vec<_>>()[..]
                && self.dir.starts_with(at)
                && at.len() >= found.0.len()
            {
                found = (at, kind);
            }
        }
        Ok(format!("{} ({})", self.dir.parent().unwrap_or(&self.dir), found.1))
    }

    /// What is missing for so many names and so much memory.
    pub(crate) fn lacks(&self, inodes: u64, memory_kib: u64) -> Result<Option<String>> {
        let free = rustix::fs::statvfs(self.dir.as_std_path())?.f_favail;
        let memory = fs_err::read_to_string("/proc/meminfo")?;
        let memory = process::field(&memory, "MemAvailable:").unwrap_or(0);
        Ok(if free < inodes {
            Some(format!("{inodes} inodes are needed, {free} are free"))
        } else if memory < memory_kib {
            Some(format!("{memory_kib} KiB of memory are needed, {memory} are free"))
        } else {
            None
        })
    }

    /// A file of that many MiB of text.
    pub(crate) fn text_file(&self, name: &str, mib: u64) -> Result<Utf8PathBuf> {
        let path = self.path(name);
        let mut file = fs_err::File::create(&path)?;
        let mut lines = Lines::default();
        for _ in 0..mib {
            file.write_all(&lines.bytes(MIB as usize))?;
        }
        Ok(path)
    }

    /// A home with caps that nothing here reaches.
    pub(crate) fn home(&self, name: &str, durability: &str) -> Result<Home> {
        let dir = self.path(name);
        fs_err::create_dir_all(&dir)?;
        let config = format!(
            "[capture]\nmax_stream_bytes = {cap}\nmax_call_bytes = {cap}\n\
             [store]\ndurability = \"{durability}\"\n",
            cap = 1024 * 1024 * MIB
        );
        fs_err::write(dir.join("overspill.toml"), config)?;
        Ok(Home { dir })
    }
}

/// A home of the program under test; removed when dropped.
#[derive(Debug)]
pub(crate) struct Home {
    pub(crate) dir: Utf8PathBuf,
}

impl Home {
    /// The program, which lies beside this one.
    pub(crate) fn overspill(&self) -> Result<Command> {
        let here = std::env::current_exe().context("where this program is")?;
        let mut command = Command::new(here.with_file_name("overspill"));
        command.env("OVERSPILL_HOME", &self.dir);
        quiet(&mut command);
        Ok(command)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = fs_err::remove_dir_all(&self.dir);
    }
}

/// Nothing in, nothing shown.
pub(crate) fn quiet(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null())
}

/// Endless text: lines of 8 to 135 bytes, like those of a build log.
#[derive(Debug)]
pub(crate) struct Lines {
    state: u64,
    rest: Vec<u8>,
}

impl Default for Lines {
    fn default() -> Self {
        Self { state: 0x9e37_79b9_7f4a_7c15, rest: Vec::new() }
    }
}

impl Lines {
    /// The next `count` bytes.
    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        const WORDS: &[u8] = b"  Compiling artifacts v0.1.0 (/home/user/artifacts/crates) in 4.21s: \
            warning: unused variable `x` --> src/lib.rs:12:9 | note: `#[warn(unused)]` on by default ";
        let mut bytes = std::mem::take(&mut self.rest);
        while bytes.len() < count {
            self.state ^= self.state << 13;
            self.state ^= self.state >> 7;
            self.state ^= self.state << 17;
            let (length, from) = (self.state % 128, (self.state >> 8) % (WORDS.len() as u64 - 128));
            bytes.extend(format!("{:06} ", self.state >> 44 & 0xf_ffff).bytes());
            bytes.extend(&WORDS[from as usize..(from + length) as usize]);
            bytes.push(b'\n');
        }
        self.rest = bytes.split_off(count);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_goes_on_where_it_stopped() {
        let mut pieces = Lines::default();
        let joined = [pieces.bytes(1000), pieces.bytes(5000)].concat();
        assert_eq!(joined, Lines::default().bytes(6000));
        assert!(joined.is_ascii());
    }
}
