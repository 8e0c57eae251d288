// SPDX-License-Identifier: Apache-2.0
// What the stand-in for libcuda is told. TARE_FAKE_CUDA holds words:
//   init=CODE driver=12040 devices=N cc=9.0 ptx=8.4 name=NVIDIA_H200 (underscores are spaces)
//   memory=BYTES host_memory=BYTES memory_above=BYTES (a single allocation) step=NS (of the timer)
//   fail_launch=N fail_code=CODE hang_launch=N (the Nth kernel) no_wait_value no_managed no_peer
//   peer_rate=BYTES (a second) fail_peer=BYTES (every copy of so many between devices)
//   shared_link (devices share the way to the host) exclusive (another process has the device)
//   prohibited missing=NAME,NAME (functions the library does not have)
// TARE_FAKE_CUDA_DEVICE names a file in the grammar of docs/simulated-device.md for each device,
// with colons between; the last one goes for those that follow, and without any it is the H200 of
// h200.tare-device. Of a script the device, link, engines, copies, fills, kernels, concurrency,
// migration and the gaps of queues are used, and what building, allocating, registering and waking
// up from a wait cost the host; clocks and the host's other costs are the machine's own.
#include "fake_cuda_device.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern const char fake_cuda_h200[];
extern const size_t fake_cuda_h200_bytes;

static void read_word(const char *word, const char *value)
{
	struct words *words = &gpu.words;
	const struct {
		const char *word;
		int *at;
	} numbers[] = {
		{ "init", &words->init },           { "driver", &words->driver },
		{ "devices", &words->devices },     { "fail_launch", &words->fail_launch },
		{ "fail_code", &words->fail_code }, { "hang_launch", &words->hang_launch },
		{ "step", &words->step },           { "load_us", &words->load_us },
		{ "module_us", &words->module_us }, { "launch_us", &words->launch_us },
	};
	const struct {
		const char *word;
		size_t *at;
	} sizes[] = {
		{ "memory", &words->memory },
		{ "host_memory", &words->host_memory },
		{ "memory_above", &words->memory_above },
		{ "fail_peer", &words->fail_peer },
	};
	const struct {
		const char *word;
		bool *at;
	} flags[] = {
		{ "no_wait_value", &words->no_wait_value },
		{ "no_managed", &words->no_managed },
		{ "no_peer", &words->no_peer },
		{ "shared_link", &words->shared_link },
		{ "exclusive", &words->exclusive },
		{ "prohibited", &words->prohibited },
	};

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (strcmp(word, numbers[i].word) == 0)
			*numbers[i].at = atoi(value);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		if (strcmp(word, sizes[i].word) == 0)
			*sizes[i].at = strtoull(value, NULL, 10);
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		if (strcmp(word, flags[i].word) == 0)
			*flags[i].at = true;
	if (strcmp(word, "cc") == 0)
		sscanf(value, "%d.%d", &words->major, &words->minor);
	if (strcmp(word, "ptx") == 0)
		sscanf(value, "%d.%d", &words->ptx_major, &words->ptx_minor);
	if (strcmp(word, "peer_rate") == 0)
		words->peer_rate = strtoull(value, NULL, 10);
	if (strcmp(word, "name") == 0) {
		snprintf(words->name, sizeof words->name, "%s", value);
		for (char *at = words->name; *at; at++)
			*at = *at == '_' ? ' ' : *at;
	}
}

// The newest PTX that a driver takes, by the release notes of the PTX manual.
static void default_ptx(struct words *words)
{
	static const int minors[] = { 0, 1, 2, 3, 4, 5, 5, 6, 7, 8 }; // of 8, by CUDA 12.n
	int major = words->driver / 1000, minor = words->driver % 1000 / 10;

	words->ptx_major = major >= 13 ? 9 : major - 4;
	words->ptx_minor = minor;
	if (major == 12)
		words->ptx_minor = minors[minor < 10 ? minor : 9];
	if (major == 10)
		words->ptx_minor = minor + 3;
}

static void read_scripts(void)
{
	const char *paths = getenv("TARE_FAKE_CUDA_DEVICE");
	struct tare_error error = { 0 };

	for (int i = 0; i < MAX_DEVICES; i++) {
		struct device *device = &gpu.devices[i];
		char path[1024] = "";
		int status;
		if (paths && *paths) {
			size_t length = strcspn(paths, ":");
			snprintf(path, sizeof path, "%.*s", (int)length, paths);
			if (paths[length])
				paths += length + 1;
			status = tare_script_read(path, &device->script, &error);
		} else {
			status = tare_script_parse(fake_cuda_h200, fake_cuda_h200_bytes,
			                           "h200.tare-device", &device->script, &error);
		}
		if (status < 0) {
			fprintf(stderr, "fake CUDA: %s\n", error.message);
			abort();
		}
	}
}

void read_words(void)
{
	const char *told = getenv("TARE_FAKE_CUDA");
	char text[1024], *place = NULL;

	gpu.words = (struct words){ .devices = 1,
		                    .driver = 13000,
		                    .major = 9,
		                    .step = 32,
		                    .fail_code = ABI_LAUNCH_FAILED,
		                    .host_memory = (size_t)16 << 30,
		                    .peer_rate = 370000000000 };
	snprintf(text, sizeof text, "%s", told ? told : "");
	for (char *word = strtok_r(text, " ", &place); word; word = strtok_r(NULL, " ", &place)) {
		char *value = strchr(word, '=');
		if (value)
			*value++ = '\0';
		read_word(word, value ? value : "");
	}
	const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");
	gpu.words.launch_blocking = blocking && atoi(blocking) != 0;
	if (gpu.words.ptx_major == 0)
		default_ptx(&gpu.words);
	if (gpu.words.devices > MAX_DEVICES)
		gpu.words.devices = MAX_DEVICES;
	read_scripts();
}

// ---- functions that this library is not to have

// A symbol without a definition is not found by dlsym. Returns false when there is none to hide.
static bool hide(const char *name)
{
	void *handle, *at;
	Dl_info self, found;
	Elf64_Sym *symbol = NULL;

	if (!dladdr((void *)(uintptr_t)&hide, &self))
		return false;
	handle = dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD);
	if (!handle)
		return false;
	at = dlsym(handle, name);
	dlclose(handle);
	if (!at || !dladdr1(at, &found, (void **)&symbol, RTLD_DL_SYMENT) || !symbol ||
	    strcmp(found.dli_sname, name) != 0 || strcmp(found.dli_fname, self.dli_fname) != 0)
		return false;
	uintptr_t page = (uintptr_t)symbol & ~(uintptr_t)(sysconf(_SC_PAGESIZE) - 1);
	size_t bytes = (uintptr_t)(symbol + 1) - page;
	if (mprotect((void *)page, bytes, PROT_READ | PROT_WRITE) < 0)
		return false;
	symbol->st_shndx = SHN_UNDEF;
	symbol->st_value = 0;
	return true;
}

__attribute__((constructor)) static void hide_missing(void)
{
	const char *told = getenv("TARE_FAKE_CUDA");
	const char *list = told ? strstr(told, "missing=") : NULL;
	char text[512], *place = NULL;

	if (!list)
		return;
	list += strlen("missing=");
	snprintf(text, sizeof text, "%.*s", (int)strcspn(list, " "), list);
	for (char *name = strtok_r(text, ",", &place); name; name = strtok_r(NULL, ",", &place))
		if (!hide(name))
			fprintf(stderr, "fake CUDA: cannot do without '%s'\n", name);
}
