//! Integer, logic, comparison, selection and conversion instructions.
//!
//! Source of each row: the instruction's own page of the
//! [manual](https://docs.nvidia.com/cuda/parallel-thread-execution/#instruction-set).

use super::instruction::op::{B32, LO, S8X4, S16, S16X2, S32, S64, U8X4, U16, U16X2, U32, U64};
use super::words::Modifier;
use super::{Row, form, row};
use crate::meaning::{choice, integer, logic};

/// The types whose sign makes no difference to the low bits of a sum, a difference or a product.
const SIGNS: &[(Modifier, Modifier)] = &[(S16, U16), (S32, U32), (S64, U64), (S16X2, U16X2), (S8X4, U8X4)];

pub(super) const ROWS: &[Row] = &[
    row("sub")
        .alike(&[], SIGNS)
        .takes(&["INT: =0 0 0", "FLT/HALF/f32x2: =0 0 0", "u8x4/s8x4: =0 0 0", "ANY ANY ..: *.."])
        .means(integer::sub)
        .writes_leading(1)
        .forms(&[
            form("u8x4", (9, 2), "107a 107f 120a 120f 121a 121f"),
            form("s8x4", (9, 2), "107a 107f 120a 120f 121a 121f"),
            form("cc u64", (4, 3), "20"),
            form("cc s64", (4, 3), "20"),
            form("f32x2", (8, 6), "100"),
            form("f16", (4, 2), "53"),
            form("f16x2", (4, 2), "53"),
            form("bf16", (7, 8), "90"),
            form("bf16x2", (7, 8), "90"),
        ]),
    row("mul")
        .alike(&[LO], SIGNS)
        .commutes()
        .takes(&[
            "-wide INT: =0 0 0",
            "+wide u16/s16/u32/s32: =d0 0 0",
            "FLT/HALF/f32x2: =0 0 0",
            "ANY ANY ..: *..",
        ])
        .means(integer::mul)
        .writes_leading(1)
        .forms(&[
            form("f32x2", (8, 6), "100"),
            form("f16", (4, 2), "53"),
            form("f16x2", (4, 2), "53"),
            form("bf16", (7, 8), "90"),
            form("bf16x2", (7, 8), "90"),
        ]),
    row("abs").takes(&["s16/s32/s64/FLT/HALF: =0 0"]).means(integer::abs).writes_leading(1),
    row("neg").takes(&["s16/s32/s64/FLT/HALF/s8x4: =0 0"]).means(integer::neg).writes_leading(1).forms(&[
        form("s8x4", (9, 2), "107a 107f 120a 120f 121a 121f"),
        form("f16", (6, 0), "53"),
        form("f16x2", (6, 0), "53"),
        form("bf16", (7, 0), "80"),
        form("bf16x2", (7, 0), "80"),
    ]),
    row("min")
        .commutes()
        .takes(&["INT/PACKED/HALF/f64: =0 0 0", "f32: =0 0 0 0?"])
        .means(integer::min)
        .writes_leading(1)
        .forms(&[
            form("u8x4", (9, 2), "107a 107f 120a 120f 121a 121f"),
            form("s8x4", (9, 2), "107a 107f 120a 120f 121a 121f"),
            form("u16x2", (8, 0), "90"),
            form("s16x2", (8, 0), "90"),
            form("relu s32", (8, 0), "90"),
        ]),
    row("max")
        .commutes()
        .takes(&["INT/PACKED/HALF/f64: =0 0 0", "f32: =0 0 0 0?"])
        .means(integer::max)
        .writes_leading(1)
        .forms(&[
            form("u8x4", (9, 2), "107a 107f 120a 120f 121a 121f"),
            form("s8x4", (9, 2), "107a 107f 120a 120f 121a 121f"),
            form("u16x2", (8, 0), "90"),
            form("s16x2", (8, 0), "90"),
            form("relu s32", (8, 0), "90"),
        ]),
    row("add")
        .alike(&[], SIGNS)
        .commutes()
        .takes(&["INT: =0 0 0", "FLT/HALF/f32x2: =0 0 0", "PACKED: =0 0 0", "ANY ANY ..: *.."])
        .means(integer::add)
        .writes_leading(1)
        .forms(&[
            form("sat u8x4", (9, 2), "107a 107f 120a 120f 121a 121f"),
            form("sat s8x4", (9, 2), "107a 107f 120a 120f 121a 121f"),
            form("u8x4", (9, 2), "107a 107f 120a 120f 121a 121f"),
            form("s8x4", (9, 2), "107a 107f 120a 120f 121a 121f"),
            form("sat u16x2", (9, 2), "107a 107f 120a 120f 121a 121f"),
            form("sat s16x2", (9, 2), "107a 107f 120a 120f 121a 121f"),
            form("sat u32", (9, 2), "107a 107f 120a 120f 121a 121f"),
            form("u16x2", (8, 0), "90"),
            form("s16x2", (8, 0), "90"),
            form("cc u64", (4, 3), "20"),
            form("cc s64", (4, 3), "20"),
            form("f32x2", (8, 6), "100"),
            form("f16", (4, 2), "53"),
            form("f16x2", (4, 2), "53"),
            form("bf16", (7, 8), "90"),
            form("bf16x2", (7, 8), "90"),
        ]),
    row("addc").commutes().takes(&["WORDS: =0 0 0"]).means(integer::addc).writes_leading(1).reads_carry(),
    row("subc").takes(&["WORDS: =0 0 0"]).means(integer::subc).writes_leading(1).reads_carry(),
    row("madc")
        .commutes()
        .takes(&["WORDS: =0 0 0 0"])
        .means(integer::madc)
        .writes_leading(1)
        .since(3, 0)
        .on("20")
        .reads_carry(),
    row("mad")
        .alike(&[LO], SIGNS)
        .commutes()
        .takes(&["-wide INT/FLT: =0 0 0 0", "+wide u16/s16/u32/s32: =d0 0 0 d0"])
        .means(integer::mad)
        .writes_leading(1)
        .forms(&[form("cc u64", (4, 3), "20"), form("cc s64", (4, 3), "20"), form("cc", (3, 0), "20")]),
    row("mul24").commutes().takes(&["u32/s32: =0 0 0"]).means(integer::mul24).writes_leading(1),
    row("mad24").commutes().takes(&["u32/s32: =0 0 0 0"]).means(integer::mad24).writes_leading(1),
    row("clmad").writes_leading(1).since(9, 3).on("80"),
    row("sad").on_bytes().commutes().takes(&["INT: =0 0 0 0"]).means(integer::sad).writes_leading(1),
    row("div").takes(&["INT/FLT: =0 0 0"]).means(integer::div).writes_leading(1),
    row("rem").takes(&["INT: =0 0 0"]).means(integer::rem).writes_leading(1),
    row("popc").takes(&["b32/b64: =u32 0"]).means(logic::popc).writes_leading(1).since(2, 0).on("20"),
    row("clz").takes(&["b32/b64: =u32 0"]).means(logic::clz).writes_leading(1).since(2, 0).on("20"),
    row("bfind").takes(&["WORDS: =u32 0"]).means(logic::bfind).writes_leading(1).since(2, 0).on("20"),
    row("brev").takes(&["b32/b64: =0 0"]).means(logic::brev).writes_leading(1).since(2, 0).on("20"),
    row("bfe")
        .on_bytes()
        .takes(&["WORDS: =0 0 u32 u32"])
        .means(logic::bfe)
        .writes_leading(1)
        .since(2, 0)
        .on("20"),
    row("bfi").takes(&["b32/b64: =0 0 0 u32 u32"]).means(logic::bfi).writes_leading(1).since(2, 0).on("20"),
    row("fns").takes(&["b32: =0 0 0 0"]).means(logic::fns).writes_leading(1).since(6, 0).on("30"),
    row("szext").takes(&["u32/s32: =0 0 u32"]).means(logic::szext).writes_leading(1).since(7, 6).on("70"),
    row("bmsk").takes(&["b32: =0 0 0"]).means(logic::bmsk).writes_leading(1).since(7, 6).on("70"),
    row("dp4a")
        .on_bytes()
        .takes(&["u32/s32 u32/s32: =u32 0 1 u32"])
        .means(integer::dp4a)
        .writes_leading(1)
        .since(5, 0)
        .on("61"),
    row("dp2a")
        .on_bytes()
        .takes(&["u32/s32 u32/s32: =u32 0 1 u32"])
        .means(integer::dp2a)
        .writes_leading(1)
        .since(5, 0)
        .on("61"),
    row("and").bitwise().commutes().takes(&["pred/BITS: =0 0 0"]).means(logic::and).writes_leading(1),
    row("or").bitwise().commutes().takes(&["pred/BITS: =0 0 0"]).means(logic::or).writes_leading(1),
    row("xor").bitwise().commutes().takes(&["pred/BITS: =0 0 0"]).means(logic::xor).writes_leading(1),
    row("not").bitwise().takes(&["pred/BITS: =0 0"]).means(logic::not).writes_leading(1),
    row("cnot").takes(&["BITS: =0 0"]).means(logic::cnot).writes_leading(1),
    row("lop3")
        .pattern(2)
        .on_bytes()
        .takes(&["-and/or/xor b32: =0 0 0 0 #", "+and/or/xor b32: =0|p 0 0 0 # p"])
        .means(logic::lop3)
        .writes_leading(1)
        .since(4, 3)
        .on("50")
        .forms(&[form("or", (8, 2), "70"), form("and", (8, 2), "70"), form("xor", (8, 2), "70")]),
    row("shf").takes(&["b32: =0 0 0 u32"]).means(logic::shf).writes_leading(1).since(3, 1).on("32"),
    row("shl").shifts().takes(&["BITS: =0 0 u32"]).means(logic::shl).writes_leading(1),
    row("shr")
        .shifts()
        .alike(&[], &[(B32, U32)])
        .takes(&["BITS/INT: =0 0 u32"])
        .means(logic::shr)
        .writes_leading(1),
    row("set")
        .takes(&[
            "-and/or/xor u16/s16/u32/s32/f32/HALF BITS/INT/FLT/HALF: =0 1 1",
            "+and/or/xor u16/s16/u32/s32/f32/HALF BITS/INT/FLT/HALF: =0 1 1 p",
            "PACKED: =0 0 0",
        ])
        .means(choice::set)
        .writes_leading(1)
        .forms(&[
            form("u8x4", (9, 4), "107a 107f"),
            form("s8x4", (9, 4), "107a 107f"),
            form("u16x2", (9, 4), "107a 107f"),
            form("s16x2", (9, 4), "107a 107f"),
        ]),
    row("setp")
        .takes(&["-and/or/xor BITS/INT/FLT/HALF: =p|p 0 0", "+and/or/xor BITS/INT/FLT/HALF: =p|p 0 0 p"])
        .means(choice::setp)
        .writes_leading(1)
        .forms(&[
            form("f16", (4, 2), "53"),
            form("f16x2", (4, 2), "53"),
            form("bf16", (7, 8), "90"),
            form("bf16x2", (7, 8), "90"),
        ]),
    row("selp").takes(&["BITS/INT/FLT: =0 0 0 p"]).means(choice::selp).writes_leading(1),
    row("slct").takes(&["BITS/INT/FLT s32/f32: =0 0 0 1"]).means(choice::slct).writes_leading(1),
    row("prmt")
        .pattern(4)
        .on_bytes()
        .takes(&["b32: =0 0 0 0"])
        .means(logic::prmt)
        .writes_leading(1)
        .since(2, 0)
        .on("20"),
    row("mov")
        .moves()
        .takes(&["pred/BITS/INT/FLT/b128: =m0 m0"])
        .means(choice::mov)
        .writes_leading(1)
        .forms(&[form("b128", (8, 3), "70")]),
    row("cvt")
        .takes(&[
            "CVT CVT: =w0 w1",
            "f16x2/bf16x2 f32: =w0 1 1 *?",
            "NARROW ANY ..: *..",
            "ANY NARROW ..: *..",
        ])
        .means(choice::cvt)
        .writes_leading(1)
        .forms(&[form("rs", (8, 7), "100a 103a 107a")]),
    row("cvt.pack")
        .takes(&[
            "u16/s16/u8/s8/u4/s4/u2/s2 s32: =w1 w1 w1",
            "u16/s16/u8/s8/u4/s4/u2/s2 s32 b32: =w1 w1 w1 w2",
        ])
        .means(choice::cvt_pack)
        .writes_leading(1)
        .since(6, 5)
        .on("72")
        .forms(&[
            form("u4", (6, 5), "75"),
            form("s4", (6, 5), "75"),
            form("u2", (6, 5), "75"),
            form("s2", (6, 5), "75"),
        ]),
];
