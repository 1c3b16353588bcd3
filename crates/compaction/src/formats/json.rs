//! JSON with source spans: where a value stands in the bytes of a file.
//!
//! Responsible for finding the parts of a value without changing or copying
//! them. The parser is `serde_json`'s; a value is the slice of the source that
//! it was read from, so that its position is known and its spelling survives.
//! Values are taken apart one level at a time and nothing recurses: nesting of
//! any depth is read.

use std::borrow::Cow;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer as _};
use serde_json::value::RawValue;

/// A range of a source, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Span {
    pub(super) const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    pub(super) const fn len(self) -> usize {
        self.end - self.start
    }

    pub(super) const fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    pub(super) fn of(self, source: &[u8]) -> &[u8] {
        &source[self.start..self.end]
    }

    /// The JSON value that was found here before.
    pub(super) fn json(self, source: &[u8]) -> Json<'_> {
        Json(str::from_utf8(self.of(source)).expect("a span of JSON was checked when it was read"))
    }
}

/// A whole JSON value, as it is spelled in its source.
#[derive(Debug, Clone, Copy)]
pub(super) struct Json<'a>(&'a str);

impl<'a> Json<'a> {
    /// Reads the value at `at`, after white space if there is any.
    pub(super) fn read(source: &'a [u8], at: usize) -> Result<(Self, Span), serde_json::Error> {
        let mut values =
            serde_json::Deserializer::from_slice(&source[at..]).into_iter::<&'a RawValue>();
        match values.next() {
            Some(Ok(value)) => {
                let json = Self(value.get());
                Ok((json, json.span(source)))
            }
            Some(Err(error)) => Err(error),
            None => Err(serde::de::Error::custom("there is no value")),
        }
    }

    /// A value of its own, such as the JSON that a string holds.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        serde_json::from_str::<&RawValue>(text).ok().map(|value| Self(value.get()))
    }

    /// Its spelling.
    pub(super) const fn text(self) -> &'a str {
        self.0
    }

    /// Where it stands in `source`, from which it was read.
    pub(super) fn span(self, source: &[u8]) -> Span {
        let start = self.0.as_ptr().addr() - source.as_ptr().addr();
        debug_assert!(start + self.0.len() <= source.len(), "a value of another source");
        Span::new(start, start + self.0.len())
    }

    pub(super) fn is_object(self) -> bool {
        self.0.starts_with('{')
    }

    pub(super) fn is_array(self) -> bool {
        self.0.starts_with('[')
    }

    pub(super) fn is_string(self) -> bool {
        self.0.starts_with('"')
    }

    pub(super) fn is_true(self) -> bool {
        self.0 == "true"
    }

    /// The number, where it is an integer.
    pub(super) fn integer<T: std::str::FromStr>(self) -> Option<T> {
        self.0.parse().ok()
    }

    /// The fields of an object, in order, those with the same name included.
    pub(super) fn fields(self) -> Option<Fields<'a>> {
        if !self.is_object() {
            return None;
        }
        serde_json::Deserializer::from_str(self.0).deserialize_map(FieldsVisitor).ok()
    }

    /// The elements of an array.
    pub(super) fn elements(self) -> Option<Vec<Self>> {
        if !self.is_array() {
            return None;
        }
        let elements: Vec<&'a RawValue> = serde_json::from_str(self.0).ok()?;
        Some(elements.into_iter().map(|element| Self(element.get())).collect())
    }

    /// What a string says. A surrogate without its other half, which programs
    /// leave that cut text by UTF-16 units, is U+FFFD.
    pub(super) fn string(self) -> Option<Cow<'a, str>> {
        if !self.is_string() {
            return None;
        }
        if let Some(plain) = self.plain_string() {
            return Some(Cow::Borrowed(plain));
        }
        let decoded = serde_json::Deserializer::from_str(self.0).deserialize_bytes(Decode).ok()?;
        Some(Cow::Owned(String::from_utf8(decoded).unwrap_or_else(|error| {
            String::from_utf8_lossy(&replace_surrogates(error.into_bytes())).into_owned()
        })))
    }

    /// What a string says, where it is spelled without escapes.
    pub(super) fn plain_string(self) -> Option<&'a str> {
        let inner = self.0.strip_prefix('"')?.strip_suffix('"')?;
        (!inner.contains('\\')).then_some(inner)
    }
}

