//! Evaluates terms on 512 vectors at a time: every bit of a term is a plane of 512 bits, every operation a few gates.
//!
//! Extraction, concatenation and extension cost nothing, gates that no output needs are left out, and a plane is reused
//! after its last use, so that a program stays in the nearest cache. The gates of sums, comparisons and shifts are the
//! textbook circuits; tests compare their results with those of [`super::concrete`].

use super::term::{Op, Term, Terms};

/// How many vectors run at a time.
pub const VECTORS: usize = 512;

/// One bit of every vector.
pub type Plane = [u64; VECTORS / 64];

/// A bit while a program is made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bit {
    Zero,
    One,
    /// What a gate gives.
    Gate(u32),
}

/// A gate; the numbers are gates, later the slots of planes.
#[derive(Clone, Copy, Debug)]
enum Gate {
    Input {
        number: u32,
        bit: u32,
    },
    Not(u32),
    And(u32, u32),
    Or(u32, u32),
    Xor(u32, u32),
    /// The second where the first is set, else the third.
    Choose(u32, u32, u32),
}

/// Terms ready to run.
#[derive(Clone, Debug)]
pub struct WideProgram {
    /// Each gate with the slot that it writes.
    gates: Vec<(u32, Gate)>,
    slots: Vec<Plane>,
    /// For each output its bits, the lowest first: slots.
    outputs: Vec<Vec<u32>>,
}

impl WideProgram {
    /// Makes a program that computes `outputs`.
    #[must_use]
    pub fn compile(terms: &Terms, outputs: &[Term]) -> Self {
        let mut gates = Gates::default();
        let mut values: Vec<Vec<Bit>> = Vec::new();
        let last = outputs.iter().map(|output| output.index() + 1).max().unwrap_or(0);
        for term in terms.iter().take(last) {
            let value = gates.term(terms, term, &values);
            values.push(value);
        }
        let outputs = outputs.iter().map(|output| gates.materialised(&values[output.index()])).collect();
        place(&gates.list, outputs)
    }

    /// How many gates it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.gates.len()
    }

    /// Whether it has no gates.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.gates.is_empty()
    }

    /// Computes all outputs of [`VECTORS`] vectors; `inputs` has for each number the planes of its bits.
    ///
    /// # Panics
    ///
    /// If an input that the program reads is missing.
    pub fn run(&mut self, inputs: &[Vec<Plane>]) {
        let Self { gates, slots, .. } = self;
        for &(slot, gate) in &*gates {
            let at = |slot: u32| &slots[slot as usize];
            slots[slot as usize] = match gate {
                Gate::Input { number, bit } => inputs[number as usize][bit as usize],
                Gate::Not(a) => pair(at(a), at(a), |a, _same| !a),
                Gate::And(a, b) => pair(at(a), at(b), |a, b| a & b),
                Gate::Or(a, b) => pair(at(a), at(b), |a, b| a | b),
                Gate::Xor(a, b) => pair(at(a), at(b), |a, b| a ^ b),
                Gate::Choose(c, a, b) => {
                    let (c, a, b) = (at(c), at(a), at(b));
                    std::array::from_fn(|word| (a[word] ^ b[word]) & c[word] ^ b[word])
                }
            };
        }
    }

    /// The planes of an output after a run, the lowest bit first.
    pub fn output(&self, number: usize) -> impl ExactSizeIterator<Item = &Plane> {
        self.outputs[number].iter().map(|&slot| &self.slots[slot as usize])
    }
}

#[inline]
fn pair(a: &Plane, b: &Plane, op: impl Fn(u64, u64) -> u64) -> Plane {
    std::array::from_fn(|word| op(a[word], b[word]))
}

/// The planes of up to [`VECTORS`] numbers of `width` bits.
#[must_use]
pub fn planes(values: &[u128], width: u32) -> Vec<Plane> {
    let mut planes = vec![Plane::default(); width as usize];
    for (index, value) in values.iter().take(VECTORS).enumerate() {
        for (bit, plane) in planes.iter_mut().enumerate() {
            plane[index / 64] |= u64::from(value >> bit & 1 == 1) << (index % 64);
        }
    }
    planes
}

/// The number of one vector.
#[must_use]
pub fn number<'p>(planes: impl Iterator<Item = &'p Plane>, vector: usize) -> u128 {
    let bit = |plane: &Plane| u128::from(plane[vector / 64] >> (vector % 64) & 1);
    planes.enumerate().fold(0, |number, (place, plane)| number | bit(plane) << place)
}

