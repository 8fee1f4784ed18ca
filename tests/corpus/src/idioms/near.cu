// What is nearly an idiom: one lane with another operation, extension, rounding, limit or source, or memory that is
// written in between. Some lanes may be fused, never all of them as if they were alike.
#include "lanes.h"

#define FOUR(name, type, first, second, third, fourth)                                                                 \
    KERNEL name##__fields(type##x4 *d, const type##x4 *a, const type##x4 *b) {                                         \
        type##x4 x = a[me()], y = b[me()], r;                                                                          \
        r.x = first(x.x, y.x), r.y = second(x.y, y.y), r.z = third(x.z, y.z), r.w = fourth(x.w, y.w);                  \
        d[me()] = r;                                                                                                   \
    }                                                                                                                  \
    KERNEL name##__shifts(u32 *d, const u32 *a, const u32 *b) {                                                        \
        u32 x = a[me()], y = b[me()];                                                                                  \
        d[me()] = (u8)first((type)x, (type)y) | (u32)(u8)second((type)(x >> 8), (type)(y >> 8)) << 8 |                 \
                  (u32)(u8)third((type)(x >> 16), (type)(y >> 16)) << 16 |                                             \
                  (u32)(u8)fourth((type)(x >> 24), (type)(y >> 24)) << 24;                                             \
    }

LANE int add(int x, int y) { return x + y; }
LANE int add_sat(int x, int y) { return min(x + y, 255); }
LANE int add_sat_254(int x, int y) { return min(x + y, 254); }
LANE int add_sat_256(int x, int y) { return min(x + y, 256); }
LANE int sub_sat(int x, int y) { return max(x - y, 0); }
LANE int sub_sat_swapped(int x, int y) { return max(y - x, 0); }
LANE int sub_sat_1(int x, int y) { return max(x - y, 1); }
LANE int average_up(int x, int y) { return (x + y + 1) >> 1; }
LANE int average_down(int x, int y) { return (x + y) >> 1; }
LANE int larger(int x, int y) { return max(x, y); }
LANE int larger_signed(int x, int y) { return max((s8)x, (s8)y); }
LANE int larger_swapped_sign(int x, int y) { return max(x, (int)(s8)y); }
LANE int signed_sat(int x, int y) { return clamped(x + y, -128, 127); }
LANE int signed_sat_127(int x, int y) { return clamped(x + y, -127, 127); }
LANE int greater(int x, int y) { return x > y ? 255 : 0; }
LANE int greater_or_equal(int x, int y) { return x >= y ? 255 : 0; }
LANE int greater_254(int x, int y) { return x > y ? 254 : 0; }

FOUR(one_other_operation, u8, add_sat, add_sat, sub_sat, add_sat)
FOUR(one_wraps, u8, add_sat, add_sat, add_sat, add)
FOUR(one_other_limit, u8, add_sat_254, add_sat, add_sat, add_sat)
FOUR(all_other_limits, u8, add_sat_254, add_sat_254, add_sat_254, add_sat_254)
FOUR(one_limit_too_wide, u8, add_sat, add_sat_256, add_sat, add_sat)
FOUR(one_swapped, u8, sub_sat, sub_sat_swapped, sub_sat, sub_sat)
FOUR(all_above_zero, u8, sub_sat_1, sub_sat_1, sub_sat_1, sub_sat_1)
FOUR(one_other_rounding, u8, average_up, average_up, average_down, average_up)
FOUR(one_other_extension, u8, larger, larger, larger, larger_signed)
FOUR(all_mixed_extension, u8, larger_swapped_sign, larger_swapped_sign, larger_swapped_sign, larger_swapped_sign)
FOUR(signed_limits_127, s8, signed_sat_127, signed_sat_127, signed_sat_127, signed_sat_127)
FOUR(one_signed_limit, s8, signed_sat, signed_sat, signed_sat, signed_sat_127)
FOUR(one_other_comparison, u8, greater, greater_or_equal, greater, greater)
FOUR(one_other_mask, u8, greater, greater, greater_254, greater)

