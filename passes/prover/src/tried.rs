//! Bits that depend on a few inputs: both sides computed for all values of these.
//!
//! A search finds no end in products and quotients, but a lane of a word is often a function of two bytes, and 65,536
//! values are few. Those that an input cannot have are left out, if it is one that the bits depend on as a whole.

use super::aig::{Aig, Gate, Lit, Unwatched};
use super::canonical::ConeInput;
use super::decide::{in_ranges, value};
use super::support::{Support, supports};
use super::sweep::evaluate;
use super::vectors::counting;

/// The most inputs of which all values are tried.
const MOST_INPUTS: u32 = 16;

/// The most gates, each on 64 vectors at a time, that are computed for one question.
const MOST_COMPUTED: usize = 1 << 24;

/// How many vectors are computed at once, as a power of two.
const AT_ONCE: u32 = 6;

/// Bits that may differ, and the inputs that they depend on.
struct Group {
    inputs: Support,
    differs: Lit,
}

/// Whether the two of each pair are equal for all inputs in their ranges. `false` if that was not found out.
pub(super) fn are_equal(
    graph: &mut Aig<Unwatched>,
    inputs: &[ConeInput],
    bits: &[Vec<Lit>],
    pairs: &[(Lit, Lit)],
) -> bool {
    let differs: Vec<Lit> = pairs
        .iter()
        .filter(|(before, after)| before != after)
        .map(|&(before, after)| graph.xor(before, after))
        .collect();
    let in_range = |(input, bits): (&ConeInput, &Vec<Lit>)| {
        in_ranges(std::slice::from_ref(input), std::slice::from_ref(bits), graph)
    };
    let ranges: Vec<Lit> = inputs.iter().zip(bits).map(in_range).filter(|lit| !lit.is_constant()).collect();
    // Of all in one answer, since sets of inputs are compared.
    let all = differs.iter().chain(&ranges).map(|lit| lit.node());
    let Some(supports) = supports(graph, all) else { return false };
    let Some(groups) = groups(graph, &supports, &differs) else { return false };
    let mut computed = 0;
    groups.into_iter().all(|group| {
        let differs = within_ranges(graph, &supports, &group, &ranges);
        let reached = graph.reached([differs.node()]);
        // The gates that it is made of, in order.
        let cone: Vec<usize> = (0..reached.len()).filter(|&at| reached[at]).collect();
        let Some(blocks) = blocks(graph, &cone) else { return false };
        computed += cone.len() << blocks;
        computed <= MOST_COMPUTED && never_differs(graph, differs, &cone, blocks)
    })
}

/// The literals together that depend on the same inputs; `None` if one depends on too many.
fn groups(graph: &mut Aig<Unwatched>, supports: &[Support], differs: &[Lit]) -> Option<Vec<Group>> {
    let mut groups: Vec<Group> = Vec::new();
    for &lit in differs {
        let own = supports[lit.node() as usize];
        let together = |group: &Group| (group.inputs | own).count() <= MOST_INPUTS && group.inputs.meets(own);
        match groups.iter_mut().find(|group| together(group)) {
            Some(group) => {
                group.inputs = group.inputs | own;
                group.differs = graph.or(group.differs, lit);
            }
            None if own.count() <= MOST_INPUTS => groups.push(Group { inputs: own, differs: lit }),
            None => return None,
        }
    }
    Some(groups)
}

/// The same where only values of inputs count that are in their ranges.
fn within_ranges(graph: &mut Aig<Unwatched>, supports: &[Support], group: &Group, ranges: &[Lit]) -> Lit {
    let own = |range: &&Lit| (supports[range.node() as usize] & !group.inputs).is_empty();
    ranges.iter().filter(own).fold(group.differs, |differs, &range| graph.and(differs, range))
}

/// How many times all of the gates are computed for all values of the inputs among them, as a power of two; `None` if
/// there are too many inputs.
fn blocks(graph: &Aig<Unwatched>, cone: &[usize]) -> Option<u32> {
    let inputs = cone.iter().filter(|&&at| matches!(graph.gates()[at], Gate::Input)).count();
    let inputs = u32::try_from(inputs).ok().filter(|&inputs| inputs <= MOST_INPUTS)?;
    Some(inputs.saturating_sub(AT_ONCE))
}

/// Whether a literal is false whatever the inputs are among the gates that it is made of.
fn never_differs(graph: &Aig<Unwatched>, differs: Lit, cone: &[usize], blocks: u32) -> bool {
    let gates = graph.gates();
    let mut words = vec![0_u64; gates.len()];
    (0..1_u64 << blocks).all(|block| {
        let mut input = 0;
        for &at in cone {
            words[at] = match gates[at] {
                Gate::Input => {
                    input += 1;
                    counting(input - 1, block)
                }
                gate @ (Gate::False | Gate::And(..) | Gate::Xor(..)) => {
                    evaluate(gate, |lit| value(&words, lit))
                }
            };
        }
        value(&words, differs) == 0
    })
}

