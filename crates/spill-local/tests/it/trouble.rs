//! Systems that are out of something.
//!
//! Limits are the whole process's, so that each is tried in a process of its
//! own, which runs one test of this file again.

use std::io::ErrorKind;
use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use rustix::io::Errno;
use spill::{SpillError, SpillStore as _};
use spill_local::LocalSpill;

use crate::harness::{Scratch, files, text};

/// Names the root that the child saves to.
const ROOT: &str = "SPILL_LOCAL_TEST_ROOT";
/// More than `ulimit -f` below allows, whatever unit the shell counts in.
const TOO_MUCH: usize = 100_000;

/// Runs a test again under a limit.
fn under(limit: &str, test: &str, root: &Utf8Path) {
    let output = Command::new("sh")
        .args(["-c", &format!("{limit}; exec \"$0\" \"$@\"")])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(ROOT, root)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn child_store() -> Option<LocalSpill> {
    std::env::var(ROOT).ok().map(|root| LocalSpill::new(Utf8PathBuf::from(root)).unwrap())
}

/// Saves where the system refuses. What it did, and what the system said.
async fn refusal(store: &LocalSpill, content: String) -> (&'static str, std::io::Error) {
    match store.save_text(text("s", "a.txt", content)).await {
        Err(SpillError::File { action, source, .. }) => (action, source),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_text_that_is_cut_off_by_the_system_leaves_nothing() {
    let scratch = Scratch::new();
    // The limit's signal is ignored, which exec keeps: then it is an error.
    under("trap '' XFSZ; ulimit -f 20", "trouble::in_little_room", scratch.root());
    assert_eq!(scratch.files().len(), 2, "{:?}", scratch.files());
}

#[tokio::test]
async fn in_little_room() {
    let Some(store) = child_store() else { return };
    store.save_text(text("s", "a.txt", "before")).await.unwrap();
    let (action, source) = refusal(&store, "x".repeat(TOO_MUCH)).await;
    assert_eq!((action, source.kind()), ("write", ErrorKind::FileTooLarge));
    assert_eq!(files(store.root()).len(), 1);
    store.save_text(text("s", "a.txt", "after")).await.unwrap();
}

#[test]
fn a_process_without_descriptors_is_told_so() {
    let scratch = Scratch::new();
    under(":", "trouble::without_descriptors", scratch.root());
    assert_eq!(scratch.files().len(), 2, "{:?}", scratch.files());
}

#[tokio::test]
async fn without_descriptors() {
    let Some(store) = child_store() else { return };
    store.save_text(text("s", "a.txt", "before")).await.unwrap();
    let limits = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    // One by one from none: the root, the session's directory, the file.
    let taken = fs_err::File::open("/dev/null").unwrap();
    let next = std::os::fd::AsRawFd::as_raw_fd(&taken) as u64;
    drop(taken);
    for room in 0..3 {
        let few = rustix::process::Rlimit { current: Some(next + room), ..limits };
        rustix::process::setrlimit(rustix::process::Resource::Nofile, few).unwrap();
        let (_, source) = refusal(&store, "text".to_owned()).await;
        assert_eq!(source.raw_os_error(), Some(Errno::MFILE.raw_os_error()), "{room}");
        rustix::process::setrlimit(rustix::process::Resource::Nofile, limits).unwrap();
    }
    store.save_text(text("s", "a.txt", "after")).await.unwrap();
}

#[tokio::test]
async fn a_full_disk_keeps_what_it_has_and_nothing_else() {
    let scratch = Scratch::new();
    let disk = scratch.path().join("disk");
    fs_err::create_dir(&disk).unwrap();
    let mount = ["-t", "tmpfs", "-o", "size=64k,mode=0700", "tmpfs", disk.as_str()];
    let mounted = Command::new("mount").args(mount).output();
    if !mounted.as_ref().is_ok_and(|mounted| mounted.status.success()) {
        eprintln!("skipped: no small file system can be mounted here: {mounted:?}");
        return;
    }
    let _unmount = Unmount(disk.clone());
    let store = LocalSpill::new(disk.join("root")).unwrap();
    let before = store.save_text(text("s", "a.txt", "before")).await.unwrap();
    let (action, source) = refusal(&store, "x".repeat(TOO_MUCH)).await;
    assert_eq!((action, source.kind()), ("write", ErrorKind::StorageFull));
    assert_eq!(files(store.root()), [before.locator.as_str()]);
    store.save_text(text("s", "a.txt", "after")).await.unwrap();
}

struct Unmount(Utf8PathBuf);

impl Drop for Unmount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[tokio::test]
async fn a_save_that_nobody_waits_for_leaves_nothing() {
    let scratch = Scratch::new();
    let mut saving = scratch.store.save_text(text("s", "a.txt", "x".repeat(1_000_000)));
    let poll = |cx: &mut std::task::Context<'_>| {
        std::task::Poll::Ready(saving.as_mut().poll(cx).is_ready())
    };
    let done = std::future::poll_fn(poll).await;
    assert!(!done, "it waits for its thread");
    drop(saving);
    // The thread goes on, and then removes what has no reference. It has ended
    // when what it makes first and what it makes last are both seen and gone.
    while !scratch.root().exists() || !scratch.files().is_empty() || threads() > 1 {
        std::thread::yield_now();
    }
}

/// How many threads that spill this process has, and the one that counts.
fn threads() -> usize {
    let Ok(tasks) = fs_err::read_dir("/proc/self/task") else { return 1 };
    let names =
        tasks.filter_map(|task| fs_err::read_to_string(task.ok()?.path().join("comm")).ok());
    1 + names.filter(|name| name.trim() == "spill").count()
}
