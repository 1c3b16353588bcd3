//! Histories across forks: what a session inherits, then its own.

use std::collections::HashSet;

use output_contract::{HistoryItem, SessionId};

use crate::error::LogError;
use crate::logs::SessionLogs;
use crate::records::{SessionRecords, Skipped};
use crate::replay::{ForkPoint, Replay, ReplayedCall, replay};

/// A session with all that it inherits.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionHistory {
    /// The sessions that make it up, the first ancestor first and the session
    /// itself last, each replayed as far as the next one inherits it.
    pub lineage: Vec<(SessionId, Replay)>,
    /// The stretches of their logs that were skipped.
    pub skipped: Vec<(SessionId, Skipped)>,
    /// An ancestor whose log is gone, so that what it had is missing.
    pub missing: Option<SessionId>,
}

impl SessionHistory {
    /// The active history.
    pub fn items(&self) -> Vec<HistoryItem> {
        let active = self.lineage.iter().flat_map(|(_, replay)| replay.history());
        active.map(|active| active.item).collect()
    }

    /// The calls of the active history that are inherited.
    pub fn inherited_calls(&self) -> impl Iterator<Item = &ReplayedCall> {
        let ancestors = self.lineage.split_last().map_or([].as_slice(), |(_, ancestors)| ancestors);
        ancestors.iter().flat_map(|(_, replay)| replay.active_calls())
    }
}

impl SessionLogs {
    /// The history of a session, with what it inherits.
    ///
    /// # Errors
    /// [`LogError::NoSuchSession`] where the session itself has no log, and
    /// [`LogError::File`] where the system fails. Content is never an error.
    pub fn history(&self, session: &SessionId) -> Result<SessionHistory, LogError> {
        self.history_at(&ForkPoint { from: session.clone(), at: u64::MAX })
    }

    /// The history that a fork from this point inherits.
    ///
    /// # Errors
    /// As for [`history`](Self::history).
    pub fn history_at(&self, point: &ForkPoint) -> Result<SessionHistory, LogError> {
        let mut found = SessionHistory::default();
        let mut seen = HashSet::new();
        let mut next = Some(point.clone());
        while let Some(ForkPoint { from, at }) = next.take() {
            let records = match self.read(&from) {
                Ok(records) if seen.insert(from.clone()) => records,
                // Saved data may say that it continues itself.
                Ok(_) => {
                    found.missing = Some(from);
                    break;
                }
                Err(LogError::NoSuchSession { .. }) if !found.lineage.is_empty() => {
                    found.missing = Some(from);
                    break;
                }
                Err(error) => return Err(error),
            };
            let SessionRecords { events, diagnostics } = records;
            let before = |skipped: &Skipped| skipped.position < at;
            let skipped = diagnostics.into_iter().filter(before);
            found.skipped.extend(skipped.map(|skipped| (from.clone(), skipped)));
            let replay = replay(events.into_iter().filter(|(position, _)| *position < at));
            next = replay.forked.clone().filter(|_| replay.inherits());
            found.lineage.push((from, replay));
        }
        found.lineage.reverse();
        Ok(found)
    }
}
