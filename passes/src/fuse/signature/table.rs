//! The table of signatures: what SIMD video instructions compute of a fixed set of vectors.
//!
//! A signature is the results of a function for [`VECTORS`] inputs. It decides what is proposed, and proves nothing: two
//! functions with one signature may differ elsewhere, and the proof finds that. The table has each operation with each
//! sign, `.sat`, comparison and sum, of two or three words in any order, of their complements and of the numbers that
//! turn an operation into another (`-x` is `0 - x`), with the result as it is, complemented, or, for a comparison, with
//! ones in all bits of a lane. What several entries compute is there once, as the simplest of them.

use hashbrown::HashSet;
use ptxopt_grammar::meaning::term::{Term, Terms};
use ptxopt_grammar::meaning::video;
use ptxopt_grammar::meaning::wide::{self, Plane, WideProgram};
use ptxopt_grammar::video::{Form, Lanes, Sign, Simd, SimdOp, SimdThen};
use std::sync::LazyLock;

/// How many inputs a signature is about; a word has two or four lanes, so there are more pairs of lanes.
pub(super) const VECTORS: usize = 32;

/// The most words that a function is of.
pub(super) const MOST_LEAVES: usize = 3;

/// How many choices of operands are evaluated at a time.
const VARIANTS: usize = wide::VECTORS / VECTORS;

/// How many forms are evaluated by one program.
const AT_ONCE: usize = 16;

/// How many bits a result has.
const BITS: usize = 32;

/// The results for all vectors by bit: of each bit, its value for each vector. So programs give them, which evaluate
/// a bit of all vectors at a time.
pub(super) type Signature = [u32; BITS];

/// An operand of an entry; leaves are the words that a function is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operand {
    /// This leaf.
    Leaf(u8),
    /// Its complement.
    Inverted(u8),
    /// A number.
    Number(u32),
}

/// What becomes of the result of the instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum After {
    /// Nothing.
    Kept,
    /// Its complement is taken.
    Inverted,
    /// Each 1 becomes a lane of ones.
    Spread,
}

/// An instruction with operands, and what becomes of its result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    pub(super) form: Simd,
    /// `a`, `b`, and `c`, which counts only if the form adds to it.
    pub(super) operands: [Operand; 3],
    pub(super) after: After,
}

/// All entries. Their results are kept by bit, so that a search reads one column, and the others where that agrees.
pub(super) struct Table {
    entries: Vec<Entry>,
    columns: [Vec<u32>; BITS],
}

/// The table, made when it is needed first.
pub(super) static TABLE: LazyLock<Table> = LazyLock::new(Table::new);

/// The inputs: for each vector its words.
pub(super) static INPUTS: LazyLock<[[u32; MOST_LEAVES]; VECTORS]> = LazyLock::new(|| {
    let all = vectors(VECTORS, 0x5160_a7e5);
    all.try_into().expect("there are so many vectors")
});

/// The same words by bit.
static LEAVES: LazyLock<[Signature; MOST_LEAVES]> =
    LazyLock::new(|| std::array::from_fn(|leaf| by_bit(&INPUTS.map(|words| words[leaf]))));

/// Numbers for all vectors, by bit.
pub(super) fn by_bit(numbers: &[u32; VECTORS]) -> Signature {
    std::array::from_fn(|bit| numbers.iter().rev().fold(0, |plane, number| plane << 1 | number >> bit & 1))
}

/// More inputs, as planes of the bits of each word: on these, what was found is compared once more.
static MORE_INPUTS: LazyLock<Vec<Vec<Vec<Plane>>>> = LazyLock::new(|| {
    let of = |seed| {
        let all = vectors(wide::VECTORS, seed);
        let word = |leaf: usize| all.iter().map(|words| words[leaf].into()).collect::<Vec<u128>>();
        (0..MOST_LEAVES).map(|leaf| wide::planes(&word(leaf), 32)).collect()
    };
    (1..=MORE_SETS).map(of).collect()
});

/// How many sets of more inputs there are.
const MORE_SETS: u64 = 4;

/// A generator of numbers that are the same everywhere.
struct Seeded(u64);

impl Seeded {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from((self.0 >> 33) % u64::from(bound)).expect("it is below the bound")
    }
}

