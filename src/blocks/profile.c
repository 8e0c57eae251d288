// SPDX-License-Identifier: Apache-2.0
#include "blocks/profile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// A process's COUNTS, mapped.
struct counts {
	const struct blocks_counts *head;
	size_t bytes;
};

static const struct tare_blocks_build *build_of(const struct tare_blocks_builds *builds,
                                                uint64_t hash)
{
	for (size_t i = 0; i < builds->count; i++)
		if (builds->at[i].hash == hash)
			return &builds->at[i];
	return NULL;
}

static bool map_counts(const char *path, struct counts *counts)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;

	*counts = (struct counts){ .head = NULL };
	if (file < 0)
		return false;
	if (fstat(file, &status) == 0 && (size_t)status.st_size >= sizeof *counts->head) {
		counts->bytes = (size_t)status.st_size;
		void *memory = mmap(NULL, counts->bytes, PROT_READ, MAP_PRIVATE, file, 0);
		counts->head = memory != MAP_FAILED ? memory : NULL;
	}
	close(file);
	if (counts->head &&
	    (counts->head->magic != BLOCKS_MAGIC || counts->head->kernels > BLOCKS_KERNELS)) {
		munmap((void *)(uintptr_t)counts->head, counts->bytes);
		counts->head = NULL;
	}
	return counts->head != NULL;
}

static bool is_empty(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && status.st_size == 0;
}

// ---- kernels

// The kernel of that name and build, new where there was none; NULL: no memory.
static struct tare_blocks_kernel *kernel_of(struct tare_blocks_profile *profile,
                                            const struct tare_blocks_build *build,
                                            enum blocks_api api, const char *name)
{
	for (size_t i = 0; i < profile->kernel_count; i++)
		if (profile->kernels[i].build == build && profile->kernels[i].api == api &&
		    strcmp(profile->kernels[i].name, name) == 0)
			return &profile->kernels[i];
	struct tare_blocks_kernel *kernels =
	    realloc(profile->kernels, (profile->kernel_count + 1) * sizeof *kernels);
	if (!kernels)
		return NULL;
	profile->kernels = kernels;
	struct tare_blocks_kernel *kernel = &kernels[profile->kernel_count++];
	*kernel = (struct tare_blocks_kernel){ .build = build,
		                               .api = api,
		                               .multiple = BLOCKS_NOT_TOLD,
		                               .sub_group = BLOCKS_NOT_TOLD,
		                               .private_bytes = BLOCKS_NOT_TOLD,
		                               .spill_bytes = BLOCKS_NOT_TOLD };
	snprintf(kernel->name, sizeof kernel->name, "%s", name);
	return kernel;
}

// Keeps the sample of the first process that has one.
static void keep_sample(const struct counts *counts, const struct blocks_kernel *row,
                        struct tare_blocks_kernel *kernel)
{
	const struct tare_blocks_build *build = kernel->build;
	const struct tare_blocks_layout layout = tare_blocks_layout(&build->module, &build->plan);
	uint64_t at =
	    row->at + ((uint64_t)row->rows * row->row_counters + TARE_BLOCKS_SAMPLE_HEAD) * 8;
	size_t bytes = (size_t)layout.items * layout.words * 8;

	if (kernel->sample || bytes == 0 || at > counts->bytes || bytes > counts->bytes - at)
		return;
	// Without it less is known, which the report says.
	kernel->sample = malloc(bytes);
	if (kernel->sample)
		memcpy(kernel->sample, (const char *)counts->head + at, bytes);
}

// Adds a process's rows of counters.
static int add_counters(const struct counts *counts, const struct blocks_kernel *row,
                        struct tare_blocks_profile *profile, struct tare_blocks_kernel *kernel)
{
	uint32_t count = kernel->build->plan.counter_count;
	uint64_t bytes = (uint64_t)row->rows * row->row_counters * sizeof(uint64_t);

