//! Taking values apart: their terms over lanes of what has no term, and where their lanes can be read.

use super::pieces::Pieces;
use crate::facts::Masks;
use crate::graph::{Graph, Origin, ValueId, inputs_of};
use ptxopt_grammar::meaning::term::{Op, Term, Terms, ones};

/// How many terms there may be for each value of a function, and for a small function; where there are more, values are
/// not taken apart any more.
const MOST_TERMS: usize = 64;
const MOST_TERMS_OF_FEW: usize = 8000;

impl Pieces {
    /// A term of the graph over pieces.
    pub(super) fn take(&mut self, graph: &Graph<'_, '_>, demanded: &Masks, root: Term) -> Term {
        self.take_all(graph, demanded, inputs_of(graph.terms(), root).into_iter().collect());
        self.rebuild(graph, root)
    }

    /// Takes values apart, and all that they are made of.
    pub(super) fn take_all(&mut self, graph: &Graph<'_, '_>, demanded: &Masks, mut stack: Vec<ValueId>) {
        // Values are made of earlier values, so those below are taken first.
        while let Some(&value) = stack.last() {
            if self.taken.contains_key(&value) {
                stack.pop();
                continue;
            }
            let most = MOST_TERMS * graph.values().len() + MOST_TERMS_OF_FEW;
            let is_made = |_: &Term| self.terms.len() < most && !graph.is_looked_up(value);
            let def = graph.made_of(value).filter(is_made);
            let below = def.map(|def| inputs_of(graph.terms(), def)).unwrap_or_default();
            let waiting = below.into_iter().filter(|below| !self.taken.contains_key(below));
            let before = stack.len();
            stack.extend(waiting);
            if stack.len() == before {
                stack.pop();
                let term = match def {
                    Some(def) => {
                        let term = self.rebuild(graph, def);
                        self.narrowed(term)
                    }
                    None => self.input(graph.value(value).width),
                };
                self.taken.insert(value, term);
                self.note(graph, demanded, (value, term));
            }
        }
    }

    /// Notes where the lanes of a value can be read.
    fn note(&mut self, graph: &Graph<'_, '_>, demanded: &Masks, (value, word): (ValueId, Term)) {
        let bits = self.bits;
        // Another edit may change what is undemanded.
        let demanded = demanded[value.index()];
        if is_home(graph, value) {
            insert(self.words.entry(word).or_default(), value);
            let lanes = self.lanes_of(word);
            let computed = lanes.iter().filter(|&&lane| self.terms.value(lane).is_none());
            if computed.count() < 2 || self.sign_of_lane(word).is_some() {
                self.single.insert(value);
            }
            for (lane, at) in lanes.into_iter().zip(0..) {
                let (demanded, home) = (demanded >> (at * bits) & ones(bits), (value, at as usize));
                if demanded != 0 {
                    insert(self.homes.entry(lane).or_default(), home);
                }
                if demanded != 0 && demanded != ones(bits) {
                    self.partly.insert(home);
                }
            }
        } else if bits <= graph.value(value).width && is_narrow(graph, value) {
            let lane = self.part(word, 0, bits);
            insert(self.narrow.entry(lane).or_default(), value);
            let width = self.terms.width(word);
            let above = (width > bits).then(|| self.part(word, bits, width - bits));
            if demanded == ones(width) && above.is_none_or(|above| self.terms.value(above) == Some(0)) {
                self.extended.insert(value);
            }
        }
    }

    fn rebuild(&mut self, graph: &Graph<'_, '_>, root: Term) -> Term {
        let taken = &self.taken;
        let input = &mut |number| taken[&ValueId::of_input(number)];
        let term = self.terms.import(graph.terms(), root, input);
        let op = self.terms.op(term);
        if let Op::And(inner, mask) = op {
            self.by_bytes(term, inner, mask)
        } else if let Op::Not(inner) = op {
            let compared = self.comparison(inner);
            if compared == inner { term } else { self.terms.not(compared) }
        } else if let Op::Extract(sum, 0) = op
            && self.terms.width(term) > self.bits
            && self.is_difference(sum)
        {
            // Cut to a half, it is a difference of halves, whose sign is the highest bit.
            self.part(sum, 0, self.terms.width(term))
        } else if let Op::SignExtend(inner) = op {
            let [inner_width, width] = [inner, term].map(|of| self.terms.width(of));
            let inner = self.part(inner, 0, inner_width);
            self.terms.sign_extend(inner, width)
        } else if let Op::Choose(condition, then, other) = op {
            self.magnitude(term, condition, [then, other])
        } else if let Op::Shl(of, by) = op {
            self.shifted(term, [of, by], Terms::shl)
        } else if let Op::Lshr(of, by) = op {
            self.shifted(term, [of, by], Terms::lshr)
        } else if let Op::Ashr(of, by) = op {
            self.shifted(term, [of, by], Terms::ashr)
        } else {
            self.comparison(term)
        }
    }

