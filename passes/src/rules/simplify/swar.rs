//! All lanes at once in plain words.
//!
//! Today's GPUs execute only a few SIMD video instructions themselves; the assembler emulates the others lane by
//! lane. In a plain word, lanes affect each other only by carries and borrows. Those are kept inside a lane by
//! computing without the highest bit of each, which is then put in by logic.

use crate::recipe::{Recipe, Source, Step};
use crate::rules::build::Building;
use crate::rules::operands::{lanes, result, within};
use crate::rules::{Pass, Rule};
use crate::site::Site;
use ptxopt_grammar::video::{Compare, Form, Lanes, Routing, Sign, Simd, SimdArithmetic, SimdOp, SimdThen};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "no-carry",
        pass: Pass::Simplify,
        law: "lanes whose sums or differences stay in range are added or subtracted as one word",
        examples: &[
            "and.b32 %e, %a, 0x7f7f7f7f; and.b32 %f, %b, 0x7f7f7f7f; vadd4.u32.u32.u32 %d, %e, %f, %c;",
            "or.b32 %e, %a, 0xf0f0f0f0; and.b32 %f, %b, 0x0f0f0f0f; vsub4.u32.u32.u32 %d, %e, %f, %c;",
            "and.b32 %e, %a, 0x7fff00ff; and.b32 %f, %b, 0x01; vadd2.u32.u32.u32.sat %d, %e, %f, %c;",
        ],
        propose: no_carry,
    },
    Rule {
        name: "word-sum",
        pass: Pass::Simplify,
        law: "lanes without their highest bits, added as one word, then x^y of the highest bits; what overflows saturates",
        examples: &[
            "vadd4.u32.u32.s32 %d, %a, %b, %c;",
            "vadd4.u32.u32.u32.sat %d, %a, %b, %c;",
            "vadd4.s32.s32.s32.sat %d, %a, %b, %c;",
            "vsub2.u32.u32.u32 %d, %a, %b, %c;",
            "vsub4.u32.u32.u32.sat %d, %a, %b, %c;",
            "vsub2.s32.s32.s32.sat %d, %a, %b, %c;",
        ],
        propose: sum,
    },
    Rule {
        name: "word-mean",
        pass: Pass::Simplify,
        law: "(x+y+1)/2 = (x|y) - ((x^y)>>1); (x+y)/2 = (x&y) + ((x^y)>>1)",
        examples: &[
            "vavrg4.u32.u32.u32 %d, %a, %b, %c;",
            "vavrg4.s32.s32.s32 %d, %a, %b, %c;",
            "vavrg2.s32.s32.s32 %d, %a, %b, %c;",
        ],
        propose: mean,
    },
    Rule {
        name: "word-comparison",
        pass: Pass::Simplify,
        law: "x<y shows in the borrow of x-y, lane by lane",
        examples: &[
            "vset4.u32.u32.lt %d, %a, %b, %c;",
            "vset4.s32.s32.ge %d, %a, %b, %c;",
            "vset2.u32.s32.gt %d, %a, %b, %c;",
            "vset4.s32.u32.le.add %d, %a, %b, %c;",
            "vset4.u32.u32.eq %d, %a, %b, %c;",
            "vset4.s32.s32.ne.add %d, %a, %b, %c;",
        ],
        propose: comparison,
    },
    Rule {
        name: "word-extremum",
        pass: Pass::Simplify,
        law: "min(x,y) = x<y ? x : y, chosen by whole lanes; |x-y| = max(x,y) - min(x,y)",
        examples: &[
            "vmin4.u32.u32.u32 %d, %a, %b, %c;",
            "vmax4.s32.s32.s32 %d, %a, %b, %c;",
            "vmax2.u32.s32.u32 %d, %a, %b, %c;",
            "vabsdiff2.u32.u32.u32 %d, %a, %b, %c;",
        ],
        propose: extremum,
    },
    Rule {
        name: "biased-difference",
        pass: Pass::Simplify,
        law: "|x-y| of signed lanes is |x-y| of the same lanes plus 128, as unsigned ones",
        examples: &["vabsdiff4.s32.s32.s32 %d, %a, %b, %c;", "vabsdiff2.u32.s32.s32.add %d, %a, %b, %c;"],
        propose: biased,
    },
];

