// SPDX-License-Identifier: Apache-2.0
// The kernels of the Level Zero examples, OpenCL C 1.2; compiled to SPIR-V when tare is built.
// Matrices are n x n, row after row; n is a multiple of TILE.
#define TILE 16

// One element of c: the inner loop only, so that a product takes n * n launches. Group 1.
kernel void matmul_element(global float *c, global const float *a, global const float *b, uint n,
                           uint row, uint column)
{
	float sum = 0;

	for (uint k = 0; k < n; k++)
		sum += a[row * n + k] * b[k * n + column];
	c[row * n + column] = sum;
}

// Dimension 0 is the row: neighbouring work-items read a and write c n floats apart.
kernel void matmul_naive(global float *c, global const float *a, global const float *b, uint n)
{
	uint row = get_global_id(0), column = get_global_id(1);
	float sum = 0;

	for (uint k = 0; k < n; k++)
		sum += a[row * n + k] * b[k * n + column];
	c[row * n + column] = sum;
}

// Dimension 0 is the column: neighbours read and write neighbouring floats.
kernel void matmul_coalesced(global float *c, global const float *a, global const float *b, uint n)
{
	uint column = get_global_id(0), row = get_global_id(1);
	float sum = 0;

	for (uint k = 0; k < n; k++)
		sum += a[row * n + k] * b[k * n + column];
	c[row * n + column] = sum;
}

// Tiles of a and b go through local memory, each float read once a group. One barrier before the
// tiles are used, and one before they are overwritten.
kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void
matmul_tiled(global float *c, global const float *a, global const float *b, uint n)
{
	local float tile_a[TILE][TILE + 1], tile_b[TILE][TILE + 1];
	uint x = get_local_id(0), y = get_local_id(1);
	uint column = get_global_id(0), row = get_global_id(1);
	float sum = 0;

	for (uint first = 0; first < n; first += TILE) {
		tile_a[y][x] = a[row * n + first + x];
		tile_b[y][x] = b[(first + y) * n + column];
		barrier(CLK_LOCAL_MEM_FENCE);
		for (uint k = 0; k < TILE; k++)
			sum += tile_a[y][k] * tile_b[k][x];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	c[row * n + column] = sum;
}

// Make-work: `cycles` steps of a linear congruential generator on each integer.
kernel void steps(global uint *values, uint cycles)
{
	uint value = values[get_global_id(0)];

	for (uint k = 0; k < cycles; k++)
		value = value * 1664525u + 1013904223u;
	values[get_global_id(0)] = value;
}
