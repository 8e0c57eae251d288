// SPDX-License-Identifier: Apache-2.0
// Documents that are nothing but declared tables.
#pragma once
#include "blocks/report/tables.h"
#include "report/hotspots/tables.h"
#include "report/run/tables.h"

static const struct tare_table *const documents[] = { &tare_report_document_table,
	                                              &tare_hotspots_document,
	                                              &tare_blocks_document_table, NULL };
