//! What a session looks like, from its saved events alone.

mod timeline;

use std::collections::HashMap;

use output_contract::{
    CallId, HistoryItem, OutputDeclaration, SavedEvent, SessionId, Timestamp, ToolName, ToolResult,
};
use serde_json::Value;

use self::timeline::{Entry, Timeline};

/// A session as its log tells it. Nothing was run, read or captured for it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Replay {
    /// The session; `None` where no event names one.
    pub session: Option<SessionId>,
    /// When it started; `None` where the log does not begin with that.
    pub started_at: Option<Timestamp>,
    /// Its calls, in the order in which the log first mentions them.
    pub calls: Vec<ReplayedCall>,
    /// The other items of its history, in order.
    pub items: Vec<ReplayedItem>,
    /// The session that it continues, where it is a fork.
    pub forked: Option<ForkPoint>,
    /// Events that contradict earlier ones and were left out.
    pub conflicts: Vec<Conflict>,
    timeline: Timeline,
}

/// Where a fork leaves the session that it continues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForkPoint {
    /// The other session.
    pub from: SessionId,
    /// The position in its log: what begins before it is inherited.
    pub at: u64,
}

/// A saved event and where it begins in its log.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedEvent {
    /// The position; `None` where it is known by its place among the others.
    pub position: Option<u64>,
    /// The event.
    pub event: SavedEvent,
}

impl From<SavedEvent> for LoggedEvent {
    fn from(event: SavedEvent) -> Self {
        Self { position: None, event }
    }
}

impl From<(u64, SavedEvent)> for LoggedEvent {
    fn from((position, event): (u64, SavedEvent)) -> Self {
        Self { position: Some(position), event }
    }
}

/// One item of the active history.
#[derive(Debug, Clone, PartialEq)]
pub struct ActiveItem {
    /// Where the event of it begins in its log: reverting to here makes the
    /// history end before it.
    pub position: u64,
    /// The item.
    pub item: HistoryItem,
}

/// One call.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplayedCall {
    /// The call.
    pub call_id: CallId,
    /// The call that made this one, where it is nested.
    pub parent_call_id: Option<CallId>,
    /// The tool, whether or not it still exists.
    pub tool: ToolName,
    /// Its arguments; `None` where the log has no start of the call.
    pub arguments: Option<Value>,
    /// The streams that were declared; `None` where the output was not
    /// captured, or the log has no start of the call.
    pub output: Option<OutputDeclaration>,
    /// When it started.
    pub started_at: Timestamp,
    /// How far it came.
    pub state: CallState,
}

/// How far a call came.
#[derive(Debug, Clone, PartialEq)]
pub enum CallState {
    /// No terminal record is there: the call runs, or nobody has recovered it.
    Running,
    /// All that was kept of it.
    Finished(Box<ToolResult>),
}

/// An item of the history that is no recorded call.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplayedItem {
    /// The item.
    pub item: HistoryItem,
    /// How many of [`Replay::calls`] the log mentions before it.
    pub after_calls: usize,
    /// When it was saved.
    pub at: Timestamp,
}

/// An event that contradicts an earlier one, which stands.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Conflict {
    /// A call started again.
    #[error("call {call_id} was started twice")]
    StartedTwice {
        /// The call.
        call_id: CallId,
        /// Which event, counted from 0.
        index: usize,
    },
    /// A call ended again.
    #[error("call {call_id} was finished twice")]
    FinishedTwice {
        /// The call.
        call_id: CallId,
        /// Which event, counted from 0.
        index: usize,
    },
    /// The session was forked again, or when it had a history of its own.
    #[error("an event says that this continues session {from}")]
    ForkedLate {
        /// The other session.
        from: SessionId,
        /// Which event, counted from 0.
        index: usize,
    },
    /// The session got another name.
    #[error("an event says that this is session {session_id}")]
    OtherSession {
        /// The other name.
        session_id: SessionId,
        /// Which event, counted from 0.
        index: usize,
    },
}

