// SPDX-License-Identifier: Apache-2.0
#include "analysis/tables/view_filter.h"

#include "analysis/tables/internal.h"

struct tare_view_filter {
	struct tables_context context;
};

int tare_view_filter_open(const struct tare_recording *recording, const struct tare_view *view,
                          struct tare_view_filter **members, struct tare_error *error)
{
	*members = calloc(1, sizeof **members);
	if (*members && tables_context_open(recording, view, NULL, &(*members)->context) == 0)
		return 0;
	tare_view_filter_close(*members);
	*members = NULL;
	return tare_fail(error, ENOMEM, "no memory left");
}

void tare_view_filter_close(struct tare_view_filter *members)
{
	if (!members)
		return;
	tables_context_close(&members->context);
	free(members);
}

bool tare_view_filter_has_all(const struct tare_view_filter *members)
{
	return members->context.all;
}

bool tare_view_filter_has_command(const struct tare_view_filter *members,
                                  const struct tare_recorded_command *command)
{
	return tables_has_command(&members->context, command);
}

bool tare_view_filter_has_call(const struct tare_view_filter *members,
                               const struct tare_recorded_call *call)
{
	return tables_has_call(&members->context, call);
}

bool tare_view_filter_has_process(const struct tare_view_filter *members, uint32_t process)
{
	return process < members->context.recording->process_count
	           ? members->context.process_in[process]
	           : members->context.view->process == TARE_NO_INDEX;
}

bool tare_view_filter_has_thread(const struct tare_view_filter *members, uint32_t thread)
{
	return tare_view_filter_has_process(members,
	                                    tables_process(members->context.recording, thread));
}

bool tare_view_filter_has_moment(const struct tare_view_filter *members, uint32_t thread,
                                 int64_t at_ns)
{
	return tables_in_time(&members->context, at_ns) &&
	       tare_view_filter_has_thread(members, thread);
}
