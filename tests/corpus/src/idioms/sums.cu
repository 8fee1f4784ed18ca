// Sums over the lanes of words: products, distances, and the lanes themselves.
#include "lanes.h"

// An idiom of a lane x of the first operand and a lane y of the second, summed over all lanes, from zero and from an
// accumulator.
#define SUM(name, tx, ty, count, op)                                                                                   \
    LANE int name##_lane(int x, int y) { return op; }                                                                  \
    KERNEL name##__fields(int *d, const tx##x##count *a, const ty##x##count *b) {                                      \
        tx##x##count x = a[me()];                                                                                      \
        ty##x##count y = b[me()];                                                                                      \
        d[me()] = FIELDS##count(name);                                                                                 \
    }                                                                                                                  \
    KERNEL name##__fields_onto(int *d, const tx##x##count *a, const ty##x##count *b) {                                 \
        tx##x##count x = a[me()];                                                                                      \
        ty##x##count y = b[me()];                                                                                      \
        d[me()] += FIELDS##count(name);                                                                                \
    }                                                                                                                  \
    KERNEL name##__shifts_onto(int *d, const u32 *a, const u32 *b) {                                                   \
        u32 x = a[me()], y = b[me()];                                                                                  \
        int sum = d[me()];                                                                                             \
        _Pragma("unroll") for (int k = 0; k < 32; k += 32 / count) sum += name##_lane((tx)(x >> k), (ty)(y >> k));     \
        d[me()] = sum;                                                                                                 \
    }                                                                                                                  \
    KERNEL name##__array_loop(int *d, const u32 *a, const u32 *b, int n) {                                             \
        union { u32 word; tx lane[count]; } x;                                                                         \
        union { u32 word; ty lane[count]; } y;                                                                         \
        int sum = 0;                                                                                                   \
        for (int i = 0; i < n; i++) {                                                                                  \
            x.word = a[me() * n + i], y.word = b[me() * n + i];                                                        \
            _Pragma("unroll") for (int k = 0; k < count; k++) sum += name##_lane(x.lane[k], y.lane[k]);                \
        }                                                                                                              \
        d[me()] = sum;                                                                                                 \
    }

#define FIELDS4(name) name##_lane(x.x, y.x) + name##_lane(x.y, y.y) + name##_lane(x.z, y.z) + name##_lane(x.w, y.w)
#define FIELDS2(name) name##_lane(x.x, y.x) + name##_lane(x.y, y.y)

SUM(dot_u8, u8, u8, 4, x *y)
SUM(dot_s8, s8, s8, 4, x *y)
SUM(dot_u8_s8, u8, s8, 4, x *y)
SUM(dot_s16, s16, s16, 2, x *y)
SUM(sad_u8, u8, u8, 4, abs(x - y))
SUM(sad_s8, s8, s8, 4, distance(x, y))
SUM(sad_u16, u16, u16, 2, abs(x - y))
SUM(sum_u8, u8, u8, 4, x)
SUM(sum_s8, s8, s8, 4, x)
SUM(sum_u16, u16, u16, 2, x)
SUM(sum_s16, s16, s16, 2, x)

// Two halves times two bytes, as dp2a has it.

KERNEL dot_s16_s8__fields(int *d, const short2 *a, const char2 *b) {
    short2 x = a[me()];
    char2 y = b[me()];
    d[me()] += x.x * y.x + x.y * y.y;
}
KERNEL dot_u16_u8__fields(int *d, const ushort2 *a, const uchar4 *b) {
    ushort2 x = a[me()];
    uchar4 y = b[me()];
    d[me()] += x.x * y.x + x.y * y.y;
}
KERNEL dot_u16_u8__shifts_upper(int *d, const u32 *a, const u32 *b) {
    u32 x = a[me()], y = b[me()];
    d[me()] += (x & 0xffff) * (y >> 16 & 255) + (x >> 16) * (y >> 24);
}

// With the weights of a colour, one of them zero.

KERNEL grey__fields(u8 *d, const uchar4 *a) {
    uchar4 x = a[me()];
    d[me()] = (77 * x.x + 150 * x.y + 29 * x.z + 128) >> 8;
}
KERNEL grey__shifts(u32 *d, const u32 *a) {
    u32 x = a[me()];
    d[me()] = (77 * (x & 255) + 150 * (x >> 8 & 255) + 29 * (x >> 16 & 255) + 128) >> 8;
}

// A sum of distances by a dot product with ones, from the distances as a word.

KERNEL sad_by_dot_u8__array(u32 *d, const u32 *a, const u32 *b) {
    union { u32 word; u8 lane[4]; } x, y, r;
    x.word = a[me()], y.word = b[me()];
    for (int k = 0; k < 4; k++) r.lane[k] = abs(x.lane[k] - y.lane[k]);
    u32 sum = d[me()];
    for (int k = 0; k < 4; k++) sum += r.lane[k] * 1u;
    d[me()] = sum;
}
#if defined(__CUDACC_RTC__)
KERNEL sad_by_video__intrinsic(u32 *d, const u32 *a, const u32 *b) { d[me()] += __vsadu4(a[me()], b[me()]); }
KERNEL sad_by_video__tree(u32 *d, const u32 *a, const u32 *b) {
    u32 r = __vabsdiffu4(a[me()], b[me()]);
    d[me()] = (r & 255) + (r >> 8 & 255) + (r >> 16 & 255) + (r >> 24);
}
#if __CUDA_ARCH__ >= 610
KERNEL sad_by_dot_u8__dp4a(u32 *d, const u32 *a, const u32 *b) {
    d[me()] = __dp4a(__vabsdiffu4(a[me()], b[me()]), 0x01010101u, d[me()]);
}
#endif
#endif
