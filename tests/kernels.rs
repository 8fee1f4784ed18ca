//! Whole kernels under the evaluator, against plain Rust written from the same CUDA source.
//!
//! `kernels/*.ptx` is what NVIDIA's compiler makes of small kernels that do byte-wise work. Each is run over seeded
//! buffers; what it leaves in memory must equal what the function beside its name says. The compiled modules of the
//! corpus have no such functions; of those it is only asked that running them ends in an answer. Every form of the
//! integer and byte instructions is run as well, for most have an operation of their own here.

#![expect(
    clippy::cast_possible_truncation,
    reason = "kernels cut words to bytes, and so do the functions beside them"
)]
#![expect(clippy::needless_range_loop, reason = "a thread's number is its place in several buffers")]

#[path = "support/constants.rs"]
mod constants;
#[path = "support/forms.rs"]
mod forms;
#[path = "support/modules.rs"]
mod modules;
#[path = "support/numbers.rs"]
mod numbers;
#[path = "support/one.rs"]
mod one;

use Reference::{Bytes, Halves, SignedBytes, SignedHalves, Words};
use constants::{Case, Expected};
use ptxopt_machine::{Argument, End, Launch, Machine, Outcome};
use std::path::Path;

/// What a kernel computes: from each lane of a and b, from each word of d, a and b, or something else.
enum Reference {
    Bytes(fn(i32, i32) -> i32),
    SignedBytes(fn(i32, i32) -> i32),
    Halves(fn(i32, i32) -> i32),
    SignedHalves(fn(i32, i32) -> i32),
    Words(fn(u32, u32, u32) -> u32),
}

const THREADS: usize = 128;
/// How many words a row of an image has, and how often loops go round.
const WIDTH: usize = 16;

fn bytes(x: u32) -> [i32; 4] {
    x.to_le_bytes().map(i32::from)
}

fn sum_of_differences(a: u32, b: u32) -> u32 {
    (0..4).map(|lane| bytes(a)[lane].abs_diff(bytes(b)[lane])).sum()
}

/// The average, a half rounded away from zero.
fn signed_average(x: i32, y: i32) -> i32 {
    let sum = x + y;
    if sum >= 0 { (sum + 1) >> 1 } else { sum >> 1 }
}

