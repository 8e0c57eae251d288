// SPDX-License-Identifier: Apache-2.0
// Modules and launches of the stand-in for libcuda. A module is PTX text: it needs a .version that
// the driver takes (222), a .target that the device is not older than, and must not contain the
// word `fake_error` (218); both say so in the log. Every `.entry` is a kernel, its `.param` lines
// its parameters. A kernel is loaded at its first launch unless it was asked about before; that
// waits for all work of its context. With CUDA_LAUNCH_BLOCKING=1 each launch waits for its kernel.
#include "fake_cuda_device.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// ---- PTX

// A text is searched without its comments.
static char *without_comments(const char *image)
{
	char *text = strdup(image), *to = text;

	for (const char *at = text; *at;) {
		if (at[0] == '/' && at[1] == '/')
			at += strcspn(at, "\n");
		else
			*to++ = *at++;
	}
	*to = '\0';
	return text;
}

// Bytes of a type: u32, f64, b8, pred.
static size_t type_bytes(const char *type)
{
	return isdigit((unsigned char)type[1]) ? strtoul(type + 1, NULL, 10) / 8 : 1;
}

// Reads `.param .align 4 .b8 name[16]`, from behind its first word to `end`.
static void read_parameter(struct cu_function_object *function, const char *at, const char *end)
{
	size_t bytes = 0, align = 0, times = 1;

	for (; at < end; at++) {
		if (*at == '[')
			times = strtoul(at + 1, NULL, 10);
		if (*at != '.')
			continue;
		if (strncmp(at, ".align", 6) == 0)
			align = align ? align : strtoul(at + 6, NULL, 10);
		else if (!bytes && strchr("usfb", at[1]) && isdigit((unsigned char)at[2]))
			bytes = type_bytes(at + 1);
	}
	if (!bytes || function->parameter_count == MAX_PARAMETERS)
		return;
	struct parameter *made = &function->parameters[function->parameter_count++];
	align = align > bytes ? align : bytes;
	made->bytes = bytes * times;
	made->offset = (function->parameter_bytes + align - 1) / align * align;
	function->parameter_bytes = made->offset + made->bytes;
}

static void read_parameters(struct cu_function_object *function, const char *at)
{
	const char *end = at + strcspn(at, ")");

	at += strspn(at, " \t\r\n");
	if (*at != '(')
		return;
	while ((at = strstr(at, ".param")) && at < end) {
		const char *stop = at + strcspn(at, ",)");
		read_parameter(function, at + strlen(".param"), stop);
		at = stop;
	}
}

static const struct tare_script_kernel *find_script(const struct device *device, const char *name)
{
	for (size_t i = 0; i < device->script.kernel_count; i++)
		if (strcmp(device->script.kernels[i].name, name) == 0)
			return &device->script.kernels[i];
	return NULL;
}

static void find_entries(struct cu_module_object *module, const char *text)
{
	for (const char *at = text; (at = strstr(at, ".entry"));) {
		at += strlen(".entry");
		at += strspn(at, " \t\r\n");
		size_t length = strcspn(at, "( \n\t\r{");
		struct cu_function_object *function = calloc(1, sizeof *function);
		snprintf(function->name, sizeof function->name, "%.*s", (int)length, at);
		function->module = module;
		function->script = find_script(module->device, function->name);
		function->next = module->functions;
		module->functions = function;
		at += length;
		read_parameters(function, at);
	}
}

