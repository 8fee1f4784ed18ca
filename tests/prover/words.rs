//! Accesses to vectors of bytes and halves, and accesses to the words that they make up: by bytes, they are the same.

use crate::blocks::{kernel, stopped_texts};

/// What loads, or stores, from and to registers, in two ways.
const SAME: [(&str, &str, &str, &str); 8] = [
    (
        "bytes of a word",
        "ld.global.v4.u8 {%r4, %r5, %r6, %r7}, [%d2+4];",
        "ld.global.b32 %r8, [%d2+4];\nprmt.b32 %r4, %r8, 0, 0x4440;\nprmt.b32 %r5, %r8, 0, 0x4441;\n\
         bfe.u32 %r6, %r8, 16, 8;\nshr.u32 %r7, %r8, 24;",
        "st.global.v4.b32 [%d1], {%r4, %r5, %r6, %r7};",
    ),
    (
        "bytes with a sign, through a cache operator",
        "ld.global.nc.v4.s8 {%r4, %r5, %r6, %r7}, [%d2];",
        "ld.global.nc.b32 %r8, [%d2];\nprmt.b32 %r4, %r8, 0, 0x8880;\nprmt.b32 %r5, %r8, 0, 0x9991;\n\
         bfe.s32 %r6, %r8, 16, 8;\nshr.s32 %r7, %r8, 24;",
        "st.global.v4.b32 [%d1], {%r4, %r5, %r6, %r7};",
    ),
    (
        "halves of two words",
        "ld.global.v4.u16 {%r4, %r5, %r6, %r7}, [%d2];",
        "ld.global.v2.b32 {%r8, %r9}, [%d2];\nand.b32 %r4, %r8, 0xffff;\nshr.u32 %r5, %r8, 16;\n\
         prmt.b32 %r6, %r9, 0, 0x4410;\nprmt.b32 %r7, %r9, 0, 0x4432;",
        "st.global.v4.b32 [%d1], {%r4, %r5, %r6, %r7};",
    ),
    (
        "bytes that are not used",
        "ld.shared.v4.u8 {%r4, %r5, %r6, %r7}, [tile+8];",
        "ld.shared.b32 %r8, [tile+8];\nprmt.b32 %r6, %r8, 0, 0x4442;",
        "st.global.b32 [%d1], %r6;",
    ),
    (
        "bytes that are stored",
        "st.global.v4.u8 [%d2], {%r3, %r2, %r1, %r3};",
        "prmt.b32 %r4, %r3, %r2, 0x0040;\nprmt.b32 %r5, %r1, %r3, 0x0040;\nprmt.b32 %r6, %r4, %r5, 0x5410;\n\
         st.global.b32 [%d2], %r6;",
        "",
    ),
    (
        "halves that are stored",
        "st.shared.v2.b16 [tile], {%r3, %r2};",
        "prmt.b32 %r4, %r3, %r2, 0x5410;\nst.shared.b32 [tile], %r4;",
        "",
    ),
    (
        "bytes that are stored under a guard",
        "setp.gt.u32 %p1, %r3, 7;\n@%p1 st.global.v4.u8 [%d2], {%r3, 1, 2, %r3};",
        "setp.gt.u32 %p1, %r3, 7;\nprmt.b32 %r4, %r3, 0x0201, 0x0540;\n@%p1 st.global.b32 [%d2], %r4;",
        "",
    ),
    (
        "a word, as bytes",
        "ld.global.u32 %r8, [%d2];\nst.global.u32 [%d2+4], %r8;",
        "ld.global.v4.u8 {%r4, %r5, %r6, %r7}, [%d2];\nst.global.v4.u8 [%d2+4], {%r4, %r5, %r6, %r7};",
        "",
    ),
];

#[test]
fn words_are_their_bytes() {
    for (what, old, new, rest) in SAME {
        let [old, new] = [old, new].map(|part| kernel(&format!("{part}\n{rest}")));
        assert_eq!(stopped_texts(&old, &new), None, "{what}");
        assert_eq!(stopped_texts(&new, &old), None, "{what}, the other way round");
    }
}

/// A word that is loaded and stored as bytes, with one thing otherwise.
const DIFFERENT: [(&str, &str, &str, &str); 13] = [
    ("another address", LOADED, "ld.global.b32 %r8, [%d2+4];", TAKEN),
    ("another place of a byte", LOADED, "ld.global.v4.u8 {%r5, %r4, %r6, %r7}, [%d2];", ""),
    ("another space", LOADED, "ld.shared.b32 %r8, [tile];", TAKEN),
    ("another cache operator", LOADED, "ld.global.cs.b32 %r8, [%d2];", TAKEN),
    ("a volatile word", LOADED, "ld.volatile.global.b32 %r8, [%d2];", TAKEN),
    ("an atomic word", LOADED, "ld.relaxed.gpu.global.b32 %r8, [%d2];", TAKEN),
    ("bytes with a sign", LOADED, "ld.global.v4.s8 {%r4, %r5, %r6, %r7}, [%d2];", ""),
    ("a load after a store", LOADED, "st.global.u8 [%d2+1], %r2;\nld.global.b32 %r8, [%d2];", TAKEN),
    ("half of a word", LOADED, "ld.global.u16 %r8, [%d2];", TAKEN),
    (
        "bytes that are stored in another order",
        "st.global.v4.u8 [%d2], {%r3, %r2, %r3, %r3};",
        "prmt.b32 %r4, %r3, %r2, 0x0004;\nst.global.b32 [%d2], %r4;",
        "",
    ),
    (
        "another address to store to",
        "st.global.v4.u8 [%d2], {%r3, %r3, %r3, %r3};",
        "prmt.b32 %r4, %r3, 0, 0;\nst.global.b32 [%d2+4], %r4;",
        "",
    ),
    (
        "bytes that are stored one by one",
        "st.global.v4.u8 [%d2], {%r3, %r3, %r3, %r3};",
        "st.global.v2.u8 [%d2], {%r3, %r3};\nst.global.v2.u8 [%d2+2], {%r3, %r3};",
        "",
    ),
    (
        "volatile bytes",
        "st.volatile.global.v4.u8 [%d2], {%r3, %r3, %r3, %r3};",
        "prmt.b32 %r4, %r3, 0, 0;\nst.volatile.global.b32 [%d2], %r4;",
        "",
    ),
];

const LOADED: &str = "ld.global.v4.u8 {%r4, %r5, %r6, %r7}, [%d2];";

/// The bytes of `%r8`.
const TAKEN: &str = "prmt.b32 %r4, %r8, 0, 0x4440;\nprmt.b32 %r5, %r8, 0, 0x4441;\nprmt.b32 %r6, %r8, 0, 0x4442;\n\
                     prmt.b32 %r7, %r8, 0, 0x4443;";

#[test]
fn what_is_not_the_word_is_not_proved() {
    for (what, old, new, taken) in DIFFERENT {
        let rest = if old == LOADED { "st.global.v4.b32 [%d1], {%r4, %r5, %r6, %r7};" } else { "" };
        let [old, new] =
            [old.to_owned(), format!("{new}\n{taken}")].map(|part| kernel(&format!("{part}\n{rest}")));
        assert_eq!(stopped_texts(&old, &old), None, "{what}: the same");
        assert!(stopped_texts(&old, &new).is_some(), "{what}");
    }
}