// A lane of another word than the others, at the wrong place, or twice.
KERNEL lane_of_third_word__shifts(u32 *d, const u32 *a, const u32 *b, const u32 *c) {
    u32 x = a[me()], y = b[me()], z = c[me()];
    d[me()] = (u8)larger((u8)x, (u8)y) | (u32)(u8)larger((u8)(x >> 8), (u8)(z >> 8)) << 8 |
              (u32)(u8)larger((u8)(x >> 16), (u8)(y >> 16)) << 16 | (u32)(u8)larger(x >> 24, y >> 24) << 24;
}
KERNEL lane_twice__shifts(u32 *d, const u32 *a, const u32 *b) {
    u32 x = a[me()], y = b[me()];
    d[me()] = (u8)larger((u8)x, (u8)y) | (u32)(u8)larger((u8)(x >> 8), (u8)(y >> 8)) << 8 |
              (u32)(u8)larger((u8)(x >> 8), (u8)(y >> 8)) << 16 | (u32)(u8)larger(x >> 24, y >> 24) << 24;
}
KERNEL lanes_that_overlap__shifts(u32 *d, const u32 *a, const u32 *b) {
    u32 x = a[me()], y = b[me()], r = 0;
    for (int k = 0; k < 32; k += 8) r |= ((x >> k & 255) + (y >> k & 255)) << k;
    d[me()] = r;
}
KERNEL lane_of_nine_bits__shifts(u32 *d, const u32 *a, const u32 *b) {
    u32 x = a[me()], y = b[me()];
    d[me()] = min((x & 255) + (y & 511), 255u) | min((x >> 8 & 255) + (y >> 8 & 255), 255u) << 8 |
              min((x >> 16 & 255) + (y >> 16 & 255), 255u) << 16 | min((x >> 24) + (y >> 24), 255u) << 24;
}
KERNEL lane_read_elsewhere__fields(uchar4 *d, const uchar4 *a, const uchar4 *b, int *sums) {
    uchar4 x = a[me()], y = b[me()], r;
    int first = x.x + y.x, second = x.y + y.y;
    r.x = min(first, 255), r.y = min(second, 255), r.z = add_sat(x.z, y.z), r.w = add_sat(x.w, y.w);
    d[me()] = r;
    sums[me()] = first * second;
}

// Sums with a lane that counts otherwise.
KERNEL dot_one_lane_twice__fields(int *d, const char4 *a, const char4 *b) {
    char4 x = a[me()], y = b[me()];
    d[me()] = x.x * y.x + x.y * y.y + x.z * y.z + x.z * y.z;
}
KERNEL dot_one_lane_squared__fields(int *d, const char4 *a, const char4 *b) {
    char4 x = a[me()], y = b[me()];
    d[me()] = x.x * y.x + x.y * y.y + x.z * y.z + x.w * x.w;
}
KERNEL dot_one_lane_unsigned__shifts(int *d, const u32 *a, const u32 *b) {
    u32 x = a[me()], y = b[me()];
    d[me()] = (s8)x * (s8)y + (s8)(x >> 8) * (s8)(y >> 8) + (s8)(x >> 16) * (s8)(y >> 16) + (int)(x >> 24) * (s8)(y >> 24);
}
KERNEL dot_of_16_bits__fields(s16 *d, const char4 *a, const char4 *b) {
    char4 x = a[me()], y = b[me()];
    s16 p = x.x * y.x + x.y * y.y, q = x.z * y.z + x.w * y.w;
    d[me()] = p > q ? p : q;
}
KERNEL sad_one_lane_signed__shifts(int *d, const u32 *a, const u32 *b) {
    u32 x = a[me()], y = b[me()];
    d[me()] = distance((u8)x, (u8)y) + distance((u8)(x >> 8), (u8)(y >> 8)) + distance((s8)(x >> 16), (s8)(y >> 16)) +
              distance(x >> 24, y >> 24);
}

