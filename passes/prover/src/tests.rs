//! Gates against numbers: the circuit of a random fragment computes what evaluating its terms does.
//!
//! Circuits are made in every mode that the prover has: sums at the end or at once, and gates taken as they are or
//! merged by sweeping. A gate that is simplified or merged wrongly shows as a wrong bit.

mod abstracted;
mod blends;
#[path = "../../../tests/support/fragments.rs"]
mod fragments;
#[path = "../../../tests/support/numbers.rs"]
mod numbers;

use super::aig::{Aig, Gate, Lit, Unwatched, Watch};
use super::canonical::{Cone, ConeInput, cone};
use super::decide::value;
use super::query::{Assumption, Budget};
use super::sat::{Literal, Solver, SolverAnswer};
use super::sweep::{Sweep, evaluate};
use super::vectors::{Lane, vectors};
use super::words::{Circuit, Sums};
use super::{Proof, Query, Verdict, prove};
use fragments::{fragment, inputs};
use numbers::Numbers;
use ptxopt_grammar::meaning::concrete;
use ptxopt_grammar::meaning::term::{Term, Terms, ones};

/// The gates of a cone, and the bits of its results.
fn circuit<W: Watch>(cone: &Cone, watch: W, sums: Sums) -> (Vec<Gate>, Vec<Vec<Lit>>) {
    made(cone, watch, |graph, inputs| Circuit::new(graph, cone, inputs, sums))
}

/// The same with extremes of extremes as extremes of all words.
fn with_extremes(cone: &Cone, sums: Sums) -> (Vec<Gate>, Vec<Vec<Lit>>) {
    made(cone, Unwatched, |graph, inputs| Circuit::with_extremes(graph, cone, inputs, sums))
}

/// The same with sums compared by their differences.
fn with_differences(cone: &Cone, sums: Sums) -> (Vec<Gate>, Vec<Vec<Lit>>) {
    made(cone, Unwatched, |graph, inputs| Circuit::with_differences(graph, cone, inputs, sums))
}

fn made<'c, W: Watch>(
    cone: &'c Cone,
    watch: W,
    circuit: impl Fn(Aig<W>, &[Vec<Lit>]) -> Circuit<'c, W>,
) -> (Vec<Gate>, Vec<Vec<Lit>>) {
    let mut graph = Aig::new(watch);
    let bits = |input: &ConeInput| (0..input.width).map(|_| graph.input()).collect();
    let inputs: Vec<Vec<Lit>> = cone.inputs.iter().map(bits).collect();
    let mut circuit = circuit(graph, &inputs);
    let outputs = cone.before.iter().map(|&word| circuit.bits(word).to_vec()).collect();
    (circuit.graph.gates().to_vec(), outputs)
}

/// The outputs for 64 vectors of inputs, which are in the order of the cone.
fn run(gates: &[Gate], outputs: &[Vec<Lit>], cone: &Cone, vectors: &[Vec<u128>]) -> Vec<Vec<u128>> {
    let widths = cone.inputs.iter().enumerate();
    let mut free = widths.flat_map(|(input, of)| (0..of.width).map(move |bit| (input, bit)));
    let mut words: Vec<u64> = Vec::with_capacity(gates.len());
    for &gate in gates {
        let word = if gate == Gate::Input {
            let (input, bit) = free.next().expect("there is a gate for each bit of the inputs");
            vectors.iter().rev().fold(0, |word, vector| word << 1 | u64::from(vector[input] >> bit & 1 == 1))
        } else {
            evaluate(gate, |lit| value(&words, lit))
        };
        words.push(word);
    }
    let number = |bits: &Vec<Lit>, vector: usize| {
        bits.iter().rev().fold(0, |number, &bit| number << 1 | u128::from(value(&words, bit) >> vector & 1))
    };
    (0..vectors.len()).map(|vector| outputs.iter().map(|bits| number(bits, vector)).collect()).collect()
}

