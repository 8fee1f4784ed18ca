// Matrix fragments through NVIDIA's own header.
#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void multiply(const half *a, const half *b, float *c, const signed char *p, int *q) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> y;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> z;
    wmma::fill_fragment(z, 0.0f);
    for (int k = 0; k < 4; k++) {
        wmma::load_matrix_sync(x, a + 16 * k, 64);
        wmma::load_matrix_sync(y, b + 16 * k, 64);
        wmma::mma_sync(z, x, y, z);
    }
    wmma::store_matrix_sync(c, z, 16, wmma::mem_row_major);
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> u;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> v;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> w;
    wmma::fill_fragment(w, 1);
    wmma::load_matrix_sync(u, p, 16);
    wmma::load_matrix_sync(v, p + 256, 16);
    wmma::mma_sync(w, u, v, w);
    wmma::store_matrix_sync(q, w, 16, wmma::mem_col_major);
}
