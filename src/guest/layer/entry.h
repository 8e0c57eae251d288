// SPDX-License-Identifier: Apache-2.0
// What an OpenCL loader takes between the program and the drivers: a library that has entry.c in it
// is a layer, and says in a constructor what it does.
#pragma once
#include "guest/layer/cl.h"

#include <stdbool.h>
#include <stddef.h>

struct guest_layer {
	const char *name;      // that the loader tells
	cl_icd_dispatch *next; // gets the functions below us, before `begin`
	void (*met)(void);     // first of all, of each loader in the process; NULL: nothing
	// Of the first loader. False: nothing is wrapped.
	bool (*begin)(void);
	// Puts our functions into a copy of what `next` was.
	void (*wrap)(cl_icd_dispatch *table);
	void (*end)(void); // the loader goes away; NULL: nothing
};
void guest_layer_is(const struct guest_layer *layer);
