//! A store of each kind, by its URL and the environment.

use std::sync::Arc;
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::{ObjectStore, ObjectStoreScheme, RetryConfig, parse_url};

use crate::location::Location;

/// What variables begin with that configure a store. Others are not looked at:
/// `object_store` would take a `TOKEN` or a `REGION` for its own.
const VARIABLES: &[&str] = &["AWS_", "AZURE_", "GOOGLE_"];
/// How long a request is tried again for, by default of the crate ten times in
/// two seconds: long enough for a server that restarts, and short enough for
/// the call that waits.
const RETRY_FOR: Duration = Duration::from_secs(60);
/// So many that the time decides.
const MAX_RETRIES: usize = 1_000;

/// Builds a store of a kind that is configured by names and values.
macro_rules! configured {
    ($builder:ty, $location:expr, $environment:expr) => {{
        let named = <$builder>::new().with_url($location.url.as_str()).with_retry(retry());
        let known = |builder: $builder, (name, value): (String, String)| match name
            .to_ascii_lowercase()
            .parse()
        {
            Ok(key) => builder.with_config(key, value),
            Err(_) => builder,
        };
        Arc::new($environment.fold(named, known).build()?)
    }};
}

/// The store that `location` names. Nothing is sent yet.
///
/// # Errors
/// What `object_store` says of the URL or of what configures it.
pub(crate) fn connect(
    location: &Location,
    environment: impl IntoIterator<Item = (String, String)>,
) -> object_store::Result<Arc<dyn ObjectStore>> {
    // One for the whole process; a program that chose another before keeps it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let environment = environment
        .into_iter()
        .filter(|(name, _)| VARIABLES.iter().any(|prefix| name.starts_with(prefix)));
    Ok(match location.scheme {
        ObjectStoreScheme::AmazonS3 => configured!(AmazonS3Builder, location, environment),
        ObjectStoreScheme::GoogleCloudStorage => {
            configured!(GoogleCloudStorageBuilder, location, environment)
        }
        ObjectStoreScheme::MicrosoftAzure => {
            configured!(MicrosoftAzureBuilder, location, environment)
        }
        // Files and memory, which nothing configures, and what is not supported.
        _ => Arc::from(parse_url(&location.url)?.0),
    })
}

fn retry() -> RetryConfig {
    RetryConfig { max_retries: MAX_RETRIES, retry_timeout: RETRY_FOR, ..RetryConfig::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_stores_own_variables_configure_it() {
        let environment = [
            ("AWS_REGION", "eu-central-1"),
            ("AWS_ACCESS_KEY_ID", "key"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
            ("AWS_NO_SUCH_THING", "x"),
            // Of something else, though `object_store` has keys of these names.
            ("REGION", "another-1"),
            ("BUCKET", "another-2"),
        ];
        let environment = environment.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let location = Location::parse("s3://bucket/spill").unwrap();
        let store = format!("{:?}", connect(&location, environment).unwrap());
        assert!(store.contains("eu-central-1") && store.contains("1000"), "{store}");
        assert!(!store.contains("another"), "{store}");
    }
}
