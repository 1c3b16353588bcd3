//! Who may read what was saved, whatever the umask.
//!
//! A umask is the whole process's, so that each is tried in a process of its
//! own, which runs one test of this file again.

use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use spill::SpillStore as _;
use spill_local::LocalSpill;

use crate::harness::{files, mode, text};

/// Names the directory that the child saves to.
const PARENT: &str = "SPILL_LOCAL_TEST_PARENT";

#[test]
fn modes_hold_under_any_umask() {
    for umask in ["000", "022", "077", "777"] {
        let dir = tempfile::tempdir().unwrap();
        let parent = Utf8Path::from_path(dir.path()).unwrap();
        let output = Command::new("sh")
            .args(["-c", "umask \"$UMASK\"; exec \"$0\" \"$@\""])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "modes::saves_in_a_child", "--nocapture"])
            .env(PARENT, parent)
            .env("UMASK", umask)
            .output()
            .unwrap();
        assert!(output.status.success(), "{umask}: {}", String::from_utf8_lossy(&output.stderr));

        let files = files(parent);
        assert_eq!(files.len(), 3, "{umask}: {files:?}");
        for file in &files {
            assert_eq!(mode(file), 0o600, "{umask}: {file}");
            for directory in file.ancestors().skip(1).take_while(|path| *path != parent) {
                assert_eq!(mode(directory), 0o700, "{umask}: {directory}");
            }
        }
    }
}

#[tokio::test]
async fn saves_in_a_child() {
    let Ok(parent) = std::env::var(PARENT) else { return };
    let parent = Utf8PathBuf::from(parent);
    let store = LocalSpill::new(parent.join("new/root")).unwrap();
    store.save_text(text("one", "a.txt", "a")).await.unwrap();
    store.save_text(text("other", "a.txt", "a")).await.unwrap();
    let private = LocalSpill::private_in(&parent).unwrap();
    assert!(!private.root().exists(), "it is made when it is needed");
    private.save_text(text("one", "a.txt", "a")).await.unwrap();
}

#[tokio::test]
async fn a_session_directory_that_others_may_list_is_closed_again() {
    let scratch = crate::harness::Scratch::new();
    let saved = scratch.store.save_text(text("s", "a.txt", "a")).await.unwrap();
    let session = Utf8Path::new(saved.locator.as_str()).parent().unwrap().to_owned();
    crate::harness::set_mode(&session, 0o755);
    scratch.store.save_text(text("s", "a.txt", "a")).await.unwrap();
    assert_eq!(mode(&session), 0o700);
}
