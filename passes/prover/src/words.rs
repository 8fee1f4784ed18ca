//! From words to gates: the circuit of every operation on terms.
//!
//! Words are made in the order of the cone, operands first, each once. A word is kept as its bits and, where it is
//! a sum, also as a weighted sum of literals, so that sums of sums are added in one go and in one order.

use super::aig::{Aig, Lit, Watch};
use super::canonical::{Cone, Kind, Word};
use super::compared::{Extreme, less};
use super::distance::{Distances, are_opposite, magnitude};
use super::extremes::Extremes;
use super::linear::Linear;
use super::numbers::parted;
use super::ordered::Differences;
use hashbrown::HashMap;

/// When the bits of a sum are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sums {
    /// When they are needed: a sum that is only added to others has no gates of its own.
    Late,
    /// The same, and what lies above a product is taken apart: into whole units and carries, or into lanes.
    Apart,
    /// The same, and a sum with products that is used both in parts and as a whole is a number from there on.
    Named,
    /// At once, so that a sum whose bits turn out to be those of another word counts as that word.
    AtOnce,
}

/// How many distances are put into one sum.
const MOST_DISTANCES: usize = 16;

pub(super) struct Circuit<'c, W> {
    pub(super) graph: Aig<W>,
    pub(super) cone: &'c Cone,
    sums: Sums,
    bits: Vec<Option<Vec<Lit>>>,
    /// The sums that words were made as.
    pub(super) linear: Vec<Option<Linear>>,
    /// Sums by their bits without the copies of the highest; the first that was made stands for all.
    named: HashMap<Vec<Lit>, Linear>,
    distances: Distances,
    order: Order,
}

/// How words are compared.
pub(super) enum Order {
    /// By their bits.
    Bits,
    /// By their bits, and extremes of extremes are taken as extremes of all words.
    Sets(Extremes),
    /// Sums by their differences.
    Differences(Differences),
}

impl Order {
    fn extremes(&mut self) -> Option<&mut Extremes> {
        if let Self::Sets(extremes) = self { Some(extremes) } else { None }
    }
}

impl<'c, W: Watch> Circuit<'c, W> {
    /// `inputs` are the bits of the inputs of the cone.
    pub(super) fn new(graph: Aig<W>, cone: &'c Cone, inputs: &[Vec<Lit>], sums: Sums) -> Self {
        Self::with(graph, cone, inputs, sums, Order::Bits)
    }

    /// The same, with extremes of extremes as extremes of all words.
    pub(super) fn with_extremes(graph: Aig<W>, cone: &'c Cone, inputs: &[Vec<Lit>], sums: Sums) -> Self {
        Self::with(graph, cone, inputs, sums, Order::Sets(Extremes::default()))
    }

    /// The same as without extremes, with sums compared by their differences.
    pub(super) fn with_differences(graph: Aig<W>, cone: &'c Cone, inputs: &[Vec<Lit>], sums: Sums) -> Self {
        Self::with(graph, cone, inputs, sums, Order::Differences(Differences::default()))
    }

    fn with(graph: Aig<W>, cone: &'c Cone, inputs: &[Vec<Lit>], sums: Sums, order: Order) -> Self {
        let count = cone.words.len();
        let mut circuit = Self {
            graph,
            cone,
            sums,
            bits: vec![None; count],
            linear: vec![None; count],
            named: HashMap::new(),
            distances: Distances::default(),
            order,
        };
        let parted = if sums == Sums::Named { parted(cone) } else { Vec::new() };
        for (at, word) in cone.words.iter().enumerate() {
            circuit.make(at, word, inputs);
            if parted.get(at) == Some(&true) {
                circuit.name(at);
            }
            if word.kind == Kind::Choose {
                circuit.note_extreme(at, word);
            }
        }
        circuit
    }

    /// Whether all extremes of extremes are extremes of all words.
    pub(super) fn has_whole_extremes(&self) -> bool {
        if let Order::Sets(extremes) = &self.order { extremes.are_whole() } else { false }
    }

    /// The bits of a word.
    pub(super) fn bits(&mut self, at: u32) -> &[Lit] {
        let (at, apart) = (at as usize, self.takes_apart());
        let Self { graph, bits, linear, .. } = self;
        bits[at].get_or_insert_with(|| {
            let sum = linear[at].as_ref().expect("a word has bits or is a sum");
            if apart { sum.bits_within(graph) } else { sum.bits(graph) }
        })
    }

    /// The bits of two words, and the graph to put them together in.
    fn both(&mut self, a: u32, b: u32) -> (&[Lit], &[Lit], &mut Aig<W>) {
        self.bits(a);
        self.bits(b);
        let Self { graph, bits, .. } = self;
        let made = |at: u32| bits[at as usize].as_deref().expect("it was made");
        (made(a), made(b), graph)
    }

