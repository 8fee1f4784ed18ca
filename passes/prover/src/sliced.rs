//! Sums for many vectors at once: a word for each bit of the sums, with a bit in it for each vector.
//!
//! A number is added to the sums of some vectors as an adder does it, bit by bit, but with all carries of a place in
//! one word. So what is true of a sum is found for 64 vectors in the time of one.

/// 64 sums modulo a power of two.
#[derive(Clone, Debug)]
pub(super) struct SlicedSums {
    bits: Vec<u64>,
}

impl SlicedSums {
    /// Sums of so many bits, all zero.
    pub(super) fn new(width: u32) -> Self {
        Self { bits: vec![0; width as usize] }
    }

    pub(super) fn clear(&mut self) {
        self.bits.fill(0);
    }

    /// Adds a number to the sums of the vectors whose bits are ones.
    pub(super) fn add(&mut self, number: i128, vectors: u64) {
        let mut left = number.unsigned_abs();
        while left != 0 {
            let mut carries = vectors;
            for bit in self.bits.iter_mut().skip(left.trailing_zeros() as usize) {
                if carries == 0 {
                    break;
                }
                let before = *bit;
                *bit ^= carries;
                carries &= if number < 0 { !before } else { before };
            }
            left &= left - 1;
        }
    }

    /// Adds so many times half of other sums, rounded down. If those have a bit more than these, it does not matter
    /// whether they are signed: half of what the one reading differs by from the other is nothing here.
    pub(super) fn add_halves(&mut self, of: &Self, times: i128) {
        for (place, &vectors) in of.bits.iter().skip(1).enumerate() {
            self.add(times.wrapping_shl(u32::try_from(place).expect("a sum has few bits")), vectors);
        }
    }

    /// The sum of these vectors, if it is the same for all of them.
    pub(super) fn same(&self, vectors: u64) -> Option<u128> {
        self.bits.iter().enumerate().try_fold(0, |sum, (place, &bit)| match bit & vectors {
            0 => Some(sum),
            ones if ones == vectors => Some(sum | 1 << place),
            _ => None,
        })
    }

    /// Whether the sums of these vectors are odd, if that is the same for all of them.
    pub(super) fn are_odd(&self, vectors: u64) -> Option<bool> {
        let ones = self.bits.first().map_or(0, |lowest| lowest & vectors);
        (ones == 0 || ones == vectors).then_some(ones != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of one vector.
    fn sum(sums: &SlicedSums, vector: u32) -> u128 {
        sums.same(1 << vector).expect("one sum is like itself")
    }

    #[test]
    fn numbers_are_added_to_the_sums_of_some_vectors() {
        let mut sums = SlicedSums::new(12);
        let mut expected = [0_i128; 64];
        for (round, number) in [1, 255, -3, 0x7ff, -0x800, 17, -1, 4095].into_iter().enumerate() {
            let vectors = 0x9e37_79b9_7f4a_7c15_u64.rotate_left(9 * u32::try_from(round).expect("few"));
            sums.add(number, vectors);
            for (vector, sum) in expected.iter_mut().enumerate() {
                *sum += if vectors >> vector & 1 == 1 { number } else { 0 };
            }
        }
        for (vector, expected) in (0..).zip(expected) {
            assert_eq!(sum(&sums, vector), expected.rem_euclid(1 << 12).cast_unsigned(), "{vector}");
        }
    }

    #[test]
    fn halves_are_rounded_down() {
        for number in [-7_i128, -6, -1, 0, 1, 2, 7, 100] {
            for times in [1, -1, 3, -8] {
                let mut whole = SlicedSums::new(11);
                whole.add(number, u64::MAX);
                let mut sums = SlicedSums::new(10);
                sums.add_halves(&whole, times);
                let expected = ((number >> 1) * times).rem_euclid(1 << 10).cast_unsigned();
                assert_eq!(sums.same(u64::MAX), Some(expected), "{number} {times}");
                assert_eq!(whole.are_odd(u64::MAX), Some(number & 1 == 1), "{number}");
            }
        }
    }

    #[test]
    fn sums_that_differ_are_not_the_same() {
        let mut sums = SlicedSums::new(8);
        sums.add(4, 2);
        assert_eq!(sums.same(3), None);
        assert_eq!(sums.same(!2), Some(0));
        assert_eq!(sums.same(2), Some(4));
        assert_eq!(sums.are_odd(3), Some(false));
        sums.add(1, 1);
        assert_eq!(sums.are_odd(3), None);
    }
}
