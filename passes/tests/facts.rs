//! Facts and demanded bits against the prover, for every row of the instruction table with a meaning; and how
//! precise they are where code of bytes needs it.

#![expect(clippy::print_stdout, reason = "tests say how much they covered")]

use ptxopt_grammar::meaning::meaning;
use ptxopt_grammar::meaning::term::{Term, Terms, ones, signed};
use ptxopt_grammar::table;
use ptxopt_passes::facts::{Cone, Fact, demanded, forward};
use ptxopt_prover::{Budget, Query, Verdict, prove};
use std::collections::BTreeSet;

const INSTANCES: &str = include_str!("../../tests/roles/instances.txt");
const VIDEO_FORMS: &str = include_str!("../../grammar/tests/video_forms.txt");

const REGISTERS: &str = ".reg .b32 %r<20>, %u<9>, %s<9>, %x<9>; .reg .b64 %rd<20>, %d<9>; .reg .b16 %rs<20>; \
     .reg .b128 %rq<20>; .reg .f32 %f<20>; .reg .f64 %fd<20>; .reg .f16 %h<20>; .reg .pred %p<20>; \
     .reg .b8 %rb<20>;";

/// Inputs by number, as `feed` gives them; what an instruction writes.
type Feed<'f> = dyn FnMut(&mut Terms, u32, u32) -> Term + 'f;

fn values(instruction: &str, terms: &mut Terms, feed: &mut Feed<'_>) -> Option<Vec<Term>> {
    let text = format!(".version 9.0\n.target sm_90\n.func f() {{ {REGISTERS} {instruction} }}\n");
    let module = ptxopt_grammar::parse(text.as_bytes()).ok()?;
    let stmt = module.stmts().find(|&stmt| module.opcode(stmt).is_some())?;
    let mut names: Vec<Vec<u8>> = Vec::new();
    let written = meaning(&module, stmt, terms, &mut |terms, place, width| {
        let name = place.text(&module);
        let number = names.iter().position(|known| known == name).unwrap_or_else(|| {
            names.push(name.to_vec());
            names.len() - 1
        });
        Some(feed(terms, u32::try_from(number).expect("it is small"), width))
    })?;
    Some(written.iter().map(|write| write.value).collect())
}

/// What an instruction writes first, of its registers in the order of reading.
fn value(instruction: &str) -> (Terms, Term) {
    let mut terms = Terms::new();
    let values = values(instruction, &mut terms, &mut Terms::input);
    (terms, values.unwrap_or_else(|| panic!("{instruction} has no meaning"))[0])
}

/// What is known of it if nothing is known of its inputs.
fn known(instruction: &str) -> Fact {
    let (terms, root) = value(instruction);
    forward(&terms, root, &mut |_number, width| Fact::top(width))
}

fn demand(instruction: &str, bits: u128) -> Vec<(u32, u128)> {
    let (terms, root) = value(instruction);
    let mut demand = Vec::new();
    demanded(&terms, root, bits, &mut |number, bits| demand.push((number, bits)));
    demand
}

/// A generator of numbers.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, count: u64) -> u64 {
        self.next() % count
    }

    fn value(&mut self, width: u32) -> u128 {
        (u128::from(self.next()) << 64 | u128::from(self.next())) & ones(width)
    }

    /// Something that code may know of a word: nothing, a small number, a range, bits, a number.
    fn fact(&mut self, width: u32) -> Fact {
        let (value, other) = (self.value(width), self.value(width));
        let small = |value: u128| value & ones(8.min(width));
        let (x, y) = (signed(value, width) >> (width / 2), signed(other, width) >> (width / 2));
        match self.below(8) {
            0 => Fact::top(width),
            1 => Fact::from_unsigned(0, ones(8.min(width)), width),
            2 => Fact::from_unsigned(small(value).min(small(other)), small(value).max(small(other)), width),
            3 => Fact::from_unsigned(value.min(other), value.max(other), width),
            4 => Fact::from_signed(x.min(y), x.max(y), width),
            5 => {
                let known = self.value(width) & 0xff00_ff00_f0f0_ff00_00ff_00ff_0ff0;
                Fact::from_bits(!value & known, value & known, width)
            }
            6 => Fact::from_bits(0x7 & other, 0, width),
            _ => Fact::exact(small(value), width),
        }
    }
}

/// How many questions were decided.
#[derive(Default)]
struct Tally {
    proved: u32,
    unproved: u32,
    /// Nothing to prove: nothing is known, or all bits are demanded.
    empty: u32,
}

