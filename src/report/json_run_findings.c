// SPDX-License-Identifier: Apache-2.0
#include "report/json_run.h"

#if TARE_HAVE_JSON
void tare_json_put_findings(struct tare_json *json, const struct tare_run_report *run, json_t *root)
{
	(void)run;
	tare_json_put(json, root, "findings", json_array());
	tare_json_put(json, root, "unjudged", json_array());
	tare_json_put(json, root, "findings_together_ns", json_integer(0));
}

#endif
