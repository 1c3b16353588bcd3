//! Full disks, at every stage of a run.

use std::collections::BTreeMap;

use super::mounting::{Disk, may_mount};
use super::outcome::{Kept, check, run, verify, works_again};
use crate::sandbox::Sandbox;

const CONFIG: &str = "[store]\ndurability = \"durable\"\n";

/// Runs `seq COUNT` on a disk with so much left, after `before` runs of
/// something else; then makes room.
fn sweep(options: &str, count: u64, before: &[u64], left: impl Iterator<Item = u64>) {
    let inodes = options.contains("nr_inodes");
    let mut kept = BTreeMap::new();
    for left in left {
        let stage = format!("{options}, {left} left");
        let sandbox = Sandbox::new();
        let disk = Disk::mount(sandbox.home(), options);
        sandbox.configure(CONFIG);
        for &before in before {
            assert_eq!(run(&sandbox, before).code, Some(7), "{stage}");
        }
        if inodes {
            disk.fill_inodes(usize::try_from(left).unwrap());
        } else {
            disk.fill(left);
        }
        let ran = run(&sandbox, count);
        *kept.entry(check(&sandbox, &ran, count, &stage)).or_insert(0) += 1;
        if sandbox.home().join("store/store.json").exists() {
            verify(&sandbox, &stage);
        }
        disk.free();
        works_again(&sandbox, count, &stage);
    }
    println!("seq {count} on {options}: {kept:?}");
    assert!(kept[&Kept::Nothing] > 0, "full from the beginning: {kept:?}");
}

#[test]
fn at_every_page_of_a_small_output() {
    if may_mount("disks::full::at_every_page_of_a_small_output") {
        sweep("size=1m", 3_000, &[10], 0..14);
    }
}

#[test]
fn at_some_pages_of_a_large_output() {
    if may_mount("disks::full::at_some_pages_of_a_large_output") {
        // 86 pages, and a sidecar.
        sweep("size=4m", 60_000, &[10], [0, 20].into_iter().chain(86..93));
    }
}

#[test]
fn at_every_page_of_a_new_home() {
    if may_mount("disks::full::at_every_page_of_a_new_home") {
        sweep("size=1m", 3_000, &[], 0..14);
    }
}

#[test]
fn at_every_inode() {
    if may_mount("disks::full::at_every_inode") {
        sweep("size=4m,nr_inodes=120", 3_000, &[10], 0..14);
    }
}

#[test]
fn a_read_only_disk_keeps_status_preview_and_what_is_on_it() {
    if !may_mount("disks::full::a_read_only_disk_keeps_status_preview_and_what_is_on_it") {
        return;
    }
    let sandbox = Sandbox::new();
    let disk = Disk::mount(sandbox.home(), "size=4m");
    sandbox.configure(CONFIG);
    let before = run(&sandbox, 60_000);
    disk.make_read_only();
    let ran = run(&sandbox, 3_000);
    assert_eq!(check(&sandbox, &ran, 3_000, "read-only"), Kept::Nothing);
    assert_eq!(check(&sandbox, &before, 60_000, "read-only"), Kept::All);
    verify(&sandbox, "read-only");
    disk.make_writable();
    works_again(&sandbox, 3_000, "writable again");
}
