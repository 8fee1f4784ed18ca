// Every packed integer intrinsic of CUDA, in three kernels.
typedef unsigned int u32;
#define TWO(f) acc = acc * 33 + f(a, b);
#define ONE(f) acc = acc * 33 + f(a);

extern "C" __global__ void bytes_unsigned(const u32 *in, u32 *out) {
    int i = threadIdx.x;
    u32 a = in[i], b = in[i + 32], acc = 0;
    TWO(__vadd4) TWO(__vsub4) TWO(__vaddus4) TWO(__vsubus4) TWO(__vavgu4) TWO(__vhaddu4) TWO(__vabsdiffu4)
    TWO(__vsadu4) TWO(__vminu4) TWO(__vmaxu4) TWO(__vcmpeq4) TWO(__vcmpne4) TWO(__vcmpgtu4) TWO(__vcmpgeu4)
    TWO(__vcmpltu4) TWO(__vcmpleu4) TWO(__vseteq4) TWO(__vsetne4) TWO(__vsetgtu4) TWO(__vsetgeu4)
    TWO(__vsetltu4) TWO(__vsetleu4)
    out[i] = acc;
}

extern "C" __global__ void bytes_signed(const u32 *in, u32 *out) {
    int i = threadIdx.x;
    u32 a = in[i], b = in[i + 32], acc = 0;
    TWO(__vaddss4) TWO(__vsubss4) TWO(__vavgs4) TWO(__vabsdiffs4) TWO(__vsads4) TWO(__vmins4) TWO(__vmaxs4)
    TWO(__vcmpgts4) TWO(__vcmpges4) TWO(__vcmplts4) TWO(__vcmples4) TWO(__vsetgts4) TWO(__vsetges4)
    ONE(__vabs4) ONE(__vabsss4) ONE(__vneg4) ONE(__vnegss4)
    out[i] = acc;
}

extern "C" __global__ void halfwords(const u32 *in, u32 *out) {
    int i = threadIdx.x;
    u32 a = in[i], b = in[i + 32], acc = 0;
    TWO(__vadd2) TWO(__vsub2) TWO(__vaddus2) TWO(__vaddss2) TWO(__vsubus2) TWO(__vsubss2) TWO(__vavgu2)
    TWO(__vavgs2) TWO(__vhaddu2) TWO(__vabsdiffu2) TWO(__vabsdiffs2) TWO(__vsadu2) TWO(__vsads2)
    TWO(__vminu2) TWO(__vmaxu2) TWO(__vmins2) TWO(__vmaxs2) TWO(__vcmpeq2) TWO(__vcmpgtu2) TWO(__vcmpgts2)
    TWO(__vsetltu2) TWO(__vsetles2) ONE(__vabs2) ONE(__vabsss2) ONE(__vneg2) ONE(__vnegss2)
    out[i] = acc;
}
