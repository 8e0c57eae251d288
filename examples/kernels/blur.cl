// SPDX-License-Identifier: Apache-2.0
// How not to do it: it reads its neighbours, which may not have arrived yet when the work is cut
// into chunks. tare overlap finds the wrong result and says so:
//   tare overlap --kernel examples/kernels/blur.cl
kernel void blur(global const uint *input, global uint *output, uint first, uint count)
{
	uint item = get_global_id(0);
	uint here = first + item;

	if (item >= count)
		return;
	uint left = item > 0 ? input[here - 1] : 0;
	uint right = item + 1 < count ? input[here + 1] : 0;
	output[here] = left / 4 + input[here] / 2 + right / 4;
}
