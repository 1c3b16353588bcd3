//! Directories: what a page shows.

use output_contract::Status;
use serde_json::json;
use tool_api::CancellationToken;

use crate::calling::{Answer, Reader, execute, printed_call, scratch};

#[tokio::test]
async fn entries_are_sorted_and_marked() {
    let (_guard, cwd) = scratch();
    for dir in ["b", "B", ".git", "b.d"] {
        fs_err::create_dir(cwd.join(dir)).unwrap();
    }
    for file in ["a", "b/inside", ".hidden", "é", "two\nlines", "x -> y"] {
        fs_err::write(cwd.join(file), "x").unwrap();
    }
    for (target, link) in [("b", "to-dir"), ("/no/where", "dangling"), ("a\nb", "to-lines")] {
        fs_err::os::unix::fs::symlink(target, cwd.join(link)).unwrap();
    }
    let expect = "\
        .git/\n.hidden\nB/\na\nb/\nb.d/\ndangling -> /no/where\nto-dir -> b\n\
        to-lines -> \"a\\nb\"\n\"two\\nlines\"\n\"x -> y\"\né\n";
    let reader = Reader::of_files(&cwd);
    for path in [".", "", "b/..", "to-dir/.."].map(|path| cwd.join(path)) {
        let answer = reader.read(json!({"filePath": path.as_str()})).await;
        assert_eq!((answer.status, answer.page()), (Status::Completed, expect), "{path}");
        assert_eq!((answer.next(), answer.totals()), (None, (12, expect.len() as u64)));
        assert_eq!(answer.display.as_deref(), Some("12 entries of 12"));
    }
    // By a link, it is the directory that the link leads to.
    for path in ["to-dir", "b/"] {
        assert_eq!(reader.read(json!({"filePath": path})).await.page(), "inside\n");
    }
    let root = Reader::of_files(&cwd).read(json!({"filePath": "/"})).await;
    assert!(root.page().contains("etc/\n"), "{}", root.page());
}

#[tokio::test]
async fn a_directory_is_paged_like_a_file() {
    let (_guard, cwd) = scratch();
    let reader = Reader::of_files(&cwd);
    let empty = reader.read(json!({"filePath": cwd.as_str()})).await;
    assert_eq!((empty.page(), empty.totals(), empty.next()), ("", (0, 0), None));

    let names: Vec<String> = (0..4_001).map(|n| format!("entry-{n:04}")).collect();
    names.iter().for_each(|name| fs_err::write(cwd.join(name), "").unwrap());
    let all: String = names.iter().map(|name| format!("{name}\n")).collect();

    for limit in [None, Some(1_500), Some(9_000)] {
        let pages = reader.chain(cwd.as_str(), limit).await;
        assert_eq!(pages.len(), 3, "{limit:?}");
        assert_eq!(pages.iter().map(Answer::page).collect::<String>(), all);
    }
    let page = reader.read(json!({"filePath": cwd.as_str(), "offset": 3_998, "limit": 2})).await;
    assert_eq!((page.page(), page.next()), ("entry-3998\nentry-3999\n", Some((4_000, 0))));
    assert!(page.blocks[1].starts_with("[4001 entries and 44011 bytes in all. Read more: "));
    let last = reader.read(printed_call("read", &page.blocks[1])).await;
    assert_eq!((last.page(), last.next()), ("entry-4000\n", None));
    let inside =
        reader.read(json!({"filePath": cwd.as_str(), "offset": 4_000, "byteOffset": 6})).await;
    assert_eq!(inside.page(), "4000\n");
    let past = reader.read(json!({"filePath": cwd.as_str(), "offset": 4_001})).await;
    assert_eq!((past.page(), past.totals()), ("", (4_001, 44_011)));
}

#[tokio::test]
async fn a_directory_replaced_by_a_link_after_approval_is_not_listed() {
    let (_guard, cwd) = scratch();
    fs_err::create_dir_all(cwd.join("secrets/plan")).unwrap();
    fs_err::create_dir(cwd.join("harmless")).unwrap();
    let reader = Reader::of_files(&cwd);
    let call = reader.prepare(json!({"filePath": "harmless"})).await.unwrap();
    fs_err::remove_dir(cwd.join("harmless")).unwrap();
    fs_err::os::unix::fs::symlink("secrets", cwd.join("harmless")).unwrap();
    let answer = execute(call, CancellationToken::new()).await;
    assert_eq!(answer.status, Status::Failed);
    assert!(answer.page().contains("became a symbolic link"), "{}", answer.page());
}
