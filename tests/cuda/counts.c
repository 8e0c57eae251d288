// SPDX-License-Identifier: Apache-2.0
// An independent count of what a CUDA program has its devices do: CUPTI's records, added up. It is
// put into the program by CUDA_INJECTION64_PATH in the recorder's place, and appends a line of JSON
// to the file that COUNTS names.
#include "backend/cuda/cupti_abi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((visibility("default"))) int InitializeInjection(void);

enum { BYTES = 1 << 20 };
static const cupti_kind kinds[] = { ABI_CUPTI_KIND_CONCURRENT_KERNEL, ABI_CUPTI_KIND_MEMCPY,
	                            ABI_CUPTI_KIND_MEMCPY_PEER, ABI_CUPTI_KIND_MEMSET };
enum { KINDS = sizeof kinds / sizeof *kinds, MOST_DEVICES = 8 };
static const char *const names[] = { "kernels", "copies", "peer_copies", "fills" };
static struct cupti_functions cupti;
// By kind and device; of peer copies also by both ends.
static struct {
	uint64_t count, bytes, ns;
} sums[KINDS][MOST_DEVICES], peers[MOST_DEVICES][MOST_DEVICES];

static void requested(uint8_t **buffer, size_t *bytes, size_t *most)
{
	*buffer = aligned_alloc(8, BYTES);
	*bytes = BYTES;
	*most = 0;
}

static void add(uint32_t kind, uint32_t device, uint64_t bytes, uint64_t start, uint64_t end)
{
	device = device < MOST_DEVICES ? device : MOST_DEVICES - 1;
	__atomic_fetch_add(&sums[kind][device].count, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&sums[kind][device].bytes, bytes, __ATOMIC_RELAXED);
	__atomic_fetch_add(&sums[kind][device].ns, end - start, __ATOMIC_RELAXED);
}

static void add_peer(const struct cupti_memcpy_peer *copy)
{
	uint32_t from = copy->source_device % MOST_DEVICES,
	         to = copy->destination_device % MOST_DEVICES;
	add(2, copy->device, copy->bytes, copy->start, copy->end);
	__atomic_fetch_add(&peers[from][to].count, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&peers[from][to].bytes, copy->bytes, __ATOMIC_RELAXED);
}

static void completed(cu_context context, uint32_t stream, uint8_t *buffer, size_t bytes,
                      size_t valid)
{
	cupti_record *record = NULL;
	(void)context, (void)stream, (void)bytes;
	while (valid &&
	       cupti.cuptiActivityGetNextRecord(buffer, valid, &record) == ABI_CUPTI_SUCCESS) {
		const struct cupti_kernel *kernel = (const void *)record;
		const struct cupti_memcpy *copy = (const void *)record;
		const struct cupti_memset *fill = (const void *)record;
		if (record->kind == ABI_CUPTI_KIND_CONCURRENT_KERNEL)
			add(0, kernel->device, 0, kernel->start, kernel->end);
		else if (record->kind == ABI_CUPTI_KIND_MEMCPY)
			add(1, copy->device, copy->bytes, copy->start, copy->end);
		else if (record->kind == ABI_CUPTI_KIND_MEMCPY_PEER)
			add_peer((const void *)record);
		else if (record->kind == ABI_CUPTI_KIND_MEMSET)
			add(3, fill->device, fill->bytes, fill->start, fill->end);
	}
	free(buffer);
}

static void tell(void)
{
	const char *path = getenv("COUNTS");
	FILE *file = path ? fopen(path, "a") : NULL;
	cupti.cuptiActivityFlushAll(ABI_CUPTI_FLUSH_FORCED);
	if (!file)
		return;
	fprintf(file, "{\"pid\": %d", (int)getpid());
	for (uint32_t kind = 0; kind < KINDS; kind++) {
		fprintf(file, ", \"%s\": {", names[kind]);
		for (uint32_t device = 0, any = 0; device < MOST_DEVICES; device++)
			if (sums[kind][device].count)
				fprintf(file, "%s\"%u\": [%llu, %llu, %llu]", any++ ? ", " : "",
				        device, (unsigned long long)sums[kind][device].count,
				        (unsigned long long)sums[kind][device].bytes,
				        (unsigned long long)sums[kind][device].ns);
		fprintf(file, "}");
	}
	fprintf(file, ", \"peers\": {");
	for (uint32_t pair = 0, any = 0; pair < MOST_DEVICES * MOST_DEVICES; pair++)
		if (peers[pair / MOST_DEVICES][pair % MOST_DEVICES].count)
			fprintf(file, "%s\"%u-%u\": [%llu, %llu]", any++ ? ", " : "",
			        pair / MOST_DEVICES, pair % MOST_DEVICES,
			        (unsigned long long)peers[pair / MOST_DEVICES][pair % MOST_DEVICES]
			            .count,
			        (unsigned long long)peers[pair / MOST_DEVICES][pair % MOST_DEVICES]
			            .bytes);
	fprintf(file, "}}\n");
	fclose(file);
}

int InitializeInjection(void)
{
	const char *named = getenv("TARE_CUPTI_LIBRARY");
	void *library = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
	library = library ? library : dlopen(named ? named : "libcupti.so.13", RTLD_NOW);
	if (!library)
		return 1;
#define X(name, parameters) *(void **)&cupti.name = dlsym(library, #name);
	CUPTI_FUNCTIONS(X, X)
#undef X
	if (cupti.cuptiActivityRegisterCallbacks(requested, completed) != ABI_CUPTI_SUCCESS)
		return 1;
	for (uint32_t kind = 0; kind < KINDS; kind++)
		cupti.cuptiActivityEnable(kinds[kind]);
	// Without a call's record CUPTI before 13 gives no correlation, which is not looked at.
	atexit(tell);
	return 1;
}
