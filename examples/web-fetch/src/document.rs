//! From the bytes of a response to text.
//!
//! Responsible for what is text at all, for its encoding, and for HTML.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use html2text::config;

/// Where lines of a rendered page are wrapped, in columns.
const COLUMNS: usize = 100;
/// How far a page is searched for the encoding that it says it has, in bytes;
/// as browsers do.
const PRESCAN_BYTES: usize = 1024;

/// Most elements that are open at once in a page that is rendered. The time that
/// rendering takes grows with the depth, and no honest page comes near it.
const MAX_NESTING: usize = 256;
/// Elements that need no end tag, so that their start says nothing of depth.
const NO_END_TAG: &[&str] = &[
    "area", "base", "body", "br", "col", "colgroup", "dd", "dt", "embed", "head", "hr", "html",
    "img", "input", "li", "link", "meta", "optgroup", "option", "p", "param", "path", "rp", "rt",
    "source", "tbody", "td", "tfoot", "th", "thead", "tr", "track", "wbr",
];

/// Why a response has no text.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum DocumentError {
    #[error("the response is {media_type}, which is no text")]
    NotText { media_type: String },
    #[error("the response says no media type and is no text")]
    NotEvenUtf8,
    #[error("the page nests more than {MAX_NESTING} elements, which are not rendered as text")]
    TooDeep,
    #[error("the page cannot be rendered as text")]
    Html(#[source] html2text::Error),
}

/// The text of a body; of HTML, what a reader of the page would see.
///
/// # Errors
/// [`DocumentError`] where there is none.
pub(crate) fn text_of(content_type: Option<&str>, body: &[u8]) -> Result<String, DocumentError> {
    let Some(content_type) = content_type else {
        let text = std::str::from_utf8(body).ok().filter(|text| !text.contains('\0'));
        return text.map(str::to_owned).ok_or(DocumentError::NotEvenUtf8);
    };
    let media_type = MediaType::parse(content_type);
    match media_type.kind() {
        Kind::Html => {
            let html = decode(body, media_type.charset, true);
            if nesting(&html) > MAX_NESTING {
                return Err(DocumentError::TooDeep);
            }
            config::plain()
                .no_link_wrapping()
                .allow_width_overflow()
                .string_from_read(html.as_bytes(), COLUMNS)
                .map_err(DocumentError::Html)
        }
        Kind::Text => Ok(decode(body, media_type.charset, false)),
        Kind::Other => Err(DocumentError::NotText { media_type: media_type.essence }),
    }
}

struct MediaType<'a> {
    essence: String,
    charset: Option<&'a str>,
}

enum Kind {
    Html,
    Text,
    Other,
}

impl<'a> MediaType<'a> {
    fn parse(content_type: &'a str) -> Self {
        let mut parts = content_type.split(';');
        let essence = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
        let charset = parts.find_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"'))
        });
        Self { essence, charset }
    }

    fn kind(&self) -> Kind {
        match self.essence.as_str() {
            "text/html" | "application/xhtml+xml" => Kind::Html,
            "application/json"
            | "application/xml"
            | "application/javascript"
            | "application/yaml"
            | "application/toml" => Kind::Text,
            text if text.starts_with("text/") => Kind::Text,
            text if text.ends_with("+json") || text.ends_with("+xml") => Kind::Text,
            _ => Kind::Other,
        }
    }
}

/// Decodes by, in this order, a byte order mark, the header, what an HTML page
/// says of itself, UTF-8 where it is that, and the web's oldest habit.
fn decode(body: &[u8], charset: Option<&str>, html: bool) -> String {
    let said = charset.and_then(|label| Encoding::for_label(label.as_bytes()));
    let said = said.or_else(|| declared(body).filter(|_| html));
    let guessed = || if std::str::from_utf8(body).is_ok() { UTF_8 } else { WINDOWS_1252 };
    // This looks for a mark first.
    let (text, _, _) = said.unwrap_or_else(guessed).decode(body);
    text.into_owned()
}

/// The encoding in a `meta` element near the start.
fn declared(body: &[u8]) -> Option<&'static Encoding> {
    const NAME: &[u8] = b"charset=";
    let start = body[..body.len().min(PRESCAN_BYTES)].to_ascii_lowercase();
    let at = start.windows(NAME.len()).position(|window| window == NAME)?;
    let label = start[at + NAME.len()..].split(|byte| !is_label(*byte)).find(|l| !l.is_empty())?;
    // It was read as ASCII, so UTF-16 it is not.
    Encoding::for_label(label).map(|found| if found.is_ascii_compatible() { found } else { UTF_8 })
}

