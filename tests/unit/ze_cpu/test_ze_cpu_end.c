// SPDX-License-Identifier: Apache-2.0
// Programs on the Level Zero CPU driver that end, fork or touch what is not there at a bad moment.
// Each runs in a process of its own: this program with the case's name as third argument.
#include "tests/unit/quick.h"
#include "ze_cpu_kernels_rig.h"
#include "ze_work_rig.h"

#include <dlfcn.h>
#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

// Seconds until a case that hangs is killed.
#define LIMIT_S 60

// Microseconds after which a process ends that compiles.
#define DELAY "TARE_TEST_DELAY_US"

extern char **environ;

static const char *library, *folder;

// What was given out is given back by nobody: the process ends.
static ze_command_list_handle_t lists[3];
static ze_event_handle_t gate, done;
static uint8_t from[1 << 22], to[1 << 22];

// Work that waits, and work that runs.
static bool start_work(void)
{
	for (int i = 0; i < 3; i++)
		lists[i] = immediate_new(false);
	pool = pool_new(2, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
	gate = event_of(pool, 0);
	done = event_of(pool, 1);
	if (zeCommandListAppendBarrier(lists[0], NULL, 1, &gate) != 0)
		return false;
	for (int i = 0; i < 50; i++)
		if (zeCommandListAppendMemoryCopy(lists[1], to, from, sizeof to, NULL, 0, NULL) !=
		    0)
			return false;
	return true;
}

// ---- the end of the process

// In a child the device is lost: nothing there waits for threads that it does not have.
static bool is_lost(void)
{
	return zeDeviceGetStatus(device) == ZE_RESULT_ERROR_DEVICE_LOST &&
	       zeEventHostSynchronize(done, FOR_EVER) == ZE_RESULT_ERROR_DEVICE_LOST &&
	       zeCommandListAppendBarrier(lists[1], NULL, 0, NULL) == ZE_RESULT_ERROR_DEVICE_LOST;
}

// A child that ends, with what it destroys before.
static int child_ends_well(bool at_once)
{
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		alarm(LIMIT_S);
		// The address sanitizer takes no locks of its own in fork(): a child that frees may
		// hang.
#ifdef __SANITIZE_ADDRESS__
		at_once = true;
#endif
		if (at_once)
			_exit(0);
		if (!is_lost() || zeEventDestroy(done) != 0 || zeCommandListDestroy(lists[1]) != 0)
			_exit(1);
		exit(0);
	}
	return waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status) ? 0
	                                                                                        : 1;
}

static int end_while_a_kernel_runs(void)
{
	static struct rig rig;
	static ze_kernel_handle_t kernel;
	static int counter;
	int *at = &counter, step = 1;
	ze_group_count_t groups = { 1 << 30, 1, 1 };

	rig = (struct rig){ .folder = folder, .device = device, .context = context };
	if (!open_kernels(&rig))
		return 0;
	kernel = kernel_of(rig.module, "count");
	set(kernel, 0, at);
	set(kernel, 1, step);
	assert_good(zeKernelSetGroupSize(kernel, 1, 1, 1));
	if (!start_work())
		return 1;
	assert_good(zeCommandListAppendLaunchKernel(lists[2], kernel, &groups, NULL, 0, NULL));
	while (__atomic_load_n(&counter, __ATOMIC_RELAXED) == 0)
		usleep(1000);
	return child_ends_well(false);
}

// A program's own work at its end, after that of the libraries that it has opened.
static void end_slowly(void)
{
	usleep(300000);
}

