// SPDX-License-Identifier: Apache-2.0
// From a trace to call stacks, from stacks to lines of this very file, and from lines to rows.
#include "tests/unit/trace/trace_rig.h"

#include "analysis/symbols/kind.h"
#include "analysis/symbols/symbols.h"
#include "tare_config.h"
#include "tests/unit/skip.h"

#include <link.h>

// ---- loading

static void stack_part(struct rig *rig, uint32_t id, uint32_t total, uint32_t offset,
                       uint16_t count)
{
	struct tare_trace_stack s = { .head = tare_trace_head(TARE_TRACE_STACK, 0, count, 0),
		                      .id = id,
		                      .total = total,
		                      .offset = offset };
	for (uint32_t i = 0; i < count; i++)
		s.frame[i] = 100 * id + offset + i + 1;
	rig_add(rig, (union tare_trace_record){ .stack = s });
}

static void module(struct rig *rig, int64_t ticks, uint64_t from, const char *path)
{
	rig_add(rig, (union tare_trace_record){
	                 .module = { .head = tare_trace_head(TARE_TRACE_MODULE, 0, 0, 0),
	                             .ticks = (uint64_t)ticks,
	                             .from = from,
	                             .to = from + 1000,
	                             .bias = from,
	                             .path = tare_trace_writer_text(rig->writer, path),
	                             .build_id = tare_trace_writer_text(rig->writer, "0a0b") } });
}

static void site(struct rig *rig, uint8_t flags, uint64_t of, uint32_t stack)
{
	rig_add(rig, (union tare_trace_record){
	                 .site = { .head = tare_trace_head(TARE_TRACE_SITE, flags, 0, 1),
	                           .of = of,
	                           .stack = stack } });
}

static void stacks_are_joined(void **state)
{
	struct rig rig = rig_new();
	struct tare_trace_header header = rig_header(42);
	struct tare_recording *r;
	(void)state;
	header.self_stack_cost_ps = 7000;
	rig_begin(&rig, "a", &header);
	rig_usual(&rig);
	module(&rig, START + 1, 1000, "/bin/app");
	stack_part(&rig, 3, 7, 0, 5);
	stack_part(&rig, 3, 7, 5, 2);
	module(&rig, START + 2, 5000, "/lib/other.so");
	stack_part(&rig, 1, 1, 0, 1);
	rig_command(&rig, 1, START + 1 * MS, 0, (struct tare_trace_command){ 0 });
	site(&rig, 0, 1, 3);
	rig_command(&rig, 1, START + 2 * MS, TARE_COMMAND_FAILED, (struct tare_trace_command){ 0 });
	site(&rig, 0, 2, 1);
	rig_call(&rig, 1, F_FINISH, 0,
	         (struct tare_trace_call){
	             .enter = START + 3 * MS, .exit = START + 4 * MS, .object = QUEUE });
	site(&rig, TARE_SITE_OF_CALL, START + 3 * MS, 1);
	rig_call(&rig, 1, F_FINISH, 0,
	         (struct tare_trace_call){
	             .enter = START + 5 * MS, .exit = START + 6 * MS, .object = QUEUE });
	rig_end(&rig);
	r = rig_load(&rig);
	assert_int_equal(r->processes[0].self_stack_cost_ps, 7000);
	assert_int_equal(r->stack_count, 2);
	assert_int_equal(r->stacks[0].frame_count, 7);
	for (uint32_t i = 0; i < 7; i++)
		assert_int_equal(r->frames[r->stacks[0].first_frame + i], 301 + i);
	assert_int_equal(r->frames[r->stacks[1].first_frame], 101);
	assert_int_equal(r->module_count, 2);
	assert_string_equal(r->modules[1].path, "/lib/other.so");
	assert_string_equal(r->modules[1].build_id, "0a0b");
	assert_int_equal(r->modules[1].bias, 5000);
	// Each knows which modules there were.
	assert_int_equal(r->stacks[0].seen_ns, START + 1);
	assert_int_equal(r->stacks[1].seen_ns, START + 2);
	assert_int_equal(TARE_COMMAND(r, 0)->stack, 0);
	assert_int_equal(r->calls[0].stack, 1);
	assert_int_equal(r->calls[1].stack, 1);
	assert_int_equal(r->calls[2].stack, TARE_NO_INDEX);
	assert_int_equal(r->unresolved, 0);
	tare_recording_free(r);
	rig_free(&rig);
}

