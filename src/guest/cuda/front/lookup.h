// SPDX-License-Identifier: Apache-2.0
// A function of our own in the place of dlsym(3): `answer`, of C, says what the program gets, or
// that the question goes on to another function as it came. That is jumped to with the caller's
// address to return to, for what RTLD_NEXT and RTLD_DEFAULT mean depends on who asks.
#pragma once
#include <stdint.h>

struct lookup_answer {
	void *address;
	uintptr_t jump; // not 0: to be asked there
};

// Defines the function `name`, which asks struct lookup_answer answer(void *library, const char
// *name).
#if defined(__x86_64__)
#define LOOKUP(name, answer)                                                                       \
	__asm__(".text\n"                                                                          \
	        ".p2align 4\n"                                                                     \
	        ".globl " #name "\n"                                                               \
	        ".type " #name ", @function\n" #name ":\n"                                         \
	        ".cfi_startproc\n"                                                                 \
	        "	endbr64\n"                                                                       \
	        "	pushq %rdi\n"                                                                    \
	        "	.cfi_adjust_cfa_offset 8\n"                                                      \
	        "	pushq %rsi\n"                                                                    \
	        "	.cfi_adjust_cfa_offset 8\n"                                                      \
	        "	subq $8, %rsp\n"                                                                 \
	        "	.cfi_adjust_cfa_offset 8\n"                                                      \
	        "	call " #answer "\n"                                                        \
	        "	addq $8, %rsp\n"                                                                 \
	        "	.cfi_adjust_cfa_offset -8\n"                                                     \
	        "	popq %rsi\n"                                                                     \
	        "	.cfi_adjust_cfa_offset -8\n"                                                     \
	        "	popq %rdi\n"                                                                     \
	        "	.cfi_adjust_cfa_offset -8\n"                                                     \
	        "	testq %rdx, %rdx\n"                                                              \
	        "	jz 1f\n"                                                                         \
	        "	jmp *%rax\n"                                                                     \
	        "1:	ret\n"                                                                         \
	        ".cfi_endproc\n"                                                                   \
	        ".size " #name ", . - " #name "\n")
#elif defined(__aarch64__)
#define LOOKUP(name, answer)                                                                       \
	__asm__(".text\n"                                                                          \
	        ".p2align 4\n"                                                                     \
	        ".globl " #name "\n"                                                               \
	        ".type " #name ", %function\n" #name ":\n"                                         \
	        ".cfi_startproc\n"                                                                 \
	        "	hint 34\n" /* bti c */                                                     \
	        "	stp x29, x30, [sp, #-32]!\n"                                                     \
	        "	.cfi_def_cfa_offset 32\n"                                                        \
	        "	.cfi_offset 29, -32\n"                                                           \
	        "	.cfi_offset 30, -24\n"                                                           \
	        "	stp x0, x1, [sp, #16]\n"                                                         \
	        "	bl " #answer "\n"                                                          \
	        "	mov x16, x0\n"                                                                   \
	        "	mov x17, x1\n"                                                                   \
	        "	ldp x0, x1, [sp, #16]\n"                                                         \
	        "	ldp x29, x30, [sp], #32\n"                                                       \
	        "	.cfi_def_cfa_offset 0\n"                                                         \
	        "	.cfi_restore 29\n"                                                               \
	        "	.cfi_restore 30\n"                                                               \
	        "	cbz x17, 1f\n"                                                                   \
	        "	br x16\n"                                                                        \
	        "1:	mov x0, x16\n"                                                                 \
	        "	ret\n"                                                                           \
	        ".cfi_endproc\n"                                                                   \
	        ".size " #name ", . - " #name "\n")
#endif
