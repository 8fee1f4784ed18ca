//! Sums: a word as a weighted sum of literals, which is the same however the sum was bracketed and ordered.
//!
//! A word of bits is the sum of its bits with powers of two for weights; sums add weights, products multiply them and
//! make conjunctions of the literals. All of it is arithmetic of integers modulo a power of two, where a complement
//! is one less the literal. One adder then makes the bits, from a form that does not depend on how the sum was
//! written: `a + b + c` in any order, `b * a`, `(a + b) * c` and `a * c + b * c` become the same gates.

use super::aig::{Aig, Gate, Lit, Watch};
use super::bounds::bounds;
use ptxopt_grammar::meaning::term::{ones, signed};

/// How many bits below those in question are looked at.
const MOST_BELOW: u32 = 48;

/// The widest words that are extended as sums, whose weights then stay numbers of 128 bits.
const WIDEST_EXTENDED: u32 = 100;

/// The most products of two literals that a product of sums is taken apart into: a sum of sixteen bytes and a word, times a
/// word, has 5120.
const MOST_PRODUCTS: usize = 5400;

/// A constant and weighted literals, modulo a power of two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Linear {
    pub(super) width: u32,
    pub(super) constant: u128,
    /// Nodes in ascending order, none inverted, with weights that are not zero.
    pub(super) weights: Vec<(u32, u128)>,
}

impl Linear {
    pub(super) fn of_bits(bits: &[Lit]) -> Self {
        let width = u32::try_from(bits.len()).expect("a word has at most 128 bits");
        let terms = bits.iter().enumerate().map(|(at, &bit)| (bit, 1 << at));
        Self::collect(width, 0, terms)
    }