#[test]
fn gates_compute_what_terms_do_on_random_fragments() {
    let mut numbers = Numbers::new(7);
    let mut gates_merged = 0;
    for _fragment in 0..150 {
        let (terms, results) = fragment(&mut numbers);
        let (cone, order) = cone(&terms, &results, &[], |_| Assumption::NONE, |_| false);
        let given: Vec<Vec<u128>> = (0..64).map(|_| inputs(&mut numbers)).collect();
        let ordered: Vec<Vec<u128>> =
            given.iter().map(|given| order.iter().map(|&number| given[number as usize]).collect()).collect();
        let right: Vec<Vec<u128>> =
            given.iter().map(|given| concrete::evaluate(&terms, &results, given)).collect();
        let lanes: Vec<Lane> = vectors(&cone.inputs, 1).0.into_iter().flatten().collect();
        let sweep = || Sweep::new(lanes.clone(), Budget { step: 20, total: 0 }, 1);
        let plain = circuit(&cone, Unwatched, Sums::AtOnce);
        let swept = circuit(&cone, sweep(), Sums::AtOnce);
        gates_merged += plain.0.len() - swept.0.len().min(plain.0.len());
        let others = [Sums::Late, Sums::Apart].map(|sums| circuit(&cone, Unwatched, sums));
        let ordered_ones = [with_extremes(&cone, Sums::Late), with_differences(&cone, Sums::Late)];
        for (gates, outputs) in others.into_iter().chain([plain, swept]).chain(ordered_ones) {
            assert_eq!(run(&gates, &outputs, &cone, &ordered), right, "{terms:?}");
        }
    }
    assert!(gates_merged > 1000, "sweeping was not tested: {gates_merged} gates merged");
}

fn below(numbers: &mut Numbers, count: u32) -> u32 {
    u32::try_from(numbers.next() % u64::from(count)).expect("it is below a number of 32 bits")
}

/// A term with zeros or copies of its sign above it.
fn extended(numbers: &mut Numbers, terms: &mut Terms, term: Term, width: u32) -> Term {
    match numbers.below(2) {
        0 => terms.sign_extend(term, width),
        _ => terms.zero_extend(term, width),
    }
}

#[test]
fn gates_compute_what_lies_above_products() {
    let mut numbers = Numbers::new(8);
    for _sum in 0..300 {
        let mut terms = Terms::new();
        let inputs = [0, 1].map(|number| terms.input(number, 24));
        let width = 25 + below(&mut numbers, 16);
        let mut sum = terms.constant(u128::from(numbers.next()) & ones(width), width);
        for input in inputs {
            let part = terms.extract(input, below(&mut numbers, 12), 1 + below(&mut numbers, 12));
            let part = extended(&mut numbers, &mut terms, part, width);
            let factor = terms.constant(u128::from(numbers.next() >> numbers.below(60)) & ones(width), width);
            let product = terms.mul(part, factor);
            sum = terms.add(sum, product);
        }
        let low = below(&mut numbers, width - 1);
        let above = terms.extract(sum, low, 1 + below(&mut numbers, width - low));
        let kept = terms.width(above);
        let above = terms.zero_extend(above, 48);
        let wide = terms.zero_extend(inputs[1], 48);
        let again = terms.add(above, wide);
        let results = [terms.extract(again, 0, 1 + below(&mut numbers, kept))];
        agree(&mut numbers, &terms, &results);
    }
}

#[test]
fn gates_compute_extremes_of_extremes() {
    let mut numbers = Numbers::new(9);
    for _tree in 0..400 {
        let mut terms = Terms::new();
        let inputs = [0, 1].map(|number| terms.input(number, 24));
        let width = 4 + below(&mut numbers, 5);
        let mut words: Vec<Term> = Vec::new();
        for at in 0..6 {
            words.push(terms.extract(inputs[at % 2], below(&mut numbers, 25 - width), width));
        }
        words.push(terms.constant(u128::from(numbers.next()) & ones(width), width));
        for _extreme in 0..12 {
            let pick = |numbers: &mut Numbers, words: &[Term]| {
                words[below(numbers, u32::try_from(words.len()).expect("there are a few")) as usize]
            };
            let (mut x, mut y) = (pick(&mut numbers, &words), pick(&mut numbers, &words));
            let wider = terms.width(x).max(terms.width(y)) + below(&mut numbers, 2);
            for word in [&mut x, &mut y] {
                *word = extended(&mut numbers, &mut terms, *word, wider);
            }
            let signed = numbers.below(2) == 0;
            let less = if signed { terms.signed_less(x, y) } else { terms.unsigned_less(x, y) };
            let (then, otherwise) = if numbers.below(2) == 0 { (x, y) } else { (y, x) };
            let extreme = terms.choose(less, then, otherwise);
            let low = if numbers.below(3) == 0 { below(&mut numbers, wider) } else { 0 };
            words.push(terms.extract(extreme, low, wider - low));
        }
        agree(&mut numbers, &terms, &words);
    }
}