fn is_label(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':')
}

/// About how many elements are open at once, at most: by tags alone, whatever
/// they are in.
fn nesting(html: &str) -> usize {
    let (mut open, mut most) = (0usize, 0);
    for (at, _) in html.match_indices('<') {
        let tag = &html[at + 1..];
        let (tag, ends) = match tag.strip_prefix('/') {
            Some(tag) => (tag, true),
            None => (tag, false),
        };
        let name = tag.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        if !name.starts_with(|c: char| c.is_ascii_alphabetic())
            || NO_END_TAG.iter().any(|other| name.eq_ignore_ascii_case(other))
        {
            continue;
        }
        open = if ends { open.saturating_sub(1) } else { open + 1 };
        most = most.max(open);
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings() {
        let text = |content_type, body: &[u8]| text_of(Some(content_type), body).unwrap();
        for (content_type, body, expect) in [
            ("text/plain", &b"caf\xc3\xa9"[..], "café"),
            ("text/plain; charset=utf-8", b"caf\xc3\xa9 \xff", "café \u{fffd}"),
            ("text/plain; charset=ISO-8859-1", b"caf\xe9", "café"),
            ("text/plain; format=flowed; charset=\"Shift_JIS\"", b"\x93\xfa\x96\x7b", "日本"),
            ("text/plain; charset=no-such", b"caf\xe9", "café"),
            ("text/plain", b"\xef\xbb\xbfa mark", "a mark"),
            ("text/plain; charset=latin1", b"\xff\xfea\0b\0", "ab"),
            ("application/ld+json", b"{\"a\":\"\xc3\xa9\"}", "{\"a\":\"é\"}"),
        ] {
            assert_eq!(text(content_type, body), expect, "{content_type}");
        }
        for head in [
            "<meta charset=gb2312>",
            "<META CHARSET='gbk' />",
            "<meta http-equiv=\"Content-Type\" content=\"text/html; charset=gb18030\">",
        ] {
            let page = [head.as_bytes(), b"<p>\xc4\xe3\xba\xc3</p>"].concat();
            assert_eq!(text("text/html", &page).trim(), "你好", "{head}");
            // The header comes first.
            let page = [head.as_bytes(), "<p>你好</p>".as_bytes()].concat();
            assert_eq!(text("text/html; charset=utf-8", &page).trim(), "你好");
        }
    }

    #[test]
    fn html_is_what_a_reader_sees() {
        let page = "<!doctype html><html><head><title>t</title><style>p {}</style>\
            <script>var x = '<p>no</p>';</script></head><body><h1>Fish &amp; chips</h1>\
            <p>One <b>two</b>\n three.<p>Four<ul><li>five<li>six</ul>\
            <a href='/menu'>The menu</a><pre>a\n  b</pre></body>";
        let text = text_of(Some("text/html"), page.as_bytes()).unwrap();
        for part in
            ["Fish & chips", "One **two** three.\n", "* five\n* six", "[The menu]", "a\n  b"]
        {
            assert!(text.contains(part), "{part:?} is not in {text}");
        }
        for part in ["var x", "<p>", "p {}"] {
            assert!(!text.contains(part), "{part:?} is in {text}");
        }
    }

    #[test]
    fn a_page_that_would_take_for_ever_is_refused() {
        let deep = "<div>".repeat(MAX_NESTING + 1);
        for page in [deep.clone(), deep.replace("div", "B"), "<x-y a=b>".repeat(300)] {
            let error = text_of(Some("text/html"), page.as_bytes()).unwrap_err();
            assert!(matches!(error, DocumentError::TooDeep), "{error}");
        }
        let nested = format!("{0}{1}the end{2}", "<div>".repeat(60), "<b>", "</b></div>");
        for page in [
            nested,
            // Many, and none in another.
            "<div><b>x</b></div><p>y<br><li>z".repeat(500),
            "<p".repeat(1000),
            "1 < 2 <3 <- 4 </ ".repeat(500),
        ] {
            assert!(text_of(Some("text/html"), page.as_bytes()).is_ok());
        }
    }

    #[test]
    fn what_is_no_text_says_so() {
        let error = text_of(Some("image/png; x=y"), b"").unwrap_err();
        assert_eq!(error.to_string(), "the response is image/png, which is no text");
        assert!(matches!(text_of(None, b"\xff"), Err(DocumentError::NotEvenUtf8)));
        assert_eq!(text_of(None, b"text").unwrap(), "text");
    }
}
