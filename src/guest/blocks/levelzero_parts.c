// SPDX-License-Identifier: Apache-2.0
// What modules of Level Zero are made of: one SPIR-V module, or several in one description; and
// another set of build options in the place of the program's own.
#include "guest/blocks/levelzero.h"
#include "guest/blocks/set.h"

#include <string.h>
#include <sys/mman.h>

// One module's SPIR-V and flags, or what is joined of such.
struct input {
	enum blocks_language language;
	bool carries;
	const void *text;
	size_t bytes;
	const char *flags; // NULL: none
};

// The hash of an input's file, which is written where `write`; 0: no memory.
static uint64_t note(const struct input *input, const char *suffix, bool write)
{
	size_t flags = input->flags != NULL ? strlen(input->flags) : 0;
	const struct blocks_build head = { .magic = BLOCKS_MAGIC,
		                           .api = BLOCKS_LEVEL_ZERO,
		                           .language = input->language,
		                           .options_bytes = (uint32_t)flags,
		                           .carries = input->carries,
		                           .text_bytes = input->bytes };
	size_t bytes = sizeof head + flags + input->bytes;
	char *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (data == MAP_FAILED)
		return 0;
	memcpy(data, &head, sizeof head);
	if (flags != 0)
		memcpy(data + sizeof head, input->flags, flags);
	memcpy(data + sizeof head + flags, input->text, input->bytes);
	uint64_t hash = guest_hash(GUEST_HASH_START, data, bytes);
	if (write)
		blocks_write(hash, suffix, data, bytes);
	munmap(data, bytes);
	return hash;
}

static bool has_constants(const ze_module_constants_t *constants)
{
	return constants != NULL && constants->numConstants != 0;
}

// Modules that the driver links as it builds them.
static enum blocks_why note_parts(const ze_module_program_exp_desc_t *parts, bool carries,
                                  bool write, uint64_t *hash)
{
	size_t bytes = parts->count * sizeof *hash;
	uint64_t *hashes =
	    mmap(NULL, bytes + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	enum blocks_why why = hashes != MAP_FAILED ? BLOCKS_COVERED : BLOCKS_NO_ROOM;

	for (uint32_t i = 0; why == BLOCKS_COVERED && i < parts->count; i++) {
		const struct input input = { .language = BLOCKS_SPIRV,
			                     .carries = carries,
			                     .text = parts->pInputModules[i],
			                     .bytes = parts->inputSizes[i],
			                     .flags = parts->pBuildFlags != NULL
			                                  ? parts->pBuildFlags[i]
			                                  : NULL };
		if (parts->pConstants != NULL && has_constants(parts->pConstants[i]))
			why = BLOCKS_SPECIALISED;
		else if ((hashes[i] = note(&input, BLOCKS_PART_SUFFIX, write)) == 0)
			why = BLOCKS_NO_ROOM;
	}
	if (why == BLOCKS_COVERED) {
		const struct input joined = { .language = BLOCKS_JOINED,
			                      .text = hashes,
			                      .bytes = bytes };
		*hash = note(&joined, BLOCKS_BUILD_SUFFIX, write);
		why = *hash != 0 ? BLOCKS_COVERED : BLOCKS_NO_ROOM;
	}
	if (hashes != MAP_FAILED)
		munmap(hashes, bytes + 1);
	return why;
}

// A module with values for its specialisation constants is a module of its own.
static enum blocks_why note_specialised(const struct input *input,
                                        const ze_module_constants_t *constants, bool write,
                                        uint64_t *hash)
{
	struct input made = *input;
	uint32_t *words = mmap(NULL, input->bytes + 1, PROT_READ | PROT_WRITE,
	                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (words == MAP_FAILED)
		return BLOCKS_NO_ROOM;
	memcpy(words, input->text, input->bytes);
	made.text = words;
	made.bytes = blocks_ze_specialise(constants, words, input->bytes);
	if (made.bytes != 0)
		*hash = note(&made, BLOCKS_BUILD_SUFFIX, write);
	munmap(words, input->bytes + 1);
	return made.bytes == 0 ? BLOCKS_SPECIALISED : *hash != 0 ? BLOCKS_COVERED : BLOCKS_NO_ROOM;
}

enum blocks_why blocks_ze_note_build(const ze_module_desc_t *desc, bool carries, bool write,
                                     uint64_t *hash)
{
	const ze_module_program_exp_desc_t *parts = desc->pNext;
	const struct input input = { .language = BLOCKS_SPIRV,
		                     .carries = carries,
		                     .text = desc->pInputModule,
		                     .bytes = desc->inputSize,
		                     .flags = desc->pBuildFlags };

	*hash = 0;
	// Other extensions may change what is built.
	if (parts != NULL &&
	    (parts->stype != ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC || parts->pNext != NULL))
		return BLOCKS_NO_SOURCE;
	if (parts != NULL)
		return note_parts(parts, carries, write, hash);
	if (has_constants(desc->pConstants))
		return note_specialised(&input, desc->pConstants, write, hash);
	*hash = note(&input, BLOCKS_BUILD_SUFFIX, write);
	return *hash != 0 ? BLOCKS_COVERED : BLOCKS_NO_ROOM;
}

// ---- options

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
