// Local alignment of four sequence pairs at once, one in each byte lane, in the
// manner of the protein search programs of the Kepler time.
typedef unsigned int u32;
#define LENGTH 24

__constant__ signed char blosum[32][32];
__constant__ u32 gap_penalty[2] = {0x0b0b0b0b, 0x01010101};
__device__ u32 best_of_all;

__device__ __forceinline__ u32 sub_sat(u32 a, u32 b) {
    u32 r;
    asm("vsub4.u32.u32.u32.sat %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(0));
    return r;
}
__device__ __forceinline__ u32 add_sat(u32 a, u32 b) {
    u32 r;
    asm("vadd4.u32.u32.s32.sat %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(0));
    return r;
}
__device__ __forceinline__ u32 max4(u32 a, u32 b) {
    u32 r;
    asm("vmax4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(0));
    return r;
}

__global__ void align(const uchar4 *query, const uchar4 *db, const int *length, u32 *score) {
    u32 h[LENGTH], e[LENGTH];
    int lane = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
    for (int j = 0; j < LENGTH; j++) h[j] = e[j] = 0;
    u32 best = 0;
    for (int i = 0; i < length[lane]; i++) {
        uchar4 q = query[i * gridDim.x * blockDim.x + lane];
        u32 diagonal = 0, f = 0, up = 0;
#pragma unroll
        for (int j = 0; j < LENGTH; j++) {
            uchar4 d = db[j];
            u32 s = (u32)(unsigned char)blosum[q.x][d.x] | (u32)(unsigned char)blosum[q.y][d.y] << 8 |
                    (u32)(unsigned char)blosum[q.z][d.z] << 16 | (u32)(unsigned char)blosum[q.w][d.w] << 24;
            f = max4(sub_sat(up, gap_penalty[0]), sub_sat(f, gap_penalty[1]));
            e[j] = max4(sub_sat(h[j], gap_penalty[0]), sub_sat(e[j], gap_penalty[1]));
            u32 here = max4(max4(add_sat(diagonal, s), e[j]), f);
            diagonal = h[j];
            h[j] = up = here;
            best = max4(best, here);
        }
    }
    score[lane] = best;
    atomicMax(&best_of_all, max(max(best & 255, best >> 8 & 255), max(best >> 16 & 255, best >> 24)));
}
