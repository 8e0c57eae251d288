// SPDX-License-Identifier: Apache-2.0
// A CUDA program that loads PTX in the ways that its arguments name, launches a kernel of it, and
// prints the sum of what that computed. On a GPU it checks the sum, too.
//   brings [VERSION:sm_TARGET] [+ARCHITECTURE[/OPTION]] [WAY[=NUMBER]]...
// "fat…" and "code" load what only the stand-ins take: a fat binary is its head, the text, and PTX
// for each +ARCHITECTURE so far, as tests/cuda/cuobjdump.py finds it.
#include "driver.h"

#include <stdint.h>
#include <string.h>
#include <time.h>

enum { GROUPS = 2, LANES = 64, ITEMS = GROUPS * LANES, TEXT = 4096, LARGE = 1024 };

static const char body[] =
    ".address_size 64\n"
    ".visible .entry branches(.param .u64 out)\n{\n\t.reg .pred %p<2>;\n\t.reg .b32 %r<8>;\n"
    "\t.reg .b64 %rd<3>;\n\tld.param.u64 %rd0, [out];\n\tmov.u32 %r0, %tid.x;\n"
    "\tmov.u32 %r1, %ctaid.x;\n\tmov.u32 %r2, %ntid.x;\n\tmad.lo.u32 %r3, %r1, %r2, %r0;\n"
    "\tand.b32 %r4, %r0, 3;\n\tsetp.eq.u32 %p0, %r4, 0;\n\t@%p0 bra $write;\n"
    "$turn:\n\tadd.u32 %r3, %r3, 7;\n\tsub.u32 %r4, %r4, 1;\n\tsetp.ne.u32 %p1, %r4, 0;\n"
    "\t@%p1 bra $turn;\n$write:\n\tmad.lo.u32 %r5, %r1, %r2, %r0;\n"
    "\tmul.wide.u32 %rd1, %r5, 4;\n\tadd.u64 %rd2, %rd0, %rd1;\n\tst.global.u32 [%rd2], %r3;\n"
    "\tret;\n}\n"
    ".visible .entry other(.param .u64 out)\n{\n\tret;\n}\n";
static char text[TEXT];
static cu_pointer memory;
static cu_stream stream;
static cu_context context;
static void *driver;

static void *symbol(const char *name)
{
	void *found = dlsym(driver, name);
	if (!found) {
		printf("%s is not there\n", name);
		exit(2);
	}
	return found;
}
#define GET(name) (*(void **)&name = symbol(#name))

static void launch(cu_function function)
{
	void *parameters[] = { &memory };
	DO(cuLaunchKernel, function, GROUPS, 1, 1, LANES, 1, 1, 0, stream, parameters, NULL);
}

static void print_sum(const char *way)
{
	static uint32_t got[ITEMS];
	uint64_t sum = 0, wanted = 0;
	DO(cuMemcpyDtoHAsync_v2, got, memory, sizeof got, stream);
	DO(cuStreamSynchronize, stream);
	for (uint32_t i = 0; i < ITEMS; i++) {
		sum += got[i];
		wanted += i + 7 * (i & 3);
	}
	printf("%s: %llu\n", way, (unsigned long long)sum);
	if (getenv("TARE_TEST_GPU") && sum != wanted)
		exit(6);
	DO(cuMemsetD32Async, memory, 0, ITEMS, stream);
	DO(cuStreamSynchronize, stream);
}

static void run_module(cu_module module, const char *way, int n)
{
	cu_function function;
	DO(cuModuleGetFunction, &function, module, "branches");
	for (int i = 0; i < n; i++)
		launch(function);
	print_sum(way);
	DO(cuModuleUnload, module);
}

static void run_library(void *library, const char *way, int n)
{
	cu_result (*cuLibraryGetKernel)(cu_function *, void *, const char *);
	cu_result (*cuLibraryUnload)(void *);
	cu_function kernel;
	GET(cuLibraryGetKernel);
	GET(cuLibraryUnload);
	check(cuLibraryGetKernel(&kernel, library, "branches"), "cuLibraryGetKernel");
	for (int i = 0; i < n; i++)
		launch(kernel);
	print_sum(way);
	check(cuLibraryUnload(library), "cuLibraryUnload");
}

static const char *written(void)
{
	static const char name[] = "brought.ptx";
	FILE *file = fopen(name, "w");
	if (!file || fputs(text, file) < 0 || fclose(file) != 0)
		exit(2);
	return name;
}

static void data(int n)
{
	cu_result (*cuModuleLoadData)(cu_module *, const void *);
	cu_module module;
	GET(cuModuleLoadData);
	check(cuModuleLoadData(&module, text), "cuModuleLoadData");
	run_module(module, "data", n);
}