/// Constants and steps for lanes of a size.
struct Words {
    lanes: Lanes,
    a: Source,
    b: Source,
    building: Building,
}

impl Words {
    /// The operands of a form that computes all lanes, each from the same lane of `a` and `b`.
    fn of(site: &Site<'_, '_, '_>, form: &Simd) -> Option<Self> {
        let lanes = form.routing.lanes();
        let (a, b) = (site.step.sources[0], site.step.sources[1]);
        (form.routing == Routing::plain(lanes)).then(|| Self { lanes, a, b, building: Building::default() })
    }

    /// A number in every lane.
    fn every(&self, number: u64) -> Source {
        let lanes = (0..self.lanes.count()).map(|lane| number << (u32::from(lane) * self.lanes.bits()));
        Source::Constant(lanes.sum())
    }

    /// The highest bit of every lane.
    fn high(&self) -> Source {
        self.every(1 << (self.lanes.bits() - 1))
    }

    /// All bits of every lane but the highest.
    fn low(&self) -> Source {
        self.every((1 << (self.lanes.bits() - 1)) - 1)
    }

    fn plain(&mut self, words: &str, sources: &[Source]) -> Source {
        self.building.plain(words, sources)
    }

    /// A function of three words: bit `4x+2y+z` of its table is its value.
    fn logic(&mut self, sources: [Source; 3], table: u64) -> Source {
        let [x, y, z] = sources;
        self.plain("lop3.b32", &[x, y, z, Source::Constant(table)])
    }

    /// The highest bit of every lane in all of its bits.
    fn spread(&mut self, word: Source) -> Source {
        let selector = match self.lanes {
            Lanes::Four => 0xba98,
            Lanes::Two => 0xbb99,
        };
        self.plain("prmt.b32", &[word, word, Source::Constant(selector)])
    }

    /// `x+y` in every lane.
    fn add(&mut self, x: Source, y: Source) -> Source {
        let (high, low) = (self.high(), self.low());
        let (x_low, y_low) = (self.plain("and.b32", &[x, low]), self.plain("and.b32", &[y, low]));
        let sum = self.plain("add.u32", &[x_low, y_low]);
        let top = self.logic([x, y, high], 0x28);
        self.plain("xor.b32", &[sum, top])
    }

    /// The lanes of `x` with their highest bit set, minus those of `y` without it.
    fn guarded(&mut self, x: Source, y: Source) -> Source {
        let (high, low) = (self.high(), self.low());
        let (x, y) = (self.plain("or.b32", &[x, high]), self.plain("and.b32", &[y, low]));
        self.plain("sub.u32", &[x, y])
    }

    /// `x-y` in every lane.
    fn sub(&mut self, x: Source, y: Source) -> Source {
        let high = self.high();
        let difference = self.guarded(x, y);
        // The highest bit is that of the guarded difference if x and y differ there, else its opposite.
        let top = self.logic([x, y, high], 0x82);
        self.plain("xor.b32", &[difference, top])
    }

    /// Whether `x < y`, in the highest bit of every lane; or whether not.
    fn less(&mut self, (x, xtype): (Source, Sign), (y, ytype): (Source, Sign), holds: bool) -> Source {
        let difference = self.guarded(x, y);
        let table = match (xtype, ytype) {
            (Sign::Unsigned, Sign::Unsigned) => 0x4d,
            (Sign::Signed, Sign::Signed) => 0x71,
            (Sign::Unsigned, Sign::Signed) => 0x01,
            (Sign::Signed, Sign::Unsigned) => 0xfd,
        };
        self.logic([x, y, difference], if holds { table } else { table ^ 0xff })
    }

    fn propose(self, out: &mut Vec<Recipe>, result: Source) {
        out.push(self.building.finish(result));
    }
}

fn simd(site: &Site<'_, '_, '_>) -> Option<Simd> {
    match site.form()? {
        Form::Simd(form) => Some(form),
        Form::Scalar(_) | Form::Mad(_) => None,
    }
}

