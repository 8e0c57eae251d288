// SPDX-License-Identifier: Apache-2.0
#include "report/report.h"

#include "tests/unit/result/rich_result.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static char *write_text(const struct tare_result *result)
{
	char *text = NULL;
	size_t length = 0;
	struct tare_error error = { 0 };
	FILE *file = open_memstream(&text, &length);
	assert_non_null(file);
	assert_int_equal(tare_report_csv(result, file, &error), 0);
	fclose(file);
	return text;
}

static const char cells_header[] =
    "quantity,unit,n,min,median,p95,ci_low,ci_high,converged,source,verified,rate_unit,rate_min,"
    "rate_median,rate_p95,rate_ci_low,rate_ci_high,absent\r\n";

static void a_cell_is_a_row_and_labels_are_columns(void **state)
{
	struct tare_result *result = tare_result_new("bandwidth");
	char *text, *expected = NULL;
	(void)state;
	assert_int_equal(rich_fill(result, false), 0);
	text = write_text(result);
	assert_true(
	    asprintf(
	        &expected,
	        "line,bytes,queues,%s"
	        "host-to-device,1099511627776,,time,ns,12,1000,1016.5,1100.125,1004,1010,true,"
	        "device,true,GB/s,63.4424007744,64.4722085588,59.5714123395,64.8871287129,"
	        "65.2749003984,\r\n"
	        "\"device, \"\"quoted\"\"\",,,time,ps,3,1000,1003,1100.125,1004,1010,false,"
	        "host,false,,,,,,,\r\n"
	        ",,-1,half-rate size,B,0,,53.3333333333,,40,,false,model,,,,,,,,\r\n"
	        "shared,,,time,ns,0,,,,,,false,device,,,,,,,,this device has no shared memory\r\n",
	        cells_header) > 0);
	assert_string_equal(text, expected);
	tare_result_free(result);
	free(text);
	free(expected);
}

// Columns are those of all parts; a cell without a label has an empty field there.
static void parts_are_rows_under_one_header(void **state)
{
	struct tare_result *result = tare_result_new("checkup");
	char *text, *expected = NULL;
	(void)state;
	for (int i = 0; i < 3; i++) {
		static const char *const rows[3][3] = { { "latency", "group", "launch" },
			                                { "peak", "width", NULL },
			                                { "checkup", "group", "all" } };
		struct tare_result *part = i < 2 ? tare_result_new(rows[i][0]) : result;
		struct tare_cell *cell = tare_result_add_cell(part, "time", "ns", "host");
		if (rows[i][2])
			assert_int_equal(
			    tare_labels_set_text(&cell->labels, rows[i][1], rows[i][2]), 0);
		else
			assert_int_equal(tare_labels_set_number(&cell->labels, rows[i][1], 4), 0);
		if (i < 2)
			assert_int_equal(tare_result_add_part(result, part), 0);
	}
	text = write_text(result);
	assert_true(
	    asprintf(&expected,
	             "command,group,width,%slatency,launch,,time,ns,0,,,,,,false,host,,,,,,,,\r\n"
	             "peak,,4,time,ns,0,,,,,,false,host,,,,,,,,\r\n"
	             "checkup,all,,time,ns,0,,,,,,false,host,,,,,,,,\r\n",
	             cells_header) > 0);
	assert_string_equal(text, expected);
	tare_result_free(result);
	free(text);
	free(expected);
}

