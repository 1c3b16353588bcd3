//! What the policy changes about a long result: the notice, and nothing else.
//! The tool has no part in it.

use output_contract::{Content, Status, ToolResult};
use serde_json::json;
use tool_api::CancellationToken;
use web_fetch_example::FetchLimits;

use crate::agent::Agent;
use crate::server::Server;

const CAP: usize = 4_000;

/// A result without the text that the model sees, and without what was shown
/// of the stream.
fn rest(mut result: ToolResult) -> ToolResult {
    result.content.retain(|content| content.as_text().is_none());
    for stream in &mut result.output.streams {
        stream.shown_bytes = 0;
        stream.truncated = false;
        stream.next_offset = None;
        stream.next_byte_offset = None;
    }
    result
}

#[tokio::test]
async fn only_the_notice_differs_and_the_file_has_the_whole_result() {
    let server = Server::start().await;
    let plain = Agent::new(FetchLimits::default(), None);
    let bounded = Agent::new(FetchLimits::default(), Some(CAP));
    let (url, error) = (server.url("/long"), server.url("/error/500"));
    for (url, status) in [(&url, Status::Completed), (&error, Status::Failed)] {
        let without = plain.fetch(url).await;
        let with = bounded.fetch(url).await;
        assert_eq!((without.status, with.status), (status, status));
        assert_eq!(rest(with.clone()), rest(without.clone()));
        assert_eq!(plain.spilled(), [""; 0]);

        // The file is the whole formatted result: what is stored of the call, too.
        let spilled = bounded.spilled();
        let [file] = &*spilled else { panic!("{spilled:?}") };
        let whole = fs_err::read_to_string(file).unwrap();
        let stored = with.output.streams[0].bytes;
        assert_eq!(whole.len() as u64, stored);
        assert!(whole.starts_with(&format!("URL: {url}\nStatus: ")), "{whole}");

        // Head, gap, tail, notice; all of it within the cap.
        let text = with.text();
        assert!(text.len() <= CAP, "{} bytes", text.len());
        let (head, after) = text.split_once("\n[... ").unwrap();
        let (omitted, after) = after.split_once(" bytes omitted ...]\n").unwrap();
        let (tail, notice) = after.rsplit_once("\n\n(Omitted ").unwrap();
        assert!(whole.starts_with(head) && whole.ends_with(tail));
        assert_eq!(head.len() + tail.len() + omitted.parse::<usize>().unwrap(), whole.len());
        let location = format!(" bytes. Full formatted result stored at: {file}. ");
        assert!(notice.starts_with(&format!("{omitted}{location}")), "{notice}");
        fs_err::remove_file(file).unwrap();
    }
}

#[tokio::test]
async fn a_short_result_is_the_same_with_the_policy() {
    let server = Server::start().await;
    let plain = Agent::new(FetchLimits::default(), None);
    let bounded = Agent::new(FetchLimits::default(), Some(CAP));
    let url = server.url("/short");
    assert_eq!(plain.fetch(&url).await, bounded.fetch(&url).await);
    assert_eq!(bounded.spilled(), [""; 0]);
}

#[tokio::test]
async fn the_locator_can_be_read_and_no_other_file() {
    let server = Server::start().await;
    let agent = Agent::new(FetchLimits::default(), Some(CAP));
    let text = agent.fetch(&server.url("/long")).await.text().to_owned();
    let (_, after) = text.split_once("stored at: ").unwrap();
    let (locator, _) = after.split_once(". ").unwrap();
    let never = CancellationToken::new();
    let read = json!({"filePath": locator, "offset": 1_000, "limit": 4});
    let page = agent.call("read", read, &never).await;
    let shown = page.content.first().and_then(Content::as_text).unwrap();
    assert!(shown.contains("of the page, with é, 語 and 🦀."), "{shown}");
    let other = agent.call("read", json!({"filePath": "/etc/hostname"}), &never).await;
    assert!(other.text().contains("outside the directories that may be read"), "{}", other.text());
}
