// Texture and surface references, the way before there were objects.
texture<float4, 2> picture;
texture<unsigned char, 1, cudaReadModeNormalizedFloat> row;
texture<unsigned int, 1> words;
surface<void, 2> screen;

extern "C" __global__ void draw(float4 *out, int w) {
    int x = threadIdx.x, y = blockIdx.x;
    float4 p = tex2D(picture, x + 0.5f, y + 0.5f);
    p.x += tex1D(row, x * 0.25f);
    p.y += __vabsdiffu4(tex1Dfetch(words, x), tex1Dfetch(words, x + 1)) & 255;
    out[y * w + x] = p;
    surf2Dwrite(make_uchar4(p.x, p.y, p.z, p.w), screen, x * 4, y, cudaBoundaryModeTrap);
}
