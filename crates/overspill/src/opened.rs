//! Where a call is kept: the home, or nothing.

use std::sync::Arc;

use artifacts::{ArtifactStore, Journal};
use camino::Utf8PathBuf;

use crate::config::Config;
use crate::home::{self, Home};

/// What a call runs over.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) config: Config,
    pub(crate) store: Arc<dyn ArtifactStore>,
    pub(crate) journal: Arc<dyn Journal>,
    /// The home directory, whether or not it could be opened.
    pub(crate) root: Utf8PathBuf,
    /// `None` where nothing is kept.
    pub(crate) home: Option<Home>,
}

impl Opened {
    /// The home, or, where the system refuses it, nothing that keeps anything.
    ///
    /// # Errors
    /// Where the home cannot be opened for a reason that somebody has to mend.
    pub(crate) async fn open() -> anyhow::Result<Self> {
        match Home::open().await {
            Ok(home) => {
                let (store, journal) = (home.artifacts(), home.journal());
                let (config, root) = (home.config.clone(), home.root.clone());
                Ok(Self { config, store, journal, root, home: Some(home) })
            }
            Err(error) => match Home::nowhere(&error) {
                Some((config, nowhere)) => {
                    let (store, journal) = (nowhere.clone(), nowhere);
                    Ok(Self { config, store, journal, root: home::root()?, home: None })
                }
                None => Err(error),
            },
        }
    }
}