static void damaged_stacks_are_left_out(void **state)
{
	// total, offset and frames of the parts with id 2, which 0 frames end.
	static const struct {
		uint32_t total, offset;
		uint16_t frames;
	} damages[][4] = {
		{ { 7, 0, 5 } },                           // the end is missing
		{ { 7, 5, 2 } },                           // the beginning is
		{ { 12, 0, 5 }, { 12, 10, 2 } },           // the middle is
		{ { 7, 0, 5 }, { 9, 5, 4 } },              // totals differ
		{ { 7, 0, 5 }, { 7, 0, 5 }, { 7, 5, 1 } }, // begun twice
		{ { 100000, 0, 5 } },
	};
	(void)state;
	for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
		struct rig rig = rig_new();
		struct tare_trace_header header = rig_header(42);
		struct tare_recording *r;
		rig_begin(&rig, "a", &header);
		rig_usual(&rig);
		stack_part(&rig, 1, 2, 0, 2);
		for (size_t k = 0; k < 4 && damages[i][k].frames; k++)
			stack_part(&rig, 2, damages[i][k].total, damages[i][k].offset,
			           damages[i][k].frames);
		stack_part(&rig, 4, 6, 0, 5);
		stack_part(&rig, 4, 6, 5, 1);
		rig_command(&rig, 1, START + 1 * MS, 0, (struct tare_trace_command){ 0 });
		site(&rig, 0, 1, 2);
		rig_command(&rig, 1, START + 2 * MS, 0, (struct tare_trace_command){ 0 });
		site(&rig, 0, 2, 4);
		site(&rig, 0, 77, 4);
		rig_end(&rig);
		r = rig_load(&rig);
		assert_int_equal(r->stack_count, 2);
		assert_int_equal(r->frame_count, 8);
		assert_int_equal(TARE_COMMAND(r, 0)->stack, TARE_NO_INDEX);
		assert_int_equal(TARE_COMMAND(r, 1)->stack, 1);
		assert_int_equal(r->frames[r->stacks[1].first_frame + 5], 406);
		assert_true(r->unresolved >= 3);
		tare_recording_free(r);
		rig_free(&rig);
	}
}

// ---- symbols

static uint64_t bias;
static char own_path[4096], own_id[128];

static int find_own(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size, (void)data;
	bias = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const char *note = (const char *)(bias + p->p_vaddr), *end = note + p->p_memsz;
		while (p->p_type == PT_NOTE && note + sizeof(ElfW(Nhdr)) < end) {
			const ElfW(Nhdr) *n = (const void *)note;
			const unsigned char *id =
			    (const unsigned char *)note + sizeof *n + (n->n_namesz + 3) / 4 * 4;
			if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4)
				for (size_t k = 0; k < n->n_descsz && k < 60; k++)
					snprintf(own_id + 2 * k, 3, "%02x", id[k]);
			note = (const char *)id + (n->n_descsz + 3) / 4 * 4;
		}
	}
	return 1; // the first is the program
}

static int own(void **state)
{
	ssize_t length = readlink("/proc/self/exe", own_path, sizeof own_path - 1);
	(void)state;
	dl_iterate_phdr(find_own, NULL);
	return length > 0 && own_id[0] ? 0 : -1;
}

static __attribute__((noinline)) uint64_t return_address(void)
{
	return (uint64_t)(uintptr_t)__builtin_return_address(0);
}

static inline __attribute__((always_inline)) uint64_t inlined_address(int *line)
{
	*line = __LINE__ + 1;
	return return_address();
}

static __attribute__((noinline)) uint64_t outer_address(int *inner, int *outer)
{
	*outer = __LINE__ + 1;
	uint64_t address = inlined_address(inner);
	__asm__ volatile("" : "+r"(address));
	return address;
}

