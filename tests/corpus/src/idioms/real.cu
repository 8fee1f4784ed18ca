// What kernels of real programs do with bytes: products of quantised numbers of two to six bits, digit counts of radix
// sorts, booleans kept as bytes, words put together of bytes, and bytes copied through shared memory.
#include "lanes.h"

// --- quantised products: a block of 32 weights, times 8-bit activations in groups of four ------------------------------

LANE int dot(u32 a, u32 b, int c) {
#if defined(__clang__) || __CUDA_ARCH__ >= 610
    return __dp4a((int)a, (int)b, c);
#else
    for (int k = 0; k < 32; k += 8) c += (s8)(a >> k) * (s8)(b >> k);
    return c;
#endif
}

// The saturating difference of signed bytes.
LANE u32 difference(u32 a, u32 b) {
#if defined(__CUDACC_RTC__)
    return __vsubss4(a, b);
#else
    // What NVIDIA's compiler makes of it where there is no instruction.
    u32 r = 0;
    for (int k = 0; k < 32; k += 8) r |= (u32)(clamped((s8)(a >> k) - (s8)(b >> k), -128, 127) & 255) << k;
    return r;
#endif
}

struct Q2 { u32 quants[2], scales; float d, m; };
struct Q3 { u32 low[2], high, scales; float d; };
struct Q4 { u32 quants[4]; float d; };
struct Q5 { u32 quants[4], high; float d; };
struct Q6 { u32 low[4], high[2], scales; float d; };

// Two bits, with a scale and a minimum for each group.
KERNEL q2_product(float *d, const Q2 *w, const u32 *x, const float *scale, int n) {
    float sum = 0;
    for (int i = me(); i < n; i += 128) {
        int total = 0, minima = 0;
        for (int k = 0; k < 4; k++) {
            u32 pair = w[i].scales >> 8 * k, u = x[8 * i + 2 * k], v = x[8 * i + 2 * k + 1];
            total += dot(w[i].quants[0] >> 2 * k & 0x03030303, u, dot(w[i].quants[1] >> 2 * k & 0x03030303, v, 0)) * (pair & 15);
            u32 m = pair >> 4 & 15;
            m |= m << 8;
            m |= m << 16;
            minima = dot(m, u, dot(m, v, minima));
        }
        sum += scale[i] * (w[i].d * total - w[i].m * minima);
    }
    d[me()] = sum;
}

// Two bits and a third, inverted, kept elsewhere.
KERNEL q3_product(float *d, const Q3 *w, const u32 *x, const float *scale, int n) {
    float sum = 0;
    for (int i = me(); i < n; i += 128) {
        int total = 0;
        for (int k = 0; k < 4; k++) {
            u32 high = ~w[i].high >> k, part = 0;
            for (int j = 0; j < 2; j++)
                part = dot(difference(w[i].low[j] >> 2 * k & 0x03030303, high >> 4 * j << 2 & 0x04040404), x[8 * i + 2 * k + j], part);
            total += part * ((int)(w[i].scales >> 8 * k & 63) - 32);
        }
        sum += scale[i] * w[i].d * total;
    }
    d[me()] = sum;
}

// Four bits from which 8 is to be subtracted: once, from the sum.
KERNEL q4_product(float *d, const Q4 *w, const u32 *x, const float *scale, int n) {
    float sum = 0;
    for (int i = me(); i < n; i += 128) {
        int total = 0, ones = 0;
        for (int j = 0; j < 4; j++) {
            u32 q = w[i].quants[j], u = x[8 * i + j], v = x[8 * i + 4 + j];
            total = dot(q & 0x0f0f0f0f, u, dot(q >> 4 & 0x0f0f0f0f, v, total));
            ones = dot(0x01010101, u, dot(0x01010101, v, ones));
        }
        sum += scale[i] * w[i].d * (total - 8 * ones);
    }
    d[me()] = sum;
}

// The same, subtracted from each weight.
KERNEL q4_product_signed(float *d, const Q4 *w, const u32 *x, const float *scale, int n) {
    float sum = 0;
    for (int i = me(); i < n; i += 128) {
        int total = 0;
        for (int j = 0; j < 4; j++) {
            u32 q = w[i].quants[j];
            total = dot(difference(q & 0x0f0f0f0f, 0x08080808), x[8 * i + j], total);
            total = dot(difference(q >> 4 & 0x0f0f0f0f, 0x08080808), x[8 * i + 4 + j], total);
        }
        sum += scale[i] * w[i].d * total;
    }
    d[me()] = sum;
}

