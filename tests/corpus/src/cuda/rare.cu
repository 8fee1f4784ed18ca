// Instructions and notations that compilers seldom write, in inline assembly.
typedef unsigned int u32;
typedef unsigned long long u64;

extern "C" __global__ void bits(const u32 *in, u32 *out, u64 wide) {
    u32 a = in[threadIdx.x], b = in[threadIdx.x + 32], s = 0, r;
    asm("szext.wrap.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); s ^= r;
    asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); s ^= r;
    asm("fns.b32 %0, %1, 0, 3;" : "=r"(r) : "r"(a)); s ^= r;
    asm("cnot.b32 %0, %1;" : "=r"(r) : "r"(b)); s += r;
    asm("dp2a.lo.u32.s32 %0, %1, %2, %0;" : "+r"(s) : "r"(a), "r"(b));
    asm("dp4a.u32.u32 %0, %1, 0x01010101U, %0;" : "+r"(s) : "r"(a));
    asm("mul24.hi.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); s += r;
    asm("sub.cc.u32 %0, %1, %2; subc.u32 %0, %0, 0;" : "=r"(r) : "r"(a), "r"(b)); s += r;
    asm("lop3.b32 %0, %1, %2, %3, (0xF0 & 0xCC) ^ 0xAA;" : "=r"(r) : "r"(a), "r"(b), "r"(s)); s += r;
    asm("shf.r.clamp.b32 %0, %1, %2, 1 + 2 * 3;" : "=r"(r) : "r"(a), "r"(b)); s += r;
    asm("mov.b32 %0, {%1, %2};" : "=r"(r) : "h"((unsigned short)a), "h"((unsigned short)b)); s += r;
    asm("{ .reg .b32 lo, hi; mov.b64 {lo, hi}, %1; xor.b32 %0, lo, hi; }" : "=r"(r) : "l"(wide)); s += r;
    asm("mov.b32 %0, 0b1011; xor.b32 %0, %0, 017;" : "=r"(r)); s += r;
    asm("set.le.u32.s32 %0, %1, -5;" : "=r"(r) : "r"(a)); s += r;
    out[threadIdx.x] = s;
}

extern "C" __global__ void predicates(const float *in, float *out, const void *p) {
    float v = in[threadIdx.x], r;
    asm("{\n\t.reg .pred p, q, t;\n\ttestp.notanumber.f32 p, %1;\n\tsetp.lt.or.f32 q|t, %1, 0f3F800000, p;\n\t"
        "@!q add.f32 %0, %1, 1.5;\n\t@q mov.f32 %0, 0f7f800000;\n\t@t mul.f32 %0, %0, 2.5E-1;\n\t}"
        : "=f"(r) : "f"(v));
    asm("{ .reg .pred s; isspacep.shared s, %1; @s copysign.f32 %0, %0, %0; }" : "+f"(r) : "l"(p));
    asm("{\n\t.reg .v2 .f32 V;\n\tmov.v2.f32 V, {%0, 0f40000000};\n\tadd.f32 %0, V.x, V.y;\n\t}" : "+f"(r));
    asm("{ .reg .f32 t<4>; mov.f32 t0, %0; ex2.approx.ftz.f32 t3, t0; tanh.approx.f32 %0, t3; }" : "+f"(r));
#if __CUDA_ARCH__ >= 800
    u32 pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %1;" : "=r"(pair) : "f"(v));
    r += pair;
#endif
    if (r == 3.0f) asm volatile("exit;");
    asm volatile("nanosleep.u32 100;\n\tpmevent 7;");
    out[threadIdx.x] = r;
}

extern "C" __global__ void notation(int *out) {
    int r;
    asm volatile("{\n\t.reg .b32 x;\n\tmov.u32 x, %%laneid;\n\tmov.b32 %0, x;\n\t// a comment, with } and ;\n\t"
                 "/* and a long one,\n\tover two lines */\n\t}" : "=r"(r));
    asm volatile("{\n\t.shared .align 4 .b8 area[16];\n\t.reg .u32 a;\n\tmov.u32 a, area;\n\tst.shared.u8 [a+3], %0;\n\tred.shared.add.u32 [area+4], 1;\n\t}" :: "r"(r));
#pragma unroll 1
    for (int i = 0; i < r; i++) asm volatile("bar.sync 1, 64;\n\tbarrier.sync 2;\n\tbar.arrive 3, 64;" ::: "memory");
    *out = r;
}