// A recording of one process with these modules and one stack.
struct made {
	struct tare_recording recording;
	struct tare_recorded_process process;
	struct tare_recorded_module modules[4];
	struct tare_recorded_stack stacks[4];
	uint64_t frames[8];
	struct tare_symbols *symbols;
};

static struct made *make(size_t modules, size_t stacks)
{
	static struct made made;
	memset(&made.recording, 0, sizeof made.recording);
	made.process.executable = own_path;
	for (uint32_t i = 0; i < 4; i++)
		made.stacks[i] = (struct tare_recorded_stack){ .first_frame = 2 * i,
			                                       .frame_count = 2,
			                                       .seen_ns = 10 };
	made.recording.processes = &made.process;
	made.recording.modules = made.modules;
	made.recording.stacks = made.stacks;
	made.recording.frames = made.frames;
	made.recording.process_count = 1;
	made.recording.module_count = modules;
	made.recording.stack_count = stacks;
	made.recording.frame_count = 2 * stacks;
	return &made;
}

static struct tare_recorded_module own_module(const char *path, const char *id, int64_t seen_ns)
{
	return (struct tare_recorded_module){ .from = bias,
		                              .to = UINT64_MAX,
		                              .bias = bias,
		                              .path = path,
		                              .build_id = id,
		                              .seen_ns = seen_ns };
}

static void open_symbols(struct made *made)
{
	assert_int_equal(tare_symbols_open(&made->recording, &made->symbols, &rig_error), 0);
}

static void an_address_is_its_lines(void **state)
{
	struct made *made = make(1, 1);
	const struct tare_frame *frames;
	int inner, outer;
	char text[64];
	(void)state;
	if (!TARE_HAVE_SYMBOLS)
		skip_because("built without symbols");
	made->modules[0] = own_module(own_path, own_id, 0);
	made->frames[0] = outer_address(&inner, &outer);
	made->frames[1] = return_address();
	open_symbols(made);
	snprintf(text, sizeof text, "test_call_stacks.c:%d", inner);
	assert_string_equal(tare_symbols_text(made->symbols, 0), text);
	assert_int_equal(tare_symbols_frames(made->symbols, 0, &frames), 3);
	assert_string_equal(frames[0].function, "inlined_address");
	assert_true(frames[0].inlined);
	assert_string_equal(frames[1].function, "outer_address");
	assert_int_equal(frames[1].line, outer);
	assert_false(frames[1].inlined);
	assert_string_equal(frames[2].function, "an_address_is_its_lines");
	assert_string_equal(frames[2].module, own_path);
	assert_int_equal(frames[2].address, made->frames[1] - 1 - bias);
	assert_ptr_equal(tare_symbols_site(made->symbols, 0)->function, frames[0].function);
	assert_null(tare_symbols_problem(made->symbols));
	assert_int_equal(tare_symbols_frames(made->symbols, TARE_NO_INDEX, &frames), 0);
	assert_string_equal(tare_symbols_text(made->symbols, TARE_NO_INDEX), "");
	assert_null(tare_symbols_site(made->symbols, 5));
	tare_symbols_free(made->symbols);
}

static void a_file_that_is_another_gives_addresses(void **state)
{
	static const struct {
		const char *path, *id, *problem;
	} rows[] = {
		{ NULL, "0123456789", "was rebuilt since it was recorded" },
		{ NULL, "", "was rebuilt since it was recorded" }, // it had none, this one has
		{ "/nowhere/at/all/app", "01", "app is not there any more" },
		{ "/etc", "01", "etc cannot be read" },
		{ "/etc/passwd", "01", "passwd cannot be read" },
	};
	(void)state;
	if (!TARE_HAVE_SYMBOLS)
		skip_because("built without symbols");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct made *made = make(1, 1);
		const struct tare_frame *site;
		made->modules[0] =
		    own_module(rows[i].path ? rows[i].path : own_path, rows[i].id, 0);
		made->process.executable = made->modules[0].path;
		made->frames[0] = made->frames[1] = bias + 0x1235;
		open_symbols(made);
		site = tare_symbols_site(made->symbols, 0);
		assert_non_null(site);
		assert_null(site->function);
		assert_int_equal(site->address, 0x1234);
		assert_non_null(strstr(tare_symbols_text(made->symbols, 0), "+0x1234"));
		assert_non_null(tare_symbols_problem(made->symbols));
		if (!strstr(tare_symbols_problem(made->symbols), rows[i].problem))
			fail_msg("%zu: %s", i, tare_symbols_problem(made->symbols));
		tare_symbols_free(made->symbols);
	}
}

