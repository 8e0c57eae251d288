// SPDX-License-Identifier: Apache-2.0
// Arguments by value: what they are, and whether a changed kernel was made for them.
#include "guest/blocks/files.h"
#include "guest/guest.h"

#include <string.h>

enum { MOST_BYTES = 8 };

// Numbers are little-endian.
static bool number_of(size_t bytes, const void *value, uint64_t *number)
{
	*number = 0;
	if (value == NULL || bytes == 0 || bytes > MOST_BYTES)
		return false;
	memcpy(number, value, bytes);
	return true;
}

void blocks_note_argument(struct blocks_kernel *row, uint32_t index, size_t bytes,
                          const void *value)
{
	static guest_lock lock;
	static atomic_bool registered;
	uint64_t number;

	if (!atomic_exchange(&registered, true))
		guest_lock_register(&lock);
	if (index >= BLOCKS_ARGUMENTS || !number_of(bytes, value, &number))
		return;
	struct blocks_argument *argument = &row->arguments[index];
	guest_acquire(&lock);
	if (argument->bytes == 0) {
		argument->value = number;
		argument->bytes = (uint32_t)bytes;
	} else if (argument->value != number || argument->bytes != bytes) {
		argument->varies = 1;
	}
	guest_release(&lock);
}

void blocks_fit_argument(const struct blocks_module *module, const struct blocks_kernel *row,
                         uint32_t index, size_t bytes, const void *value, uint32_t *misfits)
{
	uint64_t number;
	bool known = number_of(bytes, value, &number);

	for (uint32_t i = 0; i < module->fixed_count && i < BLOCKS_FIXED; i++) {
		const struct blocks_fixed *fixed = &module->fixed[i];
		if (fixed->argument != index ||
		    strncmp(fixed->kernel, row->name, sizeof fixed->kernel) != 0)
			continue;
		if (known && bytes == fixed->bytes && number == fixed->value)
			*misfits &= ~(UINT32_C(1) << i);
		else
			*misfits |= UINT32_C(1) << i;
	}
}

bool blocks_regroups(const struct blocks_module *module, const struct blocks_kernel *row)
{
	for (uint32_t i = 0; i < module->fixed_count && i < BLOCKS_FIXED; i++)
		if (module->fixed[i].argument == BLOCKS_GROUPS &&
		    strncmp(module->fixed[i].kernel, row->name, BLOCKS_NAME_BYTES) == 0)
			return true;
	return false;
}
