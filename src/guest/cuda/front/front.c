// SPDX-License-Identifier: Apache-2.0
// Stands before some functions of CUDA's driver, in programs for which there is no CUPTI. Whoever
// links the driver is bound to ours by their names; who asks dlsym or cuGetProcAddress for them
// gets ours (dlsym.c). All others are the driver's own. Until the recorder wants to be told, a call
// is passed on and nothing else.
#include "guest/cuda/front/internal.h"

#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

typedef uintptr_t A; // a parameter, in a register or in 8 bytes of the stack

enum slot {
#define SLOT(count, name) SLOT_##name,
	CUDA_FRONT_FUNCTIONS(SLOT)
#undef SLOT
};
_Static_assert(SLOT_cuGraphDestroy + 1 == FRONT_GET, "");

EXPORTED struct cuda_front tare_cuda_front = { CUDA_FRONT_MOST, front_names, NULL };

// ---- calls

static bool before(struct cupti_call *call, uint32_t slot, const A *parameters)
{
	static _Atomic uint32_t numbers;
	cuda_front_tell tell = __atomic_load_n(&tare_cuda_front.tell, __ATOMIC_ACQUIRE);
	if (__builtin_expect(!tell, 1))
		return false;
	*call = (struct cupti_call){ .site = ABI_CUPTI_SITE_ENTER,
		                     .function = front_names[slot],
		                     .parameters = parameters,
		                     .correlation = ++numbers };
	tell(slot, call);
	return true;
}

static cu_result after(struct cupti_call *call, uint32_t slot, cu_result result)
{
	cuda_front_tell tell = __atomic_load_n(&tare_cuda_front.tell, __ATOMIC_ACQUIRE);
	cu_result told = result;
	call->site = ABI_CUPTI_SITE_EXIT;
	call->result = &told;
	if (tell)
		tell(slot, call);
	call->result = NULL;
	return result;
}

#define PARAMETERS_0 void
#define PARAMETERS_1 A a
#define PARAMETERS_2 A a, A b
#define PARAMETERS_3 A a, A b, A c
#define PARAMETERS_4 A a, A b, A c, A d
#define PARAMETERS_5 A a, A b, A c, A d, A e
#define PARAMETERS_6 A a, A b, A c, A d, A e, A f
#define PARAMETERS_8 A a, A b, A c, A d, A e, A f, A g, A h
#define PARAMETERS_9 A a, A b, A c, A d, A e, A f, A g, A h, A i
#define PARAMETERS_10 A a, A b, A c, A d, A e, A f, A g, A h, A i, A j
#define PARAMETERS_11 A a, A b, A c, A d, A e, A f, A g, A h, A i, A j, A k
#define VALUES_0
#define VALUES_1 a
#define VALUES_2 a, b
#define VALUES_3 a, b, c
#define VALUES_4 a, b, c, d
#define VALUES_5 a, b, c, d, e
#define VALUES_6 a, b, c, d, e, f
#define VALUES_8 a, b, c, d, e, f, g, h
#define VALUES_9 a, b, c, d, e, f, g, h, i
#define VALUES_10 a, b, c, d, e, f, g, h, i, j
#define VALUES_11 a, b, c, d, e, f, g, h, i, j, k
// As they lie in CUPTI's structure. Only launches have several of 4 bytes one after another: the
// grid, the block and the bytes of shared memory, between the function and the stream.
#define TWO(low, high) ((low) & 0xffffffff) | (high) << 32
#define LAID_0 0
#define LAID_1 VALUES_1
#define LAID_2 VALUES_2
#define LAID_3 VALUES_3
#define LAID_4 VALUES_4
#define LAID_5 VALUES_5
#define LAID_6 VALUES_6
#define LAID_8 VALUES_8
#define LAID_9 VALUES_9
#define LAID_10 a, TWO(b, c), TWO(d, e), TWO(f, g), TWO(h, (A)0), i, j
#define LAID_11 LAID_10, k
_Static_assert(sizeof(A) == 8 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "how parameters lie");

#define FUNCTION(count, name)                                                                      \
	EXPORTED cu_result name(PARAMETERS_##count);                                               \
	cu_result name(PARAMETERS_##count)                                                         \
	{                                                                                          \
		cu_result (*real)(PARAMETERS_##count) =                                            \
		    (cu_result(*)(PARAMETERS_##count))front_real(SLOT_##name);                     \
		struct cupti_call call;                                                            \
		const A laid[] = { LAID_##count };                                                 \
		if (!real)                                                                         \
			return ABI_STUB_LIBRARY;                                                   \
		if (!before(&call, SLOT_##name, laid))                                             \
			return real(VALUES_##count);                                               \
		return after(&call, SLOT_##name, real(VALUES_##count));                            \
	}
CUDA_FRONT_FUNCTIONS(FUNCTION)

// ---- cuGetProcAddress, by which the runtime gets them

// What it gives is known by its address: a version of a function that this tare does not know stays
// the driver's own.
static void lead(const char *symbol, void **found)
{
	size_t length = strlen(symbol);
	for (uint32_t slot = 0; slot < FRONT_SLOTS; slot++) {
		const char *rest = front_names[slot] + length;
		front_function real, ours;
		if (strncmp(front_names[slot], symbol, length) != 0 || (*rest && *rest != '_'))
			continue;
		real = front_real(slot);
		ours = front_ours(slot);
		if (!real || memcmp(&real, found, sizeof real) != 0)
			continue;
		memcpy(found, &ours, sizeof ours);
		return;
	}
}

typedef cu_result (*get)(const char *symbol, void **found, int version, uint64_t flags);
typedef cu_result (*get_v2)(const char *symbol, void **found, int version, uint64_t flags,
                            int *status);

EXPORTED cu_result cuGetProcAddress(const char *symbol, void **found, int version, uint64_t flags);
cu_result cuGetProcAddress(const char *symbol, void **found, int version, uint64_t flags)
{
	get real = (get)front_real(FRONT_GET);
	cu_result result = real ? real(symbol, found, version, flags) : ABI_STUB_LIBRARY;
	if (result == ABI_SUCCESS && symbol && found && *found)
		lead(symbol, found);
	return result;
}

EXPORTED cu_result cuGetProcAddress_v2(const char *symbol, void **found, int version,
                                       uint64_t flags, int *status);
cu_result cuGetProcAddress_v2(const char *symbol, void **found, int version, uint64_t flags,
                              int *status)
{
	get_v2 real = (get_v2)front_real(FRONT_GET_V2);
	cu_result result = real ? real(symbol, found, version, flags, status) : ABI_STUB_LIBRARY;
	if (result == ABI_SUCCESS && symbol && found && *found)
		lead(symbol, found);
	return result;
}

static const front_function all_ours[] = {
#define OURS(count, name) (front_function) name,
	CUDA_FRONT_FUNCTIONS(OURS)
#undef OURS
	    (front_function) cuGetProcAddress,
	(front_function)cuGetProcAddress_v2,
};
_Static_assert(sizeof all_ours / sizeof *all_ours == FRONT_SLOTS, "");

front_function front_ours(uint32_t slot)
{
	return all_ours[slot];
}
