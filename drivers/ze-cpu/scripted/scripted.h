// SPDX-License-Identifier: Apache-2.0
// What the modelled layer's files share.
#pragma once
#include "ze_cpu.h"

struct scripted_run {
	bool let_go;                     // the model may begin it
	bool hangs, fails, loses, wrong; // faults of the script that hit it
};