/// A sum of small numbers, which are in it so often, all of them a multiple of one number, with a bias or without one.
fn small_sum(numbers: &mut Numbers, terms: &mut Terms, inputs: [Term; 2], width: u32) -> Term {
    let common = [1, 1, 2, 3, 4, 6][numbers.below(6)];
    let bias = [0, 0, 1 << (width - 1), 1 << (width - 2), 40][numbers.below(5)];
    let more = [0, 0, 1, common, 5][numbers.below(5)];
    let mut sum = terms.constant(bias + more, width);
    for _part in 0..2 + numbers.below(3) {
        let bits = 1 + below(numbers, 4);
        let part = terms.extract(inputs[numbers.below(2)], below(numbers, 20), bits);
        let part = terms.zero_extend(part, width);
        let weight = terms.constant(common * [1, 1, 2, 3, 5][numbers.below(5)], width);
        let product = terms.mul(part, weight);
        sum = if numbers.below(2) == 0 { terms.add(sum, product) } else { terms.sub(sum, product) };
    }
    sum
}

/// What is compared of two words of one width, or made of how they compare, as a word of that width.
fn compared(numbers: &mut Numbers, terms: &mut Terms, [x, y]: [Term; 2]) -> Term {
    let width = terms.width(x);
    let less = if numbers.below(2) == 0 { Terms::signed_less } else { Terms::unsigned_less };
    let extreme = |terms: &mut Terms, [x, y]: [Term; 2], is_greater: bool| {
        let is_less = less(terms, x, y);
        if is_greater { terms.choose(is_less, y, x) } else { terms.choose(is_less, x, y) }
    };
    let is_greater = numbers.below(2) == 0;
    match numbers.below(8) {
        0 | 1 => extreme(terms, [x, y], is_greater),
        2 => {
            let zero = terms.constant(0, width);
            let (sign, opposite) = (terms.extract(x, width - 1, 1), terms.sub(zero, x));
            if is_greater { terms.choose(sign, opposite, x) } else { terms.choose(sign, x, opposite) }
        }
        3 => {
            let bit = less(terms, x, y);
            terms.zero_extend(bit, width)
        }
        4 => {
            let inverted = terms.not(y);
            let joined = [Terms::and, Terms::or, Terms::xor][numbers.below(3)](
                terms,
                x,
                [y, inverted][numbers.below(2)],
            );
            let bit = terms.extract(joined, width - 1, 1);
            terms.zero_extend(bit, width)
        }
        5 => {
            let twice = terms.constant(1 << width, width);
            let opposite = terms.sub(twice, y);
            let (words, others) = (terms.concat(x, y), terms.concat(y, opposite));
            let both = extreme(terms, [words, others], is_greater);
            terms.extract(both, [0, width][numbers.below(2)], width)
        }
        6 => merged(numbers, terms, [x, y]),
        _ => {
            let low = 1 + below(numbers, 3);
            let both = extreme(terms, [x, y], is_greater);
            let upper = terms.extract(both, low, width - low);
            extended(numbers, terms, upper, width)
        }
    }
}