const KERNELS: &[(&str, Reference)] = &[
    ("absdiff_s8", SignedBytes(|x, y| (x - y).abs())),
    ("absdiff_u16", Halves(|x, y| (x - y).abs())),
    ("absdiff_u8", Bytes(|x, y| (x - y).abs())),
    ("absdiff_u8_tern", Bytes(|x, y| if x > y { x - y } else { y - x })),
    ("add_u16", Halves(|x, y| x + y)),
    ("add_u8", Bytes(|x, y| x + y)),
    ("addsat_s16", SignedHalves(|x, y| (x + y).clamp(-32768, 32767))),
    ("addsat_s8", SignedBytes(|x, y| (x + y).clamp(-128, 127))),
    ("addsat_u8", Bytes(|x, y| (x + y).min(255))),
    ("avg_u8", Bytes(|x, y| (x + y + 1) >> 1)),
    ("avgfloor_u8", Bytes(|x, y| (x + y) >> 1)),
    ("blend_const", Bytes(|x, y| (x * 77 + y * 179 + 128) >> 8)),
    ("bytes_arr", Bytes(|x, y| (x + y).min(255))),
    ("clampk", Bytes(|x, _| x.clamp(16, 235))),
    ("cmp01", Bytes(|x, y| i32::from(x < y))),
    (
        "dot4",
        Words(|d, a, b| {
            (0..4).fold(d, |sum, lane| sum.wrapping_add((bytes(a)[lane] * bytes(b)[lane]) as u32))
        }),
    ),
    ("eq01", Bytes(|x, y| i32::from(x == y))),
    ("h_add", Bytes(|x, y| x + y)),
    ("h_addsat", Bytes(|x, y| (x + y).min(255))),
    ("h_avg", Bytes(|x, y| (x + y + 1) >> 1)),
    ("h_loop_max", Bytes(i32::max)),
    ("h_min", Bytes(i32::min)),
    ("invert", Bytes(|x, _| 255 - x)),
    ("ivabs4", SignedBytes(|x, _| x.abs())),
    ("ivabsdiffs4", SignedBytes(|x, y| (x - y).abs())),
    ("ivabsdiffu2", Halves(|x, y| (x - y).abs())),
    ("ivabsdiffu4", Bytes(|x, y| (x - y).abs())),
    ("ivadd2", Halves(|x, y| x + y)),
    ("ivadd4", Bytes(|x, y| x + y)),
    ("ivaddss2", SignedHalves(|x, y| (x + y).clamp(-32768, 32767))),
    ("ivaddss4", SignedBytes(|x, y| (x + y).clamp(-128, 127))),
    ("ivaddus2", Halves(|x, y| (x + y).min(65535))),
    ("ivaddus4", Bytes(|x, y| (x + y).min(255))),
    ("ivavgs2", SignedHalves(signed_average)),
    ("ivavgs4", SignedBytes(signed_average)),
    ("ivavgu4", Bytes(|x, y| (x + y + 1) >> 1)),
    ("ivcmpges4", SignedBytes(|x, y| -i32::from(x >= y))),
    ("ivcmpgts2", SignedHalves(|x, y| -i32::from(x > y))),
    ("ivcmpgtu4", Bytes(|x, y| -i32::from(x > y))),
    ("ivhaddu4", Bytes(|x, y| (x + y) >> 1)),
    ("ivmaxs2", SignedHalves(i32::max)),
    ("ivmaxs4", SignedBytes(i32::max)),
    ("ivminu2", Halves(i32::min)),
    ("ivminu4", Bytes(i32::min)),
    ("ivneg4", SignedBytes(|x, _| -x)),
    ("ivsads4", Words(|_, a, b| sum_of_differences(a ^ 0x8080_8080, b ^ 0x8080_8080))),
    ("ivsadu4", Words(|_, a, b| sum_of_differences(a, b))),
    ("ivseteq4", Bytes(|x, y| i32::from(x == y))),
    ("ivsetgeu2", Halves(|x, y| i32::from(x >= y))),
    ("ivsetltu4", Bytes(|x, y| i32::from(x < y))),
    ("ivsub4", Bytes(|x, y| x - y)),
    ("ivsubus4", Bytes(|x, y| (x - y).max(0))),
    ("max_s16", SignedHalves(i32::max)),
    ("max_u8_tern", Bytes(i32::max)),
    ("memcpyish", Bytes(i32::max)),
    ("min_s8", SignedBytes(i32::min)),
    ("min_u16", Halves(i32::min)),
    ("min_u8", Bytes(i32::min)),
    ("relu_s8", SignedBytes(|x, _| x.max(0))),
    ("sad4", Words(|d, a, b| d.wrapping_add(sum_of_differences(a, b)))),
    ("sub_u8", Bytes(|x, y| x - y)),
    ("subsat_u8", Bytes(|x, y| (x - y).max(0))),
    ("sum4", Words(|d, a, _| d.wrapping_add(bytes(a).iter().sum::<i32>() as u32))),
    ("thresh_const", Bytes(|x, _| if x > 100 { 255 } else { 0 })),
    ("thresh_gt", Bytes(|x, y| if x > y { 255 } else { 0 })),
];

/// Kernels with other memory accesses; each has a test below.
const OTHERS: &[&str] =
    &["blend_alpha", "bytes_b", "dilate3x3", "dilate_v3", "gray", "sad_loop", "select_lt"];

fn text(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels").join(format!("{name}.ptx"));
    std::fs::read(path).expect("the kernel is part of the repository")
}

/// Numbers that look random, with many bytes at the ends of their range.
fn words(count: usize, seed: u64) -> Vec<u32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 16) as u32
    };
    let edges = [0x00, 0x7f, 0x80, 0xff, 0x01, 0xfe];
    let byte = |choice: u32| match choice & 3 {
        0 => edges[(choice >> 8) as usize % edges.len()],
        _ => (choice >> 16) as u8,
    };
    (0..count).map(|_| u32::from_le_bytes([(); 4].map(|()| byte(next())))).collect()
}