static void file(int n)
{
	cu_result (*cuModuleLoad)(cu_module *, const char *);
	cu_module module;
	GET(cuModuleLoad);
	if (cuModuleLoad(&module, "nothing.ptx") == ABI_SUCCESS)
		exit(5);
	check(cuModuleLoad(&module, written()), "cuModuleLoad");
	run_module(module, "file", n);
}

static void library(int n)
{
	cu_result (*cuLibraryLoadData)(void **, const void *, void *, void **, unsigned int, void *,
	                               void **, unsigned int);
	void *made;
	GET(cuLibraryLoadData);
	check(cuLibraryLoadData(&made, text, NULL, NULL, 0, NULL, NULL, 0), "cuLibraryLoadData");
	run_library(made, "library", n);
}

static void library_file(int n)
{
	cu_result (*cuLibraryLoadFromFile)(void **, const char *, void *, void **, unsigned int,
	                                   void *, void **, unsigned int);
	void *made;
	GET(cuLibraryLoadFromFile);
	check(cuLibraryLoadFromFile(&made, written(), NULL, NULL, 0, NULL, NULL, 0),
	      "cuLibraryLoadFromFile");
	run_library(made, "library_file", n);
}

// A head that says what it is, and the text.
enum { HEAD = 64, MOST_FAT = 8 * TEXT };
static char image[MOST_FAT];
static const char *version = "6.4", *target = "sm_70";
static const char *architectures[4];
static int architecture_count;

static void *with_head(const char *first)
{
	memset(image, 0, sizeof image);
	memcpy(image, first, 4);
	memcpy(image + HEAD, text, sizeof text);
	return image;
}

static void *fat_image(size_t *bytes)
{
	struct {
		char magic[4];
		uint16_t version, head_bytes;
		uint64_t bytes_behind;
	} head = { "\x50\xed\x55\xba", 1, 16, 0 };
	size_t used = HEAD + strlen(text) + 1;
	with_head(head.magic);
	for (int i = 0; i < architecture_count; i++) {
		const char *option = strchr(architectures[i], '/');
		int length = (int)strcspn(architectures[i], "/");
		used += (size_t)snprintf(image + used, sizeof image - used,
		                         "@%.*s -arch=%.*s %s\n.version %s\n.target %.*s\n%s",
		                         length, architectures[i], length, architectures[i],
		                         option ? option + 1 : "", version, length,
		                         architectures[i], body);
		image[used++] = '\0';
	}
	head.bytes_behind = used - sizeof head;
	memcpy(image, &head, sizeof head);
	if (bytes)
		*bytes = used;
	return image;
}

static void fat(int n)
{
	cu_module module;
	DO(cuModuleLoadDataEx, &module, fat_image(NULL), 0, NULL, NULL);
	run_module(module, "fat", n);
}

// Of a kind that is not known.
static void fat_odd(int n)
{
	cu_module module;
	char *odd = fat_image(NULL);
	odd[4] = 9;
	DO(cuModuleLoadDataEx, &module, odd, 0, NULL, NULL);
	run_module(module, "fat_odd", n);
}

// With a head that says that it is longer than it is. The stand-in for the driver does not look.
static void fat_large(int n)
{
	const uint64_t bytes = (UINT64_C(64) << 20) + 1;
	cu_module module;
	char *large = fat_image(NULL);
	memcpy(large + 8, &bytes, sizeof bytes);
	DO(cuModuleLoadDataEx, &module, large, 0, NULL, NULL);
	run_module(module, "fat_large", n);
}

static void fat_call(int n)
{
	cu_result (*cuModuleLoadFatBinary)(cu_module *, const void *);
	cu_module module;
	GET(cuModuleLoadFatBinary);
	check(cuModuleLoadFatBinary(&module, fat_image(NULL)), "cuModuleLoadFatBinary");
	run_module(module, "fat_call", n);
}

struct wrapper {
	char magic[4];
	uint32_t version;
	void *data, *others;
};

static void load_file(const void *made, size_t bytes, const char *way, int n)
{
	static const char name[] = "brought.fatbin";
	cu_result (*cuModuleLoad)(cu_module *, const char *);
	cu_module module;
	FILE *into = fopen(name, "wb");
	if (!into || fwrite(made, 1, bytes, into) != bytes || fclose(into) != 0)
		exit(2);
	GET(cuModuleLoad);
	check(cuModuleLoad(&module, name), "cuModuleLoad");
	run_module(module, way, n);
}

static void fat_file(int n)
{
	size_t bytes;
	const void *made = fat_image(&bytes);
	load_file(made, bytes, "fat_file", n);
}

// The file is shorter than its head says.
static void fat_cut(int n)
{
	size_t bytes;
	const void *made = fat_image(&bytes);
	load_file(made, bytes - 1, "fat_cut", n);
}