impl Tally {
    fn count(&mut self, verdict: &Verdict, what: impl Fn() -> String) {
        match verdict {
            Verdict::Proved(_) => self.proved += 1,
            Verdict::Unproved => {
                self.unproved += 1;
                println!("not decided: {}", what());
            }
            Verdict::Refuted(counterexample) => panic!("{}: {counterexample:?}", what()),
        }
    }

    /// Prints the counts, which must be mostly proofs.
    fn report(&self, what: &str) {
        let Self { proved, unproved, empty } = self;
        println!("{what}: {proved} proved, {unproved} not decided, {empty} with nothing to prove");
        assert!(proved > &(20 * unproved), "nearly all is decided");
        assert!(proved > empty, "most of it says something");
    }
}

const BUDGET: Budget = Budget { step: 60, total: 2500 };

/// One bit: whether the term lies in the ranges of a fact.
fn in_ranges(terms: &mut Terms, root: Term, fact: &Fact) -> Term {
    let width = terms.width(root);
    let mut number = |value: u128| terms.constant(value, width);
    let [least, greatest] = [fact.unsigned().0, fact.unsigned().1].map(&mut number);
    let [lowest, highest] = [fact.signed().0, fact.signed().1].map(|end| number(end.cast_unsigned()));
    let outside = [
        terms.unsigned_less(root, least),
        terms.unsigned_less(greatest, root),
        terms.signed_less(root, lowest),
        terms.signed_less(highest, root),
    ];
    let outside = outside.into_iter().reduce(|a, b| terms.or(a, b)).expect("there are four");
    terms.not(outside)
}

/// Proves what is known of a term if its inputs are as given.
fn forward_holds(terms: &mut Terms, root: Term, given: &[Fact], tally: &mut Tally, what: &str) {
    let fact = forward(terms, root, &mut |number, _width| given[number as usize]);
    assert!(!fact.is_bottom(), "{what} of {given:?} has a value");
    if fact.is_top() {
        tally.empty += 1;
        return;
    }
    let inside = in_ranges(terms, root, &fact);
    let (mask, bits) = fact.known();
    let (yes, bits) = (terms.bit(true), terms.constant(bits, fact.width()));
    let mut query = Query::new(terms, vec![inside, root], vec![yes, bits]);
    query.demanded = vec![1, mask];
    query.budget = BUDGET;
    query.assumptions =
        (0..).zip(given).filter_map(|(number, fact)| Some((number, fact.assumption()?))).collect();
    tally.count(&prove(&query), || format!("{what} of {given:?} is not {fact:?}"));
}

