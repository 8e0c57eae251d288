// SPDX-License-Identifier: Apache-2.0
// What programs are built from, and the instrumented programs beside them.
#include "guest/blocks/layer.h"

#include <string.h>
#include <sys/mman.h>

#define SPIR "-x spir -spir-std=1.2 "
enum { MOST_FEATURES = 64 };

// An instrumented program that was built, or could not be. Never freed: it holds its context, so
// that the context's handle stays its own.
struct twin {
	struct twin *following;
	cl_context context;
	const struct blocks_module *module;
	cl_program program; // NULL: it could not
	enum blocks_why why;
	cl_int code;
	char log[256];
};

static struct twin *_Atomic twins;
static struct guest_map *_Atomic specialised;

void blocks_specialised(cl_program program)
{
	struct guest_map *map = atomic_load(&specialised);

	if (map == NULL) {
		struct guest_map *made = guest_map_new();
		map = atomic_compare_exchange_strong(&specialised, &map, made)
		          ? made
		          : atomic_load(&specialised);
	}
	guest_map_put(map, program, 1);
}

bool blocks_source_room(struct blocks_source *source, size_t bytes)
{
	source->room = bytes;
	source->data =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (source->data == MAP_FAILED)
		source->data = NULL;
	return source->data != NULL;
}

void blocks_source_free(struct blocks_source *source)
{
	if (source->data != NULL)
		munmap(source->data, source->room);
	source->data = NULL;
}

static size_t program_size(cl_program program, cl_program_info name)
{
	size_t bytes = 0;

	if (blocks_next.clGetProgramInfo(program, name, 0, NULL, &bytes) != CL_SUCCESS)
		bytes = 0;
	return bytes;
}

static size_t device_size(cl_device_id device, cl_device_info name)
{
	size_t bytes = 0;

	if (blocks_next.clGetDeviceInfo(device, name, 0, NULL, &bytes) != CL_SUCCESS)
		bytes = 0;
	return bytes;
}

cl_uint blocks_devices(cl_program program, cl_device_id *devices)
{
	size_t bytes = 0;

	if (blocks_next.clGetProgramInfo(program, CL_PROGRAM_DEVICES,
	                                 BLOCKS_MOST_DEVICES * sizeof *devices, devices,
	                                 &bytes) != CL_SUCCESS)
		return 0;
	return (cl_uint)(bytes / sizeof *devices);
}

bool blocks_is_cpu(cl_device_id device)
{
	cl_device_type type = 0;

	return blocks_next.clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, NULL) ==
	           CL_SUCCESS &&
	       (type & CL_DEVICE_TYPE_CPU) != 0;
}

static bool has_extension(cl_device_id device, const char *name)
{
	struct blocks_source text = { .data = NULL };
	size_t bytes = device_size(device, CL_DEVICE_EXTENSIONS), length = strlen(name);
	bool found = false;

	if (bytes == 0 || !blocks_source_room(&text, bytes + 1))
		return false;
	blocks_next.clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, bytes, text.data, NULL);
	for (const char *at = text.data; !found && (at = strstr(at, name)) != NULL; at += length)
		found = at[length] == ' ' || at[length] == '\0';
	blocks_source_free(&text);
	return found;
}

static bool takes_spirv(cl_device_id device)
{
	return blocks_next.clCreateProgramWithIL != NULL &&
	       device_size(device, CL_DEVICE_IL_VERSION) > 1;
}

// Whether the device can be given what tare instruments, as SPIR-V or as bitcode. A CPU that says
// neither is given bitcode all the same.
static bool takes_modules(cl_device_id device)
{
	if (blocks_test_no_spirv())
		return false;
	return blocks_is_cpu(device) || takes_spirv(device) || has_extension(device, "cl_khr_spir");
}

static bool lacks_atomics(cl_device_id device)
{
	return blocks_test_no_atomics() || !has_extension(device, "cl_khr_int64_base_atomics");
}

// Features of OpenCL C 3.0 stand before the extensions, as their names do: a word each, filled up
// with spaces. The names of a device's; returns how many bytes they take.
static uint32_t features_of(cl_device_id device, char *at)
{
	cl_name_version features[MOST_FEATURES];
	size_t bytes = device_size(device, CL_DEVICE_OPENCL_C_FEATURES);

	if (bytes == 0 || bytes > sizeof features)
		return 0;
	uint32_t count = (uint32_t)(bytes / sizeof *features);
	if (at == NULL)
		return count * (uint32_t)sizeof features->name;
	if (blocks_next.clGetDeviceInfo(device, CL_DEVICE_OPENCL_C_FEATURES, bytes, features,
	                                NULL) != CL_SUCCESS)
		count = 0;
	for (uint32_t i = 0; i < count; i++) {
		size_t length = strnlen(features[i].name, sizeof features[i].name - 1);
		memset(at, ' ', sizeof features[i].name);
		memcpy(at, features[i].name, length);
		at += sizeof features[i].name;
	}
	return count * (uint32_t)sizeof features->name;
}

