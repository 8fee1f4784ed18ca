//! Numbers that wait, the least or the greatest first, each once.
//!
//! A bit per number, and above each 64 bits a bit that says whether any of them is set. Putting a number in and taking
//! one out touch one word a level, of which there are at most six.

/// A set of numbers below a bound.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    /// From the bits of the numbers up; the last level is one word.
    levels: Vec<Vec<u64>>,
}

impl Queue {
    /// No numbers below `count`.
    pub(crate) fn new(count: usize) -> Self {
        let mut levels = Vec::new();
        let mut words = count;
        loop {
            words = words.div_ceil(64).max(1);
            levels.push(vec![0; words]);
            if words == 1 {
                return Self { levels };
            }
        }
    }

    /// Puts a number in, if it is not there yet.
    pub(crate) fn insert(&mut self, number: usize) {
        let mut at = number;
        for level in &mut self.levels {
            let (word, bit) = (at / 64, 1 << (at % 64));
            let before = level[word];
            level[word] = before | bit;
            if before != 0 {
                return;
            }
            at = word;
        }
    }

    /// Takes the least number out.
    pub(crate) fn pop_first(&mut self) -> Option<usize> {
        self.pop(u64::trailing_zeros)
    }

    /// Takes the greatest number out.
    pub(crate) fn pop_last(&mut self) -> Option<usize> {
        self.pop(|word| 63 - word.leading_zeros())
    }

    fn pop(&mut self, end: impl Fn(u64) -> u32) -> Option<usize> {
        let mut at = 0;
        for level in self.levels.iter().rev() {
            let word = level[at];
            if word == 0 {
                return None;
            }
            at = 64 * at + end(word) as usize;
        }
        let number = at;
        for level in &mut self.levels {
            level[at / 64] &= !(1 << (at % 64));
            if level[at / 64] != 0 {
                break;
            }
            at /= 64;
        }
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn it_yields_what_a_sorted_set_does() {
        for count in [1, 63, 64, 65, 5_000, 300_000] {
            let (mut queue, mut set, mut state) = (Queue::new(count), BTreeSet::new(), 1_u64);
            for _ in 0..2_000 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let number = usize::try_from(state >> 33).expect("it has 31 bits") % count;
                match state >> 30 & 7 {
                    0..4 => {
                        queue.insert(number);
                        set.insert(number);
                    }
                    4..6 => assert_eq!(queue.pop_first(), set.pop_first()),
                    _ => assert_eq!(queue.pop_last(), set.pop_last()),
                }
            }
            while let Some(number) = set.pop_first() {
                assert_eq!(queue.pop_first(), Some(number));
            }
            assert_eq!((queue.pop_first(), queue.pop_last()), (None, None));
        }
    }
}
