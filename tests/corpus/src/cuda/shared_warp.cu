// Shared memory, barriers, shuffles, votes and atomics.
extern __shared__ unsigned char dynamic[];

__global__ void __launch_bounds__(256, 2) matmul_tiled(const float *a, const float *b, float *c, int n) {
    __shared__ float ta[16][17], tb[16][17];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float acc = 0;
    for (int t = 0; t < n / 16; t++) {
        ta[y][x] = a[row * n + t * 16 + x];
        tb[y][x] = b[(t * 16 + y) * n + col];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; k++) acc += ta[y][k] * tb[k][x];
        __syncthreads();
    }
    c[row * n + col] = acc;
}

__device__ int warp_sum(int v) {
    for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
    return v;
}

extern "C" __global__ void reduce(const int *in, int *out, int n) {
    __shared__ int part[32];
    int v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) v += in[i];
    v = warp_sum(v);
    if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = warp_sum(threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0);
        if (threadIdx.x == 0) atomicAdd(out, v);
    }
}

extern "C" __global__ void compact(const unsigned *in, unsigned *out, unsigned *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool keep = i < n && (in[i] & 0xff00) != 0;
    unsigned mask = __ballot_sync(0xffffffffu, keep), below;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
    unsigned base = 0;
    if (mask && (threadIdx.x & 31) == __ffs(mask) - 1) base = atomicAdd(count, __popc(mask));
    base = __shfl_sync(0xffffffffu, base, mask ? __ffs(mask) - 1 : 0);
    if (keep) out[base + __popc(mask & below)] = in[i];
    if (__syncthreads_count(keep) == 0 && __any_sync(0xffffffffu, i == 0)) count[1] = 1;
}

extern "C" __global__ void histogram(const uchar4 *in, unsigned *out, int n) {
    unsigned *bins = (unsigned *)dynamic;
    for (int i = threadIdx.x; i < 256; i += blockDim.x) bins[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        uchar4 v = in[i];
        atomicAdd(&bins[v.x], 1);
        atomicAdd(&bins[v.y], 1);
        atomicInc(&bins[v.z], 1u << 20);
        atomicAdd(&bins[v.w], 1);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&out[i], bins[i]);
}

extern "C" __global__ void atomics(int *p, unsigned long long *q, float *f, unsigned *u) {
    int i = threadIdx.x;
    atomicMin(p, i);
    atomicAnd(p + 1, ~i);
    atomicOr(p + 2, i);
    atomicXor(p + 3, i);
    u[i] = atomicExch(u + 64, i) + atomicDec(u + 65, 7) + atomicCAS(u + 66, i, i + 1);
    atomicAdd(f, 1.5f);
    unsigned long long old = *q, seen;
    do {
        seen = old;
        old = atomicCAS(q, seen, seen * 6364136223846793005ull + 1442695040888963407ull);
    } while (old != seen);
    __threadfence();
    *(volatile int *)(p + 4) = i;
    __threadfence_block();
    __threadfence_system();
}
