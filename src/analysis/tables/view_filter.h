// SPDX-License-Identifier: Apache-2.0
// What belongs to a view, by the one rule of all tables (docs/report.md): a command where it starts
// (untimed: where it was enqueued), a call where it was entered. Others that list commands and
// calls ask here, so that their rows are those that the report counts.
#pragma once
#include "analysis/recording/recording.h"

struct tare_view_filter;

// Takes 6 bytes a kernel, shape and queue. Recording and view must stay. Returns 0 or -ENOMEM.
int tare_view_filter_open(const struct tare_recording *recording, const struct tare_view *view,
                          struct tare_view_filter **members, struct tare_error *error);
void tare_view_filter_close(struct tare_view_filter *members); // accepts NULL

// Whether every command belongs to the view.
bool tare_view_filter_has_all(const struct tare_view_filter *members);
bool tare_view_filter_has_command(const struct tare_view_filter *members,
                                  const struct tare_recorded_command *command);
bool tare_view_filter_has_call(const struct tare_view_filter *members,
                               const struct tare_recorded_call *call);
// Whether a process is of the view; TARE_NO_INDEX is when the view has all of them.
bool tare_view_filter_has_process(const struct tare_view_filter *members, uint32_t process);
// Whether a thread's process is of the view.
bool tare_view_filter_has_thread(const struct tare_view_filter *members, uint32_t thread);
// Whether something of a thread that began then belongs to the view.
bool tare_view_filter_has_moment(const struct tare_view_filter *members, uint32_t thread,
                                 int64_t at_ns);
