// SPDX-License-Identifier: Apache-2.0
// Two floats in, one out, and as much arithmetic as `terms` says.
//   tare overlap --kernel examples/kernels/polynomial.cl --item-bytes 8,4 --arg int:64
kernel void polynomial(global const float2 *input, global float *output, uint first, uint count,
                       int terms)
{
	uint item = get_global_id(0);

	if (item >= count)
		return;
	// Any bits may come in: what is not a small number is made one.
	float2 pair = input[first + item];
	float x = isfinite(pair.x) ? fmod(pair.x, 1.0f) : 0.5f;
	float sum = isfinite(pair.y) ? fmod(pair.y, 1.0f) : 0.5f;
	for (int term = 0; term < terms; term++)
		sum = fma(sum, x, 0.25f);
	output[first + item] = sum;
}
