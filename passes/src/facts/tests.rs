//! Facts of small words against all numbers: no possible value is excluded, and no bit that matters is undemanded.
//!
//! Words are so small that all their values can be tried, so what is expected of a fact is exact.

use super::{Cone, Fact, demanded, forward};
use ptxopt_grammar::meaning::concrete::{Program, evaluate};
use ptxopt_grammar::meaning::term::{Term, Terms, ones, signed};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// A generator of numbers.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, count: u32) -> u32 {
        u32::try_from(self.next() % u64::from(count)).expect("it is below a `u32`")
    }

    fn value(&mut self, width: u32) -> u128 {
        (u128::from(self.next()) << 64 | u128::from(self.next())) & ones(width)
    }

    /// A number, often one at an edge of the range.
    fn edge(&mut self, width: u32) -> u128 {
        let random = self.value(width);
        let sign = 1 << (width - 1);
        match self.below(8) {
            0 => 0,
            1 => ones(width),
            2 => sign,
            3 => sign - 1,
            4 => random >> self.below(width),
            5 => ones(width) & !(random >> self.below(width)),
            6 => 1 << self.below(width),
            _ => random,
        }
    }

    /// A fact around any number.
    fn fact(&mut self, width: u32) -> Fact {
        let value = self.value(width);
        self.fact_around(value, width)
    }

    /// A fact that contains a number, of any mixture of parts; now and then it comes from a loop.
    fn fact_around(&mut self, value: u128, width: u32) -> Fact {
        let other = self.edge(width);
        let known = self.value(width) & self.value(width);
        let (x, y) = (signed(value, width), signed(other, width));
        let parts = self.below(8);
        let mut fact = Fact::top(width);
        if parts & 1 != 0 {
            fact = fact.meet(&Fact::from_bits(!value & known, value & known, width));
        }
        if parts & 2 != 0 {
            fact = fact.meet(&Fact::from_unsigned(value.min(other), value.max(other), width));
        }
        if parts & 4 != 0 {
            fact = fact.meet(&Fact::from_signed(x.min(y), x.max(y), width));
        }
        if self.below(8) == 0 {
            fact = Fact::widen(&fact, &Fact::exact(self.edge(width), width));
        }
        assert!(fact.contains(value), "{fact:?} lost {value}");
        fact
    }
}

fn members(fact: &Fact) -> BTreeSet<u128> {
    (0..=ones(fact.width())).filter(|&value| fact.contains(value)).collect()
}

#[test]
fn parts_sharpen_each_other_without_loss() {
    let mut numbers = Numbers(1);
    for _round in 0..20_000 {
        let width = 1 + numbers.below(5);
        let values = [0; 6].map(|_| numbers.value(width));
        let [zeros, set] = [values[0] & values[1], values[2] & values[3]];
        let (from, to) = (values[4].min(values[5]), values[4].max(values[5]));
        let (low, high) = (signed(values[1], width), signed(values[3], width));
        let loose = Fact::top(width).with_bits(zeros, set).with_unsigned(from, to).with_signed(low, high);
        let kept = members(&loose);
        let fact = loose.refined();
        assert_eq!(members(&fact), kept, "{loose:?} became {fact:?}");
        assert_eq!(fact.is_bottom(), fact == Fact::bottom(width));
        if let (Some(first), Some(last)) = (kept.first(), kept.last()) {
            assert!(fact.unsigned().0 <= *first && fact.unsigned().1 >= *last);
        }
        if fact.constant().is_some() {
            assert_eq!(kept.len(), 1, "{fact:?}");
        }
    }
}

#[test]
fn joins_and_meets_are_unions_and_intersections() {
    let mut numbers = Numbers(2);
    for _round in 0..10_000 {
        let width = 1 + numbers.below(5);
        let (a, b) = (numbers.fact(width), numbers.fact(width));
        let (x, y) = (members(&a), members(&b));
        assert_eq!(members(&a.meet(&b)), &x & &y, "{a:?} and {b:?}");
        assert!(members(&a.join(&b)).is_superset(&(&x | &y)), "{a:?} or {b:?}");
        assert!(members(&Fact::widen(&a, &b)).is_superset(&(&x | &y)), "{a:?} widened by {b:?}");
        assert_eq!(a.join(&Fact::bottom(width)), a);
        assert_eq!(a.meet(&Fact::top(width)), a.refined());
        if let Some(value) = a.constant() {
            assert_eq!(x, BTreeSet::from([value]));
        }
        let assumption = a.assumption().expect("it has a number");
        let admitted = (0..=ones(width)).filter(|&value| assumption.admits(value, width)).collect();
        assert_eq!(x, admitted, "{a:?}");
    }
    assert!(Fact::bottom(7).assumption().is_none());
    assert!(Fact::top(7).is_top() && !Fact::exact(0, 7).is_top());
}

