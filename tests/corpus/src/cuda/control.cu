// Control flow and calls: switches, loops with exits, recursion, function
// pointers, structures by value.
struct Pixel { unsigned char r, g, b, a; };
struct Params { const int *in; int *out; int n; float k[3]; Pixel tint; double scale; };
struct Big { int v[12]; };
typedef int (*Operation)(int, int);

__device__ __noinline__ int op_add(int a, int b) { return a + b; }
__device__ __noinline__ int op_mul(int a, int b) { return a * b; }
__device__ __noinline__ int op_rot(int a, int b) { return (unsigned)a << (b & 31) | (unsigned)a >> (-b & 31); }
__device__ Operation table[3] = {op_add, op_mul, op_rot};

extern "C" __global__ void interpret(const unsigned char *code, int *out, int n) {
    int acc = threadIdx.x, x = 1;
    for (int pc = 0; pc < n; pc++) {
        switch (code[pc]) {
        case 0: acc += x; break;
        case 1: acc -= x; break;
        case 2: acc *= x; break;
        case 3: acc ^= x << 3; break;
        case 4: x = acc & 31; break;
        case 5: acc = __popc(acc); break;
        case 6: acc = __clz(acc) + __brev(x); break;
        case 7: if (acc < 0) goto done; break;
        case 8: acc = acc / (x | 1); break;
        case 9: acc = acc % (x | 1); break;
        case 10: x = out[acc & 15]; break;
        case 11: __syncthreads(); break;
        default: pc += x; continue;
        }
        out[threadIdx.x + 16] = acc;
    }
done:
    out[threadIdx.x] = acc;
}

__device__ __noinline__ unsigned ackermann(unsigned m, unsigned n) {
    if (m == 0) return n + 1;
    return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

__device__ __noinline__ Big fill(Big b, Pixel p) {
    for (int i = 0; i < 12; i++) b.v[i] += p.r * i + p.a;
    return b;
}

extern "C" __global__ void calls(int *out, int which, Params p) {
    int i = threadIdx.x;
    Big b;
    for (int k = 0; k < 12; k++) b.v[k] = k;
    b = fill(b, p.tint);
    out[i] = table[which](i, b.v[i % 12]) + ackermann(2, i & 3);
    if (i < p.n) p.out[i] = (int)(p.in[i] * p.k[i % 3] * p.scale);
}

extern "C" __global__ void collatz(const unsigned long long *in, int *steps, int limit) {
    unsigned long long v = in[threadIdx.x];
    int s = 0;
#pragma unroll 1
    while (v != 1 && s < limit) {
        v = v & 1 ? 3 * v + 1 : v >> 1;
        s++;
        if (v == 0) { asm volatile("trap;"); }
    }
    steps[threadIdx.x] = s;
}

extern "C" __global__ void local_array(const int *in, int *out, int n) {
    int stack[64], top = 0;
    for (int i = 0; i < n; i++) {
        if (in[i] >= 0) stack[top++ & 63] = in[i];
        else if (top > 1) { top--; stack[(top - 1) & 63] -= stack[top & 63]; }
    }
    out[threadIdx.x] = stack[(top + threadIdx.x) & 63];
}

// NVIDIA's compilers turn a switch into comparisons, so a jump table by hand.
extern "C" __global__ void jump_table(const unsigned *in, unsigned *out) {
    unsigned v = in[threadIdx.x], r = 0;
    asm volatile("{\n\tts: .branchtargets L0, L1, L2;\n\t.reg .pred p;\n\tsetp.lt.u32 p, %1, 3;\n\t"
                 "@!p bra DONE;\n\tbrx.idx %1, ts;\n"
                 "L0: mov.u32 %0, 17;\n\tbra.uni DONE;\nL1:\n\tadd.u32 %0, %1, 5;\n\tbra.uni DONE;\n"
                 "L2:\n\tmul.lo.u32 %0, %1, %1;\nDONE:\n\t}"
                 : "+r"(r) : "r"(v));
    out[threadIdx.x] = r;
}
