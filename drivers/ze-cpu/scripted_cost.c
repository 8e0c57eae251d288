// SPDX-License-Identifier: Apache-2.0
#include "ze_cpu.h"

void scripted_cost(const struct command *command, struct tare_model_operation *operation)
{
	(void)command;
	operation->flow = TARE_FLOW_NONE;
}