#[test]
fn every_chain_of_widenings_ends_soon() {
    let mut numbers = Numbers(3);
    let mut longest = 0;
    for width in [1, 3, 8, 32, 64, 128] {
        for _chain in 0..100 {
            let mut fact = numbers.fact(width);
            let mut steps = 0;
            for _round in 0..4000 {
                // Feeding back something slightly outside is the worst that a loop can do.
                let outside = match numbers.below(4) {
                    0 => fact.unsigned().1.wrapping_add(1),
                    1 => fact.unsigned().0.wrapping_sub(1),
                    2 => fact.signed().1.wrapping_add(1).cast_unsigned(),
                    _ => numbers.value(width),
                };
                let wide = Fact::widen(&fact, &Fact::exact(outside, width));
                assert!(wide.contains(outside & ones(width)));
                steps += u32::from(wide != fact);
                fact = wide;
            }
            longest = longest.max(steps);
            assert!(steps <= 5 * width + 4, "{steps} steps of {width} bits");
            assert!(fact.is_top() || width > 8, "all numbers came: {fact:?}");
        }
    }
    assert!(longest > 8, "the chains were chains: {longest}");
}

#[test]
fn a_counter_widens_by_powers_of_two() {
    let mut fact = Fact::exact(0, 32);
    let mut steps = 0;
    loop {
        let next = Fact::from_unsigned(fact.unsigned().0, (fact.unsigned().1 + 1).min(ones(32)), 32);
        let wide = Fact::widen(&fact, &next);
        if wide == fact {
            break;
        }
        (fact, steps) = (wide, steps + 1);
    }
    assert!(steps <= 40, "{steps}");
}

/// A term of two words of `width` bits, by number; each kind of operation is among them, and the idioms that choices
/// are looked through for.
fn operation(terms: &mut Terms, kind: u32, a: Term, b: Term) -> Option<Term> {
    let width = terms.width(a);
    let zero = terms.constant(0, width);
    Some(match kind {
        0 => terms.not(a),
        1 => terms.and(a, b),
        2 => terms.or(a, b),
        3 => terms.xor(a, b),
        4 => terms.add(a, b),
        5 => terms.sub(a, b),
        6 => terms.mul(a, b),
        7 => terms.unsigned_divide(a, b),
        8 => terms.unsigned_remainder(a, b),
        9 => terms.shl(a, b),
        10 => terms.lshr(a, b),
        11 => terms.ashr(a, b),
        12 => terms.concat(a, b),
        13 => terms.zero_extend(a, width + 3),
        14 => terms.sign_extend(a, width + 3),
        15 => terms.equal(a, b),
        16 => terms.unsigned_less(a, b),
        17 => terms.signed_less(a, b),
        18 => terms.extract(a, 0, width - 1),
        19 => terms.extract(a, 1, width - 1),
        20 => terms.extract(a, 1, width - 2),
        21..=28 => {
            let condition = match kind {
                21 | 22 => terms.unsigned_less(a, b),
                23 | 24 => terms.signed_less(a, b),
                25 => terms.equal(a, b),
                26 => terms.extract(a, width - 1, 1),
                27 => {
                    let (less, more) = (terms.unsigned_less(a, b), terms.signed_less(b, a));
                    terms.and(less, more)
                }
                _ => {
                    let (less, equal) = (terms.signed_less(a, b), terms.equal(a, zero));
                    let equal = terms.not(equal);
                    terms.or(less, equal)
                }
            };
            let (up, down) = (terms.sub(b, a), terms.sub(a, b));
            match kind {
                21 | 23 => terms.choose(condition, up, down),
                26 => {
                    let negated = terms.neg(a);
                    terms.choose(condition, negated, a)
                }
                27 => terms.choose(condition, down, b),
                _ => terms.choose(condition, a, b),
            }
        }
        29 => {
            let number = terms.constant(5, width);
            terms.sub(number, a)
        }
        _ => return None,
    })
}