/// A half of a word whose halves are those of one word or of another one, mostly by which of both is less, in so many bits.
fn merged(numbers: &mut Numbers, terms: &mut Terms, both: [Term; 2]) -> Term {
    let width = terms.width(both[0]);
    let bias = [0, 0x8000][numbers.below(2)];
    let [x, y] = both.map(|word| {
        let low = terms.extract(word, 0, width.min(16));
        let half = if bias == 0 { terms.zero_extend(low, 16) } else { terms.sign_extend(low, 16) };
        let bias = terms.constant(bias, 16);
        terms.add(half, bias)
    });
    let (one, mut other) = (terms.concat(x, y), terms.concat(y, x));
    if numbers.below(3) == 0 {
        other = terms.constant([0, 0x8000_8000, 0x80ff_80ff, 0x0100_0100][numbers.below(4)], 32);
    }
    let bias = terms.constant([0x8000_8000, 0x7fff_7fff, 0x8000_7fff][numbers.below(3)], 32);
    let difference = terms.sub(one, other);
    let biased = terms.add(difference, bias);
    let [low, high] = [15, 31].map(|place| {
        let sign = terms.extract(biased, place, 1);
        terms.sign_extend(sign, 16)
    });
    let mask = terms.concat(high, low);
    // Mostly all bits of a half are alike.
    let odd = terms.constant([0, 0, 0, 0x8000_0000, 0x0000_0100][numbers.below(5)], 32);
    let mask = terms.xor(mask, odd);
    let rest = terms.not(mask);
    // With each of the bits that are set in both words in two products, as a table has it.
    let (two, first, second) = (terms.and(mask, one), terms.and(rest, other), terms.and(one, other));
    let all = terms.or(two, second);
    let all = terms.or(all, first);
    let no = terms.not(other);
    let without = terms.and(two, no);
    let all_but_one = terms.or(without, first);
    let taken = [terms.or(two, first), all, all_but_one][numbers.below(3)];
    let half = terms.extract(taken, [0, 16][numbers.below(2)], 16);
    if width < 16 { terms.extract(half, 0, width) } else { extended(numbers, terms, half, width) }
}

#[test]
fn gates_compute_how_sums_compare() {
    let mut numbers = Numbers::new(10);
    for _all in 0..600 {
        let mut terms = Terms::new();
        let inputs = [0, 1].map(|number| terms.input(number, 24));
        let width = 8 + below(&mut numbers, 10);
        let mut words: Vec<Term> =
            (0..4).map(|_| small_sum(&mut numbers, &mut terms, inputs, width)).collect();
        words.push(terms.constant(u128::from(numbers.next()) & ones(width), width));
        for _compared in 0..8 {
            let some = [4, words.len()][numbers.below(2)];
            let both = [0, 1].map(|_| words[numbers.below(some)]);
            let word = compared(&mut numbers, &mut terms, both);
            words.push(if numbers.below(4) == 0 { terms.add(word, both[0]) } else { word });
        }
        agree(&mut numbers, &terms, &words);
    }
}

/// Checks that gates compute of two inputs of 24 bits what terms do, in every mode.
fn agree(numbers: &mut Numbers, terms: &Terms, results: &[Term]) {
    let (cone, order) = cone(terms, results, &[], |_| Assumption::NONE, |_| false);
    let given: Vec<Vec<u128>> =
        (0..64).map(|_| (0..2).map(|_| u128::from(numbers.next()) & ones(24)).collect()).collect();
    let ordered: Vec<Vec<u128>> =
        given.iter().map(|given| order.iter().map(|&number| given[number as usize]).collect()).collect();
    let right: Vec<Vec<u128>> = given.iter().map(|given| concrete::evaluate(terms, results, given)).collect();
    let all = [Sums::Late, Sums::Apart, Sums::AtOnce].map(|sums| circuit(&cone, Unwatched, sums));
    let others = [Sums::Late, Sums::AtOnce].map(|sums| with_extremes(&cone, sums));
    let by_differences = [Sums::Late, Sums::AtOnce].map(|sums| with_differences(&cone, sums));
    for (gates, outputs) in all.into_iter().chain(others).chain(by_differences) {
        assert_eq!(run(&gates, &outputs, &cone, &ordered), right, "{terms:?}");
    }
}

