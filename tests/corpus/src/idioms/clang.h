// What NVIDIA's run-time compiler has built in and clang has not without NVIDIA's headers, as far as the idioms use it.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __forceinline__ __attribute__((always_inline)) inline
#define threadIdx (Place{unsigned(__nvvm_read_ptx_sreg_tid_x())})
#define blockIdx (Place{unsigned(__nvvm_read_ptx_sreg_ctaid_x())})
#define blockDim (Place{unsigned(__nvvm_read_ptx_sreg_ntid_x())})
struct Place { unsigned x; };
#define VECTORS(name, type)                                                                                            \
    struct __attribute__((aligned(2 * sizeof(type)))) name##2 { type x, y; };                                          \
    struct __attribute__((aligned(4 * sizeof(type)))) name##4 { type x, y, z, w; };
VECTORS(char, signed char)
VECTORS(uchar, unsigned char)
VECTORS(short, short)
VECTORS(ushort, unsigned short)
VECTORS(int, int)
VECTORS(uint, unsigned int)
VECTORS(float, float)
static __device__ __forceinline__ int min(int a, int b) { return a < b ? a : b; }
static __device__ __forceinline__ int max(int a, int b) { return a > b ? a : b; }
static __device__ __forceinline__ unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
static __device__ __forceinline__ unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
static __device__ __forceinline__ int abs(int a) { return a < 0 ? -a : a; }
static __device__ __forceinline__ int __dp4a(int a, int b, int c) {
    asm("dp4a.s32.s32 %0, %1, %2, %0;" : "+r"(c) : "r"(a), "r"(b));
    return c;
}
static __device__ __forceinline__ unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
    asm("dp4a.u32.u32 %0, %1, %2, %0;" : "+r"(c) : "r"(a), "r"(b));
    return c;
}
