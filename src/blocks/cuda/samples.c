// SPDX-License-Identifier: Apache-2.0
// Reads what processes have sampled, and joins it by kernel.
#include "blocks/cuda/samples.h"

#include "analysis/core/demangle.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- reading

// Of a name of the hardware's its reason; TARE_STALLS: it counts nothing of its own.
static enum tare_stall stall_of(const char *name)
{
	static const char before[] = "stalled_", doubled[] = "_not_issued";
	const char *at = strstr(name, before);
	size_t length = at ? strlen(at + sizeof before - 1) : 0;

	if (!at)
		return TARE_STALLS;
	at += sizeof before - 1;
	// Each reason is told of twice, the second time only where no warp at all issued.
	if (length >= sizeof doubled - 1 &&
	    strcmp(at + length - (sizeof doubled - 1), doubled) == 0)
		return TARE_STALLS;
	for (int i = 0; i < TARE_STALL_OTHER; i++)
		if (strcmp(at, tare_stall_name((enum tare_stall)i)) == 0)
			return (enum tare_stall)i;
	return strcmp(at, "no_instruction") == 0 ? TARE_STALL_NO_INSTRUCTIONS : TARE_STALL_OTHER;
}

struct met {
	uint32_t kernel;
	uint64_t pc;
	struct tare_stall_counts counts;
	struct tare_exact_counts exact;
};

struct launched {
	uint64_t name_hash, launches, warps;
};

struct reading {
	struct tare_pc_samples *samples;
	struct met *met;
	size_t met_count;
	struct launched *launched;
	size_t launched_count;
	uint64_t *hashes;  // of each kernel's name
	uint32_t *symbols; // of each kernel
};

static void *grow(void *array, size_t count, size_t each, bool *failed)
{
	// Doubled at each power of two.
	if (count & (count - 1))
		return array;
	void *more = realloc(array, (count ? 2 * count : 1) * each);
	*failed |= !more;
	return more ? more : array;
}

static void add_sums(struct samples_header *to, const struct samples_header *from)
{
	to->contexts += from->contexts;
	to->total += from->total;
	to->dropped += from->dropped;
	to->not_users += from->not_users;
	to->buffer_full += from->buffer_full;
	to->lost_samples += from->lost_samples;
	to->lost_instructions += from->lost_instructions;
	to->unread_contexts += from->unread_contexts;
	to->failed_contexts += from->failed_contexts;
	to->ended_contexts += from->ended_contexts;
	to->modules += from->modules;
	to->module_bytes += from->module_bytes;
	to->lost_modules += from->lost_modules;
	to->counts_launches += from->counts_launches;
	to->graphs += from->graphs;
	to->lost_launches += from->lost_launches;
	to->enable_ns += from->enable_ns;
	to->disable_ns += from->disable_ns;
	to->module_ns += from->module_ns;
	to->read_ns += from->read_ns;
}

// The place of a kernel, made when it is not there.
static uint32_t kernel_of(struct reading *reading, const struct samples_function *function,
                          bool *failed)
{
	struct tare_pc_samples *samples = reading->samples;
	size_t count = samples->kernel_count;

	for (size_t i = 0; i < count; i++)
		if (samples->kernels[i].crc == function->crc &&
		    reading->hashes[i] == function->name_hash &&
		    (reading->symbols[i] == function->symbol || !reading->symbols[i] ||
		     !function->symbol)) {
			// Of what was counted CUPTI tells no place.
			if (!reading->symbols[i])
				reading->symbols[i] = function->symbol;
			return (uint32_t)i;
		}
	samples->kernels = grow(samples->kernels, count, sizeof *samples->kernels, failed);
	reading->symbols = grow(reading->symbols, count, sizeof *reading->symbols, failed);
	reading->hashes = grow(reading->hashes, count, sizeof *reading->hashes, failed);
	char *name = *failed ? NULL : strndup(function->name, sizeof function->name);
	if (!name) {
		*failed = true;
		return 0;
	}
	samples->kernels[count] = (struct tare_sampled_kernel){ .name = name,
		                                                .plain = tare_demangle(name),
		                                                .crc = function->crc };
	reading->symbols[count] = function->symbol;
	reading->hashes[count] = function->name_hash;
	samples->kernel_count++;
	return (uint32_t)count;
}

