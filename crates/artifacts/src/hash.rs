//! SHA-256 with states: one pass over bytes that yields their digest, their
//! line facts, and what is needed to verify any 64 KiB of them later.
//!
//! The state of SHA-256 after a whole number of its 64-byte blocks, the
//! *chaining value*, is all that is needed to go on from there. Kept every
//! [`BLOCK_BYTES`], it makes any block verifiable without those before it, and
//! it costs nothing: it is passed through on the way to the digest.

mod sha;
mod text;

use memchr::memchr_iter;
use output_contract::Digest;

use self::sha::Sha;
use self::text::TextFacts;

/// The size of the blocks whose states are kept, in bytes.
pub const BLOCK_BYTES: u64 = 64 * 1024;

/// A SHA-256 chaining value: its eight words, big-endian, as a digest is
/// written. After padding, the chaining value *is* the digest.
pub type Chaining = [u8; 32];

/// The chaining value before any byte.
pub const INITIAL_CHAINING: Chaining = sha::INITIAL_BYTES;

/// What is kept for each block of [`BLOCK_BYTES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockState {
    /// Newlines in all blocks before this one.
    pub newlines_before: u64,
    /// The chaining value after this block; for the last block, which may be
    /// short, the digest.
    pub chaining_after: Chaining,
}

/// What one pass tells about bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentFacts {
    /// Their SHA-256.
    pub digest: Digest,
    /// How many there are.
    pub bytes: u64,
    /// How many of them are `\n`.
    pub newlines: u64,
    /// The longest line, in bytes without its `\n`.
    pub longest_line: u64,
    /// The last byte is `\n`.
    pub ends_with_newline: bool,
    /// They are valid UTF-8.
    pub valid_utf8: bool,
    /// One of them is NUL.
    pub has_nul: bool,
}

impl ContentFacts {
    /// How many lines there are: an unterminated rest is one more.
    pub const fn lines(&self) -> u64 {
        self.newlines + (self.bytes > 0 && !self.ends_with_newline) as u64
    }
}

/// Bytes that were hashed: their facts, and the state after each block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HashedContent {
    /// The facts.
    pub facts: ContentFacts,
    /// One state for each block, the last and possibly short one included.
    pub blocks: Vec<BlockState>,
}

/// The digest of `bytes`.
pub fn digest_of(bytes: &[u8]) -> Digest {
    let mut sha = Sha::new();
    sha.update(bytes);
    Digest::from_bytes(sha.finish())
}

/// The chaining value after a block, from the one before it.
///
/// `start` is the position of the block's first byte, a multiple of
/// [`BLOCK_BYTES`]; `last` says that the content ends with this block, which
/// may then be short.
pub fn chaining_after(before: &Chaining, start: u64, block: &[u8], last: bool) -> Chaining {
    let mut sha = Sha::resume(before, start);
    sha.update(block);
    if last { sha.finish() } else { sha.chaining() }
}

