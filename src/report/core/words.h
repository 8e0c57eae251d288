// SPDX-License-Identifier: Apache-2.0
// What the numbers of a trace are called, for src/report and src/export. A value that this tare
// does not know has no word (NULL).
#pragma once
#include <stdint.h>

// The stable words of the JSON: "write", "to_device", "pageable", "wait", "profiling".
const char *tare_report_kind(uint32_t kind);           // enum tare_trace_command_kind
const char *tare_report_direction(uint32_t direction); // enum tare_trace_direction
const char *tare_report_link(uint32_t kind);           // enum tare_trace_link_kind; NULL: not told
const char *tare_report_memory(uint32_t memory);       // enum tare_trace_memory; NULL for UNKNOWN
const char *tare_report_role(uint32_t role);           // enum tare_trace_role
const char *tare_report_change(uint32_t change);       // enum tare_trace_change
const char *tare_report_state(uint32_t state);         // enum tare_trace_state
const char *tare_report_stop(uint32_t reason);         // enum tare_trace_stop; NULL for NOT_STOPPED
const char *tare_report_clock(uint32_t source);        // enum tare_clock_source
const char *tare_report_unobserved(uint32_t reason);   // enum tare_unobserved
const char *tare_report_same_by(uint32_t by);          // enum tare_same_by; NULL for NOTHING
const char *tare_recording_part(uint32_t part);        // enum tare_list_part; NULL for ALONE
const char *tare_report_api(uint32_t api);             // enum tare_trace_api; NULL for none

// For people: "to device", "pinned buffer", "its file reached --max-size".
const char *tare_report_direction_title(uint32_t direction);
const char *tare_report_memory_title(uint32_t memory);
const char *tare_report_stop_title(uint32_t reason);
const char *tare_report_clock_title(uint32_t source);
const char *tare_report_unobserved_title(uint32_t reason);
const char *tare_report_api_title(uint32_t api);