	if (row->row_counters < count || row->at > counts->bytes || bytes > counts->bytes - row->at)
		return 0;
	if (!kernel->counters)
		kernel->counters = calloc((size_t)count + 1, sizeof *kernel->counters);
	if (!kernel->counters)
		return -ENOMEM;
	const uint64_t *counters =
	    (const uint64_t *)(const void *)((const char *)counts->head + row->at);
	profile->counter_bytes += bytes;
	keep_sample(counts, row, kernel);
	for (uint32_t i = 0; i < row->rows; i++)
		for (uint32_t k = 0; k < count; k++)
			kernel->counters[k] += counters[(size_t)i * row->row_counters + k];
	return 0;
}

// What the arguments of a process's launches were.
static void add_arguments(const struct blocks_kernel *row, struct tare_blocks_kernel *kernel)
{
	for (uint32_t i = 0; i < BLOCKS_ARGUMENTS; i++) {
		const struct blocks_argument *from = &row->arguments[i];
		struct blocks_argument *to = &kernel->arguments[i];
		if (from->bytes && !to->bytes)
			*to = *from;
		to->varies |=
		    from->varies ||
		    (from->bytes && (from->value != to->value || from->bytes != to->bytes));
	}
}

static int add_row(const struct counts *counts, const struct blocks_kernel *row,
                   const struct tare_blocks_builds *builds, struct tare_blocks_profile *profile)
{
	char name[BLOCKS_NAME_BYTES];
	const struct tare_blocks_build *build = build_of(builds, row->hash);

	snprintf(name, sizeof name, "%.*s", (int)sizeof name - 1, row->name);
	struct tare_blocks_kernel *kernel =
	    kernel_of(profile, build, (enum blocks_api)row->api, name);
	if (!kernel)
		return -ENOMEM;
	kernel->launches += row->launches;
	kernel->counted += row->counted;
	kernel->work_items += row->work_items;
	kernel->far |= row->far != 0;
	kernel->unread += row->unread;
	kernel->unchecked += row->unchecked;
	kernel->lanes_used += row->lanes_used;
	kernel->lanes_offered += row->lanes_offered;
	add_arguments(row, kernel);
	if (row->facts) {
		kernel->multiple = row->multiple;
		kernel->private_bytes = row->private_bytes;
		kernel->spill_bytes = row->spill_bytes;
		if (row->sub_group)
			kernel->sub_group = row->sub_group;
	}
	if (row->why != BLOCKS_COVERED && row->why < BLOCKS_WHYS) {
		kernel->why = (enum blocks_why)row->why;
		kernel->code = row->code;
		snprintf(kernel->log, sizeof kernel->log, "%.*s", (int)sizeof kernel->log - 1,
		         row->log);
	}
	return row->at && build && build->made ? add_counters(counts, row, profile, kernel) : 0;
}

static int add_counts(const struct counts *counts, const struct tare_blocks_builds *builds,
                      struct tare_blocks_profile *profile)
{
	int status = 0;

	profile->processes++;
	profile->lost_kernels += counts->head->lost_kernels;
	profile->lost_launches += counts->head->lost_launches;
	profile->unknown_launches += counts->head->unknown_launches;
	profile->graphs += counts->head->graphs;
	for (int i = 0; i < BLOCKS_BROUGHT_KINDS; i++)
		profile->brought[i] += counts->head->brought[i];
	profile->command_buffers |= counts->head->command_buffers != 0;
	profile->pragmas |= counts->head->pragmas;
	if (profile->unseen == BLOCKS_SEEN && counts->head->unseen < BLOCKS_UNSEENS)
		profile->unseen = (enum blocks_unseen)counts->head->unseen;
	if (counts->head->build_code && !profile->build_code) {
		profile->build_code = counts->head->build_code;
		snprintf(profile->build_log, sizeof profile->build_log, "%.*s",
		         (int)sizeof profile->build_log - 1, counts->head->build_log);
	}
	for (uint32_t i = 0; status == 0 && i < counts->head->kernels; i++)
		status = add_row(counts, &counts->head->kernel[i], builds, profile);
	return status;
}

const char *tare_blocks_nothing(const struct tare_blocks_profile *profile)
{
	return profile->command_buffers
	           ? "nothing was counted: the program asked for the functions of command buffers, "
	             "and what it launches by these is not seen; it launched no kernel otherwise"
	           : "the program launched no kernel; tare record shows what it does instead";
}

