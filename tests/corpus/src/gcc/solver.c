/* Floating point loops with OpenACC. */
#include <math.h>
#define N 128
double u[N][N], v[N][N];

#pragma acc routine seq
float curve(float x, int kind) {
    switch (kind) {
    case 0: return x * x;
    case 1: return sqrtf(x);
    case 2: return fabsf(x) + 1;
    case 3: return x < 0 ? -x : 2 * x;
    case 4: return floorf(x);
    default: return 1 / x;
    }
}

int main(int argc, char **argv) {
    double change = 1;
    float w[N];
    long long steps = 0;
#pragma acc data copy(u) create(v)
    while (change > 1e-6 && steps++ < 1000) {
        change = 0;
#pragma acc parallel loop gang reduction(max : change)
        for (int i = 1; i < N - 1; i++)
#pragma acc loop vector reduction(max : change)
            for (int j = 1; j < N - 1; j++) {
                v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
                change = fmax(change, fabs(v[i][j] - u[i][j]));
            }
#pragma acc parallel loop gang worker vector collapse(2)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) u[i][j] = v[i][j];
    }
#pragma acc parallel loop copyout(w) num_workers(4)
    for (int i = 0; i < N; i++) w[i] = curve(i * 0.5f, (i + argc) % 6) + (unsigned long long)i * 0x9e3779b97f4a7c15ull;
    return (int)(w[3] + steps);
}
