// SPDX-License-Identifier: Apache-2.0
// Which kernels a CUDA graph runs. Its nodes are asked when it is made ready to be launched, and
// each launch of it is a launch of each of them. A graph whose nodes may be others from launch to
// launch is not followed.
#include "guest/ptx/ptx.h"

#include <pthread.h>
#include <sys/mman.h>

enum { KERNEL_NODE = 0, CHILD_NODE = 4, CONDITIONAL_NODE = 13, MOST_NESTED = 16 };

struct ptx_graph_node {
	struct ptx_graph_node *following;
	void *node;
	struct ptx_kernel *kernel;
	uint64_t items;
	cu_context context; // NULL: not told
};
struct ptx_graph {
	struct ptx_graph *following;
	void *exec; // NULL: it is gone
	bool followed;
	struct ptx_graph_node *nodes;
};
// Both are used again, and never given back.
static struct ptx_graph *graphs;
static struct ptx_graph_node *vacant;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// ---- nodes

static void forget_nodes(struct ptx_graph *graph)
{
	while (graph->nodes != NULL) {
		struct ptx_graph_node *node = graph->nodes;
		graph->nodes = node->following;
		node->following = vacant;
		vacant = node;
	}
}

static struct ptx_graph_node *new_node(void)
{
	struct ptx_graph_node *node = vacant;

	if (node == NULL)
		return guest_memory(sizeof *node);
	vacant = node->following;
	return node;
}

static const char *name_of(const struct ptx_node_parameters *given)
{
	const char *name = NULL;
	cu_result result = (cu_result)1;

	ptx_ours_begin();
	if (given->function != NULL && ptx_driver.cuFuncGetName != NULL)
		result = ptx_driver.cuFuncGetName(&name, given->function);
	else if (given->function == NULL && ptx_driver.cuKernelGetName != NULL)
		result = ptx_driver.cuKernelGetName(&name, given->kernel);
	ptx_ours_end();
	return result == ABI_SUCCESS ? name : NULL;
}

// Fills in what a node runs. False: that is not told.
static bool set_node(struct ptx_graph_node *node, const struct ptx_node_parameters *given)
{
	const char *name = name_of(given);

	if (name == NULL)
		return false;
	node->kernel =
	    ptx_kernel_of(given->function != NULL ? given->function : given->kernel, name);
	node->items = ptx_items(&given->grid);
	node->context = given->context;
	return true;
}

static bool add_node(struct ptx_graph *graph, void *handle)
{
	struct ptx_node_parameters given = { .function = NULL };

	ptx_ours_begin();
	cu_result result = ptx_driver.cuGraphKernelNodeGetParams_v2(handle, &given);
	ptx_ours_end();
	struct ptx_graph_node *node = result == ABI_SUCCESS ? new_node() : NULL;
	if (node == NULL)
		return false;
	node->node = handle;
	node->following = graph->nodes;
	graph->nodes = node;
	return set_node(node, &given);
}

static bool add_nodes(struct ptx_graph *graph, void *of, int depth);

static bool add_any_node(struct ptx_graph *graph, void *handle, int depth)
{
	void *child = NULL;
	int type = 0;

	ptx_ours_begin();
	bool told = ptx_driver.cuGraphNodeGetType(handle, &type) == ABI_SUCCESS;
	if (told && type == CHILD_NODE)
		told = ptx_driver.cuGraphChildGraphNodeGetGraph(handle, &child) == ABI_SUCCESS;
	ptx_ours_end();
	if (!told || type >= CONDITIONAL_NODE)
		return false;
	return type == KERNEL_NODE  ? add_node(graph, handle)
	       : type == CHILD_NODE ? add_nodes(graph, child, depth + 1)
	                            : true;
}

