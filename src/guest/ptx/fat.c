// SPDX-License-Identifier: Apache-2.0
// Fat binaries, which the CUDA runtime loads for programs that nvcc has built: where one begins and
// ends, and for which device it is loaded. What is in it is looked at between the runs.
#include "guest/ptx/ptx.h"

#include <string.h>

enum { FAT_VERSION = 1, MOST_HEAD_BYTES = 256, MOST_DEVICES = 64, WRAPPER_PLAIN = 1 };
#define MOST_FAT_BYTES (UINT64_C(64) << 20) // all are written down, and hashed in each run

// What the compiler puts before a fat binary in a program. Of another version several were linked.
struct wrapper {
	char magic[4];
	uint32_t version;
	const char *data;
	const void *others;
};
// What it begins with.
struct head {
	char magic[4];
	uint16_t version, head_bytes;
	uint64_t bytes_behind;
};

const char *ptx_fat_of(const char *image, size_t known, size_t *bytes, enum blocks_why *why)
{
	struct wrapper wrapper;
	struct head head;

	*why = BLOCKS_FAT_BINARY;
	// A pointer that stands in a file leads nowhere.
	if (known == SIZE_MAX && memcmp(image, PTX_FAT_WRAPPER, sizeof wrapper.magic) == 0) {
		memcpy(&wrapper, image, sizeof wrapper);
		*why = wrapper.version == WRAPPER_PLAIN ? *why : BLOCKS_FAT_LINKED;
		image = wrapper.data;
		if (wrapper.version != WRAPPER_PLAIN || image == NULL)
			return NULL;
	}
	if (known < sizeof head || memcmp(image, PTX_FAT_BINARY, sizeof head.magic) != 0)
		return NULL;
	memcpy(&head, image, sizeof head);
	if (head.version != FAT_VERSION || head.head_bytes < sizeof head ||
	    head.head_bytes > MOST_HEAD_BYTES || head.bytes_behind == 0 ||
	    head.bytes_behind > MOST_FAT_BYTES || head.head_bytes + head.bytes_behind > known)
		return NULL;
	*bytes = (size_t)(head.head_bytes + head.bytes_behind);
	return image;
}

// The first device whose primary context the program has.
static bool find_active(cu_device *device)
{
	unsigned int flags;
	int count = 0, active = 0;

	if (ptx_driver.cuDevicePrimaryCtxGetState == NULL || cuda_driver.cuDeviceGet == NULL ||
	    cuda_driver.cuDeviceGetCount == NULL ||
	    cuda_driver.cuDeviceGetCount(&count) != ABI_SUCCESS)
		return false;
	for (int i = 0; i < count && i < MOST_DEVICES; i++)
		if (cuda_driver.cuDeviceGet(device, i) == ABI_SUCCESS &&
		    ptx_driver.cuDevicePrimaryCtxGetState(*device, &flags, &active) ==
		        ABI_SUCCESS &&
		    active)
			return true;
	return false;
}

bool ptx_context_borrow(cu_device *device)
{
	cu_context context;

	if (ptx_driver.cuDevicePrimaryCtxRetain == NULL ||
	    ptx_driver.cuDevicePrimaryCtxRelease_v2 == NULL || !find_active(device) ||
	    ptx_driver.cuDevicePrimaryCtxRetain(&context, *device) != ABI_SUCCESS)
		return false;
	if (ptx_driver.cuCtxSetCurrent(context) == ABI_SUCCESS)
		return true;
	ptx_driver.cuDevicePrimaryCtxRelease_v2(*device);
	return false;
}

void ptx_context_return(cu_device device)
{
	ptx_driver.cuCtxSetCurrent(NULL);
	ptx_driver.cuDevicePrimaryCtxRelease_v2(device);
}

static bool ask(cu_device device, int *major, int *minor)
{
	return cuda_driver.cuDeviceGetAttribute != NULL &&
	       cuda_driver.cuDeviceGetAttribute(major, ABI_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
	                                        device) == ABI_SUCCESS &&
	       cuda_driver.cuDeviceGetAttribute(minor, ABI_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
	                                        device) == ABI_SUCCESS;
}

void ptx_capability(char text[PTX_CAPABILITY_BYTES])
{
	int major = 0, minor = 0;
	cu_device device = 0;

	ptx_ours_begin();
	bool found = cuda_driver.cuCtxGetDevice != NULL &&
	             cuda_driver.cuCtxGetDevice(&device) == ABI_SUCCESS;
	// Where there is no context yet, the program's only device is likely the one.
	found =
	    found || find_active(&device) ||
	    (cuda_driver.cuDeviceGet != NULL && cuda_driver.cuDeviceGet(&device, 0) == ABI_SUCCESS);
	found = found && ask(device, &major, &minor);
	ptx_ours_end();
	text[0] = '\0';
	if (!found || major < 1 || major > 99 || minor < 0 || minor > 9)
		return;
	size_t used = 0;
	if (major >= 10)
		text[used++] = (char)('0' + major / 10);
	text[used++] = (char)('0' + major % 10);
	text[used++] = (char)('0' + minor);
	text[used] = '\0';
}
