//! How fast text is looked at, against the crates that do nothing else.

use std::hint::black_box;
use std::time::Instant;

use anyhow::Result;
use artifacts::hash::{ContentHasher, count_newlines};
use output_contract::Status;
use output_contract::limits::{DEFAULT_MAX_BYTES, DEFAULT_MAX_LINES};
use output_retention::{
    Ending, Hints, Limits, Preview, PreviewBuilder, Shape, StreamView, Utf8Decoder, render,
};
use sha2::{Digest, Sha256};

use crate::scratch::{Lines, MIB};
use crate::statistics::Sample;

const CHUNK: usize = 64 * 1024;
const SIZE: usize = 64 * MIB as usize;

type Work<'a> = (&'a str, Box<dyn FnMut() -> usize + 'a>);

pub(crate) fn run(runs: usize) -> Result<()> {
    println!("text: 64 MiB in chunks of 64 KiB, {runs} runs after one to warm up; GB/s");
    let ascii = Lines::default().bytes(SIZE);
    let mixed = mixed();
    let limits = Limits::new(DEFAULT_MAX_LINES, DEFAULT_MAX_BYTES, Shape::HeadTail, 2)?;
    let page = &ascii[..DEFAULT_MAX_BYTES as usize / 2];
    let repeat = 512;
    let mut works: Vec<Work<'_>> = vec![
        (
            "memchr alone (count of newlines)",
            chunks(&ascii, |chunk| memchr::memchr_iter(b'\n', chunk).count()),
        ),
        ("line counting", chunks(&ascii, |chunk| count_newlines(chunk) as usize)),
        (
            "preview",
            Box::new(|| {
                let mut builder = PreviewBuilder::new(limits);
                ascii.chunks(CHUNK).for_each(|chunk| builder.push(chunk));
                black_box(builder.finish());
                ascii.len()
            }),
        ),
        (
            "simdutf8 alone, ASCII",
            chunks(&ascii, |chunk| usize::from(simdutf8::basic::from_utf8(chunk).is_ok())),
        ),
        ("UTF-8 decoding, ASCII", decoding(&ascii)),
        (
            "simdutf8 alone, mixed",
            chunks(&mixed, |chunk| usize::from(simdutf8::basic::from_utf8(chunk).is_ok())),
        ),
        ("UTF-8 decoding, mixed", decoding(&mixed)),
        (
            "rendering of 25 KiB",
            Box::new(|| {
                for _ in 0..repeat {
                    let preview = Preview::of(black_box(page), limits);
                    let view = StreamView { name: None, preview: &preview, artifact: None };
                    black_box(render(
                        &[view],
                        &limits,
                        &Ending::of(Status::Completed),
                        &Hints::None,
                    ));
                }
                page.len() * repeat
            }),
        ),
        (
            "sha2 alone",
            Box::new(|| {
                let mut hasher = Sha256::new();
                ascii.chunks(CHUNK).for_each(|chunk| hasher.update(chunk));
                black_box(hasher.finalize());
                ascii.len()
            }),
        ),
        (
            "hash, block states, lines, UTF-8, NUL",
            Box::new(|| {
                let mut hasher = ContentHasher::new();
                ascii.chunks(CHUNK).for_each(|chunk| hasher.update(chunk));
                black_box(hasher.finish());
                ascii.len()
            }),
        ),
    ];
    let mut samples: Vec<Sample> = works.iter().map(|_| Sample::default()).collect();
    for run in 0..=runs {
        for ((_, work), sample) in works.iter_mut().zip(&mut samples) {
            let start = Instant::now();
            let bytes = work();
            let speed = bytes as f64 / start.elapsed().as_secs_f64() / 1e9;
            if run > 0 {
                sample.push(speed);
            }
        }
    }
    for ((name, _), sample) in works.iter().zip(&samples) {
        println!("  {name:<40} {:>7.2}", sample.median());
    }
    Ok(())
}

fn chunks<'a>(
    bytes: &'a [u8],
    look: impl Fn(&[u8]) -> usize + 'a,
) -> Box<dyn FnMut() -> usize + 'a> {
    Box::new(move || {
        black_box(bytes.chunks(CHUNK).map(&look).sum::<usize>());
        bytes.len()
    })
}

fn decoding(bytes: &[u8]) -> Box<dyn FnMut() -> usize + '_> {
    Box::new(move || {
        let (mut decoder, mut text) = (Utf8Decoder::default(), String::with_capacity(2 * CHUNK));
        for chunk in bytes.chunks(CHUNK) {
            decoder.push(chunk, &mut text);
            black_box(&text);
            text.clear();
        }
        bytes.len()
    })
}

/// Lines of four scripts.
fn mixed() -> Vec<u8> {
    "warning: неиспользуемая переменная → 未使用的变量 😀 (unused)\n"
        .bytes()
        .cycle()
        .take(SIZE)
        .collect()
}