// A pointer in a file, which only the stand-in for the driver follows.
static void fat_pointer(int n)
{
	struct wrapper wrapper = { "\xb1\x43\x62\x46", 1, fat_image(NULL), NULL };
	load_file(&wrapper, sizeof wrapper, "fat_pointer", n);
}

// As the CUDA runtime loads it: by what the compiler puts before it, here with no context current.
static void load_wrapped(uint32_t kind, const char *way, int n)
{
	cu_result (*cuLibraryLoadData)(void **, const void *, void *, void **, unsigned int, void *,
	                               void **, unsigned int);
	struct wrapper wrapper = { "\xb1\x43\x62\x46", kind, fat_image(NULL), NULL };
	void *made;
	GET(cuLibraryLoadData);
	DO(cuCtxSetCurrent, NULL);
	check(cuLibraryLoadData(&made, &wrapper, NULL, NULL, 0, NULL, NULL, 0),
	      "cuLibraryLoadData");
	if (wrapper.version != kind)
		exit(5);
	DO(cuCtxSetCurrent, context);
	run_library(made, way, n);
}

static void fat_library(int n)
{
	load_wrapped(1, "fat_library", n);
}

static void fat_linked(int n)
{
	load_wrapped(2, "fat_linked", n);
}

static void code(int n)
{
	cu_module module;
	DO(cuModuleLoadDataEx, &module,
	   with_head("\x7f"
	             "ELF"),
	   0, NULL, NULL);
	run_module(module, "code", n);
}

// Of a text and a file, as the linker takes them.
static void linked(int n)
{
	enum { PTX_INPUT = 1 };
	cu_result (*cuLinkCreate_v2)(unsigned int, void *, void **, void **);
	cu_result (*cuLinkAddData_v2)(void *, int, void *, size_t, const char *, unsigned int,
	                              void *, void **);
	cu_result (*cuLinkAddFile_v2)(void *, int, const char *, unsigned int, void *, void **);
	cu_result (*cuLinkComplete)(void *, void **, size_t *);
	cu_result (*cuLinkDestroy)(void *);
	char second[TEXT];
	cu_module module;
	void *link, *made;
	size_t bytes;
	GET(cuLinkCreate_v2);
	GET(cuLinkAddData_v2);
	GET(cuLinkAddFile_v2);
	GET(cuLinkComplete);
	GET(cuLinkDestroy);
	check(cuLinkCreate_v2(0, NULL, NULL, &link), "cuLinkCreate_v2");
	check(cuLinkAddFile_v2(link, PTX_INPUT, written(), 0, NULL, NULL), "cuLinkAddFile_v2");
	snprintf(second, sizeof second,
	         "%.*s.address_size 64\n.visible .entry third()\n{\n\tret;\n}\n",
	         (int)(strstr(text, ".address_size") - text), text);
	check(
	    cuLinkAddData_v2(link, PTX_INPUT, second, strlen(second) + 1, "second", 0, NULL, NULL),
	    "cuLinkAddData_v2");
	check(cuLinkComplete(link, &made, &bytes), "cuLinkComplete");
	DO(cuModuleLoadDataEx, &module, made, 0, NULL, NULL);
	check(cuLinkDestroy(link), "cuLinkDestroy");
	run_module(module, "linked", n);
}

// ---- graphs

struct node_parameters {
	cu_function function;
	unsigned int groups[3], lanes[3], shared_bytes;
	void **parameters, **extra;
	void *kernel;
	cu_context context;
};

static cu_module graph_module;
static cu_graph captured;

static cu_graph_exec capture(void)
{
	cu_function branches, other;
	cu_graph_exec exec;
	DO(cuModuleLoadDataEx, &graph_module, text, 0, NULL, NULL);
	DO(cuModuleGetFunction, &branches, graph_module, "branches");
	DO(cuModuleGetFunction, &other, graph_module, "other");
	DO(cuStreamBeginCapture_v2, stream, ABI_STREAM_CAPTURE_MODE_RELAXED);
	launch(branches);
	launch(other);
	launch(branches);
	DO(cuStreamEndCapture, stream, &captured);
	DO(cuGraphInstantiateWithFlags, &exec, captured, 0);
	return exec;
}

static void run_graph(cu_graph_exec exec, const char *way, int n)
{
	for (int i = 0; i < n; i++)
		DO(cuGraphLaunch, exec, stream);
	print_sum(way);
	DO(cuGraphExecDestroy, exec);
	DO(cuGraphDestroy, captured);
	DO(cuModuleUnload, graph_module);
}

static void graph(int n)
{
	run_graph(capture(), "graph", n);
}

