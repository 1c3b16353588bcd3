//! Damage, and how it heals: `cargo run -p artifact-store --example verify_and_heal`.
//!
//! A stored byte changes. No read serves it; `verify` puts the damaged file aside and says who
//! needs it; publishing the same bytes again brings the artifact back.

use std::error::Error;
use std::num::NonZero;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use artifact_store::{LocalStore, StoreGuard, StoreOptions, VerifyReport};
use artifacts::{CaptureMeta, Publication};
use camino::Utf8Path;
use output_contract::{ArtifactUri, Digest, OutputDeclaration, Timestamp};

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = tempfile::tempdir()?;
    let root = Utf8Path::from_path(scratch.path()).expect("a UTF-8 path").join("store");
    let store = LocalStore::open(&root, StoreOptions::default())?;
    let guard = publish(&store)?;
    let digest = guard.digests()[0];
    guard.retain(&"session".parse()?, &"call-1".parse()?)?;
    guard.release();
    println!("stored: {}", said(&verify(&store)?));

    damage(&root, &digest)?;
    let uri = ArtifactUri::bare(digest);
    let refused = store.open_artifact(&uri).err().ok_or("damage is served")?;
    println!("read: {refused}");
    println!("verified: {}", said(&verify(&store)?));
    println!("verified again: {}", said(&verify(&store)?));

    // The root was never touched, so nothing has to be retained again.
    publish(&store)?.release();
    println!("published again: {}", said(&verify(&store)?));
    let healed = store.open_artifact(&uri)?;
    print!("read: {}", String::from_utf8_lossy(&healed.read(0..healed.bytes())?));
    Ok(())
}

/// Captures a few bytes, and publishes them.
fn publish(store: &LocalStore) -> Result<StoreGuard, Box<dyn Error>> {
    let capture = store.captures().create(&CaptureMeta {
        session_id: "session".parse()?,
        call_id: "call-1".parse()?,
        parent_call_id: None,
        tool: "greet".parse()?,
        title: String::new(),
        output: OutputDeclaration::Single,
        started_at: Timestamp(1_767_225_600_000),
        timeout_ms: None,
    })?;
    let mut writer = capture.stream_writer(0)?;
    writer.append(b"every byte counts\n")?;
    let blobs = vec![Arc::new(writer.seal()?)];
    let guard = store.publish(&Publication { blobs, manifest: None })?;
    capture.remove()?;
    Ok(guard)
}

/// One bit, as a worn medium would change it.
fn damage(root: &Utf8Path, digest: &Digest) -> Result<(), Box<dyn Error>> {
    let hex = digest.to_string();
    let path = root.join("blobs/sha256").join(&hex[..2]).join(hex);
    let mut bytes = fs_err::read(&path)?;
    bytes[6] ^= 1;
    fs_err::set_permissions(&path, PermissionsExt::from_mode(0o600))?;
    Ok(fs_err::write(&path, bytes)?)
}

fn verify(store: &LocalStore) -> Result<VerifyReport, Box<dyn Error>> {
    Ok(store.verify(NonZero::<usize>::MIN, &|_progress| ())?)
}

fn said(report: &VerifyReport) -> String {
    let (corrupt, missing) = (report.corrupt.len(), report.missing.len());
    let calls: Vec<_> = (report.corrupt.iter().flat_map(|found| &found.calls))
        .chain(report.missing.iter().flat_map(|found| &found.calls))
        .map(|(session, call)| format!(", kept by {call} of {session}"))
        .collect();
    format!(
        "{} whole, {corrupt} corrupt, {missing} missing{}",
        report.artifacts - corrupt as u64,
        calls.concat()
    )
}
