// Texture and surface objects.
extern "C" __global__ void sample(cudaTextureObject_t tex, float4 *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float u = (x + 0.5f) / w, v = (y + 0.5f) / h;
    float4 a = tex2D<float4>(tex, u, v), b = tex2DLod<float4>(tex, u, v, 1.0f);
    float4 g = tex2Dgather<float4>(tex, u, v, 2), c = tex2DGrad<float4>(tex, u, v, make_float2(.1f, 0), make_float2(0, .1f));
    out[y * w + x] = make_float4(a.x + b.x, a.y + g.y, a.z + c.z, a.w);
}

extern "C" __global__ void fetch(cudaTextureObject_t one, cudaTextureObject_t three, uchar4 *out, int n) {
    int i = threadIdx.x;
    uchar4 a = tex1Dfetch<uchar4>(one, i);
    unsigned b = tex3D<unsigned>(three, i, i + 1, i + 2);
    int2 c = tex2DLayered<int2>(three, i, 1, 2);
    out[i] = make_uchar4(a.x + b, a.y + c.x, a.z, a.w - c.y);
}

extern "C" __global__ void copy_surface(cudaSurfaceObject_t in, cudaSurfaceObject_t out, int w) {
    int x = threadIdx.x, y = blockIdx.x;
    if (x >= w) return;
    uchar4 p;
    surf2Dread(&p, in, x * 4, y, cudaBoundaryModeClamp);
    surf2Dwrite(make_uchar4(p.z, p.y, p.x, 255), out, x * 4, y, cudaBoundaryModeZero);
    unsigned short v = surf1Dread<unsigned short>(in, x * 2);
    surf3Dwrite((short)v, out, x * 2, y, 0);
}
