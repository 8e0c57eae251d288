// SPDX-License-Identifier: Apache-2.0
// Copies between the host and a device that has the host's memory: what they bring could be used
// where it lies.
#include "analysis/findings/transfers/internal.h"

#include "analysis/findings/alone.h"
#include "base/cleanup.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>

enum { LEAST_BYTES = 4096, FEWEST = 2 };
#define ZERO_COPY_SHARE 0.1
// A kernel that reads what no copy has brought near may wait for it; and a map and an unmap are
// calls, too.
#define SURE_PART 0.5

#define CPU_TYPE 2 // CL_DEVICE_TYPE_CPU

struct zero_copy {
	uint64_t copies;
	double bytes, alone_ns;
	double beside_ns; // inside calls that block, beside the copy and what it waited for
	int64_t done_ns;  // until then the device worked on what was before
};

static bool shares_memory(const struct tare_recording *recording, uint32_t device)
{
	return device < recording->device_count && (recording->devices[device].unified_memory ||
	                                            recording->devices[device].type & CPU_TYPE);
}

bool finding_shares_memory(const struct tare_recording *recording)
{
	size_t devices = 0, shared = 0;
	for (uint32_t i = 0; i < recording->device_count; i++) {
		devices += recording->devices[i].same_as == i;
		shared += recording->devices[i].same_as == i && shares_memory(recording, i);
	}
	return devices > 0 && shared == devices;
}

// An image is laid out as the device likes it: it must be copied.
static bool need_not_be(const struct evaluation *evaluation,
                        const struct tare_recorded_command *command)
{
	const struct tare_recording *recording = evaluation->recording;
	bool image = command->object < recording->memory_count &&
	             recording->memories[command->object].kind == TARE_TRACE_MEMORY_IMAGE;
	return finding_is_copy(evaluation, command) && command->amount >= LEAST_BYTES && !image &&
	       shares_memory(recording, tare_command_device(recording, command));
}

static void add(struct zero_copy *sum, struct finding_draft *draft, uint32_t at, int64_t alone_ns)
{
	const struct tare_recorded_command *command =
	    TARE_COMMAND(draft->evaluation->recording, at);
	bool blocking = command->flags & TARE_COMMAND_BLOCKING && !tare_command_is_run(command);
	if (blocking) {
		int64_t ready_ns =
		    sum->done_ns > command->enter_ns ? sum->done_ns : command->enter_ns;
		sum->beside_ns += fmax(0, (double)(command->start_ns - ready_ns)) +
		                  fmax(0, (double)(command->exit_ns - command->end_ns));
	}
	sum->copies++;
	sum->bytes += (double)command->amount;
	sum->alone_ns += (double)alone_ns;
	finding_claim(draft, command->start_ns, command->end_ns);
	if (blocking)
		finding_claim(draft, command->enter_ns, command->exit_ns);
	finding_saw_command(draft, at, command->start_ns, command->end_ns, alone_ns);
}

static int add_up(struct evaluation *evaluation, const bool *copies, uint32_t device,
                  struct zero_copy *sum, struct finding_draft *draft)
{
	const struct tare_recording *recording = evaluation->recording;
	struct finding_alone alone;
	int code = finding_alone_open(evaluation, copies, &alone);
	for (size_t i = 0; i < evaluation->order_count && !code; i++) {
		uint32_t at = evaluation->order[i];
		const struct tare_recorded_command *command = TARE_COMMAND(recording, at);
		int64_t end_ns = command->end_ns;
		if (tare_command_device(recording, command) != device)
			continue;
		if (copies[at])
			add(sum, draft, at, finding_alone_ns(&alone, command));
		sum->done_ns = end_ns > sum->done_ns ? end_ns : sum->done_ns;
	}
	finding_alone_close(&alone);
	return code;
}

static int evaluate(struct evaluation *evaluation, const bool *copies, uint32_t device)
{
	struct finding_draft draft;
	struct zero_copy sum = { .done_ns = INT64_MIN };
	char ns[TARE_UNIT_TEXT], bytes[TARE_UNIT_TEXT];
	finding_begin(evaluation, &draft, "zero-copy");
	int code = add_up(evaluation, copies, device, &sum, &draft);
	if (code || sum.copies < FEWEST ||
	    !finding_matters(evaluation, device, sum.alone_ns, 2, sum.copies, 0, ZERO_COPY_SHARE)) {
		finding_drop(&draft);
		return code;
	}
	tare_format_ns(sum.alone_ns, ns);
	tare_format_bytes((uint64_t)fmin(sum.bytes, 0x1p63), bytes);
	finding_title(
	    &draft,
	    "%llu copies between host and device need not be: the device has the host's memory",
	    (unsigned long long)sum.copies);
	finding_evidence(&draft,
	                 "%s copied in %s that nothing else hides; a kernel may be slower by a "
	                 "part of it, where "
	                 "it is the first to touch what no copy has brought near",
	                 bytes, ns);
	finding_advice(&draft, "%s", finding_word(evaluation, FINDING_WORD_IN_PLACE));
	finding_figure(&draft, "copies", (double)sum.copies, "counted");
	finding_figure(&draft, "bytes", sum.bytes, "counted");
	finding_figure(&draft, "alone_ns", sum.alone_ns, "device timestamp");
	finding_cost(&draft, SURE_PART * sum.alone_ns, sum.alone_ns, sum.alone_ns + sum.beside_ns);
	draft.finding.confidence = TARE_CONFIDENCE_LIKELY;
	draft.finding.device = device;
	// That so much is copied is said once, with what to do about it here.
	finding_take_back(evaluation, "transfers-dominate", sum.alone_ns / SURE_PART);
	return finding_raise(&draft);
}

int finding_zero_copy(struct evaluation *evaluation, struct tare_error *error)
{
	const struct tare_recording *recording = evaluation->recording;
	bool shares = false;
	for (uint32_t i = 0; i < recording->device_count; i++)
		shares = shares || shares_memory(recording, i);
	if (!shares)
		return 0;
	TARE_FREE bool *copies = calloc(recording->command_count + 1, sizeof *copies);
	int code = copies ? 0 : -ENOMEM;
	(void)error;
	for (size_t i = 0; i < evaluation->order_count && !code; i++)
		copies[evaluation->order[i]] =
		    need_not_be(evaluation, TARE_COMMAND(recording, evaluation->order[i]));
	for (uint32_t i = 0; i < recording->device_count && !code; i++)
		if (recording->devices[i].same_as == i && shares_memory(recording, i))
			code = evaluate(evaluation, copies, i);
	return code;
}
