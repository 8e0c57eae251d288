// SPDX-License-Identifier: Apache-2.0
// What tare record does around a program: environment, record.json, what the files tell.
#include "record_folder.h"

#include "record/document.h"
#include "record/folder.h"
#include "record/loader/layer.h"
#include "record/loader/program.h"
#include "record/survey.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

// ---- the environment

static const char *variable(char *const *environment, const char *name)
{
	const char *found = NULL;
	for (; *environment; environment++)
		if (strncmp(*environment, name, strlen(name)) == 0 &&
		    (*environment)[strlen(name)] == '=') {
			assert_null(found); // once only
			found = *environment + strlen(name) + 1;
		}
	return found;
}

static void the_layer_stands_before_those_that_were_there(void **state)
{
	static const struct {
		const char *before, *after;
	} rows[] = {
		{ "PATH=/bin", "/x/layer.so" },
		{ "OPENCL_LAYERS=", "/x/layer.so" },
		{ "OPENCL_LAYERS=/a.so:/b.so", "/x/layer.so:/a.so:/b.so" },
		{ "OPENCL_LAYERS=/a.so:/x/layer.so", "/x/layer.so:/a.so" },
		{ "OPENCL_LAYERS=/x/layer.so.1::", "/x/layer.so:/x/layer.so.1" },
		// the same elsewhere
		{ "OPENCL_LAYERS=/y/layer.so:layer.so:/b.so", "/x/layer.so:/b.so" },
		{ "OPENCL_LAYERS=/layer.so/b:/y/my-layer.so",
		  "/x/layer.so:/layer.so/b:/y/my-layer.so" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char *inherited[] = { "HOME=/h",           (char *)rows[i].before,
			              "TARE_RECORD=/old",  "TARE_RECORD_OPTIONS=strict",
			              "TARE_RECORDS=kept", NULL };
		struct tare_record_options options = { 0 };
		char **made =
		    tare_environment_make(inherited, "/x/layer.so", "/t/run.tare", &options, 42);
		assert_non_null(made);
		assert_string_equal(variable(made, "OPENCL_LAYERS"), rows[i].after);
		assert_string_equal(variable(made, "TARE_RECORD"), "/t/run.tare");
		assert_string_equal(variable(made, "TARE_RECORD_OPTIONS"),
		                    "start=42,times=sampled");
		assert_string_equal(variable(made, "TARE_RECORDS"), "kept");
		assert_string_equal(variable(made, "HOME"), "/h");
		tare_environment_free(made);
	}
}

static void the_recorder_is_told_every_option(void **state)
{
	char *inherited[] = { NULL };
	struct tare_record_options options = { .strict = true,
		                               .keep_newest = true,
		                               .max_bytes = 5000000000,
		                               .delay_ns = 1500000000,
		                               .duration_ns = 7 };
	char **made = tare_environment_make(inherited, "/l", "/d", &options, 1);
	(void)state;
	assert_string_equal(
	    variable(made, "TARE_RECORD_OPTIONS"),
	    "start=1,times=sampled,strict,keep=newest,max=5000000000,delay=1500000000,duration=7");
	tare_environment_free(made);
}

// A loader in front keeps those that the user has put there; loaders' own writing into a list is
// undone.
static void what_is_put_in_front_keeps_the_users(void **state)
{
	static const struct {
		const char *before, *after;
	} rows[] = {
		{ "LD_PRELOAD=/a.so b.so:/c.so", "/f.so:/a.so:b.so:/c.so" },
		{ "LD_PRELOAD=/f.so:/a.so", "/f.so:/a.so" },
		{ "LD_PRELOAD=", "/f.so" },
		{ "LD_PRELOADS=/a.so", "/f.so" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char *inherited[] = { (char *)rows[i].before, "OPENCL_LAYERS=/b.so", NULL };
		struct tare_record_options options = { .front = "/f.so" };
		char **made = tare_environment_make(inherited, "/l.so", "/d", &options, 1);
		assert_non_null(made);
		assert_string_equal(variable(made, "LD_PRELOAD"), rows[i].after);
		assert_string_equal(variable(made, "TARE_RECORD_OPTIONS"),
		                    "start=1,times=sampled,front");
		assert_string_equal(variable(made, "TARE_RECORD_LAYERS"), "/l.so:/b.so");
		tare_environment_free(made);
	}
}

// A tool that is there already records the program's phases; a recorder of ours is none, nor is
// nothing.
static void hooks_of_phases_lead_to_the_layer_unless_they_are_taken(void **state)
{
	static const char *const variables[] = { "TARE_PHASES", "INTEL_LIBITTNOTIFY64",
		                                 "NVTX_INJECTION64_PATH", "CUDA_INJECTION64_PATH" };
	static const struct {
		const char *before, *after;
		bool taken;
	} rows[] = {
		{ NULL, "/x/layer.so", false },
		{ "", "/x/layer.so", false },
		{ "/x/layer.so", "/x/layer.so", false },
		{ "/y/layer.so", "/x/layer.so", false }, // the same elsewhere
		{ "/y/tool.so", "/y/tool.so", true },
		{ "/x/layer.so.1", "/x/layer.so.1", true },
	};
	(void)state;
	for (size_t hook = 0; hook < TARE_PHASE_HOOKS; hook++)
		for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
			struct tare_record_options options = { 0 };
			const char *value = NULL, *phases = NULL, *name;
			char entry[128], **made;
			char *inherited[] = { "HOME=/h", rows[i].before ? entry : NULL, NULL };
			snprintf(entry, sizeof entry, "%s=%s", variables[hook],
			         rows[i].before ? rows[i].before : "");
			made = tare_environment_make(inherited, "/x/layer.so", "/t/run.tare",
			                             &options, 42);
			assert_non_null(made);
			for (size_t j = 0; j < TARE_PHASE_HOOKS; j++)
				assert_string_equal(variable(made, variables[j]),
				                    j == hook ? rows[i].after : "/x/layer.so");
			tare_environment_free(made);
			name = tare_environment_elsewhere(inherited, "/x/layer.so", hook, &value,
			                                  &phases);
			assert_int_equal(name != NULL, rows[i].taken);
			if (name) {
				assert_string_equal(name, variables[hook]);
				assert_string_equal(value, rows[i].before);
				assert_non_null(strstr(phases, hook < 3 ? "phases" : "CUDA"));
			}
		}
}

// ---- programs and loaders

static void a_program_is_found_as_exec_finds_it(void **state)
{
	static const struct {
		const char *name;
		int status;
		const char *says;
	} rows[] = {
		{ "tool", 0, NULL }, // in b: a has one that may not be executed
		{ "locked", -EACCES, "chmod" },
		{ "missing", -ENOENT, "in PATH" },
		{ "here", -ENOENT, "./" }, // in this folder, which PATH does not name
		{ "./here", 0, NULL },
		{ "./a", -EACCES, "folder" },
		{ "a", -ENOENT, "in PATH" },
		{ "here/x", -ENOENT, "no program" },
		{ "", -ENOENT, "empty" },
	};
	char *path = strdup(getenv("PATH"));
	(void)state;
	if (geteuid() == 0)
		print_message("# as root every file with an x bit may be executed\n");
	assert_int_equal(mkdir("a", 0777) | mkdir("b", 0777), 0);
	put_text("a/tool", "x");
	put_text("b/tool", "x");
	put_text("a/locked", "x");
	put_text("here", "x");
	assert_int_equal(chmod("b/tool", 0755) | chmod("here", 0755), 0);
	setenv("PATH", "a:b", 1);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_program program;
		struct tare_error error = { 0 };
		assert_int_equal(tare_program_find(rows[i].name, &program, &error), rows[i].status);
		if (rows[i].says)
			assert_non_null(strstr(error.message, rows[i].says));
		if (strcmp(rows[i].name, "tool") == 0)
			assert_string_equal(program.path, "b/tool");
		tare_program_free(&program);
	}
	setenv("PATH", path, 1);
	free(path);
}