const char *tare_blocks_unseen(const struct tare_blocks_profile *profile)
{
	static const char *const clauses[BLOCKS_UNSEENS] = {
		[BLOCKS_OLD_DRIVER] =
		    "the driver lacks functions that --ptx needs: take a newer one",
		[BLOCKS_NO_CUPTI] = "there is no CUPTI that can be used: install CUDA's, or let "
		                    "LD_LIBRARY_PATH lead to its folder",
		[BLOCKS_CUPTI_TAKEN] =
		    "another tool, or the program itself, has CUPTI, which lets in "
		    "one at a time",
	};

	return clauses[profile->unseen];
}

// ---- sums

static int sum(struct tare_blocks_kernel *kernel)
{
	const struct tare_blocks_module *module = &kernel->build->module;

	kernel->executions = calloc((size_t)module->block_count + 1, sizeof *kernel->executions);
	if (!kernel->executions ||
	    tare_blocks_plan_complete(&kernel->build->plan, module, kernel->counters) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < module->block_count; i++)
		kernel->executions[i] =
		    tare_blocks_plan_count(&kernel->build->plan, i, kernel->counters);
	for (uint32_t i = 0; i < module->block_count; i++)
		tare_blocks_add(&kernel->tally, &module->blocks[i].tally, kernel->executions[i]);
	for (uint32_t i = 0; i < module->function_count; i++)
		if (module->functions[i].kernel &&
		    strcmp(module->functions[i].kernel, kernel->name) == 0)
			kernel->entered = kernel->executions[module->functions[i].first_block];
	if (kernel->unchecked)
		kernel->work_items = kernel->entered;
	return 0;
}

uint64_t tare_blocks_launches_of(const struct tare_blocks_profile *profile, const char *name)
{
	uint64_t launches = 0;

	for (size_t i = 0; i < profile->kernel_count; i++)
		if (strcmp(profile->kernels[i].name, name) == 0)
			launches += profile->kernels[i].launches;
	return launches;
}

bool tare_blocks_is_whole(const struct tare_blocks_kernel *kernel)
{
	return kernel->executions && kernel->counted == kernel->launches && !kernel->unread &&
	       !kernel->unchecked && kernel->entered == kernel->work_items;
}

static int by_cost(const void *left, const void *right)
{
	const struct tare_blocks_kernel *a = left, *b = right;
	uint64_t first = tare_blocks_instructions(&a->tally),
	         second = tare_blocks_instructions(&b->tally);

	return first != second ? (first < second) - (first > second) : strcmp(a->name, b->name);
}

int tare_blocks_profile_read(const char *folder, const struct tare_blocks_builds *builds,
                             struct tare_blocks_profile *profile, struct tare_error *error)
{
	DIR *list = opendir(folder);
	int status = 0;

	*profile = (struct tare_blocks_profile){ .kernels = NULL };
	if (!list)
		return tare_fail(error, errno, "%.200s cannot be read", folder);
	for (struct dirent *entry; status == 0 && (entry = readdir(list));) {
		const char *end = strrchr(entry->d_name, '.');
		char path[PATH_MAX];
		struct counts counts;
		if (!end || strcmp(end, BLOCKS_COUNTS_SUFFIX) != 0)
			continue;
		snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		if (!map_counts(path, &counts)) {
			profile->without_room += is_empty(path);
			continue;
		}
		status = add_counts(&counts, builds, profile);
		munmap((void *)(uintptr_t)counts.head, counts.bytes);
	}
	closedir(list);
	for (size_t i = 0; status == 0 && i < profile->kernel_count; i++)
		if (profile->kernels[i].counters)
			status = sum(&profile->kernels[i]);
	if (status < 0)
		return tare_fail(error, -status, "out of memory");
	if (profile->kernel_count)
		qsort(profile->kernels, profile->kernel_count, sizeof *profile->kernels, by_cost);
	return 0;
}

void tare_blocks_profile_free(struct tare_blocks_profile *profile)
{
	for (size_t i = 0; i < profile->kernel_count; i++) {
		free(profile->kernels[i].counters);
		free(profile->kernels[i].executions);
		free(profile->kernels[i].sample);
	}
	free(profile->kernels);
	*profile = (struct tare_blocks_profile){ .kernels = NULL };
}
