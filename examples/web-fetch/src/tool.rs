//! The tool: its arguments, and its result as text.

use std::error::Error;

use async_trait::async_trait;
use output_contract::{Fields, OutputDeclaration, Status};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use rustls::crypto::ring;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;
use tool_api::{
    CallContext, Completion, OutputHandling, OutputSink, Plugin, PluginError, PrepareError,
    PreparedCall, Registrar, Resource, Tool, ToolSpec,
};

use crate::document::text_of;
use crate::fetch::{Fetched, fetch};
use crate::limits::FetchLimits;

/// Longest address that is taken, in bytes.
const MAX_URL_BYTES: usize = 8 * 1024;
/// Longest title of a call, in bytes.
const TITLE_BYTES: usize = 200;

/// The tool `web_fetch`, and the plugin that offers it.
#[derive(Debug, Clone)]
pub struct WebFetch {
    spec: ToolSpec,
    client: Client,
    limits: FetchLimits,
}

/// Why the tool cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WebFetchError {
    /// The HTTP client cannot be set up: no certificates, say.
    #[error("could not set up the HTTP client")]
    Client(#[source] reqwest::Error),
}

impl WebFetch {
    /// A tool within `limits`. Proxies are taken from the environment, trusted
    /// certificates from the system.
    ///
    /// # Errors
    /// [`WebFetchError`] where the HTTP client cannot be set up.
    pub fn new(limits: FetchLimits) -> Result<Self, WebFetchError> {
        // One for the whole process; an agent that chose another before keeps it.
        let _ = ring::default_provider().install_default();
        let client = Client::builder()
            .user_agent(concat!("web-fetch-example/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::none())
            .build()
            .map_err(WebFetchError::Client)?;
        let spec = ToolSpec {
            name: "web_fetch".parse().expect("a tool's name"),
            description: "Fetches a web page and returns its text. HTML is rendered as a reader \
                would see it, with its links numbered and listed at the end. A redirect to another \
                host is reported and not followed."
                .to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "url": { "type": "string", "description": "An http or https address." },
                },
                "required": ["url"],
                "additionalProperties": false,
            }),
            output_schema: None,
            annotations: Fields::from([
                ("readOnlyHint".to_owned(), json!(true)),
                ("openWorldHint".to_owned(), json!(true)),
            ]),
            output: OutputDeclaration::Single,
            handling: OutputHandling::Captured,
            reads_artifacts: false,
        };
        Ok(Self { spec, client, limits })
    }
}

impl Plugin for WebFetch {
    fn install(&self, registrar: &mut Registrar) -> Result<(), PluginError> {
        registrar.tool(std::sync::Arc::new(self.clone()));
        Ok(())
    }
}

#[async_trait]
impl Tool for WebFetch {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn prepare(&self, arguments: Value) -> Result<Box<dyn PreparedCall>, PrepareError> {
        let url = url(&arguments).map_err(PrepareError::arguments)?;
        Ok(Box::new(FetchCall { url, client: self.client.clone(), limits: self.limits }))
    }
}

fn url(arguments: &Value) -> Result<Url, String> {
    if let Some(unknown) = arguments.as_object().and_then(|o| o.keys().find(|key| *key != "url")) {
        return Err(format!("unknown argument {unknown:?}; web_fetch takes url"));
    }
    let Some(text) = arguments.get("url").and_then(Value::as_str) else {
        return Err("url must be a string such as \"https://example.org/\"".to_owned());
    };
    if text.len() > MAX_URL_BYTES {
        return Err(format!("url has {} bytes; at most {MAX_URL_BYTES} are taken", text.len()));
    }
    let url = Url::parse(text).map_err(|error| format!("url is no web address: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(format!("url must begin with http:// or https://, not {}:", url.scheme()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("url must not have a user name or a password in it".to_owned());
    }
    Ok(url)
}

#[derive(Debug)]
struct FetchCall {
    url: Url,
    client: Client,
    limits: FetchLimits,
}

#[async_trait]
impl PreparedCall for FetchCall {
    fn title(&self) -> String {
        // An address is ASCII once it is parsed.
        let url = self.url.as_str();
        url[..url.len().min(TITLE_BYTES)].to_owned()
    }

    fn resources(&self) -> Vec<Resource> {
        vec![Resource::Network { host: self.url.host_str().unwrap_or_default().to_owned() }]
    }

    async fn execute(self: Box<Self>, cx: CallContext) -> Completion {
        let Self { url, client, limits } = *self;
        let fetched = tokio::select! {
            biased;
            () = cx.cancel.cancelled() => {
                return Completion::new(cx.sink.empty(), Status::Cancelled);
            }
            fetched = tokio::time::timeout(limits.timeout, fetch(&client, url, &limits)) => fetched,
        };
        let fetched = match fetched {
            Err(_) => {
                let mut late = Completion::new(cx.sink.empty(), Status::TimedOut);
                late.timeout = Some(limits.timeout);
                return late;
            }
            Ok(Err(error)) => return failed(cx.sink, &explain(&error)),
            Ok(Ok(fetched)) => fetched,
        };
        let line = format!("{}, {} bytes", fetched.status, fetched.body.len());
        let success = fetched.status.is_success();
        // A large page takes a while to render.
        match spawn_blocking(move || format(&fetched, &limits)).await {
            Ok(Ok(text)) if success => complete(cx.sink, text).with_display(line),
            Ok(Ok(text)) => failed(cx.sink, &text).with_display(line),
            Ok(Err(message)) => failed(cx.sink, &message),
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => Completion::new(cx.sink.empty(), Status::Cancelled),
        }
    }
}

/// The whole result, however long: what becomes of a long one is not decided
/// here.
fn format(fetched: &Fetched, limits: &FetchLimits) -> Result<String, String> {
    let Fetched { url, status, content_type, body } = fetched;
    let text = text_of(content_type.as_deref(), body).map_err(|error| explain(&error))?;
    let mut result = format!("URL: {url}\nStatus: {status}\n");
    if let Some(content_type) = content_type {
        result += &format!("Content-Type: {content_type}\n");
    }
    result.push('\n');
    match text.char_indices().nth(limits.body_chars) {
        None => result += &text,
        Some((end, _)) => {
            let all = text.chars().count();
            result += &text[..end];
            result += &format!("\n[Cut: {} of {all} characters are kept]\n", limits.body_chars);
        }
    }
    Ok(result)
}

fn complete(sink: OutputSink, text: String) -> Completion {
    match sink.full(text) {
        Ok(output) => Completion::completed(output),
        Err(rejected) => Completion::failed(rejected.sink.empty()),
    }
}

fn failed(sink: OutputSink, text: &str) -> Completion {
    let mut completion = complete(sink, text.to_owned());
    completion.status = Status::Failed;
    completion
}

/// An error with its sources, on one line.
fn explain(error: &dyn Error) -> String {
    let sources = std::iter::successors(error.source(), |source| (*source).source());
    sources.fold(error.to_string(), |text, source| format!("{text}: {source}"))
}