/// Keeps the gates that outputs need, and gives each a slot that no other live gate uses.
fn place(gates: &[Gate], mut outputs: Vec<Vec<u32>>) -> WideProgram {
    const NEVER: usize = usize::MAX;
    let mut last_use = vec![None; gates.len()];
    outputs.iter().flatten().for_each(|&gate| last_use[gate as usize] = Some(NEVER));
    for (at, gate) in gates.iter().enumerate().rev() {
        if last_use[at].is_some() {
            for child in children(*gate).into_iter().flatten() {
                last_use[child as usize].get_or_insert(at);
            }
        }
    }
    let mut slots = vec![0; gates.len()];
    let (mut free, mut count, mut kept) = (Vec::new(), 0, Vec::new());
    for (at, &gate) in gates.iter().enumerate().filter(|&(at, _)| last_use[at].is_some()) {
        let read = rename(gate, &slots);
        let children = children(gate);
        for (before, child) in children.iter().enumerate() {
            if let &Some(gate) = child
                && last_use[gate as usize] == Some(at)
                && !children[..before].contains(child)
            {
                free.push(slots[gate as usize]);
            }
        }
        slots[at] = free.pop().unwrap_or_else(|| {
            count += 1;
            count - 1
        });
        kept.push((slots[at], read));
    }
    outputs.iter_mut().flatten().for_each(|gate| *gate = slots[*gate as usize]);
    WideProgram { gates: kept, slots: vec![Plane::default(); count as usize], outputs }
}

fn children(gate: Gate) -> [Option<u32>; 3] {
    match gate {
        Gate::Input { .. } => [None; 3],
        Gate::Not(a) => [Some(a), None, None],
        Gate::And(a, b) | Gate::Or(a, b) | Gate::Xor(a, b) => [Some(a), Some(b), None],
        Gate::Choose(c, a, b) => [Some(c), Some(a), Some(b)],
    }
}

fn rename(gate: Gate, slots: &[u32]) -> Gate {
    let at = |gate: u32| slots[gate as usize];
    match gate {
        Gate::Input { .. } => gate,
        Gate::Not(a) => Gate::Not(at(a)),
        Gate::And(a, b) => Gate::And(at(a), at(b)),
        Gate::Or(a, b) => Gate::Or(at(a), at(b)),
        Gate::Xor(a, b) => Gate::Xor(at(a), at(b)),
        Gate::Choose(c, a, b) => Gate::Choose(at(c), at(a), at(b)),
    }
}

/// Gates being made of terms.
#[derive(Default)]
struct Gates {
    list: Vec<Gate>,
}

impl Gates {
    fn add(&mut self, gate: Gate) -> Bit {
        self.list.push(gate);
        Bit::Gate(u32::try_from(self.list.len() - 1).expect("memory ends before the numbers of gates"))
    }

    fn not(&mut self, a: Bit) -> Bit {
        match a {
            Bit::Zero => Bit::One,
            Bit::One => Bit::Zero,
            Bit::Gate(a) => self.add(Gate::Not(a)),
        }
    }

    fn and(&mut self, a: Bit, b: Bit) -> Bit {
        match (a, b) {
            (Bit::Zero, _) | (_, Bit::Zero) => Bit::Zero,
            (Bit::One, other) | (other, Bit::One) => other,
            (Bit::Gate(a), Bit::Gate(b)) if a == b => Bit::Gate(a),
            (Bit::Gate(a), Bit::Gate(b)) => self.add(Gate::And(a, b)),
        }
    }

    fn or(&mut self, a: Bit, b: Bit) -> Bit {
        match (a, b) {
            (Bit::One, _) | (_, Bit::One) => Bit::One,
            (Bit::Zero, other) | (other, Bit::Zero) => other,
            (Bit::Gate(a), Bit::Gate(b)) if a == b => Bit::Gate(a),
            (Bit::Gate(a), Bit::Gate(b)) => self.add(Gate::Or(a, b)),
        }
    }