static void take_record(struct reading *reading, const struct samples_record *record,
                        uint32_t kernel, const enum tare_stall *names, bool *failed)
{
	struct met met = { .kernel = kernel, .pc = record->pc };

	for (int i = 0; i < SAMPLES_REASONS; i++) {
		if (names[i] == TARE_STALLS)
			continue;
		met.counts.by[names[i]] += record->counts[i];
		met.counts.all += record->counts[i];
	}
	reading->met = grow(reading->met, reading->met_count, sizeof *reading->met, failed);
	if (!*failed && met.counts.all)
		reading->met[reading->met_count++] = met;
}

static void take_exact(struct reading *reading, const struct samples_record *record,
                       uint32_t kernel, bool *failed)
{
	reading->met = grow(reading->met, reading->met_count, sizeof *reading->met, failed);
	if (!*failed)
		reading->met[reading->met_count++] =
		    (struct met){ .kernel = kernel,
			          .pc = record->pc,
			          .exact = { record->exact.warps, record->exact.threads } };
}

// Of a kernel that was counted, room for its counts.
static void note_exact(struct tare_sampled_kernel *kernel, bool *failed)
{
	if (!kernel->exact)
		kernel->exact = calloc(1, sizeof *kernel->exact);
	*failed |= !kernel->exact;
}

static void take_launches(struct reading *reading, const struct samples_file *file, bool *failed)
{
	for (int i = 0; i < SAMPLES_LAUNCHES && !*failed; i++) {
		const struct samples_launch *row = &file->launches[i];
		size_t at = 0;
		if (!row->launches)
			continue;
		while (at < reading->launched_count &&
		       reading->launched[at].name_hash != row->name_hash)
			at++;
		if (at == reading->launched_count) {
			reading->launched =
			    grow(reading->launched, at, sizeof *reading->launched, failed);
			if (*failed)
				return;
			reading->launched[at] = (struct launched){ .name_hash = row->name_hash };
			reading->launched_count++;
		}
		reading->launched[at].launches += row->launches;
		reading->launched[at].warps += row->warps;
	}
}

static void take_process(struct reading *reading, const struct samples_header *header, bool *failed)
{
	struct tare_pc_samples *samples = reading->samples;
	struct tare_pc_samples_process process = { .pid = header->pid,
		                                   .state = header->state < SAMPLES_STATES
		                                                ? (enum samples_state)header->state
		                                                : SAMPLES_IDLE,
		                                   .code = header->code };

	samples->used = true;
	memcpy(process.where, header->where, sizeof process.where - 1);
	if (header->exact.state != EXACT_UNASKED) {
		samples->exact =
		    grow(samples->exact, samples->exact_count, sizeof *samples->exact, failed);
		if (!*failed)
			samples->exact[samples->exact_count++] = header->exact;
	}
	// One that counts does not sample.
	if (!header->exact.counts) {
		samples->processes =
		    grow(samples->processes, samples->process_count, sizeof process, failed);
		if (!*failed)
			samples->processes[samples->process_count++] = process;
	}
	if (header->period)
		samples->period = header->period;
	add_sums(&samples->sums, header);
}

