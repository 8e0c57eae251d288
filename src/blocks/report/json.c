// SPDX-License-Identifier: Apache-2.0
#include "blocks/report/tables.h"
#include "report/core/table_json.h"
#include "tare_config.h"

#include <errno.h>

#if TARE_HAVE_JSON
int tare_blocks_json(const struct tare_blocks_document *document, FILE *file,
                     struct tare_error *error)
{
	struct tare_json json = { false };
	struct tare_blocks_rows rows;
	int status = tare_blocks_rows_make(document, &rows);
	json_t *tree =
	    status < 0 ? NULL : tare_table_object_json(&json, &tare_blocks_document_table, &rows);

	status = json.failed || !tree ? -ENOMEM : tare_json_layout(tree, file);
	json_decref(tree);
	tare_blocks_rows_free(&rows);
	return status < 0 ? tare_fail(error, -status, "out of memory") : 0;
}
#else
int tare_blocks_json(const struct tare_blocks_document *document, FILE *file,
                     struct tare_error *error)
{
	(void)document, (void)file;
	return tare_fail(error, ENOTSUP, "this tare was built without JSON (jansson)");
}
#endif
