// SPDX-License-Identifier: Apache-2.0
// What may lie in which window.
#include "trace/record.h"

#include "base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

// Whether some record of this type is right in such a window. Of members that are 0 to 2 one in so
// many is: what a type asks for of its own is less than that.
static bool can_lie(uint8_t type, bool definitions)
{
	struct tare_random random = { 1 };

	for (int i = 0; i < 5000; i++) {
		union tare_trace_record record;
		uint8_t *bytes = (uint8_t *)&record;
		for (size_t k = 0; k < sizeof record; k++)
			bytes[k] = (uint8_t)(tare_random_below(&random, 8) % 3 % (k % 4 ? 2 : 3));
		record.head = tare_trace_head(type, 0, (uint16_t)tare_random_below(&random, 3), 1);
		if (tare_trace_judge(&record, definitions) == TARE_TRACE_SOUND)
			return true;
	}
	return false;
}

static void every_type_lies_where_the_format_has_it(void **state)
{
	(void)state;
	for (unsigned type = 0; type <= UINT8_MAX; type++) {
		bool definition = type >= TARE_TRACE_STRING && type <= TARE_TRACE_NODE;
		bool event = type >= TARE_TRACE_CALL && type <= TARE_TRACE_SAMPLING;
		bool both = type == TARE_TRACE_CLOCK_PAIR || type == TARE_TRACE_VOID;
		if (can_lie((uint8_t)type, true) != (definition || both) ||
		    can_lie((uint8_t)type, false) != event)
			fail_msg("type %u lies elsewhere", type);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_lies_where_the_format_has_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
