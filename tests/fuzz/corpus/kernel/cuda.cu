float:-0.5e3
template <typename T> __global__ void __launch_bounds__(256, 2) blur(const T *in, T *out, int n) { }
extern "C" __global__ void copy(float *a, float *b);
__device__ int f(int);
