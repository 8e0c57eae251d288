// SPDX-License-Identifier: Apache-2.0
// c = a * b, n x n, row-major, single precision: the rungs of the ladder, n of any size. Dimension
// 0 is the column, so that neighbouring work-items read neighbouring floats of b. Each entry says
// the work-group that it takes; groups cover the tiles of c.

// One element of c: the inner loop, spread over one work-group of 64 and summed in local memory.
KERNEL void matmul_element(GLOBAL float *c, GLOBAL const float *a, GLOBAL const float *b, uint n,
                           uint row, uint column)
{
	LOCAL float sums[64];
	uint item = LOCAL_ID(0);
	float sum = 0;

	for (uint k = item; k < n; k += 64)
		sum = FMA(a[row * n + k], b[k * n + column], sum);
	sums[item] = sum;
	for (uint other = 32; other > 0; other /= 2) {
		BARRIER();
		if (item < other)
			sums[item] += sums[item + other];
	}
	if (item == 0)
		c[row * n + column] = sums[0];
}

// Group 16 x 16: an element each, straight from global memory.
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

// Group 16 x 16: tiles of a and b go through local memory, each read once a group.
KERNEL void matmul_tiled(GLOBAL float *c, GLOBAL const float *a, GLOBAL const float *b, uint n)
{
	LOCAL float tile_a[16][17], tile_b[16][17];
	uint x = LOCAL_ID(0), y = LOCAL_ID(1);
	uint column = GROUP_ID(0) * 16 + x, row = GROUP_ID(1) * 16 + y;
	float sum = 0;

	for (uint first = 0; first < n; first += 16) {
		tile_a[y][x] = row < n && first + x < n ? a[row * n + first + x] : 0;
		tile_b[y][x] = first + y < n && column < n ? b[(first + y) * n + column] : 0;
		BARRIER();
		for (uint k = 0; k < 16; k++)
			sum = FMA(tile_a[y][k], tile_b[k][x], sum);
		BARRIER();
	}
	if (row < n && column < n)
		c[row * n + column] = sum;
}

// Group 16 x 16, tile 32 x 32: four elements a work-item, so that what comes from local memory is
// used twice.
KERNEL void matmul_second(GLOBAL float *c, GLOBAL const float *a, GLOBAL const float *b, uint n)
{
	LOCAL float tile_a[32][33], tile_b[32][33];
	uint x = LOCAL_ID(0), y = LOCAL_ID(1);
	uint column = GROUP_ID(0) * 32 + x, row = GROUP_ID(1) * 32 + y;
	float sum00 = 0, sum01 = 0, sum10 = 0, sum11 = 0;

	for (uint first = 0; first < n; first += 32) {
		for (uint i = 0; i < 32; i += 16)
			for (uint j = 0; j < 32; j += 16) {
				uint k_a = first + x + j, k_b = first + y + i;
				tile_a[y + i][x + j] =
				    row + i < n && k_a < n ? a[(row + i) * n + k_a] : 0;
				tile_b[y + i][x + j] =
				    k_b < n && column + j < n ? b[k_b * n + column + j] : 0;
			}
		BARRIER();
		for (uint k = 0; k < 32; k++) {
			float a0 = tile_a[y][k], a1 = tile_a[y + 16][k];
			float b0 = tile_b[k][x], b1 = tile_b[k][x + 16];
			sum00 = FMA(a0, b0, sum00);
			sum01 = FMA(a0, b1, sum01);
			sum10 = FMA(a1, b0, sum10);
			sum11 = FMA(a1, b1, sum11);
		}
		BARRIER();
	}
	if (row < n && column < n)
		c[row * n + column] = sum00;
	if (row < n && column + 16 < n)
		c[row * n + column + 16] = sum01;
	if (row + 16 < n && column < n)
		c[(row + 16) * n + column] = sum10;
	if (row + 16 < n && column + 16 < n)
		c[(row + 16) * n + column + 16] = sum11;
}

// Four floats of a row from `column` on; beyond the matrix they are 0. Rows begin at multiples of
// 16 bytes only where n is a multiple of 4.
FUNCTION float4 row_part(GLOBAL const float *matrix, uint n, uint row, uint column)
{
	float4 part;

	part.x = part.y = part.z = part.w = 0;
	if (row >= n || column >= n)
		return part;
	matrix += row * n + column;
	if (n % 4 == 0)
		return *(GLOBAL const float4 *)matrix;
	part.x = matrix[0];
	part.y = column + 1 < n ? matrix[1] : 0;
	part.z = column + 2 < n ? matrix[2] : 0;
	part.w = column + 3 < n ? matrix[3] : 0;
	return part;
}

