// SPDX-License-Identifier: Apache-2.0
// What the stand-in for libcuda tells of a graph's nodes, and how they change before a launch. A
// node's handle is itself, which stays where it is once its graph is captured.
#include "fake_cuda_device.h"
#include "fake_cuda_load.h"

// As the driver's CUDA_KERNEL_NODE_PARAMS_v2.
struct given {
	cu_function function;
	uint32_t grid[3], block[3], shared_bytes;
	void **parameters, **extra;
	cu_function kernel;
	cu_context context;
};

FAKE_EXPORT cu_result cuGraphGetNodes(cu_graph graph, void **nodes, size_t *count);
cu_result cuGraphGetNodes(cu_graph graph, void **nodes, size_t *count)
{
	ENTER_CONTEXT();
	for (size_t i = 0; nodes && i < *count && i < graph->count; i++)
		nodes[i] = &graph->nodes[i];
	*count = graph->count;
	return leave(ABI_SUCCESS);
}

FAKE_EXPORT cu_result cuGraphNodeGetType(const struct node *node, int *type);
cu_result cuGraphNodeGetType(const struct node *node, int *type)
{
	ENTER_CONTEXT();
	*type = node->op.kind == KERNEL ? 0 : 1;
	return leave(ABI_SUCCESS);
}

FAKE_EXPORT cu_result cuGraphChildGraphNodeGetGraph(const struct node *node, cu_graph *graph);
cu_result cuGraphChildGraphNodeGetGraph(const struct node *node, cu_graph *graph)
{
	(void)node;
	(void)graph;
	return ABI_INVALID_VALUE;
}

FAKE_EXPORT cu_result cuGraphKernelNodeGetParams_v2(const struct node *node, struct given *given);
cu_result cuGraphKernelNodeGetParams_v2(const struct node *node, struct given *given)
{
	ENTER_CONTEXT();
	*given = (struct given){ .function = node->op.kernel, .context = current };
	for (int i = 0; i < 3; i++) {
		given->grid[i] = node->op.grid[i];
		given->block[i] = node->op.block[i];
	}
	return leave(ABI_SUCCESS);
}

cu_result fake_cuGraphExecKernelNodeSetParams_v2(cu_graph_exec exec, void *handle,
                                                 const void *parameters)
{
	struct cu_graph_object *graph = (struct cu_graph_object *)exec;
	const struct given *given = parameters;
	const struct node *node = handle;
	ENTER_CONTEXT();
	struct op *op = &graph->nodes[node->place].op;
	op->kernel = given->function;
	for (int i = 0; i < 3; i++) {
		op->grid[i] = given->grid[i];
		op->block[i] = given->block[i];
	}
	return leave(ABI_SUCCESS);
}

// It is noted by nobody: who disables a node here runs it all the same.
cu_result fake_cuGraphNodeSetEnabled(cu_graph_exec exec, void *node, unsigned int enabled)
{
	(void)exec;
	(void)node;
	(void)enabled;
	ENTER_CONTEXT();
	return leave(ABI_SUCCESS);
}
