// SPDX-License-Identifier: Apache-2.0
#include "result/json.h"

#include "result/document.h"

#include <errno.h>
#include <string.h>

#if !TARE_HAVE_JSON

int tare_result_write_json_tables(const struct tare_result *result,
                                  struct json_t *(*tables)(struct tare_json *json,
                                                           const struct tare_result *result),
                                  FILE *file, struct tare_error *error)
{
	(void)result;
	(void)tables;
	(void)file;
	return tare_fail(error, ENOSYS, "this tare was built without JSON; build it with jansson");
}

#else

int tare_result_write_json_tables(const struct tare_result *result,
                                  struct json_t *(*tables)(struct tare_json *json,
                                                           const struct tare_result *result),
                                  FILE *file, struct tare_error *error)
{
	struct tare_json json = { .tables = tables };
	int status = tare_result_status(result);
	json_t *root = status == 0 ? tare_json_record(&json, &tare_document_record, result) : NULL;

	if (json.failed)
		status = -ENOMEM;
	errno = 0;
	status = status ?: tare_json_layout(root, file);
	json_decref(root);
	if (status < 0)
		return tare_fail(error, -status, "out of memory for the result as JSON");
	if (fflush(file) != 0 || ferror(file))
		return tare_fail(error, EIO, "cannot write the result as JSON: %s",
		                 errno ? strerror(errno) : "the output has failed");
	return 0;
}
#endif

int tare_result_write_json(const struct tare_result *result, FILE *file, struct tare_error *error)
{
	return tare_result_write_json_tables(result, NULL, file, error);
}
