//! Pairs of terms whose equality was measured before with other provers, with what they took.
//!
//! One side is an instruction lane by lane, as the manual says it, the other the word-parallel sequence that takes
//! its place; some are wrong on purpose.

use ptxopt_grammar::meaning::term::{Term, Terms};

/// What the prover must say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Expected {
    Equal,
    Different,
}

/// A pair with the time of the reference.
pub(crate) struct Pair {
    pub(crate) name: &'static str,
    /// Milliseconds that the reference took.
    pub(crate) reference: f64,
    pub(crate) expected: Expected,
    pub(crate) build: fn(&mut Code) -> (Term, Term),
}

/// Terms of 32 bits over the inputs `a`, `b` and `c`.
pub(crate) struct Code {
    pub(crate) terms: Terms,
    pub(crate) a: Term,
    pub(crate) b: Term,
    pub(crate) c: Term,
}

impl Code {
    pub(crate) fn new() -> Self {
        let mut terms = Terms::new();
        let [a, b, c] = [0, 1, 2].map(|number| terms.input(number, 32));
        Self { terms, a, b, c }
    }

    pub(crate) fn k(&mut self, value: u32) -> Term {
        self.terms.constant(u128::from(value), 32)
    }

    pub(crate) fn and(&mut self, x: Term, mask: u32) -> Term {
        let mask = self.k(mask);
        self.terms.and(x, mask)
    }

    pub(crate) fn xor(&mut self, x: Term, mask: u32) -> Term {
        let mask = self.k(mask);
        self.terms.xor(x, mask)
    }

    pub(crate) fn shr(&mut self, x: Term, by: u32) -> Term {
        let by = self.k(by);
        self.terms.lshr(x, by)
    }

    pub(crate) fn shl(&mut self, x: Term, by: u32) -> Term {
        let by = self.k(by);
        self.terms.shl(x, by)
    }

    /// `then` where the mask is set, else `otherwise`.
    pub(crate) fn mix(&mut self, mask: Term, then: Term, otherwise: Term) -> Term {
        let off = self.terms.not(mask);
        let x = self.terms.and(then, mask);
        let y = self.terms.and(otherwise, off);
        self.terms.or(x, y)
    }

    /// All bits of the lanes whose highest bit is set in `high`, which has no other bits.
    pub(crate) fn spread(&mut self, high: Term) -> Term {
        let (up, down) = (self.shl(high, 1), self.shr(high, 7));
        self.terms.sub(up, down)
    }

    pub(crate) fn lane(&mut self, word: Term, lane: u32, sign: Sign) -> Term {
        let byte = self.terms.extract(word, 8 * lane, 8);
        match sign {
            Sign::Unsigned => self.terms.zero_extend(byte, 34),
            Sign::Signed => self.terms.sign_extend(byte, 34),
        }
    }

    pub(crate) fn lanes(&mut self, sign: Sign, op: impl Fn(&mut Terms, Term, Term) -> Term) -> [Term; 4] {
        [0, 1, 2, 3].map(|lane| {
            let (x, y) = (self.lane(self.a, lane, sign), self.lane(self.b, lane, sign));
            op(&mut self.terms, x, y)
        })
    }

    pub(crate) fn pack(&mut self, lanes: [Term; 4]) -> Term {
        let [b0, b1, b2, b3] = lanes.map(|lane| self.terms.extract(lane, 0, 8));
        let low = self.terms.concat(b1, b0);
        let high = self.terms.concat(b3, b2);
        self.terms.concat(high, low)
    }

    /// `c` and all lanes.
    pub(crate) fn accumulate(&mut self, lanes: [Term; 4]) -> Term {
        lanes.into_iter().fold(self.c, |sum, lane| {
            let lane = self.terms.extract(lane, 0, 32);
            self.terms.add(sum, lane)
        })
    }
}

/// How a byte is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sign {
    Unsigned,
    Signed,
}

