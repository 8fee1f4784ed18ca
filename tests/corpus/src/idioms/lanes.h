// What the idioms share: names of types, the number of a thread, and the three spellings of an operation on lanes.
//
// LANES4 and LANES2 make kernels of an idiom: of its name, of the type of its lanes, and of what it computes of a lane
// x of the first operand and a lane y of the second. The spellings: fields of a vector; words, shifts and ors; an array
// of lanes in a loop.

typedef unsigned char u8;
typedef signed char s8;
typedef unsigned short u16;
typedef signed short s16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define KERNEL extern "C" __global__ void
#define LANE static __device__ __forceinline__

static __device__ __forceinline__ int me() { return blockIdx.x * blockDim.x + threadIdx.x; }
static __device__ __forceinline__ int clamped(int v, int low, int high) { return v < low ? low : v > high ? high : v; }
static __device__ __forceinline__ int distance(int x, int y) { return x > y ? x - y : y - x; }

typedef uchar4 u8x4;
typedef char4 s8x4;
typedef ushort2 u16x2;
typedef short2 s16x2;

#define LANES4(name, type, op)                                                                                         \
    LANE type name##_lane(int x, int y) { return op; }                                                                 \
    KERNEL name##__fields(type##x4 *d, const type##x4 *a, const type##x4 *b) {                                         \
        type##x4 x = a[me()], y = b[me()], r;                                                                          \
        r.x = name##_lane(x.x, y.x), r.y = name##_lane(x.y, y.y);                                                      \
        r.z = name##_lane(x.z, y.z), r.w = name##_lane(x.w, y.w);                                                      \
        d[me()] = r;                                                                                                   \
    }                                                                                                                  \
    WORDS(name, type, 8)                                                                                               \
    ARRAY(name, type, 4)

#define LANES2(name, type, op)                                                                                         \
    LANE type name##_lane(int x, int y) { return op; }                                                                 \
    KERNEL name##__fields(type##x2 *d, const type##x2 *a, const type##x2 *b) {                                         \
        type##x2 x = a[me()], y = b[me()], r;                                                                          \
        r.x = name##_lane(x.x, y.x), r.y = name##_lane(x.y, y.y);                                                      \
        d[me()] = r;                                                                                                   \
    }                                                                                                                  \
    WORDS(name, type, 16)                                                                                              \
    ARRAY(name, type, 2)

#define WORDS(name, type, bits)                                                                                        \
    KERNEL name##__shifts(u32 *d, const u32 *a, const u32 *b) {                                                        \
        u32 x = a[me()], y = b[me()], r = 0;                                                                           \
        _Pragma("unroll") for (int k = 0; k < 32; k += bits)                                                           \
            r |= ((u32)name##_lane((type)(x >> k), (type)(y >> k)) & ((1u << bits) - 1)) << k;                         \
        d[me()] = r;                                                                                                   \
    }

#define ARRAY(name, type, count)                                                                                       \
    KERNEL name##__array(u32 *d, const u32 *a, const u32 *b) {                                                         \
        union { u32 word; type lane[count]; } x, y, r;                                                                 \
        x.word = a[me()], y.word = b[me()];                                                                            \
        _Pragma("unroll") for (int k = 0; k < count; k++) r.lane[k] = name##_lane(x.lane[k], y.lane[k]);               \
        d[me()] = r.word;                                                                                              \
    }
