//! One-step mutants of correct rewrites: none that is wrong may be called proved.
//!
//! Which ones are wrong is decided without the prover, by running them on a million vectors that are drawn towards
//! the edges; a counterexample of the prover is run as well before it is believed.

use crate::pairs::{Code, Expected, PAIRS};
use ptxopt_grammar::meaning::concrete::Program;
use ptxopt_grammar::meaning::term::{Op, Term, Terms};
use ptxopt_prover::{Budget, Counterexample, Query, Verdict, prove};

const VECTORS: usize = 1_000_000;
const MOST_PER_PAIR: usize = 140;
const WANTED: usize = 1500;

/// What is done to one term.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    /// Another operation on the same operands.
    Op,
    /// The operands of an operation for which their order matters, or one operand in place of the other.
    Operands,
    /// The operand alone, without what is done to it.
    Dropped,
    /// One bit of a constant.
    Bit(u32),
    /// A place this far up.
    Moved(i32),
}

fn changes(terms: &Terms, term: Term) -> Vec<Change> {
    let width = terms.width(term);
    match terms.op(term) {
        Op::Input(_) => Vec::new(),
        Op::Constant(_) => (0..width).map(Change::Bit).collect(),
        Op::Not(_) => vec![Change::Dropped],
        Op::And(..) | Op::Or(..) | Op::Xor(..) | Op::Add(..) | Op::Mul(..) => {
            vec![Change::Op, Change::Operands, Change::Dropped]
        }
        Op::UnsignedDivide(..) | Op::UnsignedRemainder(..) | Op::Shl(..) | Op::Lshr(..) | Op::Ashr(..) => {
            vec![Change::Op, Change::Operands]
        }
        Op::Extract(inner, low) => [-8, -1, 1, 8]
            .into_iter()
            .filter(|by| low.checked_add_signed(*by).is_some_and(|low| low + width <= terms.width(inner)))
            .map(Change::Moved)
            .collect(),
        Op::Concat(..) | Op::Choose(..) => vec![Change::Operands],
        Op::ZeroExtend(_) | Op::SignExtend(_) => vec![Change::Op],
        Op::Equal(..) | Op::UnsignedLess(..) | Op::SignedLess(..) => vec![Change::Op, Change::Operands],
    }
}

/// All changes that could be made to one of the sides: the side, the place and what is done there.
pub(crate) fn changes_of(terms: &Terms, sides: &[Term]) -> Vec<(Term, Term, Change)> {
    let mut all = Vec::new();
    for &side in sides {
        for place in terms.cone(side) {
            all.extend(changes(terms, place).into_iter().map(|change| (side, place, change)));
        }
    }
    all
}