    /// Makes a sum of a word.
    fn make_sum(&mut self, at: u32) {
        if self.linear[at as usize].is_none() {
            let bits = self.bits(at).to_vec();
            let sum = self.canonical(&bits, Linear::of_bits(&bits));
            self.linear[at as usize] = Some(sum);
        }
    }

    /// A word of the cone.
    pub(super) fn word(&self, at: u32) -> Word {
        self.cone.words[at as usize]
    }

    /// The sum that a word is, if it was made as one.
    pub(super) fn known_sum(&self, at: u32) -> Option<&Linear> {
        self.linear[at as usize].as_ref()
    }

    /// A word as a sum: of other sums, or of its bits.
    pub(super) fn as_linear(&mut self, at: u32) -> Linear {
        self.make_sum(at);
        self.sum(at).clone()
    }

    /// The sum that was made of a word.
    fn sum(&self, at: u32) -> &Linear {
        self.linear[at as usize].as_ref().expect("it was made")
    }

    /// The sum that stands for all words with these bits.
    fn canonical(&mut self, bits: &[Lit], sum: Linear) -> Linear {
        if self.sums != Sums::AtOnce {
            return sum;
        }
        let mut key = bits.to_vec();
        while key.len() > 1 && key[key.len() - 1] == key[key.len() - 2] {
            key.pop();
        }
        let known = self.named.entry(key).or_insert_with(|| sum.clone());
        known.at_width(sum.width()).unwrap_or(sum)
    }

    fn make(&mut self, at: usize, word: &Word, inputs: &[Vec<Lit>]) {
        if let Some(sum) = self.as_sum(word) {
            if self.sums == Sums::AtOnce {
                let bits = sum.bits(&mut self.graph);
                let sum = self.canonical(&bits, sum);
                self.bits[at] = Some(bits);
                self.linear[at] = Some(sum);
            } else {
                self.linear[at] = Some(sum);
            }
        } else {
            self.bits[at] = Some(self.as_bits(at, word, inputs));
        }
    }

    /// Names a sum of products, or of more literals than it has bits.
    fn name(&mut self, at: usize) {
        if let Some(sum) = self.linear[at].as_ref().filter(|sum| sum.may_be_named(&self.graph))
            && let Some(named) = sum.named(&mut self.graph)
        {
            self.linear[at] = Some(named);
        }
    }

    /// Notes a word that is the smaller or the greater of two.
    fn note_extreme(&mut self, at: usize, word: &Word) {
        let Some(extreme) = Extreme::of(word, &self.cone.words) else { return };
        let at = u32::try_from(at).expect("a cone has few words");
        if let Some([smaller, greater]) = self.distances.note(at, word.width as usize, extreme) {
            let [smaller, greater] = [smaller, greater].map(|at| self.bits(at).to_vec());
            self.distances.insert(extreme, [&smaller, &greater]);
        }
    }

    /// The sum with distances in the place of differences.
    fn with_distances(&mut self, mut sum: Linear) -> Linear {
        // Bounded, since a distance may be the difference that it stands for.
        for _each in 0..MOST_DISTANCES {
            let Some((at, rest, times)) = self.distances.in_sum(&sum) else { break };
            let [a, b] = self.distances.words(at).map(|at| self.bits(at).to_vec());
            let made = self.distances.made(at, [&a, &b], &mut self.graph);
            sum = rest.plus(&made.resized(rest.width()).times_constant(times));
        }
        sum
    }

