//! Random numbers for tests, with many edge cases: shifts that are too long, zero divisors, changes of sign.

/// A generator of numbers, many of them edge cases (splitmix64).
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub(crate) fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.next() % count as u64).expect("it is below a `usize`")
    }

    pub(crate) fn value(&mut self) -> u128 {
        let random = u128::from(self.next()) << 64 | u128::from(self.next());
        let edges = [0, 1, 0x7f, 0x80, 0xff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x8080_8080, u128::MAX];
        match self.below(4) {
            0 => edges[self.below(edges.len())],
            1 => random & 0xff,
            2 => random & edges[self.below(edges.len())],
            _ => random,
        }
    }
}
