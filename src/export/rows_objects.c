// SPDX-License-Identifier: Apache-2.0
// Tables of what there was: processes, devices, kernels and so on. Those of processes outside of
// the view are left out.
#include "export/rows.h"
#include "report/core/run.h"
#include "report/core/words.h"

#define TABLE process
#define ROW struct tare_recorded_process
#define COLUMNS "export/columns/process.def"
#include "export/own.h"
EXPORT_OWN(process, struct tare_recorded_process, "a recorded process", r->process_count,
           &r->processes[index],
           tare_view_filter_has_process(rows->members, (uint32_t)(row - r->processes)))

#define TABLE thread
#define ROW struct tare_recorded_thread
#define COLUMNS "export/columns/thread.def"
#include "export/own.h"
EXPORT_OWN(thread, struct tare_recorded_thread, "a thread", r->thread_count, &r->threads[index],
           tare_view_filter_has_process(rows->members, row->process))

#define IF_MAPPED(value) tare_if(row->clock_source != TARE_CLOCK_NONE, value, TARE_NOT_KNOWN)
#define TABLE device
#define ROW struct tare_recorded_device
#define COLUMNS "export/columns/device.def"
#include "export/own.h"
EXPORT_OWN(device, struct tare_recorded_device, "a device as one process sees it by one API",
           r->device_count, &r->devices[index],
           tare_view_has_device(r, rows->view, (uint32_t)(row - r->devices)))

#define TABLE queue
#define ROW struct tare_recorded_queue
#define COLUMNS "export/columns/queue.def"
#include "export/own.h"
EXPORT_OWN(queue, struct tare_recorded_queue, "a queue", r->queue_count, &r->queues[index],
           tare_view_filter_has_process(rows->members, row->process))

#define TABLE program
#define ROW struct tare_recorded_program
#define COLUMNS "export/columns/program.def"
#include "export/own.h"
EXPORT_OWN(program, struct tare_recorded_program, "a program that was built", r->program_count,
           &r->programs[index], tare_view_filter_has_process(rows->members, row->process))

#define TABLE kernel
#define ROW struct tare_recorded_kernel
#define COLUMNS "export/columns/kernel.def"
#include "export/own.h"
EXPORT_OWN(kernel, struct tare_recorded_kernel, "a kernel", r->kernel_count, &r->kernels[index],
           tare_view_filter_has_process(rows->members, row->process))

#define TABLE memory
#define ROW struct tare_recorded_memory
#define COLUMNS "export/columns/memory.def"
#include "export/own.h"
EXPORT_OWN(memory, struct tare_recorded_memory, "a memory object", r->memory_count,
           &r->memories[index], tare_view_filter_has_process(rows->members, row->process))

#define TABLE function
#define ROW struct tare_recorded_function
#define COLUMNS "export/columns/function.def"
#include "export/own.h"
EXPORT_OWN(function, struct tare_recorded_function, "a function of the API", r->function_count,
           &r->functions[index], true)
