//! The plain instructions whose costs are measured, with the kinds of sources that each takes.

use crate::assembler::Sample;
use crate::rows::Row;

/// An instruction: its opcode with all modifiers, and the letters of its result and its sources.
struct Shape {
    words: String,
    result: char,
    sources: String,
}

/// Constants by kind, as the table names them.
const KINDS: [(&str, &[i64]); 6] = [
    ("zero", &[0]),
    ("one", &[1]),
    ("ones", &[-1]),
    ("power", &[8, 65_536]),
    ("small", &[100, 255, -2]),
    ("wide", &[0x1234_5678, -0x00ff_0100]),
];

/// Constants for sources that are only tried together: nothing, all, some.
const ANY: [i64; 5] = [0, 1, -1, 100, 0x1234_5678];

/// Constants that programs have in some instructions, measured one by one.
fn literals(words: &str) -> Vec<Vec<Option<i64>>> {
    let last = |values: &[i64], registers: usize| -> Vec<Vec<Option<i64>>> {
        values.iter().map(|&value| [vec![None; registers], vec![Some(value)]].concat()).collect()
    };
    // Lanes, and the fields of packed flags, bases and colours.
    let lanes = [(0, 8), (8, 8), (16, 8), (24, 8), (0, 16), (16, 16)];
    let small = (1..=6).flat_map(|bits| (0..=32 - bits).map(move |at| (at, bits)));
    let fields: Vec<(i64, i64)> = lanes.into_iter().chain(small).collect();
    let opcode = words.split('.').next().expect("a word has a first part");
    match opcode {
        _ if words.ends_with(".pred") => Vec::new(),
        "shl" | "shr" => last(&[1, 4, 7, 8, 16, 24, 31], 1),
        "and" | "or" | "xor" => {
            last(&[255, 0xffff, -0x0100_0000, 0x00ff_00ff, 0x0101_0101, 0x7f7f_7f7f, -0x7f7f_7f80, 128], 1)
        }
        "mul" => last(&[255, 3, 0x0101_0101, 257], 1),
        "bfe" => fields.iter().map(|&(at, bits)| vec![None, Some(at), Some(bits)]).collect(),
        "bfi" => {
            let moved = fields.iter().map(|&(at, bits)| vec![None, None, Some(at), Some(bits)]);
            // An opaque alpha and its like, as compilers write it.
            let number = |number| (0..4).map(move |at| vec![Some(number), None, Some(8 * at), Some(8)]);
            moved.chain([255, 0xffff, -1, 0].into_iter().flat_map(number)).collect()
        }
        "prmt" if words == "prmt.b32" => {
            let both =
                [0x3210, 0x7654, 0x0123, 0x5410, 0x7632, 0x1032, 0x2103, 0x0321, 0x7531, 0x6420, 0x7610];
            let one = [
                0x3210, 0x4444, 0x4440, 0x4441, 0x4442, 0x4443, 0x4140, 0x4342, 0x8880, 0x9991, 0xaaaa,
                0xbbbb, 0xba98, 0, 0x1111,
            ];
            let one = one.map(|selector| vec![None, Some(0), Some(selector)]);
            last(&both, 2).into_iter().chain(one).collect()
        }
        "lop3" => last(&[0x96, 0xe8, 0xca, 0x80, 0xfe, 0x3c, 0xc0, 0xfc, 0xf8, 0xea, 0x6a, 0x78], 3),
        "shf" => last(&[8, 16, 24], 2),
        _ => Vec::new(),
    }
}

const HALF: [&str; 2] = ["u16", "s16"];
const WORD: [&str; 2] = ["u32", "s32"];
const NUMBERS: [&str; 6] = ["u16", "s16", "u32", "s32", "u64", "s64"];
const BITS: [&str; 3] = ["b16", "b32", "b64"];
const ALL: [&str; 9] = ["u16", "s16", "u32", "s32", "u64", "s64", "b16", "b32", "b64"];
const NONE: [&str; 1] = ["b32"];

