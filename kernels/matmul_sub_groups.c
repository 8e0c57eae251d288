// SPDX-License-Identifier: Apache-2.0
// c = a * b, n x n, row-major, single precision, n of any size: the rung of tare matmul that hands
// factors on within sub-groups instead of through local memory. A module of its own, since some
// devices know no sub-groups: there it has no such kernel.
#ifdef SUB_GROUP_BROADCAST

// A float of a row, 0 beyond the matrix.
FUNCTION float row_item(GLOBAL const float *matrix, uint n, uint row, uint column)
{
	return row < n && column < n ? matrix[row * n + column] : 0;
}

FUNCTION void put_row(GLOBAL float *c, uint n, uint row, uint column, uint apart, float4 part)
{
	if (row >= n)
		return;
	if (column < n)
		c[row * n + column] = part.x;
	if (column + apart < n)
		c[row * n + column + apart] = part.y;
	if (column + 2 * apart < n)
		c[row * n + column + 2 * apart] = part.z;
	if (column + 3 * apart < n)
		c[row * n + column + 3 * apart] = part.w;
}

#define LOAD(i) item##i = row_item(a, n, row + (i), first + lane);
#define ADD(i) sum##i += SUB_GROUP_BROADCAST(item##i, k) * part;
#define PUT(i) put_row(c, n, row + (i), column, size, sum##i);
#define EIGHT(each) each(0) each(1) each(2) each(3) each(4) each(5) each(6) each(7)

// Group 128. A sub-group of s work-items has blocks of 8 rows and 4 s columns of c: each work-item
// loads of a one float a row and hands it on to its neighbours, and has four columns of its own, s
// apart, so that neighbours read neighbours of b. However large sub-groups are, those of all groups
// take the blocks in turn, down the rows first: neighbours read the same part of b. Columns beyond
// the matrix read its last one, and are not written.
KERNEL void matmul_sub_groups(GLOBAL float *c, GLOBAL const float *a, GLOBAL const float *b, uint n)
{
	uint size = SUB_GROUP_SIZE(), lane = SUB_GROUP_LANE();
	// One that is smaller than the others, at the end of its group, has no work.
	uint whole = GROUP_SIZE(0) / size, groups = GROUP_COUNT(0) * GROUP_COUNT(1);
	uint group = GROUP_ID(1) * GROUP_COUNT(0) + GROUP_ID(0);
	uint bands = (n + 7) / 8, blocks = bands * ((n + 4 * size - 1) / (4 * size));
	uint block = SUB_GROUP_ID() < whole ? group * whole + SUB_GROUP_ID() : blocks;

	for (; block < blocks; block += groups * whole) {
		uint row = block % bands * 8, column = block / bands * 4 * size + lane;
		uint column0 = column < n ? column : n - 1;
		uint column1 = column + size < n ? column + size : n - 1;
		uint column2 = column + 2 * size < n ? column + 2 * size : n - 1;
		uint column3 = column + 3 * size < n ? column + 3 * size : n - 1;
		float item0, item1, item2, item3, item4, item5, item6, item7;
		float4 sum0, sum1, sum2, sum3, sum4, sum5, sum6, sum7, part;

		sum0.x = sum0.y = sum0.z = sum0.w = 0;
		sum1 = sum2 = sum3 = sum4 = sum5 = sum6 = sum7 = sum0;
		for (uint first = 0; first < n; first += size) {
			uint last = n - first < size ? n - first : size;
			EIGHT(LOAD)
			for (uint k = 0; k < last; k++) {
				GLOBAL const float *from = b + (first + k) * n;
				part.x = from[column0];
				part.y = from[column1];
				part.z = from[column2];
				part.w = from[column3];
				EIGHT(ADD)
			}
		}
		EIGHT(PUT)
	}
}

#else

KERNEL void matmul_no_sub_groups(GLOBAL float *c)
{
	c[0] = 0;
}

#endif