// Four bits and a fifth of a word of 32, a bit for each weight, spread over the bytes of a word.
LANE u32 fifth_low(u32 h) {
    return (h << 4 & 0x00000010) | (h << 11 & 0x00001000) | (h << 18 & 0x00100000) | (h << 25 & 0x10000000);
}
LANE u32 fifth_high(u32 h) {
    return (h >> 12 & 0x00000010) | (h >> 5 & 0x00001000) | (h << 2 & 0x00100000) | (h << 9 & 0x10000000);
}
KERNEL q5_product(float *d, const Q5 *w, const u32 *x, const float *scale, int n) {
    float sum = 0;
    for (int i = me(); i < n; i += 128) {
        int total = 0;
        for (int j = 0; j < 4; j++) {
            u32 q = w[i].quants[j], h = w[i].high >> 4 * j;
            total = dot((q & 0x0f0f0f0f) | fifth_low(h), x[8 * i + j], total);
            total = dot((q >> 4 & 0x0f0f0f0f) | fifth_high(h), x[8 * i + 4 + j], total);
        }
        sum += scale[i] * w[i].d * total;
    }
    d[me()] = sum;
}
// And 16 subtracted from each.
KERNEL q5_product_signed(float *d, const Q5 *w, const u32 *x, const float *scale, int n) {
    float sum = 0;
    for (int i = me(); i < n; i += 128) {
        int total = 0;
        for (int j = 0; j < 4; j++) {
            u32 q = w[i].quants[j], h = w[i].high >> 4 * j;
            total = dot(difference((q & 0x0f0f0f0f) | fifth_low(h), 0x10101010), x[8 * i + j], total);
            total = dot(difference((q >> 4 & 0x0f0f0f0f) | fifth_high(h), 0x10101010), x[8 * i + 4 + j], total);
        }
        sum += scale[i] * w[i].d * total;
    }
    d[me()] = sum;
}

// The differences and the spread bits of these, alone.
KERNEL difference_of_two_bits(u32 *d, const u32 *a, const u32 *b) {
    d[me()] = difference(a[me()] & 0x03030303, b[me()] << 2 & 0x04040404);
}
KERNEL difference_from_8(u32 *d, const u32 *a) { d[me()] = difference(a[me()] & 0x0f0f0f0f, 0x08080808); }
KERNEL difference_from_32(u32 *d, const u32 *a, const u32 *b) {
    d[me()] = difference((a[me()] & 0x0f0f0f0f) | (b[me()] & 0x30303030), 0x20202020);
}
KERNEL spread_low_bits(u32 *d, const u32 *a, const u32 *b) { d[me()] = (b[me()] & 0x0f0f0f0f) | fifth_low(a[me()]); }
KERNEL spread_high_bits(u32 *d, const u32 *a, const u32 *b) { d[me()] = (b[me()] & 0x0f0f0f0f) | fifth_high(a[me()]); }

// Four bits and two more, from which 32 is subtracted.
KERNEL q6_product(float *d, const Q6 *w, const u32 *x, const float *scale, int n) {
    float sum = 0;
    for (int i = me(); i < n; i += 128) {
        int total = 0;
        for (int k = 0; k < 2; k++)
            for (int j = 0; j < 2; j++) {
                u32 low = w[i].low[2 * k + j], high = w[i].high[j] >> 4 * k;
                u32 p = (low & 0x0f0f0f0f) | (high << 4 & 0x30303030), q = (low >> 4 & 0x0f0f0f0f) | (high << 2 & 0x30303030);
                int part = dot(difference(p, 0x20202020), x[8 * i + 4 * k + 2 * j], 0);
                part = dot(difference(q, 0x20202020), x[8 * i + 4 * k + 2 * j + 1], part);
                total += part * (s8)(w[i].scales >> 8 * k);
            }
        sum += scale[i] * w[i].d * total;
    }
    d[me()] = sum;
}

// --- radix sorts: counts of digits, four to a word, added to four accumulators -----------------------------------------

KERNEL digit_counts(u32 *d, const u32 *packed, int n) {
    u32 sum[4] = {0, 0, 0, 0};
    for (int i = 0; i < n; i++) {
        u32 word = packed[i * 256 + me()];
        for (int k = 0; k < 4; k++) sum[k] += word >> 8 * k & 255;
    }
    for (int k = 0; k < 4; k++) d[4 * me() + k] = sum[k];
}

// Eight words, unrolled.
KERNEL digit_counts_of_eight(uint4 *d, const u32 *packed) {
    u32 sum[4] = {0, 0, 0, 0};
    _Pragma("unroll") for (int i = 0; i < 8; i++) {
        u32 word = packed[i * 256 + me()];
        for (int k = 0; k < 4; k++) sum[k] += word >> 8 * k & 255;
    }
    uint4 r;
    r.x = sum[0], r.y = sum[1], r.z = sum[2], r.w = sum[3];
    d[me()] = r;
}