/// Opcodes with their types, where `*` stands for one of them; the letters of result and sources, where `*` is the
/// letter of the type, `#` a source that is always a constant, `p` a predicate, and `R` a register of 32 bits where
/// PTX takes no constant: one is moved into a register first, and the assembler may still write it where it is read.
const SHAPES: &[(&str, &[&str], char, &str)] = &[
    ("add.*", &NUMBERS, '*', "**"),
    ("sub.*", &NUMBERS, '*', "**"),
    ("add.sat.s32", &NONE, 'r', "rr"),
    ("sub.sat.s32", &NONE, 'r', "rr"),
    ("mul.lo.*", &NUMBERS, '*', "**"),
    ("mul.hi.*", &WORD, 'r', "rr"),
    ("mul24.lo.*", &WORD, 'r', "rr"),
    ("mul.wide.*", &HALF, 'r', "**"),
    ("mul.wide.*", &WORD, 'd', "**"),
    ("min.*", &NUMBERS, '*', "**"),
    ("max.*", &NUMBERS, '*', "**"),
    ("min.relu.s32", &NONE, 'r', "rr"),
    ("max.relu.s32", &NONE, 'r', "rr"),
    ("mad.lo.*", &NUMBERS, '*', "***"),
    ("mad.hi.*", &WORD, '*', "***"),
    ("mad24.lo.*", &WORD, '*', "***"),
    ("mad.wide.*", &HALF, 'r', "**r"),
    ("mad.wide.*", &WORD, 'd', "**d"),
    ("sad.*", &["u16", "s16", "u32", "s32"], '*', "***"),
    ("neg.*", &["s16", "s32", "s64"], '*', "*"),
    ("abs.*", &["s16", "s32", "s64"], '*', "*"),
    ("and.*", &BITS, '*', "**"),
    ("or.*", &BITS, '*', "**"),
    ("xor.*", &BITS, '*', "**"),
    ("not.*", &BITS, '*', "*"),
    ("cnot.*", &["b16", "b32"], '*', "*"),
    ("shl.*", &BITS, '*', "*r"),
    ("shr.*", &ALL, '*', "*r"),
    ("mov.*", &ALL, '*', "*"),
    ("selp.*", &ALL, '*', "**p"),
    ("not.pred", &NONE, 'p', "p"),
    ("and.pred", &NONE, 'p', "pp"),
    ("or.pred", &NONE, 'p', "pp"),
    ("xor.pred", &NONE, 'p', "pp"),
    ("popc.*", &["b32", "b64"], 'r', "*"),
    ("clz.*", &["b32", "b64"], 'r', "*"),
    ("brev.*", &["b32", "b64"], '*', "*"),
    ("bfind.*", &WORD, 'r', "r"),
    ("bfind.shiftamt.*", &WORD, 'r', "r"),
    ("bmsk.clamp.b32", &NONE, 'r', "rr"),
    ("bmsk.wrap.b32", &NONE, 'r', "rr"),
    ("szext.clamp.*", &WORD, 'r', "rr"),
    ("szext.wrap.*", &WORD, 'r', "rr"),
    ("bfe.*", &WORD, 'r', "rrr"),
    ("bfi.b32", &NONE, 'r', "rrrr"),
    ("prmt.b32*", &["", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"], 'r', "rrr"),
    ("lop3.b32", &NONE, 'r', "rrr#"),
    ("shf.*.b32", &["l.clamp", "l.wrap", "r.clamp", "r.wrap"], 'r', "rrr"),
    ("dp4a.*", &["u32.u32", "u32.s32", "s32.u32", "s32.s32"], 'r', "rrr"),
    ("dp2a.lo.*", &["u32.u32", "u32.s32", "s32.u32", "s32.s32"], 'r', "rrr"),
    ("dp2a.hi.*", &["u32.u32", "u32.s32", "s32.u32", "s32.s32"], 'r', "rrr"),
    ("cvt.pack.sat.*.s32", &HALF, 'r', "rr"),
    ("cvt.pack.sat.*.s32.b32", &["u8", "s8", "u4", "s4"], 'r', "rrr"),
    ("min.relu.s16x2", &NONE, 'r', "RR"),
    ("max.relu.s16x2", &NONE, 'r', "RR"),
];

const LANES: [&str; 4] = ["u8x4", "s8x4", "u16x2", "s16x2"];

/// Every comparison, with the types that have it.
const COMPARES: [(&str, &[&str]); 10] = [
    ("eq", &ALL),
    ("ne", &ALL),
    ("lt", &NUMBERS),
    ("le", &NUMBERS),
    ("gt", &NUMBERS),
    ("ge", &NUMBERS),
    ("lo", &["u16", "u32", "u64"]),
    ("ls", &["u16", "u32", "u64"]),
    ("hi", &["u16", "u32", "u64"]),
    ("hs", &["u16", "u32", "u64"]),
];

fn shapes() -> Vec<Shape> {
    let mut shapes = Vec::new();
    let mut push = |words: &str, types: &[&str], result: char, sources: &str| {
        for ty in types {
            let own = register(ty);
            let result = if result == '*' { own } else { result };
            let sources = sources.replace('*', &own.to_string());
            shapes.push(Shape { words: words.replace('*', ty), result, sources });
        }
    };
    for (words, types, result, sources) in SHAPES {
        push(words, types, *result, sources);
    }
    for (compare, types) in COMPARES {
        push(&format!("setp.{compare}.*"), types, 'p', "**");
        let narrow: Vec<&str> = types.iter().copied().filter(|ty| register(ty) != 'd').collect();
        for result in WORD {
            push(&format!("set.{compare}.{result}.*"), &narrow, 'r', "**");
        }
    }
    // What is native of these on some GPUs; their other forms are in the table of video instructions.
    for types in ["u32.u32.u32", "u32.s32.s32", "s32.u32.u32", "s32.s32.s32"] {
        push(&format!("vabsdiff4.{types}"), &NONE, 'r', "RRR");
        push(&format!("vabsdiff4.{types}.add"), &NONE, 'r', "RRR");
    }
    for words in ["add", "add.sat", "sub", "sub.sat", "min", "max"] {
        push(&format!("{words}.*"), &LANES, 'r', "RR");
    }
    shapes
}

const fn register(ty: &str) -> char {
    match ty.as_bytes() {
        [_, b'8'] | [_, b'1', b'6'] => 'h',
        [_, b'6', b'4'] => 'd',
        _ => 'r',
    }
}

/// The rows of the table of plain instructions.
pub(crate) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for shape in shapes() {
        let mut patterns = vec![(vec!["r"; shape.sources.len()], vec![vec![None; shape.sources.len()]])];
        if !shape.words.starts_with("mov") {
            patterns.extend(single(&shape));
            patterns.extend(several(&shape));
        }
        if shape.words == "prmt.b32" {
            patterns.extend(selectors());
        }
        let patterns = patterns
            .into_iter()
            .map(|(pattern, samples)| (pattern.into_iter().map(str::to_owned).collect::<Vec<_>>(), samples));
        let literals = literals(&shape.words).into_iter().map(|sample| {
            let name = |value: &Option<i64>| value.map_or("r".to_owned(), |value| value.to_string());
            (sample.iter().map(name).collect(), vec![sample])
        });
        for (pattern, samples) in patterns.chain(literals) {
            // What is always a constant is no register.
            let fixed = shape.sources.find('#').is_some_and(|at| pattern[at] == "r");
            if !fixed {
                let name = format!("{} {}", shape.words, pattern.join(" "));
                rows.push(Row::new(name, vec![samples.iter().map(|sample| shape.sample(sample)).collect()]));
            }
        }
    }
    rows.extend(conversions());
    rows
}

type Pattern = (Vec<&'static str>, Vec<Vec<Option<i64>>>);

/// One source is a constant.
fn single(shape: &Shape) -> Vec<Pattern> {
    let count = shape.sources.len();
    let places = (0..count).filter(|&at| &shape.sources[at..=at] != "p" && !field(shape, at));
    let fixed = shape.sources.find('#');
    places
        .filter(|_| fixed.is_none())
        .flat_map(|at| {
            KINDS.map(|(kind, values)| {
                let mut pattern = vec!["r"; count];
                pattern[at] = kind;
                let with = |&value: &i64| (0..count).map(|i| (i == at).then_some(value)).collect();
                (pattern, values.iter().map(with).collect())
            })
        })
        .collect()
}

/// Whether a source is the place or the width of a field, which has five bits.
fn field(shape: &Shape, at: usize) -> bool {
    shape.words.starts_with("bfe") && at > 0 || shape.words.starts_with("bfi") && at > 1
}

/// Selectors of `prmt` next to another constant: any that read a byte of the register and move it.
fn selectors() -> [Pattern; 2] {
    let all = [
        0x0123, 0x4440, 0x4014, 0x9910, 0xbb32, 0xba98, 0x4342, 0x0044, 0x3276, 0x7610, 0x8888, 0x1111,
        0x2514, 0x0c41,
    ];
    [("zero", 0), ("wide", 0x1234_5678)].map(|(kind, other)| {
        let sample = |selector| vec![None, Some(other), Some(selector)];
        (vec!["r", kind, "small"], all.map(sample).to_vec())
    })
}

/// Several sources are constants, or the one that always is.
fn several(shape: &Shape) -> Vec<Pattern> {
    let count = shape.sources.len();
    let fixed = shape.sources.find('#');
    let mut patterns = Vec::new();
    for set in 1_u32..1 << count {
        let has = |at: usize| set >> at & 1 == 1;
        let predicate = (0..count).any(|at| has(at) && &shape.sources[at..=at] == "p");
        if predicate || fixed.is_some_and(|at| !has(at)) || fixed.is_none() && set.count_ones() < 2 {
            continue;
        }
        let pattern = (0..count).map(|at| if has(at) { "any" } else { "r" }).collect();
        let samples = (0..8_usize).map(|sample| {
            let value = |at: usize| {
                let luts = [0x96, 0xe8, 0xca, 0, 0xff, 0xf0, 0xcc, 0xaa];
                // Strides that give every pair of constants neither twice nor in the same order.
                if fixed == Some(at) {
                    return luts[sample];
                }
                let value = ANY[(sample * (at + 1) + at + sample / 5) % ANY.len()];
                if field(shape, at) { value & 31 } else { value }
            };
            (0..count).map(|at| has(at).then(|| value(at))).collect()
        });
        patterns.push((pattern, samples.collect()));
    }
    patterns
}

impl Shape {
    fn sample(&self, constants: &[Option<i64>]) -> Sample {
        let result = self.result;
        let (mut moves, mut text) = (String::new(), format!("{} %{result}0", self.words));
        for (i, (letter, constant)) in self.sources.chars().zip(constants).enumerate() {
            let source = match (letter, constant) {
                ('R', Some(value)) => {
                    moves += &format!("mov.b32 %t{i}, {value}; ");
                    format!("%t{i}")
                }
                (_, Some(value)) => value.to_string(),
                ('p', None) => format!("%p{}", self.sources[..=i].matches('p').count()),
                (letter, None) => format!("%{}{}", letter.to_ascii_lowercase(), i % 3 + 1),
            };
            text = format!("{text}, {source}");
        }
        Sample { text: moves + &text, result }
    }
}

/// Whether every number of type `from` is one of type `to`: then `.sat` is no modifier.
fn holds(to: &str, from: &str) -> bool {
    let bits = |ty: &str| ty[1..].parse::<u32>().expect("types have a width");
    let signed = |ty: &str| ty.starts_with('s');
    match (signed(to), signed(from)) {
        (true, true) | (false, false) => bits(to) >= bits(from),
        (true, false) => bits(to) > bits(from),
        (false, true) => false,
    }
}

/// Conversions between integers; a byte may lie in a register of 16 or of 32 bits.
fn conversions() -> Vec<Row> {
    let types = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"];
    let registers = |ty: &str| if ty.ends_with("8") { vec!['h', 'r'] } else { vec![register(ty)] };
    let mut rows = Vec::new();
    for to in types {
        for from in types {
            for sat in ["", ".sat"] {
                if !sat.is_empty() && holds(to, from) {
                    continue;
                }
                let words = format!("cvt{sat}.{to}.{from}");
                let mut samples = Vec::new();
                for result in registers(to) {
                    for source in registers(from) {
                        samples.push(Sample { text: format!("{words} %{result}0, %{source}1"), result });
                    }
                }
                rows.push(Row::new(format!("{words} r"), vec![samples]));
            }
        }
    }
    rows
}