fn to_bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn to_words(bytes: &[u8]) -> Vec<u32> {
    bytes
        .chunks(4)
        .map(|word| u32::from_le_bytes(word.try_into().expect("buffers are whole words")))
        .collect()
}

/// An argument of a test: a buffer whose address is moved by some bytes, or a number.
enum Given {
    Buffer(Vec<u32>, u64),
    Number(u64),
}

/// Runs the kernel `name` over two blocks; the buffers as it leaves them.
fn run(name: &str, given: &[Given]) -> Vec<Vec<u32>> {
    let text = text(name);
    let module = ptxopt_grammar::parse(&text).expect("the kernel is legal");
    let machine = Machine::new(&module);
    let mut memory = machine.memory();
    let mut buffers = Vec::new();
    let mut arguments = Vec::new();
    for one in given {
        arguments.push(match one {
            Given::Number(number) => Argument::Number(*number),
            Given::Buffer(words, moved) => {
                let buffer = memory.allocate(to_bytes(words));
                buffers.push(buffer);
                Argument::Number(memory.address(buffer) + moved)
            }
        });
    }
    let launch = Launch { grid: [2, 1, 1], block: [THREADS as u32 / 2, 1, 1], ..Launch::of(name) };
    let outcome = machine.launch(&launch, &arguments, &mut memory);
    assert_eq!(outcome.end, End::Finished, "{name}: {}", outcome.end);
    assert!(outcome.is_exact(), "{name}: {:?}", outcome.inexact);
    buffers.iter().map(|&buffer| to_words(memory.bytes(buffer))).collect()
}

fn lanes(x: u32, y: u32, bits: u32, signed: bool, f: fn(i32, i32) -> i32) -> u32 {
    let extend = |x: u32| {
        let raised = (x << (32 - bits)) as i32;
        if signed { raised >> (32 - bits) } else { (raised as u32 >> (32 - bits)) as i32 }
    };
    let mask = u32::MAX >> (32 - bits);
    (0..32 / bits).fold(0, |word, lane| {
        let shift = lane * bits;
        word | (f(extend(x >> shift), extend(y >> shift)) as u32 & mask) << shift
    })
}

fn expected(reference: &Reference, d: u32, a: u32, b: u32) -> u32 {
    match *reference {
        Bytes(f) => lanes(a, b, 8, false, f),
        SignedBytes(f) => lanes(a, b, 8, true, f),
        Halves(f) => lanes(a, b, 16, false, f),
        SignedHalves(f) => lanes(a, b, 16, true, f),
        Words(f) => f(d, a, b),
    }
}

#[test]
fn every_kernel_has_a_reference() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels");
    let files = std::fs::read_dir(folder).expect("the folder is part of the repository");
    let mut files: Vec<_> = files
        .map(|file| file.expect("the folder can be listed").path())
        .map(|path| path.file_stem().expect("it is a file").to_string_lossy().into_owned())
        .collect();
    files.sort();
    let mut known: Vec<_> = KERNELS.iter().map(|(name, _)| *name).chain(OTHERS.iter().copied()).collect();
    known.sort_unstable();
    assert_eq!(files, known);
}

#[test]
fn kernels_compute_what_their_source_says() {
    for (name, reference) in KERNELS {
        for seed in 1..=4 {
            let [d, a, b] = [0, 1, 2].map(|k| words(THREADS, seed * 3 + k));
            let mut given = vec![Given::Buffer(d.clone(), 0), Given::Buffer(a.clone(), 0)];
            if takes(name) == 3 {
                given.push(Given::Buffer(b.clone(), 0));
            }
            let result = run(name, &given);
            for i in 0..THREADS {
                let want = expected(reference, d[i], a[i], b[i]);
                assert_eq!(
                    result[0][i], want,
                    "{name}, thread {i}: got {:08x}, want {want:08x} of a={:08x} b={:08x}",
                    result[0][i], a[i], b[i]
                );
            }
        }
    }
}

