//! One request, with its redirects, within limits.

use reqwest::header::{CONTENT_TYPE, LOCATION};
use reqwest::{Client, Response, StatusCode, Url};

use crate::limits::FetchLimits;

/// What a server answered.
#[derive(Debug)]
pub(crate) struct Fetched {
    /// Where the answer is from, after redirects.
    pub(crate) url: Url,
    pub(crate) status: StatusCode,
    pub(crate) content_type: Option<String>,
    pub(crate) body: Vec<u8>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum FetchError {
    #[error("no answer from {host}")]
    Request {
        host: String,
        #[source]
        source: reqwest::Error,
    },
    #[error("the answer of {host} broke off")]
    Body {
        host: String,
        #[source]
        source: reqwest::Error,
    },
    #[error("the response is larger than {limit} bytes, which is the most that is fetched")]
    TooLarge { limit: usize },
    #[error("there were more than {limit} redirects; the last led to {url}")]
    TooManyRedirects { limit: usize, url: Url },
    #[error("the page redirects to another host, which was not followed; to go there, fetch {url}")]
    OtherHost { url: Url },
    #[error("the page redirects from https to {url}, which was not followed")]
    Downgrade { url: Url },
    #[error("the server redirects to {location:?}, which is no web address")]
    Location { location: String },
}

/// Fetches `url`. Dropping the future ends the connection.
///
/// # Errors
/// [`FetchError`]; a status of the server that is no success is no error here.
pub(crate) async fn fetch(
    client: &Client,
    mut url: Url,
    limits: &FetchLimits,
) -> Result<Fetched, FetchError> {
    for redirects in 0.. {
        let response = client.get(url.clone()).send().await.map_err(|source| {
            FetchError::Request { host: host(&url), source: source.without_url() }
        })?;
        let Some(next) = redirect(&response)? else {
            return read(response, limits).await;
        };
        if redirects == limits.redirects {
            return Err(FetchError::TooManyRedirects { limit: limits.redirects, url: next });
        }
        url = next;
    }
    unreachable!("the loop has no end")
}

/// Where a response leads; `None` where it is the answer.
fn redirect(response: &Response) -> Result<Option<Url>, FetchError> {
    let from = response.url();
    let location = response.headers().get(LOCATION).filter(|_| response.status().is_redirection());
    let Some(location) = location else { return Ok(None) };
    let location = String::from_utf8_lossy(location.as_bytes());
    let url = match from.join(&location) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => url,
        _ => return Err(FetchError::Location { location: location.into_owned() }),
    };
    if url.host() != from.host() {
        return Err(FetchError::OtherHost { url });
    }
    if from.scheme() == "https" && url.scheme() == "http" {
        return Err(FetchError::Downgrade { url });
    }
    Ok(Some(url))
}

async fn read(mut response: Response, limits: &FetchLimits) -> Result<Fetched, FetchError> {
    let limit = limits.response_bytes;
    let announced = response.content_length().unwrap_or(0);
    if announced > limit as u64 {
        return Err(FetchError::TooLarge { limit });
    }
    let url = response.url().clone();
    let mut body = Vec::new();
    loop {
        let chunk = response.chunk().await.map_err(|source| FetchError::Body {
            host: host(&url),
            source: source.without_url(),
        })?;
        let Some(chunk) = chunk else { break };
        if chunk.len() > limit - body.len() {
            return Err(FetchError::TooLarge { limit });
        }
        body.extend_from_slice(&chunk);
    }
    let content_type = response.headers().get(CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok()).map(str::to_owned);
    Ok(Fetched { url, status: response.status(), content_type, body })
}

fn host(url: &Url) -> String {
    url.host_str().unwrap_or_default().to_owned()
}
