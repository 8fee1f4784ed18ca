/* Byte loops in OpenMP target regions. */
#pragma omp declare target
static unsigned char clamp(int v) { return v < 0 ? 0 : v > 255 ? 255 : v; }
struct box { short x, y; unsigned char tag[6]; };
__attribute__((noinline)) void grow(struct box *to, struct box b, int by) {
    b.x -= by; b.y += by; b.tag[by & 3] ^= by;
    *to = b;
}
int histogram[256];
const char *label = "histogram of \"bytes\"\n";
#pragma omp end declare target

int main(int argc, char **argv) {
    enum { N = 4096 };
    unsigned char a[N], b[N], d[N];
    int sum = 0;
    struct box start = {1, 2, {3}};
    for (int i = 0; i < N; i++) a[i] = i * argc, b[i] = i >> 3;
#pragma omp target teams distribute parallel for map(to : a, b) map(from : d) reduction(+ : sum)
    for (int i = 0; i < N; i++) {
        int v = a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
        d[i] = clamp(v * 3 - 20);
        sum += d[i];
    }
#pragma omp target map(tofrom : d)
    for (int i = 1; i < N - 1; i++) {
#pragma omp atomic
        histogram[d[i]]++;
        struct box grown;
        grow(&grown, start, d[i - 1]);
        d[i] = grown.tag[i & 3] + label[i & 7];
    }
#pragma omp target teams distribute parallel for simd map(tofrom : d)
    for (int i = 0; i < N; i++) d[i] = (a[i] + b[i] + 1) >> 1;
    return sum + d[7];
}