/// A text as a JSON string.
pub(super) fn quote(text: &str) -> String {
    serde_json::to_string(text).expect("a string is JSON")
}

/// The fields of an object.
#[derive(Debug)]
pub(super) struct Fields<'a>(Vec<(Cow<'a, str>, Json<'a>)>);

impl<'a> Fields<'a> {
    /// The value of `name`; of several the last, as most readers take it.
    pub(super) fn get(&self, name: &str) -> Option<Json<'a>> {
        self.all(name).last()
    }

    /// Every value of `name`.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = Json<'a>> {
        self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| *value)
    }

    /// The string under `name`.
    pub(super) fn string(&self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name)?.string()
    }

    /// The fields of the object under `name`.
    pub(super) fn object(&self, name: &str) -> Option<Fields<'a>> {
        self.get(name)?.fields()
    }

    /// Whether `true` stands under `name`.
    pub(super) fn is_true(&self, name: &str) -> bool {
        self.get(name).is_some_and(Json::is_true)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(key, _)| key.as_ref())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::new();
        while let Some((Key(key), value)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
            fields.push((key, Json(value.get())));
        }
        Ok(Fields(fields))
    }
}

struct Decode;

impl Visitor<'_> for Decode {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }
}

/// Replaces each surrogate, which the parser decodes to three bytes that are no
/// UTF-8, by the three bytes of U+FFFD.
fn replace_surrogates(mut bytes: Vec<u8>) -> Vec<u8> {
    let mut at = 0;
    while at + 2 < bytes.len() {
        // No other character begins so: U+D000 to U+D7FF go on below 0xA0.
        if bytes[at] == 0xED && bytes[at + 1] >= 0xA0 {
            bytes[at..at + 3].copy_from_slice("\u{FFFD}".as_bytes());
            at += 3;
        } else {
            at += 1;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(source: &str) -> Json<'_> {
        Json::read(source.as_bytes(), 0).unwrap().0
    }

    #[test]
    fn spans_are_of_the_spelling() {
        let source = " {\"a\" : 1.0, \"b\":[ 2 ,{\"c\":\"x\\u2028\"} ] , \"a\":2}\r\n";
        let (object, span) = Json::read(source.as_bytes(), 0).unwrap();
        assert_eq!(&source[span.start..span.end], source.trim());
        let fields = object.fields().unwrap();
        assert_eq!(fields.names().collect::<Vec<_>>(), ["a", "b", "a"]);
        assert_eq!(fields.all("a").map(Json::text).collect::<Vec<_>>(), ["1.0", "2"]);
        assert_eq!(fields.get("a").unwrap().integer(), Some(2));
        let elements = fields.get("b").unwrap().elements().unwrap();
        let span = elements[1].span(source.as_bytes());
        assert_eq!(&source[span.start..span.end], "{\"c\":\"x\\u2028\"}");
        assert_eq!(
            span.json(source.as_bytes()).fields().unwrap().string("c").unwrap(),
            "x\u{2028}"
        );
    }

    #[test]
    fn strings_are_decoded_whatever_is_in_them() {
        let check = |json: &str, expect: &str| assert_eq!(value(json).string().unwrap(), expect);
        check(r#""""#, "");
        check(r#""plain 你""#, "plain 你");
        check(r#""a\n\"\\\u00e9\ud83d\ude00""#, "a\n\"\\é😀");
        check(r#""cut \ud83d""#, "cut \u{FFFD}");
        check(r#""\ude00\ud83d\n\ud7ff""#, "\u{FFFD}\u{FFFD}\n\u{D7FF}");
        check(r#""\ud83d\ud83d\ude00""#, "\u{FFFD}😀");
        assert_eq!(value("[]").string(), None);
    }

    #[test]
    fn nesting_is_no_limit() {
        let deep = format!("{{\"a\":{}{},\"b\":1}}", "[".repeat(100_000), "]".repeat(100_000));
        let fields = value(&deep).fields().unwrap();
        assert_eq!(fields.get("b").unwrap().text(), "1");
        assert_eq!(fields.get("a").unwrap().elements().unwrap().len(), 1);
        assert!(Json::read("[".repeat(100_000).as_bytes(), 0).is_err());
    }
}
