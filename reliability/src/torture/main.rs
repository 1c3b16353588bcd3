//! `torture`: processes that publish, read, release and collect in one store,
//! while they are killed and stopped.
//!
//! Every worker writes down what the store promised it ([`oracle`]); what is
//! written down must be readable at any time, which workers check all along
//! ([`reading`]). In the end what is on the disk must be what is retained, and
//! nothing else ([`judging`]).

mod content;
mod judging;
mod options;
mod oracle;
mod place;
mod point;
mod reading;
mod supervisor;
mod worker;

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use artifacts::fs::Fs;
use clap::Parser;
use reliability::Random;

use crate::judging::Verdict;
use crate::options::{Options, Role};
use crate::oracle::Oracle;
use crate::place::Place;
use crate::supervisor::Supervised;
use crate::worker::Worker;

/// The worker that looks at everything in the end.
const JUDGE: &str = "judge";

fn main() -> ExitCode {
    let options = Options::parse();
    let done = match (&options.worker, options.role) {
        (Some(name), Some(role)) => work(&options, name, role).map(|()| true),
        _ => supervise(&options),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{}: {error:#}", options.worker.as_deref().unwrap_or("torture"));
            ExitCode::FAILURE
        }
    }
}

/// Is a worker.
fn work(options: &Options, name: &str, role: Role) -> Result<()> {
    let place = Place::at(options.dir.clone());
    let mut random = Random::new(options.seed.unwrap_or_default());
    let fs = if options.pointed {
        point::choose(&place.store(), &place.logs().join(name), role, &mut random)?
    } else {
        Fs::real()
    };
    Worker::begin_on(place, name, options.fault, &mut random, &fs)?.work(role)
}

/// Runs all of it; whether nothing was lost or left.
fn supervise(options: &Options) -> Result<bool> {
    let seed = options.seed.unwrap_or_else(Random::fresh_seed);
    let again = format!("cargo xtask torture --seconds {} --seed {seed}", options.seconds());
    println!("{again} --dir {}", options.dir);
    let mut random = Random::new(seed);
    let names = [supervisor::names(), vec![JUDGE.to_owned()]].concat();
    let place = Place::create(&options.dir, &names)?;
    let start = Instant::now();
    let done = supervisor::run(&place, options, &mut random)?;
    let verdict = match done.failures.as_slice() {
        [] => judging::judge(&place, JUDGE, seed)?,
        _ => Verdict::default(),
    };
    let oracle = Oracle::open(&place.logs())?;
    print!("{}", table(&done, &verdict, &oracle, start.elapsed().as_secs()));
    let findings: Vec<&String> =
        done.failures.iter().chain(&verdict.losses).chain(&verdict.leaks).collect();
    if findings.is_empty() {
        place.remove()?;
        return Ok(true);
    }
    findings.iter().for_each(|finding| eprintln!("{finding}"));
    eprintln!("the store is in {}; to repeat: {again}", place.dir());
    Ok(false)
}

fn table(done: &Supervised, verdict: &Verdict, oracle: &Oracle, seconds: u64) -> String {
    let rows = [
        ("seconds", seconds),
        ("processes", done.starts),
        ("killed at random", done.kills),
        ("killed at named points", done.named_kills),
        ("different points come to", oracle.points() as u64),
        ("stopped and continued", done.stops),
        ("retained", oracle.count("publish")),
        ("of them borrowed", oracle.count("borrow")),
        ("recovered captures", oracle.count("recover")),
        ("read and compared", oracle.count("read")),
        ("verified stores", oracle.count("verify")),
        ("collections", oracle.count("collect")),
        ("removed by them", oracle.count("removed")),
        ("roots at the end", verdict.roots as u64),
        ("kept by them", verdict.kept as u64),
        ("failures", done.failures.len() as u64),
        ("losses", verdict.losses.len() as u64),
        ("leaks", verdict.leaks.len() as u64),
    ];
    rows.map(|(name, count)| format!("{name:<26}{count:>10}\n")).concat()
}