/// The numbers at which lanes of so many bits wrap, saturate or change their sign.
fn edges(bits: u32) -> [u32; 8] {
    let (ones, high) = ((1 << bits) - 1, 1 << (bits - 1));
    [0, 1, 2, high - 1, high, high + 1, ones - 1, ones]
}

/// How many lanes of bytes and of halves are drawn before those that meet all edges.
const DRAWN_FIRST: usize = 20;

/// The first two words of a lane that meets edges: all pairs of bytes, and halves each with two others.
fn pair(bits: u32, at: usize) -> Option<[u32; 2]> {
    let edges = edges(bits);
    let (first, second) = if bits == 8 { (at / 8, at % 8) } else { (at % 8, 3 * at + at / 8) };
    let count = if bits == 8 { 64 } else { 16 };
    (at < count).then(|| [edges[first], edges[second % 8]])
}

/// Vectors of random words, and of lanes that are mostly edges, equal, or neighbours.
fn vectors(count: usize, seed: u64) -> Vec<[u32; MOST_LEAVES]> {
    let mut seeded = Seeded(seed);
    // How many lanes of bytes and of halves there are so far.
    let mut lanes = [0_usize; 2];
    let mut one = |vector: usize| {
        // Every third vector is of halves, the others are of bytes.
        let bits = if vector % 3 == 2 { 16 } else { 8 };
        let lanes = &mut lanes[usize::from(bits == 16)];
        let mut words = [0_u32; MOST_LEAVES];
        for shift in (0..32).step_by(bits as usize) {
            let first = if bits == 8 { DRAWN_FIRST } else { 0 };
            let pair = lanes.checked_sub(first).and_then(|at| pair(bits, at));
            *lanes += 1;
            let mut before = 0_u32;
            for (at, word) in words.iter_mut().enumerate() {
                let drawn = match seeded.below(if at == 0 { 6 } else { 10 }) {
                    0 | 1 => seeded.below(1 << bits),
                    2..=5 => edges(bits)[seeded.below(8) as usize],
                    6 | 7 => before,
                    8 => before.wrapping_add(1),
                    _ => before.wrapping_sub(1),
                };
                let lane = pair.and_then(|pair| pair.get(at).copied()).unwrap_or(drawn);
                before = lane & ((1 << bits) - 1);
                *word |= before << shift;
            }
        }
        words
    };
    (0..count).map(&mut one).collect()
}

impl Operand {
    /// What it is for all vectors.
    fn by_bit(self) -> Signature {
        match self {
            Self::Leaf(leaf) => LEAVES[usize::from(leaf)],
            Self::Inverted(leaf) => LEAVES[usize::from(leaf)].map(|plane| !plane),
            Self::Number(number) => std::array::from_fn(|bit| 0_u32.wrapping_sub(number >> bit & 1)),
        }
    }

    /// How many leaves a function must have at least.
    fn leaves(self) -> usize {
        match self {
            Self::Leaf(leaf) | Self::Inverted(leaf) => usize::from(leaf) + 1,
            Self::Number(_) => 0,
        }
    }
}

impl Entry {
    fn adds(&self) -> bool {
        adds(self.form.op)
    }

    /// What is simpler comes first.
    fn complexity(&self) -> (usize, usize, usize) {
        let inverted = self.operands.iter().filter(|operand| matches!(operand, Operand::Inverted(_))).count();
        let after = match self.after {
            After::Kept => 0,
            After::Inverted | After::Spread => 1,
        };
        let saturates = matches!(self.form.op, SimdOp::Arithmetic { then: SimdThen::Saturate, .. });
        let signs = [self.form.atype, self.form.btype].into_iter().filter(|&sign| sign == Sign::Signed);
        (inverted + after, usize::from(saturates), signs.count())
    }

    /// Whether it agrees with a function of words, the inputs of its term, on the demanded bits of many more vectors.
    pub(super) fn agrees(&self, terms: &Terms, function: Term, demanded: u32) -> bool {
        let mut small = Terms::new();
        let inputs = [0, 1, 2].map(|number| small.input(number, 32));
        let function = small.import(terms, function, &mut |number| inputs[number as usize]);
        let own = self.term(&mut small, inputs);
        let mask = small.constant(demanded.into(), 32);
        let difference = small.xor(function, own);
        let difference = small.and(difference, mask);
        let mut program = WideProgram::compile(&small, &[difference]);
        MORE_INPUTS.iter().all(|inputs| {
            program.run(inputs);
            program.output(0).flatten().all(|&word| word == 0)
        })
    }