#[test]
fn every_form_runs_as_it_is_meant() {
    let mut numbers = numbers::Numbers::new(29);
    let (mut results, mut by_the_manual) = (0, 0);
    for group in &forms::GROUPS {
        let forms = group.forms();
        for chunk in forms.chunks(constants::IN_KERNEL) {
            let case = |(at, form): (usize, &String)| Case::new(group, form, at, &mut numbers);
            let cases: Vec<Case> = chunk.iter().enumerate().map(case).collect();
            let text = constants::module(group, &cases);
            let module = ptxopt_grammar::parse(text.as_bytes()).expect("the kernel is legal");
            let machine = Machine::new(&module);
            let mut memory = machine.memory();
            let buffer = memory.allocate(vec![0; constants::IN_KERNEL * constants::ROOM]);
            let arguments = [Argument::Number(memory.address(buffer))];
            let outcome = machine.launch(&Launch::of("k0"), &arguments, &mut memory);
            assert_eq!(outcome.end, End::Finished, "{text}");
            for Expected { offset, value, what, disputed } in cases.iter().flat_map(|case| &case.expected) {
                let at = *offset as usize;
                let stored = memory.bytes(buffer)[at..at + 16].try_into().expect("a result has 16 bytes");
                assert_eq!(u128::from_le_bytes(stored), *value, "{what}");
                results += 1;
                by_the_manual += usize::from(*disputed);
            }
        }
    }
    assert!(results > 8000 && by_the_manual > 5, "forms are missing: {results}, {by_the_manual}");
}

fn takes(name: &str) -> usize {
    let text = text(name);
    let module = ptxopt_grammar::parse(&text).expect("the kernel is legal");
    let entry = Machine::new(&module).entries().next().expect("the kernel is an entry");
    entry.parameters.len()
}

#[test]
fn blend_alpha_computes_what_its_source_says() {
    let (d, a, b) = (words(THREADS, 1), words(THREADS, 2), words(THREADS, 3));
    for alpha in [0, 1, 77, 128, 255, 256] {
        let buffers = [&d, &a, &b].map(|words| Given::Buffer(words.clone(), 0));
        let given: Vec<_> = buffers.into_iter().chain([Given::Number(alpha as u64)]).collect();
        let result = run("blend_alpha", &given);
        for i in 0..THREADS {
            let lane = |k: usize| (bytes(a[i])[k] * alpha + bytes(b[i])[k] * (256 - alpha)) >> 8;
            let want = u32::from_le_bytes([0, 1, 2, 3].map(|k| lane(k) as u8));
            assert_eq!(result[0][i], want, "alpha {alpha}, thread {i}");
        }
    }
}

#[test]
fn bytes_b_computes_what_its_source_says() {
    let (d, a, b) = (words(THREADS / 4, 4), words(THREADS / 4, 5), words(THREADS / 4, 6));
    let result = run("bytes_b", &[&d, &a, &b].map(|words| Given::Buffer(words.clone(), 0)));
    let want: Vec<_> = a.iter().zip(&b).map(|(&a, &b)| lanes(a, b, 8, false, i32::max)).collect();
    assert_eq!(result[0], want);
}

#[test]
fn gray_computes_what_its_source_says() {
    let a = words(THREADS, 7);
    let result = run("gray", &[Given::Buffer(words(THREADS / 4, 8), 0), Given::Buffer(a.clone(), 0)]);
    let gray = |x: u32| ((bytes(x)[0] * 77 + bytes(x)[1] * 150 + bytes(x)[2] * 29 + 128) >> 8) as u8;
    let want: Vec<u8> = a.iter().map(|&x| gray(x)).collect();
    assert_eq!(to_bytes(&result[0]), want);
}