#[cfg(test)]
mod tests {
    use crate::{Assumption, Proof, Query, Verdict, prove};
    use ptxopt_grammar::meaning::term::{Term, Terms};

    /// How many lanes there are.
    const LANES: u32 = 4;

    /// What a function makes of the lanes of two words, side by side.
    fn lane_by_lane(terms: &mut Terms, of: impl Fn(&mut Terms, [Term; 2]) -> Term) -> Term {
        let words = [0, 1].map(|number| terms.input(number, 8 * LANES));
        let lanes = (0..LANES).map(|at| {
            let lanes = words.map(|word| {
                let byte = terms.extract(word, 8 * at, 8);
                terms.zero_extend(byte, 16)
            });
            let result = of(terms, lanes);
            terms.extract(result, 8, 8)
        });
        let lanes: Vec<Term> = lanes.collect();
        terms.side_by_side(lanes).expect("there are lanes")
    }

    /// `(x | y)²`, and the same multiplied out, where `x | y` is `x + y - (x & y)`; with mixed products `more` times.
    fn squares(more: u128) -> (Terms, [Term; 2]) {
        let mut terms = Terms::new();
        let before = lane_by_lane(&mut terms, |terms, [x, y]| {
            let sum = terms.or(x, y);
            terms.mul(sum, sum)
        });
        let after = lane_by_lane(&mut terms, |terms, [x, y]| {
            let both = terms.and(x, y);
            let all = [terms.mul(x, x), terms.mul(y, y), terms.mul(both, both)];
            let more = terms.constant(more, 16);
            let crossed = [(x, y), (x, both), (y, both)].map(|(a, b)| {
                let product = terms.mul(a, b);
                terms.mul(product, more)
            });
            let [_, less, as_well] = crossed;
            let sum = all.into_iter().chain([crossed[0]]).reduce(|sum, next| terms.add(sum, next));
            let less = terms.add(less, as_well);
            terms.sub(sum.expect("there are four"), less)
        });
        (terms, [before, after])
    }

    #[test]
    fn lanes_of_two_bytes_are_tried_with_all_of_them() {
        let (terms, [before, after]) = squares(2);
        assert_eq!(prove(&Query::new(&terms, vec![before], vec![after])), Verdict::Proved(Proof::Parts));
    }

    #[test]
    fn lanes_that_differ_are_not_equal() {
        let (terms, [before, after]) = squares(3);
        let verdict = prove(&Query::new(&terms, vec![before], vec![after]));
        assert!(matches!(verdict, Verdict::Refuted(_)), "{verdict:?}");
    }

    /// Whether the highest bit of a product of two bytes is zero where 255 less the first one is at least so great.
    fn verdict_from(least: u128) -> Verdict {
        let mut terms = Terms::new();
        let bytes = [0, 1].map(|number| {
            let byte = terms.input(number, 8);
            terms.zero_extend(byte, 16)
        });
        let all = terms.constant(255, 16);
        let rest = terms.xor(bytes[0], all);
        let product = terms.mul(rest, bytes[1]);
        let (before, after) = (terms.extract(product, 15, 1), terms.constant(0, 1));
        let mut query = Query::new(&terms, vec![before], vec![after]);
        query.assumptions.insert(0, Assumption { unsigned: Some((least, 255)), ..Assumption::NONE });
        prove(&query)
    }

    #[test]
    fn values_outside_of_ranges_are_left_out() {
        assert_eq!(verdict_from(127), Verdict::Proved(Proof::Parts));
        let verdict = verdict_from(126);
        assert!(matches!(verdict, Verdict::Refuted(_)), "{verdict:?}");
    }

    #[test]
    fn ranges_of_bits_that_matter_not_do_not_matter() {
        // Only the lower seven bits of two bytes count, of which the ranges depend on the eighth.
        let mut terms = Terms::new();
        let bytes = [0, 1].map(|number| {
            let byte = terms.input(number, 8);
            let low = terms.extract(byte, 0, 7);
            terms.zero_extend(low, 16)
        });
        let product = terms.mul(bytes[0], bytes[1]);
        let once = terms.constant(113 * 127, 16);
        let (before, after) = (terms.equal(product, once), terms.constant(0, 1));
        let mut query = Query::new(&terms, vec![before], vec![after]);
        for number in 0..2 {
            let assumption = Assumption { unsigned: Some((0, 200)), ..Assumption::NONE };
            query.assumptions.insert(number, assumption);
        }
        let verdict = prove(&query);
        assert!(matches!(verdict, Verdict::Refuted(_)), "{verdict:?}");
    }
}