    fn xor(&mut self, a: Bit, b: Bit) -> Bit {
        match (a, b) {
            (Bit::Zero, other) | (other, Bit::Zero) => other,
            (Bit::One, other) | (other, Bit::One) => self.not(other),
            (Bit::Gate(a), Bit::Gate(b)) if a == b => Bit::Zero,
            (Bit::Gate(a), Bit::Gate(b)) => self.add(Gate::Xor(a, b)),
        }
    }

    fn choose(&mut self, condition: Bit, then: Bit, otherwise: Bit) -> Bit {
        match (condition, then, otherwise) {
            (Bit::One, _, _) => then,
            (Bit::Zero, _, _) => otherwise,
            (_, then, otherwise) if then == otherwise => then,
            (_, Bit::One, _) => self.or(condition, otherwise),
            (_, _, Bit::Zero) => self.and(condition, then),
            (_, Bit::Zero, _) => {
                let off = self.not(condition);
                self.and(off, otherwise)
            }
            (_, _, Bit::One) => {
                let off = self.not(condition);
                self.or(off, then)
            }
            (Bit::Gate(c), Bit::Gate(a), Bit::Gate(b)) => self.add(Gate::Choose(c, a, b)),
        }
    }

    /// The gates of the bits; a constant is made of gate 0, or of a new input if there is no gate yet.
    fn materialised(&mut self, bits: &[Bit]) -> Vec<u32> {
        bits.iter()
            .map(|&bit| match bit {
                Bit::Gate(gate) => gate,
                Bit::Zero | Bit::One => {
                    let any = match self.list.len() {
                        0 => self.add(Gate::Input { number: 0, bit: 0 }),
                        _ => Bit::Gate(0),
                    };
                    let Bit::Gate(any) = any else { unreachable!("a gate has just been added") };
                    let same = if bit == Bit::Zero {
                        Gate::Xor(any, any)
                    } else {
                        let Bit::Gate(off) = self.add(Gate::Not(any)) else { unreachable!("likewise") };
                        Gate::Or(any, off)
                    };
                    self.list.push(same);
                    u32::try_from(self.list.len() - 1).expect("memory ends before the numbers of gates")
                }
            })
            .collect()
    }

    /// `a + b + carry`, as wide as they are.
    fn sum(&mut self, a: &[Bit], b: &[Bit], mut carry: Bit) -> Vec<Bit> {
        let mut sum = Vec::with_capacity(a.len());
        for (&a, &b) in a.iter().zip(b) {
            let differ = self.xor(a, b);
            sum.push(self.xor(differ, carry));
            carry = self.choose(differ, carry, a);
        }
        sum
    }

    fn inverted(&mut self, a: &[Bit]) -> Vec<Bit> {
        a.iter().map(|&a| self.not(a)).collect()
    }

    fn product(&mut self, a: &[Bit], b: &[Bit]) -> Vec<Bit> {
        let mut total = vec![Bit::Zero; a.len()];
        for (place, &factor) in b.iter().enumerate().filter(|&(_, &factor)| factor != Bit::Zero) {
            let row: Vec<Bit> = a[..a.len() - place].iter().map(|&a| self.and(a, factor)).collect();
            let sum = self.sum(&total[place..], &row, Bit::Zero);
            total[place..].copy_from_slice(&sum);
        }
        total
    }

    /// Whether the first is less, both unsigned: the borrow of their difference.
    fn less(&mut self, a: &[Bit], b: &[Bit]) -> Bit {
        a.iter().zip(b).fold(Bit::Zero, |borrow, (&a, &b)| {
            let differ = self.xor(a, b);
            self.choose(differ, b, borrow)
        })
    }

    fn equal(&mut self, a: &[Bit], b: &[Bit]) -> Bit {
        let differs = a.iter().zip(b).fold(Bit::Zero, |differs, (&a, &b)| {
            let here = self.xor(a, b);
            self.or(differs, here)
        });
        self.not(differs)
    }

    fn choice(&mut self, condition: Bit, then: &[Bit], otherwise: &[Bit]) -> Vec<Bit> {
        then.iter()
            .zip(otherwise)
            .map(|(&then, &otherwise)| self.choose(condition, then, otherwise))
            .collect()
    }

