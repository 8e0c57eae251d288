// SPDX-License-Identifier: Apache-2.0
// What launches would cost as a CUDA graph, by what `tare latency` measured on this machine.
#include "analysis/findings/execution/internal.h"

#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const struct tare_launch_costs *finding_launch_costs(const struct evaluation *evaluation,
                                                     uint32_t device)
{
	const struct tare_findings_known *known = evaluation->known;
	const struct tare_recording *recording = evaluation->recording;
	if (!known || device >= recording->device_count ||
	    recording->devices[device].api != TARE_TRACE_CUDA)
		return NULL;
	for (size_t i = 0; i < known->launch_count; i++)
		if (!strcmp(known->launches[i].device, recording->devices[device].name))
			return &known->launches[i];
	return NULL;
}

// A kernel of a graph costs what it runs, and what an empty one costs there. A launch costs no less
// without the recorder than an empty one does, of which the kernel's run hides a part.
void finding_graph_add(const struct tare_launch_costs *costs, double idle_ns, double run_ns,
                       struct finding_graph *graph)
{
	double bare_ns = fmin(idle_ns, costs->launch_ns - run_ns);
	graph->costs = costs;
	graph->launches++;
	graph->idle_ns += idle_ns;
	graph->low_ns += fmax(0, bare_ns - costs->graph_kernel_ns);
}

void finding_graph_add_gap(const struct evaluation *evaluation,
                           const struct ledger_working_gap *gap, double idle_ns,
                           struct finding_graph *graph)
{
	const struct tare_recording *recording = evaluation->recording;
	if (gap->drained || gap->first_launch || gap->command >= recording->command_count)
		return;
	const struct tare_recorded_command *command = TARE_COMMAND(recording, gap->command);
	if (!tables_is_kernel(command))
		return;
	const struct tare_launch_costs *costs =
	    finding_launch_costs(evaluation, tables_device(&evaluation->context, command));
	if (costs)
		finding_graph_add(costs, idle_ns, 0, graph);
}

// Where the host waits for what ran a graph ends, and is launched again. Were there no waits, it
// would be one graph, and made for once.
static double count_waits(const struct evaluation *evaluation)
{
	const struct tare_recording *recording = evaluation->recording;
	double waits = 0;
	for (size_t i = 0; i < recording->call_count; i++)
		waits += recording->calls[i].role == TARE_ROLE_WAIT &&
		         !(recording->calls[i].flags & TARE_CALL_NESTED) &&
		         evaluation_has_call(evaluation, &recording->calls[i]);
	return fmax(1, waits);
}

void finding_graph_end(const struct evaluation *evaluation, struct finding_graph *graph)
{
	double waits, most_ns;
	if (!graph->costs)
		return;
	waits = count_waits(evaluation);
	most_ns = fmax(0, graph->idle_ns - (double)graph->launches * graph->costs->graph_kernel_ns);
	graph->made_ns = (double)graph->launches / waits * graph->costs->graph_make_ns;
	// The first of each is launched as before.
	graph->low_ns *= fmax(0, 1 - waits / (double)graph->launches);
	graph->low_ns =
	    fmax(0, graph->low_ns - waits * graph->costs->graph_launch_ns - graph->made_ns);
	graph->best_ns = fmax(graph->low_ns, (graph->low_ns + most_ns) / 2);
}

const char *finding_graph_words(const struct finding_graph *graph, char *text, size_t size)
{
	char launch[TARE_UNIT_TEXT], node[TARE_UNIT_TEXT],
	    low[TARE_UNIT_TEXT + 16] = "nothing for sure", made[TARE_UNIT_TEXT];
	if (graph->low_ns > 0)
		snprintf(low, sizeof low, "%s at least", tare_format_ns(graph->low_ns, made));
	tare_format_ns(graph->costs->launch_ns, launch);
	tare_format_ns(graph->costs->graph_kernel_ns, node);
	tare_format_ns(graph->made_ns, made);
	snprintf(
	    text, size,
	    "; on this machine a launch costs %s, and %s as one of a graph's (tare latency%s%s): "
	    "replaying these as a graph saves %s, after the %s that making it takes once (of what "
	    "lies between two waits)",
	    launch, node, graph->costs->measured[0] ? ", " : "", graph->costs->measured, low, made);
	return text;
}
