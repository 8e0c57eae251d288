// SPDX-License-Identifier: Apache-2.0
// The entry by which the stubs (stub/stub.c) take us between the loader and the drivers, and
// extension functions.
#include "guest/levelzero/ze.h"
#include "guest/region.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void tare_levelzero_table(unsigned slot, const char *table, uint32_t version,
                                   void *members);

struct ze_driver ze_drivers[ZE_SLOTS];
static guest_lock lock; // of the drivers' functions

// Recording begins, or nothing is wrapped.
static bool begin(void)
{
	static const struct guest_api levelzero = { .api = TARE_TRACE_LEVELZERO,
		                                    .harvest = ze_harvest,
		                                    .in_child = ze_in_child };
	static _Atomic uint32_t begun; // 1: it is under way, 2: it failed, 3: it is done
	uint32_t before = 0;
	if (!atomic_compare_exchange_strong(&begun, &before, 1))
		return before == 3;
	bool can = ze_objects_begin();
	if (can) {
		guest_lock_register(&lock);
		guest_regions_begin();
		can = guest_begin(&levelzero);
	}
	if (can)
		guest_stacks_begin((const void *)begin);
	if (can)
		ze_calibrate();
	if (can)
		ze_count_begin();
	atomic_store(&begun, can ? 3 : 2);
	return can;
}

static void **original_of(struct ze_driver *driver, const struct ze_row *row)
{
	return (void **)((char *)&driver->call + row->offset);
}

// The driver's functions go on running in the helper when the program has unloaded it.
static void pin(const void *address)
{
	Dl_info where;
	if (dladdr(address, &where) != 0 && where.dli_fname != NULL)
		(void)dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

static bool is_ours(const struct ze_row *row, const void *function)
{
	for (int i = 0; i < ZE_SLOTS; i++)
		if (row->via[i] == function)
			return true;
	return false;
}

// Keeps the driver's function and puts ours in its place. A table ends where its version's does:
// what an older one lacks lies in somebody else's memory, what a newer one has beyond ours stays as
// it is.
static void replace(struct ze_driver *driver, const struct ze_row *row, void **member)
{
	guest_acquire(&lock);
	void **original = original_of(driver, row);
	if (*member != NULL && !is_ours(row, *member)) {
		if (*original == NULL)
			*original = *member;
		if (row->via[0] != NULL && *original == *member)
			*member = row->via[driver - ze_drivers];
	}
	guest_release(&lock);
}

// That a stub stands in a driver's place, once a file.
static void tell_driver(unsigned slot)
{
	static _Atomic uint32_t told[ZE_SLOTS];
	uint32_t process = atomic_load(&guest_process);
	if (atomic_exchange(&told[slot], process) != process)
		ze_change(TARE_CHANGE_DRIVER, NULL, 0, slot + 1);
}

void tare_levelzero_table(unsigned slot, const char *table, uint32_t version, void *members)
{
	int saved = errno;
	if (slot < ZE_SLOTS && ZE_MAJOR_VERSION(version) == 1 && members != NULL && begin()) {
		void **functions = members;
		if (ze_counts && table[2] == 't')
			ze_count_table(slot, table, members);
		for (const struct ze_row *row = ze_rows; row != ze_rows + ZE_FUNCTIONS; row++) {
			if (strcmp(row->table, table) != 0 ||
			    row->since > ZE_MINOR_VERSION(version))
				continue;
			replace(&ze_drivers[slot], row, &functions[row->place]);
			tell_driver(slot);
			if (row->place == 0)
				pin((const void *)*original_of(&ze_drivers[slot], row));
		}
	}
	errno = saved;
}

// ---- functions that a program asks for by their names

static bool only_asks(const char *name)
{
	for (const char *const *at = ze_asking; *at != NULL; at++)
		if (strcmp(*at, name) == 0)
			return true;
	return false;
}

ze_result_t ze_do_zeDriverGetExtensionFunctionAddress(const struct ze_driver *driver,
                                                      ze_driver_handle_t handle, const char *name,
                                                      void **address)
{
	ze_result_t result =
	    driver->call.zeDriverGetExtensionFunctionAddress(handle, name, address);
	if (result != ZE_RESULT_SUCCESS || name == NULL || address == NULL || *address == NULL)
		return result;
	struct ze_driver *mine = &ze_drivers[driver - ze_drivers];
	for (const struct ze_row *row = ze_rows; row != ze_rows + ZE_FUNCTIONS; row++) {
		if (strcmp(row->name, name) != 0)
			continue;
		// One of those that only ask, of which nothing is recorded anyway.
		if (row->via[0] == NULL)
			return result;
		guest_acquire(&lock);
		if (*original_of(mine, row) == NULL)
			*original_of(mine, row) = *address;
		guest_release(&lock);
		// It may be another function than that of the table, but does the same.
		*address = row->via[mine - ze_drivers];
		return result;
	}
	if (guest_header != NULL && !only_asks(name))
		guest_count(&guest_header->passed_calls, 1);
	return result;
}

// A loader that may call the driver through a table within its handles, from 1.29 on, would go past
// us.
ze_result_t ze_do_zeDriverGetProperties(const struct ze_driver *driver, ze_driver_handle_t handle,
                                        ze_driver_properties_t *properties)
{
	enum { HANDLES_EXTENSION = 0x00020027, SUPPORTED = 1, MOST = 64 };
	struct handles {
		ze_structure_type_t stype;
		void *pNext;
		uint32_t flags;
	};
	ze_result_t result = driver->call.zeDriverGetProperties(handle, properties);
	struct handles *next =
	    result == ZE_RESULT_SUCCESS && properties != NULL ? properties->pNext : NULL;
	for (int i = 0; next != NULL && i < MOST; i++, next = next->pNext)
		if ((uint32_t)next->stype == HANDLES_EXTENSION)
			next->flags &= ~(uint32_t)SUPPORTED;
	return result;
}