// The last node of it, which is `branches`.
static void *last_node(void)
{
	cu_result (*cuGraphGetNodes)(cu_graph, void **, size_t *);
	void *nodes[3];
	size_t count = 3;
	GET(cuGraphGetNodes);
	check(cuGraphGetNodes(captured, nodes, &count), "cuGraphGetNodes");
	return nodes[2];
}

// A node runs one group only.
static void graph_set(int n)
{
	cu_result (*cuGraphExecKernelNodeSetParams_v2)(cu_graph_exec, void *,
	                                               const struct node_parameters *);
	cu_graph_exec exec = capture();
	void *parameters[] = { &memory };
	struct node_parameters given = { .groups = { 1, 1, 1 },
		                         .lanes = { LANES, 1, 1 },
		                         .parameters = parameters,
		                         .context = context };
	GET(cuGraphExecKernelNodeSetParams_v2);
	DO(cuModuleGetFunction, &given.function, graph_module, "branches");
	check(cuGraphExecKernelNodeSetParams_v2(exec, last_node(), &given),
	      "cuGraphExecKernelNodeSetParams_v2");
	run_graph(exec, "graph_set", n);
}

// A node that is enabled, as it was.
static void graph_enabled(int n)
{
	cu_result (*cuGraphNodeSetEnabled)(cu_graph_exec, void *, unsigned int);
	cu_graph_exec exec = capture();
	GET(cuGraphNodeSetEnabled);
	check(cuGraphNodeSetEnabled(exec, last_node(), 1), "cuGraphNodeSetEnabled");
	run_graph(exec, "graph_enabled", n);
}

// Captured, and never launched.
static void graph_unlaunched(int n)
{
	(void)n;
	run_graph(capture(), "graph_unlaunched", 0);
}

static double now_us(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

// What counters cost where blocks are short and neighbours go different ways: the best of n
// launches of 1,024 by 1,024 work-items, on standard error.
static void times(int n)
{
	cu_module module;
	cu_function function;
	cu_pointer large;
	void *parameters[] = { &large };
	double best = 0;
	DO(cuMemAlloc_v2, &large, (size_t)LARGE * LARGE * 4);
	DO(cuModuleLoadDataEx, &module, text, 0, NULL, NULL);
	DO(cuModuleGetFunction, &function, module, "branches");
	for (int i = 0; i <= n; i++) {
		double begun = now_us();
		DO(cuLaunchKernel, function, LARGE, 1, 1, LARGE, 1, 1, 0, stream, parameters, NULL);
		DO(cuStreamSynchronize, stream);
		double took = now_us() - begun;
		best = i == 1 || (i > 1 && took < best) ? took : best;
	}
	fprintf(stderr, "times: %.1f us\n", best);
	DO(cuModuleUnload, module);
	DO(cuMemFree_v2, large);
}

static void begin(void)
{
	cu_device device;
	stream = open_stream();
	driver = dlopen("libcuda.so.1", RTLD_NOW);
	DO(cuDeviceGet, &device, 0);
	DO(cuDevicePrimaryCtxRetain, &context, device);
	DO(cuMemAlloc_v2, &memory, ITEMS * sizeof(uint32_t));
	DO(cuMemsetD32Async, memory, 0, ITEMS, stream);
}

int main(int count, char **arguments)
{
	static const struct {
		const char *name;
		void (*run)(int n);
	} ways[] = { { "data", data },
		     { "file", file },
		     { "library", library },
		     { "library_file", library_file },
		     { "fat", fat },
		     { "fat_call", fat_call },
		     { "fat_odd", fat_odd },
		     { "fat_large", fat_large },
		     { "fat_file", fat_file },
		     { "fat_cut", fat_cut },
		     { "fat_pointer", fat_pointer },
		     { "fat_library", fat_library },
		     { "fat_linked", fat_linked },
		     { "code", code },
		     { "linked", linked },
		     { "graph", graph },
		     { "graph_set", graph_set },
		     { "times", times },
		     { "graph_enabled", graph_enabled },
		     { "graph_unlaunched", graph_unlaunched } };
	begin();
	for (int i = 1; i < count; i++) {
		char *colon = strchr(arguments[i], ':');
		size_t length = strcspn(arguments[i], "=");
		if (arguments[i][0] == '+' && architecture_count < 4)
			architectures[architecture_count++] = arguments[i] + 1;
		int n = arguments[i][length] ? atoi(arguments[i] + length + 1) : 3;
		if (colon) {
			*colon = '\0';
			version = arguments[i];
			target = colon + 1;
		}
		snprintf(text, sizeof text, ".version %s\n.target %s\n%s", version, target, body);
		for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
			if (strlen(ways[w].name) == length &&
			    strncmp(ways[w].name, arguments[i], length) == 0)
				ways[w].run(n);
	}
	DO(cuStreamDestroy_v2, stream);
	return 0;
}
