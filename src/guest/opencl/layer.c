// SPDX-License-Identifier: Apache-2.0
// The recorder as a layer of OpenCL: what it does when a loader takes it.
#include "guest/opencl/layer.h"
#include "guest/environment.h"
#include "guest/layer/entry.h"
#include "guest/stack/stack.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

cl_icd_dispatch layer_next;

// A loader that reads its list of layers cuts it behind the first one (ocl-icd and Khronos' both
// do), in the environment itself. What this process starts is to have all of it. The entry is
// exchanged for a whole one, which takes one store and no memory of malloc's; the loader goes on in
// the old one.
static void restore_list(void)
{
	static const char name[] = "OPENCL_LAYERS=";
	const char *now = getenv("OPENCL_LAYERS"), *whole = getenv(TARE_ENVIRONMENT_LAYERS);
	size_t first = now != NULL ? strlen(now) : 0;
	if (first == 0 || whole == NULL || strncmp(whole, now, first) != 0 || whole[first] != ':')
		return;
	char *entry = guest_memory(sizeof name + strlen(whole));
	if (entry == NULL)
		return;
	memcpy(entry, name, sizeof name - 1);
	memcpy(entry + sizeof name - 1, whole, strlen(whole) + 1);
	for (char **at = environ; at != NULL && *at != NULL; at++)
		if (*at + sizeof name - 1 == now)
			__atomic_store_n(at, entry, __ATOMIC_RELEASE);
}

// The loader in front came with LD_PRELOAD, unless the program has taken that away for this
// process.
static void tell_front(void)
{
	const char *preload = getenv("LD_PRELOAD");
	if (guest_options.front && preload != NULL && preload[0] != '\0')
		layer_change(TARE_CHANGE_LOADER, NULL, 0, 1);
}

// Recording begins, or nothing is wrapped.
static bool begin(void)
{
	static const struct guest_api opencl = { .api = TARE_TRACE_OPENCL,
		                                 .harvest = layer_harvest,
		                                 .in_child = layer_in_child };
	if (!guest_begin(&opencl) || !layer_objects_begin())
		return false;
	guest_regions_begin();
	layer_callbacks_begin();
	layer_extensions_begin();
	layer_devices_begin();
	layer_pin((const void *)layer_next.clGetPlatformIDs);
	guest_stacks_begin((const void *)begin);
	layer_calibrate();
	tell_front();
	return true;
}

static void end(void)
{
	layer_harvest();
	layer_harvest_stop();
}

__attribute__((constructor)) static void be_layer(void)
{
	static const struct guest_layer layer = { .name = "tare",
		                                  .next = &layer_next,
		                                  .met = restore_list,
		                                  .begin = begin,
		                                  .wrap = layer_wrap,
		                                  .end = end };

	guest_layer_is(&layer);
}