static void a_static_program_and_foreign_rights_are_seen(void **state)
{
	struct tare_program program;
	struct tare_loader none = { 0 };
	char text[512], header[120] = "\177ELF\2\1\1";
	(void)state;
	// This test itself is dynamic.
	assert_int_equal(tare_program_find("/proc/self/exe", &program, NULL), 0);
	assert_false(program.fixed || program.privileged);
	tare_program_free(&program);
	// One program header, of a part to load; then cut short; then with a linker.
	header[32] = 64; // e_phoff
	header[54] = 56; // e_phentsize
	header[56] = 1;  // e_phnum
	header[64] = 1;  // PT_LOAD
	put("fixed", header, sizeof header);
	assert_int_equal(chmod("fixed", 0755), 0);
	assert_int_equal(tare_program_find("./fixed", &program, NULL), 0);
	assert_int_equal(program.fixed, sizeof(void *) == 8);
	tare_layer_explain(&program, &none, NULL, text, sizeof text);
	if (program.fixed)
		assert_non_null(strstr(text, "./fixed is statically linked"));
	tare_program_free(&program);
	put("fixed", header, 100);
	assert_int_equal(tare_program_find("./fixed", &program, NULL), 0);
	assert_false(program.fixed);
	tare_program_free(&program);
	header[64] = 3; // PT_INTERP
	put("fixed", header, sizeof header);
	assert_int_equal(tare_program_find("./fixed", &program, NULL), 0);
	assert_false(program.fixed);
	tare_program_free(&program);
	if (geteuid() != 0)
		return;
	put_text("other", "x");
	assert_int_equal(chown("other", 12345, 0) | chmod("other", 04755), 0);
	assert_int_equal(tare_program_find("./other", &program, NULL), 0);
	assert_true(program.privileged);
	tare_program_free(&program);
}

