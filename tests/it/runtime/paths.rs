//! The `read` tool on paths, behind the approver that keeps to a workspace.

use std::time::Duration;

use artifacts::{ArtifactStore, CollectOptions};
use output_contract::{ArtifactUri, ContentBody, OutputKind, Status};
use serde_json::json;
use tool_api::Access;
use tool_read::{ReadConfig, ReadTool, WorkspaceApprover};
use tool_runtime::Runtime;

use super::agent::{Agent, call_of, run};

fn runtime(agent: &Agent) -> Runtime {
    let work = agent.root.join("work");
    fs_err::create_dir_all(&work).unwrap();
    let approver = WorkspaceApprover::new().allow(Access::Write, &work).unwrap();
    let tool = ReadTool::new(agent.artifacts(), ReadConfig::new(&work)).unwrap();
    agent.builder().tool(tool).approver(approver).build().unwrap()
}

#[tokio::test]
async fn an_image_is_stored_as_an_attachment_and_not_in_the_log() {
    let agent = Agent::new();
    let runtime = runtime(&agent);
    let image = [&b"\x89PNG\r\n\x1a\n"[..], &[0x80, 0, 1, 0xff].repeat(100_000)].concat();
    fs_err::write(agent.root.join("work/shot.png"), &image).unwrap();
    let result = run(&runtime, call_of("read", "c", json!({"filePath": "shot.png"}))).await;
    let everything = CollectOptions { grace: Duration::ZERO, dry_run: false, force: false };
    ArtifactStore::collect(&*agent.store, everything).await.unwrap();

    assert_eq!((result.status, result.output.kind), (Status::Completed, OutputKind::Page));
    assert_eq!(result.text(), "attached: image/png, 400008 bytes");
    let ContentBody::Attachment(attachment) = &result.content[1].body else { panic!() };
    assert_eq!((attachment.name.as_deref(), attachment.bytes), (Some("shot.png"), 400_008));
    let uri = ArtifactUri::bare(attachment.artifact.unwrap());
    let reader = agent.artifacts().open(&uri).await.unwrap();
    assert!(reader.read(0..reader.bytes()).await.unwrap() == image);
    let log = fs_err::read(agent.logs.path(&"s".parse().unwrap())).unwrap();
    assert!(log.len() < 4_000, "no bytes of attachments in events: {}", log.len());
    assert_eq!(agent.saved("s", "c").unwrap(), result);
}

#[tokio::test]
async fn a_path_outside_the_workspace_is_denied_with_a_reason() {
    let agent = Agent::new();
    let runtime = runtime(&agent);
    fs_err::write(agent.root.join("secret"), "x").unwrap();
    fs_err::os::unix::fs::symlink("../secret", agent.root.join("work/link")).unwrap();
    for (call, path) in ["../secret", "link"].into_iter().enumerate() {
        let call = call_of("read", &call.to_string(), json!({"filePath": path}));
        let result = run(&runtime, call).await;
        let (outside, work) = (agent.root.join("secret"), agent.root.join("work"));
        let reason =
            format!("{outside} is outside the directories that may be read; allowed are {work}");
        assert_eq!(result.status, Status::Failed);
        assert!(result.text().contains(&reason), "{}", result.text());
    }
    let listing = run(&runtime, call_of("read", "listing", json!({"filePath": "."}))).await;
    assert_eq!(listing.text(), "link -> ../secret\n");
}
