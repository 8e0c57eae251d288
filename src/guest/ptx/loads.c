// SPDX-License-Identifier: Apache-2.0
// Calls that load code: what it is, and PTX with counters in its place.
#include "guest/blocks/ptx_text.h"
#include "guest/ptx/ptx.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// Text with counters, for calls that read a file: its name ends so.
#define TEXT_SUFFIX ".ptx"
#define MOST_BYTES (UINT64_C(1) << 30) // of a file, or of machine code, that is looked at

// Of the call in which this thread is.
static _Thread_local struct {
	bool seen;                          // what is loaded is known
	enum blocks_brought brought;        // as what
	const void *image;                  // the program's own
	const struct blocks_module *module; // NULL: it is not replaced
	uint64_t hash;                      // 0: it is no PTX, and no fat binary
	enum blocks_why why;
	cu_result code;
} load;

// ---- trying

// The hash of the BUILD of a text, or of a fat binary, which is written down in the first run.
static uint64_t note(enum blocks_language language, const char *text, size_t text_bytes)
{
	struct blocks_build build = { .magic = BLOCKS_MAGIC,
		                      .api = BLOCKS_CUDA,
		                      .language = language,
		                      .text_bytes = text_bytes };
	uint64_t hash =
	    guest_hash(guest_hash(GUEST_HASH_START, &build, sizeof build), text, text_bytes);
	char version[PTX_CAPABILITY_BYTES] = "";

	if (ptx_stage != BLOCKS_COLLECT)
		return hash;
	if (language == BLOCKS_FAT)
		ptx_capability(version);
	build.version_bytes = (uint32_t)strlen(version);
	size_t before = sizeof build + build.version_bytes, bytes = before + text_bytes;
	char *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (data == MAP_FAILED)
		return hash;
	memcpy(data, &build, sizeof build);
	memcpy(data + sizeof build, version, build.version_bytes);
	memcpy(data + before, text, text_bytes);
	blocks_write(hash, BLOCKS_BUILD_SUFFIX, data, bytes);
	munmap(data, bytes);
	return hash;
}

// Parameters of the calls that load code, as far as they are looked at.
enum { MOST_OPTIONS = 32, INFO_LOG = 3, ERROR_LOG_BYTES = 6 };
struct with_options {
	void **handle;
	const void *image;
	unsigned int count;
	const int *options;
	void **values;
};
struct of_library {
	void **handle;
	const void *image;
	const int *options;
	void **values;
	unsigned int count;
};

// Whether the driver takes a text with the options of the program's call, which is tried before
// that depends on it. The buffers for logs are the program's, and left out.
static enum blocks_why try_text(const char *text, unsigned int count, const int *options,
                                void *const *values, cu_result *code)
{
	int own[MOST_OPTIONS];
	void *own_values[MOST_OPTIONS], *module = NULL;
	unsigned int used = 0;

	*code = 1; // invalid value
	if (count > MOST_OPTIONS)
		return BLOCKS_BUILD_FAILED;
	for (unsigned int i = 0; i < count; i++) {
		if (options[i] >= INFO_LOG && options[i] <= ERROR_LOG_BYTES)
			continue;
		own[used] = options[i];
		own_values[used++] = values[i];
	}
	*code = ptx_driver.cuModuleLoadDataEx(&module, text, used, own, own_values);
	if (*code != ABI_SUCCESS)
		return BLOCKS_BUILD_FAILED;
	ptx_driver.cuModuleUnload(module);
	return BLOCKS_COVERED;
}

// The same where there may be no context, in which case a library is tried in one that the program
// has.
static enum blocks_why try_somewhere(const char *text, unsigned int count, const int *options,
                                     void *const *values, bool library, cu_result *code)
{
	cu_context context = NULL;
	cu_device device = 0;

	if (ptx_driver.cuCtxGetCurrent(&context) != ABI_SUCCESS)
		return BLOCKS_NO_CONTEXT;
	if (context != NULL)
		return try_text(text, count, options, values, code);
	if (!library || !ptx_context_borrow(&device))
		return BLOCKS_NO_CONTEXT;
	enum blocks_why why = try_text(text, count, options, values, code);
	ptx_context_return(device);
	return why;
}

