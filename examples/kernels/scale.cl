// SPDX-License-Identifier: Apache-2.0
// The least kernel that tare overlap takes: one float in, one float out.
//   tare overlap --kernel examples/kernels/scale.cl --arg float:0.5
kernel void scale(global const float *input, global float *output, uint first, uint count,
                  float factor)
{
	uint item = get_global_id(0);

	// The launch is rounded up to whole work-groups; `first` is where the chunk begins.
	if (item < count)
		output[first + item] = factor * input[first + item];
}
