//! The oracle: what each worker wrote down of what the store had promised it.
//!
//! One append-only file for each worker, which only its process writes. A line
//! ends in ` .`, so that one that was cut off is known for what it is.
//!
//! ```text
//! begin N                 the N-th process of this worker
//! intend CALL OUTPUT      it is going to retain this
//! commit CALL DIGEST      `retain` has returned; synced
//! releasing CALL          it is going to release this, or `*`; synced
//! released CALL           `release` has returned
//! WHAT N                  so many more of something were done
//! ```
//!
//! What is committed and not releasing must be readable at any time.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::os::unix::fs::FileExt;

use anyhow::{Context, Result, bail, ensure};
use camino::{Utf8Path, Utf8PathBuf};
use output_contract::Digest;

use crate::content::Output;

/// All calls of a worker.
const ALL: &str = "*";
const END: &str = " .";

/// A worker's own file, open to append.
#[derive(Debug)]
pub(crate) struct Log {
    file: fs_err::File,
}

/// What is known of a call that may be retained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) output: Output,
    /// What it retains, once `retain` has returned.
    pub(crate) committed: Option<Digest>,
    pub(crate) releasing: bool,
}

/// What a worker wrote so far.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) name: String,
    path: Utf8PathBuf,
    read: u64,
    /// Bytes after the last `\n`.
    rest: Vec<u8>,
    pub(crate) generation: u64,
    /// Calls that may be retained; released ones are forgotten.
    pub(crate) calls: BTreeMap<String, Call>,
    pub(crate) counts: BTreeMap<String, u64>,
}

/// All workers' files.
#[derive(Debug)]
pub(crate) struct Oracle {
    pub(crate) workers: Vec<Worker>,
}

impl Log {
    pub(crate) fn open(dir: &Utf8Path, name: &str) -> Result<Self> {
        let mut options = fs_err::OpenOptions::new();
        let file = options.read(true).append(true).create(true).open(dir.join(name))?;
        let length = file.metadata()?.len();
        let mut last = *b"\n";
        if length > 0 {
            file.file().read_exact_at(&mut last, length - 1)?;
        }
        let mut log = Self { file };
        if last != *b"\n" {
            log.file.write_all(b"\n")?;
        }
        Ok(log)
    }

    fn line(&mut self, line: &str) -> Result<()> {
        Ok(self.file.write_all(format!("{line}{END}\n").as_bytes())?)
    }

    pub(crate) fn begin(&mut self, generation: u64) -> Result<()> {
        self.line(&format!("begin {generation}"))
    }

    pub(crate) fn intend(&mut self, call: &str, output: &Output) -> Result<()> {
        self.line(&format!("intend {call} {output}"))
    }

    pub(crate) fn commit(&mut self, call: &str, digest: Digest) -> Result<()> {
        self.line(&format!("commit {call} {digest}"))?;
        Ok(self.file.sync_data()?)
    }

    /// `None` is all calls.
    pub(crate) fn releasing(&mut self, call: Option<&str>) -> Result<()> {
        self.line(&format!("releasing {}", call.unwrap_or(ALL)))?;
        Ok(self.file.sync_data()?)
    }

    pub(crate) fn released(&mut self, call: Option<&str>) -> Result<()> {
        self.line(&format!("released {}", call.unwrap_or(ALL)))
    }

    pub(crate) fn count(&mut self, what: &str, count: u64) -> Result<()> {
        self.line(&format!("{what} {count}"))
    }
}

impl Worker {
    fn new(dir: &Utf8Path, name: String) -> Self {
        let path = dir.join(&name);
        Self {
            name,
            path,
            read: 0,
            rest: Vec::new(),
            generation: 0,
            calls: BTreeMap::new(),
            counts: BTreeMap::new(),
        }
    }

    /// The calls whose output must be readable.
    pub(crate) fn committed(&self) -> impl Iterator<Item = (&String, &Call)> {
        self.calls.iter().filter(|(_, call)| call.committed.is_some() && !call.releasing)
    }

