// SPDX-License-Identifier: Apache-2.0
// Why launches were not counted.
#include "blocks/report/write.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void no_module(const struct tare_blocks_document *document,
                      const struct tare_blocks_kernel *kernel, char *text, size_t size)
{
	if (kernel->build && kernel->build->why.message[0])
		snprintf(text, size, "%s", kernel->build->why.message);
	else if (tare_blocks_ran_once(document))
		snprintf(text, size,
		         "counting takes a second run of the program: leave out --once");
	else
		snprintf(text, size,
		         "its program was built from another source, or with other options, in "
		         "the first run: let the program build the same in each run");
}

static const struct {
	const char *clause;
	bool coded; // the vendor's error tells more
} why_clauses[BLOCKS_WHYS] = {
	[BLOCKS_COVERED] = { "it is not known why", false },
	[BLOCKS_NO_SOURCE] = { "its program was loaded as a binary or built in: "
	                       "let it be built from source (a program that keeps kernels "
	                       "it has built can be told not to, or its cache be removed)",
	                       false },
	[BLOCKS_LINKED] = { "its program is linked of parts that are not all known, or by "
	                    "zeModuleDynamicLink: let each part be compiled from source or "
	                    "SPIR-V (clCompileProgram), or one module have all of it",
	                    false },
	[BLOCKS_NO_INTAKE] = { "its device is no CPU, and its driver takes no SPIR-V (it tells no "
	                       "CL_DEVICE_IL_VERSION) and gives no PTX that is the same for "
	                       "all devices of the program: run it on one device, or on one "
	                       "whose driver takes SPIR-V",
	                       false },
	[BLOCKS_NO_MEMORY] = { "the device gave no memory for its counters, and the program's own "
	                       "was run",
	                       true },
	[BLOCKS_SPECIALISED] = { "its program sets specialisation constants by "
	                         "clSetProgramSpecializationConstant, or of one of several "
	                         "modules in one description, or such as its module does not "
	                         "clearly have: those of one Level Zero module are followed",
	                         false },
	[BLOCKS_BUILD_FAILED] = { "the driver did not build the instrumented "
	                          "module, and the program's own was run",
	                          true },
	[BLOCKS_KERNEL_FAILED] = { "the driver made no kernel of the instrumented "
	                           "module, and the program's own was run",
	                           true },
	[BLOCKS_ARGUMENT_FAILED] = { "the instrumented kernel did not take an argument "
	                             "that the program's own took, and that was run",
	                             true },
	[BLOCKS_LAUNCH_FAILED] = { "the instrumented kernel could not be launched, and "
	                           "the program's own was run",
	                           true },
	[BLOCKS_NO_ROOM] = { "there was no room for its counters in memory or in $TMPDIR: free "
	                     "some, or name another folder in TMPDIR",
	                     false },
	[BLOCKS_NO_AREA] = { "the counters of other kernels take all of the 64 MiB that "
	                     "those of a process may: let each of several runs launch "
	                     "some of the kernels, or leave out --sample",
	                     false },
	[BLOCKS_POINTERS] = { "the program sets arguments by functions of an extension, "
	                      "which tare blocks does not follow yet",
	                      false },
	[BLOCKS_INDIRECT] = { "it is launched with 64 or more others by one call, and how many of "
	                      "them run is read from memory",
	                      false },
	[BLOCKS_OTHER_VALUE] = { "it divides by an argument that has other values in other "
	                         "launches",
	                         false },
	[BLOCKS_NO_PTX] = { "tare did not see how its module was loaded, or does not know what it "
	                    "is: without --ptx it is sampled, and --exact counts it",
	                    false },
	[BLOCKS_FAT_BINARY] = { "it came in a fat binary of a kind that tare does not know, or of "
	                        "more than 64 MiB: let the program load PTX by NVRTC and "
	                        "cuModuleLoadData, or leave out --ptx, so that it is sampled; "
	                        "--exact counts it",
	                        false },
	[BLOCKS_FAT_LINKED] = { "its fat binary was linked of several (nvcc -rdc=true), whose "
	                        "functions call each other: build it without, or leave out "
	                        "--ptx, so that it is sampled; --exact counts it",
	                        false },
	[BLOCKS_MACHINE_CODE] = { "it came as machine code: without --ptx it is sampled, and "
	                          "--exact counts it",
	                          false },
	[BLOCKS_CUDA_LINKED] = { "cuLinkComplete made its machine code, which the program may keep "
	                         "for later runs, so that no counters are put in: let it load the "
	                         "PTX by itself (cuModuleLoadData), or leave out --ptx, so that it "
	                         "is sampled; --exact counts it",
	                         false },
	[BLOCKS_NO_CONTEXT] = { "its PTX was loaded before there was a context, in which tare "
	                        "could "
	                        "have tried it with counters",
	                        false },
	[BLOCKS_CAPTURING] = { "a stream was capturing, which reading the counters would have "
	                       "broken",
	                       false },
	[BLOCKS_NOT_READ] = { "its counters could not be read from the device", true },
	[BLOCKS_ANOTHER_CONTEXT] = { "it ran in another context of its device, too, which has "
	                             "counters of its own",
	                             false },
	[BLOCKS_ANOTHER_DEVICE] = { "it ran on a device that is none of its program's, such as a "
	                            "part of one: create the program for it",
	                            false },
	[BLOCKS_HELD] = { "the program asks where variables of its module lie "
	                  "(zeModuleGetGlobalPointer), and the instrumented module has others",
	                  false },
	[BLOCKS_NO_GROUPS] = { "no size of work-groups that divides the launch fills the "
	                       "device's width",
	                       false },
};