/// The term with `change` made in one place, all else being made anew.
pub(crate) fn mutant(terms: &mut Terms, root: Term, place: Term, change: Change) -> Term {
    let mut made: Vec<Term> = Vec::new();
    for term in terms.iter().take(root.index() + 1) {
        let old = |operand: Term| made[operand.index()];
        let width = terms.width(term);
        let applied = (term == place).then_some(change);
        let new = match (terms.op(term), applied) {
            (Op::Input(_), _) => term,
            (Op::Constant(value), Some(Change::Bit(bit))) => terms.constant(value ^ 1 << bit, width),
            (Op::Constant(_), _) => term,
            (Op::Not(a), Some(_)) => old(a),
            (Op::Not(a), None) => terms.not(old(a)),
            (
                Op::And(a, _) | Op::Or(a, _) | Op::Xor(a, _) | Op::Add(a, _) | Op::Mul(a, _),
                Some(Change::Dropped),
            ) => old(a),
            (Op::And(a, _), Some(Change::Operands)) => terms.and(old(a), old(a)),
            (Op::Or(_, b), Some(Change::Operands)) => terms.or(old(b), old(b)),
            (Op::Xor(_, b), Some(Change::Operands)) => old(b),
            (Op::Add(_, b), Some(Change::Operands)) => terms.add(old(b), old(b)),
            (Op::Mul(_, b), Some(Change::Operands)) => terms.mul(old(b), old(b)),
            (Op::And(a, b), Some(_)) => terms.or(old(a), old(b)),
            (Op::And(a, b), None) => terms.and(old(a), old(b)),
            (Op::Or(a, b), Some(_)) => terms.xor(old(a), old(b)),
            (Op::Or(a, b), None) => terms.or(old(a), old(b)),
            (Op::Xor(a, b), Some(_)) => terms.or(old(a), old(b)),
            (Op::Xor(a, b), None) => terms.xor(old(a), old(b)),
            (Op::Add(a, b), Some(_)) => terms.sub(old(a), old(b)),
            (Op::Add(a, b), None) => terms.add(old(a), old(b)),
            (Op::Mul(a, b), Some(_)) => terms.add(old(a), old(b)),
            (Op::Mul(a, b), None) => terms.mul(old(a), old(b)),
            (Op::UnsignedDivide(a, b), Some(_)) => terms.unsigned_remainder(old(a), old(b)),
            (Op::UnsignedDivide(a, b), None) => terms.unsigned_divide(old(a), old(b)),
            (Op::UnsignedRemainder(a, b), Some(_)) => terms.unsigned_divide(old(a), old(b)),
            (Op::UnsignedRemainder(a, b), None) => terms.unsigned_remainder(old(a), old(b)),
            (Op::Shl(a, b), Some(_)) => terms.lshr(old(a), old(b)),
            (Op::Shl(a, b), None) => terms.shl(old(a), old(b)),
            (Op::Lshr(a, b), Some(_)) => terms.ashr(old(a), old(b)),
            (Op::Lshr(a, b), None) => terms.lshr(old(a), old(b)),
            (Op::Ashr(a, b), Some(_)) => terms.lshr(old(a), old(b)),
            (Op::Ashr(a, b), None) => terms.ashr(old(a), old(b)),
            (Op::Extract(a, low), Some(Change::Moved(by))) => {
                terms.extract(old(a), low.checked_add_signed(by).expect("it was looked at"), width)
            }
            (Op::Extract(a, low), _) => terms.extract(old(a), low, width),
            (Op::Concat(a, b), Some(_)) => terms.concat(old(b), old(a)),
            (Op::Concat(a, b), None) => terms.concat(old(a), old(b)),
            (Op::ZeroExtend(a), Some(_)) => terms.sign_extend(old(a), width),
            (Op::ZeroExtend(a), None) => terms.zero_extend(old(a), width),
            (Op::SignExtend(a), Some(_)) => terms.zero_extend(old(a), width),
            (Op::SignExtend(a), None) => terms.sign_extend(old(a), width),
            (Op::Equal(a, b), Some(_)) => terms.unsigned_less(old(a), old(b)),
            (Op::Equal(a, b), None) => terms.equal(old(a), old(b)),
            (Op::UnsignedLess(a, b), Some(Change::Operands)) => terms.unsigned_less(old(b), old(a)),
            (Op::UnsignedLess(a, b), Some(_)) => terms.signed_less(old(a), old(b)),
            (Op::UnsignedLess(a, b), None) => terms.unsigned_less(old(a), old(b)),
            (Op::SignedLess(a, b), Some(Change::Operands)) => terms.signed_less(old(b), old(a)),
            (Op::SignedLess(a, b), Some(_)) => terms.unsigned_less(old(a), old(b)),
            (Op::SignedLess(a, b), None) => terms.signed_less(old(a), old(b)),
            (Op::Choose(a, b, c), Some(_)) => terms.choose(old(a), old(c), old(b)),
            (Op::Choose(a, b, c), None) => terms.choose(old(a), old(b), old(c)),
        };
        made.push(new);
    }
    made[root.index()]
}

/// The next number of a stream.
fn draw(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    state.wrapping_mul(0x2545_f491_4f6c_dd1d)
}

