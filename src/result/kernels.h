// SPDX-License-Identifier: Apache-2.0
// What a driver says of the kernels of a file that it built: `devices --kernel`.
#pragma once
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum tare_kernel_value {
	TARE_KERNEL_ARGUMENTS,
	TARE_KERNEL_SIMD_WIDTH,
	TARE_KERNEL_GROUP_SIZE,
	TARE_KERNEL_MULTIPLE,
	TARE_KERNEL_LOCAL,
	TARE_KERNEL_PRIVATE,
	TARE_KERNEL_SPILL,
	TARE_KERNEL_REGISTERS,
	TARE_KERNEL_VALUE_COUNT
};

struct tare_kernel_entry {
	char *name;
	int64_t value[TARE_KERNEL_VALUE_COUNT]; // -1: the driver does not tell
	char *parameters;                       // "const float* in, uint first"; NULL: not told
	int64_t set; // place of its options among the list's sets; -1: there are none
};

// Options with which the file was built.
struct tare_kernel_set {
	char *options;
	char *absent; // why it does not build with them; NULL: it does
};

struct tare_kernel_list {
	char *file;   // as the user named it
	char *absent; // why it gives no kernels here; NULL: it does
	struct tare_kernel_entry *at;
	size_t count;
	struct tare_kernel_set *sets; // that are compared; none where only one was asked for
	size_t set_count;
};

// A new empty list for `file`, to free; NULL when memory ran out.
struct tare_kernel_list *tare_kernel_list_new(const char *file);
// A new kernel at its end with all values -1; NULL when memory ran out. Valid until the next one.
struct tare_kernel_entry *tare_kernel_list_add(struct tare_kernel_list *list, const char *name);
// A new set of options at the end; NULL when memory ran out.
struct tare_kernel_set *tare_kernel_list_add_set(struct tare_kernel_list *list,
                                                 const char *options);
// Puts the rows of one kernel beside each other, set by set.
void tare_kernel_list_gather(struct tare_kernel_list *list);
// How a set is called: 'A' and so on.
char tare_kernel_set_letter(int64_t set);
// NULL is legal.
void tare_kernel_list_free(struct tare_kernel_list *list);
