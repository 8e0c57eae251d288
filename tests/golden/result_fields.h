// SPDX-License-Identifier: Apache-2.0
// The fields of a result's JSON as they are declared, for tools/tables.
#pragma once

// Prints them on standard output as JSON; returns 0 or a negative errno: ENOSYS without jansson.
int print_result_fields(void);