fn no_carry(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some(form) = simd(site) else { return };
    let SimdOp::Arithmetic { op, dtype, then: SimdThen::Store | SimdThen::Saturate } = form.op else {
        return;
    };
    let words = match op {
        SimdArithmetic::Add => "add.u32",
        SimdArithmetic::Sub => "sub.u32",
        SimdArithmetic::Average | SimdArithmetic::AbsDiff | SimdArithmetic::Min | SimdArithmetic::Max => {
            return;
        }
    };
    let Some(mut word) = Words::of(site, &form) else { return };
    let saturates = matches!(form.op, SimdOp::Arithmetic { then: SimdThen::Saturate, .. });
    let bits = form.routing.lanes().bits();
    // Lanes as the bits they are, whatever their types.
    let fits = |lane: &crate::rules::operands::Lane| {
        let plain = lane.x.range.0 >= 0 && lane.y.range.0 >= 0;
        let range = result(op, lane.x.range, lane.y.range);
        let greatest = if saturates && dtype == Sign::Signed { bits - 1 } else { bits };
        plain && within(range, (0, (1 << greatest) - 1))
    };
    if lanes(site, &form).iter().all(fits) {
        let result = word.plain(words, &site.step.sources[..2]);
        word.propose(out, result);
    }
}

fn sum(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some(form) = simd(site) else { return };
    let SimdOp::Arithmetic { op, dtype, then } = form.op else { return };
    let Some(mut words) = Words::of(site, &form) else { return };
    let (a, b) = (words.a, words.b);
    // In the highest bits of a, b and the wrapped result: whether it overflows, as numbers without and with a sign.
    let (wrapped, carries, overflows) = match op {
        SimdArithmetic::Add => (words.add(a, b), 0xd4, 0x42),
        SimdArithmetic::Sub => (words.sub(a, b), 0x8e, 0x18),
        SimdArithmetic::Average | SimdArithmetic::AbsDiff | SimdArithmetic::Min | SimdArithmetic::Max => {
            return;
        }
    };
    let result = match (then, (dtype, form.atype, form.btype)) {
        (SimdThen::Store, _) => wrapped,
        (SimdThen::Saturate, (Sign::Unsigned, Sign::Unsigned, Sign::Unsigned)) => {
            let over = words.logic([a, b, wrapped], carries);
            let over = words.spread(over);
            // A sum becomes the highest number, a difference the lowest.
            if op == SimdArithmetic::Add {
                words.plain("or.b32", &[wrapped, over])
            } else {
                words.logic([wrapped, over, over], 0x30)
            }
        }
        (SimdThen::Saturate, (Sign::Signed, Sign::Signed, Sign::Signed)) => {
            let over = words.logic([a, b, wrapped], overflows);
            let (over, negative) = (words.spread(over), words.spread(a));
            // The result has the sign of a, if it has left the range.
            let low = words.low();
            let limit = words.plain("xor.b32", &[negative, low]);
            words.logic([limit, wrapped, over], 0xe4)
        }
        (SimdThen::Saturate | SimdThen::Add, _) => return,
    };
    words.propose(out, result);
}

fn mean(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some(form) = simd(site) else { return };
    let SimdOp::Arithmetic { op: SimdArithmetic::Average, then: SimdThen::Store, .. } = form.op else {
        return;
    };
    let Some(mut words) = Words::of(site, &form) else { return };
    let (a, b) = (words.a, words.b);
    let one = words.every(1);
    let bits = form.routing.lanes().bits();
    let but_lowest = words.every((1 << bits) - 2);
    let different = words.logic([a, b, but_lowest], 0x28);
    let half = words.plain("shr.u32", &[different, Source::Constant(1)]);
    let result = match (form.atype, form.btype) {
        (Sign::Unsigned, Sign::Unsigned) => {
            let either = words.plain("or.b32", &[a, b]);
            words.plain("sub.u32", &[either, half])
        }
        (Sign::Signed, Sign::Signed) => {
            // Halved downwards, with all lanes higher by half their range; one more where that is a half too low.
            let high = words.high();
            let both = words.logic([a, b, high], 0x42);
            let floor = words.plain("add.u32", &[both, half]);
            let sign = words.plain("shr.u32", &[floor, Source::Constant((bits - 1).into())]);
            let odd = words.logic([a, b, sign], 0x28);
            let more = words.plain("and.b32", &[odd, one]);
            let floor = words.plain("xor.b32", &[floor, high]);
            words.plain("add.u32", &[floor, more])
        }
        (Sign::Unsigned, Sign::Signed) | (Sign::Signed, Sign::Unsigned) => return,
    };
    words.propose(out, result);
}