/// Proves that some bits of a value do not change with all bits that they do not demand. `make` makes the value from
/// its inputs.
fn demand_holds(
    bits: u128,
    make: &mut dyn FnMut(&mut Terms, &mut Feed<'_>) -> Term,
    tally: &mut Tally,
    what: &str,
) {
    let mut terms = Terms::new();
    let before = make(&mut terms, &mut Terms::input);
    let mut masks = vec![0; 16];
    demanded(&terms, before, bits, &mut |number, bits| masks[number as usize] |= bits);
    let mut all = true;
    let after = make(&mut terms, &mut |terms, number, width| {
        let mask = masks[number as usize] & ones(width);
        all &= mask == ones(width);
        let (input, junk) = (terms.input(number, width), terms.input(100 + number, width));
        let (mask, rest) = (terms.constant(mask, width), terms.constant(!mask, width));
        let (kept, other) = (terms.and(input, mask), terms.and(junk, rest));
        terms.or(kept, other)
    });
    if all {
        tally.empty += 1;
        return;
    }
    let mut query = Query::new(&terms, vec![before], vec![after]);
    query.demanded = vec![bits];
    query.budget = BUDGET;
    tally.count(&prove(&query), || format!("bits {bits:x} of {what} need more than {masks:x?}"));
}

/// A set of bits that may be demanded of a word.
fn some_bits(numbers: &mut Numbers, width: u32) -> u128 {
    let bits = match numbers.below(4) {
        0 => 1 << numbers.below(width.into()),
        1 => ones(8.min(width)) << (8 * numbers.below(u64::from(width).div_ceil(8))),
        2 => numbers.value(width) & numbers.value(width),
        _ => ones(1 + u32::try_from(numbers.below(width.into())).expect("it is small")),
    };
    bits & ones(width)
}

/// A term of two words of one width.
type Operation = fn(&mut Terms, [Term; 2]) -> Term;

/// All operations, and idioms of them.
const OPERATIONS: &[(&str, Operation)] = &[
    ("not", |terms, [a, _]| terms.not(a)),
    ("and", |terms, [a, b]| terms.and(a, b)),
    ("or", |terms, [a, b]| terms.or(a, b)),
    ("xor", |terms, [a, b]| terms.xor(a, b)),
    ("add", |terms, [a, b]| terms.add(a, b)),
    ("sub", |terms, [a, b]| terms.sub(a, b)),
    ("mul", |terms, [a, b]| terms.mul(a, b)),
    ("mul by 12", |terms, [a, _]| {
        let twelve = terms.constant(12, terms.width(a));
        terms.mul(a, twelve)
    }),
    ("divide", |terms, [a, b]| terms.unsigned_divide(a, b)),
    ("remainder", |terms, [a, b]| terms.unsigned_remainder(a, b)),
    ("shl", |terms, [a, b]| terms.shl(a, b)),
    ("lshr", |terms, [a, b]| terms.lshr(a, b)),
    ("ashr", |terms, [a, b]| terms.ashr(a, b)),
    ("extract", |terms, [a, _]| terms.extract(a, 3, terms.width(a) - 4)),
    ("concat", |terms, [a, b]| terms.concat(a, b)),
    ("zero_extend", |terms, [a, _]| terms.zero_extend(a, 40)),
    ("sign_extend", |terms, [a, _]| terms.sign_extend(a, 40)),
    ("equal", |terms, [a, b]| terms.equal(a, b)),
    ("unsigned_less", |terms, [a, b]| terms.unsigned_less(a, b)),
    ("signed_less", |terms, [a, b]| terms.signed_less(a, b)),
    ("less than 24", |terms, [a, _]| {
        let bound = terms.constant(24, terms.width(a));
        terms.signed_less(a, bound)
    }),
    ("choose", |terms, [a, b]| {
        let bit = terms.extract(a, 0, 1);
        terms.choose(bit, a, b)
    }),
    ("distance", |terms, [a, b]| {
        let less = terms.unsigned_less(a, b);
        let (up, down) = (terms.sub(b, a), terms.sub(a, b));
        terms.choose(less, up, down)
    }),
    ("signed distance", |terms, [a, b]| {
        let less = terms.signed_less(a, b);
        let (up, down) = (terms.sub(b, a), terms.sub(a, b));
        terms.choose(less, up, down)
    }),
    ("swapped bytes", |terms, [a, b]| {
        let low = terms.constant(0x0f0f_0f0f, terms.width(a));
        let (a, b) = (terms.and(a, low), terms.and(b, low));
        terms.add(a, b)
    }),
];

#[test]
fn operations_are_as_the_prover_says() {
    let mut numbers = Numbers(1);
    let (mut forth, mut back) = (Tally::default(), Tally::default());
    for (name, operation) in OPERATIONS {
        for width in [8, 16, 32] {
            let hard = matches!(*name, "mul" | "divide" | "remainder") && width > 8;
            for _round in 0..if hard { 2 } else { 12 } {
                let mut make = |terms: &mut Terms, feed: &mut Feed<'_>| {
                    let operands = [0, 1].map(|number| feed(terms, number, width));
                    operation(terms, operands)
                };
                let mut terms = Terms::new();
                let root = make(&mut terms, &mut Terms::input);
                let given = [numbers.fact(width), numbers.fact(width)];
                forward_holds(&mut terms, root, &given, &mut forth, name);
                let bits = some_bits(&mut numbers, terms.width(root));
                demand_holds(bits, &mut make, &mut back, name);
            }
        }
    }
    forth.report("forward");
    back.report("demanded");
}

/// The instructions in the list of instances, with their rows.
fn instances() -> Vec<(&'static str, &'static str)> {
    let mut row = "";
    let mut instances = Vec::new();
    for line in INSTANCES.lines() {
        if let Some(head) = line.strip_prefix("== ") {
            // A row's name may have blanks in it no more than its target has.
            row = head.split_whitespace().next().expect("a row has a name");
        } else if line.ends_with(';')
            && !["module:", "before:", "after:"].iter().any(|head| line.starts_with(head))
        {
            instances.push((row, line));
        }
    }
    instances
}