    /// The sum of a constant and weighted literals.
    pub(super) fn collect(width: u32, constant: u128, terms: impl Iterator<Item = (Lit, u128)>) -> Self {
        let mut constant = constant;
        let mut weights = Vec::with_capacity(terms.size_hint().0);
        for (lit, weight) in terms {
            if lit.inverted() {
                constant = constant.wrapping_add(weight);
            }
            if !lit.is_constant() {
                weights.push((lit.node(), if lit.inverted() { weight.wrapping_neg() } else { weight }));
            }
        }
        weights.sort_by_key(|&(node, _)| node);
        weights.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 = kept.1.wrapping_add(next.1);
            }
            same
        });
        Self { width, constant, weights }.reduced()
    }

    fn reduced(mut self) -> Self {
        let mask = ones(self.width);
        self.constant &= mask;
        self.weights.retain_mut(|(_, weight)| {
            *weight &= mask;
            *weight != 0
        });
        self
    }

    fn terms(&self) -> impl Iterator<Item = (Lit, u128)> {
        self.weights.iter().map(|&(node, weight)| (Lit::new(node, false), weight))
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        let mut weights = Vec::with_capacity(self.len() + other.len());
        let (mut a, mut b) = (self.weights.iter().peekable(), other.weights.iter().peekable());
        while let (Some(&&x), Some(&&y)) = (a.peek(), b.peek()) {
            let weight = if x.0 == y.0 {
                x.1.wrapping_add(y.1)
            } else if x.0 < y.0 {
                x.1
            } else {
                y.1
            };
            weights.push((x.0.min(y.0), weight));
            a.next_if(|_| x.0 <= y.0);
            b.next_if(|_| y.0 <= x.0);
        }
        weights.extend(a.chain(b));
        let constant = self.constant.wrapping_add(other.constant);
        Self { width: self.width, constant, weights }.reduced()
    }

    pub(super) fn times_constant(&self, factor: u128) -> Self {
        let mut product = self.clone();
        product.constant = product.constant.wrapping_mul(factor);
        product.weights.iter_mut().for_each(|(_, weight)| *weight = weight.wrapping_mul(factor));
        product.reduced()
    }

    /// One less than zero less the word: all of its bits inverted.
    pub(super) fn inverted(&self) -> Self {
        let mut inverted = self.times_constant(u128::MAX);
        inverted.constant = inverted.constant.wrapping_sub(1);
        inverted.reduced()
    }

    pub(super) fn width(&self) -> u32 {
        self.width
    }

    pub(super) fn plus_constant(mut self, constant: u128) -> Self {
        self.constant = self.constant.wrapping_add(constant);
        self.reduced()
    }

    /// The same number, signed, in a word of another width, if it is known to fit.
    pub(super) fn at_width(&self, width: u32) -> Option<Self> {
        if width <= self.width { Some(self.cut(width)) } else { self.sign_extended(width) }
    }

    /// The word with room for as many zeros as it is wider below it.
    pub(super) fn raised(&self, by: u32) -> Self {
        Self { width: self.width + by, ..self.clone() }.times_constant(1 << by)
    }

    /// The constant and the weights of the literals as signed numbers.
    pub(super) fn integers(&self) -> (i128, Vec<(u32, i128)>) {
        let weights = self.weights.iter().map(|&(node, weight)| (node, signed(weight, self.width)));
        (signed(self.constant, self.width), weights.collect())
    }

    /// What is left of the sum without another one, which is read as a signed number and is in it so many times; `None` if
    /// it is not in it as a whole.
    pub(super) fn without(&self, other: &Self) -> Option<(Self, u128)> {
        let is_one = |weight: u128| signed(weight, other.width).unsigned_abs() == 1;
        let &(node, sign) = other.weights.iter().find(|&&(_, weight)| is_one(weight))?;
        let place = self.weights.binary_search_by_key(&node, |&(node, _)| node).ok()?;
        let sign = signed(sign, other.width).cast_unsigned();
        let times = self.weights[place].1.wrapping_mul(sign);
        let other = other.resized(self.width);
        let rest = self.plus(&other.times_constant(times.wrapping_neg()));
        (rest.len() + other.len() == self.len()).then_some((rest, times))
    }

    /// The same signed numbers, in a word of another width.
    pub(super) fn resized(&self, width: u32) -> Self {
        let (constant, weights) = self.integers();
        let weights = weights.into_iter().map(|(node, weight)| (node, weight.cast_unsigned())).collect();
        Self { width, constant: constant.cast_unsigned(), weights }.reduced()
    }

    /// The bits of two unsigned words whose difference it is, the first less the second, if all of their differences are
    /// signed numbers of its width.
    pub(super) fn ends(&self) -> Option<[Vec<Lit>; 2]> {
        let ends = ends(self.terms().map(|(lit, weight)| (lit, signed(weight, self.width))))?;
        let fits = |end: &Vec<Lit>| end.len() < self.width as usize;
        (self.constant == 0 && ends.iter().all(fits)).then_some(ends)
    }

    /// Whether it is a word of literals, some inverted, and constant bits, each in a place of its own.
    pub(super) fn is_plain(&self) -> bool {
        let highest = 1 << (self.width - 1);
        let mut places = 0;
        let mut constant = self.constant;
        for &(_, weight) in &self.weights {
            let weight = signed(weight, self.width);
            let place = weight.unsigned_abs();
            if !place.is_power_of_two() || places & place != 0 {
                return false;
            }
            places |= place;
            // One that is inverted is its place less the literal; in the highest place that is the same as the sum of both.
            let is_inverted = weight < 0 && (place != highest || self.constant & highest != 0);
            constant = constant.wrapping_sub(if is_inverted { place } else { 0 });
        }
        constant & ones(self.width) & places == 0
    }

    /// How many literals it has.
    pub(super) fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether a product of the two is small enough to be taken apart.
    pub(super) fn may_multiply(&self, other: &Self) -> bool {
        self.len() * other.len() <= MOST_PRODUCTS
    }

    pub(super) fn times<W: Watch>(&self, other: &Self, graph: &mut Aig<W>) -> Self {
        let mut terms = Vec::with_capacity(self.len() * other.len());
        for (a, weight) in self.terms() {
            for (b, factor) in other.terms() {
                let weight = weight.wrapping_mul(factor) & ones(self.width);
                if weight != 0 {
                    terms.push((graph.and(a, b), weight));
                }
            }
        }
        terms.extend(self.terms().map(|(lit, weight)| (lit, weight.wrapping_mul(other.constant))));
        terms.extend(other.terms().map(|(lit, weight)| (lit, weight.wrapping_mul(self.constant))));
        Self::collect(self.width, self.constant.wrapping_mul(other.constant), terms.into_iter())
    }

    /// The lowest bits.
    pub(super) fn cut(&self, width: u32) -> Self {
        Self { width, ..self.clone() }.reduced()
    }

    /// The unsigned number in a wider word, if the sum is known to fit.
    pub(super) fn zero_extended(&self, width: u32) -> Option<Self> {
        self.extended(width, 0, 1_i128.checked_shl(self.width)?)
    }

    /// The signed number in a wider word, if the sum is known to fit.
    pub(super) fn sign_extended(&self, width: u32) -> Option<Self> {
        let half = 1_i128.checked_shl(self.width - 1).filter(|_| self.width <= WIDEST_EXTENDED)?;
        self.extended(width, -half, half)
    }

    /// The sum as an integer from `low` to below `high`, if all of its values are there for some choice of signs.
    fn extended(&self, width: u32, low: i128, high: i128) -> Option<Self> {
        if self.width > WIDEST_EXTENDED || self.weights.len() > 1000 {
            return None;
        }
        let half = 1_i128 << (self.width - 1);
        let exact = |weight: u128| match signed(weight, self.width) {
            // Half of the range counts up or down; up is what an unsigned word has at its top.
            weight if weight == -half && low == 0 => half,
            weight => weight,
        };
        let weights: Vec<(u32, i128)> =
            self.weights.iter().map(|&(node, weight)| (node, exact(weight))).collect();
        let least: i128 = weights.iter().map(|&(_, weight)| weight.min(0)).sum();
        let most: i128 = weights.iter().map(|&(_, weight)| weight.max(0)).sum();
        let modulus = 1_i128 << self.width;
        let constant = low + (self.constant.cast_signed() + least - low).rem_euclid(modulus) - least;
        if constant + most >= high {
            return None;
        }
        let weights = weights.into_iter().map(|(node, weight)| (node, weight.cast_unsigned())).collect();
        Some(Self { width, constant: constant.cast_unsigned(), weights }.reduced())
    }

    /// The bits from `low` to below `high` as a sum, if what is below them is known to carry or borrow nothing.
    pub(super) fn rising_from<W: Watch>(&self, low: u32, high: u32, graph: &Aig<W>) -> Option<Self> {
        let is_looked_at = self.width <= 64 && low <= MOST_BELOW;
        if is_looked_at { Some(self.parted(low, graph)?.1.cut(high - low)) } else { None }
    }

    /// What is below a bit, which is known to carry or borrow nothing, and the bits from there upwards.
    fn parted<W: Watch>(&self, low: u32, graph: &Aig<W>) -> Option<(Bounded, Self)> {
        let unit = 1_i128 << low;
        let (mut above, mut below) = (Vec::new(), Vec::new());
        for &(node, weight) in &self.weights {
            let weight = signed(weight, self.width);
            match (weight / unit, weight % unit) {
                (units, 0) => above.push((node, units.cast_unsigned())),
                (0, rest) => below.push((node, rest)),
                (_, _) => return None,
            }
        }
        let constant = signed(self.constant, self.width);
        let below = Bounded::of(below, constant, low, graph)?;
        let units = ((constant - below.constant) / unit).cast_unsigned();
        Some((below, Self { width: self.width - low, constant: units, weights: above }.reduced()))
    }

    /// The sum as one that is known to be neither negative nor to leave its word.
    fn bounded<W: Watch>(&self, graph: &Aig<W>) -> Option<Bounded> {
        let half = 1_i128.checked_shl(self.width - 1)?;
        // Half of the range counts up or down.
        let up = |(node, weight)| (node, if weight == -half { half } else { weight });
        let (constant, weights) = self.integers();
        Bounded::of(weights.into_iter().map(up).collect(), constant, self.width, graph)
    }

    /// A word of one sum or of two in its halves, as the bits of the numbers that they are; `None` if they may have more
    /// bits than numbers have.
    pub(super) fn named<W: Watch>(&self, graph: &mut Aig<W>) -> Option<Self> {
        let halves = if self.width == 32 { self.parted(16, graph) } else { None };
        let parts = match halves {
            Some((low, high)) => vec![(low, 0), (high.bounded(graph)?, 16)],
            None => vec![(self.bounded(graph)?, 0)],
        };
        let (mut constant, mut named) = (0_u128, Vec::with_capacity(32));
        for (sum, place) in parts {
            let Named { bits, times, more } = sum.named(graph)?;
            constant += more << place;
            named.extend(bits.into_iter().zip(place..).map(|(bit, at)| (bit, times << at)));
        }
        Some(Self::collect(self.width, constant, named.into_iter()))
    }

    /// Whether it pays to name it: it is a sum of products, or of more literals than the number has bits.
    pub(super) fn may_be_named<W: Watch>(&self, graph: &Aig<W>) -> bool {
        self.has_products(graph) || self.weights.len() > self.width_of_number()
    }

    /// How many bits the sum has at most once it is divided by what all weights have in common; more than it really has
    /// where weights are negative.
    fn width_of_number(&self) -> usize {
        let times = self.weights.iter().fold(0, |times, &(_, weight)| gcd(times, weight)).max(1);
        let most: u128 = self.weights.iter().map(|(_, weight)| weight / times).fold(0, u128::saturating_add);
        (u128::BITS - most.leading_zeros()) as usize
    }

    /// Whether some of its literals are no bits of inputs.
    pub(super) fn has_products<W: Watch>(&self, graph: &Aig<W>) -> bool {
        self.weights.iter().any(|&(node, _)| matches!(graph.gates()[node as usize], Gate::And(..)))
    }

    /// The lowest bits with zeros above them, if the sum of what is in them is known to fit.
    pub(super) fn masked(&self, mask: u128) -> Option<Self> {
        let kept = mask.trailing_ones();
        let whole = kept > 0 && kept < self.width && mask == ones(kept);
        if whole { self.cut(kept).zero_extended(self.width) } else { None }
    }

    /// The bits of the sum, where those above its greatest value are known to be zeros if it is a sum of products.
    pub(super) fn bits_within<W: Watch>(&self, graph: &mut Aig<W>) -> Vec<Lit> {
        let mut bits = self.cut(self.width_within(graph)).bits(graph);
        bits.resize(self.width as usize, Lit::FALSE);
        bits
    }

    /// How many bits the sum has at most, if it is a sum of products, and otherwise how many the word has.
    pub(super) fn width_within<W: Watch>(&self, graph: &Aig<W>) -> u32 {
        let is_looked_at = self.width <= 64 && self.has_products(graph);
        let bounded = if is_looked_at { self.bounded(graph) } else { None };
        bounded.map_or(self.width, |sum| self.width.min(u128::BITS - sum.most.leading_zeros()))
    }

    /// The bits of the sum.
    pub(super) fn bits<W: Watch>(&self, graph: &mut Aig<W>) -> Vec<Lit> {
        let digits = self.digits();
        let mut digits = digits.iter().copied().peekable();
        let mut bits = Vec::with_capacity(self.width as usize);
        let (mut column, mut carries) = (Vec::new(), Vec::new());
        for place in 0..self.width {
            column.clear();
            std::mem::swap(&mut column, &mut carries);
            while let Some((_, lit)) = digits.next_if(|&(at, _)| at == place) {
                column.push(lit);
            }
            column.sort_unstable();
            bits.push(add_column(graph, &mut column, &mut carries));
        }
        bits
    }

    /// The literals to add, each with its place, in the order of the places. Negative digits are complements.
    fn digits(&self) -> Vec<(u32, Lit)> {
        let mut all = Vec::with_capacity(self.weights.len() + self.width as usize);
        let mut constant = self.constant;
        let mut add = |mut digits: u128, lit| {
            while digits != 0 {
                all.push((digits.trailing_zeros(), lit));
                digits &= digits - 1;
            }
        };
        for &(node, weight) in &self.weights {
            // Of the weight and its negative the one with fewer digits, the positive one if they have the same.
            let negative = weight.wrapping_neg() & ones(self.width);
            let (up, down) = signed_digits(weight, self.width);
            let fewest = weight.count_ones().min(negative.count_ones());
            if up.count_ones() + down.count_ones() < fewest {
                // Lanes that share a literal stay apart: `x << 24` less `x << 8` are two digits.
                constant = constant.wrapping_sub(down);
                add(up, Lit::new(node, false));
                add(down, Lit::new(node, true));
            } else if negative.count_ones() < weight.count_ones() {
                // In each place `-x` is `!x - 1`.
                constant = constant.wrapping_sub(negative);
                add(negative, Lit::new(node, true));
            } else {
                add(weight, Lit::new(node, false));
            }
        }
        add(constant & ones(self.width), Lit::TRUE);
        all.sort_unstable();
        all
    }
}

