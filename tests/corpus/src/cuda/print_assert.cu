// printf and assert, which call functions of the driver's own.
#ifndef NVRTC_HAS_ASSERT
#define assert(e) ((e) ? (void)0 : __assertfail(#e, "print_assert.cu", __LINE__, __func__, 1))
extern "C" __device__ void __assertfail(const char *, const char *, unsigned, const char *, size_t);
#endif
__device__ const char *const names[] = {"zero", "one\n", "\"two\"\t", "three\\"};

extern "C" __global__ void report(const float *v, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(i < n);
    printf("%d of %d: %f %s\n", i, n, v[i], names[i & 3]);
    if (v[i] != v[i]) printf("not a number; {braces} // and /* comments */ in a string\n");
}

extern "C" __global__ void heap(void **p, int n) {
    char *q = (char *)malloc(n);
    for (int i = 0; i < n; i++) q[i] = i;
    if (threadIdx.x) free(q);
    else *p = q;
}
