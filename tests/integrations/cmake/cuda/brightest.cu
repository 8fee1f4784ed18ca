// The brighter of two images, four bytes at a time.
extern "C" __global__ void brightest(const uchar4 *a, const uchar4 *b, uchar4 *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    uchar4 x = a[i], y = b[i];
    out[i] = make_uchar4(max(x.x, y.x), max(x.y, y.y), max(x.z, y.z), max(x.w, y.w));
}
