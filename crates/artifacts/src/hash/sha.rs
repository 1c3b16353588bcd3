//! SHA-256 over the bare compression function, so that its state is in reach.

use sha2::block_api::compress256;

use super::Chaining;

const INITIAL: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// [`INITIAL`], big-endian.
pub(super) const INITIAL_BYTES: Chaining = to_bytes(&INITIAL);

const LENGTH_BYTES: usize = 8;

/// An unfinished SHA-256.
#[derive(Debug, Clone)]
pub(super) struct Sha {
    state: [u32; 8],
    /// Bytes that do not fill a block of 64 yet.
    tail: [u8; 64],
    bytes: u64,
}

impl Sha {
    pub(super) const fn new() -> Self {
        Self { state: INITIAL, tail: [0; 64], bytes: 0 }
    }

    /// Goes on from the state after `bytes` bytes, a multiple of 64.
    pub(super) fn resume(chaining: &Chaining, bytes: u64) -> Self {
        debug_assert!(bytes.is_multiple_of(64));
        let mut state = [0; 8];
        for (word, bytes) in state.iter_mut().zip(chaining.as_chunks::<4>().0) {
            *word = u32::from_be_bytes(*bytes);
        }
        Self { state, tail: [0; 64], bytes }
    }

    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    const fn tail_len(&self) -> usize {
        (self.bytes % 64) as usize
    }

    /// Whole blocks are compressed where they lie; only a rest is copied.
    pub(super) fn update(&mut self, mut piece: &[u8]) {
        let held = self.tail_len();
        self.bytes += piece.len() as u64;
        if held > 0 {
            let (fill, rest) = piece.split_at(piece.len().min(64 - held));
            self.tail[held..held + fill.len()].copy_from_slice(fill);
            if held + fill.len() < 64 {
                return;
            }
            compress256(&mut self.state, &[self.tail]);
            piece = rest;
        }
        let (blocks, rest) = piece.as_chunks::<64>();
        if !blocks.is_empty() {
            compress256(&mut self.state, blocks);
        }
        self.tail[..rest.len()].copy_from_slice(rest);
    }

    /// The state; meaningful where a multiple of 64 bytes was taken.
    pub(super) fn chaining(&self) -> Chaining {
        debug_assert!(self.tail_len() == 0);
        to_bytes(&self.state)
    }

    /// Pads, and returns the digest.
    pub(super) fn finish(mut self) -> Chaining {
        let held = self.tail_len();
        let mut last = [[0; 64]; 2];
        last[0][..held].copy_from_slice(&self.tail[..held]);
        last[0][held] = 0x80;
        let blocks = if held < 64 - LENGTH_BYTES { 1 } else { 2 };
        let bits = self.bytes.wrapping_mul(8).to_be_bytes();
        last[blocks - 1][64 - LENGTH_BYTES..].copy_from_slice(&bits);
        compress256(&mut self.state, &last[..blocks]);
        to_bytes(&self.state)
    }
}

const fn to_bytes(state: &[u32; 8]) -> Chaining {
    let mut bytes = [0; 32];
    let mut word = 0;
    while word < 8 {
        let part = state[word].to_be_bytes();
        let mut byte = 0;
        while byte < 4 {
            bytes[word * 4 + byte] = part[byte];
            byte += 1;
        }
        word += 1;
    }
    bytes
}
