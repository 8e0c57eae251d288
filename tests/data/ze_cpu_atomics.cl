// SPDX-License-Identifier: Apache-2.0
// Atomics through generic pointers, for tests/unit/test_ze_cpu_launches.c. OpenCL C 2.0.
static void add(int *at, int by)
{
	atomic_fetch_add((volatile atomic_int *)at, by);
}

static void extremes(int *largest, int *smallest, int value)
{
	atomic_fetch_max((volatile atomic_int *)largest, value);
	atomic_fetch_min((volatile atomic_int *)smallest, value);
}

static void exchange(int *at)
{
	int none = -1;
	atomic_compare_exchange_strong((volatile atomic_int *)at, &none, 4);
	atomic_fetch_or((volatile atomic_int *)at, 1);
}

kernel void count_all(global int *out)
{
	local int shared;
	int id = (int)get_global_id(0);

	if (get_local_id(0) == 0)
		shared = 0;
	barrier(CLK_LOCAL_MEM_FENCE);
	add(id & 1 ? (int *)out : (int *)&shared, 3);
	extremes((int *)out + 2, (int *)out + 3, id);
	exchange((int *)out + 4);
	if (id == 0) {
		atomic_store((volatile atomic_int *)((int *)out + 6), 7);
		out[7] = atomic_load((volatile atomic_int *)((int *)out + 6));
	}
	if (atomic_exchange((volatile atomic_int *)((int *)out + 5), 1) == 0)
		out[5] = 1;
	barrier(CLK_LOCAL_MEM_FENCE);
	if (get_local_id(0) == 0)
		add((int *)out + 1, shared);
}
