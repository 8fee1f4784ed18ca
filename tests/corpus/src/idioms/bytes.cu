// Operations on the four bytes of words, lane by lane.
#include "lanes.h"

LANES4(add_u8, u8, x + y)
LANES4(sub_u8, u8, x - y)
LANES4(min_u8, u8, min(x, y))
LANES4(max_u8, u8, x > y ? x : y)
LANES4(min_s8, s8, x < y ? x : y)
LANES4(max_s8, s8, max(x, y))
LANES4(average_up_u8, u8, (x + y + 1) >> 1)
LANES4(average_down_u8, u8, (x + y) >> 1)
LANES4(average_up_s8, s8, (x + y + 1) >> 1)
LANES4(average_down_s8, s8, (x + y) >> 1)
LANES4(difference_u8, u8, abs(x - y))
LANES4(difference_tern_u8, u8, distance(x, y))
LANES4(difference_s8, s8, abs(x - y))
LANES4(add_sat_u8, u8, min(x + y, 255))
LANES4(sub_sat_u8, u8, max(x - y, 0))
LANES4(add_sat_s8, s8, clamped(x + y, -128, 127))
LANES4(sub_sat_s8, s8, min(max(x - y, -128), 127))
LANES4(add_sat_u8_s8, u8, clamped(x + (s8)y, 0, 255))
LANES4(sub_sat_u8_s8, u8, clamped(x - (s8)y, 0, 255))
LANES4(sub_u8_sat_s8, s8, clamped((u8)x - (u8)y, -128, 127))
LANES4(threshold_u8, u8, x > 100 ? 255 : 0)
LANES4(threshold_to_zero_u8, u8, x > 100 ? x : 0)
LANES4(greater_mask_u8, u8, x > y ? 255 : 0)
LANES4(less_01_u8, u8, x < y)
LANES4(equal_01_u8, u8, x == y)
LANES4(greater_mask_s8, s8, x > y ? -1 : 0)
LANES4(clamp_constants_u8, u8, clamped(x, 16, 235))
LANES4(clamp_sum_u8, u8, clamped(x + y - 128, 0, 255))
LANES4(clamp_scaled_sum_u8, u8, clamped(2 * x - y, 0, 255))
LANES4(blend_constants_u8, u8, (77 * x + 179 * y + 128) >> 8)
LANES4(blend_step_u8, u8, x + (((y - x) * 77) >> 8))
LANES4(invert_u8, u8, 255 - x)
LANES4(negate_s8, s8, -x)
LANES4(abs_s8, s8, abs(x))
LANES4(relu_s8, s8, max(x, 0))

// Three operands.

#define SELECT4(name, type, op)                                                                                        \
    LANE type name##_lane(int x, int y, int z) { return op; }                                                          \
    KERNEL name##__fields(type##x4 *d, const type##x4 *a, const type##x4 *b, const type##x4 *c) {                      \
        type##x4 x = a[me()], y = b[me()], z = c[me()], r;                                                             \
        r.x = name##_lane(x.x, y.x, z.x), r.y = name##_lane(x.y, y.y, z.y);                                            \
        r.z = name##_lane(x.z, y.z, z.z), r.w = name##_lane(x.w, y.w, z.w);                                            \
        d[me()] = r;                                                                                                   \
    }                                                                                                                  \
    KERNEL name##__shifts(u32 *d, const u32 *a, const u32 *b, const u32 *c) {                                          \
        u32 x = a[me()], y = b[me()], z = c[me()], r = 0;                                                              \
        _Pragma("unroll") for (int k = 0; k < 32; k += 8)                                                              \
            r |= ((u32)name##_lane((type)(x >> k), (type)(y >> k), (type)(z >> k)) & 255) << k;                        \
        d[me()] = r;                                                                                                   \
    }                                                                                                                  \
    KERNEL name##__array(u32 *d, const u32 *a, const u32 *b, const u32 *c) {                                           \
        union { u32 word; type lane[4]; } x, y, z, r;                                                                  \
        x.word = a[me()], y.word = b[me()], z.word = c[me()];                                                          \
        _Pragma("unroll") for (int k = 0; k < 4; k++) r.lane[k] = name##_lane(x.lane[k], y.lane[k], z.lane[k]);        \
        d[me()] = r.word;                                                                                              \
    }

SELECT4(select_less_u8, u8, x < y ? z : x)
SELECT4(select_greater_s8, s8, x > y ? x : z)
SELECT4(clamp_lanes_u8, u8, min(max(x, y), z))
SELECT4(add_then_sub_sat_u8, u8, max(min(x + y, 255) - z, 0))
SELECT4(blend_alpha_u8, u8, (x * z + y * (255 - z) + 127) >> 8)
