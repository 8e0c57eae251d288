// SPDX-License-Identifier: Apache-2.0
// The OpenCL layer of tare blocks. Beside each kernel of the program it keeps a twin from the
// instrumented module; the program holds and asks the kernel, launches take the twin. Nothing here
// allocates with malloc, prints, or ends the program; what fails leaves the kernel as it is.
#pragma once
#include "guest/blocks/readback.h"
#include "guest/guest.h"
#include "guest/layer/cl.h"

// The functions below us. Set once, before any call.
extern cl_icd_dispatch blocks_next;

// ---- programs (program.c)

// What a kernel of a program is taken from.
struct blocks_source {
	void *data; // a BUILD, mapped; NULL: it has no source
	size_t bytes, room;
	uint64_t hash;
};
// Reads what the program was built from, or compiled with these HEADERS (their hash; 0: none).
// `data` is NULL where `why` says why.
void blocks_source_read(cl_program program, uint64_t headers, struct blocks_source *source,
                        enum blocks_why *why);
// Room for `bytes`, all 0; whether there was any.
bool blocks_source_room(struct blocks_source *source, size_t bytes);
void blocks_source_free(struct blocks_source *source);
// The program's specialisation constants were set.
void blocks_specialised(cl_program program);
// The instrumented program of a source in the program's context, built; NULL: row->why says why.
cl_program blocks_twin_program(cl_program program, const struct blocks_module *module,
                               struct blocks_kernel *row);

// The devices of a program, at most BLOCKS_MOST_DEVICES; 0: the driver does not say.
enum { BLOCKS_MOST_DEVICES = 32 };
cl_uint blocks_devices(cl_program program, cl_device_id *devices);
bool blocks_is_cpu(cl_device_id device);

// ---- counters in the memory of devices (readback_opencl.c)

// Whether a device of the context does not reach the mapped file.
bool blocks_is_far(cl_context context);
// The counters of a row in a device's memory, which far->memory is; NULL: *why and *code say why.
struct blocks_far *blocks_far_memory(cl_context context, cl_device_id device,
                                     struct blocks_kernel *row, const struct blocks_module *module,
                                     enum blocks_why *why, cl_int *code);
// Before the first launch: says which of its work-groups are sampled.
void blocks_far_sample(struct blocks_far *far, uint64_t work_items);
// A launch of the twin was enqueued there.
void blocks_far_enqueued(struct blocks_far *far, cl_command_queue queue);
void blocks_wrap_waits(cl_icd_dispatch *table);

// ---- PTX, as NVIDIA's driver gives and takes it (ptx.c)

// Where all devices of a program have the same PTX as its binary, that, without an end; else no
// data.
void blocks_ptx_of(cl_program program, struct blocks_source *ptx);
// Writes down what lines of such a BUILD are of: the program's source, and its PTX with lines.
void blocks_ptx_write_lines(cl_program program, const struct blocks_source *source);

// ---- binaries (binary.c)

bool blocks_binaries_begin(void);
void blocks_wrap_binaries(cl_icd_dispatch *table);
// The hash of the BUILD from which a program was made that was loaded as a binary or linked, or of
// the PART, where it is to be linked; 0: not known.
uint64_t blocks_origin(cl_program program);
// From now on the origin of a program is that.
void blocks_set_origin(cl_program program, uint64_t hash);

// ---- programs of parts (parts.c)

bool blocks_parts_begin(void);
void blocks_wrap_parts(cl_icd_dispatch *table);
// Whether the program was linked, of parts that are not all known where it has no origin.
bool blocks_is_linked(cl_program program);
// It was not: another program had its address.
void blocks_is_not_linked(cl_program program);
// The hash of the PART that a program was compiled to, which is written down; its origin, where it
// has no source. 0: it is not known.
uint64_t blocks_part(cl_program program);

// Puts a function of ours into the table in the place of one that is there.
#define BLOCKS_WRAP(table, member, ours)                                                           \
	do                                                                                         \
		if ((table)->member != NULL)                                                       \
			(table)->member = (ours);                                                  \
	while (0)

// ---- options (options.c)

void blocks_wrap_options(cl_icd_dispatch *table);
// clCompileProgram with the options that are wanted.
cl_int blocks_compile(cl_program program, cl_uint count, const cl_device_id *devices,
                      const char *options, cl_uint headers, const cl_program *header,
                      const char **names, void(CL_CALLBACK *notify)(cl_program, void *),
                      void *data);

// ---- what drivers say of kernels (facts.c)

void blocks_facts(cl_kernel kernel, struct blocks_kernel *row);
// The same for a launch with work-groups of that size; asked once.
void blocks_sub_group(cl_kernel kernel, cl_uint dimensions, const size_t *locals,
                      struct blocks_kernel *row);
// Adds a launch to the row's lanes, where its work-groups' size and the device's width are known.
void blocks_lanes(cl_uint dimensions, const size_t *sizes, const size_t *locals,
                  struct blocks_kernel *row);

// A size of work-groups like `locals` that fills the width of the device, in `chosen`: a multiple
// of it, of 64 work-items or more where that divides the launch. False: there is none.
bool blocks_regroup(cl_kernel kernel, cl_uint dimensions, const size_t *sizes, const size_t *locals,
                    const struct blocks_kernel *row, size_t chosen[3]);

// ---- kernels (kernel.c)

bool blocks_kernels_begin(enum blocks_stage stage);
// Replaces members of the table.
void blocks_wrap(cl_icd_dispatch *table);
// From now on no twin is launched: arguments are set in ways that the layer does not see.
void blocks_stop_twins(void);
