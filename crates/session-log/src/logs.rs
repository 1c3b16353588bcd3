//! The logs of all sessions, in one directory.

use std::io::BufReader;
use std::ops::ControlFlow;
use std::sync::Arc;

use artifacts::{BlockingWork, Durability};
use camino::{Utf8Path, Utf8PathBuf};
use output_contract::{CallId, SavedEvent, SessionId, Timestamp, decode_event};

use crate::calls::{LoggedCall, logged_calls, mentions};
use crate::directory::Directory;
use crate::encode::encode;
use crate::error::LogError;
use crate::file_name::{file_name, is_log};
use crate::log_file::{LockedLog, OpenLog};
use crate::records::{Entry, SessionRecords, scan};

/// More than the first record of a log ever has, in bytes.
const HEAD_BYTES: usize = 1024;

/// Session logs in a directory, one file a session.
///
/// Cheap to clone. Any number of these, in any number of processes, may work
/// on one directory. Every method blocks; the [`Journal`](artifacts::Journal)
/// that this also is does not.
#[derive(Debug, Clone)]
pub struct SessionLogs {
    dir: Arc<Directory>,
    durability: Durability,
    pub(crate) work: BlockingWork,
}

/// One session of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSummary {
    /// The session.
    pub session: SessionId,
    /// When it started; `None` where its log does not begin with that.
    pub started_at: Option<Timestamp>,
    /// When its log was last written, by the file system's clock.
    pub last_modified: Timestamp,
    /// The size of its log, in bytes.
    pub bytes: u64,
}

impl SessionLogs {
    /// Works on the logs in `dir`, which is made, for us alone, where it is
    /// missing.
    ///
    /// # Errors
    /// [`LogError::File`] where it can be neither made nor opened or is no
    /// directory, [`LogError::ForeignDirectory`] where it is another user's.
    pub fn open(dir: Utf8PathBuf, durability: Durability) -> Result<Self, LogError> {
        let dir = Arc::new(Directory::prepare(dir, durability)?);
        Ok(Self { dir, durability, work: BlockingWork::OnThreads })
    }

    /// The same logs; as a journal, they do their work there.
    #[must_use]
    pub fn with_blocking_work(self, work: BlockingWork) -> Self {
        Self { work, ..self }
    }

    /// The directory.
    pub fn dir(&self) -> &Utf8Path {
        self.dir.path()
    }

    /// The file of a session, whether or not it is there.
    pub fn path(&self, session: &SessionId) -> Utf8PathBuf {
        self.dir().join(file_name(session))
    }

    /// Saves one event at the end of a session's log; durable when it returns,
    /// where the logs are. Only the start of a call need not be before its end
    /// is.
    ///
    /// A new log first gets [`SavedEvent::SessionStarted`], at the time of
    /// `event`, unless that is what `event` is. Nobody else's record is ever
    /// mixed with it: a tail that another writer left torn is closed first.
    ///
    /// # Errors
    /// [`LogError::File`] where it is not saved; then the log is as it was.
    /// [`LogError::TooDeep`] where it could not be read back, and
    /// [`LogError::OtherSession`] where the file is another session's.
    pub fn append_blocking(&self, session: &SessionId, event: &SavedEvent) -> Result<(), LogError> {
        self.append_to(session, event).map(|_| ())
    }

    /// Appends, and says whether the log had to be made for it.
    pub(crate) fn append_to(
        &self,
        session: &SessionId,
        event: &SavedEvent,
    ) -> Result<bool, LogError> {
        let line = encode(event)?;
        let name = file_name(session);
        let log = LockedLog::create(&self.dir, &name)?;
        let torn = log.is_torn()?;
        let mut bytes = Vec::with_capacity(line.len() + HEAD_BYTES);
        if torn {
            bytes.push(b'\n');
        }
        if self.needs_start(session, &log, torn)? && !starts(session, event) {
            let (session_id, at) = (session.clone(), event.saved_at());
            bytes.extend(encode(&SavedEvent::SessionStarted { session_id, at })?);
        }
        bytes.extend(line);
        let new = log.len() == 0;
        log.append(&bytes, self.durability, settles(event))?;
        Ok(new)
    }

    /// Whether no whole line is in the log yet, so that the next one must name
    /// the session.
    fn needs_start(
        &self,
        session: &SessionId,
        log: &LockedLog<'_>,
        torn: bool,
    ) -> Result<bool, LogError> {
        let head = log.head(HEAD_BYTES)?;
        let Some(end) = memchr::memchr(b'\n', &head) else {
            return Ok(log.len() == 0 || torn);
        };
        match decode_event(&head[..end]) {
            Ok(SavedEvent::SessionStarted { session_id: found, .. }) if found != *session => {
                let (path, session) = (self.path(session), session.clone());
                Err(LogError::OtherSession { path, session, found })
            }
            _ => Ok(false),
        }
    }

    /// Reads a session's log, without its lock: an append that is under way is
    /// seen whole, not at all, or as [unfinished](crate::SkipReason::Unfinished).
    ///
    /// # Errors
    /// [`LogError::NoSuchSession`], and [`LogError::File`] where the system
    /// fails. Content is never an error.
    pub fn read(&self, session: &SessionId) -> Result<SessionRecords, LogError> {
        let name = file_name(session);
        let log = OpenLog::open(&self.dir, &name)?
            .ok_or_else(|| LogError::NoSuchSession { session: session.clone() })?;
        Ok(SessionRecords::from_reader(BufReader::new(log))
            .map_err(|error| self.dir.failed("read", &name, error))?)
    }

