// Long mangled names, static data of many kinds, virtual functions.
namespace imaging {
namespace detail {
template <class T, int... Is> struct Sequence { static const int count = sizeof...(Is); };
template <class T> struct Limits;
template <> struct Limits<unsigned char> { static __device__ int top() { return 255; } };
template <> struct Limits<short> { static __device__ int top() { return 32767; } };
template <class T> __device__ const T weights[4] = {T(1), T(2), T(3), T(4)};
}  // namespace detail

template <class A, class B> struct Chain {
    A first; B second;
    template <class T> __device__ T operator()(T v) const { return second(first(v)); }
};
struct Scale { float by; template <class T> __device__ T operator()(T v) const { return T(v * by); } };
struct Clip { int top; template <class T> __device__ T operator()(T v) const { return v > top ? T(top) : v; } };

template <class T, class F, class S>
__global__ void transform(const T *in, T *out, F f, S, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = f(in[i]) * detail::weights<T>[i & 3] + S::count + detail::Limits<T>::top() % 7;
}
template __global__ void transform(const unsigned char *, unsigned char *, Chain<Scale, Chain<Clip, Scale>>,
                                   detail::Sequence<Chain<Clip, Clip>, 1, -2, 3, 4>, int);
template __global__ void transform(const short *, short *, Chain<Chain<Scale, Clip>, Clip>,
                                   detail::Sequence<void (*)(const char *, ...), 5>, int);

struct Shape {
    __device__ virtual float area() const = 0;
    __device__ virtual ~Shape() {}
};
struct Circle : Shape { float r; __device__ Circle(float r) : r(r) {} __device__ float area() const override { return 3.14159f * r * r; } };
struct Square : Shape { float a; __device__ Square(float a) : a(a) {} __device__ float area() const override { return a * a; } };

__global__ void areas(float *out, int n) {
    Circle c(n);
    Square s(n + 1.0f);
    const Shape *shapes[2] = {&c, &s};
    out[threadIdx.x] = shapes[threadIdx.x & 1]->area();
}
}  // namespace imaging

struct Mixed { char c; short s; float f; double d; const void *p; };
__device__ int counter = 42;
__device__ double table[2][3] = {{1, -2.5, 1e300}, {0.1, -0.0}};
__device__ Mixed mixed = {'x', -7, 1.5f, 2.25, &counter};
struct __attribute__((packed)) Packed { char c; const void *p; };
__device__ Packed packed = {'p', &counter};
__constant__ unsigned long long magic = 0x123456789abcdef0ull;
__managed__ int shared_with_host = 3;
extern "C" __global__ void touch(double *out) {
    out[threadIdx.x] = table[threadIdx.x & 1][threadIdx.x % 3] + mixed.d + *(const int *)mixed.p + magic + packed.c + shared_with_host++;
}
