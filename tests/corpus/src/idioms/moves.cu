// Bytes and halves moved between words.
#include "lanes.h"

KERNEL swap_bytes__shifts(u32 *d, const u32 *a) {
    u32 x = a[me()];
    d[me()] = x >> 24 | (x >> 8 & 0xff00) | (x << 8 & 0xff0000) | x << 24;
}
KERNEL swap_bytes__fields(uchar4 *d, const uchar4 *a) {
    uchar4 x = a[me()], r;
    r.x = x.w, r.y = x.z, r.z = x.y, r.w = x.x;
    d[me()] = r;
}
KERNEL swap_bytes__array(u32 *d, const u32 *a) {
    union { u32 word; u8 lane[4]; } x, r;
    x.word = a[me()];
    for (int k = 0; k < 4; k++) r.lane[k] = x.lane[3 - k];
    d[me()] = r.word;
}
KERNEL swap_bytes_in_halves__masks(u32 *d, const u32 *a) {
    u32 x = a[me()];
    d[me()] = (x & 0x00ff00ff) << 8 | (x >> 8 & 0x00ff00ff);
}
KERNEL swap_bytes_in_halves__fields(uchar4 *d, const uchar4 *a) {
    uchar4 x = a[me()], r;
    r.x = x.y, r.y = x.x, r.z = x.w, r.w = x.z;
    d[me()] = r;
}
KERNEL swap_halves__fields(ushort2 *d, const ushort2 *a) {
    ushort2 x = a[me()], r;
    r.x = x.y, r.y = x.x;
    d[me()] = r;
}
KERNEL swap_red_and_blue__fields(uchar4 *d, const uchar4 *a) {
    uchar4 x = a[me()], r = x;
    r.x = x.z, r.z = x.x;
    d[me()] = r;
}
KERNEL swap_red_and_blue__shifts(u32 *d, const u32 *a) {
    u32 x = a[me()];
    d[me()] = (x & 0xff00ff00) | (x >> 16 & 255) | (x & 255) << 16;
}
KERNEL swap_bytes_of_long__shifts(u64 *d, const u64 *a) {
    u64 x = a[me()], r = 0;
    for (int k = 0; k < 64; k += 8) r |= (x >> k & 255) << (56 - k);
    d[me()] = r;
}
KERNEL broadcast__shifts(u32 *d, const u32 *a) {
    u32 x = a[me()] & 255;
    d[me()] = x | x << 8 | x << 16 | x << 24;
}
KERNEL broadcast__product(u32 *d, const u32 *a) { d[me()] = (a[me()] & 255) * 0x01010101u; }
KERNEL broadcast__fields(uchar4 *d, const uchar4 *a) {
    uchar4 x = a[me()], r;
    r.x = r.y = r.z = r.w = x.z;
    d[me()] = r;
}
KERNEL interleave_low__fields(uchar4 *d, const uchar4 *a, const uchar4 *b) {
    uchar4 x = a[me()], y = b[me()], r;
    r.x = x.x, r.y = y.x, r.z = x.y, r.w = y.y;
    d[me()] = r;
}
KERNEL interleave_low__shifts(u32 *d, const u32 *a, const u32 *b) {
    u32 x = a[me()], y = b[me()];
    d[me()] = (x & 255) | (y & 255) << 8 | (x >> 8 & 255) << 16 | (y >> 8 & 255) << 24;
}
KERNEL interleave_both__array(uint2 *d, const u32 *a, const u32 *b) {
    union { u32 word; u8 lane[4]; } x, y;
    union { uint2 words; u8 lane[8]; } r;
    x.word = a[me()], y.word = b[me()];
    for (int k = 0; k < 4; k++) r.lane[2 * k] = x.lane[k], r.lane[2 * k + 1] = y.lane[k];
    d[me()] = r.words;
}
KERNEL interleave_halves__fields(ushort2 *d, const ushort2 *a, const ushort2 *b) {
    ushort2 x = a[me()], y = b[me()], r;
    r.x = x.y, r.y = y.y;
    d[me()] = r;
}
KERNEL planes_of_four__array(uint4 *d, const uint4 *a) {
    union { uint4 words; u8 lane[16]; } x, r;
    x.words = a[me()];
    for (int k = 0; k < 16; k++) r.lane[k % 4 * 4 + k / 4] = x.lane[k];
    d[me()] = r.words;
}
KERNEL even_bytes__array(u32 *d, const uint2 *a) {
    union { uint2 words; u8 lane[8]; } x;
    union { u32 word; u8 lane[4]; } r;
    x.words = a[me()];
    for (int k = 0; k < 4; k++) r.lane[k] = x.lane[2 * k];
    d[me()] = r.word;
}
KERNEL narrow_halves__fields(uchar4 *d, const ushort4 *a) {
    ushort4 x = a[me()];
    uchar4 r;
    r.x = x.x, r.y = x.y, r.z = x.z, r.w = x.w;
    d[me()] = r;
}
KERNEL upper_of_halves__shifts(u32 *d, const uint2 *a) {
    uint2 x = a[me()];
    d[me()] = (x.x >> 8 & 255) | (x.x >> 24) << 8 | (x.y >> 8 & 255) << 16 | (x.y >> 24) << 24;
}
KERNEL unaligned_word__shifts(u32 *d, const uint2 *a) {
    uint2 x = a[me()];
    d[me()] = x.x >> 8 | x.y << 24;
}
KERNEL widen_bytes__fields(ushort4 *d, const uchar4 *a) {
    uchar4 x = a[me()];
    ushort4 r;
    r.x = x.x, r.y = x.y, r.z = x.z, r.w = x.w;
    d[me()] = r;
}
KERNEL widen_signed_bytes__fields(short4 *d, const char4 *a) {
    char4 x = a[me()];
    short4 r;
    r.x = x.x, r.y = x.y, r.z = x.z, r.w = x.w;
    d[me()] = r;
}
KERNEL spread_signs__product(u32 *d, const u32 *a) {
    u32 x = a[me()];
    d[me()] = (x >> 7 & 0x01010101u) * 255u;
}
KERNEL spread_signs__shifts(u32 *d, const u32 *a) {
    u32 x = a[me()] & 0x80808080u;
    d[me()] = (x << 1) - (x >> 7);
}
