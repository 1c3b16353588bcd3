//! What a reader is configured with, and its check.

use camino::Utf8PathBuf;
use output_contract::ToolName;
use output_contract::limits::{DEFAULT_PAGE_BYTES, MAX_DEFAULT_PAGE_BYTES, MIN_PAGE_BYTES};

/// How a [`ReadTool`](crate::ReadTool) reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadConfig {
    /// What the model calls the tool; continuations name it.
    pub name: ToolName,
    /// The absolute directory that relative paths start from.
    pub cwd: Utf8PathBuf,
    /// The absolute directory that `~` stands for; `None` where there is none.
    pub home: Option<Utf8PathBuf>,
    /// Where a page without an explicit `limit` ends, in bytes:
    /// [`MIN_PAGE_BYTES`] to [`MAX_DEFAULT_PAGE_BYTES`].
    pub page_bytes: u64,
}

impl ReadConfig {
    /// The tool `read`, with the default page, without a home directory.
    pub fn new(cwd: impl Into<Utf8PathBuf>) -> Self {
        Self {
            name: ToolName::new("read").expect("a short name without controls"),
            cwd: cwd.into(),
            home: None,
            page_bytes: DEFAULT_PAGE_BYTES,
        }
    }

    pub(crate) fn check(&self) -> Result<(), ReadConfigError> {
        if !(MIN_PAGE_BYTES..=MAX_DEFAULT_PAGE_BYTES).contains(&self.page_bytes) {
            return Err(ReadConfigError::PageBytes { observed: self.page_bytes });
        }
        for (what, path) in [("cwd", Some(&self.cwd)), ("home", self.home.as_ref())] {
            if let Some(path) = path.filter(|path| !path.is_absolute()) {
                return Err(ReadConfigError::RelativePath { what, path: path.clone() });
            }
        }
        Ok(())
    }
}

/// Why a configuration is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadConfigError {
    /// A page size out of range.
    #[error("page_bytes must be {MIN_PAGE_BYTES} to {MAX_DEFAULT_PAGE_BYTES}, not {observed}")]
    PageBytes {
        /// The size found, in bytes.
        observed: u64,
    },
    /// A directory that is not absolute.
    #[error("{what} must be an absolute path, not {path:?}")]
    RelativePath {
        /// Which field.
        what: &'static str,
        /// The path found.
        path: Utf8PathBuf,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused() {
        let check = |change: fn(&mut ReadConfig)| {
            let mut config = ReadConfig::new("/w");
            change(&mut config);
            config.check().map_err(|error| error.to_string())
        };
        assert_eq!(check(|_| ()), Ok(()));
        assert_eq!(check(|config| config.page_bytes = MIN_PAGE_BYTES), Ok(()));
        assert_eq!(check(|config| config.page_bytes = MAX_DEFAULT_PAGE_BYTES), Ok(()));
        for bytes in [3, MAX_DEFAULT_PAGE_BYTES + 1] {
            let config = ReadConfig { page_bytes: bytes, ..ReadConfig::new("/w") };
            assert_eq!(config.check(), Err(ReadConfigError::PageBytes { observed: bytes }));
        }
        let relative = |what: &str| Err(format!("{what} must be an absolute path, not \"w\""));
        assert_eq!(check(|config| config.cwd = "w".into()), relative("cwd"));
        assert_eq!(check(|config| config.home = Some("w".into())), relative("home"));
    }
}