/// Proves facts of, and demand on, everything that an instruction writes; whether it has a meaning.
fn instruction_holds(
    text: &str,
    rounds: u32,
    numbers: &mut Numbers,
    forth: &mut Tally,
    back: &mut Tally,
) -> bool {
    let mut terms = Terms::new();
    let mut widths = [1; 16];
    let written = values(text, &mut terms, &mut |terms, number, width| {
        widths[number as usize] = width;
        terms.input(number, width)
    });
    let Some(written) = written else { return false };
    for (at, &root) in written.iter().enumerate() {
        for _round in 0..rounds {
            let given = widths.map(|width| numbers.fact(width));
            forward_holds(&mut terms, root, &given, forth, text);
            let bits = some_bits(numbers, terms.width(root));
            let mut make = |terms: &mut Terms, feed: &mut Feed<'_>| {
                values(text, terms, feed).expect("it has a meaning")[at]
            };
            demand_holds(bits, &mut make, back, text);
        }
    }
    true
}

#[test]
fn instructions_are_as_the_prover_says() {
    let mut numbers = Numbers(2);
    let (mut forth, mut back) = (Tally::default(), Tally::default());
    let mut covered = BTreeSet::new();
    for (row, text) in instances() {
        if instruction_holds(text, 4, &mut numbers, &mut forth, &mut back) {
            covered.insert(row);
        }
    }
    let meant: BTreeSet<_> = table::rows().filter(|row| row.means.is_some()).map(|row| row.name).collect();
    let missing: Vec<_> = meant.difference(&covered).collect();
    assert!(missing.is_empty(), "rows without an instance: {missing:?}");
    println!("{} rows", covered.len());
    forth.report("forward");
    back.report("demanded");
}

#[test]
fn video_forms_are_as_the_prover_says() {
    let mut numbers = Numbers(3);
    let (mut forth, mut back) = (Tally::default(), Tally::default());
    let mut forms = 0;
    let legal = VIDEO_FORMS.lines().filter(|line| !line.contains('#'));
    for form in legal.step_by(4) {
        forms += u32::from(instruction_holds(&format!("{form};"), 1, &mut numbers, &mut forth, &mut back));
    }
    println!("{forms} forms");
    assert!(forms > 100, "{forms} forms were tried");
    forth.report("forward");
    back.report("demanded");
}

#[test]
fn sums_of_bytes_are_small() {
    let mut terms = Terms::new();
    let bytes = [0, 1].map(|number| {
        let byte = terms.input(number, 8);
        terms.zero_extend(byte, 32)
    });
    let sum = terms.add(bytes[0], bytes[1]);
    let fact = forward(&terms, sum, &mut |_number, width| Fact::top(width));
    assert_eq!((fact.unsigned(), fact.signed()), ((0, 510), (0, 510)));
    let difference = terms.sub(bytes[0], bytes[1]);
    let fact = forward(&terms, difference, &mut |_number, width| Fact::top(width));
    assert_eq!(fact.signed(), (-255, 255));
    let less = terms.unsigned_less(bytes[0], bytes[1]);
    let opposite = terms.sub(bytes[1], bytes[0]);
    let distance = terms.choose(less, opposite, difference);
    let fact = forward(&terms, distance, &mut |_number, width| Fact::top(width));
    assert_eq!(fact.unsigned(), (0, 255));
}

#[test]
fn sums_of_distances_are_small() {
    let text = "vabsdiff4.u32.u32.u32.add %r0, %r1, %r2, %r3;";
    let (terms, root) = value(text);
    let input = |number: u32, width: u32| if number == 2 { Fact::exact(0, width) } else { Fact::top(width) };
    assert_eq!(forward(&terms, root, &mut { input }).unsigned(), (0, 4 * 255));
    // A distance of whole words may be any.
    assert!(known("sad.u32 %r0, %r1, %r2, 0;").is_top());
    let (terms, root) = value("sad.u32 %r0, %r1, %r2, 0;");
    let fact = forward(&terms, root, &mut |_number, width| Fact::from_unsigned(10, 265, width));
    assert_eq!(fact.unsigned(), (0, 255));
    let (terms, root) = value("sad.s32 %r0, %r1, %r2, 0;");
    let fact = forward(&terms, root, &mut |_number, width| Fact::from_signed(-128, 127, width));
    assert_eq!(fact.unsigned(), (0, 255));
}

