//! What a call touches, and who decides whether it may.

use std::fmt::Debug;

use async_trait::async_trait;
use camino::Utf8PathBuf;
use output_contract::{ArtifactUri, CallId, SessionId, ToolName};

use crate::tool::OutputHandling;

/// Something that a call reads, changes or starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resource {
    /// A file or directory, by its normalised path with links resolved.
    Filesystem {
        /// The absolute path.
        path: Utf8PathBuf,
        /// What is done with it.
        access: Access,
    },
    /// A stored output. Possession of its digest is access; it is never a path.
    Artifact(ArtifactUri),
    /// A command that is started.
    Command {
        /// The command line, for a person to judge.
        line: String,
    },
    /// A connection that is opened.
    Network {
        /// The host.
        host: String,
    },
}

/// What is done with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// It is read.
    Read,
    /// It is written, created or removed.
    Write,
}

/// Which call is meant, for approvers and listeners.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallInfo {
    /// The session.
    pub session_id: SessionId,
    /// The call.
    pub call_id: CallId,
    /// The call that made this one, where it is nested.
    pub parent_call_id: Option<CallId>,
    /// The tool.
    pub tool: ToolName,
    /// Who bounds its output.
    pub handling: OutputHandling,
}

/// Decides whether a prepared call may run.
///
/// Called once a call, before anything is started, created or recorded. It may
/// take as long as a person takes: cancelling the call drops the future, and
/// an implementation must bear that at any await.
#[async_trait]
pub trait Approver: Debug + Send + Sync {
    /// Decides on everything that the call touches, at once.
    async fn decide(&self, call: &CallInfo, resources: &[Resource]) -> Decision;
}

/// What an approver says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// The call may run.
    Allow,
    /// The call must not run.
    Deny {
        /// Why, for the model.
        reason: String,
    },
}

/// Allows every call: for a program whose user has already decided.
#[derive(Debug, Clone, Copy, Default)]
pub struct ApproveAll;

#[async_trait]
impl Approver for ApproveAll {
    async fn decide(&self, _call: &CallInfo, _resources: &[Resource]) -> Decision {
        Decision::Allow
    }
}