/// The bits of the two unsigned words whose difference a sum of weighted literals is, if no bit is there twice.
pub(super) fn ends(literals: impl Iterator<Item = (Lit, i128)>) -> Option<[Vec<Lit>; 2]> {
    let mut ends = [Vec::new(), Vec::new()];
    for (lit, weight) in literals {
        let (end, place) = (&mut ends[usize::from(weight < 0)], weight.unsigned_abs());
        let at = place.trailing_zeros() as usize;
        end.resize(end.len().max(at + 1), Lit::FALSE);
        if !place.is_power_of_two() || end[at] != Lit::FALSE {
            return None;
        }
        end[at] = lit;
    }
    Some(ends)
}

/// A sum that has all of its values in a word.
struct Bounded {
    weights: Vec<(u32, i128)>,
    constant: i128,
    least: u128,
    most: u128,
}

impl Bounded {
    /// The sum with that of the constants, equal but for what a word cannot hold, with which it stays in the word.
    fn of<W: Watch>(weights: Vec<(u32, i128)>, constant: i128, width: u32, graph: &Aig<W>) -> Option<Self> {
        let unit = 1_i128.checked_shl(width)?;
        let (low, high) = bounds(&weights, graph)?;
        let constant = (constant + low).rem_euclid(unit) - low;
        let [least, most] = [low, high].map(|bound| u128::try_from(constant + bound));
        let (least, most) = (least.ok()?, most.ok()?);
        (most < unit.cast_unsigned()).then_some(Self { weights, constant, least, most })
    }