    /// What it computes of words.
    fn term(&self, terms: &mut Terms, words: [Term; MOST_LEAVES]) -> Term {
        let sources = self.operands.map(|operand| match operand {
            Operand::Leaf(leaf) => words[usize::from(leaf)],
            Operand::Inverted(leaf) => terms.not(words[usize::from(leaf)]),
            Operand::Number(number) => terms.constant(number.into(), 32),
        });
        let result = video::result(terms, Form::Simd(self.form), sources);
        match self.after {
            After::Kept => result,
            After::Inverted => terms.not(result),
            After::Spread => {
                let ones = terms.constant(in_lane(self.form.routing.lanes()).into(), 32);
                terms.mul(result, ones)
            }
        }
    }

    /// How many leaves a function must have at least.
    fn leaves(&self) -> usize {
        self.operands.iter().map(|operand| operand.leaves()).max().unwrap_or(0)
    }
}

/// Whether the lanes are added to `c`.
pub(super) fn adds(op: SimdOp) -> bool {
    match op {
        SimdOp::Arithmetic { then, .. } => then == SimdThen::Add,
        SimdOp::Set { accumulate, .. } => accumulate,
    }
}

/// The operands that forms are tried with.
fn variants(form: &Simd) -> Vec<[Operand; 3]> {
    use Operand::{Inverted, Leaf, Number};
    let zero = Number(0);
    if adds(form.op) {
        let words = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        let words = words.map(|words| words.map(Leaf));
        let without = [[Leaf(0), Leaf(1), zero], [Leaf(1), Leaf(0), zero], [Leaf(0), zero, zero]];
        let one = [[Leaf(0), zero, Leaf(1)], [Leaf(1), zero, Leaf(0)]];
        return without.into_iter().chain(one).chain(words).collect();
    }
    let mut all = Vec::with_capacity(VARIANTS);
    for a in [Leaf, Inverted] {
        for b in [Leaf, Inverted] {
            all.extend([[a(0), b(1), zero], [a(1), b(0), zero]]);
        }
    }
    let lanes = form.routing.lanes();
    let bits = lanes.bits();
    for lane in [0, 1, (1 << (bits - 1)) - 1, 1 << (bits - 1), (1 << bits) - 1] {
        let number = Number(lanes.every(lane));
        for word in [Leaf(0), Inverted(0)] {
            all.extend([[word, number, zero], [number, word, zero]]);
        }
    }
    all
}

/// All forms whose results can differ.
fn forms() -> impl Iterator<Item = Simd> {
    Lanes::ALL.into_iter().flat_map(Simd::all).filter(|form| form.op.is_canonical())
}

/// The results of forms for all variants, which are those of each of them. Forms have much in common, so a program for
/// several is shorter.
fn results(forms: &[Simd], variants: &[[Operand; 3]]) -> Vec<Vec<Signature>> {
    let mut terms = Terms::new();
    let sources = [0, 1, 2].map(|number| terms.input(number, 32));
    let outputs: Vec<Term> =
        forms.iter().map(|&form| video::result(&mut terms, Form::Simd(form), sources)).collect();
    let mut program = WideProgram::compile(&terms, &outputs);
    let mut all = vec![Vec::with_capacity(variants.len()); forms.len()];
    for variants in variants.chunks(VARIANTS) {
        program.run(&side_by_side(variants));
        for (number, all) in all.iter_mut().enumerate() {
            all.extend(apart(&program, number, variants.len()));
        }
    }
    all
}

/// The inputs for so many variants as are evaluated at a time.
fn side_by_side(variants: &[[Operand; 3]]) -> [Vec<Plane>; 3] {
    std::array::from_fn(|source| {
        let all: Vec<Signature> = variants.iter().map(|operands| operands[source].by_bit()).collect();
        let half = |bit: usize, at: usize| all.get(at).map_or(0, |variant| u64::from(variant[bit]));
        let plane = |bit| std::array::from_fn(|at| half(bit, 2 * at) | half(bit, 2 * at + 1) << VECTORS);
        (0..BITS).map(plane).collect()
    })
}