// Fills in the lengths, and makes room for all.
static bool measure(cl_program program, cl_device_id device, cl_platform_id platform,
                    const struct blocks_source *ptx, struct blocks_build *build,
                    struct blocks_source *source)
{
	size_t source_bytes = program_size(program, CL_PROGRAM_SOURCE);
	size_t options = 0, version = 0;

	build->magic = BLOCKS_MAGIC;
	build->api = BLOCKS_OPENCL;
	build->language = source_bytes > 1 ? BLOCKS_OPENCL_C : BLOCKS_SPIRV;
	build->text_bytes = source_bytes > 1 ? source_bytes : program_size(program, CL_PROGRAM_IL);
	if (ptx->data != NULL) {
		build->language = BLOCKS_PTX;
		build->text_bytes = ptx->bytes;
	}
	blocks_next.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_OPTIONS, 0, NULL,
	                                  &options);
	blocks_next.clGetPlatformInfo(platform, CL_PLATFORM_VERSION, 0, NULL, &version);
	build->options_bytes = (uint32_t)options;
	build->extensions_bytes =
	    features_of(device, NULL) + (uint32_t)device_size(device, CL_DEVICE_EXTENSIONS);
	build->version_bytes = (uint32_t)device_size(device, CL_DEVICE_VERSION);
	build->platform_bytes = (uint32_t)version;
	source->bytes = sizeof *build + options + build->extensions_bytes + build->version_bytes +
	                version + build->text_bytes;
	return build->text_bytes > 1 && blocks_source_room(source, source->bytes);
}

static void fill(cl_program program, cl_device_id device, cl_platform_id platform,
                 const struct blocks_source *ptx, const struct blocks_build *build,
                 struct blocks_source *source)
{
	char *at = source->data;

	memcpy(at, build, sizeof *build);
	at += sizeof *build;
	blocks_next.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_OPTIONS,
	                                  build->options_bytes, at, NULL);
	at += build->options_bytes;
	uint32_t features = features_of(device, at);
	blocks_next.clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS,
	                            build->extensions_bytes - features, at + features, NULL);
	at += build->extensions_bytes;
	blocks_next.clGetDeviceInfo(device, CL_DEVICE_VERSION, build->version_bytes, at, NULL);
	at += build->version_bytes;
	blocks_next.clGetPlatformInfo(platform, CL_PLATFORM_VERSION, build->platform_bytes, at,
	                              NULL);
	at += build->platform_bytes;
	if (ptx->data != NULL) {
		memcpy(at, ptx->data, ptx->bytes);
		return;
	}
	blocks_next.clGetProgramInfo(
	    program, build->language == BLOCKS_OPENCL_C ? CL_PROGRAM_SOURCE : CL_PROGRAM_IL,
	    build->text_bytes, at, NULL);
}

void blocks_source_read(cl_program program, uint64_t headers, struct blocks_source *source,
                        enum blocks_why *why)
{
	struct blocks_build build = { .headers = headers };
	struct blocks_source ptx = { .data = NULL };
	cl_device_id devices[BLOCKS_MOST_DEVICES];
	cl_platform_id platform = NULL;
	cl_bool images = CL_FALSE;

	*source = (struct blocks_source){ .data = NULL };
	*why = BLOCKS_NO_INTAKE;
	cl_uint count = blocks_devices(program, devices);
	bool modules = true;
	for (cl_uint i = 0; i < count; i++) {
		modules = modules && takes_modules(devices[i]);
		build.carries |= lacks_atomics(devices[i]);
	}
	if (!modules)
		blocks_ptx_of(program, &ptx);
	if (count == 0 || (!modules && ptx.data == NULL)) {
		blocks_source_free(&ptx);
		return;
	}
	*why = BLOCKS_SPECIALISED;
	if (guest_map_find(atomic_load(&specialised), program, 0) != 0) {
		blocks_source_free(&ptx);
		return;
	}
	*why = BLOCKS_NO_SOURCE;
	blocks_next.clGetDeviceInfo(devices[0], CL_DEVICE_PLATFORM, sizeof platform, &platform,
	                            NULL);
	blocks_next.clGetDeviceInfo(devices[0], CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images,
	                            NULL);
	build.images = images == CL_TRUE;
	if (measure(program, devices[0], platform, &ptx, &build, source)) {
		fill(program, devices[0], platform, &ptx, &build, source);
		source->hash = guest_hash(GUEST_HASH_START, source->data, source->bytes);
		*why = BLOCKS_COVERED;
	}
	blocks_source_free(&ptx);
}

