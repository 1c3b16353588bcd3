//! What no server can make the tool do.

use std::time::Duration;

use output_contract::Status;
use serde_json::json;
use tool_api::CancellationToken;
use web_fetch_example::FetchLimits;

use crate::agent::Agent;
use crate::server::Server;

#[tokio::test]
async fn a_response_is_bounded_in_bytes() {
    let server = Server::start().await;
    let agent = Agent::new(FetchLimits { response_bytes: 200_000, ..FetchLimits::default() }, None);
    let exact = agent.fetch(&server.url("/plain/200000")).await;
    assert_eq!((exact.status, exact.display.as_str()), (Status::Completed, "200 OK, 200000 bytes"));
    // One byte more; more than was ever sent; and without an end.
    for path in ["/plain/200001", "/announced", "/endless"] {
        let result = agent.fetch(&server.url(path)).await;
        assert_eq!(result.status, Status::Failed, "{path}");
        let expect = "the response is larger than 200000 bytes, which is the most that is fetched";
        assert_eq!(result.text(), format!("{expect}\n[failed]"));
    }
}

#[tokio::test]
async fn a_text_is_bounded_in_characters() {
    let server = Server::start().await;
    let agent = Agent::new(FetchLimits { body_chars: 20, ..FetchLimits::default() }, None);
    for (length, cut) in [(20, false), (21, true)] {
        let result = agent.fetch(&server.url(&format!("/plain/{length}"))).await;
        assert_eq!(result.status, Status::Completed);
        let note = "\n[Cut: 20 of 21 characters are kept]\n";
        let end = format!("\n\n{}{}", "x".repeat(20), if cut { note } else { "" });
        assert!(result.text().ends_with(&end), "{}", result.text());
    }
}

#[tokio::test]
async fn a_fetch_is_bounded_in_time() {
    let server = Server::start().await;
    let timeout = Duration::from_millis(200);
    let agent = Agent::new(FetchLimits { timeout, ..FetchLimits::default() }, None);
    for path in ["/silent", "/stuck"] {
        let result = agent.fetch(&server.url(path)).await;
        assert_eq!(result.status, Status::TimedOut, "{path}");
        assert!(result.text().contains("timed out after"), "{}", result.text());
    }
}

#[tokio::test]
async fn a_fetch_can_be_cancelled() {
    let server = Server::start().await;
    let agent = Agent::new(FetchLimits::default(), None);
    let cancel = CancellationToken::new();
    let call = agent.call("web_fetch", json!({"url": server.url("/stuck")}), &cancel);
    let (result, ()) = tokio::join!(call, async {
        while server.asked().is_empty() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    });
    assert_eq!(result.status, Status::Cancelled);
}

#[tokio::test]
async fn no_answer_and_half_an_answer_are_failures() {
    let server = Server::start().await;
    let agent = Agent::new(FetchLimits::default(), None);
    let broken = agent.fetch(&server.url("/broken")).await;
    assert_eq!(broken.status, Status::Failed);
    assert!(broken.text().starts_with("the answer of 127.0.0.1 broke off: "), "{}", broken.text());

    // A port below those that are given out, and of a service that nobody runs.
    let refused = agent.fetch("http://127.0.0.1:1/").await;
    assert_eq!(refused.status, Status::Failed);
    assert!(refused.text().starts_with("no answer from 127.0.0.1: "), "{}", refused.text());
    assert!(refused.text().contains("refused"), "{}", refused.text());
}