// A process's file, of which there are `bytes`.
static void take_file(struct reading *reading, const struct samples_file *file, size_t bytes,
                      bool *failed)
{
	const struct samples_header *header = &file->header;
	enum tare_stall names[SAMPLES_REASONS];
	uint32_t kernels[SAMPLES_FUNCTIONS];

	if (bytes < offsetof(struct samples_file, functions) || header->magic != SAMPLES_MAGIC)
		return;
	take_process(reading, header, failed);
	for (uint32_t i = 0; i < SAMPLES_REASONS; i++) {
		char name[SAMPLES_REASON_BYTES + 1] = { 0 };
		memcpy(name, header->reasons[i], SAMPLES_REASON_BYTES);
		names[i] = i < header->reason_count ? stall_of(name) : TARE_STALLS;
	}
	take_launches(reading, file, failed);
	size_t functions =
	    (bytes - offsetof(struct samples_file, functions)) / sizeof(struct samples_function);
	if (functions > header->functions)
		functions = header->functions;
	if (functions > SAMPLES_FUNCTIONS)
		functions = SAMPLES_FUNCTIONS;
	for (size_t i = 0; i < functions && !*failed; i++)
		kernels[i] = kernel_of(reading, &file->functions[i], failed);
	for (size_t i = 0; i < functions && header->exact.counts && !*failed; i++)
		note_exact(&reading->samples->kernels[kernels[i]], failed);
	size_t records =
	    bytes > offsetof(struct samples_file, records)
	        ? (bytes - offsetof(struct samples_file, records)) / sizeof(struct samples_record)
	        : 0;
	for (size_t i = 0; i < records && i < header->records && !*failed; i++) {
		const struct samples_record *record = &file->records[i];
		if (record->function >= functions)
			continue;
		if (header->exact.counts)
			take_exact(reading, record, kernels[record->function], failed);
		else
			take_record(reading, record, kernels[record->function], names, failed);
	}
}

static int read_files(struct reading *reading, int folder, DIR *stream)
{
	bool failed = false;

	for (struct dirent *entry; !failed && (entry = readdir(stream));) {
		size_t length = strlen(entry->d_name), end = strlen(SAMPLES_SUFFIX);
		struct stat status;
		if (length < end || strcmp(entry->d_name + length - end, SAMPLES_SUFFIX) != 0)
			continue;
		int file = openat(folder, entry->d_name, O_RDONLY | O_CLOEXEC);
		if (file < 0)
			continue;
		size_t bytes = fstat(file, &status) == 0 ? (size_t)status.st_size : 0;
		void *memory =
		    bytes ? mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
		close(file);
		if (memory == MAP_FAILED)
			continue;
		take_file(reading, memory, bytes, &failed);
		munmap(memory, bytes);
	}
	return failed ? -ENOMEM : 0;
}

// ---- modules

// The whole file; NULL: there is none, or no memory.
static uint8_t *load(int folder, const char *name, size_t *bytes)
{
	int file = openat(folder, name, O_RDONLY | O_CLOEXEC);
	struct stat status;

	if (file < 0)
		return NULL;
	size_t have = 0, whole = fstat(file, &status) == 0 ? (size_t)status.st_size : 0;
	uint8_t *data = whole ? malloc(whole) : NULL;
	while (data && have < whole) {
		ssize_t more = read(file, data + have, whole - have);
		if (more <= 0)
			break;
		have += (size_t)more;
	}
	close(file);
	*bytes = have;
	return data;
}

// Reads the modules that were met, each once, and leads kernels to them.
static int read_modules(struct reading *reading, int folder)
{
	struct tare_pc_samples *samples = reading->samples;

	samples->cubins = calloc(samples->kernel_count + 1, sizeof *samples->cubins);
	samples->crcs = calloc(samples->kernel_count + 1, sizeof *samples->crcs);
	if (!samples->cubins || !samples->crcs)
		return -ENOMEM;
	for (size_t i = 0; i < samples->kernel_count; i++) {
		struct tare_sampled_kernel *kernel = &samples->kernels[i];
		size_t at = 0, bytes;
		char name[64];
		while (at < samples->cubin_count && samples->crcs[at] != kernel->crc)
			at++;
		if (at == samples->cubin_count) {
			snprintf(name, sizeof name, "%016llx" SAMPLES_CUBIN_SUFFIX,
			         (unsigned long long)kernel->crc);
			uint8_t *data = load(folder, name, &bytes);
			samples->crcs[samples->cubin_count++] = kernel->crc;
			int status =
			    data ? tare_cubin_read(data, bytes, &samples->cubins[at]) : -EINVAL;
			if (status == -ENOMEM)
				return status;
			if (status < 0)
				tare_cubin_free(&samples->cubins[at]);
		}
		if (samples->cubins[at].data)
			kernel->cubin = &samples->cubins[at];
	}
	return 0;
}

