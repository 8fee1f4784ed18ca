//! Choices: a generator that has alternatives, written as if it had none.
//!
//! A generator asks for one of its alternatives wherever it has several. It runs again and again, each time with the
//! next combination of answers, until all have been given; so alternatives of operands, of the operation and of the
//! merge combine without loops around each other.

/// The answers of one run, and how to come to the next.
#[derive(Debug, Default)]
pub(super) struct Choices {
    /// The answer to each question so far, and how many there are.
    taken: Vec<(usize, usize)>,
    asked: usize,
}

impl Choices {
    /// One of so many alternatives.
    pub(super) fn one_of(&mut self, count: usize) -> usize {
        if self.asked == self.taken.len() {
            self.taken.push((0, count));
        }
        let (answer, _) = self.taken[self.asked];
        self.asked += 1;
        answer
    }

    /// Goes to the next combination, if there is one: the last question gets its next answer.
    pub(super) fn next(&mut self) -> bool {
        self.taken.truncate(self.asked);
        self.asked = 0;
        while let Some((answer, count)) = self.taken.pop() {
            if answer + 1 < count {
                self.taken.push((answer + 1, count));
                return true;
            }
        }
        false
    }
}
