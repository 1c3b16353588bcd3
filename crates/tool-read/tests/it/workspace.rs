//! The approver that keeps calls to the workspace.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use camino::{Utf8Path, Utf8PathBuf};
use output_contract::{ArtifactUri, CallId, Digest, SessionId, Status, ToolName};
use serde_json::json;
use tool_api::{Access, Approver, CallInfo, CancellationToken, Decision, OutputHandling, Resource};
use tool_read::{RootError, WorkspaceApprover};

use crate::calling::{Reader, execute, scratch};

fn call() -> CallInfo {
    CallInfo {
        session_id: SessionId::new("session").unwrap(),
        call_id: CallId::new("call").unwrap(),
        parent_call_id: None,
        tool: ToolName::new("read").unwrap(),
        handling: OutputHandling::SelfPaginating,
    }
}

fn path(path: impl Into<Utf8PathBuf>, access: Access) -> Resource {
    Resource::Filesystem { path: path.into(), access }
}

async fn reason(approver: &WorkspaceApprover, resources: &[Resource]) -> Option<String> {
    match approver.decide(&call(), resources).await {
        Decision::Allow => None,
        Decision::Deny { reason } => Some(reason),
    }
}

/// A workspace beside what it must be kept from, with links both ways.
fn tree() -> (tempfile::TempDir, Utf8PathBuf) {
    let (guard, top) = scratch();
    for dir in ["repo/src", "repo/vendor/own", "repository", "spill", "secret/deep"] {
        fs_err::create_dir_all(top.join(dir)).unwrap();
    }
    for file in ["repo/src/a", "repo/vendor/own/a", "repository/a", "spill/a", "secret/a"] {
        fs_err::write(top.join(file), "x").unwrap();
    }
    for (target, link) in [
        ("src", "repo/inside"),
        ("../secret", "repo/out"),
        ("../secret/a", "repo/out-file"),
        ("../nowhere", "repo/out-dangling"),
        ("../spill", "repo/to-spill"),
        ("vendor/../../secret", "repo/winding"),
        ("round", "repo/round"),
        ("repo", "alias"),
    ] {
        fs_err::os::unix::fs::symlink(target, top.join(link)).unwrap();
    }
    (guard, top)
}

fn approver(top: &Utf8Path) -> WorkspaceApprover {
    WorkspaceApprover::new()
        .allow(Access::Write, top.join("repo"))
        .and_then(|approver| approver.allow(Access::Read, top.join("spill")))
        .and_then(|approver| approver.allow(Access::Read, top.join("repo/vendor")))
        .and_then(|approver| approver.allow(Access::Write, top.join("repo/vendor/own")))
        .unwrap()
}

#[tokio::test]
async fn paths_are_judged_by_where_they_lead() {
    let (_guard, top) = tree();
    let approver = approver(&top);
    // Whether each may be read, and written.
    for (name, read, write) in [
        ("repo", true, true),
        ("repo/", true, true),
        ("repo/src/a", true, true),
        ("repo/src/not/yet", true, true),
        ("repo/./src/../src/a", true, true),
        ("repo/inside/a", true, true),
        ("alias/src/a", true, true),
        ("secret/../repo/src/a", true, true),
        ("spill", true, false),
        ("spill/a", true, false),
        ("repo/to-spill/a", true, false),
        // The nearest directory decides.
        ("repo/vendor/a", true, false),
        ("repo/vendor/own/a", true, true),
        ("repo/vendor/ownership", true, false),
        // Outside.
        ("", false, false),
        ("repository/a", false, false),
        ("rep", false, false),
        ("secret/a", false, false),
        ("secret/absent", false, false),
        ("repo/../secret/a", false, false),
        ("repo/src/../../secret/a", false, false),
        ("repo/absent/../../secret/a", false, false),
        ("repo/..", false, false),
        // A link's parent is that of its target.
        ("repo/to-spill/../secret/a", false, false),
        ("repo/out", false, false),
        ("repo/out/a", false, false),
        ("repo/out/deep/new", false, false),
        ("repo/out-file", false, false),
        ("repo/out-dangling", false, false),
        ("repo/out-dangling/new", false, false),
        ("repo/winding/a", false, false),
        ("repo/round", false, false),
        ("repo/round/a", false, false),
    ] {
        for (access, allowed) in [(Access::Read, read), (Access::Write, write)] {
            let reason = reason(&approver, &[path(top.join(name), access)]).await;
            assert_eq!(reason.is_none(), allowed, "{name} {access:?}: {reason:?}");
        }
    }
}

#[tokio::test]
async fn the_reason_says_what_is_allowed() {
    let (_guard, top) = tree();
    let roots = format!("{top}/repo, {top}/spill, {top}/repo/vendor, {top}/repo/vendor/own");
    let approver = approver(&top);
    for (given, access, expect) in [
        (
            top.join("repo/out/a"),
            Access::Read,
            format!(
                "{top}/secret/a is outside the directories that may be read; allowed are {roots}"
            ),
        ),
        (
            "/etc/passwd".into(),
            Access::Write,
            format!(
                "/etc/passwd is outside the directories that may be changed; allowed are {roots}"
            ),
        ),
        (top.join("spill/a"), Access::Write, format!("{top}/spill/a may be read and not changed")),
        (
            "repo/a".into(),
            Access::Read,
            "repo/a is not an absolute path, so nobody knows where it is".to_owned(),
        ),
        (
            top.join("repo/round"),
            Access::Read,
            format!(
                "{top}/repo/round cannot be resolved: {top}/repo/round leads through more than 40 \
                 symbolic links, probably in a circle"
            ),
        ),
    ] {
        assert_eq!(reason(&approver, &[path(given, access)]).await, Some(expect));
    }
    let nothing = WorkspaceApprover::new();
    assert_eq!(
        reason(&nothing, &[path("/a", Access::Read)]).await.unwrap(),
        "/a is outside the directories that may be read; none are"
    );
}

