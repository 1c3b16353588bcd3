//! What is an artifact, what is a file, and what is approved.

use std::sync::Arc;

use camino::Utf8Path;
use output_contract::{Digest, Status};
use serde_json::json;
use tool_api::{Access, OutputHandling, Resource, Tool};
use tool_read::{ReadConfig, ReadTool};

use crate::calling::{Reader, printed_call, scratch};
use crate::store::MemoryStore;

#[test]
fn the_tool_is_called_read_and_no_other_tool_is_named() {
    let tool = Reader::of_files(Utf8Path::new("/w")).tool;
    let spec = tool.spec();
    assert_eq!(spec.name.as_str(), "read");
    assert_eq!(spec.handling, OutputHandling::SelfPaginating);
    assert!(spec.reads_artifacts);
    assert!(!format!("{spec:?}").contains("read_tool_result"));
    let schema = &spec.input_schema;
    assert_eq!(schema["required"], json!(["filePath"]));
    assert_eq!(schema["additionalProperties"], json!(false));
    let names: Vec<_> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["byteOffset", "filePath", "limit", "offset"]);
}

#[tokio::test]
async fn a_malformed_uri_is_never_a_file() {
    let (_guard, cwd) = scratch();
    let hex = Digest::EMPTY.to_string();
    // Files where a careless reader would find them.
    for name in ["artifact:x", "ARTIFACT:x"] {
        fs_err::write(cwd.join(name), "a file").unwrap();
    }
    fs_err::create_dir_all(cwd.join(format!("artifact:/{hex}"))).unwrap();
    fs_err::write(cwd.join(format!("artifact:/{hex}/stdout?x")), "a file").unwrap();
    fs_err::write(cwd.join("artifact:/%2e%2e"), "a file").unwrap();

    let store = Arc::new(MemoryStore::new());
    let reader = Reader::over(store.clone(), ReadConfig::new(&cwd));
    for uri in [
        "artifact:",
        "artifact:x",
        "ARTIFACT:x",
        "artifact://",
        "artifact://../../etc/passwd",
        "artifact:///etc/passwd",
        "artifact:/etc/passwd",
        "artifact://%2e%2e",
        "artifact://%2e%2e/%2e%2e/etc/passwd",
        &format!("artifact://{hex}\0"),
        &format!("artifact://{hex}/stdout\0"),
        &format!("artifact://{}", hex.to_uppercase()),
        &format!("Artifact://{hex}"),
        &format!("artifact://{hex}/"),
        &format!("artifact://{hex}/stdout/"),
        &format!("artifact://{hex}/.."),
        &format!("artifact://{hex}/a/b"),
        &format!("artifact://{hex}?limit=2"),
        &format!("artifact://{hex}/stdout?x"),
        &format!("artifact://{hex}#top"),
        &format!("artifact://sha256/{hex}"),
        &format!("artifact://{hex} "),
        &format!("artifact://{}", "0".repeat(63)),
        &format!("artifact://{}", "0".repeat(10_000)),
    ] {
        let error = reader.prepare(json!({"filePath": uri})).await.unwrap_err();
        assert!(error.starts_with("invalid arguments: malformed artifact URI"), "{error}");
        assert!(
            error.contains("artifact://<64 lowercase hex digits>") || error.contains("stream name"),
            "{error}"
        );
        assert!(error.len() < 600, "{error}");
    }
    assert_eq!(store.opened(), 0);
}

#[tokio::test]
async fn a_file_with_such_a_name_is_read_by_a_path() {
    let (_guard, cwd) = scratch();
    fs_err::write(cwd.join("artifact:x"), "a file").unwrap();
    let reader = Reader::of_files(&cwd);
    for path in ["./artifact:x", cwd.join("artifact:x").as_str()] {
        let answer = reader.read(json!({"filePath": path})).await;
        assert_eq!((answer.status, answer.page()), (Status::Completed, "     1\ta file"), "{path}");
    }
}

#[tokio::test]
async fn an_artifact_is_approved_as_an_artifact_alone() {
    let mut store = MemoryStore::new();
    let bare = store.add("x");
    let reader = Reader::of_artifacts(store, 100);
    for uri in [bare.to_string(), format!("{bare}/stdout")] {
        let call = reader.prepare(json!({"filePath": uri})).await.unwrap();
        assert_eq!(call.resources(), [Resource::Artifact(uri.parse().unwrap())]);
        assert_eq!(call.title(), uri);
    }
}

#[tokio::test]
async fn a_file_is_approved_by_its_path_without_links() {
    let (_guard, cwd) = scratch();
    let home = cwd.join("home");
    fs_err::create_dir_all(home.join("deep")).unwrap();
    fs_err::write(home.join("deep/file"), "x").unwrap();
    fs_err::os::unix::fs::symlink("home/deep", cwd.join("link")).unwrap();
    fs_err::os::unix::fs::symlink("/etc/passwd", cwd.join("out")).unwrap();
    let config = ReadConfig { home: Some(home.clone()), ..ReadConfig::new(&cwd) };
    let reader = Reader::over(Arc::new(MemoryStore::new()), config);
    for (given, expect) in [
        ("link/file", home.join("deep/file")),
        ("./link/../deep/./file", home.join("deep/file")),
        ("~/deep/file", home.join("deep/file")),
        ("~", home.clone()),
        (cwd.join("link/file").as_str(), home.join("deep/file")),
        ("out", fs_err::canonicalize("/etc/passwd").unwrap().try_into().unwrap()),
        ("absent/file", cwd.join("absent/file")),
    ] {
        let call = reader.prepare(json!({"filePath": given})).await.unwrap();
        let expect = Resource::Filesystem { path: expect, access: Access::Read };
        assert_eq!(call.resources(), [expect], "{given}");
    }
}

#[tokio::test]
async fn what_can_be_no_path_is_not_prepared() {
    let (_guard, cwd) = scratch();
    fs_err::os::unix::fs::symlink("round", cwd.join("round")).unwrap();
    let reader = Reader::of_files(&cwd);
    for (path, expect) in [
        ("a\0b", "filePath has a NUL character"),
        ("~/a", "no home directory is known"),
        ("round", "symbolic links, probably in a circle"),
        (&"a/".repeat(3000), "filePath has 6000 bytes"),
    ] {
        let error = reader.prepare(json!({"filePath": path})).await.unwrap_err();
        assert!(error.contains(expect), "{error}");
    }
}

#[tokio::test]
async fn a_renamed_tool_prints_its_own_name() {
    let mut store = MemoryStore::new();
    let uri = store.add("a\nb\n").to_string();
    let config = ReadConfig { name: "view".parse().unwrap(), ..ReadConfig::new("/w") };
    let reader = Reader { tool: ReadTool::new(Arc::new(store), config).unwrap() };
    assert_eq!(reader.tool.spec().name.as_str(), "view");
    let answer = reader.read(json!({"filePath": uri, "limit": 1})).await;
    assert_eq!(printed_call("view", &answer.blocks[1]), json!({"filePath": uri, "offset": 1}));
    let error = reader.prepare(json!({"filePath": uri, "x": 1})).await.unwrap_err();
    assert!(error.contains("; view takes filePath"), "{error}");
}