static enum blocks_why try_as_called(const struct cupti_call *call, const char *text,
                                     const struct ptx_way *way, cu_result *code)
{
	const struct with_options *plain = call->parameters;
	const struct of_library *whole = call->parameters;
	enum blocks_why why;

	// Without that the driver would break a capture.
	if (ptx_driver.cuThreadExchangeStreamCaptureMode == NULL && atomic_load(&ptx_captures) > 0)
		return BLOCKS_CAPTURING;
	ptx_ours_begin();
	if (way->library)
		why = try_somewhere(text, whole->count, whole->options, whole->values, true, code);
	else
		why = try_somewhere(text, way->with_options ? plain->count : 0, plain->options,
		                    plain->values, false, code);
	ptx_ours_end();
	return why;
}

// The second parameter of all these calls is the image, or the name of its file.
static const void **image_of(const struct cupti_call *call)
{
	return (const void **)(uintptr_t)call->parameters + 1;
}

// ---- what is loaded

// A file as it is read; *bytes of it, and an end. NULL: it cannot be read, or reading would take it
// from the program.
static char *read_file(const char *path, size_t *bytes)
{
	struct stat status;

	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= 0 ||
	    (uint64_t)status.st_size > MOST_BYTES)
		return NULL;
	size_t most = (size_t)status.st_size, used = 0;
	int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return NULL;
	char *memory =
	    mmap(NULL, most + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	while ((void *)memory != MAP_FAILED && used < most) {
		ssize_t got = read(file, memory + used, most - used);
		if (got <= 0)
			break;
		used += (size_t)got;
	}
	close(file);
	if ((void *)memory == MAP_FAILED)
		return NULL;
	if (used == most) {
		*bytes = most;
		return memory;
	}
	munmap(memory, most + 1);
	return NULL;
}

static bool begins(const char *image, size_t bytes, const char first[4])
{
	for (size_t i = 0; i < 4; i++)
		if (i >= bytes || image[i] != first[i])
			return false;
	return true;
}

// The hash of machine code, which says itself how long it is.
static uint64_t hash_of_code(const char *image, size_t bytes)
{
	Elf64_Ehdr head;

	if (bytes < sizeof head)
		return guest_hash(GUEST_HASH_START, image, bytes);
	memcpy(&head, image, sizeof head);
	uint64_t sections = head.e_shoff + (uint64_t)head.e_shnum * head.e_shentsize,
	         segments = head.e_phoff + (uint64_t)head.e_phnum * head.e_phentsize,
	         end = sections > segments ? sections : segments;
	if (end < sizeof head || end > bytes || end > MOST_BYTES)
		end = sizeof head;
	return guest_hash(GUEST_HASH_START, image, end);
}

// What cuLinkComplete has made. Never given back.
struct linked {
	struct linked *following;
	uint64_t hash;
};
static struct linked *_Atomic linked_all;

void ptx_linked(const struct cupti_call *call)
{
	const struct {
		void *state;
		void **code;
		size_t *bytes;
	} *parameters = call->parameters;

	if (parameters->code == NULL || *parameters->code == NULL)
		return;
	struct linked *made = guest_memory(sizeof *made);
	if (made == NULL)
		return;
	made->hash = hash_of_code(*parameters->code,
	                          parameters->bytes != NULL ? *parameters->bytes : SIZE_MAX);
	made->following = atomic_load(&linked_all);
	while (!atomic_compare_exchange_weak(&linked_all, &made->following, made))
		;
}

static bool is_linked(const char *image, size_t bytes)
{
	struct linked *first = atomic_load(&linked_all);
	uint64_t hash = first != NULL ? hash_of_code(image, bytes) : 0;

	for (struct linked *at = first; at != NULL; at = at->following)
		if (at->hash == hash)
			return true;
	return false;
}

static enum blocks_brought kind_of(const char *image, size_t bytes)
{
	return blocks_is_ptx(image, bytes) ? BLOCKS_BROUGHT_PTX
	       : begins(image, bytes, PTX_FAT_BINARY) || begins(image, bytes, PTX_FAT_WRAPPER)
	           ? BLOCKS_BROUGHT_FAT_BINARY
	       : !begins(image, bytes, ELFMAG) ? BLOCKS_BROUGHT_OTHER
	       : is_linked(image, bytes)       ? BLOCKS_BROUGHT_LINKED
	                                       : BLOCKS_BROUGHT_MACHINE_CODE;
}