// Unrolled, from shared memory, as sorts by counting in bytes have it.
KERNEL digit_counts_shared(u32 *d, const u32 *keys, int shift) {
    __shared__ u8 counts[64][64][4];
    u32 *row = (u32 *)counts[threadIdx.x];
    for (int k = 0; k < 64; k++) row[k] = 0;
    for (int i = 0; i < 16; i++) {
        u32 digit = keys[i * 64 + me()] >> shift & 255;
        counts[threadIdx.x][digit & 63][digit >> 6]++;
    }
    __syncthreads();
    u32 sum[4] = {0, 0, 0, 0};
    _Pragma("unroll") for (int i = 0; i < 32; i++) {
        u32 word = *(u32 *)counts[i][threadIdx.x];
        for (int k = 0; k < 4; k++) sum[k] += word >> 8 * k & 255;
    }
    for (int k = 0; k < 4; k++) d[me() + 64 * k] = sum[k];
}

// --- booleans kept as bytes --------------------------------------------------------------------------------------------

// Whether all of eight comparisons hold, each kept as a signed byte and joined by the smaller. The byte is hidden from
// the compiler, which would make predicates of it; compilers of machine-learning graphs write it so.
LANE s16 kept(s16 b) {
    asm("mov.b16 %0, %0;" : "+h"(b));
    return b;
}
KERNEL all_of_eight(s8 *d, const float *a, float limit) {
    s8 all = 1;
    _Pragma("unroll") for (int k = 0; k < 8; k++) {
        s8 one = kept(a[8 * me() + k] > limit ? 1 : 0);
        all = kept(min(all, one) != 0 ? 1 : 0);
    }
    d[me()] = all;
}
KERNEL any_of_eight_bytes(s8 *d, const s8 *a) {
    s8 any = 0;
    _Pragma("unroll") for (int k = 0; k < 8; k++) {
        s8 one = a[k * 256 + me()] != 0;
        any = any > one ? any : one;
        any = any != 0;
    }
    d[me()] = any;
}

// --- words put together of bytes ---------------------------------------------------------------------------------------

// Colours from numbers with a point, saturated.
KERNEL pack_colours(u32 *d, const float4 *a) {
    float4 v = a[me()];
    u32 r = (u32)(v.x * 255), g = (u32)(v.y * 255), b = (u32)(v.z * 255), w = (u32)(v.w * 255);
    d[me()] = (r & 255) | (g & 255) << 8 | (b & 255) << 16 | w << 24;
}
// Four results of a table, each in a register of which only the lower byte counts.
KERNEL look_up_four(u32 *d, const u32 *a, const u16 *table) {
    u32 x = a[me()];
    u16 p = table[x & 255], q = table[x >> 8 & 255], r = table[x >> 16 & 255], s = table[x >> 24];
    d[me()] = (u8)p | (u32)(u8)q << 8 | (u32)(u8)r << 16 | (u32)(u8)s << 24;
}
// Four sums of words, each cut to a byte.
KERNEL pack_sums(u32 *d, const uint4 *a, const uint4 *b) {
    uint4 x = a[me()], y = b[me()];
    u8 r[4] = {(u8)(x.x + y.x), (u8)(x.y + y.y), (u8)(x.z + y.z), (u8)(x.w + y.w)};
    d[me()] = r[0] | r[1] << 8 | r[2] << 16 | (u32)r[3] << 24;
}
// A big-endian word from bytes in memory.
KERNEL big_endian(u32 *d, const u8 *a) {
    const u8 *p = a + 4 * me();
    d[me()] = (u32)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
}

// --- bytes through shared memory ---------------------------------------------------------------------------------------

struct Bytes8 { u8 byte[8]; };

