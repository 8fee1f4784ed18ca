// Lanes that are kept, merged under masks, computed in several steps or in several places, and conditions on lanes.
#include "lanes.h"

#define MORE(x, y) (u8) min(x + y, 255)
#define LESS(x, y) (u8) max(x - y, 0)

KERNEL alpha_untouched__fields(uchar4 *d, const uchar4 *a, const uchar4 *b) {
    uchar4 x = a[me()], y = b[me()];
    x.x = MORE(x.x, y.x), x.y = MORE(x.y, y.y), x.z = MORE(x.z, y.z);
    d[me()] = x;
}
KERNEL alpha_untouched__shifts(u32 *d, const u32 *a, const u32 *b) {
    u32 x = a[me()], y = b[me()], r = x & 0xff000000;
    for (int k = 0; k < 24; k += 8) r |= min((x >> k & 255) + (y >> k & 255), 255u) << k;
    d[me()] = r;
}
KERNEL alpha_untouched__array(u32 *d, const u32 *a, const u32 *b) {
    union { u32 word; u8 lane[4]; } x, y;
    x.word = a[me()], y.word = b[me()];
    for (int k = 0; k < 3; k++) x.lane[k] = MORE(x.lane[k], y.lane[k]);
    d[me()] = x.word;
}
KERNEL alpha_opaque__fields(uchar4 *d, const uchar4 *a, const uchar4 *b) {
    uchar4 x = a[me()], y = b[me()], r;
    r.x = abs(x.x - y.x), r.y = abs(x.y - y.y), r.z = abs(x.z - y.z), r.w = 255;
    d[me()] = r;
}
KERNEL alpha_of_third__fields(uchar4 *d, const uchar4 *a, const uchar4 *b, const uchar4 *c) {
    uchar4 x = a[me()], y = b[me()], r = c[me()];
    r.x = min(x.x, y.x), r.y = min(x.y, y.y), r.z = min(x.z, y.z);
    d[me()] = r;
}
KERNEL one_lane__fields(uchar4 *d, const uchar4 *a, const uchar4 *b) {
    uchar4 x = a[me()], y = b[me()];
    x.y = MORE(x.y, y.y);
    d[me()] = x;
}
KERNEL two_operations__fields(uchar4 *d, const uchar4 *a, const uchar4 *b) {
    uchar4 x = a[me()], y = b[me()];
    x.x = MORE(x.x, y.x), x.z = MORE(x.z, y.z), x.y = LESS(x.y, y.y), x.w = LESS(x.w, y.w);
    d[me()] = x;
}
KERNEL disjoint_masks__array(u32 *d, const u32 *a, const u32 *b) {
    union { u32 word; u8 lane[4]; } x, y, p, q;
    x.word = a[me()], y.word = b[me()], p.word = 0, q.word = 0;
    p.lane[0] = max(x.lane[0], y.lane[0]), p.lane[2] = max(x.lane[2], y.lane[2]);
    q.lane[1] = max(x.lane[1], y.lane[1]), q.lane[3] = max(x.lane[3], y.lane[3]);
    d[me()] = p.word | q.word;
}
KERNEL disjoint_masks__shifts(u32 *d, const u32 *a, const u32 *b) {
    u32 x = a[me()], y = b[me()];
    u32 even = (x & 0x00ff00ff) + (y & 0x00ff00ff) & 0x00ff00ff, odd = (x & 0xff00ff00) + (y & 0xff00ff00) & 0xff00ff00;
    d[me()] = even | odd;
}
KERNEL shuffled_lanes__fields(uchar4 *d, const uchar4 *a, const uchar4 *b) {
    uchar4 x = a[me()], y = b[me()], r;
    r.x = max(x.w, y.x), r.y = max(x.z, y.x), r.z = max(x.y, y.x), r.w = max(x.x, y.x);
    d[me()] = r;
}
KERNEL lanes_of_two_words__array(u32 *d, const uint2 *a, const u32 *b) {
    union { uint2 words; u8 lane[8]; } x;
    union { u32 word; u8 lane[4]; } y, r;
    x.words = a[me()], y.word = b[me()];
    for (int k = 0; k < 4; k++) r.lane[k] = min(x.lane[k + 2], y.lane[k]);
    d[me()] = r.word;
}
KERNEL three_by_three__array(u32 *d, const u32 *a, int width) {
    u8 top[12], r[4];
    for (int k = 0; k < 3; k++) {
        union { u32 word; u8 lane[4]; } p, q, s;
        p.word = a[me() - width + k - 1], q.word = a[me() + k - 1], s.word = a[me() + width + k - 1];
        for (int j = 0; j < 4; j++) top[4 * k + j] = min(min(p.lane[j], q.lane[j]), s.lane[j]);
    }
    for (int j = 0; j < 4; j++) r[j] = min(min(top[j + 3], top[j + 4]), top[j + 5]);
    d[me()] = r[0] | r[1] << 8 | r[2] << 16 | (u32)r[3] << 24;
}