pub(crate) fn clamp(terms: &mut Terms, x: Term, low: i128, high: i128) -> Term {
    let width = terms.width(x);
    let (low, high) =
        (terms.constant(low.cast_unsigned(), width), terms.constant(high.cast_unsigned(), width));
    let under = terms.signed_less(x, low);
    let x = terms.choose(under, low, x);
    let over = terms.signed_less(high, x);
    terms.choose(over, high, x)
}

pub(crate) fn absolute_difference(terms: &mut Terms, x: Term, y: Term) -> Term {
    let less = terms.signed_less(x, y);
    let (up, down) = (terms.sub(x, y), terms.sub(y, x));
    terms.choose(less, down, up)
}

pub(crate) fn vadd4(code: &mut Code) -> Term {
    let lanes = code.lanes(Sign::Unsigned, Terms::add);
    code.pack(lanes)
}

pub(crate) fn vadd4_words(code: &mut Code) -> Term {
    let (a, b) = (code.and(code.a, 0x7f7f_7f7f), code.and(code.b, 0x7f7f_7f7f));
    let sum = code.terms.add(a, b);
    let differ = code.terms.xor(code.a, code.b);
    let high = code.and(differ, 0x8080_8080);
    code.terms.xor(sum, high)
}

pub(crate) fn merged(code: &mut Code, word: Term) -> Term {
    let mask = code.k(0x00ff_00ff);
    code.mix(mask, word, code.c)
}

pub(crate) fn vadd4_chain(code: &mut Code) -> Term {
    (0..4).fold(code.c, |word, lane| {
        let (x, y) = (code.shr(code.a, 8 * lane), code.shr(code.b, 8 * lane));
        let (x, y) = (code.and(x, 0xff), code.and(y, 0xff));
        let sum = code.terms.add(x, y);
        let placed = code.shl(sum, 8 * lane);
        let mask = code.k(0xff << (8 * lane));
        code.mix(mask, placed, word)
    })
}

pub(crate) fn saturated(code: &mut Code, sign: Sign) -> Term {
    let lanes = code.lanes(sign, |terms, x, y| {
        let sum = terms.add(x, y);
        let (low, high) = if sign == Sign::Signed { (-128, 127) } else { (0, 255) };
        clamp(terms, sum, low, high)
    });
    code.pack(lanes)
}

pub(crate) fn vaddus4_words(code: &mut Code) -> Term {
    let differ = code.terms.xor(code.a, code.b);
    let differ = code.and(differ, 0x8080_8080);
    let both = code.terms.and(code.a, code.b);
    let (a, b) = (code.and(code.a, 0x7f7f_7f7f), code.and(code.b, 0x7f7f_7f7f));
    let sum = code.terms.add(a, b);
    let carried = code.terms.and(sum, differ);
    let carry = code.terms.or(both, carried);
    let carry = code.and(carry, 0x8080_8080);
    let sum = code.terms.xor(sum, differ);
    let full = code.spread(carry);
    code.terms.or(sum, full)
}

pub(crate) fn vaddss4_words(code: &mut Code) -> Term {
    let sum = vadd4_words(code);
    let differ = code.terms.xor(code.a, code.b);
    let same = code.terms.not(differ);
    let turned = code.terms.xor(code.a, sum);
    let over = code.terms.and(same, turned);
    let over = code.and(over, 0x8080_8080);
    let mask = code.spread(over);
    let sign = code.shr(code.a, 7);
    let sign = code.and(sign, 0x0101_0101);
    let most = code.k(0x7f7f_7f7f);
    let limit = code.terms.add(sign, most);
    code.mix(mask, limit, sum)
}

/// The highest bit of each lane: whether `x` is less than `y` there, both unsigned.
pub(crate) fn less_words(code: &mut Code, x: Term, y: Term) -> Term {
    let high = code.k(0x8080_8080);
    let x_high = code.terms.or(x, high);
    let y_low = code.and(y, 0x7f7f_7f7f);
    let rest = code.terms.sub(x_high, y_low);
    let rest = code.terms.not(rest);
    let below = code.terms.not(x);
    let below = code.terms.and(below, y);
    let differ = code.terms.xor(x, y);
    let same = code.terms.not(differ);
    let borrowed = code.terms.and(same, rest);
    let less = code.terms.or(below, borrowed);
    code.and(less, 0x8080_8080)
}

