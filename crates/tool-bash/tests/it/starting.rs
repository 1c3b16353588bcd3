//! What a process starts with, and why one does not start.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use camino::Utf8Path;
use tool_api::CancellationToken;
use tool_bash::process::{NotStarted, ProcessSpec, SpawnError};

use crate::recorder::Recorder;
use crate::world::{Place, run, run_into, sh};

async fn fail(spec: ProcessSpec) -> SpawnError {
    let recorder = Arc::new(Recorder::new());
    run_into(spec, &recorder, &CancellationToken::new()).await.unwrap_err()
}

fn write(path: &Utf8Path, content: &str, mode: u32) {
    fs_err::write(path, content).unwrap();
    fs_err::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

fn set(name: &str, value: &str) -> (std::ffi::OsString, Option<std::ffi::OsString>) {
    (name.into(), Some(value.into()))
}

#[tokio::test]
async fn variables_are_set_unset_and_inherited() {
    let print = "echo \"${A-no} ${B-no} ${HOME-no}\"";
    let home = std::env::var("HOME").unwrap_or_else(|_| "no".to_owned());
    let mut spec = sh(print);
    spec.env = vec![set("A", "1"), set("B", "2"), ("B".into(), None)];
    assert_eq!(run(spec.clone()).await.1.stdout(), format!("1 no {home}\n"));
    spec.clear_env = true;
    assert_eq!(run(spec.clone()).await.1.stdout(), "1 no no\n");
    spec.clear_env = false;
    spec.env.push(("HOME".into(), None));
    assert_eq!(run(spec).await.1.stdout(), "1 no no\n");
}

#[tokio::test]
async fn it_runs_in_its_directory() {
    let place = Place::new();
    write(&place.file("here.sh"), "#!/bin/sh\npwd -P\n", 0o755);
    let real = place.path().canonicalize_utf8().unwrap();
    assert_eq!(run(place.sh("pwd -P")).await.1.stdout(), format!("{real}\n"));
    // A relative program is one of that directory.
    let cwd = Some(place.path().to_owned());
    let spec = ProcessSpec { cwd, ..ProcessSpec::new("./here.sh") };
    assert_eq!(run(spec).await.1.stdout(), format!("{real}\n"));
}

#[tokio::test]
async fn arguments_arrive_as_they_are() {
    let words = ["a b", "", "$x", "'", "é"];
    let spec = ProcessSpec::new("sh").with_args(["-c", "printf '<%s>' \"$@\"", "sh"]);
    assert_eq!(run(spec.with_args(words)).await.1.stdout(), "<a b><><$x><'><é>");
}

#[tokio::test]
async fn it_leads_a_group_of_its_own() {
    let (_, recorder) = run(sh("read -r _ _ _ _ group _ < /proc/$$/stat; echo $$ $group")).await;
    let output = recorder.stdout();
    let (pid, group) = output.trim().split_once(' ').unwrap();
    assert_eq!(pid, group);
}

#[tokio::test]
async fn a_program_that_is_not_there() {
    let place = Place::new();
    write(&place.file("x"), "", 0o644);
    let missing = place.file("missing");
    for program in ["no-such-program-anywhere", "./no-such-program", missing.as_str()] {
        let error = fail(ProcessSpec::new(program)).await;
        assert!(matches!(error, SpawnError::NotFound { .. }), "{program}: {error:?}");
        assert_eq!(error.to_string(), format!("program not found: {program}"));
        assert_eq!(error.kind(), NotStarted::NotFound);
    }
    // The search goes by the PATH that the process gets.
    let mut spec = ProcessSpec::new("sh").with_args(["-c", ":"]);
    spec.env = vec![set("PATH", place.path().as_str())];
    assert!(matches!(fail(spec).await, SpawnError::NotFound { .. }));
}

#[tokio::test]
async fn a_program_that_cannot_be_executed() {
    let place = Place::new();
    write(&place.file("plain"), "#!/bin/sh\n", 0o644);
    for program in [place.file("plain"), place.path().to_owned()] {
        let error = fail(ProcessSpec::new(&program)).await;
        assert!(matches!(error, SpawnError::NotExecutable { .. }), "{program}: {error:?}");
        assert_eq!(error.kind(), NotStarted::NotExecutable);
    }
    let under_a_file = place.file("plain").join("x");
    assert!(matches!(fail(ProcessSpec::new(under_a_file)).await, SpawnError::NotExecutable { .. }));
    // More than the system passes on.
    let error = fail(ProcessSpec::new("sh").with_args(["x".repeat(10_000_000)])).await;
    assert!(matches!(error, SpawnError::NotExecutable { .. }), "{error:?}");
}

#[tokio::test]
async fn a_script_without_an_interpreter_line_is_run_by_sh() {
    let place = Place::new();
    write(&place.file("script"), "exit 42\n", 0o755);
    let (end, _) = run(ProcessSpec::new(place.file("script"))).await;
    assert_eq!(end.exit, Some(output_contract::Exit::Code(42)));
}

#[tokio::test]
async fn a_script_whose_interpreter_is_missing() {
    let place = Place::new();
    let script = place.file("script");
    write(&script, "#! /no/such/interpreter -x\n", 0o755);
    let expect = "exists, but its interpreter /no/such/interpreter does not";
    let error = fail(ProcessSpec::new(&script)).await;
    assert_eq!(error.to_string(), format!("program cannot be executed: {script} {expect}"));
    assert_eq!(error.kind(), NotStarted::NotExecutable);
    // Also where the search finds it, and relative to the directory.
    let mut spec = ProcessSpec::new("script");
    spec.env = vec![set("PATH", place.path().as_str())];
    assert!(matches!(fail(spec).await, SpawnError::MissingInterpreter { .. }));
    let cwd = Some(place.path().to_owned());
    let spec = ProcessSpec { cwd, ..ProcessSpec::new("./script") };
    assert!(matches!(fail(spec).await, SpawnError::MissingInterpreter { .. }));
}

#[tokio::test]
async fn a_directory_that_cannot_be_used() {
    let place = Place::new();
    write(&place.file("file"), "", 0o644);
    for cwd in [place.file("missing"), place.file("file"), place.file("file").join("x")] {
        for program in ["sh", "no-such-program-anywhere"] {
            let spec = ProcessSpec { cwd: Some(cwd.clone()), ..ProcessSpec::new(program) };
            let error = fail(spec).await;
            assert!(matches!(error, SpawnError::Cwd { .. }), "{cwd} {program}: {error:?}");
            assert_eq!(error.to_string(), format!("working directory cannot be used: {cwd}"));
            assert_eq!(error.kind(), NotStarted::Cwd);
        }
    }
}

#[tokio::test]
async fn arguments_that_no_process_can_be_given() {
    let error = fail(ProcessSpec::new("echo").with_args(["a\0b"])).await;
    assert!(matches!(error, SpawnError::Other { .. }), "{error:?}");
}

#[test]
fn exit_codes_are_those_of_a_shell() {
    use NotStarted::*;
    let codes = [NotFound, NotExecutable, Cwd, Other].map(NotStarted::exit_code);
    assert_eq!(codes, [127, 126, 125, 125]);
}