// In loops, under conditions, in blocks.

KERNEL loop_maximum__fields(uchar4 *d, const uchar4 *a, int n) {
    uchar4 m = a[me()];
    for (int i = 1; i < n; i++) {
        uchar4 x = a[i * 4096 + me()];
        m.x = max(m.x, x.x), m.y = max(m.y, x.y), m.z = max(m.z, x.z), m.w = max(m.w, x.w);
    }
    d[me()] = m;
}
KERNEL loop_saturating__shifts(u32 *d, const u32 *a, int n) {
    u32 m = 0;
    for (int i = 0; i < n; i++) {
        u32 x = a[i * 4096 + me()], r = 0;
        for (int k = 0; k < 32; k += 8) r |= min((m >> k & 255) + (x >> k & 255), 255u) << k;
        m = r;
    }
    d[me()] = m;
}
KERNEL loop_bytes_carried__array(u32 *d, const u32 *a, int n) {
    u8 m[4] = {255, 255, 255, 255};
    for (int i = 0; i < n; i++) {
        union { u32 word; u8 lane[4]; } x;
        x.word = a[i * 4096 + me()];
        for (int k = 0; k < 4; k++) m[k] = min(m[k], x.lane[k]);
    }
    d[me()] = m[0] | m[1] << 8 | m[2] << 16 | (u32)m[3] << 24;
}
KERNEL guarded__fields(uchar4 *d, const uchar4 *a, const uchar4 *b, int n) {
    uchar4 x = a[me()], y = b[me()];
    if (me() < n) x.x = MORE(x.x, y.x), x.y = MORE(x.y, y.y), x.z = MORE(x.z, y.z), x.w = MORE(x.w, y.w);
    d[me()] = x;
}
KERNEL guarded_whole__fields(uchar4 *d, const uchar4 *a, const uchar4 *b, int n) {
    if (me() >= n) return;
    uchar4 x = a[me()], y = b[me()];
    x.x = MORE(x.x, y.x), x.y = MORE(x.y, y.y), x.z = MORE(x.z, y.z), x.w = MORE(x.w, y.w);
    d[me()] = x;
}
KERNEL across_blocks__fields(uchar4 *d, const uchar4 *a, const uchar4 *b, int n, volatile int *log) {
    uchar4 x = a[me()], y = b[me()], r;
    r.x = LESS(x.x, y.x), r.y = LESS(x.y, y.y);
    if (me() < n) *log = n;
    r.z = LESS(x.z, y.z), r.w = LESS(x.w, y.w);
    d[me()] = r;
}

// Scalar video instructions, four to a word.

#define VIDEO4(name, types, onto)                                                                                      \
    KERNEL name(u32 *d, const u32 *a, const u32 *b, int n) {                                                           \
        u32 x = a[me()], y = b[me()], r = onto;                                                                        \
        asm(types " %0.b0, %1.b0, %2.b0, %0;" : "+r"(r) : "r"(x), "r"(y));                                             \
        asm(types " %0.b1, %1.b1, %2.b1, %0;" : "+r"(r) : "r"(x), "r"(y));                                             \
        asm(types " %0.b2, %1.b2, %2.b2, %0;" : "+r"(r) : "r"(x), "r"(y));                                             \
        asm(types " %0.b3, %1.b3, %2.b3, %0;" : "+r"(r) : "r"(x), "r"(y));                                             \
        d[me()] = r;                                                                                                   \
    }