    /// The number by which the sum is greater than its least value, without what all weights have in common: what is added
    /// to a sum, and what it is multiplied by, make no other number of it.
    fn named<W: Watch>(self, graph: &mut Aig<W>) -> Option<Named> {
        let constant = self.constant - self.least.cast_signed();
        let all = self.weights.iter().map(|&(_, weight)| weight).chain([constant]);
        let times = all.fold(0, |times, weight| gcd(times, weight.unsigned_abs())).max(1);
        let most = u16::try_from((self.most - self.least) / times).ok()?;
        let width = u16::BITS - most.leading_zeros();
        let parts = |weight: i128| (weight / times.cast_signed()).cast_unsigned();
        let weights = self.weights.into_iter().map(|(node, weight)| (node, parts(weight))).collect();
        let sum = Linear { width, constant: parts(constant), weights };
        let bits = sum.reduced().bits(graph);
        Some(Named { bits: graph.named(bits, most), times, more: self.least })
    }
}

/// A sum as a number: its bits, what it is multiplied by, and what is added then.
struct Named {
    bits: Vec<Lit>,
    times: u128,
    more: u128,
}

/// The greatest number that two are multiples of; of zero and another one it is that one.
pub(super) fn gcd(one: u128, other: u128) -> u128 {
    let (mut one, mut other) = (one, other);
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

/// A weight as powers of two to add and to subtract, no two of them neighbours: the fewest that there can be.
pub(super) fn signed_digits(weight: u128, width: u32) -> (u128, u128) {
    let (mut rest, mut up, mut down) = (signed(weight, width), 0, 0);
    for place in 0..width {
        match rest & 3 {
            1 => (up, rest) = (up | 1 << place, rest - 1),
            3 => (down, rest) = (down | 1 << place, rest + 1),
            _ => {}
        }
        rest >>= 1;
    }
    (up, down)
}

/// The sum of literals of the same place, modulo two; the carries are for the next place.
fn add_column<W: Watch>(graph: &mut Aig<W>, column: &mut Vec<Lit>, carries: &mut Vec<Lit>) -> Lit {
    // What is added waits behind the others for its turn.
    let mut next = 0;
    while column.len() - next > 1 {
        let (a, b) = (column[next], column[next + 1]);
        let c = column.get(next + 2).copied().unwrap_or(Lit::FALSE);
        next = column.len().min(next + 3);
        let half = graph.xor(a, b);
        column.push(graph.xor(half, c));
        let carry = graph.majority(a, b, c);
        if carry != Lit::FALSE {
            carries.push(carry);
        }
    }
    column.get(next).copied().unwrap_or(Lit::FALSE)
}