    fn refresh(&mut self) -> Result<()> {
        let file = fs_err::File::open(&self.path)?;
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let read = file.file().read_at(&mut buffer, self.read)?;
            if read == 0 {
                break;
            }
            self.read += read as u64;
            self.rest.extend_from_slice(&buffer[..read]);
        }
        let bytes = std::mem::take(&mut self.rest);
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        for line in bytes[..whole].split(|&byte| byte == b'\n') {
            let line = str::from_utf8(line).context("a log is text")?;
            if let Some(line) = line.strip_suffix(END) {
                self.take(line).with_context(|| format!("{}: {line}", self.path))?;
            }
        }
        self.rest = bytes[whole..].to_vec();
        Ok(())
    }

    fn take(&mut self, line: &str) -> Result<()> {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["begin", generation] => self.generation = generation.parse()?,
            ["intend", call, output] => {
                let call = (
                    call.to_owned(),
                    Call { output: output.parse()?, committed: None, releasing: false },
                );
                ensure!(self.calls.insert(call.0, call.1).is_none(), "a call is there once");
            }
            ["commit", call, digest] => {
                let call = self.calls.get_mut(call).context("committed and not intended")?;
                call.committed = Some(digest.parse()?);
                *self.counts.entry("publish".to_owned()).or_default() += 1;
            }
            ["releasing", ALL] => self.calls.values_mut().for_each(|call| call.releasing = true),
            ["releasing", call] => {
                self.calls.get_mut(call).context("releasing and not intended")?.releasing = true;
            }
            ["released", ALL] => self.calls.retain(|_, call| !call.releasing),
            ["released", call] => {
                self.calls.remove(call);
            }
            [what, count] => {
                *self.counts.entry(what.to_owned()).or_default() += count.parse::<u64>()?;
            }
            _ => bail!("not a line of a log"),
        }
        Ok(())
    }
}

impl Oracle {
    /// The logs of all workers that have begun.
    pub(crate) fn open(dir: &Utf8Path) -> Result<Self> {
        let mut oracle = Self { workers: Vec::new() };
        for entry in dir.read_dir_utf8()? {
            let name = entry?.file_name().to_owned();
            oracle.workers.push(Worker::new(dir, name));
        }
        oracle.workers.sort_by(|a, b| a.name.cmp(&b.name));
        oracle.refresh()?;
        Ok(oracle)
    }

    /// Reads what was added since.
    pub(crate) fn refresh(&mut self) -> Result<()> {
        self.workers.iter_mut().try_for_each(Worker::refresh)
    }

    pub(crate) fn worker(&self, name: &str) -> Option<&Worker> {
        self.workers.iter().find(|worker| worker.name == name)
    }

    /// How often something was done, by all.
    pub(crate) fn count(&self, what: &str) -> u64 {
        self.workers.iter().filter_map(|worker| worker.counts.get(what)).sum()
    }

    /// How many different named points workers came to.
    pub(crate) fn points(&self) -> usize {
        let counts = self.workers.iter().flat_map(|worker| worker.counts.keys());
        counts.filter(|what| what.starts_with("point:")).collect::<BTreeSet<_>>().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_says_what_must_be_readable() {
        let dir = tempfile::tempdir().expect("a directory");
        let dir = Utf8Path::from_path(dir.path()).expect("a UTF-8 path");
        let output: Output = "single,1:2".parse().expect("an output");
        let mut log = Log::open(dir, "w").expect("a log");
        for call in ["a", "b", "c"] {
            log.intend(call, &output).expect("a line");
        }
        log.commit("a", Digest::EMPTY).expect("a line");
        log.commit("b", Digest::EMPTY).expect("a line");
        log.releasing(Some("b")).expect("a line");
        log.file.write_all(b"commit c e3b0").expect("a line that is cut off");
        let mut log = Log::open(dir, "w").expect("a log");
        log.count("read", 3).expect("a line");

        let mut oracle = Oracle::open(dir).expect("logs");
        let worker = oracle.worker("w").expect("it has begun");
        let committed: Vec<_> = worker.committed().map(|(call, _)| call.as_str()).collect();
        assert_eq!((committed, worker.calls.len()), (vec!["a"], 3));
        assert_eq!((oracle.count("publish"), oracle.count("read")), (2, 3));
        log.released(Some("b")).expect("a line");
        log.releasing(None).expect("a line");
        oracle.refresh().expect("logs");
        let worker = oracle.worker("w").expect("it has begun");
        assert_eq!((worker.committed().count(), worker.calls.len()), (0, 2));
    }
}
