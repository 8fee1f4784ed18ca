//! Accesses to bytes and halves, as vectors or one after the other, accesses to the words that they make up, and to 64
//! bits: by bytes, they are the same.

use crate::blocks::{kernel, stopped_texts};

/// What loads, or stores, from and to registers, in two ways.
const SAME: [(&str, &str, &str, &str); 13] = [
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
    (
        "two bytes, as a half",
        "ld.global.v2.u8 {%r4, %r5}, [%d2];",
        "ld.global.u16 %r8, [%d2];\nprmt.b32 %r4, %r8, 0, 0x4440;\nshr.u32 %r5, %r8, 8;",
        "st.global.v2.b32 [%d1], {%r4, %r5};",
    ),
    (
        "two bytes that are stored",
        "st.shared.v2.u8 [tile+2], {%r3, %r2};",
        "prmt.b32 %r4, %r3, %r2, 0x0040;\nst.shared.u16 [tile+2], %r4;",
        "",
    ),
    (
        "64 bits, as words",
        "ld.global.nc.u64 %d3, [%d2];",
        "ld.global.nc.v2.b32 {%r4, %r5}, [%d2];\nmov.b64 %d3, {%r4, %r5};",
        "add.s64 %d3, %d3, 1;\nst.global.u64 [%d1], %d3;",
    ),
    (
        "twice 64 bits that are stored",
        "add.s64 %d3, %d2, 8;\nst.global.v2.b64 [%d1], {%d3, %d2};",
        "add.s64 %d3, %d2, 8;\nmov.b64 {%r4, %r5}, %d3;\ncvt.u32.u64 %r6, %d2;\nshr.u64 %d3, %d2, 32;\n\
         cvt.u32.u64 %r7, %d3;\nst.global.v4.b32 [%d1], {%r4, %r5, %r6, %r7};",
        "",
    ),
    (
        "64 bits, as bytes",
        "ld.global.u64 %d3, [%d2];\ncvt.u32.u64 %r4, %d3;\nshr.u64 %d3, %d3, 56;\ncvt.u32.u64 %r5, %d3;",
        "ld.global.v2.b32 {%r4, %r5}, [%d2];\nshr.u32 %r5, %r5, 24;",
        "st.global.v2.b32 [%d1], {%r4, %r5};",
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
const DIFFERENT: [(&str, &str, &str, &str); 21] = [
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
        "another place of one of two bytes",
        "ld.global.v2.u8 {%r4, %r5}, [%d2];\nst.global.v2.b32 [%d1], {%r4, %r5};",
        "ld.global.u16 %r8, [%d2];\nshr.u32 %r4, %r8, 8;\nst.global.v2.b32 [%d1], {%r4, %r4};",
        "",
    ),
    (
        "a half with a sign",
        "ld.global.v2.u8 {%r4, %r5}, [%d2];\nst.global.b32 [%d1], %r5;",
        "ld.global.s16 %r8, [%d2];\nshr.u32 %r5, %r8, 8;\nst.global.b32 [%d1], %r5;",
        "",
    ),
    (
        "a volatile half",
        "ld.global.v2.u8 {%r4, %r5}, [%d2];\nst.global.b32 [%d1], %r5;",
        "ld.volatile.global.u16 %r8, [%d2];\nshr.u32 %r5, %r8, 8;\nst.global.b32 [%d1], %r5;",
        "",
    ),
    (
        "two bytes that are stored in another order",
        "st.global.v2.u8 [%d2], {%r3, %r2};",
        "prmt.b32 %r4, %r3, %r2, 0x0004;\nst.global.u16 [%d2], %r4;",
        "",
    ),
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
    (
        "words of 64 bits the other way round",
        "ld.global.u64 %d3, [%d2];",
        "ld.global.v2.b32 {%r4, %r5}, [%d2];\nmov.b64 %d3, {%r5, %r4};",
        "st.global.u64 [%d1], %d3;",
    ),
    (
        "words of 64 bits that are stored the other way round",
        "st.global.u64 [%d1], %d2;",
        "mov.b64 {%r4, %r5}, %d2;\nst.global.v2.b32 [%d1], {%r5, %r4};",
        "",
    ),
    (
        "atomic 64 bits",
        "ld.relaxed.gpu.global.u64 %d3, [%d2];",
        "ld.relaxed.gpu.global.v2.b32 {%r4, %r5}, [%d2];\nmov.b64 %d3, {%r4, %r5};",
        "st.global.u64 [%d1], %d3;",
    ),
    (
        "half of 64 bits",
        "ld.global.u64 %d3, [%d2];",
        "ld.global.b32 %r4, [%d2];\nmov.b64 %d3, {%r4, %r4};",
        "st.global.b32 [%d1], %d3;",
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

/// Four bytes of shared memory at an aligned address in `%r10`, and an address of which nothing is known in `%r12`.
const PLACED: &str = "shl.b32 %r10, %r2, 2;\nmov.u32 %r11, tile;\nadd.u32 %r10, %r10, %r11;\n\
                      add.u32 %r12, %r11, %r2;\nsetp.gt.u32 %p1, %r3, 7;\n";

const BYTES: &str = "ld.shared.u8 %r4, [%r10];\nld.shared.u8 %r5, [%r10+1];\nld.shared.u8 %r6, [%r10+2];\n\
                     ld.shared.u8 %r7, [%r10+3];";

const WORD: &str = "ld.shared.b32 %r8, [%r10];";

const STORED: &str = "st.shared.u8 [%r10], %r1;\nst.shared.u8 [%r10+1], %r2;\nst.shared.u8 [%r10+2], %r3;\n\
                      st.shared.u8 [%r10+3], %r9;";

const STORED_WORD: &str = "prmt.b32 %r4, %r1, %r2, 0x0040;\nprmt.b32 %r5, %r3, %r9, 0x0040;\n\
                           prmt.b32 %r6, %r4, %r5, 0x5410;\nst.shared.b32 [%r10], %r6;";

/// A replacement of a piece of text.
type Change = (&'static str, &'static str);

/// What differs from `BYTES` and `WORD`, or from `STORED` and `STORED_WORD`.
struct Run {
    what: &'static str,
    stores: bool,
    old: &'static [Change],
    new: &'static [Change],
    /// What comes after both.
    after: &'static str,
}

impl Run {
    const fn loads(what: &'static str, old: &'static [Change], new: &'static [Change]) -> Self {
        Self { what, stores: false, old, new, after: "" }
    }

    const fn stores(what: &'static str, old: &'static [Change], new: &'static [Change]) -> Self {
        Self { what, stores: true, old, new, after: "" }
    }

    const fn then(self, after: &'static str) -> Self {
        Self { after, ..self }
    }

    /// The kernel before and after.
    fn kernels(&self) -> [String; 2] {
        let changed = |text: &str, changes: &[Change]| {
            changes.iter().fold(text.to_owned(), |text, (from, to)| {
                assert!(text.contains(from), "{}: `{from}` in `{text}`", self.what);
                text.replace(from, to)
            })
        };
        let (old, new) = if self.stores { (STORED, STORED_WORD) } else { (BYTES, WORD) };
        let [taken, rest] =
            if self.stores { [""; 2] } else { [TAKEN, "st.global.v4.b32 [%d1], {%r4, %r5, %r6, %r7};"] };
        let whole = |accesses: String, taken: &str| {
            kernel(&format!("{PLACED}mov.u32 %r9, 5;\n{accesses}\n{taken}\n{rest}\n{}", self.after))
        };
        [whole(changed(old, self.old), ""), whole(changed(new, self.new), taken)]
    }
}

/// The end of a loop that begins at `again`.
const AGAIN: &str = "add.u32 %r9, %r9, 1;\nsetp.lt.u32 %p2, %r9, %r1;\n@%p2 bra again;";

const SAME_RUNS: [Run; 12] = [
    Run::loads("bytes", &[], &[]),
    Run::loads(
        "in another order",
        &[("%r4, [%r10]", "%r7, [%r10+9]"), ("%r7, [%r10+3]", "%r4, [%r10]"), ("%r10+9", "%r10+3")],
        &[],
    ),
    Run::loads("a symbol", &[("[%r10+", "[tile+"), ("[%r10]", "[tile]")], &[("[%r10]", "[tile]")]),
    Run::loads(
        "registers of their own for some addresses",
        &[
            ("ld.shared.u8 %r4", "add.u32 %r13, %r10, 2;\nor.b32 %r14, %r10, 1;\nld.shared.u8 %r4"),
            ("%r10+1", "%r14"),
            ("%r10+3", "%r13+1"),
        ],
        &[],
    ),
    Run::loads(
        "two vectors of two bytes",
        &[
            ("ld.shared.u8 %r4, [%r10];", ""),
            ("ld.shared.u8 %r5, [%r10+1]", "ld.shared.v2.u8 {%r4, %r5}, [%r10]"),
            ("ld.shared.u8 %r6, [%r10+2];", ""),
            ("ld.shared.u8 %r7, [%r10+3]", "ld.shared.v2.u8 {%r6, %r7}, [%r10+2]"),
        ],
        &[],
    ),
    Run::loads(
        "a store to another state space in between",
        &[("ld.shared.u8 %r7", "st.global.u8 [%d2], %r1;\nld.shared.u8 %r7")],
        &[("ld.shared", "st.global.u8 [%d2], %r1;\nld.shared")],
    ),
    Run::loads("a loop", &[("ld.shared.u8 %r4", "again:\nld.shared.u8 %r4")], &[("ld", "again:\nld")])
        .then(AGAIN),
    Run::loads(
        "a loop that moves the address on by words",
        &[
            ("ld.shared.u8 %r4", "again:\nld.shared.u8 %r4"),
            ("[%r10+3];", "[%r10+3];\nadd.u32 %r10, %r10, 8;"),
        ],
        &[("ld", "again:\nld"), ("[%r10];", "[%r10];\nadd.u32 %r10, %r10, 8;")],
    )
    .then(AGAIN),
    Run::stores("bytes that are stored", &[], &[]),
    Run::stores(
        "bytes that are stored in another order",
        &[("[%r10], %r1", "[%r10+9], %r3"), ("[%r10+2], %r3", "[%r10], %r1"), ("[%r10+9]", "[%r10+2]")],
        &[],
    ),
    Run::stores(
        "halves that are stored",
        &[
            ("st.shared.u8 [%r10], %r1;", ""),
            ("st.shared.u8 [%r10+2], %r3;", ""),
            ("st.shared.u8 [%r10+1], %r2", "st.shared.u16 [%r10], %r2"),
            ("st.shared.u8 [%r10+3], %r9", "st.shared.u16 [%r10+2], %r9"),
        ],
        &[("st.shared", "prmt.b32 %r6, %r2, %r9, 0x5410;\nst.shared")],
    ),
    Run::stores(
        "a load from another state space in between",
        &[("st.shared.u8 [%r10+2]", "ld.global.u32 %r8, [%d2+8];\nst.shared.u8 [%r10+2]")],
        &[("st.shared", "ld.global.u32 %r8, [%d2+8];\nst.shared")],
    )
    .then("st.global.u32 [%d1], %r8;"),
];

#[test]
fn words_are_the_bytes_that_are_accessed_one_after_the_other() {
    for run in SAME_RUNS {
        let [old, new] = run.kernels();
        assert_eq!(stopped_texts(&old, &new), None, "{}", run.what);
    }
}

const OTHER_RUNS: [Run; 27] = [
    Run::loads("an address that may be odd", &[("%r10", "%r12")], &[("%r10", "%r12")]),
    Run::loads(
        "a pointer",
        &[("shared", "global"), ("%r10", "%d2")],
        &[("shared", "global"), ("%r10", "%d2")],
    ),
    Run::loads("any memory", &[(".shared", ""), ("%r10", "%d2")], &[(".shared", ""), ("%r10", "%d2")]),
    Run::loads(
        "a word across two words",
        &[("%r10+3", "%r10+5"), ("%r10+2", "%r10+4"), ("%r10+1", "%r10+3"), ("[%r10]", "[%r10+2]")],
        &[("[%r10]", "[%r10+2]")],
    ),
    Run::loads("a byte that is not read", &[("ld.shared.u8 %r7, [%r10+3]", "mov.u32 %r7, 0")], &[]),
    Run::loads("a byte that is read twice", &[("%r10+3", "%r10+2")], &[]),
    Run::loads("the next word", &[], &[("%r10", "%r10+4")]),
    Run::loads("bytes in another order", &[("%r4", "%r15"), ("%r5", "%r4"), ("%r15", "%r5")], &[]),
    Run::loads("a sign", &[("u8 %r7", "s8 %r7")], &[]),
    Run::loads("a guard", &[("ld.shared.u8 %r7", "mov.u32 %r7, 0;\n@%p1 ld.shared.u8 %r7")], &[]),
    Run::loads("a volatile byte", &[("ld.shared.u8 %r7", "ld.volatile.shared.u8 %r7")], &[]),
    Run::loads("a relaxed byte", &[("ld.shared.u8 %r7", "ld.relaxed.cta.shared.u8 %r7")], &[]),
    Run::loads("a byte elsewhere", &[("ld.shared.u8 %r7, [%r10+3]", "ld.global.u8 %r7, [%d2+3]")], &[]),
    Run::loads("another cache operator", &[("ld.shared.u8 %r7", "ld.shared.cs.u8 %r7")], &[]),
    Run::loads(
        "an address that is overwritten",
        &[("ld.shared.u8 %r7", "add.u32 %r10, %r10, 4;\nld.shared.u8 %r7")],
        &[],
    ),
    Run::loads(
        "a store in between",
        &[("ld.shared.u8 %r7", "st.shared.u8 [%r12], %r1;\nld.shared.u8 %r7")],
        &[("ld.shared", "st.shared.u8 [%r12], %r1;\nld.shared")],
    ),
    Run::loads(
        "a store in between that comes later",
        &[("ld.shared.u8 %r7", "st.shared.u8 [%r12], %r1;\nld.shared.u8 %r7")],
        &[("[%r10];", "[%r10];\nst.shared.u8 [%r12], %r1;")],
    ),
    Run::loads(
        "a store to any memory in between",
        &[("ld.shared.u8 %r7", "st.u8 [%d2], %r1;\nld.shared.u8 %r7")],
        &[("ld.shared", "st.u8 [%d2], %r1;\nld.shared")],
    ),
    Run::loads(
        "a barrier in between",
        &[("ld.shared.u8 %r7", "bar.sync 0;\nld.shared.u8 %r7")],
        &[("ld.shared", "bar.sync 0;\nld.shared")],
    ),
    Run::loads(
        "a loop that moves the address on by bytes",
        &[
            ("ld.shared.u8 %r4", "again:\nld.shared.u8 %r4"),
            ("[%r10+3];", "[%r10+3];\nadd.u32 %r10, %r10, 1;"),
        ],
        &[("ld", "again:\nld"), ("[%r10];", "[%r10];\nadd.u32 %r10, %r10, 1;")],
    )
    .then(AGAIN),
    Run::stores("a byte that is not stored", &[("st.shared.u8 [%r10+3], %r9;", "")], &[]),
    Run::stores("a byte that is stored twice", &[("%r10+3", "%r10+2")], &[]),
    Run::stores("another byte", &[("[%r10+3], %r9", "[%r10+3], %r2")], &[]),
    Run::stores("an address that may be odd, stored to", &[("%r10", "%r12")], &[("%r10", "%r12")]),
    Run::stores(
        "another store in between",
        &[("st.shared.u8 [%r10+3]", "st.shared.u8 [%r12], %r1;\nst.shared.u8 [%r10+3]")],
        &[("st.shared", "st.shared.u8 [%r12], %r1;\nst.shared")],
    ),
    Run::stores(
        "a load in between",
        &[("st.shared.u8 [%r10+3]", "ld.shared.u8 %r8, [%r12];\nst.shared.u8 [%r10+3]")],
        &[("st.shared", "ld.shared.u8 %r8, [%r12];\nst.shared")],
    )
    .then("st.global.u32 [%d1], %r8;"),
    Run::stores(
        "a volatile byte that is stored",
        &[("st.shared.u8 [%r10+3]", "st.volatile.shared.u8 [%r10+3]")],
        &[],
    ),
];

#[test]
fn what_is_not_the_bytes_of_the_word_is_not_proved() {
    for run in OTHER_RUNS {
        let [old, new] = run.kernels();
        assert_eq!(stopped_texts(&old, &old), None, "{}: the same", run.what);
        assert!(stopped_texts(&old, &new).is_some(), "{}", run.what);
    }
}

/// Something declared, of which three bytes are loaded from an address on.
struct Declared {
    function: &'static str,
    space: &'static str,
    what: &'static str,
    address: &'static str,
}

const fn parameter(what: &'static str, address: &'static str) -> Declared {
    Declared { function: ".entry", space: "param", what, address }
}

const fn constant(what: &'static str, address: &'static str) -> Declared {
    Declared { space: "const", ..parameter(what, address) }
}

impl Declared {
    /// The function with the bytes loaded one by one, and together.
    fn texts(&self) -> [String; 2] {
        let Self { function, space, what, address } = self;
        let [outside, inside] = if *space == "param" { ["", what] } else { [*what, ".param .b32 other"] };
        let byte = |at: usize| format!("ld.{space}.u8 %r{}, [{address}+{at}];\n", at + 1);
        let together = format!(
            "ld.{space}.b32 %r4, [{address}];\nprmt.b32 %r1, %r4, 0, 0x4440;\nprmt.b32 %r2, %r4, 0, 0x4441;\n\
             prmt.b32 %r3, %r4, 0, 0x4442;\n"
        );
        [(0..3).map(byte).collect(), together].map(|loads| {
            format!(
                ".version 8.0\n.target sm_90\n.address_size 64\n{outside}\n\
                 .visible {function} k(.param .u64 out, {inside})\n{{\n\
                 .reg .b32 %r<5>;\n.reg .b64 %d<2>;\nld.param.u64 %d1, [out];\n{loads}\
                 st.global.b32 [%d1], %r1;\nst.global.b32 [%d1+4], %r2;\nst.global.b32 [%d1+8], %r3;\nret;\n}}\n"
            )
        })
    }
}

#[test]
fn a_word_of_what_never_changes_may_be_read_for_some_of_its_bytes() {
    for declared in [
        parameter(".param .align 4 .b8 p[4]", "p"),
        parameter(".param .align 4 .b8 p[12]", "p+8"),
        parameter(".param .u64 p", "p+4"),
        constant(".const .align 4 .b8 p[4];", "p"),
        constant(".const .b32 p[3][2];", "p+20"),
    ] {
        let [old, new] = declared.texts();
        assert_eq!(stopped_texts(&old, &new), None, "{old}");
    }
}

#[test]
fn neither_beyond_its_end_nor_of_what_may_change() {
    for declared in [
        parameter(".param .align 4 .b8 p[3]", "p"),
        parameter(".param .align 4 .b8 p[11]", "p+8"),
        parameter(".param .align 2 .b8 p[4]", "p"),
        parameter(".param .align 4 .b8 p[8]", "p+1"),
        parameter(".param .u64 p", "p+8"),
        constant(".const .align 4 .b8 p[7];", "p+4"),
        constant(".extern .const .align 4 .b8 p[];", "p"),
        Declared { space: "global", ..constant(".global .align 4 .b8 p[4];", "p") },
        // The parameters of a function that is no entry may lie in local memory.
        Declared { function: ".func", ..parameter(".param .align 4 .b8 p[4]", "p") },
    ] {
        let [old, new] = declared.texts();
        assert_eq!(stopped_texts(&old, &old), None, "{old}");
        assert!(stopped_texts(&old, &new).is_some(), "{old}");
    }
}
