//! One worker process: uses the store until it is told to stop, or killed.

use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use artifact_store::{LocalStore, StoreGuard, StoreOptions};
use artifacts::fs::Fs;
use artifacts::hash::digest_of;
use artifacts::{
    CaptureMeta, CollectOptions, Durability, Manifest, ManifestStream, Publication, SealedCapture,
};
use camino::Utf8Path;
use output_contract::{CallId, OutputDeclaration, SessionId, Timestamp};
use reliability::Random;

use crate::content::{Content, Output, stream_name};
use crate::options::{Fault, Role};
use crate::oracle::{Log, Oracle};
use crate::place::Place;
use crate::reading;

/// Calls that a worker retains before it releases some.
const MOST_CALLS: usize = 24;
/// Guards that it holds before it retains what they name.
const MOST_GUARDS: usize = 3;

/// What one process works with.
#[derive(Debug)]
pub(crate) struct Worker {
    place: Place,
    owner: SessionId,
    fault: Option<Fault>,
    random: Random,
    store: LocalStore,
    oracle: Oracle,
    log: Log,
    generation: u64,
    calls: u64,
    guards: Vec<Held>,
}

/// What is published and not retained yet.
#[derive(Debug)]
struct Held {
    guard: StoreGuard,
    output: Output,
}

/// Opens a store; whether it is durable is a throw of the dice.
pub(crate) fn open(root: &Utf8Path, fs: &Fs, random: &mut Random) -> Result<LocalStore> {
    let durability = if random.percent(30) { Durability::Durable } else { Durability::Fast };
    // Wherever the operator said, be it a network file system.
    let options = StoreOptions { durability, allow_network_fs: true, ..StoreOptions::default() };
    Ok(LocalStore::open_on(root, options, fs)?)
}

/// A collection that spares nothing for its age.
pub(crate) fn collect(store: &LocalStore) -> Result<u64> {
    let options = CollectOptions { grace: Duration::ZERO, dry_run: false, force: false };
    Ok(store.collect(&options).context("collect")?.removed)
}

impl Worker {
    /// Takes up where the process before it was killed.
    pub(crate) fn begin(place: Place, name: &str, fault: Option<Fault>, seed: u64) -> Result<Self> {
        Self::begin_on(place, name, fault, &mut Random::new(seed), &Fs::real())
    }

    /// The same, by a way to the disk that may have a point to come to.
    pub(crate) fn begin_on(
        place: Place,
        name: &str,
        fault: Option<Fault>,
        random: &mut Random,
        fs: &Fs,
    ) -> Result<Self> {
        let mut random = random.clone();
        let store = open(&place.store(), fs, &mut random)?;
        let log = Log::open(&place.logs(), name)?;
        let oracle = Oracle::open(&place.logs())?;
        let own = oracle.worker(name).context("its log is there")?;
        let generation = own.generation + 1;
        let unsettled: Vec<String> = (own.calls.iter())
            .filter(|(_, call)| call.committed.is_none() || call.releasing)
            .map(|(name, _)| name.clone())
            .collect();
        let owner = name.parse()?;
        let mut worker = Self {
            place,
            owner,
            fault,
            random,
            store,
            oracle,
            log,
            generation,
            calls: 0,
            guards: Vec::new(),
        };
        worker.log.begin(generation)?;
        for call in unsettled {
            worker.release(&call)?;
        }
        worker.recover()?;
        Ok(worker)
    }

    /// Works until the place says stop.
    pub(crate) fn work(&mut self, role: Role) -> Result<()> {
        let parent = rustix::process::getppid();
        while !self.place.is_stopped() {
            ensure!(rustix::process::getppid() == parent, "the supervisor is gone");
            match role {
                Role::Writer => self.write()?,
                Role::Reader => self.read()?,
                Role::Collector => self.clean()?,
            }
        }
        while let Some(held) = self.guards.pop() {
            self.retain(held)?;
        }
        Ok(())
    }

