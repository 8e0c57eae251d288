// SPDX-License-Identifier: Apache-2.0
// Kernels have no unwinding tables, but their functions begin as compilers write them: registers
// that are the caller's are pushed, then the stack pointer moves. That says where the return
// address and those registers lie; what is found there must be a call in the OpenCL device.
#include "kernel/trap_leave.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#if defined(__x86_64__)

#define PUSHES 8
#define FRAMES 8
#define LARGEST_FRAME (1 << 20)

// Registers by their number in machine code.
static const int registers[16] = { REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
	                           REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
	                           REG_R12, REG_R13, REG_R14, REG_R15 };
enum { RBP = 5 };

struct prologue {
	int pushed[PUSHES];
	size_t count;
	uint64_t reserved;    // bytes below the pushed registers
	bool framed, aligned; // rbp points at itself, as pushed; rsp was rounded down
};

static int32_t number_at(const uint8_t *at, bool wide)
{
	int32_t number = (int8_t)*at;

	if (wide)
		memcpy(&number, at, sizeof number);
	return number;
}

// The bytes of one instruction of a prologue; 0: it is none.
static size_t read_one(const uint8_t *at, struct prologue *prologue)
{
	static const uint8_t frame[] = { 0x48, 0x89, 0xe5 }; // mov rbp, rsp
	size_t prefix = at[0] == 0x41;

	if ((at[prefix] & 0xf8) == 0x50 && prologue->count < PUSHES) {
		prologue->pushed[prologue->count++] = (at[prefix] & 7) + (prefix ? 8 : 0);
		return prefix + 1;
	}
	if (memcmp(at, frame, sizeof frame) == 0) {
		prologue->framed = prologue->count == 1 && prologue->pushed[0] == RBP;
		return sizeof frame;
	}
	if (at[0] != 0x48 || (at[1] != 0x83 && at[1] != 0x81))
		return 0;
	bool wide = at[1] == 0x81;
	if (at[2] == 0xec) // sub rsp, number
		prologue->reserved += (uint64_t)(int64_t)number_at(at + 3, wide);
	else if (at[2] == 0xc4) // add rsp, -number
		prologue->reserved -= (uint64_t)(int64_t)number_at(at + 3, wide);
	else if (at[2] == 0xe4) // and rsp, -number
		prologue->aligned = true;
	else
		return 0;
	return wide ? 7 : 4;
}

// Where there is a frame, the epilogue's `lea rsp, [rbp - n]` says how many registers lie below it:
// a push that the prologue has further down would otherwise be missed.
static bool agrees(const struct prologue *prologue, const uint8_t *code, size_t bytes)
{
	static const uint8_t lea[] = { 0x48, 0x8d, 0x65 };

	for (size_t i = 0; prologue->framed && i + sizeof lea < bytes; i++)
		if (memcmp(code + i, lea, sizeof lea) == 0)
			return (int8_t)code[i + sizeof lea] == -8 * (int)(prologue->count - 1);
	return true;
}

static bool read_prologue(uintptr_t in, struct prologue *prologue)
{
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;
	size_t at = 0, step;

	*prologue = (struct prologue){ .count = 0 };
	if (!dladdr1((void *)in, &info, (void **)&symbol, RTLD_DL_SYMENT) || !info.dli_saddr ||
	    !symbol)
		return false;
	const uint8_t *code = info.dli_saddr;
	if (in - (uintptr_t)code >= symbol->st_size)
		return false;
	while (at < in - (uintptr_t)code && (step = read_one(code + at, prologue)) != 0)
		at += step;
	return (prologue->framed || !prologue->aligned) && prologue->reserved < LARGEST_FRAME &&
	       agrees(prologue, code, symbol->st_size);
}

// An indirect call of the OpenCL library ends here.
static bool is_call_of_device(uintptr_t at)
{
	static const int lengths[] = { 2, 3, 4, 6, 7 };
	const uint8_t *code = (const uint8_t *)at;
	Dl_info info;

	if (!at || !dladdr((void *)at, &info) || !info.dli_fname || !strstr(info.dli_fname, "pocl"))
		return false;
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
		if (code[-lengths[i]] == 0xff && (code[1 - lengths[i]] & 0x38) == 0x10)
			return true;
	return false;
}

// From a kernel's function into what called it.
__attribute__((no_sanitize("address", "thread", "undefined"))) static bool
leave_function(greg_t *all, uintptr_t in)
{
	struct prologue prologue;
	uintptr_t stack = (uintptr_t)all[REG_RSP];

	if (!read_prologue(in, &prologue))
		return false;
	uintptr_t slot = prologue.framed ? (uintptr_t)all[REG_RBP] + sizeof slot
	                                 : stack + prologue.reserved + prologue.count * sizeof slot;
	if (slot % sizeof slot || slot < stack || slot - stack > LARGEST_FRAME)
		return false;
	const uintptr_t *words = (const uintptr_t *)slot;
	all[REG_RIP] = (greg_t)words[0];
	for (size_t i = 0; i < prologue.count; i++)
		all[registers[prologue.pushed[i]]] = (greg_t)words[-1 - (ptrdiff_t)i];
	all[REG_RSP] = (greg_t)(slot + sizeof slot);
	return true;
}

__attribute__((no_sanitize("address", "thread", "undefined"))) bool
trap_leave_kernel(ucontext_t *context, bool (*in_kernel)(uintptr_t at))
{
	gregset_t all;
	uintptr_t in;

	memcpy(all, context->uc_mcontext.gregs, sizeof all);
	in = (uintptr_t)all[REG_RIP];
	if (!in_kernel(in)) {
		// A call to nowhere, or a function without a frame such as memcpy.
		in = *(const uintptr_t *)(uintptr_t)all[REG_RSP] - 1;
		all[REG_RSP] += (greg_t)sizeof in;
	}
	for (int frame = 0; frame < FRAMES && in_kernel(in); frame++) {
		if (!leave_function(all, in))
			return false;
		if (is_call_of_device((uintptr_t)all[REG_RIP])) {
			all[REG_EFL] &= ~(greg_t)0x400; // the direction of string instructions
			memcpy(context->uc_mcontext.gregs, all, sizeof all);
			return true;
		}
		in = (uintptr_t)all[REG_RIP] - 1;
	}
	return false;
}

#else

bool trap_leave_kernel(ucontext_t *context, bool (*in_kernel)(uintptr_t at))
{
	(void)context;
	(void)in_kernel;
	return false;
}

#endif