// Of a stack that ends in a script the site is the script's line, unless the program's own library
// on the way has lines; a script that is installed is better than a library without lines.
static void the_site_of_a_script_is_its_line(void **state)
{
	static struct tare_recorded_script scripts[] = {
		{ "/home/me/train.py\nWork.step", 18 },
		{ "/opt/lib/python3.12/site-packages/tool/a.py\nf", 7 },
		{ "/home/me/train.py\nstep", 0 },
	};
	struct made *made = make(2, 4);
	const char *wanted[] = { "train.py:18", "a.py:7", "step", NULL };
	const struct tare_frame *frames;
	char own[64];
	int inner, outer;
	(void)state;
	made->recording.scripts = scripts;
	made->recording.script_count = 3;
	made->modules[0] = own_module(own_path, own_id, 0);
	made->modules[1] = (struct tare_recorded_module){
		.from = 0x1000, .to = 0x2000, .path = "/nowhere/libtorch.so", .build_id = ""
	};
	for (uint64_t i = 0; i < 4; i++) {
		made->frames[2 * i] = 0x1011;
		made->frames[2 * i + 1] = TARE_TRACE_FRAME_TEXT | (i < 3 ? i : 0);
	}
	made->frames[6] = outer_address(&inner, &outer);
	snprintf(own, sizeof own, "test_call_stacks.c:%d", inner);
	wanted[3] = TARE_HAVE_SYMBOLS ? own : "train.py:18";
	open_symbols(made);
	for (uint32_t i = 0; i < 4; i++)
		assert_string_equal(tare_symbols_text(made->symbols, i), wanted[i]);
	assert_int_equal(tare_symbols_frames(made->symbols, 0, &frames), 2);
	assert_string_equal(frames[0].module, "/nowhere/libtorch.so");
	assert_int_equal(tare_symbols_callers(made->symbols, 0, &frames), 1);
	assert_string_equal(frames[0].function, "Work.step");
	assert_string_equal(frames[0].file, "/home/me/train.py");
	assert_int_equal(frames[0].line, 18);
	assert_null(tare_symbols_problem(made->symbols));
	tare_symbols_free(made->symbols);
}

// The module that a stack is of is the latest that was there when the stack was defined.
static void a_module_takes_the_place_of_another(void **state)
{
	struct made *made = make(3, 3);
	static const char *const wanted[] = { "first+0x10", "second+0x10", "0x10" };
	(void)state;
	made->modules[0] = (struct tare_recorded_module){ .from = 0x1000,
		                                          .to = 0x2000,
		                                          .bias = 0x1000,
		                                          .path = "/nowhere/first",
		                                          .build_id = "",
		                                          .seen_ns = 5 };
	made->modules[1] = made->modules[0];
	made->modules[1].path = "/nowhere/second";
	made->modules[1].seen_ns = 15;
	made->modules[2] = made->modules[0]; // of another process
	made->modules[2].path = "/nowhere/third";
	made->modules[2].process = 1;
	made->modules[2].seen_ns = 9;
	made->stacks[1].seen_ns = 15;
	made->frames[0] = made->frames[1] = made->frames[2] = made->frames[3] = 0x1011;
	made->frames[4] = made->frames[5] = 0x11; // in none
	open_symbols(made);
	for (uint32_t i = 0; i < 3; i++)
		assert_string_equal(tare_symbols_text(made->symbols, i), wanted[i]);
	tare_symbols_free(made->symbols);
}

