//! Numbers that look random and are the same for the same seed.

use std::hash::{BuildHasher, Hasher};

/// A `SplitMix64` generator: small, fast, and good enough to choose by.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The generator that always yields the same numbers for `seed`.
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A seed that no two calls share.
    pub fn fresh_seed() -> u64 {
        std::hash::RandomState::new().build_hasher().finish() >> 16
    }

    /// Any number.
    pub const fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`, which is not 0.
    pub const fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// A place in something that has `length` of them; `None` where it has none.
    pub fn index(&mut self, length: usize) -> Option<usize> {
        (length > 0).then(|| self.below(length as u64) as usize)
    }

    /// One of `all`; `None` of none.
    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        self.index(all.len()).map(|index| &all[index])
    }

    /// True in so many of 100 cases.
    pub const fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_yields_the_same_numbers() {
        let numbers = |seed| {
            let mut random = Random::new(seed);
            [random.next(), random.next()]
        };
        assert_eq!(numbers(0), [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4]);
        assert_eq!(numbers(7), numbers(7));
        assert_ne!(numbers(7), numbers(8));
        assert_eq!(Random::new(1).pick::<u8>(&[]), None);
    }
}
