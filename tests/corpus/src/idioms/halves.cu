// Operations on the two halves of words, lane by lane.
#include "lanes.h"

LANES2(add_u16, u16, x + y)
LANES2(sub_u16, u16, x - y)
LANES2(min_u16, u16, min(x, y))
LANES2(max_u16, u16, x > y ? x : y)
LANES2(min_s16, s16, min(x, y))
LANES2(max_s16, s16, x > y ? x : y)
LANES2(average_up_u16, u16, (x + y + 1) >> 1)
LANES2(average_down_u16, u16, (x + y) >> 1)
LANES2(average_up_s16, s16, (x + y + 1) >> 1)
LANES2(difference_u16, u16, abs(x - y))
LANES2(difference_s16, s16, distance(x, y))
LANES2(add_sat_u16, u16, min(x + y, 65535))
LANES2(sub_sat_u16, u16, max(x - y, 0))
LANES2(add_sat_s16, s16, clamped(x + y, -32768, 32767))
LANES2(sub_sat_s16, s16, clamped(x - y, -32768, 32767))
LANES2(add_sat_u16_s16, u16, clamped(x + (s16)y, 0, 65535))
LANES2(greater_mask_u16, u16, x > y ? 65535 : 0)
LANES2(less_01_s16, s16, x < y)
LANES2(clamp_sum_s16, s16, clamped(x + y, 0, 255))
LANES2(threshold_s16, s16, x > 1000 ? x : 0)
LANES2(negate_s16, s16, -x)
LANES2(abs_s16, s16, abs(x))
LANES2(relu_s16, s16, max(x, 0))

// Three operands.

#define SELECT2(name, type, op)                                                                                        \
    LANE type name##_lane(int x, int y, int z) { return op; }                                                          \
    KERNEL name##__fields(type##x2 *d, const type##x2 *a, const type##x2 *b, const type##x2 *c) {                      \
        type##x2 x = a[me()], y = b[me()], z = c[me()], r;                                                             \
        r.x = name##_lane(x.x, y.x, z.x), r.y = name##_lane(x.y, y.y, z.y);                                            \
        d[me()] = r;                                                                                                   \
    }                                                                                                                  \
    KERNEL name##__shifts(u32 *d, const u32 *a, const u32 *b, const u32 *c) {                                          \
        u32 x = a[me()], y = b[me()], z = c[me()], r = 0;                                                              \
        _Pragma("unroll") for (int k = 0; k < 32; k += 16)                                                             \
            r |= ((u32)name##_lane((type)(x >> k), (type)(y >> k), (type)(z >> k)) & 65535) << k;                      \
        d[me()] = r;                                                                                                   \
    }                                                                                                                  \
    KERNEL name##__array(u32 *d, const u32 *a, const u32 *b, const u32 *c) {                                           \
        union { u32 word; type lane[2]; } x, y, z, r;                                                                  \
        x.word = a[me()], y.word = b[me()], z.word = c[me()];                                                          \
        _Pragma("unroll") for (int k = 0; k < 2; k++) r.lane[k] = name##_lane(x.lane[k], y.lane[k], z.lane[k]);        \
        d[me()] = r.word;                                                                                              \
    }

SELECT2(select_less_u16, u16, x < y ? z : x)
SELECT2(clamp_lanes_s16, s16, min(max(x, y), z))
SELECT2(add_then_sub_sat_u16, u16, max(min(x + y, 65535) - z, 0))
