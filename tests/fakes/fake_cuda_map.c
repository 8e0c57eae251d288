// SPDX-License-Identifier: Apache-2.0
// Memory that is mapped, of the stand-in for libcuda: what is reserved is there, and mapping it
// only looks whether it could be.
#include "fake_cuda_device.h"

FAKE_EXPORT cu_result cuMemAddressReserve(cu_pointer *pointer, size_t bytes, size_t alignment,
                                          cu_pointer wanted, uint64_t flags);
cu_result cuMemAddressReserve(cu_pointer *pointer, size_t bytes, size_t alignment,
                              cu_pointer wanted, uint64_t flags)
{
	return alignment || wanted || flags ? ABI_INVALID_VALUE : cuMemAlloc_v2(pointer, bytes);
}

static bool is_there(cu_pointer pointer, size_t bytes)
{
	const struct range *range = range_of(AT(pointer));
	return range && bytes && range->place == TARE_PLACE_DEVICE &&
	       bytes <= (size_t)(range->at + range->bytes - (const char *)AT(pointer));
}

cu_result cuMemMap(cu_pointer pointer, size_t bytes, size_t offset, uint64_t handle,
                   uint64_t flags);
cu_result cuMemMap(cu_pointer pointer, size_t bytes, size_t offset, uint64_t handle, uint64_t flags)
{
	ENTER_CONTEXT();
	bool fits = is_there(pointer, bytes) && !offset && !handle && !flags;
	return leave(fits ? ABI_SUCCESS : ABI_INVALID_VALUE);
}

cu_result cuMemUnmap(cu_pointer pointer, size_t bytes);
cu_result cuMemUnmap(cu_pointer pointer, size_t bytes)
{
	ENTER_CONTEXT();
	return leave(is_there(pointer, bytes) ? ABI_SUCCESS : ABI_INVALID_VALUE);
}