/// Counts the newlines in `bytes`.
pub fn count_newlines(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

/// Hashes content piece by piece.
#[derive(Debug, Clone)]
pub struct ContentHasher {
    sha: Sha,
    text: TextFacts,
    newlines: u64,
    newlines_before_block: u64,
    blocks: Vec<BlockState>,
}

impl ContentHasher {
    /// A hasher that has seen nothing.
    pub fn new() -> Self {
        Self {
            sha: Sha::new(),
            text: TextFacts::new(),
            newlines: 0,
            newlines_before_block: 0,
            blocks: Vec::new(),
        }
    }

    /// Takes the next bytes.
    pub fn update(&mut self, mut piece: &[u8]) {
        while !piece.is_empty() {
            let room = (BLOCK_BYTES - self.sha.bytes() % BLOCK_BYTES) as usize;
            let (now, rest) = piece.split_at(room.min(piece.len()));
            self.sha.update(now);
            self.newlines += count_newlines(now);
            self.text.update(now);
            if self.sha.bytes().is_multiple_of(BLOCK_BYTES) {
                self.push_block(self.sha.chaining());
            }
            piece = rest;
        }
    }

    /// How many bytes it has taken.
    pub const fn bytes(&self) -> u64 {
        self.sha.bytes()
    }

    /// How many lines they make: an unterminated rest is one more.
    pub const fn lines(&self) -> u64 {
        self.newlines + self.text.open_line() as u64
    }

    /// The digest and all that was learnt on the way.
    pub fn finish(mut self) -> HashedContent {
        let bytes = self.sha.bytes();
        let digest = self.sha.clone().finish();
        if bytes.is_multiple_of(BLOCK_BYTES) {
            if let Some(last) = self.blocks.last_mut() {
                last.chaining_after = digest;
            }
        } else {
            self.push_block(digest);
        }
        HashedContent {
            facts: ContentFacts {
                digest: Digest::from_bytes(digest),
                bytes,
                newlines: self.newlines,
                longest_line: self.text.longest_line(),
                ends_with_newline: bytes > 0 && !self.text.open_line(),
                valid_utf8: self.text.valid_utf8(),
                has_nul: self.text.has_nul(),
            },
            blocks: self.blocks,
        }
    }

    fn push_block(&mut self, chaining_after: Chaining) {
        self.blocks
            .push(BlockState { newlines_before: self.newlines_before_block, chaining_after });
        self.newlines_before_block = self.newlines;
    }
}

impl Default for ContentHasher {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sha2::Digest as _;

    use super::*;

    fn hash(pieces: &[&[u8]]) -> HashedContent {
        let mut hasher = ContentHasher::new();
        pieces.iter().for_each(|piece| hasher.update(piece));
        hasher.finish()
    }

    fn reference(bytes: &[u8]) -> Digest {
        Digest::from_bytes(sha2::Sha256::digest(bytes).into())
    }

    #[test]
    fn digests_are_those_of_sha256_at_every_border() {
        let bytes: Vec<u8> = (0..3 * BLOCK_BYTES + 7).map(|i| (i * 7 + i / 251) as u8).collect();
        for len in [0, 1, 55, 56, 63, 64, 65, 119, 120, 65_535, 65_536, 65_537, 131_072, 196_615] {
            let hashed = hash(&[&bytes[..len]]);
            assert_eq!(hashed.facts.digest, reference(&bytes[..len]), "{len}");
            assert_eq!(hashed.blocks.len(), len.div_ceil(BLOCK_BYTES as usize), "{len}");
            assert_eq!(digest_of(&bytes[..len]), reference(&bytes[..len]), "{len}");
        }
    }

    #[test]
    fn every_block_verifies_from_the_state_before_it() {
        for len in [1, 65_536, 65_537, 131_072, 200_000] {
            let bytes: Vec<u8> = (0..len).map(|i| (i * 31 + i / 77) as u8).collect();
            let HashedContent { facts, blocks } = hash(&[&bytes]);
            let mut before = INITIAL_CHAINING;
            for (index, block) in bytes.chunks(BLOCK_BYTES as usize).enumerate() {
                let start = index as u64 * BLOCK_BYTES;
                let last = index + 1 == blocks.len();
                assert_eq!(
                    chaining_after(&before, start, block, last),
                    blocks[index].chaining_after
                );
                assert_eq!(count_newlines(&bytes[..start as usize]), blocks[index].newlines_before);
                before = blocks[index].chaining_after;
            }
            assert_eq!(before, *facts.digest.as_bytes());
        }
    }

    #[test]
    fn facts_of_small_contents() {
        let facts = |bytes: &[u8]| {
            let f = hash(&[bytes]).facts;
            (f.lines(), f.newlines, f.longest_line, f.ends_with_newline, f.valid_utf8, f.has_nul)
        };
        assert_eq!(facts(b""), (0, 0, 0, false, true, false));
        assert_eq!(facts(b"a"), (1, 0, 1, false, true, false));
        assert_eq!(facts(b"a\n"), (1, 1, 1, true, true, false));
        assert_eq!(facts(b"\n"), (1, 1, 0, true, true, false));
        assert_eq!(facts(b"a\n\nbcd\r\xe2\x80\xa8\x0c"), (3, 2, 8, false, true, false));
        assert_eq!(facts(b"a\0\xff\n"), (1, 1, 3, true, false, true));
        assert_eq!(facts("你".as_bytes().split_last().unwrap().1), (1, 0, 2, false, false, false));
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(
            runs in proptest::collection::vec((0usize..6, any::<u8>(), 1usize..90), 0..40),
            long in proptest::option::of((0usize..40, 65_000usize..66_000)),
            cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let mut runs: Vec<Vec<u8>> = runs
                .into_iter()
                .map(|(kind, byte, len)| match kind {
                    0 => vec![b'\n'; len % 3 + 1],
                    1 => "a你🦀".repeat(len % 9).into_bytes(),
                    2 => vec![0xe4, 0xbd],
                    3 => vec![byte],
                    _ => vec![b'x'; len],
                })
                .collect();
            if let Some((at, len)) = long {
                runs.insert(at.min(runs.len()), vec![b'y'; len]);
            }
            let bytes = runs.concat();
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|w| &bytes[w[0]..w[1]]).collect();
            let whole = hash(&[&bytes]);
            prop_assert_eq!(&hash(&pieces), &whole);
            prop_assert_eq!(whole.facts.digest, reference(&bytes));
            prop_assert_eq!(whole.facts.valid_utf8, std::str::from_utf8(&bytes).is_ok());
            prop_assert_eq!(whole.facts.has_nul, bytes.contains(&0));
            let longest = bytes.split(|&b| b == b'\n').map(<[u8]>::len).max().unwrap_or(0);
            prop_assert_eq!(whole.facts.longest_line, longest as u64);
        }
    }
}
