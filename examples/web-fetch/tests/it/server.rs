//! A web server on the loopback interface, good and bad.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, LOCATION};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

/// A server that answers until the test's runtime ends.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = asked.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let log = log.clone();
                let service = service_fn(move |request: Request<Incoming>| {
                    let path = request.uri().path().to_owned();
                    log.lock().unwrap().push(path.clone());
                    async move { answer(&path, port).await }
                });
                let connection =
                    http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                tokio::spawn(connection);
            }
        });
        Self { port, asked }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The paths that were asked for so far.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// A page of which all is text, in many lines.
pub(crate) fn long_page() -> String {
    let items: String = (0..2_000)
        .map(|n| format!("<p>Paragraph {n} of the page, with é, 語 and 🦀.</p>\n"))
        .collect();
    format!("<!doctype html><html><head><title>Long</title></head><body>{items}</body></html>")
}

async fn answer(path: &str, port: u16) -> Result<Response<Answer>, Infallible> {
    let (kind, rest) = path[1..].split_once('/').unwrap_or((&path[1..], ""));
    let html = "text/html; charset=utf-8";
    let response = Response::builder();
    let redirect = |to: String| Response::builder().status(302).header(LOCATION, to);
    let response = match kind {
        "long" => response.header(CONTENT_TYPE, html).body(Answer::all(long_page())),
        "short" => response.header(CONTENT_TYPE, html).body(Answer::all("<p>Short.</p>")),
        "plain" => {
            let length: usize = rest.parse().unwrap();
            response.header(CONTENT_TYPE, "text/plain").body(Answer::all("x".repeat(length)))
        }
        "latin1" => response
            .header(CONTENT_TYPE, "text/plain; charset=iso-8859-1")
            .body(Answer::all(&b"caf\xe9"[..])),
        "image" => response.header(CONTENT_TYPE, "image/png").body(Answer::all("\u{89}PNG")),
        "error" => response
            .status(rest.parse::<u16>().unwrap())
            .header(CONTENT_TYPE, html)
            .body(Answer::all(format!("<h1>Sorry</h1>{}", "<p>No page.</p>".repeat(1_000)))),
        "redirect" => match rest.parse().unwrap() {
            0 => redirect("/short".to_owned()).body(Answer::all("")),
            n => redirect(format!("{}", n - 1)).body(Answer::all("")),
        },
        "elsewhere" => redirect(format!("http://localhost:{port}/short")).body(Answer::all("")),
        "mail" => redirect("mailto:me@example.org".to_owned()).body(Answer::all("")),
        "endless" => response.header(CONTENT_TYPE, html).body(Answer::Endless),
        "announced" => response
            .header(CONTENT_TYPE, html)
            .header(CONTENT_LENGTH, "99999999999")
            .body(Answer::Stuck(Some("x".into()))),
        "stuck" => response.header(CONTENT_TYPE, html).body(Answer::Stuck(Some("x".into()))),
        "broken" => {
            response.header(CONTENT_TYPE, html).body(Answer::Broken(Some("x".into()), false))
        }
        "silent" => std::future::pending().await,
        _ => response.status(404).body(Answer::all("nothing here")),
    };
    Ok(response.unwrap())
}

/// The body of a response.
#[derive(Debug)]
enum Answer {
    /// All of it.
    All(Option<Bytes>),
    /// It goes on for ever.
    Endless,
    /// It begins and never goes on.
    Stuck(Option<Bytes>),
    /// It begins, and the connection is closed once that was sent, which is said
    /// beside it.
    Broken(Option<Bytes>, bool),
}

impl Answer {
    fn all(bytes: impl Into<Bytes>) -> Self {
        Self::All(Some(bytes.into()))
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let piece = match self.get_mut() {
            Self::Endless => Some(Bytes::from_static(&[b'x'; 64 * 1024])),
            Self::All(rest) => match rest.take() {
                None => return Poll::Ready(None),
                some => some,
            },
            Self::Stuck(rest) => match rest.take() {
                None => return Poll::Pending,
                some => some,
            },
            Self::Broken(rest, sent) => match rest.take() {
                // What came before is sent when there is nothing to do.
                None if !std::mem::replace(sent, true) => {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                piece => piece,
            },
        };
        let broken = || io::Error::other("as told");
        Poll::Ready(Some(piece.map(Frame::data).ok_or_else(broken)))
    }
}
