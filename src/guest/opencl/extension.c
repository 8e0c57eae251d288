// SPDX-License-Identifier: Apache-2.0
// Functions that the program reaches by extension pointers: those that we know go through us, the
// others are handed on as they are and counted.
#include "guest/opencl/layer.h"

#include <string.h>

static guest_lock lock;

void layer_extensions_begin(void)
{
	guest_lock_register(&lock);
}

static struct layer_extension *find(const char *name)
{
	for (struct layer_extension *extension = layer_extensions; extension->name != NULL;
	     extension++) {
		if (strcmp(extension->name, name) == 0)
			return extension;
	}
	return NULL;
}

// Our function for a vendor's, or the vendor's own when we have none left for it.
static void *replace(const char *name, void *vendor)
{
	if (vendor == NULL || name == NULL || layer_thread() == NULL)
		return vendor;
	struct layer_extension *extension = find(name);
	void *ours = NULL;
	layer_lock(&lock);
	for (int i = 0; extension != NULL && i < LAYER_SLOTS && ours == NULL; i++) {
		// Asked for again through us, as by another loader in the process.
		if (vendor == extension->via[i])
			ours = vendor;
		else if (extension->vendor[i] == NULL || extension->vendor[i] == vendor) {
			extension->vendor[i] = vendor;
			ours = extension->via[i];
		}
	}
	layer_unlock(&lock);
	if (ours == NULL && guest_header != NULL)
		guest_count(&guest_header->passed_calls, 1);
	return ours != NULL ? ours : vendor;
}

void *layer_do_clGetExtensionFunctionAddress(layer_next_clGetExtensionFunctionAddress next,
                                             const char *name)
{
	return replace(name, next(name));
}

void *layer_do_clGetExtensionFunctionAddressForPlatform(
    layer_next_clGetExtensionFunctionAddressForPlatform next, cl_platform_id platform,
    const char *name)
{
	return replace(name, next(platform, name));
}
