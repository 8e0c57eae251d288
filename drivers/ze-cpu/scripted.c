// SPDX-License-Identifier: Apache-2.0
#include "ze_cpu.h"

ze_result_t scripted_start(void)
{
	return ZE_RESULT_SUCCESS;
}

ze_result_t scripted_queue_start(struct cpu_queue *queue)
{
	(void)queue;
	return ZE_RESULT_SUCCESS;
}

void scripted_queue_end(struct cpu_queue *queue)
{
	(void)queue;
}

void scripted_submit(struct run *run)
{
	(void)run;
}

void scripted_host_signal(ze_event_handle_t event)
{
	(void)event;
}

void scripted_host_reset(ze_event_handle_t event)
{
	(void)event;
}

void scripted_pump(void)
{
}

int64_t scripted_next_ns(void)
{
	return INT64_MAX;
}
