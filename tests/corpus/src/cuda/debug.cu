// Compiled twice, with -lineinfo and with -G: inlining, scopes, locals.
struct Point { float x, y; };
enum Mode { Add, Max };

__device__ inline float mix(float a, float b, Mode m) {
    if (m == Add) return a + b;
    return a > b ? a : b;
}
static __device__ Point step(Point p, int i, Mode m) {
    Point q;
    q.x = mix(p.x, i * 0.5f, m);
    q.y = mix(p.y, q.x, Max);
    return q;
}

__shared__ unsigned char scratch[64];
__device__ Point origin = {1.0f, -1.0f};

__global__ void walk(Point *out, const unsigned char *seed, int n, Mode m) {
    Point p = origin;
    scratch[threadIdx.x & 63] = seed[threadIdx.x];
    __syncthreads();
    for (int i = 0; i < n; i++) {
        unsigned v = scratch[i & 63];
        if (v > 200) continue;
        p = step(p, (int)__vabsdiffu4(v, i), m);
    }
    out[threadIdx.x] = p;
}