#[test]
fn gates_compute_what_lanes_of_products_are() {
    let mut numbers = Numbers::new(9);
    for _sum in 0..300 {
        let mut terms = Terms::new();
        let inputs = [0, 1].map(|number| terms.input(number, 24));
        let width = 25 + below(&mut numbers, 16);
        let mut sum = terms.constant(u128::from(numbers.next()) & ones(width), width);
        let mut factors: Vec<Term> = Vec::new();
        for _product in 0..4 {
            let mut part = |terms: &mut Terms| {
                let part = terms.extract(
                    inputs[numbers.below(2)],
                    below(&mut numbers, 18),
                    1 + below(&mut numbers, 6),
                );
                terms.zero_extend(part, width)
            };
            let (lane, factor) = (part(&mut terms), part(&mut terms));
            factors.push(factor);
            let mut factor = factors[numbers.below(factors.len())];
            if numbers.below(2) == 0 {
                let most = terms.constant(u128::from(below(&mut numbers, 80)), width);
                factor = terms.sub(most, factor);
            }
            if numbers.below(2) == 0 {
                let low = terms.extract(factor, 0, width / 2);
                factor = terms.zero_extend(low, width);
            }
            let by = terms.constant(1 << below(&mut numbers, width), width);
            let product = terms.mul(lane, factor);
            let product = terms.mul(product, by);
            sum = terms.add(sum, product);
        }
        let low = below(&mut numbers, width - 1);
        let results = [terms.extract(sum, low, 1 + below(&mut numbers, width - low))];
        agree(&mut numbers, &terms, &results);
    }
}

/// `x * y + most * z - x * z`, which is `x * y + z * (most - x)`.
fn blend(terms: &mut Terms, [x, y, z]: [Term; 3], most: u128) -> Term {
    let most = terms.constant(most, 32);
    let rest = terms.sub(most, x);
    let products = [terms.mul(x, y), terms.mul(rest, z)];
    terms.add(products[0], products[1])
}

/// A number and the same without its lowest byte, added up, without that byte.
fn folded(terms: &mut Terms, number: Term, mask: u128) -> Term {
    let high = terms.extract(number, 8, 24);
    let high = terms.zero_extend(high, 32);
    let mask = terms.constant(mask, 32);
    let high = terms.and(high, mask);
    terms.add(number, high)
}

/// Two blended lanes multiplied by a number, of which bits are taken that begin at `low`; and in halves of a word without
/// long products, with so much added to each.
fn divided(factor: u128, low: u32, added: u128, most: u128) -> Verdict {
    let mut terms = Terms::new();
    let x = terms.input(0, 8);
    let x = terms.zero_extend(x, 32);
    let words = [1, 2].map(|number| terms.input(number, 32));
    let before = [0, 16].map(|place| {
        let [y, z] = words.map(|word| {
            let lane = terms.extract(word, place, 8);
            terms.zero_extend(lane, 32)
        });
        let sum = blend(&mut terms, [x, y, z], most);
        let wide = terms.zero_extend(sum, 64);
        let factor = terms.constant(factor, 64);
        let product = terms.mul(wide, factor);
        terms.extract(product, low, 8)
    });
    let mask = terms.constant(0x00ff_00ff, 32);
    let [y, z] = words.map(|word| terms.and(word, mask));
    let sum = blend(&mut terms, [x, y, z], most);
    let added = terms.constant(added * 0x0001_0001, 32);
    let sum = terms.add(sum, added);
    let sum = folded(&mut terms, sum, 0x00ff_00ff);
    let after = [8, 24].map(|place| terms.extract(sum, place, 8));
    prove(&Query::new(&terms, before.to_vec(), after.to_vec()))
}

#[test]
fn quotients_are_functions_of_what_is_divided() {
    // By 255, and by 65536 / 257.
    for (factor, low, added) in [(0x8080_8081, 39, 1), (0x8081, 23, 1), (257, 16, 0)] {
        assert_eq!(divided(factor, low, added, 255), Verdict::Proved(Proof::Structural), "{factor:#x}");
    }
}

/// The product of two bytes that are inputs, as numbers of so many bits.
fn product_of_bytes(terms: &mut Terms, numbers: [u32; 2], width: u32) -> Term {
    let [x, y] = numbers.map(|number| {
        let byte = terms.input(number, 8);
        terms.zero_extend(byte, width)
    });
    terms.mul(x, y)
}

