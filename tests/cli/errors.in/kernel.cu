// Adds.
#include <cuda_runtime.h>

__global__ void add(int *x)
{
	*x += 1;
}