// Launches of ever new group sizes: each is compiled anew. To end in the middle of that is fatal
// where the compiler works on without what exit() has taken down.
static int end_while_it_compiles(void)
{
	static struct rig rig;
	static ze_command_list_handle_t list;
	static ze_kernel_handle_t kernel;
	static int counter;
	const char *delay_us = getenv(DELAY);
	ze_group_count_t groups = { 1, 1, 1 };
	int *at = &counter, step = 1;

	rig = (struct rig){ .folder = folder, .device = device, .context = context };
	atexit(end_slowly);
	if (!open_kernels(&rig))
		return 0;
	list = immediate_new(false);
	kernel = kernel_of(rig.module, "count");
	set(kernel, 0, at);
	set(kernel, 1, step);
	for (uint32_t size = 1; size <= 64; size++) {
		assert_good(zeKernelSetGroupSize(kernel, size, 1, 1));
		assert_good(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
	}
	usleep(delay_us ? (useconds_t)atoi(delay_us) : 0);
	return 0;
}

static void *exit_elsewhere(void *unused)
{
	(void)unused;
	usleep(20000);
	exit(0);
}

static int exit_from_another_thread(void)
{
	pthread_t thread;

	if (!start_work() || pthread_create(&thread, NULL, exit_elsewhere, NULL) != 0)
		return 1;
	zeCommandListAppendMemoryCopy(lists[2], to, from, 1, done, 1, &gate);
	zeEventHostSynchronize(done, FOR_EVER);
	return 2;
}

static int close_the_loader(void)
{
	void *loader = dlopen("libze_loader.so.1", RTLD_NOW | RTLD_NOLOAD);

	if (!start_work() || !loader)
		return 1;
	dlclose(loader);
	dlclose(loader);
	return 0;
}

// ---- a child of a process that uses it

static int fork_while_it_works(void)
{
	int good = 9, got = 0;

	if (!start_work())
		return 1;
	if (child_ends_well(true) || child_ends_well(false))
		return 2;
	if (zeCommandListAppendMemoryCopy(lists[0], &got, &good, sizeof got, done, 0, NULL) != 0 ||
	    zeEventHostSignal(gate) != 0 || zeEventHostSynchronize(done, FOR_EVER) != 0)
		return 3;
	return got == good ? 0 : 4;
}

// ---- a context destroyed before what is of it

static int context_destroyed_first(void)
{
	void *memory = shared_new(4096);
	ze_command_queue_handle_t queue = queue_new(true);
	ze_command_list_handle_t list = list_new();

	if (!start_work() || zeContextDestroy(context) != 0)
		return 1;
	must(zeCommandListAppendMemoryCopy(list, memory, from, 4096, NULL, 0, NULL));
	must(zeCommandListClose(list));
	must(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
	must(zeEventHostSignal(gate));
	must(zeEventDestroy(gate));
	must(zeEventDestroy(done));
	must(zeEventPoolDestroy(pool));
	for (int i = 0; i < 3; i++)
		must(zeCommandListDestroy(lists[i]));
	must(zeCommandListDestroy(list));
	must(zeCommandQueueDestroy(queue));
	return 0;
}

// ---- addresses without memory

static ze_result_t copy_to(ze_command_list_handle_t list, void *nothing)
{
	return zeCommandListAppendMemoryCopy(list, nothing, from, 64, done, 0, NULL);
}

static ze_result_t copy_from(ze_command_list_handle_t list, void *nothing)
{
	return zeCommandListAppendMemoryCopy(list, to, nothing, 64, done, 0, NULL);
}

static ze_result_t fill_there(ze_command_list_handle_t list, void *nothing)
{
	return zeCommandListAppendMemoryFill(list, nothing, from, 4, 64, done, 0, NULL);
}

static ze_result_t copy_region_there(ze_command_list_handle_t list, void *nothing)
{
	ze_copy_region_t region = { .width = 4, .height = 4 };

	return zeCommandListAppendMemoryCopyRegion(list, nothing, &region, 8, 0, from, &region, 8,
	                                           0, done, 0, NULL);
}

// Of memory with one page behind which the next allocation lies.
static ze_result_t copy_two_pages(ze_command_list_handle_t list, void *page)
{
	return zeCommandListAppendMemoryCopy(list, from, page, 8192, done, 0, NULL);
}

static ze_result_t copy_huge_region(ze_command_list_handle_t list, void *page)
{
	ze_copy_region_t region = { 0, UINT32_MAX, UINT32_MAX, 16, 1, 1 };

	return zeCommandListAppendMemoryCopyRegion(list, page, &region, UINT32_MAX, UINT32_MAX,
	                                           from, &region, 0, 0, done, 0, NULL);
}

static ze_result_t stamp_there(ze_command_list_handle_t list, void *nothing)
{
	return zeCommandListAppendWriteGlobalTimestamp(list, nothing, done, 0, NULL);
}

// It costs the queue, which says so, and nothing else.
static void loses_its_queue(ze_result_t (*append)(ze_command_list_handle_t list, void *nothing),
                            void *nothing)
{
	ze_command_queue_handle_t queue = queue_new(false);
	ze_command_list_handle_t list = list_new(), other = immediate_new(true);
	int good = 5, got = 0;

	must(zeEventHostReset(done));
	must(append(list, nothing));
	must(zeCommandListClose(list));
	must(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
	assert_int_equal(zeCommandQueueSynchronize(queue, FOR_EVER), ZE_RESULT_ERROR_DEVICE_LOST);
	assert_int_equal(zeEventHostSynchronize(done, FOR_EVER), ZE_RESULT_ERROR_DEVICE_LOST);
	must(zeCommandListAppendMemoryCopy(other, &got, &good, sizeof got, NULL, 0, NULL));
	assert_int_equal(got, good);
	must(zeCommandListDestroy(list));
	must(zeCommandListDestroy(other));
	must(zeCommandQueueDestroy(queue));
}

static int no_memory_there(void)
{
	static ze_result_t (*const cases[])(ze_command_list_handle_t list, void *nothing) = {
		copy_to, copy_from, fill_there, copy_region_there, stamp_there,
	};
	void *nothing = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	pool = pool_new(1, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
	done = event_of(pool, 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		loses_its_queue(cases[i], nothing);
	loses_its_queue(copy_to, (void *)16);
	char *pages = shared_new(4096), *below = shared_new(4096);
	loses_its_queue(copy_two_pages, below);
	loses_its_queue(copy_two_pages, pages);
	loses_its_queue(copy_huge_region, pages);
	// Rows of no bytes are done at once, however many they are.
	ze_copy_region_t flat = { .height = UINT32_MAX, .depth = UINT32_MAX };
	ze_command_list_handle_t list = immediate_new(true);
	must(zeCommandListAppendMemoryCopyRegion(list, pages, &flat, 0, 0, below, &flat, 0, 0, NULL,
	                                         0, NULL));
	must(zeCommandListDestroy(list));
	return 0;
}

// ---- all of them

static const struct {
	const char *name;
	int (*run)(void);
} cases[] = {
	{ "kernel", end_while_a_kernel_runs },  { "thread", exit_from_another_thread },
	{ "dlclose", close_the_loader },        { "fork", fork_while_it_works },
	{ "context", context_destroyed_first }, { "nothing", no_memory_there },
};

static void ends(void **state)
{
	char program[] = "/proc/self/exe";
	const char *name = *state;
	char *arguments[] = { program, (char *)(uintptr_t)library, (char *)(uintptr_t)folder,
		              (char *)(uintptr_t)name, NULL };
	int status = -1;
	pid_t child;

	assert_int_equal(posix_spawn(&child, program, NULL, NULL, arguments, environ), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (status != 0)
		fail_msg("%s: wait status %d", name, status);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
	(void)status;
	(void)type;
	(void)where;
	return remove(path);
}

// At several moments, each with a cache of compiled kernels that is empty. What is still being made
// then is no leak.
static void ends_while_it_compiles(void **state)
{
	const char *asan = getenv("ASAN_OPTIONS");
	char no_leaks[512];
	static const char *const delays_us[] = { "0", "20000", "110000", "410000" };
	static const char name[] = "compile";

	(void)state;
	snprintf(no_leaks, sizeof no_leaks, "%s:detect_leaks=0", asan ? asan : "");
	setenv("ASAN_OPTIONS", no_leaks, 1);
	for (size_t i = 0; i < sizeof delays_us / sizeof *delays_us; i += test_is_quick() ? 2 : 1) {
		char cache[] = "/tmp/tare-test-XXXXXX";
		void *argument = (void *)(uintptr_t)name;
		assert_non_null(mkdtemp(cache));
		setenv("POCL_CACHE_DIR", cache, 1);
		setenv(DELAY, delays_us[i], 1);
		ends(&argument);
		nftw(cache, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	}
	unsetenv("POCL_CACHE_DIR");
	unsetenv(DELAY);
}

static int run_case(const char *name)
{
	alarm(LIMIT_S);
	if (strcmp(name, "compile") == 0)
		return end_while_it_compiles();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (strcmp(cases[i].name, name) == 0)
			return cases[i].run();
	return 99;
}

int main(int argc, char **argv)
{
	struct CMUnitTest tests[sizeof cases / sizeof *cases + 1] = {
		[sizeof cases / sizeof *cases] = cmocka_unit_test(ends_while_it_compiles),
	};
	int status = argc < 3 ? 77 : rig_open(argv[1]);

	if (status)
		return status;
	library = argv[1];
	folder = argv[2];
	if (argc > 3)
		return run_case(argv[3]);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		tests[i] = (struct CMUnitTest){ cases[i].name, ends, NULL, NULL,
			                        (void *)(uintptr_t)cases[i].name };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