// ---- in its place

// The file of a module's text; NULL: there is no room for it.
static const char *file_of(const struct blocks_module *module)
{
	static _Thread_local char path[BLOCKS_PATH_BYTES];
	size_t bytes = strlen((const char *)(module + 1));
	struct stat status;

	blocks_write(load.hash, TEXT_SUFFIX, module + 1, bytes);
	blocks_path_of(path, load.hash, TEXT_SUFFIX);
	return stat(path, &status) == 0 && (size_t)status.st_size == bytes ? path : NULL;
}

// Puts the text with counters of a BUILD in the place of what the program loads.
static void replace(const struct cupti_call *call, const struct ptx_way *way, uint64_t hash)
{
	load.hash = hash;
	load.why = BLOCKS_NO_MODULE;
	const struct blocks_module *module =
	    ptx_stage == BLOCKS_COUNT ? blocks_module_of(load.hash) : NULL;
	if (module == NULL || module->ptx_bytes == 0)
		return;
	load.why = try_as_called(call, (const char *)(module + 1), way, &load.code);
	if (load.why != BLOCKS_COVERED)
		return;
	const void *ours = way->file ? (const void *)file_of(module) : module + 1;
	if (ours == NULL) {
		load.why = BLOCKS_NO_ROOM;
		return;
	}
	load.image = *image_of(call);
	load.module = module;
	*image_of(call) = ours;
}

void ptx_load_enters(const struct cupti_call *call, const struct ptx_way *way)
{
	static const enum blocks_why whys[BLOCKS_BROUGHT_KINDS] = {
		[BLOCKS_BROUGHT_PTX] = BLOCKS_NO_MODULE,
		[BLOCKS_BROUGHT_FAT_BINARY] = BLOCKS_FAT_BINARY,
		[BLOCKS_BROUGHT_MACHINE_CODE] = BLOCKS_MACHINE_CODE,
		[BLOCKS_BROUGHT_LINKED] = BLOCKS_CUDA_LINKED,
		[BLOCKS_BROUGHT_OTHER] = BLOCKS_NO_PTX,
	};
	const char *image = *image_of(call);
	size_t bytes = SIZE_MAX, fat_bytes = 0;
	const char *fat = NULL;
	char *file = NULL;

	load.seen = false;
	load.module = NULL;
	load.hash = 0;
	load.code = ABI_SUCCESS;
	if (image != NULL && way->file)
		image = file = read_file(image, &bytes);
	if (image == NULL)
		return;
	load.seen = true;
	load.brought = kind_of(image, bytes);
	load.why = whys[load.brought];
	if (load.brought == BLOCKS_BROUGHT_PTX)
		replace(call, way, note(BLOCKS_PTX, image, strlen(image)));
	else if (load.brought == BLOCKS_BROUGHT_FAT_BINARY)
		fat = ptx_fat_of(image, bytes, &fat_bytes, &load.why);
	if (fat != NULL)
		replace(call, way, note(BLOCKS_FAT, fat, fat_bytes));
	if (file != NULL)
		munmap(file, bytes + 1);
}

static void add_loaded(void *handle, bool library)
{
	struct ptx_loaded *made = guest_memory(sizeof *made);

	__atomic_fetch_add(&blocks_counts->brought[load.brought], 1, __ATOMIC_RELAXED);
	if (made == NULL)
		return;
	*made = (struct ptx_loaded){ .handle = handle,
		                     .library = library,
		                     .hash = load.hash,
		                     .module = load.module,
		                     .why = load.why,
		                     .code = load.code };
	made->following = atomic_load(&ptx_loaded_all);
	while (!atomic_compare_exchange_weak(&ptx_loaded_all, &made->following, made))
		;
}

void ptx_load_leaves(const struct cupti_call *call, const struct ptx_way *way)
{
	void **handle = *(void ***)(uintptr_t)call->parameters;

	if (load.module != NULL)
		*image_of(call) = load.image;
	if (load.seen && *(const cu_result *)call->result == ABI_SUCCESS && handle != NULL)
		add_loaded(*handle, way->library);
	load.seen = false;
	load.module = NULL;
}