/// Two products of bytes divided by 255; and put side by side as halves, with so much added to each. They are multiplied
/// in words of different widths, so that it is not the same words that are divided.
fn divided_side_by_side(added: u128) -> Verdict {
    let mut terms = Terms::new();
    let bytes = [[0, 1], [2, 3]];
    let (factor, shift) = (terms.constant(0x8081, 32), terms.constant(23, 32));
    let before = bytes.map(|numbers| {
        let product = product_of_bytes(&mut terms, numbers, 32);
        let product = terms.mul(product, factor);
        let quotient = terms.lshr(product, shift);
        terms.extract(quotient, 0, 8)
    });
    let added = terms.constant(added, 16);
    let [low, high] = bytes.map(|numbers| {
        let product = product_of_bytes(&mut terms, numbers, 16);
        terms.add(product, added)
    });
    let halves = terms.concat(high, low);
    let sum = folded(&mut terms, halves, 0x00ff_00ff);
    let after = [8, 24].map(|place| terms.extract(sum, place, 8));
    prove(&Query::new(&terms, before.to_vec(), after.to_vec()))
}

#[test]
fn quotients_of_words_put_side_by_side_are_functions_of_them() {
    assert_eq!(divided_side_by_side(1), Verdict::Proved(Proof::Structural));
    for added in [0, 2, 0x2000] {
        let verdict = divided_side_by_side(added);
        assert!(matches!(verdict, Verdict::Refuted(_)), "{added}: {verdict:?}");
    }
}

#[test]
fn quotients_by_other_numbers_are_refuted() {
    let wrong =
        [(0x8080_8080, 39, 1), (0x8080_8081, 39, 0), (0x8080_8081, 38, 1), (0x8082, 23, 1), (257, 16, 1)];
    for (factor, low, added) in wrong {
        let verdict = divided(factor, low, added, 255);
        assert!(matches!(verdict, Verdict::Refuted(_)), "{factor:#x} {low} {added}: {verdict:?}");
    }
}

#[test]
fn quotients_in_halves_that_carry_are_not_proved() {
    for most in [257, 258, 300] {
        let verdict = divided(0x8080_8081, 39, 1, most);
        assert!(!matches!(verdict, Verdict::Proved(_)), "{most}: {verdict:?}");
    }
}

/// Two functions of one product of bytes, each of some numbers.
fn function(terms: &mut Terms, product: Term, numbers: [u64; 4]) -> Term {
    let [factor, added, shift, folds] = numbers.map(u128::from);
    let [factor, added] = [factor, added].map(|number| terms.constant(number, 32));
    let sum = terms.mul(product, factor);
    let sum = terms.add(sum, added);
    let sum = if folds == 0 { folded(terms, sum, ones(24)) } else { sum };
    terms.extract(sum, u32::try_from(shift).expect("it is small"), 8)
}

/// Two bytes, the first one lowest, of which two functions are not equal.
fn two_bytes_that_differ(terms: &Terms, before: Term, after: Term) -> Option<u128> {
    let value = |term: Term, input: u128| concrete::evaluate(terms, &[term], &[input & 255, input >> 8])[0];
    (0..1 << 16).find(|&input| value(before, input) != value(after, input))
}

#[test]
fn functions_of_products_are_proved_only_where_they_are_equal() {
    let mut numbers = Numbers::new(11);
    let mut proved = 0;
    for _question in 0..100 {
        let mut terms = Terms::new();
        let bytes = [0, 1].map(|number| terms.input(number, 8));
        let [x, y] = bytes.map(|byte| terms.zero_extend(byte, 32));
        let product = terms.mul(x, y);
        let sides = [(); 2].map(|()| {
            let pick = |numbers: &mut Numbers, from: &[u64]| from[numbers.below(from.len())];
            // By 255, rounded down or to the nearest, in three ways each, and much that is nearly the same.
            let factor = pick(&mut numbers, &[1, 257, 0x8081]);
            let nearest = pick(&mut numbers, &[0, factor * 128]);
            let added = nearest + pick(&mut numbers, &[0, 1, factor, factor]);
            let (shift, folds) = if factor == 0x8081 { (23, 1) } else { (8 * factor.min(2), factor - 1) };
            function(&mut terms, product, [factor, added, shift, folds])
        });
        let [before, after] = sides;
        let verdict = prove(&Query::new(&terms, vec![before], vec![after]));
        if matches!(verdict, Verdict::Proved(_)) {
            proved += 1;
            assert_eq!(two_bytes_that_differ(&terms, before, after), None);
        }
    }
    assert!(proved > 10, "{proved}");
}