FUNCTION void put_part(GLOBAL float *matrix, uint n, uint row, uint column, float4 part)
{
	if (row >= n || column >= n)
		return;
	matrix += row * n + column;
	if (n % 4 == 0) {
		*(GLOBAL float4 *)matrix = part;
		return;
	}
	matrix[0] = part.x;
	if (column + 1 < n)
		matrix[1] = part.y;
	if (column + 2 < n)
		matrix[2] = part.z;
	if (column + 3 < n)
		matrix[3] = part.w;
}

#define ROW(i, factor)                                                                             \
	left##i += (factor) * part_b0;                                                             \
	right##i += (factor) * part_b1;
#define FOUR_ROWS(a, b, c, d, part) ROW(a, part.x) ROW(b, part.y) ROW(c, part.z) ROW(d, part.w)
#define TRANSPOSED(i, lane)                                                                        \
	column4.x = part0.lane;                                                                    \
	column4.y = part1.lane;                                                                    \
	column4.z = part2.lane;                                                                    \
	column4.w = part3.lane;                                                                    \
	tile_a[(k_a + (i)) * 17 + item / 4] = column4;
#define PUT(i, offset)                                                                             \
	put_part(c, n, row + (offset), column, left##i);                                           \
	put_part(c, n, row + (offset), column + 32, right##i);

// Group 8 x 8, tile 64 x 64: each work-item holds 8 x 8 elements in registers, in four parts of
// 4 x 4 that lie 32 apart, so that neighbours read neighbouring vectors of local memory. a lies
// transposed there, in rows of 17 vectors. Groups of dimensions 0 and 1 are the tiles of a square
// of c, those of dimension 2 such squares, row by row: a device that begins groups in that order
// works in one square after another.
KERNEL void matmul_register(GLOBAL float *c, GLOBAL const float *a, GLOBAL const float *b, uint n)
{
	LOCAL float4 tile_a[16 * 17], tile_b[16 * 16];
	uint x = LOCAL_ID(0), y = LOCAL_ID(1), item = y * 8 + x;
	uint side = GROUP_COUNT(0) * 64, across = (n + side - 1) / side;
	uint first_column = GROUP_ID(2) % across * side + GROUP_ID(0) * 64;
	uint first_row = GROUP_ID(2) / across * side + GROUP_ID(1) * 64;
	// A group beyond the matrix has nothing to sum.
	uint last = first_row < n && first_column < n ? n : 0;
	float4 left0, left1, left2, left3, left4, left5, left6, left7, column4;
	float4 right0, right1, right2, right3, right4, right5, right6, right7;

	left0.x = left0.y = left0.z = left0.w = 0;
	left1 = left2 = left3 = left4 = left5 = left6 = left7 = left0;
	right0 = right1 = right2 = right3 = right4 = right5 = right6 = right7 = left0;
	for (uint first = 0; first < last; first += 16) {
		uint line = first_row + item / 4 * 4, k_a = item % 4 * 4;
		float4 part0 = row_part(a, n, line, first + k_a);
		float4 part1 = row_part(a, n, line + 1, first + k_a);
		float4 part2 = row_part(a, n, line + 2, first + k_a);
		float4 part3 = row_part(a, n, line + 3, first + k_a);
		TRANSPOSED(0, x)
		TRANSPOSED(1, y)
		TRANSPOSED(2, z)
		TRANSPOSED(3, w)
		for (uint k = item / 16; k < 16; k += 4)
			tile_b[k * 16 + item % 16] =
			    row_part(b, n, first + k, first_column + item % 16 * 4);
		BARRIER();
		for (uint k = 0; k < 16; k++) {
			float4 part_a0 = tile_a[k * 17 + y], part_a1 = tile_a[k * 17 + 8 + y];
			float4 part_b0 = tile_b[k * 16 + x], part_b1 = tile_b[k * 16 + 8 + x];
			FOUR_ROWS(0, 1, 2, 3, part_a0)
			FOUR_ROWS(4, 5, 6, 7, part_a1)
		}
		BARRIER();
	}
	uint row = first_row + y * 4, column = first_column + x * 4;
	PUT(0, 0) PUT(1, 1) PUT(2, 2) PUT(3, 3) PUT(4, 32) PUT(5, 33) PUT(6, 34) PUT(7, 35)
}