static void the_evidence_says_why_nothing_was_recorded(void **state)
{
	static const struct {
		struct tare_program program;
		struct tare_loader loader;
		const char *says, *withheld;
	} rows[] = {
		{ { .path = "p", .privileged = true, .fixed = true },
		  { "", false },
		  "set-user-ID" },
		{ { .path = "p", .fixed = true }, { "/l", true }, "no OpenCL loader" },
		{ { .path = "p", .fixed = true, .knows_layers = true },
		  { "/l", true },
		  "no OpenCL call" },
		{ { .path = "p" }, { "", false }, "no libOpenCL.so.1 on this machine" },
		{ { .path = "p" },
		  { "/l/libOpenCL.so.1", false },
		  "through /l/libOpenCL.so.1, a loader that knows no layers" },
		{ { .path = "p" }, { "/l/libOpenCL.so.1", false }, "(package ocl-icd-libopencl1)" },
		{ { .path = "p" },
		  { "/l/libOpenCL.so.1", false },
		  "without --strict /m/libOpenCL.so.1 is put",
		  "/m/libOpenCL.so.1" },
		{ { .path = "p" },
		  { "/l/libOpenCL.so.1", true },
		  "no OpenCL call through /l/libOpenCL.so.1; if it should have" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char text[512];
		tare_layer_explain(&rows[i].program, &rows[i].loader, rows[i].withheld, text,
		                   sizeof text);
		assert_non_null(strstr(text, rows[i].says));
	}
	put_text("with", "...OPENCL_LAYERS");
	put_text("without", "...OPENCL_LAYER...S");
	assert_true(tare_file_contains("with", "OPENCL_LAYERS"));
	assert_false(tare_file_contains("without", "OPENCL_LAYERS"));
	assert_false(tare_file_contains("absent", "OPENCL_LAYERS"));
}

static void the_layer_is_taken_from_the_folder_that_is_named(void **state)
{
	struct tare_error error = { 0 };
	char path[600], *found;
	(void)state;
	setenv("TARE_LAYER_DIR", folder, 1);
	assert_null(tare_layer_find(&error));
	assert_non_null(strstr(error.message, folder));
	snprintf(path, sizeof path, "%s/%s", folder, "libtare-recorder.so");
	put_text(path, "");
	found = tare_layer_find(&error);
	assert_string_equal(found, path);
	free(found);
	// It is there and is no library; then one that ends before its own parts do.
	assert_int_equal(tare_layer_check(path, &error), -ELIBBAD);
	assert_non_null(strstr(error.message, path));
	char header[120] = "\177ELF\2\1\1";
	header[32] = 64;  // e_phoff
	header[54] = 56;  // e_phentsize
	header[56] = 1;   // e_phnum
	header[64] = 1;   // PT_LOAD
	header[96] = 121; // p_filesz
	put(path, header, sizeof header);
	if (sizeof(void *) == 8) {
		assert_true(tare_file_is_cut(path));
		assert_int_equal(tare_layer_check(path, &error), -ELIBBAD);
		assert_non_null(strstr(error.message, "cut off"));
		header[96] = 120;
		put(path, header, sizeof header);
		assert_false(tare_file_is_cut(path));
		put(path, header, 100); // the header itself
		assert_true(tare_file_is_cut(path));
	}
	assert_false(tare_file_is_cut("/proc/self/exe"));
	// A colon separates layers: such a path cannot be told to a loader.
	assert_int_equal(mkdir("a:b", 0777), 0);
	assert_int_equal(rename("libtare-recorder.so", "a:b/libtare-recorder.so"), 0);
	setenv("TARE_LAYER_DIR", "a:b", 1);
	assert_null(tare_layer_find(&error));
	assert_non_null(strstr(error.message, "colon"));
	unsetenv("TARE_LAYER_DIR");
}

// ---- record.json

static char *document_of(char *const *program, const struct tare_child_end *end)
{
	static const struct tare_record_options options = { .max_bytes = 1 << 20 };
	struct tare_record_document document = { .program = program,
		                                 .options = &options,
		                                 .job = "",
		                                 .ended = end != NULL,
		                                 .end = end,
		                                 .end_raw_ns = 99,
		                                 .layer_path = "/l" };
	size_t bytes = 0;
	char *text;

	tare_record_start_now(&document);
	text = tare_record_document_text(&document, &bytes);
	assert_non_null(text);
	assert_int_equal(strlen(text), bytes);
	return text;
}

static void the_document_is_complete_only_at_the_end(void **state)
{
	char *program[] = { "./app", NULL };
	struct tare_child_end exited = { .status = 3, .user_ns = 5 },
	                      died = { .status = -1, .signal = 9 };
	static const char *const keys[] = { "tare",
		                            "cwd",
		                            "start_raw_ns",
		                            "start_monotonic_ns",
		                            "start_realtime_ns",
		                            "user_cpu_ns",
		                            "system_cpu_ns",
		                            "max_resident_bytes",
		                            "host_name",
		                            "host_units",
		                            "kernel_release",
		                            "boot_id",
		                            "options",
		                            "layer" };
	char *text = document_of(program, NULL), key[40];
	(void)state;
	assert_int_equal(strncmp(text, "{\"format\": \"tare.record/1\"", 25), 0);
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		snprintf(key, sizeof key, "\"%s\": ", keys[i]);
		assert_non_null(strstr(text, key));
	}
	assert_non_null(strstr(text, "\"end_raw_ns\": null"));
	assert_non_null(strstr(text, "\"exit_status\": null"));
	assert_non_null(strstr(text, "\"user_cpu_ns\": null"));
	free(text);
	text = document_of(program, &exited);
	assert_non_null(strstr(text, "\"end_raw_ns\": 99"));
	assert_non_null(strstr(text, "\"exit_status\": 3,\n  \"exit_signal\": null"));
	assert_non_null(strstr(text, "\"user_cpu_ns\": 5"));
	free(text);
	text = document_of(program, &died);
	assert_non_null(strstr(text, "\"exit_status\": null,\n  \"exit_signal\": 9"));
	free(text);
}

