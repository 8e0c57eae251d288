// SPDX-License-Identifier: Apache-2.0
// A copy by the compute units, for `bandwidth`: between device memory and host memory that the
// device addresses, or within the device.

// Copies `bytes` bytes, 16 at a time: four a work-item, as far apart as a group is wide, so that
// neighbours read and write together and several reads are under way at once. The few bytes behind
// the last 16 are the first work-item's. The grid covers at least bytes / 64 work-items.
KERNEL void copy_bytes(GLOBAL uint4 *destination, GLOBAL const uint4 *source, ulong bytes)
{
	ulong vectors = bytes / 16;
	ulong at = (ulong)GROUP_ID(0) * GROUP_SIZE(0) * 4 + LOCAL_ID(0);
	uint step = GROUP_SIZE(0);

	if (at + 3 * step < vectors) {
		uint4 a = source[at], b = source[at + step];
		uint4 c = source[at + 2 * step], d = source[at + 3 * step];
		destination[at] = a;
		destination[at + step] = b;
		destination[at + 2 * step] = c;
		destination[at + 3 * step] = d;
	} else {
		for (uint i = 0; i < 4; i++)
			if (at + i * step < vectors)
				destination[at + i * step] = source[at + i * step];
	}
	if (at == 0)
		for (ulong i = vectors * 16; i < bytes; i++)
			((GLOBAL uchar *)destination)[i] = ((GLOBAL const uchar *)source)[i];
}