VIDEO4(four_vadd_sat_u8__asm, "vadd.u32.u32.u32.sat", 0)
VIDEO4(four_vadd_sat_s8__asm, "vadd.s32.s32.s32.sat", 0)
VIDEO4(four_vsub_sat_u8__asm, "vsub.u32.u32.u32.sat", 0)
VIDEO4(four_vabsdiff_u8__asm, "vabsdiff.u32.u32.u32", 0)
VIDEO4(four_vmin_s8__asm, "vmin.s32.s32.s32", x)
KERNEL four_vadd_sat_u8__guarded(u32 *d, const u32 *a, const u32 *b, int n) {
    u32 x = a[me()], y = b[me()], r = x;
    asm("{ .reg .pred p;\n\tsetp.lt.s32 p, %3, %4;\n\t"
        "@p vadd.u32.u32.u32.sat %0.b0, %1.b0, %2.b0, %0;\n\t@p vadd.u32.u32.u32.sat %0.b1, %1.b1, %2.b1, %0;\n\t"
        "@p vadd.u32.u32.u32.sat %0.b2, %1.b2, %2.b2, %0;\n\t@p vadd.u32.u32.u32.sat %0.b3, %1.b3, %2.b3, %0; }"
        : "+r"(r) : "r"(x), "r"(y), "r"(me()), "r"(n));
    d[me()] = r;
}
KERNEL four_vabsdiff_add_u8__asm(u32 *d, const u32 *a, const u32 *b) {
    u32 x = a[me()], y = b[me()], r = d[me()];
    asm("vabsdiff.u32.u32.u32.add %0, %1.b0, %2.b0, %0;\n\tvabsdiff.u32.u32.u32.add %0, %1.b1, %2.b1, %0;\n\t"
        "vabsdiff.u32.u32.u32.add %0, %1.b2, %2.b2, %0;\n\tvabsdiff.u32.u32.u32.add %0, %1.b3, %2.b3, %0;"
        : "+r"(r) : "r"(x), "r"(y));
    d[me()] = r;
}
KERNEL four_vmad_s8__asm(u32 *d, const u32 *a, const u32 *b) {
    u32 x = a[me()], y = b[me()], r = d[me()];
    asm("vmad.s32.s32.s32 %0, %1.b0, %2.b0, %0;\n\tvmad.s32.s32.s32 %0, %1.b1, %2.b1, %0;\n\t"
        "vmad.s32.s32.s32 %0, %1.b2, %2.b2, %0;\n\tvmad.s32.s32.s32 %0, %1.b3, %2.b3, %0;"
        : "+r"(r) : "r"(x), "r"(y));
    d[me()] = r;
}
KERNEL two_vadd4_disjoint__asm(u32 *d, const u32 *a, const u32 *b) {
    u32 x = a[me()], y = b[me()], r = 0;
    asm("vadd4.u32.u32.u32.sat %0.b20, %1, %2, %0;\n\tvadd4.u32.u32.u32.sat %0.b31, %1, %2, %0;" : "+r"(r) : "r"(x), "r"(y));
    d[me()] = r;
}

// Conditions on lanes that all hold, or of which any does: what a branch or a flag is made of.
#define TEST(name, type, start, join, op)                                                                              \
    LANE bool name##_lane(type x, type y) { return op; }                                                               \
    KERNEL name##__fields(u8 *d, const type##x4 *a, const type##x4 *b) {                                               \
        type##x4 x = a[me()], y = b[me()];                                                                             \
        d[me()] = name##_lane(x.x, y.x) join name##_lane(x.y, y.y) join name##_lane(x.z, y.z) join                     \
                  name##_lane(x.w, y.w);                                                                               \
    }                                                                                                                  \
    KERNEL name##__shifts(u8 *d, const u32 *a, const u32 *b) {                                                         \
        u32 x = a[me()], y = b[me()];                                                                                  \
        bool r = start;                                                                                                \
        _Pragma("unroll") for (int k = 0; k < 32; k += 8)                                                              \
            r = r join name##_lane((type)(x >> k), (type)(y >> k));                                                    \
        d[me()] = r;                                                                                                   \
    }                                                                                                                  \
    KERNEL name##__array(u8 *d, const u32 *a, const u32 *b) {                                                          \
        union { u32 word; type lane[4]; } x, y;                                                                        \
        x.word = a[me()], y.word = b[me()];                                                                            \
        int held = 0;                                                                                                  \
        _Pragma("unroll") for (int k = 0; k < 4; k++) held += name##_lane(x.lane[k], y.lane[k]);                       \
        d[me()] = start ? held == 4 : held != 0;                                                                       \
    }

TEST(all_equal, u8, true, &&, x == y)
TEST(any_greater, u8, false, ||, x > y)
TEST(none_less_signed, s8, true, &&, x >= y)
TEST(any_zero, u8, false, ||, x == 0)
TEST(any_negative, s8, false, ||, x < 0)
TEST(all_digits, u8, true, &&, x >= '0' && x <= '9')

