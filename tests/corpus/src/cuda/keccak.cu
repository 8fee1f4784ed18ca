// One long module: the permutation of SHA-3, unrolled, for three rates.
typedef unsigned long long u64;

__device__ __forceinline__ u64 rotate(u64 v, int n) { return n ? v << n | v >> (64 - n) : v; }

// The constants come from a shift register, so that nothing is a table.
__host__ __device__ constexpr u64 round_constant(int round) {
    u64 constant = 0;
    for (int j = 0; j < 7; j++) {
        unsigned r = 1;
        for (int i = 0; i < (j + 7 * round) % 255; i++) r = r << 1 ^ (r >> 7 & 1) * 0x171;
        constant |= (u64)(r & 1) << ((1 << j) - 1);
    }
    return constant;
}
template <int R> struct Round {
    static __device__ __forceinline__ void run(u64 *a) {
        constexpr u64 constant = round_constant(R);
        u64 c[5], b[25];
#pragma unroll
        for (int x = 0; x < 5; x++) c[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
#pragma unroll
        for (int i = 0; i < 25; i++) a[i] ^= c[(i + 4) % 5] ^ rotate(c[(i + 1) % 5], 1);
        int x = 1, y = 0;
        b[0] = a[0];
#pragma unroll
        for (int t = 0; t < 24; t++) {
            int next = (2 * x + 3 * y) % 5;
            b[y + 5 * next] = rotate(a[x + 5 * y], (t + 1) * (t + 2) / 2 % 64);
            x = y;
            y = next;
        }
#pragma unroll
        for (int i = 0; i < 25; i++) a[i] = b[i] ^ (~b[i / 5 * 5 + (i + 1) % 5] & b[i / 5 * 5 + (i + 2) % 5]);
        a[0] ^= constant;
        Round<R + 1>::run(a);
    }
};
template <> struct Round<24> { static __device__ __forceinline__ void run(u64 *) {} };

template <int WORDS> __global__ void absorb(const u64 *message, int blocks, u64 *digest) {
    u64 state[25] = {};
    int lane = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < blocks; k++) {
#pragma unroll
        for (int i = 0; i < WORDS; i++) state[i] ^= message[(k * WORDS + i) * gridDim.x + lane];
        Round<0>::run(state);
    }
#pragma unroll
    for (int i = 0; i < 4; i++) digest[4 * lane + i] = state[i];
}
template __global__ void absorb<9>(const u64 *, int, u64 *);
template __global__ void absorb<17>(const u64 *, int, u64 *);
template __global__ void absorb<21>(const u64 *, int, u64 *);
