// SPDX-License-Identifier: Apache-2.0
#include "report/core/json.h"

#if TARE_HAVE_JSON

json_t *tare_json_time(int64_t ns)
{
	return ns == TARE_NO_TIME ? json_null() : json_integer(ns);
}

json_t *tare_json_index(uint32_t index)
{
	return index == TARE_NO_INDEX ? json_null() : json_integer(index);
}

#endif