KERNEL colour_equal__fields(u8 *d, const uchar4 *a, const uchar4 *b) {
    uchar4 x = a[me()], y = b[me()];
    d[me()] = x.x == y.x && x.y == y.y && x.z == y.z;
}
KERNEL colour_equal__shifts(u8 *d, const u32 *a, const u32 *b) {
    u32 x = a[me()], y = b[me()];
    bool r = true;
    for (int k = 0; k < 24; k += 8) r &= (u8)(x >> k) == (u8)(y >> k);
    d[me()] = r;
}
KERNEL colour_equal__branch(uchar4 *d, const uchar4 *a, const uchar4 *b) {
    uchar4 x = a[me()], y = b[me()];
    if (x.x == y.x && x.y == y.y && x.z == y.z) d[me()] = y;
}
KERNEL colour_key__fields(u8 *d, const uchar4 *a) {
    uchar4 x = a[me()];
    d[me()] = x.x == 255 && x.y == 0 && x.z == 255;
}
KERNEL colour_in_range__fields(u8 *d, const uchar4 *a) {
    uchar4 x = a[me()];
    d[me()] = x.x >= 20 && x.x <= 60 && x.y >= 100 && x.y <= 250 && x.z >= 50 && x.z <= 200 ? 255 : 0;
}
KERNEL sixteen_equal__array(u8 *d, const uint4 *a, const uint4 *b) {
    uint4 x = a[me()], y = b[me()];
    bool r = true;
    for (int k = 0; k < 16; k++) r = r && ((const u8 *)&x)[k] == ((const u8 *)&y)[k];
    d[me()] = r;
}
KERNEL zero_of_eight__array(u8 *d, const uint2 *a) {
    uint2 x = a[me()];
    bool r = false;
    for (int k = 0; k < 8; k++) r |= ((const u8 *)&x)[k] == 0;
    d[me()] = r;
}
KERNEL halves_equal__fields(u8 *d, const ushort2 *a, const ushort2 *b) {
    ushort2 x = a[me()], y = b[me()];
    d[me()] = x.x == y.x && x.y == y.y;
}
KERNEL halves_equal__shifts(u8 *d, const u32 *a, const u32 *b) {
    u32 x = a[me()], y = b[me()];
    d[me()] = (u16)x == (u16)y && (x >> 16) == (y >> 16);
}
KERNEL twelve_equal__branch(u32 *d, const uint4 *a, const uint4 *b) {
    uint4 x = a[me()], y = b[me()];
    bool r = true;
    for (int k = 0; k < 12; k++) r = r & (((const u8 *)&x)[k] == ((const u8 *)&y)[k]);
    if (!r) d[me()] = x.w;
}
KERNEL chosen_and_not_zero__branch(u32 *d, const u32 *a, const u32 *b) {
    u32 x = a[me()], y = b[me()], r = 0;
    for (int k = 0; k < 32; k += 8) r |= ((x >> k & 128 ? x : y) >> k & 255) << k;
    if (r) d[me()] = x;
}

// Vectors in arrays, whose lanes change places by branches.
#define SWAPPED(u, v, lane)                                                                                            \
    if (u.lane > v.lane) {                                                                                             \
        auto t = u.lane;                                                                                               \
        u.lane = v.lane;                                                                                               \
        v.lane = t;                                                                                                    \
    }
#define SORTED(u, v) SWAPPED(u, v, x) SWAPPED(u, v, y) SWAPPED(u, v, z) SWAPPED(u, v, w)
KERNEL two_in_order__branch(uchar4 *d, const uchar4 *a) {
    uchar4 v[2];
    for (int k = 0; k < 2; k++) v[k] = a[2 * me() + k];
    SORTED(v[0], v[1])
    for (int k = 0; k < 2; k++) d[2 * me() + k] = v[k];
}
KERNEL four_in_order__branch(uchar4 *d, const uchar4 *a) {
    uchar4 v[4];
    for (int k = 0; k < 4; k++) v[k] = a[4 * me() + k];
    SORTED(v[0], v[1])
    SORTED(v[2], v[3])
    SORTED(v[0], v[2])
    SORTED(v[1], v[3])
    SORTED(v[1], v[2])
    for (int k = 0; k < 4; k++) d[4 * me() + k] = v[k];
}
KERNEL median_of_three__branch(char4 *d, const char4 *a) {
    char4 v[3];
    for (int k = 0; k < 3; k++) v[k] = a[3 * me() + k];
    SORTED(v[0], v[1])
    SORTED(v[1], v[2])
    SORTED(v[0], v[1])
    d[me()] = v[1];
}
KERNEL halves_in_order__branch(ushort2 *d, const ushort2 *a) {
    ushort2 v[2];
    for (int k = 0; k < 2; k++) v[k] = a[2 * me() + k];
    SWAPPED(v[0], v[1], x)
    SWAPPED(v[0], v[1], y)
    for (int k = 0; k < 2; k++) d[2 * me() + k] = v[k];
}
