// SPDX-License-Identifier: Apache-2.0
// The contract of chunked kernels (man page tare-overlap, KERNELS): what a built kernel must take,
// and how many work-items a group of it has.
#include "measure/overlap/user_kernel_internal.h"

#include "backend/call.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define REFUSAL_BYTES 192 // the longest of refusal()
#define GROUP_WANTED 256
#define SEE "see tare-overlap(1), KERNELS"

static bool is_floating(const char *type)
{
	return strcmp(type, "float") == 0 || strcmp(type, "double") == 0 ||
	       strcmp(type, "half") == 0;
}

// A number that may stand for `type`, "float" or "" (any), in so many bytes.
static bool may_be(const struct tare_parameter *parameter, const char *type, size_t bytes)
{
	if (parameter->kind != TARE_PARAMETER_VALUE && parameter->kind != TARE_PARAMETER_UNKNOWN)
		return false;
	return (parameter->bytes < 0 || (size_t)parameter->bytes == bytes) &&
	       (!parameter->type[0] || is_floating(parameter->type) == is_floating(type));
}

// What is wrong with one parameter; NULL: nothing that can be told.
static const char *refusal(const struct tare_built_kernel *built, uint32_t index, bool cuda,
                           const struct tare_parameter *parameter, char buffer[REFUSAL_BYTES])
{
	const struct tare_user_argument *given;

	if (index < 2) {
		bool pointer = parameter->kind == TARE_PARAMETER_MEMORY ||
		               (parameter->kind == TARE_PARAMETER_UNKNOWN &&
		                (parameter->bytes < 0 || parameter->bytes == 8));
		if (!pointer)
			return index ? "must be the output, a global pointer"
			             : "must be the input, a global pointer";
		return index == 1 && parameter->read_only ? "is the output, and yet const" : NULL;
	}
	if (index < USER_KERNEL_ARGUMENTS)
		return may_be(parameter, "uint", 4) ? NULL
		       : index == 2                 ? "must be the first item, a uint"
		                                    : "must be the number of items, a uint";
	given = &built->arguments[index - USER_KERNEL_ARGUMENTS];
	// CUDA has no pointers to shared memory as arguments: the kernel gets where in it, a uint.
	if (given->type == TARE_ARGUMENT_LOCAL
	        ? parameter->kind == TARE_PARAMETER_LOCAL ||
	              (parameter->kind == TARE_PARAMETER_UNKNOWN && parameter->bytes < 0) ||
	              (cuda && may_be(parameter, "uint", 4))
	        : may_be(parameter, given->word, given->bytes))
		return NULL;
	snprintf(buffer, REFUSAL_BYTES, "is %.60s, but its --arg gives %s%s",
	         parameter->kind == TARE_PARAMETER_LOCAL    ? "local memory"
	         : parameter->kind == TARE_PARAMETER_MEMORY ? "a global pointer"
	         : parameter->type[0]                       ? parameter->type
	                                                    : "a value of another size",
	         given->word,
	         cuda && given->type == TARE_ARGUMENT_LOCAL
	             ? " memory, which CUDA passes as a uint, an offset into extern __shared__"
	             : "");
	return buffer;
}

int tare_user_kernel_check(const struct tare_user_kernel *options, const char *entry,
                           enum tare_module_format format, const struct tare_built_kernel *built,
                           const struct tare_kernel_facts *facts, struct tare_error *error)
{
	bool cuda = format == TARE_MODULE_CUDA_C || format == TARE_MODULE_PTX;
	uint32_t wanted = USER_KERNEL_ARGUMENTS + built->chunk.scalar_count;
	struct tare_parameter parameter;
	char buffer[REFUSAL_BYTES];

	for (uint32_t i = USER_KERNEL_ARGUMENTS; (int64_t)i < facts->arguments; i++)
		if (tare_kernel_parameter(built->chunk.kernel, i, &parameter, NULL) == 0 &&
		    ((parameter.kind == TARE_PARAMETER_MEMORY && i >= wanted) ||
		     strstr(parameter.type, "image") || strstr(parameter.type, "sampler")))
			return tare_fail(
			    error, EINVAL,
			    "kernel '%s' in %s: argument %u is %.60s, which --arg cannot "
			    "give (scalars and local memory only); " SEE,
			    entry, options->file, i + 1,
			    parameter.type[0] ? parameter.type : "a global pointer");
	if (facts->arguments >= 0 && facts->arguments != (int64_t)wanted &&
	    wanted == USER_KERNEL_ARGUMENTS)
		return tare_fail(
		    error, EINVAL,
		    "kernel '%s' in %s takes %lld arguments, the contract has 4 (input, "
		    "output, first, count) then scalars given with --arg; " SEE,
		    entry, options->file, (long long)facts->arguments);
	if (facts->arguments >= 0 && facts->arguments != (int64_t)wanted)
		return tare_fail(error, EINVAL,
		                 "kernel '%s' in %s takes %lld arguments; the contract's 4 (input, "
		                 "output, first, count) and %u from --arg make %u; " SEE,
		                 entry, options->file, (long long)facts->arguments,
		                 built->chunk.scalar_count, wanted);
	for (uint32_t i = 0; i < wanted; i++) {
		const char *why;
		if (tare_kernel_parameter(built->chunk.kernel, i, &parameter, NULL) < 0)
			continue; // the launch will tell
		why = refusal(built, i, cuda, &parameter, buffer);
		if (why)
			return tare_fail(error, EINVAL,
			                 "kernel '%s' in %s: argument %u%s%s%s %s; " SEE, entry,
			                 options->file, i + 1, parameter.name[0] ? " (" : "",
			                 parameter.name, parameter.name[0] ? ")" : "", why);
	}
	return 0;
}

int tare_user_kernel_group(const struct tare_user_kernel *options, const char *entry,
                           const struct tare_kernel_facts *facts, uint32_t *group,
                           struct tare_error *error)
{
	int64_t most = facts->max_group_size, preferred = facts->preferred_multiple;

	if (options->group_size && most > 0 && (int64_t)options->group_size > most)
		return tare_fail(
		    error, EINVAL,
		    "--group %u: kernel '%s' runs with at most %lld work-items a group",
		    options->group_size, entry, (long long)most);
	*group = options->group_size;
	if (*group)
		return 0;
	*group = most > 0 && most < GROUP_WANTED ? (uint32_t)most : GROUP_WANTED;
	if (preferred > 0 && preferred <= (int64_t)*group)
		*group -= *group % (uint32_t)preferred;
	return 0;
}