// Writes to the buffer that the options name, if they do.
static void __attribute__((format(printf, 4, 5)))
log_error(unsigned int count, const cu_jit_option *options, void **values, const char *format, ...)
{
	char *buffer = NULL;
	size_t bytes = 0;
	va_list arguments;

	for (unsigned int i = 0; i < count; i++) {
		if (options[i] == ABI_JIT_ERROR_LOG_BUFFER)
			buffer = values[i];
		if (options[i] == ABI_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
			bytes = (size_t)(uintptr_t)values[i];
	}
	va_start(arguments, format);
	if (buffer && bytes)
		vsnprintf(buffer, bytes, format, arguments);
	va_end(arguments);
}

static cu_result check(const struct device *device, const char *text, unsigned int count,
                       const cu_jit_option *options, void **values)
{
	const char *version = strstr(text, ".version"), *target = strstr(text, ".target");
	int major = 0, minor = 0, sm = 0, own = gpu.words.major * 10 + gpu.words.minor;

	(void)device;
	if (!version || sscanf(version, ".version %d.%d", &major, &minor) != 2) {
		log_error(count, options, values,
		          "ptxas fatal   : Missing .version directive at start of file");
		return ABI_INVALID_PTX;
	}
	if (major * 100 + minor > gpu.words.ptx_major * 100 + gpu.words.ptx_minor) {
		log_error(
		    count, options, values,
		    "ptxas application ptx input, line 1; fatal   : Unsupported .version %d.%d; "
		    "current version is '%d.%d'",
		    major, minor, gpu.words.ptx_major, gpu.words.ptx_minor);
		return ABI_UNSUPPORTED_PTX_VERSION;
	}
	if (target && sscanf(target, ".target sm_%d", &sm) == 1 && sm > own) {
		log_error(
		    count, options, values,
		    "ptxas error   : SM version specified by .target is higher than default SM "
		    "version assumed");
		return ABI_INVALID_PTX;
	}
	if (refuses_ptx(text) || strstr(text, "fake_error")) {
		log_error(count, options, values,
		          "ptxas application ptx input, line 3; error   : Not a name of any known "
		          "instruction: 'fake_error'");
		return ABI_INVALID_PTX;
	}
	return ABI_SUCCESS;
}

// A wrapper is a head of 8 bytes and a pointer. Machine code and fat binaries are a head and text;
// the stand-in for NVRTC puts a line before it.
static const char *text_of(const char *image)
{
	if (strncmp(image, "\xb1\x43\x62\x46", 4) == 0)
		memcpy(&image, image + 8, sizeof image);
	if (strncmp(image, "\177ELF\n", 5) == 0)
		return image + 5;
	if (strncmp(image, "\177ELF", 4) == 0 || memcmp(image, "\x50\xed\x55\xba", 4) == 0)
		return image + FAKE_HEAD_BYTES;
	return image;
}

cu_result cuModuleLoadDataEx(cu_module *module, const void *image, unsigned int option_count,
                             cu_jit_option *options, void **values)
{
	ENTER_CONTEXT();
	host_takes(current->device->script.host.build_ps);
	char *text = without_comments(text_of(image));
	cu_result result = check(current->device, text, option_count, options, values);
	if (result == ABI_SUCCESS) {
		*module = calloc(1, sizeof **module);
		(*module)->device = current->device;
		(*module)->text = strdup(image);
		find_entries(*module, text);
		gpu.objects++;
	}
	free(text);
	return leave(result);
}

cu_result cuModuleUnload(cu_module module)
{
	// Even when the context is lost the host's memory goes.
	pthread_mutex_lock(&mutex);
	cu_result result = module->device->lost;
	forget_ptx(module);
	while (module->functions) {
		struct cu_function_object *function = module->functions;
		module->functions = function->next;
		free(function);
	}
	free(module->text);
	free(module);
	gpu.objects--;
	return leave(result);
}

// ---- functions

cu_result cuModuleGetFunction(cu_function *function, cu_module module, const char *name)
{
	ENTER_CONTEXT();
	for (*function = module->functions; *function; *function = (*function)->next)
		if (strcmp((*function)->name, name) == 0)
			return leave(ABI_SUCCESS);
	return leave(ABI_NOT_FOUND);
}

static int64_t largest_group(const struct cu_function_object *function)
{
	const struct device *device = function->module->device;
	uint64_t largest = function->script ? function->script->work_group : 0;

	if (!largest)
		largest = device->script.device.work_group;
	return largest ? (int64_t)largest : 1024;
}

cu_result cuFuncGetAttribute(int *value, cu_function_attribute attribute, cu_function function)
{
	ENTER_CONTEXT();
	function->loaded = true;
	switch (attribute) {
	case ABI_FUNCTION_MAX_THREADS_PER_BLOCK:
		*value = (int)largest_group(function);
		break;
	case ABI_FUNCTION_SHARED_SIZE_BYTES:
		*value = function->script ? (int)function->script->local_bytes : 0;
		break;
	case ABI_FUNCTION_LOCAL_SIZE_BYTES:
		*value = 0;
		break;
	case ABI_FUNCTION_NUM_REGS:
		*value = function->script && function->script->registers
		             ? (int)function->script->registers
		             : 24;
		break;
	default:
		return leave(ABI_INVALID_VALUE);
	}
	return leave(ABI_SUCCESS);
}

FAKE_EXPORT cu_result cuFuncGetParamInfo(cu_function function, size_t index, size_t *offset,
                                         size_t *bytes);
cu_result cuFuncGetParamInfo(cu_function function, size_t index, size_t *offset, size_t *bytes)
{
	ENTER_CONTEXT();
	if (index >= function->parameter_count)
		return leave(ABI_INVALID_VALUE);
	*offset = function->parameters[index].offset;
	if (bytes)
		*bytes = function->parameters[index].bytes;
	return leave(ABI_SUCCESS);
}

cu_result cuFuncLoad(cu_function function)
{
	ENTER_CONTEXT();
	function->loaded = true;
	return leave(ABI_SUCCESS);
}

// ---- launches

static bool right_grid(const struct cu_function_object *function, const unsigned int groups[3],
                       const unsigned int size[3], unsigned int shared_bytes)
{
	uint64_t items = (uint64_t)size[0] * size[1] * size[2];

	return groups[0] && groups[1] && groups[2] && items && groups[0] <= INT32_MAX &&
	       groups[1] <= 65535 && groups[2] <= 65535 && size[2] <= 64 &&
	       items <= (uint64_t)largest_group(function) && shared_bytes <= 49152;
}

// Those of a buffer, which `extra` names: 1 and the buffer, 2 and where its size stands, 0.
static void take_buffer(const struct cu_function_object *function, void **extra, struct op *op)
{
	const char *buffer = NULL;
	size_t bytes = 0;

	for (; *extra; extra += 2)
		if ((uintptr_t)*extra == 1)
			buffer = extra[1];
		else
			bytes = *(const size_t *)extra[1];
	if (buffer && bytes >= function->parameter_bytes)
		memcpy(op->arguments, buffer, function->parameter_bytes);
}

static void take_arguments(const struct cu_function_object *function, void **parameters,
                           void **extra, struct op *op)
{
	op->arguments = calloc(1, function->parameter_bytes + 1);
	op->parameter_count = function->parameter_count;
	memcpy(op->parameters, function->parameters, sizeof op->parameters);
	if (extra)
		take_buffer(function, extra, op);
	for (size_t i = 0; parameters && i < op->parameter_count; i++)
		memcpy(op->arguments + op->parameters[i].offset, parameters[i],
		       op->parameters[i].bytes);
}

static void count_launch(struct op *op)
{
	gpu.launches++;
	if (gpu.launches == gpu.words.fail_launch)
		op->fails = gpu.words.fail_code;
	if (gpu.launches == gpu.words.hang_launch)
		op->model.fixed_ps = TARE_PS_MAX;
}

static void (*_Atomic tell_loading)(int module, int64_t start_ns, int64_t end_ns);

void fake_cuda_observe_loading(void (*tell)(int module, int64_t start_ns, int64_t end_ns))
{
	tell_loading = tell;
}

static int64_t raw_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void load_for(int us, int module)
{
	void (*tell)(int, int64_t, int64_t) = tell_loading;
	int64_t start_ns = raw_ns();
	if (us == 0)
		return;
	host_takes(tare_model_times_ps((uint64_t)us, 1000000));
	leave(ABI_SUCCESS);
	if (tell)
		tell(module, start_ns, raw_ns());
	pthread_mutex_lock(&mutex);
}

// As CUDA_MODULE_LOADING=LAZY does.
static void load(struct cu_function_object *function)
{
	function->loaded = true;
	if (!function->module->loaded)
		load_for(gpu.words.module_us, 1);
	function->module->loaded = true;
	load_for(gpu.words.load_us, 0);
}

cu_result cuLaunchKernel(cu_function function, unsigned int groups_x, unsigned int groups_y,
                         unsigned int groups_z, unsigned int size_x, unsigned int size_y,
                         unsigned int size_z, unsigned int shared_bytes, cu_stream stream,
                         void **parameters, void **extra)
{
	const unsigned int groups[3] = { groups_x, groups_y, groups_z };
	const unsigned int size[3] = { size_x, size_y, size_z };
	struct op op = { .kind = KERNEL,
		         .shared_bytes = shared_bytes,
		         .script = function->script,
		         .kernel = function };
	struct op *made = NULL;

	ENTER_CONTEXT();
	if ((extra && parameters) || (function->parameter_count && !parameters && !extra) ||
	    !right_grid(function, groups, size, shared_bytes))
		return leave(ABI_INVALID_VALUE);
	if (function->module->device != current->device)
		return leave(ABI_INVALID_HANDLE);
	if (!function->loaded) {
		drain_device(current->device);
		load(function);
	}
	memcpy(op.grid, groups, sizeof groups);
	memcpy(op.block, size, sizeof size);
	snprintf(op.name, sizeof op.name, "%.63s", function->name);
	take_arguments(function, parameters, extra, &op);
	kernel_cost(current->device, &op, (uint64_t)groups_x * groups_y * groups_z,
	            (uint64_t)size_x * size_y * size_z);
	count_launch(&op);
	cu_result result = append(stream, &op, &made);
	if (made)
		count_in_ptx(function,
		             (uint64_t)groups_x * groups_y * groups_z * size_x * size_y * size_z);
	if (made && gpu.words.launch_us)
		host_takes(tare_model_times_ps((uint64_t)gpu.words.launch_us, 1000000));
	if (made && gpu.words.launch_blocking)
		result = drain(made->stream);
	return leave(result);
}

cu_result fake_cuda_launch(cu_stream stream, const char *name, int64_t cost_ns,
                           void (*effect)(void *data), void *data)
{
	struct op op = { .kind = KERNEL, .effect = effect, .data = data };

	ENTER_CONTEXT();
	snprintf(op.name, sizeof op.name, "%s", name);
	op.model.flow = TARE_FLOW_KERNEL;
	op.model.work_ps = tare_model_times_ps((uint64_t)cost_ns, 1000);
	count_launch(&op);
	return leave(append(stream, &op, NULL));
}
