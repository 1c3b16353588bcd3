//! How a call ended, and what of its output is missing.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS, schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The tool ended and reported success.
    Completed,
    /// The tool ended and reported an error, a non-zero exit code or a signal.
    Failed,
    /// The caller cancelled the call.
    Cancelled,
    /// The call ran out of time.
    TimedOut,
    /// The tool ended without a completion: it panicked, dropped its sink, or
    /// the process that ran it died.
    Interrupted,
}

impl Status {
    /// Whether the tool ended by itself, so that its output is all there is
    /// unless something else was lost.
    pub const fn producer_finished(self) -> bool {
        matches!(self, Self::Completed | Self::Failed)
    }

    /// The reason for incomplete output that the status itself is.
    pub const fn incomplete_reason(self) -> Option<IncompleteReason> {
        match self {
            Self::Completed | Self::Failed => None,
            Self::Cancelled => Some(IncompleteReason::Cancelled),
            Self::TimedOut => Some(IncompleteReason::TimedOut),
            Self::Interrupted => Some(IncompleteReason::Interrupted),
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::TimedOut => "timed out",
            Self::Interrupted => "interrupted",
        })
    }
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS, schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

impl Exit {
    /// Whether this is exit code 0.
    pub const fn success(self) -> bool {
        matches!(self, Self::Code(0))
    }
}

/// Why an output is not all that its producer had to give.
///
/// The order is the one in which a call that has several reasons shows them:
/// the first that applies stands for the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS, schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum IncompleteReason {
    /// The store could not take all bytes.
    StorageError,
    /// The output passed `max_stream_bytes` or `max_call_bytes`.
    SizeLimit,
    /// A background process kept the pipe open after the command had ended.
    PipeHeld,
    /// The caller cancelled the call.
    Cancelled,
    /// The call ran out of time.
    TimedOut,
    /// The producer ended without saying so.
    Interrupted,
}

/// That an output is incomplete: stored < seen, or its producer did not finish.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS, schemars::JsonSchema))]
pub struct Incomplete {
    /// Why.
    pub reason: IncompleteReason,
    /// What the system said, such as `no space left on device`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

impl Incomplete {
    /// What a whole call shows: the first of its streams' storage error, size
    /// limit or held pipe, then the reason that `status` itself is.
    pub fn of_call<'a>(
        streams: impl IntoIterator<Item = &'a Self>,
        status: Status,
    ) -> Option<Self> {
        streams
            .into_iter()
            .cloned()
            .chain(status.incomplete_reason().map(Self::from))
            .min_by_key(|incomplete| incomplete.reason)
    }
}

impl From<IncompleteReason> for Incomplete {
    fn from(reason: IncompleteReason) -> Self {
        Self { reason, detail: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_shows_the_weightiest_reason() {
        use IncompleteReason::*;
        let of = |streams: &[IncompleteReason], status| {
            let streams: Vec<Incomplete> = streams.iter().map(|&r| r.into()).collect();
            Incomplete::of_call(&streams, status).map(|incomplete| incomplete.reason)
        };
        assert_eq!(of(&[], Status::Completed), None);
        assert_eq!(of(&[], Status::Failed), None);
        assert_eq!(of(&[], Status::TimedOut), Some(TimedOut));
        assert_eq!(of(&[PipeHeld, SizeLimit], Status::Completed), Some(SizeLimit));
        assert_eq!(of(&[SizeLimit, StorageError], Status::Cancelled), Some(StorageError));
        assert_eq!(of(&[Cancelled, PipeHeld], Status::Cancelled), Some(PipeHeld));
    }

    #[test]
    fn wire_forms() {
        fn json(value: impl Serialize) -> String {
            serde_json::to_string(&value).unwrap()
        }
        assert_eq!(json(Status::TimedOut), r#""timed_out""#);
        assert_eq!(json(Exit::Code(3)), r#"{"code":3}"#);
        assert_eq!(json(Exit::Signal(9)), r#"{"signal":9}"#);
        assert_eq!(json(Incomplete::from(IncompleteReason::PipeHeld)), r#"{"reason":"pipe_held"}"#);
    }
}
