// SPDX-License-Identifier: Apache-2.0
// Figures and cells of the ladder, labelled alike.
#include "backend/call.h"
#include "measure/matmul/internal.h"
#include <string.h>

struct tare_figure *matmul_figure(struct matmul_product *product,
                                  struct tare_measurement *measurement, enum tare_part part,
                                  const char *source, const char *method)
{
	struct matmul *matmul = product->matmul;
	bool device = strcmp(source, "device") == 0;
	struct tare_figure *figure =
	    tare_measurement_add(measurement, "time", "ps", source, "%s%s", method,
	                         device ? tare_bench_stamp_note(&matmul->bench) : "");

	tare_labels_set_text(&figure->labels, "rung", tare_rung_name(product->rung));
	tare_labels_set_number(&figure->labels, "n", product->n);
	tare_labels_set_text(&figure->labels, "part", tare_part_name(part));
	figure->stamp_note_at = strlen(method);
	figure->quantum = device ? matmul->bench.step_ps : 1000 * (double)matmul->run->host_step_ns;
	figure->floor = 1;
	return figure;
}

struct tare_cell *matmul_add_cell(struct tare_result *result, enum tare_rung rung, uint32_t n,
                                  enum tare_part part, const char *quantity, const char *unit,
                                  const char *source)
{
	struct tare_cell *cell = tare_result_add_cell(result, quantity, unit, source);

	tare_labels_set_text(&cell->labels, "rung", tare_rung_name(rung));
	if (n)
		tare_labels_set_number(&cell->labels, "n", n);
	tare_labels_set_text(&cell->labels, "part", tare_part_name(part));
	return cell;
}

void matmul_add_once(struct matmul *matmul, enum tare_rung rung, uint32_t n, enum tare_part part,
                     int64_t ns, const char *method)
{
	struct tare_cell *cell =
	    matmul_add_cell(matmul->run->result, rung, n, part, "time", "ps", "host");
	struct tare_series series = { .rule = tare_stopping_default() };

	tare_cell_set_method(cell, method);
	if (ns <= 0) {
		tare_cell_set_absent(cell, "shorter than a step of the host's clock");
		return;
	}
	if (tare_series_add(&series, ns * 1000) < 0)
		tare_result_fail(matmul->run->result);
	tare_cell_take_series(cell, &series, TARE_NOT_CONVERGED);
	tare_series_clear(&series);
}

void matmul_add_absent(struct matmul *matmul, enum tare_rung rung, uint32_t n,
                       enum tare_absence absence, const char *reason)
{
	bool host = matmul_on_host(rung);
	struct tare_cell *cell =
	    matmul_add_cell(matmul->run->result, rung, n, host ? TARE_PART_TOTAL : TARE_PART_KERNEL,
	                    "time", "ps", host ? "host" : "device");

	tare_cell_set_absent_as(cell, absence, "%s", reason);
}
