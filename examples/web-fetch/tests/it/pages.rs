//! What the tool makes of answers.

use output_contract::Status;
use serde_json::json;
use tool_api::{Resource, Tool};
use web_fetch_example::{FetchLimits, WebFetch};

use crate::agent::Agent;
use crate::server::Server;

#[tokio::test]
async fn a_page_is_its_text() {
    let server = Server::start().await;
    let agent = Agent::new(FetchLimits::default(), None);
    let url = server.url("/short");
    let result = agent.fetch(&url).await;
    let expect =
        format!("URL: {url}\nStatus: 200 OK\nContent-Type: text/html; charset=utf-8\n\nShort.\n");
    assert_eq!((result.status, &*result.text()), (Status::Completed, &*expect));
    assert_eq!(result.display, "200 OK, 13 bytes");
    assert_eq!(result.title, url);

    let latin1 = agent.fetch(&server.url("/latin1")).await;
    assert!(latin1.text().ends_with("\n\ncafé"), "{}", latin1.text());
    let image = agent.fetch(&server.url("/image")).await;
    assert_eq!(image.status, Status::Failed);
    assert_eq!(image.text(), "the response is image/png, which is no text\n[failed]");
}

#[tokio::test]
async fn an_error_of_the_server_is_shown_and_failed() {
    let server = Server::start().await;
    let agent = Agent::new(FetchLimits::default(), None);
    for (status, phrase) in [(404, "404 Not Found"), (503, "503 Service Unavailable")] {
        let result = agent.fetch(&server.url(&format!("/error/{status}"))).await;
        assert_eq!(result.status, Status::Failed);
        let text = result.text();
        assert!(
            text.contains(&format!("\nStatus: {phrase}\n")) && text.contains("Sorry"),
            "{text}"
        );
        assert!(text.ends_with("\n[failed]"), "{text}");
    }
}

#[tokio::test]
async fn what_cannot_be_fetched_is_refused_before() {
    let tool = WebFetch::new(FetchLimits::default()).unwrap();
    for (arguments, expect) in [
        (json!({}), "url must be a string such as \"https://example.org/\""),
        (json!("x"), "url must be a string such as \"https://example.org/\""),
        (json!({"url": 1}), "url must be a string such as \"https://example.org/\""),
        (json!({"url": "http://a", "x": 1}), "unknown argument \"x\"; web_fetch takes url"),
        (json!({"url": "example.org"}), "url is no web address: relative URL without a base"),
        (
            json!({"url": "file:///etc/passwd"}),
            "url must begin with http:// or https://, not file:",
        ),
        (
            json!({"url": "http://me:secret@example.org/"}),
            "url must not have a user name or a password in it",
        ),
        (
            json!({"url": format!("http://a/{}", "x".repeat(9_000))}),
            "url has 9009 bytes; at most 8192 are taken",
        ),
    ] {
        let error = tool.prepare(arguments).await.unwrap_err();
        assert_eq!(error.to_string(), format!("invalid arguments: {expect}"));
    }
    let call = tool.prepare(json!({"url": "https://Example.org:8443/a"})).await.unwrap();
    assert_eq!(call.resources(), [Resource::Network { host: "example.org".to_owned() }]);
}

#[tokio::test]
async fn redirects_stay_on_the_host() {
    let server = Server::start().await;
    let agent = Agent::new(FetchLimits { redirects: 3, ..FetchLimits::default() }, None);
    let result = agent.fetch(&server.url("/redirect/2")).await;
    assert_eq!(result.status, Status::Completed);
    assert!(result.text().starts_with(&format!("URL: {}\n", server.url("/short"))));
    assert_eq!(server.asked(), ["/redirect/2", "/redirect/1", "/redirect/0", "/short"]);

    for (path, expect) in [
        (
            "/redirect/3",
            format!("there were more than 3 redirects; the last led to {}", server.url("/short")),
        ),
        (
            "/elsewhere",
            format!(
                "the page redirects to another host, which was not followed; to go there, fetch \
                 http://localhost:{}/short",
                server.port
            ),
        ),
        (
            "/mail",
            "the server redirects to \"mailto:me@example.org\", which is no web address".to_owned(),
        ),
    ] {
        let result = agent.fetch(&server.url(path)).await;
        assert_eq!(result.status, Status::Failed);
        assert_eq!(result.text(), format!("{expect}\n[failed]"));
    }
}
