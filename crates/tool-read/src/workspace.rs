//! An approver that keeps calls to the directories an agent works in.
//!
//! Responsible for paths, by their names with every link resolved. Stored
//! output is allowed by possession of its digest; what is neither is for
//! another approver.

use std::sync::Arc;

use async_trait::async_trait;
use camino::{Utf8Path, Utf8PathBuf};
use tokio::task::spawn_blocking;
use tool_api::{Access, Approver, CallInfo, Decision, Resource};

use crate::filesystem::path::{PathError, resolve};
use crate::presentation::explain;

/// Allows what is below the directories that it was given, and no other path.
///
/// - A path is judged by its own name with `.`, `..` and links resolved, as
///   far as it exists. So is each allowed directory, once, when it is given: a
///   link put in its place later leads outside.
/// - [`Access::Write`] to a directory includes reading. The nearest allowed
///   directory above a path decides, so that part of a writable workspace can
///   be for reading only.
/// - Stored output is allowed: possession of its digest is access.
/// - Commands and connections, and calls that touch nothing, are put to the
///   approver given by [`otherwise`](Self::otherwise), with no more than the
///   resources that are not decided here. Without one, they are denied; a call
///   that touches nothing is allowed.
///
/// It judges names, so hard links and mounts inside a directory count as
/// inside. It is no sandbox: a command that is allowed reads what it likes.
/// Whoever opens an approved path must not follow links that came since; the
/// `read` tool does not.
///
/// It must run within a tokio runtime, for its threads for blocking work.
///
/// ```
/// use tool_api::{Access, ApproveAll};
/// use tool_read::{RootError, WorkspaceApprover};
///
/// fn approver() -> Result<WorkspaceApprover, RootError> {
///     let approver = WorkspaceApprover::new()
///         .allow(Access::Write, "/home/me/project")?
///         .allow(Access::Read, "/home/me/.local/share/overspill/spill")?;
///     // Commands, connections: here, all of them.
///     Ok(approver.otherwise(ApproveAll))
/// }
/// # approver().unwrap();
/// ```
#[derive(Debug, Clone, Default)]
pub struct WorkspaceApprover {
    roots: Arc<Vec<Root>>,
    otherwise: Option<Arc<dyn Approver>>,
}

/// A directory below which paths are allowed.
#[derive(Debug, Clone)]
struct Root {
    path: Utf8PathBuf,
    access: Access,
}

/// Why a directory cannot be allowed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RootError {
    /// It is not absolute.
    #[error("an allowed directory must be an absolute path, not {path:?}")]
    Relative {
        /// The path found.
        path: Utf8PathBuf,
    },
    /// Its links lead nowhere that can be named.
    #[error("the allowed directory {path} cannot be resolved")]
    Unresolved {
        /// The path found.
        path: Utf8PathBuf,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl WorkspaceApprover {
    /// Allows no path yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows `access` to the directory and all that is below it. It need not
    /// exist yet. Blocking, for as long as it takes to look at its links.
    ///
    /// # Errors
    /// [`RootError`] where it is no absolute path that can be resolved.
    pub fn allow(
        mut self,
        access: Access,
        directory: impl Into<Utf8PathBuf>,
    ) -> Result<Self, RootError> {
        let path = directory.into();
        if !path.is_absolute() {
            return Err(RootError::Relative { path });
        }
        match resolve(&path) {
            Ok(path) => Arc::make_mut(&mut self.roots).push(Root { path, access }),
            Err(source) => return Err(RootError::Unresolved { path, source: Box::new(source) }),
        }
        Ok(self)
    }

    /// Puts what is neither a path nor stored output to `approver`.
    #[must_use]
    pub fn otherwise(mut self, approver: impl Approver + 'static) -> Self {
        self.otherwise = Some(Arc::new(approver));
        self
    }
}

#[async_trait]
impl Approver for WorkspaceApprover {
    async fn decide(&self, call: &CallInfo, resources: &[Resource]) -> Decision {
        let (mut paths, mut others) = (Vec::new(), Vec::new());
        for resource in resources {
            match resource {
                Resource::Filesystem { path, access } => paths.push((path.clone(), *access)),
                Resource::Artifact(_) => {}
                other => others.push(other.clone()),
            }
        }
        if !paths.is_empty() {
            let roots = Arc::clone(&self.roots);
            let judged = spawn_blocking(move || {
                paths.iter().try_for_each(|(path, access)| judge(&roots, path, *access))
            });
            match judged.await {
                Ok(Ok(())) => {}
                Ok(Err(denied)) => return Decision::Deny { reason: explain(&denied) },
                Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                // The runtime is shutting down.
                Err(_) => return Decision::Deny { reason: "the agent is ending".to_owned() },
            }
        }
        if others.is_empty() && !resources.is_empty() {
            return Decision::Allow;
        }
        match (&self.otherwise, others.first()) {
            (Some(otherwise), _) => otherwise.decide(call, &others).await,
            (None, None) => Decision::Allow,
            (None, Some(other)) => {
                let what = match other {
                    Resource::Command { .. } => "commands",
                    Resource::Network { .. } => "connections",
                    Resource::Filesystem { .. } | Resource::Artifact(_) => "such resources",
                };
                Decision::Deny { reason: format!("{what} are not allowed here") }
            }
        }
    }
}

/// Why a path is not allowed, for the model.
#[derive(Debug, thiserror::Error)]
enum Denied {
    #[error("{path} is not an absolute path, so nobody knows where it is")]
    Relative { path: Utf8PathBuf },
    #[error("{path} cannot be resolved")]
    Unresolved {
        path: Utf8PathBuf,
        #[source]
        source: PathError,
    },
    #[error("{path} is outside the directories that may be {}; {}", done(*access), allowed(roots))]
    Outside { path: Utf8PathBuf, access: Access, roots: Vec<Root> },
    #[error("{path} may be read and not changed")]
    ReadOnly { path: Utf8PathBuf },
}

fn judge(roots: &[Root], path: &Utf8Path, access: Access) -> Result<(), Denied> {
    if !path.is_absolute() {
        return Err(Denied::Relative { path: path.to_owned() });
    }
    let path =
        resolve(path).map_err(|source| Denied::Unresolved { path: path.to_owned(), source })?;
    // By whole names: /repo is not above /repository.
    let nearest = roots
        .iter()
        .filter(|root| path.starts_with(&root.path))
        .max_by_key(|root| root.path.as_str().len());
    match nearest {
        None => Err(Denied::Outside { path, access, roots: roots.to_vec() }),
        Some(Root { access: Access::Read, .. }) if access == Access::Write => {
            Err(Denied::ReadOnly { path })
        }
        Some(_) => Ok(()),
    }
}

fn done(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::Write => "changed",
    }
}

fn allowed(roots: &[Root]) -> String {
    if roots.is_empty() {
        return "none are".to_owned();
    }
    let names: Vec<&str> = roots.iter().map(|root| root.path.as_str()).collect();
    format!("allowed are {}", names.join(", "))
}
