//! A store's URL: which store it names, and what becomes of it in keys, locators
//! and hints.

use object_store::ObjectStoreScheme;
use object_store::path::Path;
use url::Url;

use crate::error::ObjectSpillError;

/// Where below a store texts are kept, and how they are spoken of.
#[derive(Debug, Clone)]
pub(crate) struct Location {
    pub(crate) url: Url,
    pub(crate) scheme: ObjectStoreScheme,
    /// What keys begin with.
    prefix: Path,
    /// What locators begin with.
    base: String,
    /// How a text is read, in words.
    pub(crate) hint: String,
    /// Whether objects have a content type.
    pub(crate) typed: bool,
}

impl Location {
    pub(crate) fn parse(text: &str) -> Result<Self, ObjectSpillError> {
        let url = Url::parse(text)
            .map_err(|source| ObjectSpillError::Url { url: text.to_owned(), source })?;
        // An Azure URL has the container where others have a user.
        for (what, found) in [
            ("a password", url.password().is_some()),
            ("a query", url.query().is_some()),
            ("a fragment", url.fragment().is_some()),
        ] {
            if found {
                return Err(ObjectSpillError::UrlPart { what });
            }
        }
        let (scheme, prefix) = ObjectStoreScheme::parse(&url).map_err(|error| {
            ObjectSpillError::Configuration { url: text.to_owned(), source: error.into() }
        })?;
        let base = match scheme {
            ObjectStoreScheme::Local => format!("/{prefix}"),
            _ => url.to_string(),
        };
        let base = base.trim_end_matches('/').to_owned();
        let typed = scheme != ObjectStoreScheme::Local;
        let hint = hint(&scheme).to_owned();
        Ok(Self { url, scheme, prefix, base, hint, typed })
    }

    /// The key of an object, given its last two segments.
    ///
    /// # Errors
    /// Where it would be no key.
    pub(crate) fn key(&self, name: &str) -> Result<Path, object_store::path::Error> {
        // As it is: a reader of the locator must not have to decode it.
        match self.prefix.as_ref() {
            "" => Path::parse(name),
            prefix => Path::parse(format!("{prefix}/{name}")),
        }
    }

    /// What is shown for the object with these last two segments.
    pub(crate) fn locator(&self, name: &str) -> String {
        format!("{}/{name}", self.base)
    }
}

/// Words that are true wherever the reader has access, for each kind of store.
fn hint(scheme: &ObjectStoreScheme) -> &'static str {
    match scheme {
        ObjectStoreScheme::Local => {
            "Use read with offset and limit on this path, and byteOffset inside long lines, or \
             grep it."
        }
        ObjectStoreScheme::Memory => {
            "It is in the memory of the agent's process, which alone can read it."
        }
        ObjectStoreScheme::AmazonS3 => {
            "With access to this store, read lines of it by the command: aws s3 cp ADDRESS - | sed \
             -n '1,200p'"
        }
        ObjectStoreScheme::GoogleCloudStorage => {
            "With access to this store, read lines of it by the command: gcloud storage cat ADDRESS \
             | sed -n '1,200p'"
        }
        _ => "It is an object with plain text; read it by a command that has access to this store.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_keys_and_locators() {
        for (url, key, locator) in [
            ("s3://bucket", "s/n", "s3://bucket/s/n"),
            ("s3://bucket/", "s/n", "s3://bucket/s/n"),
            ("s3://bucket/a/b/", "a/b/s/n", "s3://bucket/a/b/s/n"),
            ("gs://bucket/a", "a/s/n", "gs://bucket/a/s/n"),
            (
                "abfss://box@me.dfs.core.windows.net/a",
                "a/s/n",
                "abfss://box@me.dfs.core.windows.net/a/s/n",
            ),
            ("memory:///", "s/n", "memory:/s/n"),
            ("memory:///a", "a/s/n", "memory:///a/s/n"),
            ("file:///var/spill", "var/spill/s/n", "/var/spill/s/n"),
            ("file:///var/my%20spill/", "var/my spill/s/n", "/var/my spill/s/n"),
        ] {
            let location = Location::parse(url).unwrap();
            assert_eq!(location.key("s/n").unwrap().as_ref(), key, "{url}");
            assert_eq!(location.locator("s/n"), locator);
        }
    }

    #[test]
    fn what_names_no_store() {
        for (url, expect) in [
            ("bucket", "\"bucket\" is no URL; an object store is named like s3://bucket/prefix"),
            ("s3://me:secret@bucket/", "the URL of an object store must not have a password"),
            ("s3://bucket/?x=y", "the URL of an object store must not have a query"),
            ("s3://bucket/#x", "the URL of an object store must not have a fragment"),
            ("ftp://bucket/", "the object store ftp://bucket/ cannot be set up"),
            ("file:///a%0Ab", "the object store file:///a%0Ab cannot be set up"),
        ] {
            assert_eq!(Location::parse(url).unwrap_err().to_string(), expect);
        }
    }
}