impl ReplayedCall {
    /// The text that the model got; `None` while the call runs.
    pub fn text(&self) -> Option<String> {
        self.result().map(ToolResult::text)
    }

    /// What a person saw in the end; `None` while the call runs. An empty
    /// display is one, and is never replaced by the output.
    pub fn display(&self) -> Option<&str> {
        self.result().map(|result| result.display.as_str())
    }

    /// The terminal record; `None` while the call runs.
    pub fn result(&self) -> Option<&ToolResult> {
        match &self.state {
            CallState::Running => None,
            CallState::Finished(result) => Some(result),
        }
    }
}

impl Replay {
    /// The call of this id.
    pub fn call(&self, call_id: &CallId) -> Option<&ReplayedCall> {
        self.calls.iter().find(|call| call.call_id == *call_id)
    }

    /// The active history: calls and results in the order in which they were
    /// saved, and the other items in their places; without what was reverted,
    /// and with a summary in the place of what it stands for. What a fork
    /// inherits comes before it ([`SessionLogs::history`](crate::SessionLogs::history)),
    /// unless a summary stands for that too ([`inherits`](Self::inherits)).
    pub fn history(&self) -> Vec<ActiveItem> {
        let item = |entry: Entry| match entry {
            Entry::Inherited => None,
            Entry::Called(index) => {
                let call = &self.calls[index];
                Some(HistoryItem::ToolCall {
                    call_id: call.call_id.clone(),
                    tool: call.tool.clone(),
                    arguments: call.arguments.clone()?,
                })
            }
            Entry::Ended(index) => {
                Some(HistoryItem::ToolResult(Box::new(self.calls[index].result()?.clone())))
            }
            Entry::Said(index) => Some(self.items[index].item.clone()),
            Entry::Summary(index) => {
                let text = self.timeline.summary(index).to_owned();
                Some(HistoryItem::Summary { text })
            }
        };
        let active = self.timeline.active().into_iter();
        active
            .filter_map(|(position, entry)| Some(ActiveItem { position, item: item(entry)? }))
            .collect()
    }

    /// Whether the active history begins with what a fork inherits.
    pub fn inherits(&self) -> bool {
        self.timeline.active().iter().any(|(_, entry)| *entry == Entry::Inherited)
    }

    /// The calls of the active history, without those that a summary stands for.
    pub fn active_calls(&self) -> impl Iterator<Item = &ReplayedCall> {
        self.calls_in(self.timeline.active().into_iter().map(|(_, entry)| entry), true)
    }

    /// The calls that were reverted. They are in [`calls`](Self::calls) too, and
    /// what they put out can still be read.
    pub fn reverted_calls(&self) -> impl Iterator<Item = &ReplayedCall> {
        self.calls_in(self.timeline.kept(), false)
    }

    /// The calls that are, or are not, among these entries.
    fn calls_in(
        &self,
        entries: impl Iterator<Item = Entry>,
        among: bool,
    ) -> impl Iterator<Item = &ReplayedCall> {
        let mut found = vec![false; self.calls.len()];
        for entry in entries {
            if let Entry::Called(index) | Entry::Ended(index) = entry {
                found[index] = true;
            }
        }
        self.calls.iter().zip(found).filter_map(move |(call, is)| (is == among).then_some(call))
    }

    /// The calls without a terminal record.
    pub fn running(&self) -> impl Iterator<Item = &ReplayedCall> {
        self.calls.iter().filter(|call| call.state == CallState::Running)
    }
}

/// Rebuilds a session from its events, in their order.
///
/// Output and display come from the terminal record of a call alone. Of two
/// events that contradict each other the first stands; the other is a
/// [`Conflict`]. Events without positions have those of their places, counted
/// from 0.
pub fn replay<E: Into<LoggedEvent>>(events: impl IntoIterator<Item = E>) -> Replay {
    let mut replayer = Replayer::default();
    for (index, event) in events.into_iter().enumerate() {
        let LoggedEvent { position, event } = event.into();
        replayer.replay.timeline.begin(position.unwrap_or(index as u64));
        replayer.take(index, event);
    }
    replayer.replay
}