#[tokio::test]
async fn one_path_outside_denies_the_call() {
    let (_guard, top) = tree();
    let inside = path(top.join("repo/src/a"), Access::Read);
    let outside = path(top.join("secret/a"), Access::Read);
    let approver = approver(&top);
    assert_eq!(reason(&approver, &[inside.clone(), inside.clone()]).await, None);
    for resources in [[inside.clone(), outside.clone()], [outside, inside]] {
        assert!(reason(&approver, &resources).await.is_some());
    }
}

#[tokio::test]
async fn a_root_replaced_by_a_link_is_outside() {
    let (_guard, top) = tree();
    let approver = approver(&top);
    fs_err::rename(top.join("spill"), top.join("away")).unwrap();
    fs_err::os::unix::fs::symlink("secret", top.join("spill")).unwrap();
    assert!(reason(&approver, &[path(top.join("spill/a"), Access::Read)]).await.is_some());
    // A root that is made only later counts from then on.
    let approver = WorkspaceApprover::new().allow(Access::Read, top.join("late/dir")).unwrap();
    fs_err::create_dir_all(top.join("late/dir")).unwrap();
    assert_eq!(reason(&approver, &[path(top.join("late/dir/a"), Access::Read)]).await, None);
}

#[test]
fn roots_are_absolute_and_can_be_resolved() {
    let (_guard, top) = tree();
    let allow = |root: Utf8PathBuf| WorkspaceApprover::new().allow(Access::Read, root);
    assert!(matches!(allow("repo".into()), Err(RootError::Relative { path }) if path == "repo"));
    let round = top.join("repo/round");
    assert!(
        matches!(allow(round.clone()), Err(RootError::Unresolved { path, .. }) if path == round)
    );
}

/// Keeps what it is asked.
#[derive(Debug, Clone)]
struct Asked {
    answer: Decision,
    questions: Arc<Mutex<Vec<Vec<Resource>>>>,
}

#[async_trait]
impl Approver for Asked {
    async fn decide(&self, _call: &CallInfo, resources: &[Resource]) -> Decision {
        self.questions.lock().unwrap().push(resources.to_vec());
        self.answer.clone()
    }
}

#[tokio::test]
async fn what_is_not_a_path_is_for_another_approver() {
    let (_guard, top) = tree();
    let command = Resource::Command { line: "make".into() };
    let network = Resource::Network { host: "example.org".into() };
    let artifact = Resource::Artifact(ArtifactUri::bare(Digest::EMPTY));
    let inside = path(top.join("repo/a"), Access::Write);
    let outside = path("/etc/passwd", Access::Read);

    let alone = approver(&top);
    let no = Decision::Deny { reason: "no".into() };
    for answer in [Decision::Allow, no] {
        let asked = Asked { answer: answer.clone(), questions: Arc::default() };
        let composed = alone.clone().otherwise(asked.clone());
        let theirs = match &answer {
            Decision::Allow => None,
            Decision::Deny { reason } => Some(reason.as_str()),
        };
        for (resources, alone_says, asks) in [
            (vec![], None, Some(vec![])),
            (vec![artifact.clone()], None, None),
            (vec![inside.clone(), artifact.clone()], None, None),
            (
                vec![command.clone()],
                Some("commands are not allowed here"),
                Some(vec![command.clone()]),
            ),
            (
                vec![inside.clone(), network.clone(), artifact.clone()],
                Some("connections are not allowed here"),
                Some(vec![network.clone()]),
            ),
        ] {
            assert_eq!(reason(&alone, &resources).await.as_deref(), alone_says);
            let expect = if asks.is_some() { theirs } else { None };
            assert_eq!(reason(&composed, &resources).await.as_deref(), expect, "{resources:?}");
            assert_eq!(asked.questions.lock().unwrap().pop(), asks);
        }
        // Nobody is asked about a call that is denied anyway.
        let resources = [command.clone(), outside.clone()];
        assert!(reason(&composed, &resources).await.unwrap().contains("/etc/passwd is outside"));
        assert!(asked.questions.lock().unwrap().is_empty());
    }
}

#[tokio::test]
async fn the_read_tool_is_kept_to_the_workspace() {
    let (_guard, top) = tree();
    let approver = approver(&top);
    let reader = Reader::of_files(&top.join("repo"));
    for (given, allowed) in [
        ("src/a", true),
        ("inside", true),
        (".", true),
        ("to-spill/a", true),
        ("../spill/a", true),
        ("../secret/a", false),
        ("out/a", false),
        ("out-file", false),
        ("..", false),
        ("../repository/a", false),
        ("/etc/passwd", false),
    ] {
        let call = reader.prepare(json!({"filePath": given})).await.unwrap();
        let reason = reason(&approver, &call.resources()).await;
        assert_eq!(reason.is_none(), allowed, "{given}: {reason:?}");
    }

    // A link that comes between preparing and deciding is seen; one that comes
    // after is not followed.
    let prepared = reader.prepare(json!({"filePath": "src/a"})).await.unwrap();
    let later = reader.prepare(json!({"filePath": "src/a"})).await.unwrap();
    assert_eq!(reason(&approver, &later.resources()).await, None);
    fs_err::rename(top.join("repo/src"), top.join("repo/away")).unwrap();
    fs_err::os::unix::fs::symlink("../secret", top.join("repo/src")).unwrap();
    assert!(reason(&approver, &prepared.resources()).await.is_some());
    let answer = execute(later, CancellationToken::new()).await;
    assert_eq!(answer.status, Status::Failed);
    assert!(answer.page().contains("became a symbolic link"), "{}", answer.page());
}
