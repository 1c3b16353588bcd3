//! What is done while the disk fails.

use std::collections::BTreeSet;
use std::error::Error;
use std::num::NonZero;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::Duration;

use artifact_store::{LocalStore, RetentionLimits};
use artifacts::hash::digest_of;
use artifacts::{Manifest, ManifestStream, Publication};
use output_contract::{Digest, Timestamp};

use crate::oracle::{self, Found, NOW, ensure, recover, serves};
use crate::scratch::{call, meta, owner, publish, publish_named};

/// Something to do, and what is so before and after it.
pub(super) struct Script {
    /// Without faults; what the owner `before` retains must stay.
    pub(super) prepare: fn(&LocalStore),
    /// May be done again, whether it failed or not.
    pub(super) act: fn(&LocalStore) -> Result<(), Box<dyn Error>>,
    /// What must be so once it succeeded.
    pub(super) check: fn(&LocalStore) -> Found,
    /// It is about damage, so that there may be some.
    pub(super) damages: bool,
    /// There is no store yet.
    pub(super) anew: bool,
}

/// Just large enough for a sidecar.
fn large() -> Vec<u8> {
    b"a line of sixteen\n".repeat(15_000)
}

fn keep(store: &LocalStore) {
    publish_named(store, b"kept\n").retain(&owner("before"), &call("1")).unwrap();
    publish(store, &[b"shared\n", &large()]).retain(&owner("before"), &call("2")).unwrap();
}