void tare_blocks_why(const struct tare_blocks_document *document,
                     const struct tare_blocks_kernel *kernel, char *text, size_t size)
{
	if (kernel->why == BLOCKS_NO_MODULE)
		no_module(document, kernel, text, size);
	else if (why_clauses[kernel->why].coded)
		snprintf(text, size,
		         kernel->api == BLOCKS_LEVEL_ZERO ? "%s (Level Zero error 0x%x)"
		         : kernel->api == BLOCKS_CUDA     ? "%s (CUDA error %d)"
		                                          : "%s (OpenCL error %d)",
		         why_clauses[kernel->why].clause, kernel->code);
	else
		snprintf(text, size, "%s", why_clauses[kernel->why].clause);
}

void tare_blocks_coverage(const struct tare_blocks_profile *profile, uint64_t *counted,
                          uint64_t *launches)
{
	*counted = 0;
	*launches = profile->unknown_launches + profile->lost_launches + profile->graphs;
	for (size_t i = 0; i < profile->kernel_count; i++) {
		*counted += profile->kernels[i].counted;
		*launches += profile->kernels[i].launches;
	}
}

// The same kernel in the run before the optimisation; NULL: that run did not launch it, or nothing
// was optimised.
static const struct tare_blocks_kernel *same_before(const struct tare_blocks_profile *before,
                                                    const struct tare_blocks_kernel *kernel)
{
	for (size_t i = 0; i < before->kernel_count && kernel->build; i++) {
		const struct tare_blocks_kernel *other = &before->kernels[i];
		if (other->build && other->api == kernel->api &&
		    other->build->hash == kernel->build->hash &&
		    other->build->language == BLOCKS_OPENCL_C &&
		    strcmp(other->build->level, kernel->build->level) != 0 &&
		    strcmp(other->name, kernel->name) == 0)
			return other;
	}
	return NULL;
}

// A run that a signal ended left counts of less than it launched: these are no figure.
static bool misses_counts(const struct tare_blocks_kernel *kernel)
{
	return kernel->counted && kernel->entered < kernel->work_items;
}

const struct tare_blocks_kernel *tare_blocks_before(const struct tare_blocks_profile *before,
                                                    const struct tare_blocks_kernel *kernel)
{
	const struct tare_blocks_kernel *other = same_before(before, kernel);

	return other && other->executions && other->counted && !misses_counts(other) ? other : NULL;
}

bool tare_blocks_why_not_before(const struct tare_blocks_document *document,
                                const struct tare_blocks_kernel *kernel, char *text, size_t size)
{
	const struct tare_blocks_kernel *other = same_before(document->before, kernel);

	if (other && misses_counts(other)) {
		snprintf(text, size,
		         "in that run %" PRIu64 " of %" PRIu64
		         " work-items ended with their counts written",
		         other->entered, other->work_items);
		return true;
	}
	if (!other || other->counted || !other->launches)
		return false;
	tare_blocks_why(document, other, text, size);
	return true;
}
