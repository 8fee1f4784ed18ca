// A 3x3 median by a sorting network, and block matching by sums of absolute
// differences, with the packed intrinsics.
typedef unsigned int u32;

__device__ __forceinline__ void order(u32 &a, u32 &b) {
    u32 lo = __vminu4(a, b);
    b = __vmaxu4(a, b);
    a = lo;
}

extern "C" __global__ void median3x3(const u32 *src, u32 *dst, int words, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y + 1;
    if (x >= words || y >= h - 1) return;
    u32 v[9];
#pragma unroll
    for (int r = 0; r < 3; r++) {
        const u32 *row = src + (y + r - 1) * words;
        u32 left = x ? row[x - 1] : 0, mid = row[x], right = x + 1 < words ? row[x + 1] : 0;
        v[3 * r] = __byte_perm(left, mid, 0x6543);
        v[3 * r + 1] = mid;
        v[3 * r + 2] = __byte_perm(mid, right, 0x4321);
    }
    order(v[1], v[2]); order(v[4], v[5]); order(v[7], v[8]);
    order(v[0], v[1]); order(v[3], v[4]); order(v[6], v[7]);
    order(v[1], v[2]); order(v[4], v[5]); order(v[7], v[8]);
    order(v[0], v[3]); order(v[5], v[8]); order(v[4], v[7]);
    order(v[3], v[6]); order(v[1], v[4]); order(v[2], v[5]);
    order(v[4], v[7]); order(v[4], v[2]); order(v[6], v[4]); order(v[4], v[2]);
    dst[y * words + x] = v[4];
}

template <int SIZE, int RANGE>
__global__ void stereo(const u32 *left, const u32 *right, unsigned char *disparity, int words) {
    __shared__ u32 tile[SIZE][RANGE + 32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * SIZE;
    for (int r = threadIdx.y; r < SIZE; r += blockDim.y)
        for (int c = threadIdx.x; c < RANGE + 32; c += 32) tile[r][c] = right[(y + r) * words + blockIdx.x * 32 + c];
    __syncthreads();
    u32 best = 0xffffffffu, where = 0;
    for (int d = 0; d < RANGE; d++) {
        u32 sum = 0;
#pragma unroll
        for (int r = 0; r < SIZE; r++) sum += __vsadu4(left[(y + r) * words + x], tile[r][threadIdx.x + d]);
        if (sum < best) { best = sum; where = d; }
    }
    disparity[blockIdx.y * words + x] = where;
}
template __global__ void stereo<4, 16>(const u32 *, const u32 *, unsigned char *, int);
template __global__ void stereo<8, 64>(const u32 *, const u32 *, unsigned char *, int);

extern "C" __global__ void sad_scalar(const int *a, const int *b, u32 *out, int n) {
    u32 s = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) s = __sad(a[i], b[i], s) + __usad(i, a[i] & 255, 1);
    atomicAdd(out, s);
}
