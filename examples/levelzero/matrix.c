// SPDX-License-Identifier: Apache-2.0
#include "matrix.h"

#include <string.h>

void fill_matrix(float *matrix, size_t n, unsigned seed)
{
	for (size_t i = 0; i < n * n; i++) {
		seed = seed * 1664525u + 1013904223u;
		matrix[i] = (float)((int)(seed >> 16) % 17 - 8) / 4;
	}
}

void host_matmul(float *restrict c, const float *restrict a, const float *restrict b, size_t n)
{
	memset(c, 0, n * n * sizeof *c);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++) {
			const float factor = a[i * n + k];
			for (size_t j = 0; j < n; j++)
				c[i * n + j] += factor * b[k * n + j];
		}
}

size_t differences(const float *a, const float *b, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n * n; i++)
		count += a[i] != b[i];
	return count;
}