#[test]
fn dilations_compute_what_their_source_says() {
    let a = words(THREADS + 2 * WIDTH + 2, 9);
    let begin = WIDTH + 1;
    let at =
        |i: usize, offset: isize| a[(begin + i).checked_add_signed(offset).expect("the image has a border")];
    let row = WIDTH as isize;
    let column = |i: usize, k: isize| {
        let two = lanes(at(i, k - row), at(i, k), 8, false, i32::max);
        lanes(two, at(i, k + row), 8, false, i32::max)
    };
    let given = || {
        let image = Given::Buffer(a.clone(), 4 * begin as u64);
        [Given::Buffer(words(THREADS, 10), 0), image, Given::Number(WIDTH as u64)]
    };
    let vertical = run("dilate_v3", &given());
    let square = run("dilate3x3", &given());
    for i in 0..THREADS {
        assert_eq!(vertical[0][i], column(i, 0), "thread {i}");
        let m: Vec<u8> = [-1, 0, 1].into_iter().flat_map(|k| column(i, k).to_le_bytes()).collect();
        let want = [3, 4, 5, 6].map(|k: usize| m[k].max(m[k + 1]).max(m[k + 2]));
        assert_eq!(square[0][i], u32::from_le_bytes(want), "thread {i}");
    }
}

#[test]
fn sad_loop_computes_what_its_source_says() {
    let (a, b) = (words(THREADS * WIDTH, 11), words(THREADS * WIDTH, 12));
    for count in [0, 1, 7, WIDTH] {
        let [d, a_given, b_given] =
            [words(THREADS, 13), a.clone(), b.clone()].map(|words| Given::Buffer(words, 0));
        let result = run("sad_loop", &[d, a_given, b_given, Given::Number(count as u64)]);
        for i in 0..THREADS {
            let want: u32 = (i * count..(i + 1) * count).map(|j| sum_of_differences(a[j], b[j])).sum();
            assert_eq!(result[0][i], want, "count {count}, thread {i}");
        }
    }
}

#[test]
fn select_lt_computes_what_its_source_says() {
    let [d, a, b, c] = [14, 15, 16, 17].map(|seed| words(THREADS, seed));
    let result = run("select_lt", &[&d, &a, &b, &c].map(|words| Given::Buffer(words.clone(), 0)));
    for i in 0..THREADS {
        let (x, y, z) = (a[i].to_le_bytes(), b[i].to_le_bytes(), c[i].to_le_bytes());
        let want = [0, 1, 2, 3].map(|k| if x[k] < y[k] { z[k] } else { x[k] });
        assert_eq!(result[0][i], u32::from_le_bytes(want), "thread {i}");
    }
}

/// Runs an entry with a buffer for every parameter that can hold an address, and small numbers for the others.
fn try_entry(machine: &Machine<'_, '_>, entry: &ptxopt_machine::Entry) -> Outcome {
    let mut memory = machine.memory();
    let mut arguments = Vec::new();
    for (number, (_, size)) in (0..).zip(&entry.parameters) {
        arguments.push(match size {
            8 => Argument::Buffer(memory.allocate(to_bytes(&words(4096, number)))),
            1 | 2 | 4 => Argument::Number(16),
            size => Argument::Bytes(vec![0; *size as usize]),
        });
    }
    let launch = Launch { block: entry.block_of(64), budget: 20_000, ..Launch::of(&entry.name) };
    machine.launch(&launch, &arguments, &mut memory)
}

#[test]
fn running_any_entry_of_the_corpus_ends_in_an_answer() {
    let (mut entries, mut finished) = (0, 0);
    for test in modules::modules() {
        let module = ptxopt_grammar::parse(&test.text).expect("the module is legal");
        let machine = Machine::new(&module);
        for entry in machine.entries() {
            let outcome = try_entry(&machine, &entry);
            entries += 1;
            finished += usize::from(outcome.end == End::Finished);
            if std::env::var_os("SHOW_ENDS").is_some() {
                #[expect(clippy::print_stderr, reason = "it is printed on request")]
                {
                    eprintln!("{} {}: {}", test.name, entry.name, outcome.end);
                }
            }
        }
    }
    assert!(entries > 300 && finished * 3 > entries, "{finished} of {entries} entries finished");
}
