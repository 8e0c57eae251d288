// SPDX-License-Identifier: Apache-2.0
// SPIR-V to the LLVM bitcode that a CPU device without SPIR-V takes, by llvm-spirv as a subprocess.
#pragma once
#include "module/build_log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ZE_CPU_LLVM_SPIRV names a translator, which is then used even where the device takes SPIR-V.
bool translator_is_named(void);

// Translates `bytes` of SPIR-V for a compiler of LLVM version `llvm` (0: not known). The program is
// the one that ZE_CPU_LLVM_SPIRV names, else llvm-spirv-N or llvm-spirv on PATH. *bitcode is the
// caller's to free. What went wrong (it is missing, refuses, crashes, does not end in
// ZE_CPU_LLVM_SPIRV_LIMIT_S seconds, 60 without) is added to the log. Blocks; any thread. To the
// program the subprocess is none of its children: it sends no SIGCHLD and wait() never returns it.
// 0 or a negative errno.
int translate_spirv(const void *spirv, size_t bytes, unsigned llvm, void **bitcode,
                    size_t *bitcode_bytes, ze_module_build_log_handle_t log);

// Joins `count` SPIR-V modules into one by spirv-link (package spirv-tools); as translate_spirv.
int link_spirv(const void *const *modules, const size_t *bytes, uint32_t count, void **linked,
               size_t *linked_bytes, ze_module_build_log_handle_t log);

// How a subprocess ended (subprocess.c).
enum subprocess_end { SUBPROCESS_EXITED, SUBPROCESS_SIGNALLED, SUBPROCESS_LATE, SUBPROCESS_FAILED };
// Runs `path` with standard input empty and both outputs in `log_file`; kills it and its children
// after limit_ns. *value is the exit status, the signal, or the errno of what failed.
enum subprocess_end subprocess_run(const char *path, char *const *arguments, const char *log_file,
                                   int64_t limit_ns, int *value);