#[test]
fn every_operation_keeps_all_its_results() {
    let mut numbers = Numbers(4);
    let mut seen = HashSet::new();
    for width in [3, 4] {
        for kind in 0.. {
            let mut terms = Terms::new();
            let (a, b) = (terms.input(0, width), terms.input(1, width));
            let Some(root) = operation(&mut terms, kind, a, b) else { break };
            seen.extend(terms.iter().map(|term| std::mem::discriminant(&terms.op(term))));
            let values: Vec<Vec<u128>> = (0..=ones(width))
                .map(|x| (0..=ones(width)).map(|y| evaluate(&terms, &[root], &[x, y])[0]).collect())
                .collect();
            let (mut exact, mut rounds) = (0, 0);
            for _round in 0..600 {
                let given = [numbers.fact(width), numbers.fact(width)];
                let fact = forward(&terms, root, &mut |number, _width| given[number as usize]);
                let [x, y] = given.map(|fact| members(&fact));
                let at = |value: u128| usize::try_from(value).expect("it is small");
                let results: BTreeSet<u128> = x
                    .iter()
                    .flat_map(|&x| y.iter().map(move |&y| (x, y)))
                    .map(|(x, y)| values[at(x)][at(y)])
                    .collect();
                for &value in &results {
                    assert!(fact.contains(value), "operation {kind} of {given:?} is {value}, not {fact:?}");
                }
                rounds += 1;
                exact += u32::from(members(&fact) == members(&hull(&results, fact.width())));
            }
            assert!(exact * 10 >= rounds * tenths(kind), "operation {kind}: {exact} of {rounds} are best");
        }
    }
    assert_eq!(seen.len(), 21, "every operation is tried");
}

#[test]
fn wide_words_keep_their_results_too() {
    let mut numbers = Numbers(7);
    for width in [63, 64, 65, 125, 127, 128] {
        for kind in 0.. {
            if width > 125 && matches!(kind, 12..=14) || width > 64 && kind == 12 {
                continue;
            }
            let mut terms = Terms::new();
            let (a, b) = (terms.input(0, width), terms.input(1, width));
            let Some(root) = operation(&mut terms, kind, a, b) else { break };
            let mut program = Program::<u128>::compile(&terms, &[root]).expect("nothing is wider");
            let mut run = |inputs: [u128; 2]| {
                let mut result = [0];
                program.run(&inputs, &mut result);
                result[0]
            };
            for _round in 0..200 {
                let inputs = [0; 2].map(|_| numbers.edge(width));
                let given = inputs.map(|value| numbers.fact_around(value, width));
                let fact = forward(&terms, root, &mut |number, _width| given[number as usize]);
                let result = run(inputs);
                assert!(
                    fact.contains(result),
                    "operation {kind} of {inputs:x?} is {result:x}, not {fact:x?}"
                );
                let bits = numbers.edge(terms.width(root));
                let mut masks = [0; 2];
                demanded(&terms, root, bits, &mut |number, bits| masks[number as usize] |= bits);
                let other =
                    std::array::from_fn(|at| inputs[at] & masks[at] | numbers.edge(width) & !masks[at]);
                let same = run(other) & bits == result & bits;
                assert!(same, "{bits:x} of operation {kind} need more than {masks:x?}");
            }
        }
    }
}

/// In how many tenths of random cases, at least, the fact of an operation is the best one that there is.
fn tenths(kind: u32) -> u32 {
    match kind {
        // Not, comparisons, the magnitude, and what a comparison chooses of its operands.
        0 | 15..=17 | 22 | 24..=26 => 9,
        // Products, quotients, remainders.
        6..=8 => 5,
        _ => 6,
    }
}

/// The best fact that contains these numbers.
fn hull(values: &BTreeSet<u128>, width: u32) -> Fact {
    values.iter().fold(Fact::bottom(width), |fact, &value| fact.join(&Fact::exact(value, width)))
}

/// Any terms over three words, with as many bits as `widths` says.
fn fragment(terms: &mut Terms, widths: [u32; 3], numbers: &mut Numbers) -> Vec<Term> {
    let mut pool: Vec<Term> = (0..).zip(widths).map(|(number, width)| terms.input(number, width)).collect();
    for _step in 0..12 {
        let pick = |numbers: &mut Numbers| {
            pool[numbers.below(u32::try_from(pool.len()).expect("it is small")) as usize]
        };
        let a = pick(numbers);
        let width = terms.width(a);
        let b = match numbers.below(3) {
            0 => terms.constant(numbers.value(width), width),
            _ => pick(numbers),
        };
        let b = match terms.width(b) {
            other if other > width => terms.extract(b, numbers.below(other - width + 1), width),
            _ if numbers.below(2) == 0 => terms.sign_extend(b, width),
            _ => terms.zero_extend(b, width),
        };
        let (a, b) = if numbers.below(2) == 0 { (a, b) } else { (b, a) };
        let kind = numbers.below(32);
        let made = match kind {
            12..=14 if width > 12 => None,
            18..=20 if width < 3 => None,
            30 => {
                let condition = pick(numbers);
                let condition = terms.extract(condition, 0, 1);
                Some(terms.choose(condition, a, b))
            }
            kind => operation(terms, kind, a, b),
        };
        pool.extend(made);
    }
    pool
}