    /// A comparison as one of lanes, if it is one and can be.
    fn comparison(&mut self, term: Term) -> Term {
        let op = self.terms.op(term);
        if let Op::UnsignedLess(a, b) = op {
            let apart = self.compared_apart([a, b]);
            apart.unwrap_or_else(|| self.compared(term, [a, b], Terms::unsigned_less))
        } else if let Op::SignedLess(a, b) = op {
            self.signed_compared(term, [a, b])
        } else if let Op::Equal(a, b) = op {
            self.equal(term, [a, b])
        } else {
            term
        }
    }

    /// A shift by one of two numbers, as one of two shifts: compilers choose the number where a lane is extended too.
    fn shifted(
        &mut self,
        term: Term,
        [of, by]: [Term; 2],
        shift: fn(&mut Terms, Term, Term) -> Term,
    ) -> Term {
        let chosen = if let Op::ZeroExtend(lane) = self.terms.op(by) { lane } else { by };
        let Op::Choose(condition, then, other) = self.terms.op(chosen) else { return term };
        let [Some(then), Some(other)] = [then, other].map(|by| self.terms.value(by)) else { return term };
        let width = self.terms.width(by);
        let [then, other] = [then, other].map(|by| {
            let by = self.terms.constant(by, width);
            shift(&mut self.terms, of, by)
        });
        self.terms.choose(condition, then, other)
    }

    /// A choice of numbers that fit a lane as that of lanes, extended, and comparisons of such numbers as those of lanes:
    /// so it is one term however many bits of it are read. What leaves a lane in between is left as it is.
    fn narrowed(&mut self, term: Term) -> Term {
        let width = self.terms.width(term);
        let op = self.terms.op(term);
        if let Op::Choose(condition, then, other) = op
            && [then, other].into_iter().all(|of| self.fits_lane(of))
        {
            let condition = self.narrowed(condition);
            let [then, other] = [then, other].map(|of| self.part(of, 0, self.bits));
            let lane = self.terms.choose(condition, then, other);
            self.terms.zero_extend(lane, width)
        } else if let Op::Not(inner) = op
            && width == 1
        {
            let inner = self.narrowed(inner);
            self.terms.not(inner)
        } else if let Op::Equal(a, b) = op {
            self.of_lanes(term, [a, b], Terms::equal)
        } else if let Op::UnsignedLess(a, b) | Op::SignedLess(a, b) = op {
            self.of_lanes(term, [a, b], Terms::unsigned_less)
        } else {
            term
        }
    }

    /// A comparison of two numbers, as one of lanes if they are such.
    fn of_lanes(&mut self, term: Term, both: [Term; 2], compare: fn(&mut Terms, Term, Term) -> Term) -> Term {
        if both.into_iter().all(|of| self.fits_lane(of)) {
            let [a, b] = both.map(|of| self.part(of, 0, self.bits));
            compare(&mut self.terms, a, b)
        } else {
            term
        }
    }

    /// Whether a term has more bits than a lane, and those above a lane are known to be zeros.
    pub(super) fn fits_lane(&mut self, term: Term) -> bool {
        let above = ones(self.terms.width(term)) & !ones(self.bits.min(self.terms.width(term)));
        above != 0 && self.fact(term).zeros() & above == above
    }

    /// A number where it is negative, else what it is negated, as what its magnitude is negated.
    fn magnitude(&mut self, term: Term, condition: Term, [then, other]: [Term; 2]) -> Term {
        let width = self.terms.width(term);
        let sign = self.terms.extract(then, width - 1, 1);
        if condition != sign || self.terms.neg(then) != other {
            return term;
        }
        let magnitude = self.terms.choose(sign, other, then);
        self.terms.neg(magnitude)
    }

    /// A comparison of signed numbers, as one of unsigned ones if neither can be negative: compilers write both.
    fn signed_compared(&mut self, term: Term, [a, b]: [Term; 2]) -> Term {
        let sign = 1 << (self.terms.width(a) - 1);
        if [a, b].into_iter().all(|of| self.fact(of).zeros() & sign != 0) {
            let term = self.terms.unsigned_less(a, b);
            return self.compared(term, [a, b], Terms::unsigned_less);
        }
        self.compared(term, [a, b], Terms::signed_less)
    }