    /// The word as a sum, where its operation is one of those that sums are made with.
    fn as_sum(&mut self, word: &Word) -> Option<Linear> {
        let [a, b, _] = word.operands;
        match word.kind {
            Kind::Add => {
                self.make_sum(a);
                self.make_sum(b);
                Some(self.with_distances(self.sum(a).plus(self.sum(b))))
            }
            Kind::Mul => {
                self.make_sum(a);
                self.make_sum(b);
                if self.sum(a).may_multiply(self.sum(b)) {
                    let (x, y) = (self.sum(a).clone(), self.sum(b).clone());
                    return Some(x.times(&y, &mut self.graph));
                }
                let (x, y) = (Linear::of_bits(self.bits(a)), Linear::of_bits(self.bits(b)));
                Some(x.times(&y, &mut self.graph))
            }
            Kind::Not => self.linear[a as usize].as_ref().map(Linear::inverted),
            Kind::Extract => {
                if let Some(sign) = self.sign_of_sum(word) {
                    return Some(Linear::of_bits(&[sign]));
                }
                if let Some(upper) = self.upper_of_sums(word) {
                    return Some(upper);
                }
                let low = u32::try_from(word.low()).expect("a bit's number is small");
                if self.takes_apart() {
                    return self.apart(a, low, word.width);
                }
                let sum = self.linear[a as usize].as_ref()?;
                sum.above(low, word.width).or_else(|| sum.rising_from(low, low + word.width, &self.graph))
            }
            Kind::And => {
                let (sum, mask) = self.cone.with_constant(a, b)?;
                self.linear[sum as usize].as_ref()?.masked(mask)
            }
            Kind::ZeroExtend => self.linear[a as usize].as_ref()?.zero_extended(word.width),
            Kind::SignExtend => self.linear[a as usize].as_ref()?.sign_extended(word.width),
            Kind::Concat => {
                let low = self.cone.words[b as usize];
                if low.kind != Kind::Constant {
                    return self.side_by_side([a, b]);
                }
                Some(self.linear[a as usize].as_ref()?.raised(low.width).plus_constant(low.value))
            }
            Kind::Input
            | Kind::Constant
            | Kind::Xor
            | Kind::UnsignedDivide
            | Kind::UnsignedRemainder
            | Kind::Shl
            | Kind::Lshr
            | Kind::Ashr
            | Kind::Equal
            | Kind::UnsignedLess
            | Kind::SignedLess => None,
            Kind::Or => self.merged_sums([a, b]),
            Kind::Choose => self.chosen_sum(word),
        }
    }

    /// What was found of sums, if they are compared by their differences.
    pub(super) fn differences(&mut self) -> Option<&mut Differences> {
        if let Order::Differences(differences) = &mut self.order { Some(differences) } else { None }
    }

    /// Whether sums were compared by their differences.
    pub(super) fn has_differences(&mut self) -> bool {
        self.differences().is_some_and(|differences| differences.are_any)
    }

    /// Whether what lies above a product is taken apart.
    pub(super) fn takes_apart(&self) -> bool {
        matches!(self.sums, Sums::Apart | Sums::Named)
    }

    fn as_bits(&mut self, at: usize, word: &Word, inputs: &[Vec<Lit>]) -> Vec<Lit> {
        let [a, b, c] = word.operands;
        let width = word.width as usize;
        match word.kind {
            Kind::Input => inputs[word.number()].clone(),
            Kind::Constant => (0..width).map(|at| Lit::constant(word.value >> at & 1 == 1)).collect(),
            Kind::Not => self.bits(a).iter().map(|&bit| !bit).collect(),
            Kind::And => self.apart_in_place(a, b).unwrap_or_else(|| self.pairwise(a, b, Aig::and)),
            Kind::Or => self.pairwise(a, b, Aig::or),
            Kind::Xor => self.pairwise(a, b, Aig::xor),
            Kind::UnsignedDivide => self.divide(a, b).0,
            Kind::UnsignedRemainder => self.divide(a, b).1,
            Kind::Shl => self.shift(a, b, Shift::Left),
            Kind::Lshr => self.shift(a, b, Shift::Right),
            Kind::Ashr => self.shift(a, b, Shift::RightSigned),
            Kind::Extract => {
                let upper = self.upper_bits(a, word);
                upper.unwrap_or_else(|| self.bits(a)[word.low()..word.low() + width].to_vec())
            }
            Kind::Concat => {
                let (high, low, _) = self.both(a, b);
                [low, high].concat()
            }
            Kind::ZeroExtend => {
                let mut bits = self.bits(a).to_vec();
                bits.resize(width, Lit::FALSE);
                bits
            }
            Kind::SignExtend => {
                let mut bits = self.bits(a).to_vec();
                let sign = *bits.last().expect("a word has a bit");
                bits.resize(width, sign);
                bits
            }
            Kind::Equal => {
                let differences = self.pairwise(a, b, Aig::xor);
                let any = differences.into_iter().fold(Lit::FALSE, |any, bit| self.graph.or(any, bit));
                vec![!any]
            }
            Kind::UnsignedLess | Kind::SignedLess => {
                if let Some(less) = self.less_of_sums(word) {
                    return vec![less];
                }
                let (a, b, graph) = self.both(a, b);
                vec![less(graph, a, b, word.kind == Kind::SignedLess)]
            }
            Kind::Choose => {
                if let Some(extreme) = Extreme::of(word, &self.cone.words) {
                    return self.extreme(at, extreme);
                }
                let condition = self.bits(a)[0];
                if let Some(magnitude) = self.magnitude(condition, [b, c]) {
                    return magnitude;
                }
                let (then, otherwise, graph) = self.both(b, c);
                let pairs = then.iter().zip(otherwise);
                pairs.map(|(&then, &otherwise)| graph.choose(condition, then, otherwise)).collect()
            }
            Kind::Add | Kind::Mul => unreachable!("sums and products are made as sums"),
        }
    }