static void arguments_of_any_bytes_make_valid_json(void **state)
{
	static const struct {
		const char *argument, *written;
	} rows[] = {
		{ "a\"b\\c", "\"a\\\"b\\\\c\"" },
		{ "tab\there\x7f", "\"tab\\u0009here\\u007f\"" },
		{ "gr\xc3\xbc\xc3\x9f", "\"gr\xc3\xbc\xc3\x9f\"" },
		{ "\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xe2\x82\xac\xf0\x9f\x98\x80\"" },
		{ "\xff"
		  "a",
		  "\"\\ufffda\"" },
		{ "\xc3", "\"\\ufffd\"" },
		{ "\xc0\x80", "\"\\ufffd\\ufffd\"" },                       // overlong
		{ "\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"" },            // a surrogate
		{ "\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"" }, // beyond Unicode
		{ "\xf5\x80\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"" },
		{ "\xe0\x9f\xbf", "\"\\ufffd\\ufffd\\ufffd\"" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char *program[] = { "app", (char *)rows[i].argument, NULL }, wanted[200];
		char *text = document_of(program, NULL);
		snprintf(wanted, sizeof wanted, "\"program\": [\"app\", %s],", rows[i].written);
		assert_non_null(strstr(text, wanted));
		free(text);
	}
}

// ---- what the files tell

static struct tare_trace_header header_of(uint64_t calls)
{
	struct tare_trace_header header = { .version_major = 1,
		                            .byte_order = TARE_TRACE_BYTE_ORDER,
		                            .state = TARE_TRACE_ENDED,
		                            .calls_seen = calls,
		                            .windows = calls ? 2 : 1,
		                            .definition_windows = 1 };
	memcpy(header.magic, TARE_TRACE_MAGIC, sizeof header.magic);
	return header;
}

static void put_header(const char *name, const struct tare_trace_header *header)
{
	char path[400];
	snprintf(path, sizeof path, "%s/%s.trace", folder, name);
	put(path, header, sizeof *header);
}

static void headers_are_summed_and_strange_files_counted(void **state)
{
	struct tare_trace_header header = header_of(70);
	struct tare_survey survey;
	(void)state;
	assert_int_equal(tare_survey_folder("absent", &survey), -ENOENT);
	assert_int_equal(tare_survey_folder(folder, &survey), 0);
	assert_int_equal(survey.processes + survey.unreadable, 0);
	header.lost_records = 5;
	header.lost_commands = 2;
	header.stop_reason = TARE_TRACE_NO_SPACE;
	put_header("a", &header);
	header = header_of(0);
	put_header("b", &header);
	header.windows = 2; // killed before its calls were counted, but it has events
	header.api = TARE_TRACE_OPENCL;
	put_header("c", &header);
	header.api = TARE_TRACE_NO_API; // phases alone
	put_header("c2", &header);
	header.definition_windows = 2; // nothing at all
	put_header("c3", &header);
	header = header_of(7);
	header.state = TARE_TRACE_RECORDING;
	header.pid = (uint64_t)getpid();
	gethostname(header.host_name, sizeof header.host_name - 1);
	put_header("d", &header);
	header.pid = UINT64_C(1) << 40;
	put_header("e", &header);
	header.version_major = TARE_TRACE_VERSION_MAJOR + 1;
	put_header("newer", &header);
	put_text("cut.trace", "\x89tare");
	put_text("notes.txt", "no trace");
	put_text(".trace", "no name");
	put_text(".hidden.trace", "not a reader's either");
	assert_int_equal(symlink("/etc/passwd", "link.trace"), 0);
	assert_int_equal(tare_survey_folder(folder, &survey), 0);
	assert_int_equal(survey.processes, 7);
	assert_int_equal(survey.silent, 3);
	assert_int_equal(survey.phases_only, 1);
	assert_int_equal(survey.running, 1);
	assert_int_equal(survey.unreadable, 3);
	assert_int_equal(survey.calls, 84);
	assert_int_equal(survey.lost_records, 5);
	assert_int_equal(survey.lost_commands, 2);
	assert_int_equal(survey.stopped[TARE_TRACE_NO_SPACE], 1);
	assert_int_equal(survey.bytes, 8 * sizeof header + 5);
}

// A process whose environment leads to `variable`; it has begun when this returns.
static pid_t start_sleeper(char *variable)
{
	char *environment[] = { "A=b", variable, NULL }, none;
	int ends[2];
	pid_t child;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	child = fork();
	if (child == 0) {
		execle("/bin/sleep", "sleep", "100", (char *)NULL, environment);
		_exit(1);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &none, 1), 0); // closed by the exec
	close(ends[0]);
	return child;
}

static void living_processes_are_known_by_their_environment(void **state)
{
	char variable[300], longer[300];
	pid_t children[2];
	uint32_t alive;
	(void)state;
	snprintf(variable, sizeof variable, "TARE_RECORD=%s", folder);
	snprintf(longer, sizeof longer, "TARE_RECORD=%s2", folder);
	assert_int_equal(tare_survey_alive(folder), 0);
	children[0] = start_sleeper(variable);
	children[1] = start_sleeper(longer);
	alive = tare_survey_alive(folder);
	for (size_t i = 0; i < 2; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
	assert_int_equal(alive, 1);
	assert_int_equal(tare_survey_alive(folder), 0);
}

static void a_loss_is_said_with_its_reason(void **state)
{
	static const struct {
		struct tare_survey survey;
		const char *says;
	} rows[] = {
		{ { 0 }, "" },
		{ { .recycled_records = 9, .recycled_commands = 1 },
		  "the 9 oldest records, 1 command among them" },
		{ { .lost_records = 1 },
		  "1 record, 0 commands among them, is lost: no room could be had in time" },
		{ { .lost_records = 8, .lost_commands = 3, .stopped[TARE_TRACE_MAX_SIZE] = 1 },
		  "8 records, 3 commands among them, are lost: --max-size was reached" },
		{ { .stopped[TARE_TRACE_FILE_LIMIT] = 2 },
		  "2 processes stopped recording: the limit on the size of files" },
		{ { .stopped[TARE_TRACE_NO_SPACE] = 1 },
		  "1 process stopped recording: the disk was full" },
		{ { .stopped[TARE_TRACE_IO] = 1, .stop_error = EROFS }, "Read-only file system" },
		{ { .stopped[TARE_TRACE_NO_MEMORY] = 1 }, "no memory" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char text[512];
		tare_survey_loss(&rows[i].survey, text, sizeof text);
		assert_non_null(strstr(text, rows[i].says));
		assert_int_equal(text[0] == '\0', rows[i].says[0] == '\0');
	}
}

static void a_limit_on_the_size_of_files_is_said(void **state)
{
	struct rlimit before, low = { .rlim_cur = 4096 };
	char text[400];
	(void)state;
	tare_record_folder_obstacle(folder, text, sizeof text);
	assert_string_equal(text, "");
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	low.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
	tare_record_folder_obstacle(folder, text, sizeof text);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_non_null(strstr(text, "ulimit -f"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_layer_stands_before_those_that_were_there),
		cmocka_unit_test(the_recorder_is_told_every_option),
		cmocka_unit_test(what_is_put_in_front_keeps_the_users),
		cmocka_unit_test(hooks_of_phases_lead_to_the_layer_unless_they_are_taken),
		IN_A_FOLDER(a_program_is_found_as_exec_finds_it),
		IN_A_FOLDER(a_static_program_and_foreign_rights_are_seen),
		IN_A_FOLDER(the_evidence_says_why_nothing_was_recorded),
		IN_A_FOLDER(the_layer_is_taken_from_the_folder_that_is_named),
		cmocka_unit_test(the_document_is_complete_only_at_the_end),
		cmocka_unit_test(arguments_of_any_bytes_make_valid_json),
		IN_A_FOLDER(headers_are_summed_and_strange_files_counted),
		IN_A_FOLDER(living_processes_are_known_by_their_environment),
		cmocka_unit_test(a_loss_is_said_with_its_reason),
		IN_A_FOLDER(a_limit_on_the_size_of_files_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
