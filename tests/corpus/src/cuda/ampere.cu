// Inline assembly of the newer machines: asynchronous copies, barriers in
// memory, matrix fragments, warp reductions.
typedef unsigned int u32;
__device__ __forceinline__ u32 smem(const void *p) { return (u32)__cvta_generic_to_shared(p); }

extern "C" __global__ void async_copy(const int4 *in, int4 *out, int n) {
    __shared__ __align__(16) int4 buffer[2][128];
    for (int i = 0; i < n; i++) {
        asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;"
                     :: "r"(smem(&buffer[i & 1][threadIdx.x])), "l"(in + i * 128 + threadIdx.x) : "memory");
        asm volatile("cp.async.commit_group;" ::: "memory");
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        out[i * 128 + threadIdx.x] = buffer[~i & 1][127 - threadIdx.x];
    }
}

extern "C" __global__ void memory_barrier(int *out) {
    __shared__ __align__(8) unsigned long long bar;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(smem(&bar)), "r"(blockDim.x));
    __syncthreads();
    unsigned long long token;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(smem(&bar)) : "memory");
    u32 done;
    do {
        asm volatile("{\n\t.reg .pred P1;\n\tmbarrier.test_wait.shared.b64 P1, [%1], %2;\n\tselp.u32 %0, 1, 0, P1;\n\t}"
                     : "=r"(done) : "r"(smem(&bar)), "l"(token) : "memory");
    } while (!done);
    out[threadIdx.x] = __reduce_add_sync(0xffffffffu, threadIdx.x) + __match_any_sync(0xffffffffu, threadIdx.x & 3);
}

extern "C" __global__ void mma_s8(const u32 *a, const u32 *b, int *c) {
    __shared__ __align__(16) u32 tile[256];
    tile[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    u32 r0, r1, r2, r3;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(smem(&tile[threadIdx.x * 4 & 255])));
    int d0 = 0, d1 = 0, d2 = 0, d3 = 0;
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+r"(d0), "+r"(d1), "+r"(d2), "+r"(d3) : "r"(r0), "r"(r1), "r"(r2), "r"(r3), "r"(b[threadIdx.x]), "r"(b[threadIdx.x + 32]));
    float f0 = 0, f1 = 0;
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%0,%1}, {%2,%3,%4,%5}, {%2,%3}, {%0,%1,%0,%1};"
        : "+f"(f0), "+f"(f1) : "r"(r0), "r"(r1), "r"(r2), "r"(r3));
    c[threadIdx.x] = d0 + d1 + d2 + d3 + (int)(f0 + f1);
}

extern "C" __global__ void hinted(const float4 *in, float4 *out, unsigned *flag) {
    float4 v;
    asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%0,%1,%2,%3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(in + threadIdx.x));
    out[threadIdx.x] = v;
    unsigned seen;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
    asm volatile("red.release.gpu.global.add.u32 [%0], %1;" :: "l"(flag), "r"(seen) : "memory");
    asm volatile("st.global.cs.u32 [%0+4], %1;" :: "l"(flag), "r"(seen));
    asm volatile("prefetch.global.L2 [%0];" :: "l"(in));
}