/// An output for each of these variants.
fn apart(program: &WideProgram, output: usize, variants: usize) -> impl Iterator<Item = Signature> {
    let planes: Vec<&Plane> = program.output(output).collect();
    (0..variants).map(move |variant| {
        let half = |plane: &Plane| plane[variant / 2] >> (variant % 2 * VECTORS) & u64::from(u32::MAX);
        std::array::from_fn(|bit| u32::try_from(half(planes[bit])).expect("it was cut to a half"))
    })
}

/// A form, its variants, and the results for each of them.
type FormResults = (Simd, Vec<[Operand; 3]>, Vec<Signature>);

/// All forms with their results.
fn evaluated() -> Vec<FormResults> {
    let mut all: Vec<FormResults> = forms().map(|form| (form, variants(&form), Vec::new())).collect();
    for lanes in Lanes::ALL {
        for sums in [false, true] {
            // These have the same variants.
            let is_alike = |form: &Simd| form.routing.lanes() == lanes && adds(form.op) == sums;
            let mut alike: Vec<_> = all.iter_mut().filter(|(form, ..)| is_alike(form)).collect();
            for some in alike.chunks_mut(AT_ONCE) {
                let forms: Vec<Simd> = some.iter().map(|(form, ..)| *form).collect();
                let results = results(&forms, &some[0].1);
                some.iter_mut().zip(results).for_each(|((.., own), results)| *own = results);
            }
        }
    }
    all
}

impl Table {
    fn new() -> Self {
        let (mut entries, mut results) = (Vec::new(), Vec::new());
        for (form, variants, signatures) in evaluated() {
            let bits = form.routing.lanes().bits() as usize;
            for (operands, signature) in variants.into_iter().zip(signatures) {
                let entry = Entry { form, operands, after: After::Kept };
                entries.push(entry);
                results.push(signature);
                if entry.adds() {
                    continue;
                }
                entries.push(Entry { after: After::Inverted, ..entry });
                results.push(signature.map(|plane| !plane));
                if matches!(form.op, SimdOp::Set { .. }) {
                    // A comparison has its answer in the lowest bit of each lane.
                    entries.push(Entry { after: After::Spread, ..entry });
                    results.push(std::array::from_fn(|bit| signature[bit / bits * bits]));
                }
            }
        }
        let trivial = trivial();
        let mut known: HashSet<&Signature> = trivial.iter().collect();
        let mut chosen: Vec<usize> = (0..entries.len()).collect();
        chosen.sort_by_cached_key(|&at| entries[at].complexity());
        chosen.retain(|&at| known.insert(&results[at]));
        let columns = std::array::from_fn(|bit| chosen.iter().map(|&at| results[at][bit]).collect());
        Self { entries: chosen.into_iter().map(|at| entries[at]).collect(), columns }
    }

    /// The entries that agree with a function of so many leaves on the demanded bits, the simplest first.
    pub(super) fn find(
        &self,
        signature: &Signature,
        demanded: u32,
        leaves: usize,
    ) -> impl Iterator<Item = &Entry> {
        let signature = *signature;
        let demanded = move |bit: &usize| demanded >> bit & 1 == 1;
        let agrees =
            move |at: usize| (0..BITS).filter(demanded).all(|bit| self.columns[bit][at] == signature[bit]);
        let first = (0..BITS).find(demanded).unwrap_or(0);
        let column = self.columns[first].iter().enumerate();
        let hits = column.filter(move |&(_, &plane)| plane == signature[first]).map(|(at, _)| at);
        let fits = move |at: &usize| agrees(*at) && self.entries[*at].leaves() <= leaves;
        hits.filter(fits).map(|at| &self.entries[at])
    }
}

/// What a 1 is multiplied by to become a lane of ones.
pub(super) const fn in_lane(lanes: Lanes) -> u32 {
    (1 << lanes.bits()) - 1
}