/// All values of three inputs.
fn all_inputs(widths: [u32; 3]) -> impl Iterator<Item = [u128; 3]> {
    let [a, b, c] = widths.map(|width| 0..=ones(width));
    a.flat_map(move |x| {
        let c = c.clone();
        b.clone().flat_map(move |y| c.clone().map(move |z| [x, y, z]))
    })
}

#[test]
fn facts_of_fragments_contain_every_value() {
    let mut numbers = Numbers(5);
    let (mut known, mut all) = (0, 0);
    for _fragment in 0..400 {
        let widths = [0; 3].map(|_| 1 + numbers.below(4));
        let mut terms = Terms::new();
        let pool = fragment(&mut terms, widths, &mut numbers);
        let cone = Cone::new(&terms, &pool);
        let shown: Vec<Term> = cone.terms().collect();
        let given = widths.map(|width| numbers.fact(width));
        let facts = cone.forward(&mut |number, _width| given[number as usize]);
        let mut program = Program::<u128>::compile(&terms, &shown).expect("nothing is wider");
        let mut values = vec![0; shown.len()];
        for inputs in all_inputs(widths) {
            if given.iter().zip(inputs).all(|(fact, value)| fact.contains(value)) {
                program.run(&inputs, &mut values);
                for ((fact, &value), &term) in facts.iter().zip(&values).zip(&shown) {
                    assert!(
                        fact.contains(value),
                        "{value} of {:?} in {terms:?} is not {fact:?}",
                        terms.op(term)
                    );
                }
            }
        }
        known += facts.iter().filter(|fact| !fact.is_top()).count();
        all += facts.len();
    }
    assert!(known * 2 > all, "something is known of most: {known} of {all}");
}

#[test]
fn undemanded_bits_may_be_anything_together() {
    let mut numbers = Numbers(6);
    let (mut given_up, mut all) = (0, 0);
    for _fragment in 0..1500 {
        let widths = [0; 3].map(|_| 1 + numbers.below(4));
        let mut terms = Terms::new();
        let pool = fragment(&mut terms, widths, &mut numbers);
        let root = pool[3 + numbers.below(u32::try_from(pool.len() - 3).expect("it is small")) as usize];
        let bits = if numbers.below(2) == 0 {
            1 << numbers.below(terms.width(root))
        } else {
            numbers.value(terms.width(root))
        };
        let mut masks = [0; 3];
        demanded(&terms, root, bits, &mut |number, bits| masks[number as usize] |= bits);
        let mut program = Program::<u128>::compile(&terms, &[root]).expect("nothing is wider");
        let mut results = BTreeMap::new();
        for inputs in all_inputs(widths) {
            let mut value = [0];
            program.run(&inputs, &mut value);
            let seen: [u128; 3] = std::array::from_fn(|number| inputs[number] & masks[number]);
            let result = *results.entry(seen).or_insert(value[0] & bits);
            assert_eq!(
                result,
                value[0] & bits,
                "{bits:x} of {:?} needs more than {masks:x?} of {terms:?}",
                terms.op(root)
            );
        }
        given_up += masks.iter().zip(widths).map(|(mask, width)| width - mask.count_ones()).sum::<u32>();
        all += widths.iter().sum::<u32>();
    }
    assert!(given_up * 5 > all, "bits are given up: {given_up} of {all}");
}

/// What is known of `x * a + y * (whole - a)` for a weight of 4 bits and numbers of at most 5.
fn blended(whole: u128, [x, y]: [(u128, u128); 2]) -> Fact {
    let mut terms = Terms::new();
    let [x_input, y_input, a] = [0, 1, 2].map(|number| terms.input(number, 12));
    let whole = terms.constant(whole, 12);
    let rest = terms.sub(whole, a);
    let products = [terms.mul(x_input, a), terms.mul(rest, y_input)];
    let sum = terms.add(products[0], products[1]);
    let range = |(least, most)| Fact::from_unsigned(least, most, 12);
    let facts = [range(x), range(y), range((0, 15))];
    forward(&terms, sum, &mut |number, _| facts[number as usize])
}

#[test]
fn a_blend_lies_between_what_is_blended() {
    assert_eq!(blended(15, [(0, 31), (0, 31)]).unsigned(), (0, 31 * 15));
    assert_eq!(blended(16, [(3, 20), (2, 31)]).unsigned(), (2 * 16, 31 * 16));
}

#[test]
fn a_weight_that_may_be_more_than_the_whole_bounds_nothing() {
    // `x * 15 + y * (14 - 15)` is negative where `x` is zero.
    assert_eq!(blended(14, [(0, 31), (0, 31)]).unsigned(), (0, ones(12)));
}

#[test]
fn a_blend_that_may_wrap_is_not_bounded() {
    assert!(blended(200, [(0, 31), (0, 31)]).unsigned().1 > 31 * 15);
}
