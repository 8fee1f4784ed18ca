/* Scalar code: recursion, function pointers, bit fields, 128 bits. */
#pragma omp declare target
struct flags { unsigned a : 3, b : 7, c : 22; signed d : 5; };
typedef int (*compare)(const void *, const void *);
static int by_value(const void *x, const void *y) { return *(const signed char *)x - *(const signed char *)y; }
static int by_low_bits(const void *x, const void *y) { return (*(const char *)x & 7) - (*(const char *)y & 7); }
compare orders[2] = {by_value, by_low_bits};

static void sort(signed char *p, int n, compare c) {
    if (n < 2) return;
    int last = 0;
    for (int i = 1; i < n; i++)
        if (c(p + i, p) < 0) { signed char t = p[++last]; p[last] = p[i]; p[i] = t; }
    signed char t = p[0]; p[0] = p[last]; p[last] = t;
    sort(p, last, c);
    sort(p + last + 1, n - last - 1, c);
}

unsigned crc(const unsigned char *p, long n) {
    unsigned r = ~0u;
    while (n--) {
        r ^= *p++;
        for (int k = 0; k < 8; k++) r = r >> 1 ^ (r & 1 ? 0xedb88320u : 0);
    }
    return __builtin_bswap32(~r) + __builtin_popcount(r) + __builtin_clz(r | 1);
}

unsigned long long mix(unsigned long long a, unsigned long long b) {
    unsigned __int128 m = (unsigned __int128)a * b;
    return (unsigned long long)(m >> 64) ^ (unsigned long long)m;
}
_Complex double turn(_Complex double z) { return z * 1.0iF + 2; }
#pragma omp end declare target

int main(void) {
    signed char text[64];
    struct flags f = {1, 2, 3, -4};
    unsigned r = 0;
    for (int i = 0; i < 64; i++) text[i] = i * 37;
#pragma omp target map(tofrom : text, f, r)
    {
        char local[f.b + 8];
        sort(text, 64, orders[f.a & 1]);
        for (int i = 0; i < f.b + 8; i++) local[i] = text[i & 63];
        r = crc((unsigned char *)local, f.b) + f.c * f.d + mix(r, f.c) + (int)__real__ turn(r);
        f.c += f.d;
    }
    return r & 127;
}
