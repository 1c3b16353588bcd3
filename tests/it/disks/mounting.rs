//! Small disks of one's own.

use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};

const INSIDE: &str = "OVERSPILL_TEST_MAY_MOUNT";

/// Whether this process may mount. One that may not runs the test `name` once
/// more where that is allowed, in a name space of its own: as root, or as a user
/// who is root in there. Where the system forbids both, nothing is tested.
pub(super) fn may_mount(name: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let dir = tempfile::tempdir().unwrap();
    let dir = Utf8Path::from_path(dir.path()).unwrap();
    let probe = format!("mount -t tmpfs -o size=1m tmpfs {dir}");
    let allowed = |flags: &&str| {
        let probe = Command::new("unshare").args([flags, "sh", "-c", &probe]).output();
        probe.is_ok_and(|output| output.status.success())
    };
    let Some(flags) = ["-rm", "-m"].into_iter().find(allowed) else {
        println!("skipped: mounting is forbidden here");
        return false;
    };
    let output = Command::new("unshare")
        .arg(flags)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(INSIDE, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("1 passed"), "{name} is no test: {text}");
    println!("{text}");
    false
}

/// A small disk in memory. It goes with the name space.
pub(super) struct Disk {
    at: Utf8PathBuf,
}

impl Disk {
    /// Mounts one at the directory `at`, which is made.
    pub(super) fn mount(at: Utf8PathBuf, options: &str) -> Self {
        fs_err::create_dir_all(&at).unwrap();
        let disk = Self { at };
        disk.call(&["-t", "tmpfs", "-o", &format!("mode=700,{options}"), "tmpfs"]);
        disk
    }

    pub(super) fn make_read_only(&self) {
        self.call(&["-o", "remount,ro"]);
    }

    pub(super) fn make_writable(&self) {
        self.call(&["-o", "remount,rw"]);
    }

    fn call(&self, args: &[&str]) {
        let output = Command::new("mount").args(args).arg(&self.at).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn filler(&self) -> Utf8PathBuf {
        self.at.join("filler")
    }

    /// Fills it, but for so many pages of 4 KiB.
    pub(super) fn fill(&self, pages_left: u64) {
        use std::io::Write;
        let mut file = fs_err::File::create(self.filler()).unwrap();
        let mut written = 0;
        while file.write_all(&[0; 4096]).is_ok() {
            written += 4096;
        }
        assert!(written >= pages_left * 4096, "the disk is too small for the test");
        file.set_len(written - pages_left * 4096).unwrap();
    }

    /// Uses up its inodes, but for so many.
    pub(super) fn fill_inodes(&self, inodes_left: usize) {
        fs_err::create_dir(self.filler()).unwrap();
        let mut made = Vec::new();
        loop {
            let path = self.filler().join(made.len().to_string());
            if fs_err::write(&path, "").is_err() {
                break;
            }
            made.push(path);
        }
        assert!(made.len() >= inodes_left, "the disk is too small for the test");
        made.iter().take(inodes_left).for_each(|path| fs_err::remove_file(path).unwrap());
    }

    pub(super) fn free(&self) {
        let filler = self.filler();
        if filler.is_dir() {
            fs_err::remove_dir_all(filler).unwrap();
        } else {
            fs_err::remove_file(filler).unwrap();
        }
    }
}