    /// A comparison of a word with a number that only its upper bytes decide, as a comparison of these.
    fn compared(&mut self, term: Term, [a, b]: [Term; 2], less: fn(&mut Terms, Term, Term) -> Term) -> Term {
        let width = self.terms.width(a);
        // Bits that are ones in what must be less, or zeros in what must not, make no difference.
        let low = match (self.terms.value(a), self.terms.value(b)) {
            (Some(number), None) => number.trailing_ones(),
            (None, Some(number)) => number.trailing_zeros(),
            _ => return term,
        };
        let low = (low / 8 * 8).min(width.saturating_sub(8));
        if low == 0 {
            return term;
        }
        let [a, b] = [a, b].map(|of| self.part(of, low, width - low));
        less(&mut self.terms, a, b)
    }

    /// A comparison of a number with a word that is zero but for one lane, as a comparison of that lane: a lane may be
    /// compared in its place, and only some of its bits.
    fn equal(&mut self, term: Term, [a, b]: [Term; 2]) -> Term {
        let (word, number) = match (self.terms.value(a), self.terms.value(b)) {
            (Some(number), None) => (b, number),
            (None, Some(number)) => (a, number),
            _ => return term,
        };
        let (width, bits) = (self.terms.width(word), self.bits);
        if width <= bits {
            return term;
        }
        let zeros = self.fact(word).zeros();
        let is_alone = |low: &u32| {
            let others = ones(width) & !(ones(bits) << low);
            number & others == 0 && zeros & others == others
        };
        let mut lanes = (0..=width - bits).step_by(bits as usize);
        let Some(low) = lanes.find(is_alone) else { return term };
        let lane = self.part(word, low, bits);
        let number = number >> low;
        // No bit differs.
        if let Op::Xor(a, b) = self.terms.op(lane)
            && number == 0
        {
            return self.terms.equal(a, b);
        }
        let number = self.terms.constant(number, bits);
        self.terms.equal(lane, number)
    }

    /// A term under a mask that keeps whole bytes, or bits of one, as these bytes side by side, so that it is not made of
    /// the others.
    fn by_bytes(&mut self, term: Term, inner: Term, mask: Term) -> Term {
        let Some(mask) = self.terms.value(mask) else { return term };
        let width = self.terms.width(term);
        if ones(width) & !mask & !self.fact(inner).zeros() == 0 {
            return inner;
        }
        let bytes = (0..width).step_by(8).map(|at| mask >> at & 0xff);
        // The lowest bits of a word, and a bit of it, are fields of it.
        let is_field = (mask + 1).is_power_of_two() || mask.is_power_of_two();
        let is_one = !is_field && bytes.clone().filter(|&byte| byte != 0).count() == 1;
        if !width.is_multiple_of(8) || !is_one && !bytes.clone().all(|byte| matches!(byte, 0 | 0xff)) {
            return term;
        }
        let part = |(byte, at): (u128, u32)| match byte {
            0 => self.terms.constant(0, 8),
            0xff => self.terms.extract(inner, at, 8),
            _ => self.kept(inner, byte, at, 8),
        };
        let parts: Vec<Term> = bytes.zip((0..).step_by(8)).map(part).collect();
        self.terms.side_by_side(parts).unwrap_or(term)
    }

    /// A value without a term: its lanes one by one, if it has any.
    fn input(&mut self, width: u32) -> Term {
        let mut input = |width: u32| {
            self.inputs += 1;
            self.terms.input(self.inputs - 1, width)
        };
        if !width.is_multiple_of(self.bits) || width > 64 {
            return input(width);
        }
        let lanes: Vec<Term> = (0..width / self.bits).map(|_| input(self.bits)).collect();
        self.terms.side_by_side(lanes).expect("a value has a bit")
    }
}

/// Puts an element into a list in order.
fn insert<T: Ord>(list: &mut Vec<T>, element: T) {
    let at = list.partition_point(|other| *other < element);
    list.insert(at, element);
}

/// Whether a register of 32 bits has a value. What may be undefined is not read again.
fn is_home(graph: &Graph<'_, '_>, value: ValueId) -> bool {
    let entry = graph.value(value);
    entry.width == 32 && entry.register.is_some() && !matches!(entry.origin, Origin::Read(_))
}

/// Whether a register of 16 bits has a value.
fn is_narrow(graph: &Graph<'_, '_>, value: ValueId) -> bool {
    let entry = graph.value(value);
    entry.width == 16 && entry.register.is_some() && !matches!(entry.origin, Origin::Read(_))
}