/// A million vectors of three words; most bytes are at an edge, and words are often alike.
fn vectors() -> Vec<[u64; 3]> {
    const EDGES: [u64; 8] = [0, 1, 0x7f, 0x80, 0x81, 0xfe, 0xff, 0];
    let mut state = 0x1234_5678_9abc_def1;
    let word = |state: &mut u64| {
        (0..4).fold(0, |word, _| {
            let choice = draw(state) >> 16;
            let byte = if choice & 3 == 0 { choice >> 8 & 0xff } else { EDGES[(choice >> 2 & 7) as usize] };
            word << 8 | byte
        })
    };
    let mut all = Vec::with_capacity(VECTORS);
    for _ in 0..VECTORS {
        let mut vector = [word(&mut state), word(&mut state), word(&mut state)];
        let choice = draw(&mut state) >> 20;
        if choice & 7 == 0 {
            let mask =
                (0..4).fold(0, |mask, lane| mask | (((choice >> (8 + lane)) & 1) * 0xff) << (8 * lane));
            let near = vector[0].wrapping_add(choice >> 16 & 1) & 0xffff_ffff;
            vector[1] = near & mask | vector[1] & !mask;
        }
        all.push(vector);
    }
    all
}

fn same_on(terms: &Terms, before: Term, after: Term, counterexample: &Counterexample) -> bool {
    let mut inputs = [0; 3];
    counterexample.inputs.iter().for_each(|input| inputs[input.number as usize] = input.value as u64);
    let mut program = Program::<u64>::compile(terms, &[before, after]).expect("words are narrow");
    let mut results = [0; 2];
    program.run(&inputs, &mut results);
    assert_eq!(results.map(u128::from), [counterexample.before[0], counterexample.after[0]]);
    results[0] == results[1]
}

#[derive(Default, Debug)]
struct Counts {
    mutants: usize,
    wrong: usize,
    refuted: usize,
    wrong_unproved: usize,
    equal_proved: usize,
    equal_unproved: usize,
    missed_by_vectors: usize,
}

#[test]
fn no_wrong_mutant_is_proved() {
    let vectors = vectors();
    let mut counts = Counts::default();
    for pair in PAIRS.iter().filter(|pair| pair.expected == Expected::Equal) {
        let mut code = Code::new();
        let (before, after) = (pair.build)(&mut code);
        let mut program = Program::<u64>::compile(&code.terms, &[before]).expect("words are narrow");
        let mut expected = vec![0; vectors.len()];
        for (vector, result) in vectors.iter().zip(&mut expected) {
            program.run(vector, std::slice::from_mut(result));
        }
        let all = changes_of(&code.terms, &[after, before]);
        let step = all.len().div_ceil(MOST_PER_PAIR).max(1);
        for (side, place, change) in all.into_iter().step_by(step) {
            let mut terms = code.terms.clone();
            let changed = mutant(&mut terms, side, place, change);
            if changed == side {
                continue;
            }
            counts.mutants += 1;
            let mut program = Program::<u64>::compile(&terms, &[changed]).expect("words are narrow");
            let mut result = [0];
            let wrong = vectors.iter().zip(&expected).any(|(vector, &expected)| {
                program.run(vector, &mut result);
                result[0] != expected
            });
            counts.wrong += usize::from(wrong);
            let mut query = Query::new(&terms, vec![before], vec![changed]);
            query.budget = Budget { step: 200, total: 4000 };
            let name = pair.name;
            match (prove(&query), wrong) {
                (Verdict::Proved(_), true) => panic!("{name}: {place:?} {change:?} is wrong and was proved"),
                (Verdict::Refuted(counterexample), _) => {
                    assert!(!same_on(&terms, before, changed, &counterexample), "{name}: {change:?}");
                    counts.refuted += 1;
                    counts.missed_by_vectors += usize::from(!wrong);
                }
                (Verdict::Unproved, true) => counts.wrong_unproved += 1,
                (Verdict::Proved(_), false) => counts.equal_proved += 1,
                (Verdict::Unproved, false) => counts.equal_unproved += 1,
            }
        }
    }
    println!("{counts:?}");
    assert!(counts.wrong >= WANTED, "{counts:?}");
}