static void the_site_is_the_innermost_of_the_program(void **state)
{
	// Modules of the frames from the innermost on, and which is the site.
	static const struct {
		const char *inner, *outer;
		int site;
	} rows[] = {
		{ "/lib/libOpenCL.so.1", "/home/me/app", 1 },
		{ "/home/me/app", "/lib/x86_64-linux-gnu/libc.so.6", 0 },
		{ "/usr/lib/libclblast.so.1", "/home/me/app", 1 },
		{ "/home/me/libown.so", "/home/me/app", 0 },
		{ "/home/me/libown.so", "/usr/bin/python3.11", 0 },
		{ "/usr/lib/libclblast.so.1", "/usr/bin/python3.11", 0 },
		{ "/usr/lib/python3/_ctypes.cpython-311-x86_64-linux-gnu.so",
		  "/usr/lib/libffi.so.8", 0 },
		{ "/usr/lib/libffi.so.8", "/usr/bin/python3.11", 1 },
		{ "/lib/libOpenCL.so.1", "/lib/ld-linux-x86-64.so.2", 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct made *made = make(2, 1);
		made->process.executable = "/home/me/app";
		for (uint32_t k = 0; k < 2; k++) {
			made->modules[k] = (struct tare_recorded_module){ .from = 0x1000 * (k + 1),
				                                          .to = 0x1000 * (k + 2),
				                                          .bias = 0x1000 * (k + 1),
				                                          .path = k ? rows[i].outer
				                                                    : rows[i].inner,
				                                          .build_id = "ff" };
			made->frames[k] = 0x1000 * (k + 1) + 0x20 + k;
		}
		open_symbols(made);
		if ((int)tare_symbols_site(made->symbols, 0)->address != 0x1f + rows[i].site)
			fail_msg("row %zu: %s", i, tare_symbols_text(made->symbols, 0));
		tare_symbols_free(made->symbols);
	}
}

static void names_are_short(void **state)
{
	static const char *const rows[][2] = {
		{ "/usr/lib/libcl.so.1.2.3", "libcl.so" },
		{ "/a/app-1.2", "app-1.2" },
		{ "", "" },
		{ "/x/_ctypes.cpython-311-x86_64-linux-gnu.so", "_ctypes" },
		{ "app", "app" },
		{ "/x/_cl.abi3.so", "_cl" },
		{ "/x/.so.1", ".so.1" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *name;
		size_t length = symbols_short_name(rows[i][0], &name);
		assert_int_equal(length, strlen(rows[i][1]));
		assert_memory_equal(name, rows[i][1], length);
	}
	assert_true(symbols_is_included("/usr/include/CL/opencl.hpp"));
	assert_true(symbols_is_included("/home/me/opencl.hpp"));
	assert_false(symbols_is_included("/home/me/app.cpp"));
}

// ---- rows

static void sites_add_up(void **state)
{
	struct made *made = make(1, 4);
	struct tare_recorded_thread thread = { 0 };
	struct tare_recorded_kernel kernel = { .name = "advance" };
	struct tare_recorded_function function = { .name = "clFinish", .role = TARE_ROLE_WAIT };
	struct tare_recorded_command commands[6];
	struct tare_recorded_call calls[] = {
		{ .enter_ns = 900,
		  .exit_ns = 950,
		  .inside_ns = 50,
		  .count = 1,
		  .stack = 2,
		  .device = TARE_NO_INDEX,
		  .object = TARE_NO_INDEX },
		{ .enter_ns = 960,
		  .exit_ns = 970,
		  .inside_ns = 10,
		  .count = 3,
		  .stack = TARE_NO_INDEX,
		  .device = TARE_NO_INDEX,
		  .object = TARE_NO_INDEX },
	};
	struct tare_gap gaps[] = { { .from_ns = 0, .to_ns = 100, .command = 0 },
		                   { .from_ns = 200, .to_ns = 230, .command = 3 },
		                   { .from_ns = 700, .to_ns = 800, .command = 5 },
		                   { .from_ns = 990, .to_ns = 1000, .command = TARE_NO_INDEX } };
	struct tare_ledgers ledgers = { .gaps = gaps, .gap_count = 4 };
	struct tare_view view;
	struct tare_sites sites;
	(void)state;
	made->modules[0] = (struct tare_recorded_module){ .from = 0x1000,
		                                          .to = 0x2000,
		                                          .bias = 0x1000,
		                                          .path = "/nowhere/app",
		                                          .build_id = "ff" };
	made->process.executable = "/nowhere/app";
	// Stacks 0 and 1 end at the same address and differ further out.
	for (int i = 0; i < 8; i++)
		made->frames[i] = 0x1000 + (uint64_t)(i == 2 ? 1 : i + 1);
	for (int i = 0; i < 6; i++)
		commands[i] = (struct tare_recorded_command){ .enter_ns = 100 * i + 100,
			                                      .exit_ns = 100 * i + 105,
			                                      .start_ns = 100 * i + 110,
			                                      .end_ns = 100 * i + 150,
			                                      .kind = i < 3 ? TARE_KIND_KERNEL
			                                                    : TARE_KIND_WRITE,
			                                      .amount = i < 3 ? 0 : 64,
			                                      .queue = TARE_NO_INDEX,
			                                      .stack = i < 3   ? i % 2u
			                                               : i < 5 ? 3
			                                                       : TARE_NO_INDEX };
	commands[4].start_ns = commands[4].end_ns = commands[4].submitted_ns = TARE_NO_TIME;
	made->recording.threads = &thread;
	made->recording.kernels = &kernel;
	made->recording.functions = &function;
	made->recording.commands.plain = commands;
	made->recording.calls = calls;
	made->recording.thread_count = made->recording.kernel_count = 1;
	made->recording.function_count = 1;
	made->recording.command_count = 6;
	made->recording.call_count = 2;
	made->recording.end_ns = 1000;
	view = tare_view_all(&made->recording);
	open_symbols(made);
	assert_int_equal(tare_sites_compute(&made->recording, &view, &ledgers, made->symbols,
	                                    &sites, &rig_error),
	                 0);
	assert_int_equal(sites.count, 3);
	assert_int_equal(sites.without, 1);
	assert_string_equal(sites.rows[0].text, "app+0x0");
	assert_string_equal(sites.rows[0].what, "advance");
	assert_int_equal(sites.rows[0].count, 3);
	assert_int_equal(sites.rows[0].stacks, 2);
	assert_int_equal(sites.rows[0].device_ns, 120);
	assert_int_equal(sites.rows[0].host_ns, 15);
	assert_int_equal(sites.rows[0].gap_ns, 100);
	assert_int_equal(sites.rows[0].bytes, 0);
	assert_string_equal(sites.rows[1].what, "clFinish");
	assert_int_equal(sites.rows[1].host_ns, 50);
	assert_int_equal(sites.rows[1].kind, 0);
	assert_int_equal(sites.rows[1].device_ns, 0);
	assert_string_equal(sites.rows[2].what, "write");
	assert_int_equal(sites.rows[2].count, 2);
	assert_int_equal(sites.rows[2].bytes, 128);
	assert_int_equal(sites.rows[2].device_ns, 40);
	assert_int_equal(sites.rows[2].gap_ns, 30);
	tare_sites_free(&sites);
	// A part of the run has what belongs to it.
	view.to_ns = 200;
	assert_int_equal(tare_sites_compute(&made->recording, &view, &ledgers, made->symbols,
	                                    &sites, &rig_error),
	                 0);
	assert_int_equal(sites.count, 1);
	assert_int_equal(sites.rows[0].count, 1);
	tare_sites_free(&sites);
	tare_symbols_free(made->symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_are_joined),
		cmocka_unit_test(damaged_stacks_are_left_out),
		cmocka_unit_test(an_address_is_its_lines),
		cmocka_unit_test(a_file_that_is_another_gives_addresses),
		cmocka_unit_test(the_site_of_a_script_is_its_line),
		cmocka_unit_test(a_module_takes_the_place_of_another),
		cmocka_unit_test(the_site_is_the_innermost_of_the_program),
		cmocka_unit_test(names_are_short),
		cmocka_unit_test(sites_add_up),
	};
	return cmocka_run_group_tests(tests, own, NULL);
}