// Memory that is written between the bytes.
KERNEL bytes_that_may_alias__array(u8 *d, const u8 *a, const u8 *b) {
    for (int k = 0; k < 4; k++) d[4 * me() + k] = add_sat(a[4 * me() + k], b[4 * me() + k]);
}
KERNEL written_in_between__shared(u32 *d, const u32 *a) {
    __shared__ __attribute__((aligned(16))) u8 tile[1024];
    u32 x = a[me()];
    volatile u8 *t = tile + 4 * threadIdx.x;
    for (int k = 0; k < 4; k++) t[k] = x >> 8 * k;
    __syncthreads();
    volatile u8 *o = tile + 4 * (threadIdx.x ^ 1);
    u32 r = o[0];
    t[1] = 7;
    r |= o[1] << 8 | o[2] << 16 | (u32)o[3] << 24;
    d[me()] = r;
}

// Conditions of which one compares otherwise, or that are joined otherwise.
KERNEL equal_one_lane_greater__fields(u8 *d, const uchar4 *a, const uchar4 *b) {
    uchar4 x = a[me()], y = b[me()];
    d[me()] = x.x == y.x && x.y == y.y && x.z > y.z && x.w == y.w;
}
KERNEL equal_lane_of_nine_bits__shifts(u8 *d, const u32 *a, const u32 *b) {
    u32 x = a[me()], y = b[me()];
    d[me()] = (x & 511) == (y & 255) && (u8)(x >> 8) == (u8)(y >> 8) && x >> 16 == y >> 16;
}
KERNEL greater_one_lane_signed__shifts(u8 *d, const u32 *a, const u32 *b) {
    u32 x = a[me()], y = b[me()];
    d[me()] = (u8)x > (u8)y || (u8)(x >> 8) > (u8)(y >> 8) || (s8)(x >> 16) > (s8)(y >> 16) || x >> 24 > y >> 24;
}
KERNEL equal_in_odd_number__fields(u8 *d, const uchar4 *a, const uchar4 *b) {
    uchar4 x = a[me()], y = b[me()];
    d[me()] = (x.x == y.x) ^ (x.y == y.y) ^ (x.z == y.z) ^ (x.w == y.w);
}

// Lanes that change places by branches of which one does more, or one decides otherwise.
KERNEL swapped_and_told__branch(uchar4 *d, const uchar4 *a, u32 *changed) {
    uchar4 v[2];
    for (int k = 0; k < 2; k++) v[k] = a[2 * me() + k];
    if (v[0].x > v[1].x) { u8 t = v[0].x; v[0].x = v[1].x; v[1].x = t; changed[me()] = 1; }
    if (v[0].y > v[1].y) { u8 t = v[0].y; v[0].y = v[1].y; v[1].y = t; }
    for (int k = 0; k < 2; k++) d[2 * me() + k] = v[k];
}
KERNEL swapped_by_another_lane__branch(uchar4 *d, const uchar4 *a) {
    uchar4 v[2];
    for (int k = 0; k < 2; k++) v[k] = a[2 * me() + k];
    if (v[0].x > v[1].x) { u8 t = v[0].x; v[0].x = v[1].x; v[1].x = t; }
    if (v[0].x > v[1].y) { u8 t = v[0].y; v[0].y = v[1].y; v[1].y = t; }
    if (v[0].z > v[1].z) { u8 t = v[0].z; v[0].z = v[1].z; v[1].z = t; }
    for (int k = 0; k < 2; k++) d[2 * me() + k] = v[k];
}

// The columns of a state, one of them with a carry.
LANE u8 twice(u8 x) { return x << 1 ^ (x & 128 ? 0x1b : 0); }
KERNEL mixed_with_carry__fields(uchar4 *d, const uchar4 *a) {
    uchar4 x = a[me()], r;
    r.x = twice(x.x) ^ twice(x.y) ^ x.y ^ x.z ^ x.w, r.y = x.x ^ twice(x.y) ^ twice(x.z) ^ x.z ^ x.w;
    r.z = x.x ^ x.y ^ twice(x.z) ^ twice(x.w) + x.w, r.w = twice(x.x) ^ x.x ^ x.y ^ x.z ^ twice(x.w);
    d[me()] = r;
}