    /// Shifted towards the lowest bit, filled from above; amounts from the width on give only the fill.
    fn shifted_down(&mut self, value: &[Bit], amount: &[Bit], fill: Bit) -> Vec<Bit> {
        let mut value = value.to_vec();
        let mut large = Bit::Zero;
        for (place, &bit) in amount.iter().enumerate() {
            match 1_usize.checked_shl(u32::try_from(place).unwrap_or(u32::MAX)).filter(|&by| by < value.len())
            {
                Some(by) => {
                    let moved: Vec<Bit> =
                        (0..value.len()).map(|at| value.get(at + by).copied().unwrap_or(fill)).collect();
                    value = self.choice(bit, &moved, &value);
                }
                None => large = self.or(large, bit),
            }
        }
        let filled = vec![fill; value.len()];
        self.choice(large, &filled, &value)
    }

    /// Quotient and remainder, by long division; a divisor of zero gives ones and the dividend.
    fn division(&mut self, a: &[Bit], b: &[Bit]) -> (Vec<Bit>, Vec<Bit>) {
        let (mut quotient, mut rest) = (vec![Bit::Zero; a.len()], vec![Bit::Zero; a.len() + 1]);
        let divisor: Vec<Bit> = b.iter().copied().chain([Bit::Zero]).collect();
        let negated = self.inverted(&divisor);
        for place in (0..a.len()).rev() {
            rest.rotate_right(1);
            rest[0] = a[place];
            let below = self.less(&rest, &divisor);
            let difference = self.sum(&rest, &negated, Bit::One);
            rest = self.choice(below, &rest.clone(), &difference);
            quotient[place] = self.not(below);
        }
        rest.truncate(a.len());
        (quotient, rest)
    }

    /// The bits of a term, the lowest first.
    fn term(&mut self, terms: &Terms, term: Term, values: &[Vec<Bit>]) -> Vec<Bit> {
        let at = |term: Term| values[term.index()].as_slice();
        let width = terms.width(term) as usize;
        match terms.op(term) {
            Op::Input(number) => {
                (0..terms.width(term)).map(|bit| self.add(Gate::Input { number, bit })).collect()
            }
            Op::Constant(value) => {
                (0..width).map(|bit| if value >> bit & 1 == 1 { Bit::One } else { Bit::Zero }).collect()
            }
            Op::Not(a) => self.inverted(at(a)),
            Op::And(a, b) => at(a).iter().zip(at(b)).map(|(&a, &b)| self.and(a, b)).collect(),
            Op::Or(a, b) => at(a).iter().zip(at(b)).map(|(&a, &b)| self.or(a, b)).collect(),
            Op::Xor(a, b) => at(a).iter().zip(at(b)).map(|(&a, &b)| self.xor(a, b)).collect(),
            Op::Add(a, b) => self.sum(at(a), at(b), Bit::Zero),
            Op::Mul(a, b) => self.product(at(a), at(b)),
            Op::UnsignedDivide(a, b) => self.division(at(a), at(b)).0,
            Op::UnsignedRemainder(a, b) => self.division(at(a), at(b)).1,
            Op::Shl(a, b) => {
                let mut mirrored = at(a).to_vec();
                mirrored.reverse();
                let mut result = self.shifted_down(&mirrored, at(b), Bit::Zero);
                result.reverse();
                result
            }
            Op::Lshr(a, b) => self.shifted_down(at(a), at(b), Bit::Zero),
            Op::Ashr(a, b) => self.shifted_down(at(a), at(b), at(a)[width - 1]),
            Op::Extract(a, low) => at(a)[low as usize..low as usize + width].to_vec(),
            Op::Concat(high, low) => [at(low), at(high)].concat(),
            Op::ZeroExtend(a) => extended(at(a), width, Bit::Zero),
            Op::SignExtend(a) => extended(at(a), width, at(a)[at(a).len() - 1]),
            Op::Equal(a, b) => vec![self.equal(at(a), at(b))],
            Op::UnsignedLess(a, b) => vec![self.less(at(a), at(b))],
            Op::SignedLess(a, b) => {
                // With the sign bits of both exchanged, signed order is unsigned order.
                let (mut x, mut y) = (at(a).to_vec(), at(b).to_vec());
                let top = x.len() - 1;
                std::mem::swap(&mut x[top], &mut y[top]);
                vec![self.less(&x, &y)]
            }
            Op::Choose(condition, then, otherwise) => self.choice(at(condition)[0], at(then), at(otherwise)),
        }
    }
}

fn extended(bits: &[Bit], width: usize, fill: Bit) -> Vec<Bit> {
    (0..width).map(|at| bits.get(at).copied().unwrap_or(fill)).collect()
}
