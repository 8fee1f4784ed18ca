//! How fast meaning runs: `vop4` instructions one at a time, and lanes of them 512 vectors at a time.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use ptxopt_grammar::meaning::concrete;
use ptxopt_grammar::meaning::term::{Term, Terms};
use ptxopt_grammar::meaning::{video, wide};
use ptxopt_grammar::video::{Form, Lanes, Routing, Sign, Simd, SimdArithmetic, SimdOp, SimdThen};

fn main() {
    divan::main();
}

const OPS: [(&str, SimdArithmetic, Sign, SimdThen); 6] = [
    ("vadd4", SimdArithmetic::Add, Sign::Unsigned, SimdThen::Store),
    ("vadd4.sat", SimdArithmetic::Add, Sign::Signed, SimdThen::Saturate),
    ("vabsdiff4", SimdArithmetic::AbsDiff, Sign::Unsigned, SimdThen::Store),
    ("vabsdiff4.add", SimdArithmetic::AbsDiff, Sign::Unsigned, SimdThen::Add),
    ("vavrg4", SimdArithmetic::Average, Sign::Signed, SimdThen::Store),
    ("vmin4", SimdArithmetic::Min, Sign::Signed, SimdThen::Store),
];

fn names() -> impl Iterator<Item = &'static str> {
    OPS.into_iter().map(|(name, ..)| name)
}

fn built(name: &str) -> (Terms, Term) {
    let (_, op, sign, then) =
        OPS.into_iter().find(|(known, ..)| *known == name).expect("the name is one of the list");
    let op = SimdOp::Arithmetic { op, dtype: sign, then };
    let form = Simd { op, atype: sign, btype: sign, routing: Routing::plain(Lanes::Four) };
    let mut terms = Terms::new();
    let sources = [0, 1, 2].map(|number| terms.input(number, 32));
    let result = video::result(&mut terms, Form::Simd(form), sources);
    (terms, result)
}

/// Instructions per second.
#[divan::bench(args = names())]
fn one_at_a_time(bencher: Bencher<'_, '_>, name: &str) {
    let (terms, result) = built(name);
    let mut program = concrete::Program::<u64>::compile(&terms, &[result]).expect("words are narrow");
    bencher.counter(ItemsCount::new(1_000_usize)).bench_local(|| {
        let mut results = [0x1234_5678];
        for round in 0..1_000 {
            program.run(black_box(&[results[0], 0x80ff_7f01, round]), &mut results);
        }
        results[0]
    });
}

/// Lane operations per second.
#[divan::bench(args = names())]
fn planes(bencher: Bencher<'_, '_>, name: &str) {
    let (terms, result) = built(name);
    let mut program = wide::WideProgram::compile(&terms, &[result]);
    let values: Vec<u128> =
        (0..wide::VECTORS as u128).map(|value| value.wrapping_mul(0x9e37_79b9) & 0xffff_ffff).collect();
    let inputs = vec![wide::planes(&values, 32); 3];
    bencher.counter(ItemsCount::new(4 * wide::VECTORS)).bench_local(|| {
        program.run(black_box(&inputs));
        program.output(0).fold(0, |all, plane| all ^ plane[0])
    });
}