// ---- joining

static bool is_met_before(const struct met *a, const struct met *b)
{
	return a->kernel != b->kernel ? a->kernel < b->kernel : a->pc < b->pc;
}

static int compare_met(const void *a, const void *b)
{
	return is_met_before(a, b) ? -1 : is_met_before(b, a);
}

static int make_room(struct tare_sampled_kernel *kernel, size_t count)
{
	kernel->instructions = calloc(count + 1, sizeof *kernel->instructions);
	if (kernel->exact)
		kernel->exact->at = calloc(count + 1, sizeof *kernel->exact->at);
	return kernel->instructions && (!kernel->exact || kernel->exact->at) ? 0 : -ENOMEM;
}

static void place(struct tare_sampled_kernel *kernel, uint64_t at, const struct met *met)
{
	tare_stalls_add(&kernel->instructions[at], &met->counts);
	if (!kernel->exact)
		return;
	kernel->exact->at[at].warps += met->exact.warps;
	kernel->exact->at[at].threads += met->exact.threads;
}

static void stray(struct tare_sampled_kernel *kernel, const struct met *met)
{
	kernel->astray += met->counts.all;
	if (kernel->exact)
		kernel->exact->astray += met->exact.warps;
}

// Without a module: instructions are those that were met, in their order.
static int place_met(struct tare_sampled_kernel *kernel, const struct met *met, size_t count)
{
	kernel->pcs = calloc(count + 1, sizeof *kernel->pcs);
	if (!kernel->pcs || make_room(kernel, count) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		if (!kernel->count || kernel->pcs[kernel->count - 1] != met[i].pc)
			kernel->pcs[kernel->count++] = met[i].pc;
		place(kernel, kernel->count - 1, &met[i]);
	}
	return 0;
}

static int place_code(struct tare_sampled_kernel *kernel, const struct met *met, size_t count)
{
	kernel->count = (uint32_t)(kernel->function->bytes / TARE_SASS_BYTES);
	if (make_room(kernel, kernel->count) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		uint64_t at = met[i].pc / TARE_SASS_BYTES;
		if (met[i].pc % TARE_SASS_BYTES == 0 && at < kernel->count)
			place(kernel, at, &met[i]);
		else
			stray(kernel, &met[i]);
	}
	return 0;
}

static void tell_launches(const struct reading *reading, size_t at)
{
	const struct tare_pc_samples *samples = reading->samples;
	struct tare_sampled_kernel *kernel = &samples->kernels[at];

	for (size_t i = 0; i < reading->launched_count; i++)
		if (reading->launched[i].name_hash == reading->hashes[at]) {
			kernel->launches = reading->launched[i].launches;
			kernel->warps = reading->launched[i].warps;
		}
	kernel->why = !kernel->function                ? TARE_SAMPLED_NO_CODE
	              : !samples->sums.counts_launches ? TARE_SAMPLED_NOT_ASKED
	              : !kernel->launches              ? TARE_SAMPLED_NO_LAUNCH
	              : samples->sums.graphs           ? TARE_SAMPLED_GRAPHS
	              : kernel->cubin->launches        ? TARE_SAMPLED_BY_DEVICE
	              : samples->sums.lost_launches    ? TARE_SAMPLED_LOST
	                                               : TARE_SAMPLED_UNCOUNTED;
	for (size_t i = 0; i < samples->kernel_count; i++)
		if (kernel->why == TARE_SAMPLED_UNCOUNTED && i != at &&
		    reading->hashes[i] == reading->hashes[at])
			kernel->why = TARE_SAMPLED_TWICE;
}

