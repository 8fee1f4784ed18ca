// OpenCL kernels: packed bytes, local memory, vectors.
typedef struct { uchar4 tint; float gain; int size[2]; } settings;
__constant int weights[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};

int where(void) { return __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x(); }

__kernel void smooth(__global const uchar *src, __global uchar *dst, int w, int h) {
    int x = where() % w, y = where() / w, sum = 0;
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
    for (int k = 0; k < 9; k++) sum += weights[k] * src[(y + k / 3 - 1) * w + x + k % 3 - 1];
    dst[y * w + x] = (sum + 8) >> 4;
}

__kernel void tint(__global uchar4 *p, settings s, __local uint *shared) {
    int i = where();
    uchar4 v = p[i];
    uchar4 m = v > s.tint ? v - s.tint : s.tint - v;
    shared[i & 31] = m.x | m.y << 8;
    __nvvm_bar_sync(0);
    float4 f = (float4)((float)m.x, (float)m.y, (float)m.z, (float)m.w) * s.gain;
    p[i] = (uchar4)((uchar)f.x, (uchar)f.y, (uchar)shared[i + 1 & 31], m.w);
}

__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void shifts(__global long *a, __global ushort8 *b, __global double2 *c) {
    int i = where();
    a[i] = a[i] >> (b[i].s3 & 63) ^ (long)c[i].y;
    b[i] = (b[i] << (ushort8)3) + b[i].s76543210;
    c[i] = c[i] * c[i].yx - 1.0;
}
