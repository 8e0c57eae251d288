// SPDX-License-Identifier: Apache-2.0
#include "report/tables/values.h"

#include "base/units.h"

size_t tare_rows_shown(struct tare_text *text, size_t count, size_t top)
{
	return text->options->verbosity > 0 || count <= top ? count : top;
}

struct tare_cell_value tare_run_device_name(const struct tare_report *run, uint32_t device)
{
	return tare_string(
	    device < run->recording->device_count ? run->recording->devices[device].name : NULL);
}

struct tare_cell_value tare_run_device(const struct tare_report *run, uint32_t device)
{
	uint32_t number = tare_report_device_number(run->recording, device);

	return tare_if(number != TARE_NO_INDEX, tare_integer(number), TARE_NOT_KNOWN);
}

struct tare_cell_value tare_run_moment(const struct tare_report *run, int64_t at_ns)
{
	return at_ns == TARE_NO_TIME ? tare_absent(TARE_NOT_KNOWN)
	                             : tare_integer(at_ns - run->recording->start_ns);
}

const struct tare_recorded_program *tare_run_program(const struct tare_report *run,
                                                     uint32_t program)
{
	return program < run->recording->program_count ? &run->recording->programs[program] : NULL;
}

struct tare_cell_value tare_run_source_hash(const struct tare_recorded_program *program)
{
	return program && program->source_hash ? tare_integer((int64_t)program->source_hash)
	                                       : tare_absent(TARE_NOT_KNOWN);
}

struct tare_cell_value tare_run_build_options(const struct tare_recorded_program *program)
{
	return tare_string(program ? program->build_options : NULL);
}

struct tare_cell_value tare_run_estimated(const struct tare_estimate *estimate, double ns)
{
	return estimate->unsampled ? tare_number(ns, TARE_NOT_TIMED) : tare_absent(TARE_NOT_THERE);
}

bool tare_run_estimate_cell(const struct tare_estimate *estimate, int64_t timed_ns,
                            const struct tare_cell_text *cell)
{
	const struct tare_report_unit unit = { "", cell->unit_ns };
	char figure[RUN_TEXT], about[TARE_UNIT_TEXT];

	if (estimate->unsampled == 0 || timed_ns == 0)
		return false;
	if (!tare_report_is_estimated(estimate)) {
		snprintf(cell->text, cell->size, "≥%s",
		         tare_report_time((double)timed_ns, unit, figure));
		return true;
	}
	snprintf(cell->text, cell->size, "~%s ±%s", tare_report_time(estimate->ns, unit, figure),
	         tare_format_significant((estimate->high_ns - estimate->ns) / unit.ns, 2, about));
	return true;
}