// ---- instrumented programs

static cl_program load(const struct twin *twin, cl_uint count, const cl_device_id *devices,
                       cl_int *code)
{
	const unsigned char *spirv = (const unsigned char *)(twin->module + 1);
	const unsigned char *binaries[BLOCKS_MOST_DEVICES];
	const char *source = (const char *)spirv;
	size_t lengths[BLOCKS_MOST_DEVICES];

	if (twin->module->source_bytes != 0)
		return blocks_next.clCreateProgramWithSource(twin->context, 1, &source, NULL, code);
	if (twin->module->ptx_bytes == 0 && takes_spirv(devices[0]))
		return blocks_next.clCreateProgramWithIL(twin->context, spirv,
		                                         twin->module->spirv_bytes, code);
	*code = CL_INVALID_BINARY;
	if (twin->module->bitcode_bytes == 0 && twin->module->ptx_bytes == 0)
		return NULL;
	for (cl_uint i = 0; i < count; i++) {
		binaries[i] = spirv + twin->module->spirv_bytes;
		lengths[i] = twin->module->bitcode_bytes + twin->module->ptx_bytes;
	}
	return blocks_next.clCreateProgramWithBinary(twin->context, count, devices, lengths,
	                                             binaries, NULL, code);
}

// What a twin is built with; `room` is for texts that are put together.
static const char *options_of(const struct twin *twin, bool spirv, char *room)
{
	const struct blocks_module *module = twin->module;

	if (module->source_bytes != 0)
		return (const char *)(module + 1) + module->source_bytes;
	if (!spirv && module->ptx_bytes == 0)
		memcpy(room, SPIR, sizeof SPIR);
	memcpy(room + strlen(room), module->options,
	       strnlen(module->options, sizeof module->options - 1));
	return room;
}

static void build(struct twin *twin, cl_program program)
{
	char room[sizeof SPIR + sizeof twin->module->options] = "";
	cl_device_id devices[BLOCKS_MOST_DEVICES];
	cl_uint count = blocks_devices(program, devices);

	twin->why = BLOCKS_BUILD_FAILED;
	cl_program made = count != 0 ? load(twin, count, devices, &twin->code) : NULL;
	if (made == NULL)
		return;
	twin->code = blocks_next.clBuildProgram(
	    made, count, devices, options_of(twin, takes_spirv(devices[0]), room), NULL, NULL);
	if (twin->code == CL_SUCCESS) {
		twin->program = made;
		twin->why = BLOCKS_COVERED;
		return;
	}
	size_t bytes = 0;
	struct blocks_source log = { .data = NULL };
	blocks_next.clGetProgramBuildInfo(made, devices[0], CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes);
	if (bytes > 1 && blocks_source_room(&log, bytes) &&
	    blocks_next.clGetProgramBuildInfo(made, devices[0], CL_PROGRAM_BUILD_LOG, bytes,
	                                      log.data, NULL) == CL_SUCCESS)
		memcpy(twin->log, log.data,
		       bytes < sizeof twin->log ? bytes : sizeof twin->log - 1);
	blocks_source_free(&log);
	blocks_next.clReleaseProgram(made);
}

static struct twin *find(cl_context context, const struct blocks_module *module)
{
	for (struct twin *twin = atomic_load(&twins); twin != NULL; twin = twin->following)
		if (twin->context == context && twin->module == module)
			return twin;
	return NULL;
}

cl_program blocks_twin_program(cl_program program, const struct blocks_module *module,
                               struct blocks_kernel *row)
{
	cl_context context = NULL;

	blocks_next.clGetProgramInfo(program, CL_PROGRAM_CONTEXT, sizeof context, &context, NULL);
	struct twin *twin = find(context, module);
	if (twin == NULL) {
		// Two threads may both build one: no lock is held while the driver builds.
		twin = guest_memory(sizeof *twin);
		if (twin == NULL) {
			row->why = BLOCKS_NO_ROOM;
			return NULL;
		}
		twin->context = context;
		twin->module = module;
		build(twin, program);
		twin->following = atomic_load(&twins);
		while (!atomic_compare_exchange_weak(&twins, &twin->following, twin))
			;
	}
	row->why = twin->why;
	row->code = twin->code;
	memcpy(row->log, twin->log, sizeof row->log);
	return twin->program;
}
