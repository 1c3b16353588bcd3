//! Why a process could not be started.
//!
//! Responsible for telling apart what the system reports with the same few
//! error numbers: a missing program, a missing working directory and a missing
//! interpreter are all "no such file".

use std::ffi::{OsStr, OsString};
use std::io;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use camino::{Utf8Path, Utf8PathBuf};
use output_contract::Fields;
use rustix::fs::{Access, FileType};
use rustix::io::Errno;

use super::spec::ProcessSpec;

/// Where a program is looked up if there is no `PATH`, as `execvp` does.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// Longest first line of a script that the kernel reads, in bytes.
const MAX_SHEBANG_BYTES: u64 = 256;

/// Why a process could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// There is no such program.
    #[error("program not found: {}", program.display())]
    NotFound {
        /// The program as it was given.
        program: OsString,
        /// What the system said.
        source: io::Error,
    },
    /// The program is there and cannot be executed.
    #[error("program cannot be executed: {}", program.display())]
    NotExecutable {
        /// The program as it was given.
        program: OsString,
        /// What the system said.
        source: io::Error,
    },
    /// The program is there; the interpreter that its first line names, or the
    /// loader that it needs, is not.
    #[error(
        "program cannot be executed: {} exists, but {} does not",
        program.display(),
        interpreter.as_deref().map_or_else(
            || "the loader that it needs".to_owned(),
            |name| format!("its interpreter {name}"),
        ),
    )]
    MissingInterpreter {
        /// The program as it was given.
        program: OsString,
        /// The interpreter, where a first line names one.
        interpreter: Option<String>,
        /// What the system said.
        source: io::Error,
    },
    /// The working directory is missing, no directory, or closed to us.
    #[error("working directory cannot be used: {cwd}")]
    Cwd {
        /// The directory as it was given.
        cwd: Utf8PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The system could not start any process, or not with these arguments.
    #[error("program cannot be started: {}", program.display())]
    Other {
        /// The program as it was given.
        program: OsString,
        /// What the system said.
        source: io::Error,
    },
}

/// The kinds of [`SpawnError`], as a call's metadata keeps them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NotStarted {
    /// There is no such program.
    NotFound,
    /// The program, or what must interpret it, cannot be executed.
    NotExecutable,
    /// The working directory cannot be used.
    Cwd,
    /// Anything else.
    Other,
}

impl NotStarted {
    /// The metadata key of a call whose process did not start.
    pub const KEY: &str = "notStarted";

    const ALL: [Self; 4] = [Self::NotFound, Self::NotExecutable, Self::Cwd, Self::Other];

    /// The metadata value.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::NotExecutable => "not_executable",
            Self::Cwd => "cwd",
            Self::Other => "other",
        }
    }

    /// Reads it from the metadata of a call; `None` where its process started.
    pub fn from_metadata(metadata: &Fields) -> Option<Self> {
        let value = metadata.get(Self::KEY)?.as_str()?;
        Self::ALL.into_iter().find(|kind| kind.as_str() == value)
    }

    /// What a program that runs others exits with: 127 where there is no such
    /// program, 126 where it cannot be executed, 125 for a fault of its own.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::NotFound => 127,
            Self::NotExecutable => 126,
            Self::Cwd | Self::Other => 125,
        }
    }
}

impl SpawnError {
    /// Which kind this is.
    pub const fn kind(&self) -> NotStarted {
        match self {
            Self::NotFound { .. } => NotStarted::NotFound,
            Self::NotExecutable { .. } | Self::MissingInterpreter { .. } => {
                NotStarted::NotExecutable
            }
            Self::Cwd { .. } => NotStarted::Cwd,
            Self::Other { .. } => NotStarted::Other,
        }
    }

