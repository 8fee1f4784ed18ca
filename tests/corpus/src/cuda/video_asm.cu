// The video instructions by hand, as old libraries use them.
typedef unsigned int u32;

#define OP3(text, d, a, b, c) asm(text " %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c))

// One reduction step of a byte vector, lane by lane: each result is merged into
// the one before.
__device__ __forceinline__ u32 add_by_lane(u32 a, u32 b) {
    u32 r = 0;
    asm("vadd.u32.u32.u32 %0.b0, %1.b0, %2.b0, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(r));
    asm("vadd.u32.u32.u32 %0.b1, %1.b1, %2.b1, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(r));
    asm("vadd.u32.u32.u32 %0.b2, %1.b2, %2.b2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(r));
    asm("vadd.u32.u32.u32 %0.b3, %1.b3, %2.b3, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(r));
    return r;
}

__device__ __forceinline__ u32 max_by_mask(u32 a, u32 b) {
    u32 r = a;
    asm("vmax4.u32.u32.u32 %0.b10, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(r));
    asm("vmax4.u32.u32.u32 %0.b32, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(r));
    return r;
}

extern "C" __global__ void reduce_bytes(const uint4 *in, u32 *out, int op) {
    uint4 v = in[blockIdx.x * blockDim.x + threadIdx.x];
    u32 r;
    if (op == 0) r = add_by_lane(add_by_lane(v.x, v.y), add_by_lane(v.z, v.w));
    else if (op == 1) r = max_by_mask(max_by_mask(v.x, v.y), max_by_mask(v.z, v.w));
    else {
        u32 lo, hi;
        OP3("vmin2.s32.s32.s32", lo, v.x, v.y, 0);
        OP3("vmin2.s32.s32.s32", hi, v.z, v.w, 0);
        OP3("vavrg4.u32.u32.u32", r, lo, hi, 0);
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = r;
}

extern "C" __global__ void scalar_forms(const u32 *in, u32 *out) {
    u32 a = in[threadIdx.x], b = in[threadIdx.x + 32], c = in[threadIdx.x + 64], s = 0, r;
    OP3("vadd.s32.u32.u32.sat.add", r, a, b, c); s ^= r;
    OP3("vsub.u32.s32.u32.sat", r, a, b, c); s ^= r;
    asm("vsub.s32.u32.u32 %0, %1.b2, %2.h1;" : "=r"(r) : "r"(a), "r"(b)); s += r;
    asm("vabsdiff.u32.u32.u32.add %0, %1.h0, %2.b3, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); s += r;
    asm("vmin.s32.s32.s32.max %0, %1.b0, %2.b1, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); s += r;
    asm("vmax.u32.u32.u32.sat %0.h1, %1, %2.h0, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); s += r;
    asm("vmad.s32.s32.u32 %0, %1.b0, %2.h1, -%3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); s += r;
    asm("vmad.u32.u32.u32.sat.shr7 %0, %1.h0, %2.h0, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); s += r;
    asm("vmad.s32.s32.s32.po.shr15 %0, %1, %2.b3, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); s += r;
    asm("vset.u32.s32.lt %0.b1, %1.h1, %2.b2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); s += r;
    asm("vset.u32.u32.ge.add %0, %1.b1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); s += r;
    // a shift of a whole word and an addition at once: an address, in effect
    asm("vshl.u32.u32.u32.clamp.add %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(3), "r"(c)); s += r;
    asm("vshr.s32.s32.u32.wrap %0, %1.h1, %2.b0;" : "=r"(r) : "r"(a), "r"(b)); s += r;
    asm("vshr.u32.u32.u32.clamp.sat.min %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); s += r;
    asm("vadd.u32.u32.u32 %0, %1.b3, 5;" : "=r"(r) : "r"(a)); s += r;
    out[threadIdx.x] = s;
}

extern "C" __global__ void packed_forms(const u32 *in, u32 *out) {
    u32 a = in[threadIdx.x], b = in[threadIdx.x + 32], c = in[threadIdx.x + 64], s = 0, r;
    asm("vadd4.s32.s32.u32.sat %0.b321, %1.b7531, %2.b0246, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); s ^= r;
    asm("vsub4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); s += r;
    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2.b4444, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); s += r;
    asm("vabsdiff2.s32.s32.s32 %0.h1, %1.h01, %2.h32, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); s ^= r;
    asm("vset4.u32.u32.gt %0.b20, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); s += r;
    asm("vset2.s32.s32.ne.add %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); s += r;
    asm("vavrg2.s32.u32.s32 %0, %1.h13, %2.h20, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); s ^= r;
    asm("vmin4.u32.u32.u32 %0.b3, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); s ^= r;
    asm("{\n\t.reg .pred p;\n\t.reg .b32 t;\n\tmov.b32 t, %3;\n\tsetp.ne.u32 p, %1, 0;\n\t"
        "@p vadd2.u32.u32.u32.sat t, %1, %2, %3;\n\tmov.b32 %0, t;\n\t}"
        : "=r"(r) : "r"(a), "r"(b), "r"(c)); s += r;
    out[threadIdx.x] = s;
}