    /// The calls of a session, in the order in which its log first mentions
    /// them; none where there is no log. What they put out is passed over.
    ///
    /// # Errors
    /// [`LogError::File`] where the system fails.
    pub fn calls(&self, session: &SessionId) -> Result<Vec<LoggedCall>, LogError> {
        let name = file_name(session);
        let Some(log) = OpenLog::open(&self.dir, &name)? else { return Ok(Vec::new()) };
        Ok(logged_calls(BufReader::new(log))
            .map_err(|error| self.dir.failed("read", &name, error))?)
    }

    /// Whether a session's log mentions a call. It says nothing of a call that
    /// another process is about to save.
    ///
    /// # Errors
    /// [`LogError::File`] where the system fails.
    pub fn contains_call(&self, session: &SessionId, call: &CallId) -> Result<bool, LogError> {
        self.mentions(session, call, |_| true)
    }

    /// Whether a session's log has the terminal record of a call.
    ///
    /// # Errors
    /// [`LogError::File`] where the system fails.
    pub fn has_finished_blocking(
        &self,
        session: &SessionId,
        call: &CallId,
    ) -> Result<bool, LogError> {
        self.mentions(session, call, |mentioned| mentioned.status.is_some())
    }

    fn mentions(
        &self,
        session: &SessionId,
        call: &CallId,
        what: impl Fn(&LoggedCall) -> bool,
    ) -> Result<bool, LogError> {
        let name = file_name(session);
        let Some(log) = OpenLog::open(&self.dir, &name)? else { return Ok(false) };
        Ok(mentions(BufReader::new(log), |mentioned| mentioned.call_id == *call && what(mentioned))
            .map_err(|error| self.dir.failed("read", &name, error))?)
    }

    /// The sessions that have a log here, those that started first first.
    /// Files that are no logs, or do not say whose they are, are passed over.
    ///
    /// # Errors
    /// [`LogError::File`] where the system fails.
    pub fn sessions(&self) -> Result<Vec<SessionSummary>, LogError> {
        let mut found = Vec::new();
        for name in self.dir.names()?.iter().filter(|name| is_log(name)) {
            found.extend(self.summarise(name)?);
        }
        found.sort_by(|a, b| (a.started_at, &a.session).cmp(&(b.started_at, &b.session)));
        Ok(found)
    }

    fn summarise(&self, name: &str) -> Result<Option<SessionSummary>, LogError> {
        let log = match self.dir.is_file(name)? {
            true => OpenLog::open(&self.dir, name)?,
            false => None,
        };
        let Some(log) = log else { return Ok(None) };
        let (bytes, last_modified) = (log.bytes(), log.last_modified());
        let mut summary = None;
        scan(BufReader::new(log), decode_event, |entry| {
            let Entry::Record { value, .. } = entry else { return ControlFlow::Continue(()) };
            let (session, started_at) = match value {
                SavedEvent::SessionStarted { session_id, at } => (session_id, Some(at)),
                SavedEvent::CallStarted { session_id, .. } => (session_id, None),
                SavedEvent::CallFinished { result, .. } => (result.session_id, None),
                SavedEvent::Item { .. }
                | SavedEvent::SessionForked { .. }
                | SavedEvent::Reverted { .. }
                | SavedEvent::Compacted { .. } => return ControlFlow::Continue(()),
            };
            if file_name(&session) == name {
                summary = Some(SessionSummary { session, started_at, last_modified, bytes });
            }
            ControlFlow::Break(())
        })
        .map_err(|error| self.dir.failed("read", name, error))?;
        Ok(summary)
    }

    /// Removes a session's log, and says whether there was one. An append that
    /// comes at the same time is either removed with it, or begins a new log.
    ///
    /// # Errors
    /// [`LogError::File`] where the system fails.
    pub fn remove(&self, session: &SessionId) -> Result<bool, LogError> {
        match LockedLog::existing(&self.dir, &file_name(session))? {
            Some(log) => Ok(log.remove(self.durability).map(|()| true)?),
            None => Ok(false),
        }
    }

    /// Removes logs of which no line says whose they are: a process that died
    /// while it began one, or damage, leaves such a file. Returns how many.
    ///
    /// # Errors
    /// [`LogError::File`] where the system fails.
    pub fn remove_nameless(&self) -> Result<u64, LogError> {
        let mut removed = 0;
        for name in self.dir.names()?.iter().filter(|name| is_log(name)) {
            // Under its lock, so that one that is being begun is left alone.
            if self.summarise(name)?.is_none()
                && self.dir.is_file(name)?
                && let Some(log) = LockedLog::existing(&self.dir, name)?
                && self.summarise(name)?.is_none()
            {
                log.remove(self.durability)?;
                removed += 1;
            }
        }
        Ok(removed)
    }
}

/// Whether what `event` says is worth waiting for the medium. A power loss ends
/// the call anyway, and then nothing refers to its start.
fn settles(event: &SavedEvent) -> bool {
    !matches!(event, SavedEvent::CallStarted { .. })
}

/// Whether `event` is the start of `session`.
fn starts(session: &SessionId, event: &SavedEvent) -> bool {
    matches!(event, SavedEvent::SessionStarted { session_id, .. } if session_id == session)
}