pub(crate) fn vmin4_words(code: &mut Code) -> Term {
    let (x, y) = (code.xor(code.a, 0x8080_8080), code.xor(code.b, 0x8080_8080));
    let less = less_words(code, x, y);
    let mask = code.spread(less);
    code.mix(mask, code.a, code.b)
}

pub(crate) fn vmin4(code: &mut Code) -> Term {
    let lanes = code.lanes(Sign::Signed, |terms, x, y| {
        let less = terms.signed_less(x, y);
        terms.choose(less, x, y)
    });
    code.pack(lanes)
}

pub(crate) fn blend(code: &mut Code) -> Term {
    let lanes = [0, 1, 2, 3].map(|lane| {
        let (x, y) = (code.lane(code.a, lane, Sign::Unsigned), code.lane(code.b, lane, Sign::Unsigned));
        let sign = code.terms.extract(code.c, 8 * lane + 7, 1);
        code.terms.choose(sign, x, y)
    });
    code.pack(lanes)
}

pub(crate) fn blend_words(code: &mut Code) -> Term {
    let signs = code.and(code.c, 0x8080_8080);
    let mask = code.spread(signs);
    code.mix(mask, code.a, code.b)
}

pub(crate) fn vabsdiff4_words(code: &mut Code) -> Term {
    let less = less_words(code, code.a, code.b);
    let mask = code.spread(less);
    let most = code.mix(mask, code.b, code.a);
    let least = code.mix(mask, code.a, code.b);
    code.terms.sub(most, least)
}

pub(crate) fn vavrg4(code: &mut Code) -> Term {
    let lanes = code.lanes(Sign::Unsigned, |terms, x, y| {
        let sum = terms.add(x, y);
        let one = terms.constant(1, 34);
        let sum = terms.add(sum, one);
        terms.lshr(sum, one)
    });
    code.pack(lanes)
}

pub(crate) fn vavrg4_words(code: &mut Code) -> Term {
    let either = code.terms.or(code.a, code.b);
    let differ = code.terms.xor(code.a, code.b);
    let half = code.shr(differ, 1);
    let half = code.and(half, 0x7f7f_7f7f);
    code.terms.sub(either, half)
}

/// `c` and the four bytes of a word.
pub(crate) fn sum_of_bytes(code: &mut Code, word: Term) -> Term {
    let even = code.and(word, 0x00ff_00ff);
    let odd = code.shr(word, 8);
    let odd = code.and(odd, 0x00ff_00ff);
    let pairs = code.terms.add(even, odd);
    let (low, high) = (code.and(pairs, 0xffff), code.shr(pairs, 16));
    let sum = code.terms.add(low, high);
    code.terms.add(sum, code.c)
}

pub(crate) fn vadd4_accumulated_words(code: &mut Code) -> Term {
    let halves = [0, 8].map(|by| {
        let (a, b) = (code.shr(code.a, by), code.shr(code.b, by));
        let (a, b) = (code.and(a, 0x00ff_00ff), code.and(b, 0x00ff_00ff));
        code.terms.add(a, b)
    });
    let pairs = code.terms.add(halves[0], halves[1]);
    let (low, high) = (code.and(pairs, 0xffff), code.shr(pairs, 16));
    let sum = code.terms.add(low, high);
    code.terms.add(code.c, sum)
}

/// A byte as 32 bits, by shifts.
pub(crate) fn byte(code: &mut Code, word: Term, lane: u32, sign: Sign) -> Term {
    let up = code.shl(word, 24 - 8 * lane);
    let by = code.k(24);
    match sign {
        Sign::Unsigned => code.terms.lshr(up, by),
        Sign::Signed => code.terms.ashr(up, by),
    }
}