    /// Finds out what `source` means. It looks at the files again, so it blocks
    /// and tells what is there now.
    pub(super) fn diagnose(source: io::Error, spec: &ProcessSpec) -> Self {
        let program = spec.program.clone();
        let errno = Errno::from_io_error(&source);
        match errno {
            Some(
                Errno::NOENT
                | Errno::ACCESS
                | Errno::PERM
                | Errno::NOTDIR
                | Errno::LOOP
                | Errno::NAMETOOLONG
                | Errno::NOEXEC
                | Errno::TXTBSY
                | Errno::TOOBIG
                | Errno::ISDIR,
            ) => {}
            _ => return Self::Other { program, source },
        }
        if let Some(cwd) = &spec.cwd
            && let Err(error) = enter(cwd)
        {
            return Self::Cwd { cwd: cwd.clone(), source: error.into() };
        }
        let searched = !program.as_bytes().contains(&b'/');
        match (errno, find(spec)) {
            (Some(Errno::NOENT), Some(file)) => {
                let interpreter = interpreter(&file);
                Self::MissingInterpreter { program, interpreter, source }
            }
            (Some(Errno::NOENT), None) => Self::NotFound { program, source },
            // The search has met a directory that is closed to us.
            (Some(Errno::ACCESS), None) if searched => Self::NotFound { program, source },
            _ => Self::NotExecutable { program, source },
        }
    }
}

/// Whether a process could make this its working directory.
fn enter(cwd: &Utf8Path) -> rustix::io::Result<()> {
    let stat = rustix::fs::stat(cwd.as_str())?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return Err(Errno::NOTDIR);
    }
    rustix::fs::access(cwd.as_str(), Access::EXEC_OK)
}

/// The file that executing the program would have taken.
fn find(spec: &ProcessSpec) -> Option<OsString> {
    let cwd = spec.cwd.as_deref().unwrap_or(Utf8Path::new("."));
    let file = |path: &Path| {
        let path = cwd.as_std_path().join(path);
        fs_err::metadata(&path).is_ok_and(|found| found.is_file()).then(|| path.into_os_string())
    };
    let program = &spec.program;
    if program.as_bytes().contains(&b'/') {
        return file(Path::new(program));
    }
    let path = search_path(spec);
    std::env::split_paths(&path).find_map(|directory| file(&directory.join(program)))
}

/// The `PATH` that the process gets.
fn search_path(spec: &ProcessSpec) -> OsString {
    let given = spec.env.iter().rev().find(|(name, _)| name == "PATH");
    let path = match given {
        Some((_, value)) => value.clone(),
        None if spec.clear_env => None,
        None => std::env::var_os("PATH"),
    };
    path.unwrap_or_else(|| DEFAULT_PATH.into())
}

/// The interpreter in the first line of a script.
fn interpreter(file: &OsStr) -> Option<String> {
    let mut start = Vec::new();
    fs_err::File::open(file).ok()?.take(MAX_SHEBANG_BYTES).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    line.split([' ', '\t']).find(|word| !word.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn kinds_go_through_metadata() {
        for kind in NotStarted::ALL {
            let metadata = Fields::from([(NotStarted::KEY.to_owned(), json!(kind.as_str()))]);
            assert_eq!(NotStarted::from_metadata(&metadata), Some(kind));
        }
        assert_eq!(NotStarted::from_metadata(&Fields::new()), None);
        let unknown = Fields::from([(NotStarted::KEY.to_owned(), json!("?"))]);
        assert_eq!(NotStarted::from_metadata(&unknown), None);
    }

    #[test]
    fn a_closed_directory_on_the_path_is_no_program() {
        for (program, expect) in [
            ("no-such-program-anywhere", NotStarted::NotFound),
            ("./no-such-program-anywhere", NotStarted::NotExecutable),
            ("sh", NotStarted::NotExecutable),
        ] {
            let error = SpawnError::diagnose(Errno::ACCESS.into(), &ProcessSpec::new(program));
            assert_eq!(error.kind(), expect, "{program}");
        }
    }

    #[test]
    fn the_path_searched_is_the_one_the_process_gets() {
        let mut spec = ProcessSpec::new("x");
        assert_eq!(Some(search_path(&spec)), std::env::var_os("PATH"));
        spec.clear_env = true;
        assert_eq!(search_path(&spec), DEFAULT_PATH);
        spec.env.push(("PATH".into(), Some("/a".into())));
        assert_eq!(search_path(&spec), "/a");
        spec.env.push(("PATH".into(), None));
        assert_eq!(search_path(&spec), DEFAULT_PATH);
    }
}
