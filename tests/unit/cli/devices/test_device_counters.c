// SPDX-License-Identifier: Apache-2.0
// What speaks against reading counters, and which of a driver's counters tell what is asked for.
#include "analysis/hotspots/levelzero_metrics.h"
#include "cli/devices/device_counters.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void write_file(const char *folder, const char *path, const char *content)
{
	char name[256];
	FILE *file;

	snprintf(name, sizeof name, "%s%s", folder, path);
	for (char *at = name + strlen(folder) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(name, 0700);
		*at = '/';
	}
	file = fopen(name, "w");
	assert_non_null(file);
	fputs(content, file);
	fclose(file);
}

static void the_systems_settings_are_read(void **state)
{
	static const char params[] = "/proc/driver/nvidia/params",
	                  i915[] = "/proc/sys/dev/i915/perf_stream_paranoid",
	                  xe[] = "/proc/sys/dev/xe/observation_paranoid";
	char folder[] = "/tmp/tare-counters-XXXXXX", text[512], command[128];

	(void)state;
	assert_non_null(mkdtemp(folder));
	tare_device_counters_forbidden(folder, text);
	assert_string_equal(text, "");
	write_file(folder, params, "DmaRemapPeerMmio: 1\nRmProfilingAdminOnly: 0\nOther: 1\n");
	write_file(folder, i915, "0\n");
	tare_device_counters_forbidden(folder, text);
	assert_string_equal(text, "");
	write_file(folder, params, "DmaRemapPeerMmio: 1\nRmProfilingAdminOnly: 1\nOther: 0\n");
	tare_device_counters_forbidden(folder, text);
	assert_non_null(strstr(text, "NVreg_RestrictProfilingToAdminUsers=0"));
	assert_null(strstr(text, "i915"));
	write_file(folder, i915, "1\n");
	write_file(folder, xe, "1\n");
	tare_device_counters_forbidden(folder, text);
	assert_non_null(strstr(text, "; only root may read counters of i915"));
	assert_non_null(strstr(text, "sysctl dev.xe.observation_paranoid=0 allows it"));
	snprintf(command, sizeof command, "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

static void metrics_are_known_by_their_names_of_each_generation(void **state)
{
	(void)state;
	assert_int_equal(tare_levelzero_metric_of("XVE_ACTIVE"), TARE_LEVELZERO_ACTIVE);
	assert_int_equal(tare_levelzero_metric_of("EuActive"), TARE_LEVELZERO_ACTIVE);
	assert_int_equal(tare_levelzero_metric_of("EuStall"), TARE_LEVELZERO_STALLED);
	assert_int_equal(tare_levelzero_metric_of("L3_BYTE_READ"), TARE_LEVELZERO_L3_READ);
	assert_int_equal(tare_levelzero_metric_of("EuActive2"), TARE_LEVELZERO_METRICS);
	assert_int_equal(tare_levelzero_metric_of(""), TARE_LEVELZERO_METRICS);
	for (enum tare_levelzero_metric m = 0; m < TARE_LEVELZERO_METRICS; m++)
		assert_non_null(tare_levelzero_metric_title(m));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_systems_settings_are_read),
		cmocka_unit_test(metrics_are_known_by_their_names_of_each_generation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
