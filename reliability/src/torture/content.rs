//! What is published: bytes that a seed and a length say, so that whoever reads
//! them back can tell what they must be.

use std::fmt;
use std::str::FromStr;

use anyhow::{Context, Result};
use reliability::Random;

/// Contents that are published again and again, so that they are shared.
const ALPHABET: u64 = 24;
/// Their lengths in bytes. Those above 262,144 have a sidecar.
const LENGTHS: [u64; 12] =
    [0, 1, 13, 200, 4_096, 20_000, 65_536, 65_537, 200_000, 262_144, 262_145, 700_000];

/// The first `bytes` bytes of an endless text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Content {
    pub(crate) seed: u64,
    pub(crate) bytes: u64,
}

impl Content {
    /// Most often one of the alphabet, otherwise one of its own.
    pub(crate) fn choose(random: &mut Random) -> Self {
        if random.percent(60) {
            let seed = random.below(ALPHABET);
            let bytes = LENGTHS[(seed % LENGTHS.len() as u64) as usize];
            return Self { seed, bytes };
        }
        let seed = ALPHABET + random.next() % (1 << 48);
        let most = if random.percent(12) { 600_000 } else { 5_000 };
        Self { seed, bytes: random.below(most) }
    }

    /// The bytes: printable, in lines of many lengths.
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let mut random = Random::new(self.seed);
        let length = self.bytes as usize;
        let mut bytes = Vec::with_capacity(length + 8);
        while bytes.len() < length {
            let word = random.next();
            bytes.extend((word & 0x3f3f_3f3f_3f3f_3f3f | 0x4040_4040_4040_4040).to_le_bytes());
            if word >> 61 == 0 {
                bytes.push(b'\n');
            }
        }
        bytes.truncate(length);
        bytes
    }
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.seed, self.bytes)
    }
}

impl FromStr for Content {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let (seed, bytes) = text.split_once(':').context("no length")?;
        Ok(Self { seed: seed.parse()?, bytes: bytes.parse()? })
    }
}

/// What one call published: a single output, or named streams with a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Output {
    pub(crate) named: bool,
    pub(crate) streams: Vec<Content>,
}

impl Output {
    pub(crate) fn choose(random: &mut Random) -> Self {
        let named = random.percent(60);
        let count = if named { 1 + random.below(3) } else { 1 };
        Self { named, streams: (0..count).map(|_| Content::choose(random)).collect() }
    }
}

/// The name of the stream with this index.
pub(crate) fn stream_name(index: usize) -> String {
    format!("out{index}")
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.named { "named" } else { "single" })?;
        self.streams.iter().try_for_each(|content| write!(f, ",{content}"))
    }
}

impl FromStr for Output {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut parts = text.split(',');
        let named = parts.next() == Some("named");
        let streams = parts.map(str::parse).collect::<Result<_>>()?;
        Ok(Self { named, streams })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_is_what_its_text_says() {
        let mut random = Random::new(5);
        for _ in 0..200 {
            let output = Output::choose(&mut random);
            assert_eq!(output.to_string().parse::<Output>().expect("its own text"), output);
        }
    }

    #[test]
    fn a_shorter_content_is_the_beginning_of_a_longer_one() {
        let long = Content { seed: 9, bytes: 5_000 }.to_bytes();
        let short = Content { seed: 9, bytes: 4_003 }.to_bytes();
        assert_eq!((long.len(), &long[..4_003]), (5_000, &short[..]));
        assert!(long.contains(&b'\n'));
    }
}