    fn write(&mut self) -> Result<()> {
        match self.random.below(100) {
            0..45 => self.publish()?,
            45..60 => self.borrow()?,
            60..75 => self.settle_one()?,
            75..76 => self.release_all()?,
            76..80 => self.collect()?,
            80..84 => self.read()?,
            _ if self.own_calls()?.len() > MOST_CALLS => self.release_some()?,
            _ => self.settle_one()?,
        }
        Ok(())
    }

    fn read(&mut self) -> Result<()> {
        if reading::read_any(&self.store, &mut self.oracle, &mut self.random)? {
            self.log.count("read", 1)?;
        }
        Ok(())
    }

    fn clean(&mut self) -> Result<()> {
        match self.random.below(100) {
            0..60 => self.collect(),
            60..70 => self.verify(),
            70..80 => self.recover(),
            80..85 => {
                self.store.stat()?;
                Ok(())
            }
            _ => self.read(),
        }
    }

    fn publish(&mut self) -> Result<()> {
        let output = Output::choose(&mut self.random);
        let meta = CaptureMeta {
            session_id: self.owner.clone(),
            call_id: "captured".parse()?,
            parent_call_id: None,
            tool: "torture".parse()?,
            // For whoever finds the capture when this process is dead.
            title: output.to_string(),
            output: declaration(&output)?,
            started_at: Timestamp::default(),
            timeout_ms: None,
        };
        let capture = self.store.captures().create(&meta).context("begin a capture")?;
        let mut blobs = Vec::new();
        for (index, content) in output.streams.iter().enumerate() {
            let mut writer = capture.stream_writer(index)?;
            let bytes = content.to_bytes();
            let piece = 1 + self.random.below(100_000) as usize;
            bytes.chunks(piece).try_for_each(|piece| writer.append(piece)).context("capture")?;
            blobs.push(Arc::new(writer.seal().context("seal")?));
        }
        let publication = publication(&output, blobs)?;
        let guard = self.store.publish(&publication).context("publish")?;
        capture.remove().context("remove a capture")?;
        self.hold(guard, output)
    }

    fn borrow(&mut self) -> Result<()> {
        let chosen = reading::choose(&mut self.oracle, &mut self.random)?;
        let Some((worker, name, call)) = chosen else { return Ok(()) };
        let digest = call.committed.context("it is committed")?;
        match self.store.borrow(digest) {
            Ok(guard) => {
                self.log.count("borrow", 1)?;
                self.hold(guard, call.output)
            }
            Err(error) if reading::is_committed(&mut self.oracle, &worker, &name)? => {
                Err(error).context(format!("LOST: {name} of {worker} cannot be borrowed"))
            }
            Err(_) => Ok(()),
        }
    }

    /// What a guard protects is readable, retained or not.
    fn hold(&mut self, guard: StoreGuard, output: Output) -> Result<()> {
        self.guards.push(Held { guard, output });
        if self.guards.len() > MOST_GUARDS {
            self.settle_one()?;
        }
        let Some(Held { guard, output }) = self.random.pick(&self.guards) else { return Ok(()) };
        reading::compare(&self.store, guard.digests()[0], output, &mut self.random.clone())
            .context("LOST: guarded")
    }

    /// Retains what one guard names, or lets it go.
    fn settle_one(&mut self) -> Result<()> {
        let Some(index) = self.random.index(self.guards.len()) else { return Ok(()) };
        let held = self.guards.swap_remove(index);
        if self.random.percent(15) {
            held.guard.release();
            return Ok(());
        }
        self.retain(held)
    }

    fn retain(&mut self, Held { guard, output }: Held) -> Result<()> {
        self.calls += 1;
        let (name, digest) = (format!("{}-{}", self.generation, self.calls), guard.digests()[0]);
        self.log.intend(&name, &output)?;
        match self.fault {
            Some(Fault::Unretained) => {
                guard.release();
                return self.log.commit(&name, digest);
            }
            Some(Fault::Deleting) => {
                let hex = digest.to_string();
                let shelf = if output.named { "manifests" } else { "blobs" };
                let path = self.place.store().join(shelf).join("sha256").join(&hex[..2]).join(hex);
                guard.retain(&self.owner, &name.parse::<CallId>()?)?;
                self.log.commit(&name, digest)?;
                return Ok(fs_err::remove_file(path)?);
            }
            Some(Fault::Littering) => {
                let dir = self.place.store().join("blobs/sha256/00");
                fs_err::create_dir_all(&dir)?;
                fs_err::write(dir.join("litter"), "")?;
            }
            None => {}
        }
        guard.retain(&self.owner, &name.parse::<CallId>()?).context("retain")?;
        self.log.commit(&name, digest)?;
        guard.release();
        Ok(())
    }

