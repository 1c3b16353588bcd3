//! Where everything is kept, and opening it.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::{Context, bail, ensure};
use artifact_store::{AsyncStore, LocalStore, StoreOptions};
use artifacts::{ArtifactStore, Journal};
use camino::{Utf8Path, Utf8PathBuf};
use etcetera::BaseStrategy;
use output_contract::{SessionId, Timestamp};
use rustix::io::Errno;
use session_log::SessionLogs;
use tool_runtime::recover;

use crate::config::{BLOCKING_WORK, Config};
use crate::nowhere::Nowhere;
use crate::terminal::note;

/// The name under which hints call this program.
pub const PROGRAM: &str = "overspill";

/// What the system answers where it has no room, no handles or no right to
/// write at all.
const REFUSALS: [Errno; 9] = [
    Errno::DQUOT,
    Errno::FBIG,
    Errno::IO,
    Errno::MFILE,
    Errno::NFILE,
    Errno::NOMEM,
    Errno::NOSPC,
    Errno::ROFS,
    Errno::NOLCK,
];

/// The home directory: configuration, store and session logs.
#[derive(Debug)]
pub struct Home {
    /// The directory.
    pub root: Utf8PathBuf,
    /// The configuration that is in force.
    pub config: Config,
    /// Where outputs are kept.
    pub store: Arc<AsyncStore>,
    /// Where results are saved.
    pub sessions: Arc<SessionLogs>,
}

impl Home {
    /// Opens the home directory, makes it where it is missing, and ends what
    /// dead processes left behind.
    ///
    /// # Errors
    /// Where the configuration is invalid or something cannot be opened. A
    /// recovery that does not succeed is reported and tried again by the next
    /// command.
    pub async fn open() -> anyhow::Result<Self> {
        let root = make_private(&root()?)?;
        let config = Config::load(&config_path(&root))?;
        let durability = config.store.durability.into();
        let options = StoreOptions {
            durability,
            grace: config.store.grace,
            allow_network_fs: config.store.allow_network_fs,
        };
        let store = LocalStore::open(&root.join("store"), options)
            .with_context(|| format!("could not open the store in {root}"))?;
        let sessions = SessionLogs::open(root.join("sessions"), durability)
            .with_context(|| format!("could not open the session logs in {root}"))?;
        let store = Arc::new(AsyncStore::new(store).with_blocking_work(BLOCKING_WORK));
        let sessions = Arc::new(sessions.with_blocking_work(BLOCKING_WORK));
        let home = Self { root, config, store, sessions };
        home.recover().await;
        Ok(home)
    }

    async fn recover(&self) {
        let config = self.config.runtime(PROGRAM);
        match recover(&self.artifacts(), &self.journal(), &config, now()).await {
            Ok(recovered) => {
                for call in recovered.iter().filter(|call| !call.already_saved) {
                    let (session, call) = (&call.session_id, &call.call_id);
                    tracing::info!(%session, %call, "ended a call whose process had died");
                }
            }
            Err(error) => {
                let error = anyhow::Error::new(error);
                note(&format!(
                    "overspill: a call whose process died could not be saved yet: {error:#}"
                ));
            }
        }
    }

    /// Where results go if the system refuses to open the home: a full or
    /// read-only disk must cost the record, not the command. `None` where the
    /// error is another, which somebody has to mend first.
    pub(crate) fn nowhere(error: &anyhow::Error) -> Option<(Config, Arc<Nowhere>)> {
        let refused = error.chain().any(|cause| {
            let shared = cause.downcast_ref::<Arc<io::Error>>().map(|error| &**error);
            let system = cause.downcast_ref::<io::Error>().or(shared);
            let errno = system.and_then(io::Error::raw_os_error);
            errno.is_some_and(|errno| REFUSALS.contains(&Errno::from_raw_os_error(errno)))
        });
        let root = root().ok().filter(|_| refused)?;
        let config = Config::load(&config_path(&root)).unwrap_or_default();
        Some((config, Arc::new(Nowhere::new(&root.join("store"), format!("{error:#}")))))
    }

    /// The store, behind its seam.
    pub fn artifacts(&self) -> Arc<dyn ArtifactStore> {
        self.store.clone()
    }

    /// The session logs, behind their seam.
    pub fn journal(&self) -> Arc<dyn Journal> {
        self.sessions.clone()
    }
}

/// The home directory: `$OVERSPILL_HOME`, else `overspill` in the XDG data
/// directory.
///
/// # Errors
/// Where neither is known, or the path is relative or no UTF-8.
pub fn root() -> anyhow::Result<Utf8PathBuf> {
    let path = match std::env::var_os("OVERSPILL_HOME") {
        Some(path) if !path.is_empty() => path.into(),
        _ => etcetera::base_strategy::choose_base_strategy()
            .context("no home directory is known; set OVERSPILL_HOME")?
            .data_dir()
            .join(PROGRAM),
    };
    let path = Utf8PathBuf::try_from(path).context("the path of the home must be UTF-8")?;
    if !path.is_absolute() {
        bail!("the home must be an absolute path, not {path}; set OVERSPILL_HOME");
    }
    Ok(path)
}

/// Where the configuration is.
pub fn config_path(root: &Utf8Path) -> Utf8PathBuf {
    root.join("overspill.toml")
}

/// Makes the directory where it is missing, and refuses one that someone else
/// may change: they could make the configuration or the outputs their own.
/// Returns where it really is.
fn make_private(root: &Utf8Path) -> anyhow::Result<Utf8PathBuf> {
    if !root.exists() {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(root);
        made.with_context(|| format!("could not create the home {root}"))?;
    }
    let root =
        root.canonicalize_utf8().with_context(|| format!("could not open the home {root}"))?;
    let metadata = fs_err::metadata(&root)?;
    ensure!(metadata.is_dir(), "the home {root} is no directory");
    let (owner, user) = (metadata.uid(), rustix::process::geteuid().as_raw());
    ensure!(owner == user, "the home {root} belongs to user {owner}, and this is user {user}");
    let mode = metadata.mode() & 0o7777;
    ensure!(
        mode & 0o022 == 0,
        "others may write to the home {root} (mode {mode:04o}); make it private: chmod 700 {root}"
    );
    Ok(root)
}

/// The time of day.
#[expect(clippy::disallowed_methods, reason = "the program is where the clock is read")]
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// A time as `2026-01-31T12:00:00Z`.
pub fn rfc3339(at: Timestamp) -> String {
    let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_millis(at.0);
    humantime::format_rfc3339_seconds(time).to_string()
}

/// The session of a call that names none: today's date, in UTC.
pub fn default_session(at: Timestamp) -> SessionId {
    SessionId::new(&rfc3339(at)[..10]).expect("a date is a valid session id")
}