/// What takes no instruction worth the name: the words themselves, their complements, and numbers.
fn trivial() -> Vec<Signature> {
    let both = LEAVES.iter().flat_map(|&words| [words, words.map(|plane| !plane)]);
    both.chain([[0; BITS], [u32::MAX; BITS]]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptxopt_grammar::video::{Compare, SimdArithmetic};

    fn find(function: impl Fn(u32, u32, u32) -> u32) -> Vec<&'static Entry> {
        let signature = by_bit(&INPUTS.map(|[a, b, c]| function(a, b, c)));
        TABLE.find(&signature, u32::MAX, MOST_LEAVES).collect()
    }

    fn bytes(function: impl Fn(u8, u8) -> u8) -> impl Fn(u32, u32, u32) -> u32 {
        move |a, b, _| {
            let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
            u32::from_le_bytes(std::array::from_fn(|lane| function(a[lane], b[lane])))
        }
    }

    fn arithmetic(entry: &Entry) -> (SimdArithmetic, SimdThen) {
        match entry.form.op {
            SimdOp::Arithmetic { op, then, .. } => (op, then),
            SimdOp::Set { .. } => panic!("{entry:?}"),
        }
    }

    #[test]
    fn the_sum_of_bytes_is_one_entry() {
        let found = find(bytes(u8::wrapping_add));
        assert_eq!(found.len(), 1);
        assert_eq!(arithmetic(found[0]), (SimdArithmetic::Add, SimdThen::Store));
        assert_eq!(found[0].operands[..2], [Operand::Leaf(0), Operand::Leaf(1)]);
        assert_eq!(found[0].after, After::Kept);
    }

    #[test]
    fn a_difference_has_its_operands_in_order() {
        let found = find(bytes(|a, b| b.wrapping_sub(a)));
        assert_eq!(found[0].operands[..2], [Operand::Leaf(1), Operand::Leaf(0)]);
    }

    #[test]
    fn a_mean_rounded_down_is_that_of_complements() {
        let found = find(bytes(u8::midpoint));
        assert_eq!(arithmetic(found[0]).0, SimdArithmetic::Average);
        assert_eq!(found[0].after, After::Inverted);
        assert!(found[0].operands[..2].iter().all(|operand| matches!(operand, Operand::Inverted(_))));
    }

    #[test]
    fn a_negated_byte_is_a_difference_from_zero() {
        let found = find(bytes(|a, _| a.wrapping_neg()));
        assert_eq!(arithmetic(found[0]), (SimdArithmetic::Sub, SimdThen::Store));
        assert_eq!(found[0].operands[..2], [Operand::Number(0), Operand::Leaf(0)]);
    }

    #[test]
    fn a_mask_is_a_comparison_spread() {
        let found = find(bytes(|a, b| if a > b { 0xff } else { 0 }));
        let SimdOp::Set { compare, accumulate: false } = found[0].form.op else { panic!("{:?}", found[0]) };
        assert!(matches!(
            (compare, found[0].operands[0]),
            (Compare::Gt, Operand::Leaf(0)) | (Compare::Lt, Operand::Leaf(1))
        ));
        assert_eq!(found[0].after, After::Spread);
    }

    #[test]
    fn a_sum_of_distances_has_its_accumulator() {
        let found = find(|a, b, c| {
            let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
            a.iter().zip(b).fold(c, |sum, (a, b)| sum.wrapping_add(a.abs_diff(b).into()))
        });
        assert_eq!(arithmetic(found[0]), (SimdArithmetic::AbsDiff, SimdThen::Add));
        assert_eq!(found[0].operands, [Operand::Leaf(0), Operand::Leaf(1), Operand::Leaf(2)]);
    }

    #[test]
    fn what_differs_in_one_lane_is_not_there() {
        let add = bytes(u8::wrapping_add);
        assert_eq!(find(|a, b, c| add(a, b, c) ^ (a & b & 0x8000_0000)).len(), 0);
        assert_eq!(find(|a, b, _| a.wrapping_add(b)).len(), 0);
        assert_eq!(find(|a, b, _| a & b).len(), 0);
    }

    #[test]
    fn only_demanded_bits_count() {
        let add = bytes(u8::wrapping_add);
        let signature = by_bit(&INPUTS.map(|[a, b, c]| add(a, b, c) ^ 0xff00_0000));
        assert_eq!(TABLE.find(&signature, u32::MAX, 2).count(), 0);
        assert!(TABLE.find(&signature, 0x00ff_ffff, 2).count() > 0);
    }

    #[test]
    fn a_function_of_fewer_words_has_no_entry_of_more() {
        let signature = by_bit(&INPUTS.map(|[a, b, _]| bytes(u8::wrapping_add)(a, b, 0)));
        assert_eq!(TABLE.find(&signature, u32::MAX, 1).count(), 0);
    }
}
