// SPDX-License-Identifier: Apache-2.0
// c = a * b, n x n, row-major, single precision: the rungs of the ladder.
KERNEL void matmul_naive(GLOBAL float *c, GLOBAL const float *a, GLOBAL const float *b, uint n)
{
	uint column = GLOBAL_ID(0), row = GLOBAL_ID(1);
	float sum = 0;

	if (row >= n || column >= n)
		return;
	for (uint k = 0; k < n; k++)
		sum = FMA(a[row * n + k], b[k * n + column], sum);
	c[row * n + column] = sum;
}