#[derive(Default)]
struct Replayer {
    replay: Replay,
    known: HashMap<CallId, usize>,
}

impl Replayer {
    fn take(&mut self, index: usize, event: SavedEvent) {
        match event {
            SavedEvent::SessionStarted { session_id, at } => {
                let replay = &mut self.replay;
                match &replay.session {
                    Some(known) if *known != session_id => {
                        replay.conflicts.push(Conflict::OtherSession { session_id, index });
                    }
                    _ => {
                        replay.session = Some(session_id);
                        replay.started_at.get_or_insert(at);
                    }
                }
            }
            SavedEvent::CallStarted {
                session_id,
                call_id,
                parent_call_id,
                tool,
                arguments,
                output,
                at,
            } => {
                let call = ReplayedCall {
                    call_id,
                    parent_call_id,
                    tool,
                    arguments: Some(arguments),
                    output,
                    started_at: at,
                    state: CallState::Running,
                };
                self.started(index, session_id, call);
            }
            SavedEvent::CallFinished { result, at: _ } => self.finished(index, result),
            SavedEvent::Item { item, at } => {
                let after_calls = self.replay.calls.len();
                let entry = Entry::Said(self.replay.items.len());
                match item {
                    HistoryItem::Summary { .. } => self.replay.timeline.add_summary(entry),
                    _ => self.replay.timeline.add(entry),
                }
                self.replay.items.push(ReplayedItem { item, after_calls, at });
            }
            SavedEvent::SessionForked { from, at, time: _ } => {
                let Replay { timeline, forked, conflicts, .. } = &mut self.replay;
                if forked.is_some() || !timeline.is_empty() {
                    conflicts.push(Conflict::ForkedLate { from, index });
                } else {
                    *forked = Some(ForkPoint { from, at });
                    timeline.add(Entry::Inherited);
                }
            }
            SavedEvent::Reverted { to, time: _ } => self.replay.timeline.revert(to),
            SavedEvent::Compacted { summary, retained_from, time: _ } => {
                self.replay.timeline.compact(summary, retained_from);
            }
        }
    }

    fn started(&mut self, index: usize, session_id: SessionId, started: ReplayedCall) {
        self.replay.session.get_or_insert(session_id);
        match self.find(&started.call_id) {
            None => {
                self.add(started);
                self.replay.timeline.add(Entry::Called(self.replay.calls.len() - 1));
            }
            // Its end was saved first; the start only adds what it asked for.
            Some(known) if known.arguments.is_none() => {
                known.arguments = started.arguments;
                known.output = started.output;
            }
            Some(_) => {
                let call_id = started.call_id;
                self.replay.conflicts.push(Conflict::StartedTwice { call_id, index });
            }
        }
    }

    fn finished(&mut self, index: usize, result: Box<ToolResult>) {
        self.replay.session.get_or_insert_with(|| result.session_id.clone());
        match self.find(&result.call_id) {
            None => {
                self.add(ReplayedCall {
                    call_id: result.call_id.clone(),
                    parent_call_id: result.parent_call_id.clone(),
                    tool: result.tool.clone(),
                    arguments: None,
                    output: None,
                    started_at: result.started_at,
                    state: CallState::Finished(result),
                });
                self.replay.timeline.add(Entry::Ended(self.replay.calls.len() - 1));
            }
            Some(known) if known.state == CallState::Running => {
                let index = self.known[&result.call_id];
                self.replay.calls[index].state = CallState::Finished(result);
                self.replay.timeline.add(Entry::Ended(index));
            }
            Some(_) => {
                let call_id = result.call_id;
                self.replay.conflicts.push(Conflict::FinishedTwice { call_id, index });
            }
        }
    }

    fn find(&mut self, call_id: &CallId) -> Option<&mut ReplayedCall> {
        self.known.get(call_id).map(|&index| &mut self.replay.calls[index])
    }

    fn add(&mut self, call: ReplayedCall) {
        self.known.insert(call.call_id.clone(), self.replay.calls.len());
        self.replay.calls.push(call);
    }
}
