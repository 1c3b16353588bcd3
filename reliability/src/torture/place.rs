//! Where everything of one run lies.

use anyhow::Result;
use camino::{Utf8Path, Utf8PathBuf};

/// The directory of a run: the store, the logs, and a file that says stop.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    dir: Utf8PathBuf,
}

impl Place {
    /// A place that is there already.
    pub(crate) const fn at(dir: Utf8PathBuf) -> Self {
        Self { dir }
    }

    /// A new directory below `parent`, with a log for each worker.
    pub(crate) fn create(parent: &Utf8Path, workers: &[String]) -> Result<Self> {
        let dir = tempfile::Builder::new().prefix("overspill-torture-").tempdir_in(parent)?.keep();
        let place = Self::at(dir.try_into()?);
        fs_err::create_dir(place.logs())?;
        for worker in workers {
            fs_err::write(place.logs().join(worker), "")?;
        }
        Ok(place)
    }

    pub(crate) fn dir(&self) -> &Utf8Path {
        &self.dir
    }

    pub(crate) fn store(&self) -> Utf8PathBuf {
        self.dir.join("store")
    }

    pub(crate) fn logs(&self) -> Utf8PathBuf {
        self.dir.join("logs")
    }

    pub(crate) fn stop(&self) -> Result<()> {
        Ok(fs_err::write(self.dir.join("stop"), "")?)
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.dir.join("stop").exists()
    }

    pub(crate) fn remove(self) -> Result<()> {
        Ok(fs_err::remove_dir_all(self.dir)?)
    }
}
