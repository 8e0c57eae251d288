// SPDX-License-Identifier: Apache-2.0
// Names of C++ as they are written. Internal to src/analysis.
#pragma once

// The name that `mangled` (_Z...) stands for, for free(); NULL: it is none, or this machine has no
// C++ library that could tell. Any thread.
char *tare_demangle(const char *mangled);