/// Clauses that say of `holes + 1` pigeons that each has a hole of its own.
fn pigeons(solver: &mut Solver, holes: usize) {
    let all: Vec<Vec<Literal>> = (0..=holes)
        .map(|_| (0..holes).map(|_| Solver::literal(solver.variable(), false)).collect())
        .collect();
    for (number, one) in all.iter().enumerate() {
        solver.clause(one);
        for other in &all[..number] {
            one.iter().zip(other).for_each(|(&one, &other)| solver.clause(&[!one, !other]));
        }
    }
}

#[test]
fn a_conflict_costs_more_among_many_variables() {
    let (mut few, mut many) = (Solver::new(), Solver::new());
    for _unused in 0..9000 {
        many.variable();
    }
    pigeons(&mut few, 6);
    pigeons(&mut many, 6);
    assert_eq!(few.solve(&[], 3000), SolverAnswer::Unsatisfiable, "{} conflicts", few.conflicts());
    assert_eq!(many.solve(&[], 3000), SolverAnswer::Unknown, "{} conflicts", many.conflicts());
    assert!(many.conflicts() <= 300, "{} conflicts", many.conflicts());
    assert_eq!(many.solve(&[], 300_000), SolverAnswer::Unsatisfiable, "{} conflicts", many.conflicts());
}

/// A question in which the quotient of a product is a number, with one more result, which is false before; after, it is
/// made of the product and another input. A further input is assumed to be as given.
fn beside_a_quotient<A>(
    assumption: Assumption,
    after: fn(&mut Terms, Term, Term) -> Term,
    ask: fn(&Query<'_>) -> A,
) -> A {
    let mut terms = Terms::new();
    let product = product_of_bytes(&mut terms, [0, 1], 16);
    let divisor = terms.constant(255, 16);
    let quotient = terms.unsigned_divide(product, divisor);
    let (other, known) = (terms.input(2, 16), terms.input(3, 16));
    let after = after(&mut terms, product, other);
    let never = terms.constant(0, 1);
    let mut query = Query::new(&terms, vec![known, quotient, never], vec![known, quotient, after]);
    query.assumptions.insert(3, assumption);
    ask(&query)
}

/// Whether two numbers are less, greater or equal: always.
fn always(terms: &mut Terms, a: Term, b: Term) -> Term {
    let ways = [terms.unsigned_less(a, b), terms.unsigned_less(b, a), terms.equal(a, b)];
    ways.into_iter().reduce(|any, way| terms.or(any, way)).expect("there are three")
}

#[test]
fn known_bits_of_inputs_beside_numbers_are_no_other_constants() {
    let odd = Assumption { known: 1, value: 1, ..Assumption::NONE };
    // Not by way of the vectors, which refute it.
    let proof = beside_a_quotient(odd, always, |query| {
        let (question, _) = crate::question(query);
        let renamed = crate::renamed::Renamed::of(&question).expect("there is a quotient");
        renamed.proved(&question, query.budget, 1)
    });
    assert_eq!(proof, None);
}

#[test]
fn ranges_may_be_wider_than_their_inputs() {
    let all = Assumption { unsigned: Some((0, u128::MAX)), ..Assumption::NONE };
    let wide = Assumption { unsigned: Some((0, 0xf_ffff)), ..Assumption::NONE };
    let never = |terms: &mut Terms, a, b| {
        let always = always(terms, a, b);
        terms.not(always)
    };
    for assumption in [all, wide] {
        let verdict = beside_a_quotient(assumption, never, prove);
        assert!(matches!(verdict, Verdict::Proved(_)), "{verdict:?}");
    }
}

#[test]
fn narrow_ranges_of_signed_numbers_are_among_the_vectors() {
    let both = Assumption { known: 1, value: 1, unsigned: Some((0, 0x7fff)), signed: Some((5, 5)) };
    let verdict = beside_a_quotient(both, always, prove);
    assert!(matches!(verdict, Verdict::Refuted(_)), "{verdict:?}");
}