pub(crate) fn dp4a(code: &mut Code, sign: Sign) -> Term {
    (0..4).fold(code.c, |sum, lane| {
        let (x, y) = (code.lane(code.a, lane, sign), code.lane(code.b, lane, sign));
        let product = code.terms.mul(x, y);
        let product = code.terms.extract(product, 0, 32);
        code.terms.add(sum, product)
    })
}

pub(crate) fn dp4a_shifts(code: &mut Code, sign: Sign, order: [u32; 4], swapped: bool) -> Term {
    let products = order.map(|lane| {
        let (x, y) = (byte(code, code.a, lane, sign), byte(code, code.b, lane, sign));
        let (x, y) = if swapped { (y, x) } else { (x, y) };
        code.terms.mul(x, y)
    });
    products.into_iter().fold(code.c, |sum, product| code.terms.add(product, sum))
}

fn product_of_bytes(code: &mut Code) -> (Term, Term) {
    let (x, y) = (code.and(code.a, 0xff), code.and(code.b, 0xff));
    let word = code.terms.mul(x, y);
    let (x, y) = (code.terms.extract(code.b, 0, 8), code.terms.extract(code.a, 0, 8));
    let (x, y) = (code.terms.zero_extend(x, 16), code.terms.zero_extend(y, 16));
    let half = code.terms.mul(x, y);
    (word, code.terms.zero_extend(half, 32))
}

fn packed_product(code: &mut Code) -> (Term, Term) {
    let pair = code.and(code.a, 0x00ff_00ff);
    let factor = code.and(code.b, 0xff);
    let packed = code.terms.mul(pair, factor);
    let products = [0, 2].map(|lane| {
        let x = byte(code, code.a, lane, Sign::Unsigned);
        code.terms.mul(factor, x)
    });
    let high = code.shl(products[1], 16);
    let low = code.and(products[0], 0xffff);
    (packed, code.terms.or(high, low))
}

fn distributed(code: &mut Code) -> (Term, Term) {
    let (a, b, c) = (code.a, code.b, code.c);
    let sum = code.terms.add(a, b);
    let (x, y) = (code.terms.mul(a, c), code.terms.mul(c, b));
    (code.terms.mul(sum, c), code.terms.add(x, y))
}

fn one_lane_wrong(code: &mut Code) -> (Term, Term) {
    let right = saturated(code, Sign::Unsigned);
    let words = vaddus4_words(code);
    let plain = vadd4_words(code);
    let mask = code.k(0x0000_ff00);
    (right, code.mix(mask, plain, words))
}

fn one_input_wrong(code: &mut Code) -> (Term, Term) {
    let sum = code.terms.add(code.a, code.b);
    let (x, y) = (code.k(0x8c3a_91f5), code.k(0x17d2_6ea9));
    let (x, y) = (code.terms.equal(code.a, x), code.terms.equal(code.b, y));
    let both = code.terms.and(x, y);
    let wrong = code.terms.not(sum);
    (sum, code.terms.choose(both, wrong, sum))
}

fn rounded_down(code: &mut Code) -> (Term, Term) {
    let both = code.terms.and(code.a, code.b);
    let differ = code.terms.xor(code.a, code.b);
    let half = code.shr(differ, 1);
    let half = code.and(half, 0x7f7f_7f7f);
    (vavrg4(code), code.terms.add(both, half))
}

fn absolute(code: &mut Code) -> [Term; 4] {
    code.lanes(Sign::Unsigned, absolute_difference)
}