static bool add_nodes(struct ptx_graph *graph, void *of, int depth)
{
	size_t count = 0;

	ptx_ours_begin();
	bool told = ptx_driver.cuGraphGetNodes(of, NULL, &count) == ABI_SUCCESS;
	ptx_ours_end();
	if (!told || count == 0 || depth == MOST_NESTED)
		return told && count == 0;
	size_t bytes = count * sizeof(void *);
	void **nodes =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if ((void *)nodes == MAP_FAILED)
		return false;
	ptx_ours_begin();
	told = ptx_driver.cuGraphGetNodes(of, nodes, &count) == ABI_SUCCESS;
	ptx_ours_end();
	for (size_t i = 0; told && i < count; i++)
		told = add_any_node(graph, nodes[i], depth);
	munmap(nodes, bytes);
	return told;
}

// ---- graphs

static struct ptx_graph *find(const void *exec)
{
	struct ptx_graph *at = graphs;

	while (at != NULL && at->exec != exec)
		at = at->following;
	return at;
}

static struct ptx_graph *find_or_make(void *exec)
{
	struct ptx_graph *graph = find(exec);

	graph = graph != NULL ? graph : find(NULL);
	if (graph == NULL) {
		graph = guest_memory(sizeof *graph);
		if (graph == NULL)
			return NULL;
		*graph = (struct ptx_graph){ .following = graphs };
		graphs = graph;
	}
	graph->exec = exec;
	forget_nodes(graph);
	return graph;
}

void ptx_graph_made(void *exec, void *of)
{
	if (ptx_stage != BLOCKS_COUNT || exec == NULL)
		return;
	pthread_mutex_lock(&lock);
	struct ptx_graph *graph = find_or_make(exec);
	if (graph != NULL)
		graph->followed =
		    ptx_driver.cuGraphGetNodes != NULL && ptx_driver.cuGraphNodeGetType != NULL &&
		    ptx_driver.cuGraphKernelNodeGetParams_v2 != NULL &&
		    ptx_driver.cuGraphChildGraphNodeGetGraph != NULL && add_nodes(graph, of, 0);
	pthread_mutex_unlock(&lock);
}

void ptx_graph_set(void *exec, void *handle, const struct ptx_node_parameters *given, bool whole)
{
	pthread_mutex_lock(&lock);
	struct ptx_graph *graph = find(exec);
	struct ptx_graph_node *node = graph != NULL ? graph->nodes : NULL;
	while (node != NULL && node->node != handle)
		node = node->following;
	struct ptx_node_parameters taken = { .function = given->function, .grid = given->grid };
	if (whole) {
		taken.kernel = given->kernel;
		taken.context = given->context;
	}
	if (graph != NULL && (node == NULL || !set_node(node, &taken)))
		graph->followed = false;
	pthread_mutex_unlock(&lock);
}

void ptx_graph_changed(void *exec)
{
	pthread_mutex_lock(&lock);
	struct ptx_graph *graph = find(exec);
	if (graph != NULL)
		graph->followed = false;
	pthread_mutex_unlock(&lock);
}

void ptx_graph_ends(void *exec)
{
	pthread_mutex_lock(&lock);
	struct ptx_graph *graph = exec != NULL ? find(exec) : NULL;
	if (graph != NULL) {
		forget_nodes(graph);
		graph->exec = NULL;
	}
	pthread_mutex_unlock(&lock);
}

void ptx_graph_launched(void *exec, cu_context context)
{
	if (ptx_stage != BLOCKS_COUNT)
		return;
	pthread_mutex_lock(&lock);
	struct ptx_graph *graph = find(exec);
	bool followed = graph != NULL && graph->followed;
	for (struct ptx_graph_node *node = followed ? graph->nodes : NULL; node != NULL;
	     node = node->following)
		ptx_count(node->kernel, node->context != NULL ? node->context : context,
		          node->items);
	pthread_mutex_unlock(&lock);
	if (!followed)
		__atomic_fetch_add(&blocks_counts->graphs, 1, __ATOMIC_RELAXED);
}