/// Captures, publishes, retains, releases and cleans up.
fn capture(store: &LocalStore, contents: &[&[u8]], named: bool) -> Result<(), Box<dyn Error>> {
    let names: Vec<String> = (0..contents.len()).map(|n| format!("s{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let capture = store.captures().create(&meta(if named { &names } else { &[] }))?;
    let mut blobs = Vec::new();
    for (index, content) in contents.iter().enumerate() {
        let mut writer = capture.stream_writer(index)?;
        writer.append(content)?;
        blobs.push(Arc::new(writer.seal()?));
    }
    let streams = blobs.iter().zip(&names).map(|(blob, name)| ManifestStream {
        name: name.parse().unwrap(),
        sha256: blob.digest(),
        bytes: blob.bytes(),
        lines: blob.lines(),
    });
    let manifest = named.then(|| Manifest::new(streams.collect()).unwrap());
    let guard = store.publish(&Publication { blobs, manifest })?;
    guard.retain(&owner("s"), &call("c"))?;
    guard.release();
    capture.remove()?;
    Ok(())
}

/// The call retains these, and they are there.
fn retains(store: &LocalStore, digests: &[Digest]) -> Found {
    let calls = store.retained_by(&owner("s")).map_err(|error| format!("{error:?}"))?;
    let kept: Vec<Digest> = calls.into_iter().flat_map(|call| call.digests).collect();
    for digest in digests {
        ensure(kept.contains(digest), || format!("{digest} is not retained"))?;
        serves(store, *digest)?;
    }
    Ok(())
}

fn nothing(_: &LocalStore) -> Found {
    Ok(())
}

pub(super) const OPEN: Script =
    Script { prepare: |_| {}, act: |_| Ok(()), check: nothing, damages: false, anew: true };

pub(super) const PUBLISH: Script = Script {
    prepare: keep,
    act: |store| capture(store, &[b"new\n"], false),
    check: |store| retains(store, &[digest_of(b"new\n")]),
    damages: false,
    anew: false,
};

pub(super) const STREAMS: Script = Script {
    prepare: keep,
    act: |store| capture(store, &[&[&large()[..], b"end"].concat(), b"", b"err\n"], true),
    check: |store| retains(store, &[digest_of(b""), digest_of(b"err\n")]),
    damages: false,
    anew: false,
};

pub(super) const DEDUP: Script = Script {
    prepare: keep,
    act: |store| capture(store, &[b"shared\n", &large()], false),
    check: |store| retains(store, &[digest_of(b"shared\n"), digest_of(&large())]),
    damages: false,
    anew: false,
};

pub(super) const BORROW: Script = Script {
    prepare: keep,
    act: |store| {
        let calls = store.retained_by(&owner("before"))?;
        for call in calls {
            let guard = store.borrow(call.digests[0])?;
            guard.retain(&owner("s"), &call.call)?;
        }
        Ok(())
    },
    check: |store| retains(store, &[digest_of(b"kept\n"), digest_of(b"shared\n")]),
    damages: false,
    anew: false,
};

pub(super) const RELEASE: Script = Script {
    prepare: |store| {
        keep(store);
        for id in ["1", "2", "3"] {
            publish(store, &[id.as_bytes()]).retain(&owner("s"), &call(id)).unwrap();
        }
        publish(store, &[b"t"]).retain(&owner("t"), &call("1")).unwrap();
    },
    act: |store| {
        store.release(&owner("s"), Some(&call("1")))?;
        store.release(&owner("t"), None)?;
        Ok(())
    },
    check: |store| {
        retains(store, &[digest_of(b"2"), digest_of(b"3")])?;
        let left = store.retained().map_err(|error| format!("{error:?}"))?;
        let ids = left.iter().map(|c| (c.owner.as_str(), c.call.as_str()));
        let ids: Vec<_> = ids.filter(|(owner, _)| *owner != "recovered").collect();
        let expected = [("before", "1"), ("before", "2"), ("s", "2"), ("s", "3")];
        ensure(ids == expected, || format!("{ids:?}"))
    },
    damages: false,
    anew: false,
};

pub(super) const COLLECT: Script = Script {
    prepare: |store| {
        (RELEASE.prepare)(store);
        publish_named(store, b"garbage\n");
        publish(store, &[&[&large()[..], b"garbage"].concat()]);
        store.release(&owner("s"), Some(&call("1"))).unwrap();
        store.release(&owner("t"), None).unwrap();
        drop(store.captures().create(&meta(&[])).unwrap());
    },
    act: |store| {
        store.collect(&NOW)?;
        Ok(())
    },
    check: RELEASE.check,
    damages: false,
    anew: false,
};

pub(super) const RETIRE: Script = Script {
    prepare: |store| {
        for id in ["1", "2"] {
            publish(store, &[id.as_bytes()]).retain(&owner("s"), &call(id)).unwrap();
        }
        let times = |by: &str| {
            let calls = store.retained_by(&owner(by)).unwrap();
            calls.into_iter().map(|call| call.at).collect::<BTreeSet<_>>()
        };
        // The clock of a file system is coarse.
        while times("before").first() <= times("s").last() {
            keep(store);
        }
    },
    act: |store| {
        let stat = store.stat()?;
        let kept = stat.owners.iter().find(|found| found.owner == owner("before"));
        let max_bytes = kept.ok_or("its roots cannot be read")?.bytes;
        let limits = RetentionLimits { max_age: Duration::MAX, max_bytes };
        store.retire(&limits, Timestamp(u64::MAX), false)?;
        // Calls in roots that cannot be read stay.
        let left = store.retained_by(&owner("s"))?;
        if left.is_empty() { Ok(()) } else { Err("calls are left".into()) }
    },
    check: |store| {
        let left = store.retained_by(&owner("s")).map_err(|error| format!("{error:?}"))?;
        ensure(left.is_empty(), || format!("{left:?}"))
    },
    damages: false,
    anew: false,
};

pub(super) const VERIFY: Script = Script {
    prepare: |store| {
        keep(store);
        publish(store, &[b"damaged\n"]);
        publish(store, &[&[&large()[..], b"unindexed"].concat()]);
        let root = store.captures().path().parent().unwrap().to_owned();
        let path = |shelf: &str, content: &[u8]| {
            let hex = digest_of(content).to_string();
            root.join(shelf).join("sha256").join(&hex[..2]).join(hex)
        };
        let damaged = path("blobs", b"damaged\n");
        fs_err::set_permissions(&damaged, PermissionsExt::from_mode(0o600)).unwrap();
        fs_err::write(&damaged, "damage\n").unwrap();
        fs_err::remove_file(path("index", &[&large()[..], b"unindexed"].concat())).unwrap();
    },
    act: |store| {
        let report = store.verify(NonZero::<usize>::MIN, &|_| {})?;
        report.unreadable.into_iter().next().map_or(Ok(()), |error| Err(error.into()))
    },
    check: |store| {
        let read = oracle::read(store, digest_of(b"damaged\n"));
        ensure(matches!(read, Err(artifacts::OpenError::Corrupt { .. })), || format!("{read:?}"))
    },
    damages: true,
    anew: false,
};

pub(super) const RECOVER: Script = Script {
    prepare: |store| {
        keep(store);
        for content in [&b"left behind\n"[..], b""] {
            let capture = store.captures().create(&meta(&[])).unwrap();
            let mut writer = capture.stream_writer(0).unwrap();
            writer.append(content).unwrap();
        }
    },
    act: |store| {
        recover(store)?;
        // What cannot be looked at waits for the next recovery.
        for left in fs_err::read_dir(store.captures().path())? {
            if left?.path().join("meta.json").exists() {
                return Err("a capture is left".into());
            }
        }
        Ok(())
    },
    check: |store| {
        serves(store, digest_of(b"left behind\n"))?;
        serves(store, digest_of(b""))
    },
    damages: false,
    anew: false,
};

pub(super) const READ: Script = Script {
    prepare: keep,
    act: |store| {
        for call in store.retained()? {
            for digest in call.digests {
                let bytes = oracle::read(store, digest)?;
                assert_eq!(digest_of(&bytes), digest, "a failing disk changes nothing");
            }
        }
        store.stat()?;
        Ok(())
    },
    check: nothing,
    damages: false,
    anew: false,
};
