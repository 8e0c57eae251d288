// SPDX-License-Identifier: Apache-2.0
// Kernels for counted_odd.c: all add to or write `out`, SIZE numbers.
kernel void plain(global int *out, int n)
{
	int i = get_global_id(0), x = out[i];

	for (int k = 0; k < n; k++)
		x = x * 3 + k;
	out[i] = x;
}

kernel void atomics(global int *out, int n)
{
	int i = get_global_id(0);

	atomic_add(&out[i % n], i);
	atomic_max(&out[i % n + n], i);
	if (i % 3)
		atomic_xor(&out[i % 7 + 2 * n], i);
}

kernel void assembled(global int *out, int n)
{
	int i = get_global_id(0), x = i + n;

#ifdef ASSEMBLY
	__asm__ volatile("" : "+r"(x));
#endif
	out[i] = x;
}

// Programs of few kernels are built sooner.
#ifndef FEW
typedef struct {
	int by;
	float3 shift;
} change;

kernel void with_local(global int *out, int n, local int *part)
{
	int l = get_local_id(0), i = get_global_id(0);

	part[l] = out[i] + i;
	barrier(CLK_LOCAL_MEM_FENCE);
	out[i] = part[(l + n) % (int)get_local_size(0)];
}

kernel __attribute__((reqd_work_group_size(16, 1, 1))) void required(global int *out, int n)
{
	out[get_global_id(0)] = (int)get_local_size(0) * n;
}

kernel void threes(global int *out, int n, change with)
{
	int i = get_global_id(0);
	float3 sum = (float3)(i, n, i % 13);

	for (int k = 0; k < n; k++)
		sum = sum.zxy * 0.5f + with.shift;
	vstore3(convert_int3(sum * 100) + with.by, i, out);
}

kernel void halves(global int *out, int n)
{
	int i = get_global_id(0);
	global half *numbers = (global half *)out;

	vstore_half(vload_half(i, numbers) + (float)(i % n), SIZE + i, numbers);
}

#ifdef cl_khr_fp64
kernel void doubles(global int *out, int n)
{
	int i = get_global_id(0);
	double x = out[i] + 0.1;

	for (long k = 0; k < n; k++)
		x = x / 3 + sin(x);
	out[i] = (int)(x * 1e6);
}
#endif

kernel void long_loop(global int *out, int n)
{
	ulong at = get_global_id(0), last = at + ((ulong)n << 33);
	int x = 0;

	for (; at < last; at += (ulong)1 << 31)
		x = x * 5 + (int)(at >> 20);
	out[get_global_id(0)] = x;
}

kernel void ways(global int *out, int n)
{
	int i = get_global_id(0), x = i;

again:
	switch (x % 5) {
	case 0: x += 3; break;
	case 1: x = x * 2 + 1;
	case 2: x -= n; if (x > 1000) goto end; break;
	case 3: x ^= n; break;
	default: goto end;
	}
	if (n-- > 0)
		goto again;
end:
	out[i] = x;
}

kernel void inner(global int *out, int n)
{
	int i = get_global_id(0);

	for (int k = 0; k < i % n; k++)
		out[i] += k;
}

// A kernel that calls another.
kernel void outer(global int *out, int n)
{
	if (get_global_id(0) & 1)
		inner(out, n);
	inner(out, n + 1);
}

// As many groups as there are: each work-item of the first one in a row.
kernel void groups(global int *out, int n)
{
	int i = get_global_id(0) - get_global_offset(0), x = 0;

	for (uint k = 0; k < get_local_size(0); k++)
		x += n;
	if (get_group_id(0) == 1)
		x++;
	out[i] = x;
}
#endif
