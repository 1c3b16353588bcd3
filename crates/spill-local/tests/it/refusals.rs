//! Places that someone else has prepared.

use camino::Utf8Path;
use fs_err::os::unix::fs::symlink;
use spill::{SpillError, SpillStore as _};
use spill_local::LocalSpill;

use crate::harness::{Scratch, files, set_mode, text};

/// Saves where it must be refused. Why it was.
async fn refusal(store: &LocalSpill) -> String {
    match store.save_text(text("session-1", "a.txt", "private")).await {
        Err(SpillError::Unsafe { reason, .. }) => reason,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn planted_links_are_refused() {
    let scratch = Scratch::new();
    let theirs = scratch.path().join("theirs");
    fs_err::create_dir(&theirs).unwrap();
    fs_err::create_dir(scratch.path().join("deep")).unwrap();

    symlink(&theirs, scratch.root()).unwrap();
    assert!(refusal(&scratch.store).await.starts_with("it is a symbolic link"));

    fs_err::remove_file(scratch.root()).unwrap();
    fs_err::create_dir(scratch.root()).unwrap();
    // The name of a session's directory can be known.
    symlink(&theirs, scratch.root().join("session-84097828fc31")).unwrap();
    assert!(refusal(&scratch.store).await.starts_with("it is a symbolic link"));
    assert_eq!(files(&theirs), [""; 0]);
    scratch.store.save_text(text("session-2", "a.txt", "private")).await.unwrap();
}

#[tokio::test]
async fn directories_that_others_may_write_to_are_refused() {
    let scratch = Scratch::new();
    let session = scratch.root().join("session-84097828fc31");
    fs_err::create_dir_all(&session).unwrap();
    for directory in [scratch.root(), &session] {
        for mode in [0o777, 0o770, 0o1777] {
            set_mode(directory, mode);
            assert!(refusal(&scratch.store).await.starts_with("others may write to it"));
        }
        set_mode(directory, 0o700);
    }
    assert_eq!(scratch.files(), [""; 0]);
    scratch.store.save_text(text("session-1", "a.txt", "private")).await.unwrap();
}

#[tokio::test]
async fn directories_of_another_user_are_refused() {
    let scratch = Scratch::new();
    let session = scratch.root().join("session-84097828fc31");
    fs_err::create_dir_all(&session).unwrap();
    for directory in [scratch.root(), &session] {
        let chown = |user| std::os::unix::fs::chown(directory, Some(user), None);
        if let Err(error) = chown(54_321) {
            eprintln!("skipped: only the superuser gives a directory away: {error}");
            return;
        }
        assert!(refusal(&scratch.store).await.starts_with("it belongs to user 54321, not to"));
        chown(rustix::process::geteuid().as_raw()).unwrap();
    }
    assert_eq!(scratch.files(), [""; 0]);
}

#[tokio::test]
async fn a_root_that_was_removed_is_made_again() {
    let scratch = Scratch::new();
    scratch.store.save_text(text("session-1", "a.txt", "a")).await.unwrap();
    fs_err::remove_dir_all(scratch.root()).unwrap();
    let saved = scratch.store.save_text(text("session-1", "a.txt", "b")).await.unwrap();
    assert_eq!(fs_err::read_to_string(Utf8Path::new(saved.locator.as_str())).unwrap(), "b");
}