#[test]
fn clamped_values_are_in_their_range() {
    assert_eq!(known("cvt.sat.u8.s32 %r0, %r1;").unsigned(), (0, 255));
    assert_eq!(known("cvt.sat.s8.s32 %r0, %r1;").signed(), (-128, 127));
    assert_eq!(known("vadd.u32.u32.u32.sat.min %r0, %r1.b0, %r2.b0, 100;").unsigned(), (0, 100));
    assert_eq!(known("min.u32 %r0, %r1, 255;").unsigned(), (0, 255));
    assert_eq!(known("max.s32 %r0, %r1, 7;").signed(), (7, i128::from(i32::MAX)));
    assert_eq!(known("dp4a.u32.u32 %r0, %r1, %r2, 0;").unsigned(), (0, 4 * 255 * 255));
    assert_eq!(known("popc.b32 %r0, %r1;").unsigned(), (0, 32));
    assert_eq!(known("clz.b32 %r0, %r1;").signed(), (0, 32));
    assert_eq!(known("vset4.u32.u32.eq %r0, %r1, %r2, %r3;").known(), (0xfefe_fefe, 0));
    let (terms, root) = value("abs.s32 %r0, %r1;");
    let fact = forward(&terms, root, &mut |_number, width| Fact::from_signed(-255, 255, width));
    assert_eq!(fact.unsigned(), (0, 255));
}

#[test]
fn fields_and_bytes_are_known() {
    assert_eq!(known("bfe.u32 %r0, %r1, 8, 8;").unsigned(), (0, 255));
    assert_eq!(known("bfe.s32 %r0, %r1, 8, 8;").signed(), (-128, 127));
    assert_eq!(known("and.b32 %r0, %r1, 255;").unsigned(), (0, 255));
    assert_eq!(known("shr.u32 %r0, %r1, 24;").unsigned(), (0, 255));
    // Bytes 1 to 3 are the lowest byte of the second word, and byte 0 that of the first: here a zero.
    let (terms, root) = value("prmt.b32 %r0, %r1, %r2, 0x4440;");
    let fact = forward(&terms, root, &mut |number, width| {
        if number == 0 { Fact::top(width) } else { Fact::exact(0, width) }
    });
    assert_eq!(fact.unsigned(), (0, 255));
    // An amount below eight shifts a byte into a half.
    let (terms, root) = value("shl.b32 %r0, %r1, %r2;");
    let ends = [255, 7];
    let fact =
        forward(&terms, root, &mut |number, width| Fact::from_unsigned(0, ends[number as usize], width));
    assert_eq!(fact.unsigned(), (0, 255 << 7));
}

#[test]
fn only_bits_that_matter_are_demanded() {
    assert_eq!(demand("and.b32 %r0, %r1, 0xff00;", ones(32)), [(0, 0xff00)]);
    assert_eq!(demand("or.b32 %r0, %r1, 0xff00;", ones(32)), [(0, 0xffff_00ff)]);
    assert_eq!(demand("add.u32 %r0, %r1, %r2;", 0xff00), [(0, 0xffff), (1, 0xffff)]);
    assert_eq!(demand("shl.b32 %r0, %r1, 8;", 0xffff), [(0, 0xff)]);
    assert_eq!(demand("bfe.s32 %r0, %r1, 8, 8;", 1 << 31), [(0, 0x8000)]);
    assert_eq!(demand("prmt.b32 %r0, %r1, %r2, 0x4440;", ones(32)), [(0, 0xff), (1, 0xff)]);
    assert_eq!(demand("prmt.b32 %r0, %r1, %r2, 0x4440;", 0xff), [(0, 0xff), (1, 0)]);
    assert_eq!(demand("selp.b32 %r0, %r1, %r2, %p1;", 4), [(0, 4), (1, 4), (2, 1)]);
    assert_eq!(demand("selp.b32 %r0, %r1, %r2, %p1;", 0), [(0, 0), (1, 0), (2, 0)]);
    let lane = 0xff << 16;
    assert_eq!(
        demand("vadd4.u32.u32.u32 %r0, %r1, %r2, %r3;", lane),
        [(0, lane), (1, lane)],
        "one lane needs that of the operands, and nothing of what lies beneath"
    );
    let cone = |text| {
        let (terms, root) = value(text);
        (Cone::new(&terms, &[root]), root)
    };
    let (cone, root) = cone("and.b32 %r0, %r1, %r2;");
    let mut demand = Vec::new();
    cone.demanded(&[(root, 1), (root, 4)], &mut |_number, bits| demand.push(bits));
    assert_eq!(demand, [5, 5], "neither operand excuses the other");
}
