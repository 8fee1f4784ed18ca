//! Lists of items by number, all in one array: what leads to what in a graph.
//!
//! Two counts and a copy sort any number of pairs, so building them is linear, and reading a list is a slice.

/// Lists by number.
#[derive(Clone, Debug)]
pub(crate) struct Lists<T> {
    /// By list: where it ends; it begins where the one before it ends.
    ends: Vec<u32>,
    items: Vec<T>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self { ends: Vec::new(), items: Vec::new() }
    }
}

impl<T: Copy> Lists<T> {
    /// The lists of these pairs of a number below `count` and an item; items keep their order. The pairs are asked for
    /// twice and must be the same.
    pub(crate) fn of<I: Iterator<Item = (usize, T)>>(count: usize, pairs: impl Fn() -> I) -> Self {
        let mut ends = vec![0_u32; count + 1];
        for (list, _) in pairs() {
            ends[list + 1] += 1;
        }
        for list in 0..count {
            ends[list + 1] += ends[list];
        }
        let total = ends[count] as usize;
        let Some((_, first)) = pairs().next() else {
            ends.pop();
            return Self { ends, items: Vec::new() };
        };
        let mut items = vec![first; total];
        // Each start moves to the end of its list while the list is filled.
        for (list, item) in pairs() {
            items[ends[list] as usize] = item;
            ends[list] += 1;
        }
        ends.pop();
        Self { ends, items }
    }

    /// The items of a list.
    pub(crate) fn get(&self, list: usize) -> &[T] {
        let start = list.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.items[start..self.ends[list] as usize]
    }

    /// The items of a list, to be changed.
    pub(crate) fn get_mut(&mut self, list: usize) -> &mut [T] {
        let start = list.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &mut self.items[start..self.ends[list] as usize]
    }

    /// How many lists there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_become_lists_in_their_order() {
        let pairs = [(2, 'a'), (0, 'b'), (2, 'c'), (3, 'd')];
        let mut lists = Lists::of(5, || pairs.into_iter());
        let all: Vec<String> = (0..lists.len()).map(|list| lists.get(list).iter().collect()).collect();
        assert_eq!(all, ["b", "", "ac", "d", ""]);
        lists.get_mut(2).reverse();
        assert_eq!(lists.get(2), ['c', 'a']);
    }

    #[test]
    fn there_may_be_no_pairs_and_no_lists() {
        assert_eq!(Lists::<u8>::of(2, std::iter::empty).get(1), []);
        assert_eq!(Lists::<u8>::of(0, std::iter::empty).len(), 0);
    }
}
