// SPDX-License-Identifier: Apache-2.0
// Another set of build options in the place of the program's own, in Level Zero.
#include "guest/blocks/levelzero.h"
#include "guest/blocks/set.h"

#include <sys/mman.h>

// What the driver says of a build that failed, for tare to tell.
static void tell_log(ze_module_build_log_handle_t log)
{
	size_t bytes = 0;

	if (blocks_ze_next.log_string == NULL ||
	    blocks_ze_next.log_string(log, &bytes, NULL) != ZE_RESULT_SUCCESS || bytes <= 1)
		return;
	char *text = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (text == MAP_FAILED)
		return;
	if (blocks_ze_next.log_string(log, &bytes, text) == ZE_RESULT_SUCCESS)
		blocks_set_log(text, bytes);
	munmap(text, bytes);
}

ze_result_t blocks_ze_create(ze_context_handle_t context, ze_device_handle_t device,
                             struct blocks_ze_wanted *wanted, ze_module_handle_t *made,
                             ze_module_build_log_handle_t *log)
{
	const ze_module_desc_t *desc = wanted->desc;
	ze_module_build_log_handle_t own = NULL;

	// Flags of several modules in one (pNext) are a list of their own.
	if (!blocks_set_given() || desc == NULL || desc->format != ZE_MODULE_FORMAT_IL_SPIRV ||
	    desc->pNext != NULL)
		return blocks_ze_next.module_create(context, device, desc, made, log);
	wanted->changed = *desc;
	wanted->changed.pBuildFlags =
	    blocks_set_options(BLOCKS_LEVEL_ZERO, desc->pBuildFlags, &wanted->bytes);
	wanted->desc = &wanted->changed;
	ze_result_t result = blocks_ze_next.module_create(context, device, wanted->desc, made,
	                                                  log != NULL ? log : &own);
	if (blocks_set_failed((int)result) && (log != NULL ? *log : own) != NULL)
		tell_log(log != NULL ? *log : own);
	if (own != NULL && blocks_ze_next.log_destroy != NULL)
		blocks_ze_next.log_destroy(own);
	return result;
}

void blocks_ze_wanted_free(struct blocks_ze_wanted *wanted)
{
	blocks_set_give_back(wanted->changed.pBuildFlags, wanted->bytes);
}