static void texts_are_quoted_as_rfc_4180_says(void **state)
{
	static const struct {
		const char *text, *field;
	} rows[] = {
		{ "plain text", "plain text" },
		{ "a,b", "\"a,b\"" },
		{ "say \"hi\"", "\"say \"\"hi\"\"\"" },
		{ "two\nlines", "\"two\nlines\"" },
		{ "cr\r", "\"cr\r\"" },
		{ "", "" },
		{ "µ", "µ" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_result *result = tare_result_new("latency");
		struct tare_cell *cell = tare_result_add_cell(result, "time", "ns", "host");
		char *text, *expected = NULL;
		assert_int_equal(tare_labels_set_text(&cell->labels, rows[i].text, rows[i].text),
		                 0);
		text = write_text(result);
		assert_true(asprintf(&expected, "%s,%s%s,time,ns,0,,,,,,false,host,,,,,,,,\r\n",
		                     rows[i].field, cells_header, rows[i].field) > 0);
		assert_string_equal(text, expected);
		tare_result_free(result);
		free(text);
		free(expected);
	}
}

static void a_document_without_cells_is_a_header(void **state)
{
	struct tare_result *result = tare_result_new("latency");
	char *text = write_text(result);
	(void)state;
	assert_string_equal(text, cells_header);
	tare_result_free(result);
	free(text);
}

static void a_device_is_a_row_for_each_fact(void **state)
{
	static const char *const rows[] = {
		"device,backend,index,key,value,unit,origin,reason\r\n7,opencl,0,name,",
		"\r\n7,opencl,0,name,\"GPU \"\"one\"\" \\ µ\",,driver,\r\n",
		"\r\n7,opencl,0,uuid,,,,OpenCL does not tell\r\n",
		"\r\n7,opencl,1,compute_units,132,,system,\r\n",
		"\r\n7,opencl,1,memory_bytes,150754820096,B,driver,\r\n",
		"\r\n7,opencl,1,host_unified_memory,false,,driver,\r\n",
		"\r\n7,opencl,1,timer_resolution_ns,83.33333333333333,ns,measured,\r\n",
		"\r\n7,opencl,1,fp64,,,,not asked\r\n",
		"\r\n,cuda,,,,,,no libcuda.so.1\r\n,levelzero,,,,,,no loader\r\n",
	};
	struct tare_result *result = tare_result_new("devices");
	char *text;
	size_t lines = 0;
	(void)state;
	assert_int_equal(rich_fill(result, true), 0);
	text = write_text(result);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strstr(text, rows[i]))
			fail_msg("no row %s in\n%s", rows[i], text);
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	assert_int_equal(lines, 1 + 2 * TARE_FACT_COUNT_OF + 2);
	tare_result_free(result);
	free(text);
}

// No two columns have one name: a matrix's n is not the count of samples.
static void a_label_that_is_called_as_a_column_gets_a_prefix(void **state)
{
	struct tare_result *result = tare_result_new("matmul");
	struct tare_cell *cell = tare_result_add_cell(result, "time", "ps", "host");
	char *text, *expected = NULL;
	(void)state;
	assert_int_equal(tare_labels_set_text(&cell->labels, "rung", "naive"), 0);
	assert_int_equal(tare_labels_set_number(&cell->labels, "n", 64), 0);
	text = write_text(result);
	assert_true(asprintf(&expected, "rung,label_n,%snaive,64,time,ps,0,", cells_header) > 0);
	assert_memory_equal(text, expected, strlen(expected));
	tare_result_free(result);
	free(text);
	free(expected);
}

static void a_full_disk_is_an_error(void **state)
{
	struct tare_result *result = tare_result_new("latency");
	struct tare_error error = { 0 };
	FILE *file = fopen("/dev/full", "w");
	(void)state;
	assert_non_null(file);
	assert_int_equal(tare_report_csv(result, file, &error), -EIO);
	assert_non_null(strstr(error.message, "No space left"));
	fclose(file);
	tare_result_free(result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cell_is_a_row_and_labels_are_columns),
		cmocka_unit_test(parts_are_rows_under_one_header),
		cmocka_unit_test(texts_are_quoted_as_rfc_4180_says),
		cmocka_unit_test(a_document_without_cells_is_a_header),
		cmocka_unit_test(a_device_is_a_row_for_each_fact),
		cmocka_unit_test(a_label_that_is_called_as_a_column_gets_a_prefix),
		cmocka_unit_test(a_full_disk_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
