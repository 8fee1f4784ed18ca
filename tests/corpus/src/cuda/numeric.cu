// Floating point in all widths, conversions, 64-bit integers, wide loads.
#if __CUDA_ARCH__ >= 530
#include <cuda_fp16.h>
extern "C" __global__ void half_axpy(const __half2 *x, __half2 *y, __half a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __hfma2(__half2half2(a), x[i], y[i]);
}
extern "C" __global__ void half_softmax(const __half *x, float *y, int n) {
    float m = -1e30f, s = 0;
    for (int i = 0; i < n; i++) m = fmaxf(m, __half2float(x[i]));
    for (int i = 0; i < n; i++) s += __expf(__half2float(x[i]) - m);
    y[threadIdx.x] = __half2float(__hmul(x[threadIdx.x], __float2half(1.0f / s)));
}
#endif

extern "C" __global__ void nbody(const float4 *__restrict__ pos, float3 *acc, int n) {
    float4 me = pos[blockIdx.x * blockDim.x + threadIdx.x];
    float3 a = make_float3(0, 0, 0);
    for (int j = 0; j < n; j++) {
        float4 p = pos[j];
        float dx = p.x - me.x, dy = p.y - me.y, dz = p.z - me.z;
        float inv = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-9f), k = p.w * inv * inv * inv;
        a.x += dx * k; a.y += dy * k; a.z += dz * k;
    }
    acc[blockIdx.x * blockDim.x + threadIdx.x] = a;
}

extern "C" __global__ void transcendental(const float *x, const double *d, float *y, double *z) {
    int i = threadIdx.x;
    float v = x[i];
    y[i] = sinf(v) + logf(v) * powf(v, 0.3f) + sqrtf(v) / (1.0f + v) + __sinf(v) + fmodf(v, 3.0f);
    z[i] = exp(d[i]) + sqrt(d[i]) / d[i + 1] + fma(d[i], 2.0, -0.0) + floor(d[i]);
}

extern "C" __global__ void conversions(const double *d, const float *f, void *out) {
    int i = threadIdx.x;
    ((signed char *)out)[i] = (signed char)f[i];
    ((unsigned short *)out)[i + 64] = (unsigned short)d[i];
    ((long long *)out)[i + 64] = __double2ll_rz(d[i]) + __float2ll_rd(f[i]);
    ((unsigned long long *)out)[i + 128] = __double_as_longlong(d[i]) + __float_as_uint(f[i]) + __float2uint_ru(f[i]);
    ((float *)out)[i + 512] = __double2float_rz(d[i]) + __int2float_ru(i) + isnan(f[i]) + signbit(f[i]) + isinf(d[i]);
    ((short *)out)[i + 2048] = (short)(f[i] > 0 ? i * (short)f[i] : ~i);
}

extern "C" __global__ void wide(const ulonglong2 *in, ulonglong2 *out, const longlong2 *s, int shift) {
    ulonglong2 v = in[threadIdx.x], r;
    longlong2 t = s[threadIdx.x];
    r.x = v.x / (v.y | 1) + __umul64hi(v.x, v.y) + (t.x >> shift) + __funnelshift_l((unsigned)v.x, (unsigned)v.y, shift);
    r.y = (t.x % (t.y | 1)) ^ (v.y << shift) ^ __brevll(v.x) ^ __popcll(v.y) ^ __clzll(t.y) ^ __mul24(shift, 77);
    unsigned __int128 *big = (unsigned __int128 *)(out + 64);
    big[threadIdx.x] = (unsigned __int128)v.x * v.y + ((unsigned __int128)v.y << 64 >> shift);
    out[threadIdx.x] = r;
}

extern "C" __global__ void bitfields(const unsigned *in, unsigned *out, int pos) {
    unsigned v = in[threadIdx.x], r, c;
    asm("bfe.u32 %0, %1, %2, 5;" : "=r"(r) : "r"(v), "r"(pos));
    asm("bfi.b32 %0, %1, %0, 8, 8;" : "+r"(r) : "r"(v));
    asm("{\n add.cc.u32 %0, %2, %3;\n addc.u32 %1, %2, 0;\n}" : "=r"(r), "=r"(c) : "r"(v), "r"(r));
    asm("mad.lo.cc.u32 %0, %1, %1, %0; madc.hi.u32 %0, %1, %1, 0;" : "+r"(r) : "r"(v));
    asm("prmt.b32.f4e %0, %1, %2, 2;" : "=r"(c) : "r"(v), "r"(c));
    asm("slct.u32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(v), "r"(c), "r"(pos));
    out[threadIdx.x] = r + __byte_perm(v, c, 0x0123);
}
