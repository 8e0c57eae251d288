// SPDX-License-Identifier: Apache-2.0
// Kernels that print, in whole lines.
static void say(int i, float x)
{
	printf("from a function %d %f\n", i, x);
}

kernel void formats(global int *out, int n)
{
	int i = get_global_id(0), sum = 0;
	constant char *names[] = { "one", "two" };
	float4 v = (float4)(i, 0.1f, 1e10f, -2.5f);

	for (int k = 0; k < i % n; k++)
		sum += k;
	if (i % 64 == 0) {
		printf("%d %i %u %o %x %X %c %s %% %5.2f %e %g %a %F %G\n", i, -i, 7u, 8, 255, i, 'a' + i % 3,
		       "text", 1.5, 1e300, v.y, 0.5, 1e10, 2.5);
		printf("%hd %hhd %ld %hu %hhx %lx %lu|%+d|%-5d|%05d|%.3s|%5s\n", (short)-5, (char)3, (long)i << 33,
		       (ushort)65535, (uchar)200, 1ul << 40, 6ul, 3, i, i, "abcdef", names[i / 64 % 2]);
		printf("%v4hlf %v16hhd %v8hd %v2ld %v4hlx %#v4hld\n", v, (char16)(i), (short8)(i), (long2)(i, -1),
		       (uint4)(i, 7, 8, 9), (int4)(-i));
		say(i, i * 0.5f);
	}
	if (i == 3)
		printf("hello\n");
	if (i == 4)
		printf("%d\n", printf("%s\n", sum > 2 ? "many" : "few"));
	out[i] = sum;
}

kernel void in_loops(global int *out, int n)
{
	int i = get_global_id(0);

	for (int k = 0; k < n; k++) {
		if (i % 32 == k)
			printf("before %d %d\n", k, i);
		barrier(CLK_LOCAL_MEM_FENCE);
		if (i % 32 == k + n)
			printf("behind %d %d\n", k, i);
	}
	out[i] = n;
}

// Enough for buffers to be emptied in between.
kernel void much(global int *out, int n)
{
	int i = get_global_id(0);

	for (int k = 0; k < n; k++)
		printf("%d: the turn %d of a work-item that has %d of them\n", i, k, n);
	out[i] = n;
}
