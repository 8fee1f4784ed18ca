// Packed 16-bit arithmetic, which machines from sm_90 on have, and the packed
// byte arithmetic of sm_120f.
typedef unsigned int u32;

extern "C" __global__ void halves(const u32 *in, u32 *out) {
    u32 a = in[threadIdx.x], b = in[threadIdx.x + 32], r;
    asm("add.u16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    asm("min.s16x2 %0, %0, %1;" : "+r"(r) : "r"(a));
    asm("max.relu.s16x2 %0, %0, %1;" : "+r"(r) : "r"(b));
    out[threadIdx.x] = r + __vmaxs2(a, b) + __viaddmax_u16x2(a, b, r) + __vimin3_s32(a, b, r) + __vibmax_u32(a, b, (bool *)&out[64]);
}

#ifdef __CUDA_ARCH_FAMILY_SPECIFIC__
extern "C" __global__ void bytes(const u32 *in, u32 *out) {
    u32 a = in[threadIdx.x], b = in[threadIdx.x + 32], r;
    asm("min.u8x4 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    asm("max.s8x4 %0, %0, %1;" : "+r"(r) : "r"(a));
    asm("add.u8x4 %0, %0, %1;" : "+r"(r) : "r"(b));
    out[threadIdx.x] = r + __vabsdiffu4(a, b);
}
#endif