fn comparison(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some(form) = simd(site) else { return };
    let SimdOp::Set { compare, accumulate } = form.op else { return };
    let Some(mut words) = Words::of(site, &form) else { return };
    let (x, y) = ((words.a, form.atype), (words.b, form.btype));
    let high = words.high();
    let holds = match compare {
        Compare::Eq | Compare::Ne if form.atype != form.btype => return,
        Compare::Eq | Compare::Ne => {
            let low = words.low();
            let different = words.plain("xor.b32", &[x.0, y.0]);
            let carried = words.plain("and.b32", &[different, low]);
            let carried = words.plain("add.u32", &[carried, low]);
            let table = if compare == Compare::Ne { 0xa8 } else { 0x02 };
            words.logic([carried, different, high], table)
        }
        Compare::Lt | Compare::Ge | Compare::Gt | Compare::Le => {
            let (x, y) = if matches!(compare, Compare::Lt | Compare::Ge) { (x, y) } else { (y, x) };
            let less = words.less(x, y, matches!(compare, Compare::Lt | Compare::Gt));
            words.plain("and.b32", &[less, high])
        }
    };
    let result = if accumulate {
        let count = words.plain("popc.b32", &[holds]);
        words.plain("add.u32", &[count, site.step.sources[2]])
    } else {
        let to_lowest = Source::Constant((form.routing.lanes().bits() - 1).into());
        words.plain("shr.u32", &[holds, to_lowest])
    };
    words.propose(out, result);
}

fn extremum(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some(form) = simd(site) else { return };
    let SimdOp::Arithmetic { op, then: SimdThen::Store, .. } = form.op else { return };
    let Some(mut words) = Words::of(site, &form) else { return };
    let (a, b) = (words.a, words.b);
    if !matches!(op, SimdArithmetic::Min | SimdArithmetic::Max | SimdArithmetic::AbsDiff) {
        return;
    }
    let less = words.less((a, form.atype), (b, form.btype), true);
    let less = words.spread(less);
    let result = match op {
        SimdArithmetic::Min => words.logic([a, b, less], 0xe4),
        SimdArithmetic::Max => words.logic([a, b, less], 0xd8),
        SimdArithmetic::AbsDiff if (form.atype, form.btype) == (Sign::Unsigned, Sign::Unsigned) => {
            let (min, max) = (words.logic([a, b, less], 0xe4), words.logic([a, b, less], 0xd8));
            words.plain("sub.u32", &[max, min])
        }
        SimdArithmetic::AbsDiff | SimdArithmetic::Add | SimdArithmetic::Sub | SimdArithmetic::Average => {
            return;
        }
    };
    words.propose(out, result);
}

fn biased(site: &Site<'_, '_, '_>, out: &mut Vec<Recipe>) {
    let Some(form) = simd(site) else { return };
    let SimdOp::Arithmetic { op: SimdArithmetic::AbsDiff, .. } = form.op else { return };
    let Some(mut words) = Words::of(site, &form) else { return };
    if (form.atype, form.btype) != (Sign::Signed, Sign::Signed) {
        return;
    }
    let high = words.high();
    let (a, b) = (words.a, words.b);
    let (a, b) = (words.plain("xor.b32", &[a, high]), words.plain("xor.b32", &[b, high]));
    let form = Form::Simd(Simd { atype: Sign::Unsigned, btype: Sign::Unsigned, ..form });
    let mut sources = vec![a, b];
    sources.extend(site.step.sources.get(2));
    let result = words.building.push(Step::video(form, &sources));
    words.propose(out, result);
}