    fn own_calls(&mut self) -> Result<Vec<String>> {
        self.oracle.refresh()?;
        let own = self.oracle.worker(self.owner.as_str()).context("its log is there")?;
        Ok(own.calls.keys().cloned().collect())
    }

    fn release_some(&mut self) -> Result<()> {
        for call in self.own_calls()? {
            if self.random.percent(30) {
                self.release(&call)?;
            }
        }
        Ok(())
    }

    fn release(&mut self, call: &str) -> Result<()> {
        self.log.releasing(Some(call))?;
        self.store.release(&self.owner, Some(&call.parse()?)).context("release")?;
        self.log.released(Some(call))
    }

    fn release_all(&mut self) -> Result<()> {
        self.log.releasing(None)?;
        self.store.release(&self.owner, None).context("release all")?;
        self.log.released(None)
    }

    fn collect(&mut self) -> Result<()> {
        let removed = collect(&self.store)?;
        self.log.count("collect", 1)?;
        self.log.count("removed", removed)
    }

    fn verify(&mut self) -> Result<()> {
        let report = self.store.verify(NonZero::<usize>::MIN, &|_| ()).context("verify")?;
        ensure!(
            report.corrupt.is_empty() && report.unreadable.is_empty(),
            "LOST: found corrupt: {:?} {:?}",
            report.corrupt,
            report.unreadable
        );
        self.log.count("verify", 1)
    }

    /// Publishes what dead processes had captured: each stream is the beginning
    /// of what was to be in it.
    pub(crate) fn recover(&mut self) -> Result<()> {
        for dead in self.store.captures().dead().context("find dead captures")? {
            let mut output: Output = dead.meta().title.parse()?;
            let mut blobs = Vec::new();
            for (content, sealed) in output.streams.iter_mut().zip(dead.seal().streams) {
                let sealed = sealed.context("seal a dead capture")?;
                let whole = content.bytes;
                *content = Content { bytes: sealed.bytes(), ..*content };
                let is_beginning =
                    sealed.bytes() <= whole && digest_of(&content.to_bytes()) == sealed.digest();
                ensure!(is_beginning, "LOST: captured other bytes than {content}");
                blobs.push(Arc::new(sealed));
            }
            let guard = self.store.publish(&publication(&output, blobs)?).context("recover")?;
            self.retain(Held { guard, output })?;
            dead.remove().context("remove a dead capture")?;
            self.log.count("recover", 1)?;
        }
        Ok(())
    }
}

fn declaration(output: &Output) -> Result<OutputDeclaration> {
    if !output.named {
        return Ok(OutputDeclaration::Single);
    }
    Ok(OutputDeclaration::named((0..output.streams.len()).map(stream_name))?)
}

fn publication(output: &Output, blobs: Vec<Arc<SealedCapture>>) -> Result<Publication> {
    let manifest = if output.named {
        let stream = |(index, blob): (usize, &Arc<SealedCapture>)| {
            Ok(ManifestStream {
                name: stream_name(index).parse()?,
                sha256: blob.digest(),
                bytes: blob.bytes(),
                lines: blob.lines(),
            })
        };
        let streams = blobs.iter().enumerate().map(stream).collect::<Result<_>>()?;
        Some(Manifest::new(streams)?)
    } else {
        None
    };
    if blobs.len() != output.streams.len() {
        bail!("{} streams were captured of {}", blobs.len(), output.streams.len());
    }
    Ok(Publication { blobs, manifest })
}