pub(crate) static PAIRS: &[Pair] = &[
    Pair {
        name: "vadd4 wrap = 7f words",
        reference: 0.05,
        expected: Expected::Equal,
        build: |code| (vadd4(code), vadd4_words(code)),
    },
    Pair {
        name: "vadd4 wrap + merge mask",
        reference: 0.04,
        expected: Expected::Equal,
        build: |code| {
            let (x, y) = (vadd4(code), vadd4_words(code));
            (merged(code, x), merged(code, y))
        },
    },
    Pair {
        name: "bfe/add/bfi chain = vadd4",
        reference: 0.05,
        expected: Expected::Equal,
        build: |code| (vadd4_chain(code), vadd4(code)),
    },
    Pair {
        name: "vadd4.u32 sat",
        reference: 0.57,
        expected: Expected::Equal,
        build: |code| (saturated(code, Sign::Unsigned), vaddus4_words(code)),
    },
    Pair {
        name: "vadd4.s32 sat",
        reference: 0.64,
        expected: Expected::Equal,
        build: |code| (saturated(code, Sign::Signed), vaddss4_words(code)),
    },
    Pair {
        name: "vadd4.s32 sat + merge",
        reference: 0.48,
        expected: Expected::Equal,
        build: |code| {
            let (x, y) = (saturated(code, Sign::Signed), vaddss4_words(code));
            (merged(code, x), merged(code, y))
        },
    },
    Pair {
        name: "vmin4.s32 words",
        reference: 0.41,
        expected: Expected::Equal,
        build: |code| (vmin4(code), vmin4_words(code)),
    },
    Pair {
        name: "blend by lane sign",
        reference: 0.23,
        expected: Expected::Equal,
        build: |code| (blend(code), blend_words(code)),
    },
    Pair {
        name: "vabsdiff4.u32",
        reference: 5.8,
        expected: Expected::Equal,
        build: |code| {
            let lanes = absolute(code);
            (code.pack(lanes), vabsdiff4_words(code))
        },
    },
    Pair {
        name: "vavrg4.u32 round up",
        reference: 9.2,
        expected: Expected::Equal,
        build: |code| (vavrg4(code), vavrg4_words(code)),
    },
    Pair {
        name: "vabsdiff4 .add c (SAD)",
        reference: 574.0,
        expected: Expected::Equal,
        build: |code| {
            let lanes = absolute(code);
            let words = vabsdiff4_words(code);
            (code.accumulate(lanes), sum_of_bytes(code, words))
        },
    },
    Pair {
        name: "vadd4 .add c",
        reference: 239.0,
        expected: Expected::Equal,
        build: |code| {
            let lanes = code.lanes(Sign::Unsigned, Terms::add);
            (code.accumulate(lanes), vadd4_accumulated_words(code))
        },
    },
    Pair {
        name: "dp4a.u32 reversed, swapped",
        reference: 0.4,
        expected: Expected::Equal,
        build: |code| (dp4a(code, Sign::Unsigned), dp4a_shifts(code, Sign::Unsigned, [3, 2, 1, 0], true)),
    },
    Pair {
        name: "dp4a.s32 bfe = shl/ashr",
        reference: 6.2,
        expected: Expected::Equal,
        build: |code| (dp4a(code, Sign::Signed), dp4a_shifts(code, Sign::Signed, [0, 1, 2, 3], false)),
    },
    Pair {
        name: "dp4a.s32 permuted",
        reference: 6.5,
        expected: Expected::Equal,
        build: |code| (dp4a(code, Sign::Signed), dp4a_shifts(code, Sign::Signed, [2, 0, 3, 1], true)),
    },
    Pair {
        name: "u8 x u8, 32-bit = 16-bit mul",
        reference: 0.07,
        expected: Expected::Equal,
        build: product_of_bytes,
    },
    Pair {
        name: "two lanes in one packed mul",
        reference: 0.12,
        expected: Expected::Equal,
        build: packed_product,
    },
    Pair { name: "(a+b)*c distributes", reference: 60_000.0, expected: Expected::Equal, build: distributed },
    Pair {
        name: "wrong: no mask",
        reference: 3.0,
        expected: Expected::Different,
        build: |code| (vadd4(code), code.terms.add(code.a, code.b)),
    },
    Pair {
        name: "wrong: average rounds down",
        reference: 3.0,
        expected: Expected::Different,
        build: rounded_down,
    },
    Pair {
        name: "wrong: one lane not saturated",
        reference: 3.0,
        expected: Expected::Different,
        build: one_lane_wrong,
    },
    Pair {
        name: "wrong on 1 of 2^64 inputs",
        reference: 3.2,
        expected: Expected::Different,
        build: one_input_wrong,
    },
];
