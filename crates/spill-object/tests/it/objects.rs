//! What an object is called, and what is said where there is none.

use std::error::Error;
use std::sync::Arc;

use camino::Utf8Path;
use object_store::memory::InMemory;
use object_store::{Attribute, PutMode};
use spill::conformance::Harness;
use spill::{SpillError, SpillStore};
use spill_object::{ObjectSaveError, ObjectSpill, ObjectSpillError};

use crate::harness::{Shared, Stored, text};

fn memory() -> Stored {
    let store: Shared = Arc::new(InMemory::new());
    Stored::new(store.clone(), store, "memory:///spill", "memory:///")
}

#[tokio::test]
async fn an_object_is_made_and_never_overwritten() {
    let stored = memory();
    let saved = stored.store().save_text(text("session-1", "a b/c.txt", "x")).await.unwrap();
    let key = stored.key(&saved.locator).to_string();
    let [prefix, session, leaf] = &*key.split('/').collect::<Vec<_>>() else { panic!("{key}") };
    // The start of `printf session-1 | sha256sum`.
    assert_eq!((*prefix, *session), ("spill", "session-84097828fc31"));
    let (random, name) = leaf.split_once('-').unwrap();
    assert!(random.len() == 12 && random.bytes().all(|b| b.is_ascii_hexdigit()), "{leaf}");
    assert_eq!(name, "a_b_c.txt");
    let (_, options) = stored.between.puts.lock().unwrap().pop().unwrap();
    assert_eq!(options.mode, PutMode::Create);
    let content_type = options.attributes.get(&Attribute::ContentType).unwrap();
    assert_eq!(content_type.as_ref(), "text/plain; charset=utf-8");
}

#[tokio::test]
async fn a_taken_name_is_left_alone() {
    let stored = memory();
    *stored.between.taken.lock().unwrap() = 2;
    let saved = stored.store().save_text(text("s", "a", "x")).await.unwrap();
    let tried: Vec<_> = stored.between.puts.lock().unwrap().drain(..).map(|(key, _)| key).collect();
    assert_eq!(tried.len(), 3);
    assert!(tried[0] != tried[1] && tried[2] == stored.key(&saved.locator));

    *stored.between.taken.lock().unwrap() = 3;
    let error = stored.store().save_text(text("s", "a", "x")).await.unwrap_err();
    let source = error.source().unwrap();
    assert_eq!(source.to_string(), "3 random names in a row were taken below memory:///spill");
    assert_eq!(stored.kept().await.len(), 1);
}

#[tokio::test]
async fn a_refusal_says_what_to_check() {
    let stored = memory();
    stored.begin_failing();
    let error = stored.store().save_text(text("s", "a", "x")).await.unwrap_err();
    let SpillError::Backend(source) = &error else { panic!("{error}") };
    assert!(matches!(source.downcast_ref(), Some(ObjectSaveError::Access { .. })), "{source}");
    assert_eq!(
        source.to_string(),
        "memory:///spill refuses access; check the credentials in the environment and what they \
         allow"
    );
}

#[tokio::test]
async fn a_file_is_named_by_its_path() {
    let dir = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(dir.path()).unwrap().canonicalize_utf8().unwrap();
    let store = ObjectSpill::open(&format!("file://{root}/a%20b"), []).unwrap();
    let saved = store.save_text(text("s", "é.txt", "the text")).await.unwrap();
    let path = saved.locator.as_str();
    assert!(
        path.starts_with(&format!("{root}/a b/session-")) && path.ends_with("-é.txt"),
        "{path}"
    );
    assert_eq!(fs_err::read_to_string(path).unwrap(), "the text");
    assert!(saved.retrieval_hint.contains("read with offset and limit on this path"));
}

#[test]
fn stores_are_set_up_by_url_and_environment() {
    let azure = ("AZURE_STORAGE_ACCOUNT_NAME".to_owned(), "me".to_owned());
    assert!(ObjectSpill::open("az://box/spill", [azure]).is_ok());
    let s3 = [("AWS_ACCESS_KEY_ID", "me"), ("AWS_SECRET_ACCESS_KEY", "the secret")];
    let s3 = s3.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let store = ObjectSpill::open("s3://bucket/spill", s3).unwrap();
    assert!(!format!("{store:?}").contains("the secret"));
    assert!(ObjectSpill::open("gs://bucket/spill", []).is_ok());
    for (url, wanted) in [("az://box/spill", "account"), ("https://example.org/", "not enabled")] {
        let error = ObjectSpill::open(url, []).unwrap_err();
        assert!(matches!(error, ObjectSpillError::Configuration { .. }), "{error}");
        let source = error.source().unwrap().to_string().to_lowercase();
        assert!(source.contains(wanted), "{source}");
    }
}

#[test]
fn hints_are_one_line() {
    let store = ObjectSpill::open("memory:///spill", []).unwrap();
    for hint in ["", " ", "two\nlines"] {
        assert!(matches!(store.clone().with_hint(hint), Err(ObjectSpillError::Hint)));
    }
    let (short, long) = (store.clone().with_hint("a").unwrap(), store.with_hint("abc").unwrap());
    assert_eq!(short.max_reference_bytes("x") + 2, long.max_reference_bytes("x"));
}