// A word of a parameter that is bytes.
KERNEL parameter_bytes(u32 *d, Bytes8 p) {
    d[me()] = (u32)p.byte[4] | (u32)p.byte[5] << 8 | (u32)p.byte[6] << 16 | (u32)p.byte[7] << 24;
}
KERNEL copy_bytes_shared(Bytes8 *d, const Bytes8 *a) {
    __shared__ __attribute__((aligned(16))) u8 tile[256 * 8];
    Bytes8 x = a[me()];
    for (int k = 0; k < 8; k++) tile[8 * threadIdx.x + k] = x.byte[k];
    __syncthreads();
    Bytes8 r;
    for (int k = 0; k < 8; k++) r.byte[k] = tile[8 * (255 - threadIdx.x) + k];
    d[me()] = r;
}
KERNEL transpose_bytes_shared(u32 *d, const u32 *a) {
    __shared__ __attribute__((aligned(16))) u8 tile[32 * 32];
    u32 x = a[me()];
    for (int k = 0; k < 4; k++) tile[4 * threadIdx.x + k] = x >> 8 * k;
    __syncthreads();
    u32 r = 0;
    for (int k = 0; k < 4; k++) r |= (u32)tile[(threadIdx.x & 7) * 128 + 32 * k + (threadIdx.x >> 3)] << 8 * k;
    d[me()] = r;
}
KERNEL maximum_bytes_shared(uchar4 *d, const uchar4 *a, int n) {
    __shared__ __attribute__((aligned(4))) u8 best[256 * 4];
    for (int k = 0; k < 4; k++) best[4 * threadIdx.x + k] = 0;
    for (int i = 0; i < n; i++) {
        uchar4 x = a[i * 256 + me()];
        u8 *b = best + 4 * threadIdx.x;
        u8 p = max(b[0], x.x), q = max(b[1], x.y), r = max(b[2], x.z), s = max(b[3], x.w);
        b[0] = p, b[1] = q, b[2] = r, b[3] = s;
    }
    __syncthreads();
    uchar4 r;
    r.x = best[4 * (threadIdx.x ^ 1)], r.y = best[4 * (threadIdx.x ^ 1) + 1];
    r.z = best[4 * (threadIdx.x ^ 1) + 2], r.w = best[4 * (threadIdx.x ^ 1) + 3];
    d[me()] = r;
}

// Products in the field of 256 elements that ciphers and codes compute in: the columns of a state are mixed, and mixed
// back; two sums of blocks from which two lost ones can be computed.
LANE u8 doubled(u8 x) { return x << 1 ^ (x & 128 ? 0x1b : 0); }
LANE u8 doubled_by_product(u8 x) { return x << 1 ^ (x >> 7) * 0x1b; }
LANE u8 times(u8 x, int k) {
    u8 r = 0;
    _Pragma("unroll") for (int bit = 0; bit < 4; bit++) {
        if (k >> bit & 1) r ^= x;
        x = doubled(x);
    }
    return r;
}
KERNEL mixed_columns__fields(uchar4 *d, const uchar4 *a) {
    uchar4 x = a[me()], r;
    r.x = doubled(x.x) ^ doubled(x.y) ^ x.y ^ x.z ^ x.w, r.y = x.x ^ doubled(x.y) ^ doubled(x.z) ^ x.z ^ x.w;
    r.z = x.x ^ x.y ^ doubled(x.z) ^ doubled(x.w) ^ x.w, r.w = doubled(x.x) ^ x.x ^ x.y ^ x.z ^ doubled(x.w);
    d[me()] = r;
}
KERNEL mixed_columns__array(u8 *d, const u32 *a) {
    u32 word = a[me()];
    u8 x[4], t = 0;
    for (int k = 0; k < 4; k++) x[k] = word >> 8 * k, t ^= x[k];
    u32 r = 0;
    for (int k = 0; k < 4; k++) r |= (u32)(u8)(x[k] ^ t ^ doubled_by_product(x[k] ^ x[k + 1 & 3])) << 8 * k;
    ((u32 *)d)[me()] = r;
}
KERNEL unmixed_columns__fields(uchar4 *d, const uchar4 *a) {
    uchar4 x = a[me()], r;
    r.x = times(x.x, 14) ^ times(x.y, 11) ^ times(x.z, 13) ^ times(x.w, 9);
    r.y = times(x.x, 9) ^ times(x.y, 14) ^ times(x.z, 11) ^ times(x.w, 13);
    r.z = times(x.x, 13) ^ times(x.y, 9) ^ times(x.z, 14) ^ times(x.w, 11);
    r.w = times(x.x, 11) ^ times(x.y, 13) ^ times(x.z, 9) ^ times(x.w, 14);
    d[me()] = r;
}
KERNEL blocks_summed__fields(uchar4 *p, uchar4 *q, const uchar4 *a, int n) {
    uchar4 s = a[me()], t = a[me() + n], u = a[me() + 2 * n], r;
    p[me()] = uchar4{u8(s.x ^ t.x ^ u.x), u8(s.y ^ t.y ^ u.y), u8(s.z ^ t.z ^ u.z), u8(s.w ^ t.w ^ u.w)};
    r.x = s.x ^ times(t.x, 2) ^ times(u.x, 4), r.y = s.y ^ times(t.y, 2) ^ times(u.y, 4);
    r.z = s.z ^ times(t.z, 2) ^ times(u.z, 4), r.w = s.w ^ times(t.w, 2) ^ times(u.w, 4);
    q[me()] = r;
}