static int join(struct reading *reading)
{
	struct tare_pc_samples *samples = reading->samples;
	size_t from = 0;
	int status = 0;

	if (reading->met_count)
		qsort(reading->met, reading->met_count, sizeof *reading->met, compare_met);
	for (size_t i = 0; status == 0 && i < samples->kernel_count; i++) {
		struct tare_sampled_kernel *kernel = &samples->kernels[i];
		size_t to = from;
		for (; to < reading->met_count && reading->met[to].kernel == i; to++)
			tare_stalls_add(&kernel->stalls, &reading->met[to].counts);
		if (kernel->cubin)
			kernel->function =
			    tare_cubin_find(kernel->cubin, reading->symbols[i], kernel->name);
		if (kernel->function && !kernel->function->code)
			kernel->function = NULL;
		tell_launches(reading, i);
		status = kernel->function ? place_code(kernel, reading->met + from, to - from)
		                          : place_met(kernel, reading->met + from, to - from);
		from = to;
		status = status ?: tare_sampled_kernel_work_out(kernel);
		if (status == 0 && kernel->exact)
			status = tare_exact_work_out(samples, kernel, reading->hashes[i]);
		tare_stalls_add(&samples->stalls, &kernel->stalls);
	}
	samples->samples = samples->stalls.all;
	return status;
}

static int compare_kernels(const void *a, const void *b)
{
	const struct tare_sampled_kernel *x = a, *y = b;

	// What was counted was asked for.
	if (!x->exact != !y->exact)
		return x->exact ? -1 : 1;
	if (x->stalls.all != y->stalls.all)
		return x->stalls.all > y->stalls.all ? -1 : 1;
	return strcmp(x->name, y->name);
}

int tare_pc_samples_read(const char *folder, struct tare_pc_samples *samples,
                         struct tare_error *error)
{
	struct reading reading = { .samples = samples };
	int place = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = opendir(folder);
	int status = 0;

	*samples = (struct tare_pc_samples){ 0 };
	if (stream && place >= 0)
		status = read_files(&reading, place, stream);
	status = status ?: read_modules(&reading, place);
	status = status ?: join(&reading);
	if (status == 0 && samples->kernel_count)
		qsort(samples->kernels, samples->kernel_count, sizeof *samples->kernels,
		      compare_kernels);
	if (stream)
		closedir(stream);
	if (place >= 0)
		close(place);
	free(reading.met);
	free(reading.launched);
	free(reading.hashes);
	free(reading.symbols);
	return status < 0 ? tare_fail(error, ENOMEM, "out of memory") : 0;
}

static void free_kernel(struct tare_sampled_kernel *kernel)
{
	for (uint32_t i = 0; kernel->text && i < kernel->count; i++)
		free(kernel->text[i]);
	free(kernel->text);
	free(kernel->name);
	free(kernel->plain);
	free(kernel->instructions);
	free(kernel->pcs);
	free(kernel->split.at);
	free(kernel->blocks);
	free(kernel->lines);
	tare_exact_free(kernel->exact);
}

void tare_pc_samples_free(struct tare_pc_samples *samples)
{
	for (size_t i = 0; i < samples->kernel_count; i++)
		free_kernel(&samples->kernels[i]);
	for (size_t i = 0; i < samples->cubin_count; i++)
		tare_cubin_free(&samples->cubins[i]);
	free(samples->kernels);
	free(samples->cubins);
	free(samples->crcs);
	free(samples->processes);
	free(samples->exact);
	free(samples->uncounted);
	*samples = (struct tare_pc_samples){ 0 };
}