    /// The bits of a choice between a difference and its opposite which is the one that is not negative.
    fn magnitude(&mut self, condition: Lit, [then, otherwise]: [u32; 2]) -> Option<Vec<Lit>> {
        let [opposite, difference] = [then, otherwise].map(|of| self.linear[of as usize].as_ref());
        let (opposite, difference) = (opposite?, difference?);
        let difference = are_opposite(opposite, difference).then(|| difference.clone())?;
        let is_negative = |bits: &[Lit]| *bits.last().expect("a word has a bit");
        // Where both are zero, it does not matter which is chosen.
        let is_magnitude =
            condition == is_negative(self.bits(otherwise)) || condition == !is_negative(self.bits(then));
        if is_magnitude { magnitude(&difference, &mut self.graph) } else { None }
    }

    fn extreme(&mut self, at: usize, extreme: Extreme) -> Vec<Lit> {
        let [a, b] = extreme.words;
        self.bits(a);
        self.bits(b);
        let Self { graph, bits, order, .. } = self;
        let words = [a, b].map(|at| bits[at as usize].as_deref().expect("it was made"));
        let at = u32::try_from(at).expect("a cone has few words");
        match order.extremes() {
            Some(extremes) => extremes.bits(at, extreme, words, graph),
            None => extreme.bits(words, graph),
        }
    }

    /// The upper bits of an extreme, if that is what is extracted.
    fn upper_bits(&mut self, of: u32, word: &Word) -> Option<Vec<Lit>> {
        let low = u32::try_from(word.low()).expect("a bit's number is small");
        self.order.extremes()?;
        let (from, low) = self.behind_moves(of, low, word.width);
        let is_upper = low > 0 && low + word.width == self.cone.words[from as usize].width;
        let Self { graph, order, .. } = self;
        let extremes = order.extremes().filter(|_| is_upper)?;
        extremes.above(from, (low as usize, word.width as usize), graph)
    }

    fn pairwise(&mut self, a: u32, b: u32, gate: fn(&mut Aig<W>, Lit, Lit) -> Lit) -> Vec<Lit> {
        let (a, b, graph) = self.both(a, b);
        a.iter().zip(b).map(|(&a, &b)| gate(graph, a, b)).collect()
    }

    fn shift(&mut self, a: u32, amount: u32, shift: Shift) -> Vec<Lit> {
        let (mut bits, amount) = (self.bits(a).to_vec(), self.bits(amount).to_vec());
        let width = bits.len();
        let fill = match shift {
            Shift::Left | Shift::Right => Lit::FALSE,
            Shift::RightSigned => *bits.last().expect("a word has a bit"),
        };
        for (place, &by) in amount.iter().enumerate() {
            let distance = if place < 8 { 1 << place } else { width };
            bits = (0..width)
                .map(|at| {
                    let from = match shift {
                        Shift::Left => at.checked_sub(distance),
                        Shift::Right | Shift::RightSigned => Some(at + distance),
                    };
                    let moved = from.and_then(|from| bits.get(from)).copied().unwrap_or(fill);
                    self.graph.choose(by, moved, bits[at])
                })
                .collect();
        }
        bits
    }

    /// Quotient and remainder, as one divides by hand; a divisor of zero gives all ones and the dividend.
    fn divide(&mut self, a: u32, b: u32) -> (Vec<Lit>, Vec<Lit>) {
        let (a, mut b) = (self.bits(a).to_vec(), self.bits(b).to_vec());
        let width = a.len();
        b.push(Lit::FALSE);
        let mut rest = vec![Lit::FALSE; width + 1];
        let mut quotient = vec![Lit::FALSE; width];
        for at in (0..width).rev() {
            rest.rotate_right(1);
            rest[0] = a[at];
            let mut carry = Lit::TRUE;
            let mut difference = Vec::with_capacity(rest.len());
            for (&x, &y) in rest.iter().zip(&b) {
                let half = self.graph.xor(x, !y);
                difference.push(self.graph.xor(half, carry));
                carry = self.graph.majority(x, !y, carry);
            }
            quotient[at] = carry;
            for (x, less) in rest.iter_mut().zip(difference) {
                *x = self.graph.choose(carry, less, *x);
            }
        }
        rest.truncate(width);
        (quotient, rest)
    }
}

/// The direction of a shift, and what it fills with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shift {
    Left,
    Right,
    RightSigned,
}
