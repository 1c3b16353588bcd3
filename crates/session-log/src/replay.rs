//! What a session looks like, from its saved events alone.

use std::collections::HashMap;

use output_contract::{
    CallId, HistoryItem, OutputDeclaration, SavedEvent, SessionId, Timestamp, ToolName, ToolResult,
};
use serde_json::Value;

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
    /// Events that contradict earlier ones and were left out.
    pub conflicts: Vec<Conflict>,
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

    /// The calls without a terminal record.
    pub fn running(&self) -> impl Iterator<Item = &ReplayedCall> {
        self.calls.iter().filter(|call| call.state == CallState::Running)
    }
}

/// Rebuilds a session from its events, in their order.
///
/// Output and display come from the terminal record of a call alone. Of two
/// events that contradict each other the first stands; the other is a
/// [`Conflict`].
pub fn replay(events: impl IntoIterator<Item = SavedEvent>) -> Replay {
    let mut replayer = Replayer::default();
    for (index, event) in events.into_iter().enumerate() {
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
                self.replay.items.push(ReplayedItem { item, after_calls, at });
            }
        }
    }

    fn started(&mut self, index: usize, session_id: SessionId, started: ReplayedCall) {
        self.replay.session.get_or_insert(session_id);
        match self.find(&started.call_id) {
            None => self.add(started),
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
            None => self.add(ReplayedCall {
                call_id: result.call_id.clone(),
                parent_call_id: result.parent_call_id.clone(),
                tool: result.tool.clone(),
                arguments: None,
                output: None,
                started_at: result.started_at,
                state: CallState::Finished(result),
            }),
            Some(known) if known.state == CallState::Running => {
                known.state = CallState::Finished(result);
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
