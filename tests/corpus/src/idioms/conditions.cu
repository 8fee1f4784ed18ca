// Conditions on lanes that all hold, or of which any does: what a branch or a flag is made of.
#include "lanes.h"

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
