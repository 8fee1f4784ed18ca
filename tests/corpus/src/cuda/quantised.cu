// Inference with 8-bit numbers: dot products, requantisation, lookup tables.
typedef signed char i8;
typedef unsigned char u8;

__constant__ i8 lut[256] = {1, -2, 3, -4, 5};
__constant__ float scales[64];

__device__ __forceinline__ int dot4(int a, int b, int c) {
#if __CUDA_ARCH__ >= 610
    return __dp4a(a, b, c);
#else
    for (int k = 0; k < 4; k++) c += (i8)(a >> 8 * k) * (i8)(b >> 8 * k);
    return c;
#endif
}

extern "C" __global__ void gemv_q8(const int4 *w, const int4 *x, const int *bias, i8 *y, int k, float scale) {
    int row = blockIdx.x * blockDim.x + threadIdx.x, acc = bias[row];
    for (int i = 0; i < k; i++) {
        int4 a = w[row * k + i], b = __ldg(&x[i]);
        acc = dot4(a.x, b.x, acc);
        acc = dot4(a.y, b.y, acc);
        acc = dot4(a.z, b.z, acc);
        acc = dot4(a.w, b.w, acc);
    }
    int q = __float2int_rn(acc * scale);
    y[row] = (i8)max(-128, min(127, q));
}

struct __align__(2) Q4Block { unsigned short d; u8 nibble[16]; };

extern "C" __global__ void dequantise_q4(const Q4Block *blocks, float *out) {
    const Q4Block &b = blocks[blockIdx.x];
    float d;
    asm("{ .reg .b16 h; mov.b16 h, %1; cvt.f32.f16 %0, h; }" : "=f"(d) : "h"(b.d));
    int t = threadIdx.x & 15;
    int q = threadIdx.x < 16 ? b.nibble[t] & 15 : b.nibble[t] >> 4;
    out[blockIdx.x * 32 + threadIdx.x] = d * (q - 8) * scales[blockIdx.x & 63];
}

extern "C" __global__ void relu_lut(const uchar4 *in, char4 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uchar4 v = in[i];
    out[i] = make_char4(max(lut[v.x], (i8)0), max(lut[v.y], (i8)0), max(lut[v.z], (i8)0), max(lut[v.w], (i8)0));
}

extern "C" __global__ void pack_int8(const float4 *in, unsigned *out, float scale) {
    float4 v = in[threadIdx.x];
    unsigned a = __float2int_rn(v.x * scale) & 255, b = __float2int_rn(v.y * scale) & 255;
    unsigned c = __float2int_rn(v.z * scale) & 255, d = __float2int_rn(v.w * scale) & 255;
    out[threadIdx.x] = a | b << 8 | c << 16 | d << 24;
}
