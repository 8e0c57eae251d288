// SPDX-License-Identifier: Apache-2.0
// What tare record does around a program: folder, environment, record.json, what the files tell.
#include "record/document.h"
#include "record/folder.h"
#include "record/inner.h"
#include "record/layer.h"
#include "record/program.h"
#include "record/survey.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[256];

static int open_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof folder, "/tmp/tare-test-record-XXXXXX");
	unsetenv("OMPI_COMM_WORLD_SIZE");
	unsetenv("PMI_SIZE");
	unsetenv("SLURM_STEP_NUM_TASKS");
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int close_folder(void **state)
{
	char command[300];
	(void)state;
	snprintf(command, sizeof command, "rm -r %s", folder);
	return chdir("/") == 0 ? system(command) : -1;
}

static void put(const char *path, const void *text, size_t bytes)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, bytes, file), bytes);
	assert_int_equal(fclose(file), 0);
}

static void put_text(const char *path, const char *text)
{
	put(path, text, strlen(text));
}

static bool is_there(const char *path)
{
	struct stat about;
	return lstat(path, &about) == 0;
}

// ---- folders

static void a_folder_is_named_after_the_output_or_the_program(void **state)
{
	static const struct { const char *output, *program, *name; } rows[] = {
		{ NULL, "app", "app.tare" },
		{ NULL, "/usr/bin/app", "app.tare" },
		{ NULL, "./my.tare", "my.tare.tare" },
		{ "run", "app", "run.tare" },
		{ "run.tare", "app", "run.tare" },
		{ "a/b/run.tare///", "app", "a/b/run.tare" },
		{ "/tmp/run/", "app", "/tmp/run.tare" },
		{ ".tare", "app", ".tare.tare" },
		{ "/", "app", NULL }, { ".", "app", NULL }, { "a/..", "app", NULL }, { "", "app", NULL },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_error error = { 0 };
		char *name = tare_record_folder_name(rows[i].output, rows[i].program, &error);
		if (rows[i].name)
			assert_string_equal(name, rows[i].name);
		else
			assert_true(!name && error.code == -EINVAL && strstr(error.message, "-o DIR"));
		free(name);
	}
}

static void network_file_systems_are_known_by_their_number(void **state)
{
	(void)state;
	assert_string_equal(tare_record_remote(0x6969), "NFS");
	assert_string_equal(tare_record_remote(0x0bd00bd0), "Lustre");
	// As statfs gives it where its member is signed.
	assert_string_equal(tare_record_remote((unsigned long)(int)0xff534d42), "CIFS");
	assert_null(tare_record_remote(0xef53));     // ext4
	assert_null(tare_record_remote(0x01021994)); // tmpfs
	assert_null(tare_record_remote(0x9123683e)); // btrfs
}

static struct tare_record_claim claim_of(const char *output, bool force)
{
	return (struct tare_record_claim){ .output = output, .program = "app", .force = force };
}

// Claims, writes `text` as record.json and lets go, as a recording does.
static void record(const struct tare_record_claim *claim, const char *text)
{
	struct tare_record_folder claimed;
	struct tare_error error = { 0 };

	assert_int_equal(tare_record_folder_claim(claim, &claimed, &error), 0);
	assert_int_equal(tare_record_folder_draft(&claimed, text, strlen(text), &error), 0);
	assert_int_equal(tare_record_folder_publish(&claimed, &error), 0);
	tare_record_folder_begun(&claimed);
	tare_record_folder_free(&claimed);
}

static void what_was_there_decides(void **state)
{
	enum { NOTHING, EMPTY, TRACE, STRANGE, FOREIGN, FILE_THERE };
	static const struct { int there; bool force; int status; const char *says; } rows[] = {
		{ NOTHING, false, 0, NULL },
		{ EMPTY, false, 0, NULL },
		{ TRACE, false, -EEXIST, "--force" },
		{ TRACE, true, 0, NULL },
		{ STRANGE, false, -EEXIST, "no trace" },
		{ STRANGE, true, -EEXIST, "no trace" },
		{ FOREIGN, true, -EEXIST, "no trace" },
		{ FILE_THERE, true, -EEXIST, "no folder" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_record_claim claim = claim_of(NULL, rows[i].force);
		struct tare_record_folder claimed;
		struct tare_error error = { 0 };
		if (rows[i].there == FILE_THERE)
			put_text("app.tare", "");
		else if (rows[i].there != NOTHING)
			assert_int_equal(mkdir("app.tare", 0777), 0);
		if (rows[i].there == TRACE)
			put_text("app.tare/record.json", " {\n\"format\" : \"tare.record/9\"}");
		if (rows[i].there == TRACE || rows[i].there == STRANGE)
			put_text("app.tare/h-1-1.trace", "old");
		if (rows[i].there == FOREIGN)
			put_text("app.tare/record.json", "{\"sound\": \"tare.record/1\"}");
		assert_int_equal(tare_record_folder_claim(&claim, &claimed, &error), rows[i].status);
		if (rows[i].says) {
			assert_non_null(strstr(error.message, rows[i].says));
			assert_non_null(strstr(error.message, "app.tare"));
		}
		assert_true(is_there("app.tare") == (rows[i].there != NOTHING || !rows[i].says));
		if (rows[i].status == 0) {
			tare_record_folder_abandon(&claimed);
			tare_record_folder_free(&claimed);
		}
		// Whatever came of it, what was there is there still.
		assert_true(is_there("app.tare") == (rows[i].there != NOTHING));
		assert_true(is_there("app.tare/h-1-1.trace") ==
		            (rows[i].there == TRACE || rows[i].there == STRANGE));
		assert_int_equal(system("rm -rf app.tare"), 0);
	}
}

static void a_trace_is_replaced_when_the_program_runs_and_nothing_else(void **state)
{
	struct tare_record_claim claim = claim_of("run", true);
	struct tare_record_folder claimed;
	struct tare_error error = { 0 };
	char text[64] = "";
	(void)state;
	record(&claim, "{\"format\": \"tare.record/1\", \"old\": 1}");
	put_text("run.tare/h-1-1.trace", "old");
	put_text("run.tare/notes.txt", "mine");
	assert_int_equal(tare_record_folder_claim(&claim, &claimed, &error), 0);
	assert_int_equal(tare_record_folder_draft(&claimed, "new", 3, &error), 0);
	assert_true(is_there("run.tare/h-1-1.trace"));
	put_text("run.tare/h-2-1.trace", "new"); // the program is quick
	assert_int_equal(tare_record_folder_publish(&claimed, &error), 0);
	tare_record_folder_begun(&claimed);
	assert_false(is_there("run.tare/h-1-1.trace"));
	assert_true(is_there("run.tare/h-2-1.trace") && is_there("run.tare/notes.txt"));
	FILE *file = fopen("run.tare/record.json", "r");
	assert_non_null(file);
	assert_non_null(fgets(text, sizeof text, file));
	fclose(file);
	assert_string_equal(text, "new");
	// Nothing of the draft is left.
	assert_int_equal(system("test $(ls -A run.tare | wc -l) = 3"), 0);
	tare_record_folder_free(&claimed);
}

static void a_folder_is_one_recordings_until_it_ends(void **state)
{
	struct tare_record_claim claim = claim_of("run", true);
	struct tare_record_folder first, second;
	struct tare_error error = { 0 };
	const char *text = "{\"format\": \"tare.record/1\", \"end_raw_ns\": null}";
	(void)state;
	assert_int_equal(tare_record_folder_claim(&claim, &first, &error), 0);
	assert_int_equal(tare_record_folder_draft(&first, text, strlen(text), &error), 0);
	assert_int_equal(tare_record_folder_publish(&first, &error), 0);
	tare_record_folder_begun(&first);
	put_text("run.tare/h-1-1.trace", "precious");
	for (int force = 0; force < 2; force++) {
		claim.force = force;
		assert_int_equal(tare_record_folder_claim(&claim, &second, &error), -EBUSY);
		assert_non_null(strstr(error.message, "another tare record is recording into run.tare"));
	}
	assert_true(is_there("run.tare/h-1-1.trace"));
	// Who was killed leaves the same document and no lock.
	tare_record_folder_free(&first);
	assert_int_equal(tare_record_folder_claim(&claim, &second, &error), 0);
	tare_record_folder_begun(&second);
	assert_false(is_there("run.tare/h-1-1.trace"));
	tare_record_folder_free(&second);
}

static void leavings_of_a_killed_start_are_no_trace(void **state)
{
	struct tare_record_claim claim = claim_of("run", false);
	struct tare_record_folder claimed;
	struct tare_error error = { 0 };
	(void)state;
	assert_int_equal(mkdir("run.tare", 0777), 0);
	put_text("run.tare/.record.json.77", "{\"for");
	assert_int_equal(tare_record_folder_claim(&claim, &claimed, &error), 0);
	assert_true(is_there("run.tare/.record.json.77"));
	tare_record_folder_begun(&claimed);
	assert_false(is_there("run.tare/.record.json.77"));
	tare_record_folder_free(&claimed);
}

static void a_recording_inside_another_leaves_word_once(void **state)
{
	char heard[300];
	(void)state;
	assert_false(tare_inner_hear(folder, heard, sizeof heard));
	unsetenv("TARE_RECORD");
	tare_inner_tell("/t/nobody.tare");
	assert_false(tare_inner_hear(folder, heard, sizeof heard));
	setenv("TARE_RECORD", folder, 1);
	tare_inner_tell("/t/first-of-two.tare");
	tare_inner_tell("/t/b.tare");
	unsetenv("TARE_RECORD");
	assert_true(tare_inner_hear(folder, heard, sizeof heard));
	assert_string_equal(heard, "/t/b.tare");
	assert_false(tare_inner_hear(folder, heard, sizeof heard));
	assert_int_equal(system("test $(ls -A | wc -l) = 0"), 0);
}

static void no_room_is_said_before_the_program_starts(void **state)
{
	struct tare_record_claim claim = claim_of("full", false);
	struct tare_record_folder claimed;
	struct tare_error error = { 0 };
	struct rlimit before, none = { 0 };
	int status;
	(void)state;
	assert_int_equal(tare_record_folder_claim(&claim, &claimed, &error), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	none.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	// The signal that comes with this limit must not end us.
	status = tare_record_folder_draft(&claimed, "text", 4, &error);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(status, -EFBIG);
	assert_non_null(strstr(error.message, "full.tare/record.json"));
	tare_record_folder_abandon(&claimed);
	tare_record_folder_free(&claimed);
	assert_false(is_there("full.tare"));
}

static void ranks_of_one_job_join_and_others_do_not(void **state)
{
	struct tare_record_claim claim = claim_of("job", false);
	struct tare_record_folder first, second, third;
	struct tare_error error = { 0 };
	char text[300];
	(void)state;
	setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
	setenv("PMIX_NAMESPACE", "12\"7", 1);
	assert_int_equal(tare_record_folder_claim(&claim, &first, &error), 0);
	assert_string_equal(first.job, "12_7");
	snprintf(text, sizeof text, "{\"format\": \"tare.record/1\",\n  \"end_raw_ns\": null,\n  \"job\": \"%s\"}",
	         first.job);
	assert_int_equal(tare_record_folder_draft(&first, text, strlen(text), &error), 0);
	assert_int_equal(tare_record_folder_publish(&first, &error), 0);
	tare_record_folder_begun(&first);
	put_text("job.tare/h-1-1.trace", "another rank's");
	claim.force = true;
	assert_int_equal(tare_record_folder_claim(&claim, &second, &error), 0);
	assert_true(second.joined && !second.made && !first.joined && first.made);
	tare_record_folder_begun(&second);
	assert_true(is_there("job.tare/h-1-1.trace"));
	// The next job, and one rank alone, are something else, as long as any rank records.
	setenv("PMIX_NAMESPACE", "128", 1);
	assert_int_equal(tare_record_folder_claim(&claim, &third, &error), -EBUSY);
	setenv("PMIX_NAMESPACE", "12\"7", 1);
	setenv("OMPI_COMM_WORLD_SIZE", "1", 1);
	assert_int_equal(tare_record_folder_claim(&claim, &third, &error), -EBUSY);
	tare_record_folder_free(&first);
	assert_int_equal(tare_record_folder_claim(&claim, &third, &error), -EBUSY);
	tare_record_folder_free(&second);
	claim.force = false;
	assert_int_equal(tare_record_folder_claim(&claim, &third, &error), -EEXIST);
	// A recording that has ended is joined no more.
	setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
	put_text("job.tare/record.json", "{\"format\": \"tare.record/1\", \"end_raw_ns\": 5, \"job\": \"12_7\"}");
	assert_int_equal(tare_record_folder_claim(&claim, &third, &error), -EEXIST);
	unsetenv("PMIX_NAMESPACE");
}

static void a_job_is_known_by_what_its_launcher_says(void **state)
{
	static const struct { const char *set[3][2], *job; } rows[] = {
		{ { { "SLURM_STEP_NUM_TASKS", "2" }, { "SLURM_JOB_ID", "77" }, { "SLURM_STEP_ID", "3" } }, "77.3" },
		{ { { "SLURM_STEP_NUM_TASKS", "1" }, { "SLURM_JOB_ID", "77" }, { "SLURM_STEP_ID", "3" } }, "" },
		{ { { "SLURM_JOB_ID", "77" }, { "SLURM_NTASKS", "8" } }, "" }, // a script, no rank
		{ { { "OMPI_COMM_WORLD_SIZE", "2" }, { "OMPI_MCA_ess_base_jobid", "9" } }, "9" },
		{ { { "PMI_SIZE", "2" } }, "hydra " },
		{ { { "PMI_SIZE", "1" } }, "" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char job[160];
		for (size_t k = 0; k < 3 && rows[i].set[k][0]; k++)
			setenv(rows[i].set[k][0], rows[i].set[k][1], 1);
		tare_record_job(job, sizeof job);
		if (strcmp(rows[i].job, "hydra ") == 0)
			assert_int_equal(strncmp(job, rows[i].job, strlen(rows[i].job)), 0);
		else
			assert_string_equal(job, rows[i].job);
		for (size_t k = 0; k < 3 && rows[i].set[k][0]; k++)
			unsetenv(rows[i].set[k][0]);
	}
}

static void what_is_recorded_locally_is_moved(void **state)
{
	struct tare_record_claim claim = claim_of("far", false);
	struct tare_record_folder claimed;
	struct tare_error error = { 0 };
	char path[600], *other;
	(void)state;
	claim.place = TARE_RECORD_LOCALLY;
	// Another file system where there is one, so that a file must be copied.
	setenv("TMPDIR", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : folder, 1);
	assert_int_equal(tare_record_folder_claim(&claim, &claimed, &error), 0);
	unsetenv("TMPDIR");
	assert_string_not_equal(claimed.data, claimed.absolute);
	snprintf(path, sizeof path, "%s/h-1-1.trace", claimed.data);
	char big[200000];
	for (size_t i = 0; i < sizeof big; i++)
		big[i] = (char)(i * 7 % 251);
	put(path, big, sizeof big);
	assert_int_equal(tare_record_folder_collect(&claimed, &error), 0);
	assert_false(is_there(claimed.data));
	FILE *file = fopen("far.tare/h-1-1.trace", "r");
	char back[sizeof big + 1];
	assert_non_null(file);
	assert_int_equal(fread(back, 1, sizeof back, file), sizeof big);
	fclose(file);
	assert_memory_equal(back, big, sizeof big);
	other = strdup(claimed.absolute);
	tare_record_folder_free(&claimed);
	// Where the file cannot go it stays where it is, and that is said.
	claim.output = "far2";
	setenv("TMPDIR", "/dev/shm", 1);
	if (access("/dev/shm", W_OK) == 0) {
		assert_int_equal(tare_record_folder_claim(&claim, &claimed, &error), 0);
		snprintf(path, sizeof path, "%s/h-1-1.trace", claimed.data);
		put_text(path, "x");
		put_text("far2.tare/h-1-1.trace", "there already");
		assert_int_equal(tare_record_folder_collect(&claimed, &error), -EEXIST);
		assert_non_null(strstr(error.message, claimed.data));
		assert_true(is_there(path));
		unlink(path);
		rmdir(claimed.data);
		tare_record_folder_free(&claimed);
	}
	unsetenv("TMPDIR");
	free(other);
}

// ---- the environment

static const char *variable(char *const *environment, const char *name)
{
	const char *found = NULL;
	for (; *environment; environment++)
		if (strncmp(*environment, name, strlen(name)) == 0 && (*environment)[strlen(name)] == '=') {
			assert_null(found); // once only
			found = *environment + strlen(name) + 1;
		}
	return found;
}

static void the_layer_stands_before_those_that_were_there(void **state)
{
	static const struct { const char *before, *after; } rows[] = {
		{ "PATH=/bin", "/x/layer.so" },
		{ "OPENCL_LAYERS=", "/x/layer.so" },
		{ "OPENCL_LAYERS=/a.so:/b.so", "/x/layer.so:/a.so:/b.so" },
		{ "OPENCL_LAYERS=/a.so:/x/layer.so", "/x/layer.so:/a.so" },
		{ "OPENCL_LAYERS=/x/layer.so.1::", "/x/layer.so:/x/layer.so.1" },
		{ "OPENCL_LAYERS=/y/layer.so:layer.so:/b.so", "/x/layer.so:/b.so" }, // the same elsewhere
		{ "OPENCL_LAYERS=/layer.so/b:/y/my-layer.so", "/x/layer.so:/layer.so/b:/y/my-layer.so" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char *inherited[] = { "HOME=/h", (char *)rows[i].before, "TARE_RECORD=/old",
			              "TARE_RECORD_OPTIONS=strict", "TARE_RECORDS=kept", NULL };
		struct tare_record_options options = { 0 };
		char **made = tare_environment_make(inherited, "/x/layer.so", "/t/run.tare", &options, 42);
		assert_non_null(made);
		assert_string_equal(variable(made, "OPENCL_LAYERS"), rows[i].after);
		assert_string_equal(variable(made, "TARE_RECORD"), "/t/run.tare");
		assert_string_equal(variable(made, "TARE_RECORD_OPTIONS"), "start=42");
		assert_string_equal(variable(made, "TARE_RECORDS"), "kept");
		assert_string_equal(variable(made, "HOME"), "/h");
		tare_environment_free(made);
	}
}

static void the_recorder_is_told_every_option(void **state)
{
	char *inherited[] = { NULL };
	struct tare_record_options options = { .strict = true, .keep_newest = true, .max_bytes = 5000000000,
		                               .delay_ns = 1500000000, .duration_ns = 7 };
	char **made = tare_environment_make(inherited, "/l", "/d", &options, 1);
	(void)state;
	assert_string_equal(variable(made, "TARE_RECORD_OPTIONS"),
	                    "start=1,strict,keep=newest,max=5000000000,delay=1500000000,duration=7");
	tare_environment_free(made);
}

// ---- programs and loaders

static void a_program_is_found_as_exec_finds_it(void **state)
{
	static const struct { const char *name; int status; const char *says; } rows[] = {
		{ "tool", 0, NULL },          // in b: a has one that may not be executed
		{ "locked", -EACCES, "chmod" },
		{ "missing", -ENOENT, "in PATH" },
		{ "here", -ENOENT, "./" },    // in this folder, which PATH does not name
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
	header[32] = 64;          // e_phoff
	header[54] = 56;          // e_phentsize
	header[56] = 1;           // e_phnum
	header[64] = 1;           // PT_LOAD
	put("fixed", header, sizeof header);
	assert_int_equal(chmod("fixed", 0755), 0);
	assert_int_equal(tare_program_find("./fixed", &program, NULL), 0);
	assert_int_equal(program.fixed, sizeof(void *) == 8);
	tare_layer_explain(&program, &none, text, sizeof text);
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
	static const struct { struct tare_program program; struct tare_loader loader; const char *says; } rows[] = {
		{ { .path = "p", .privileged = true, .fixed = true }, { "", false }, "set-user-ID" },
		{ { .path = "p", .fixed = true }, { "/l", true }, "no OpenCL loader" },
		{ { .path = "p", .fixed = true, .knows_layers = true }, { "/l", true }, "no OpenCL call" },
		{ { .path = "p" }, { "", false }, "no libOpenCL.so.1 on this machine" },
		{ { .path = "p" }, { "/l/libOpenCL.so.1", false }, "through /l/libOpenCL.so.1, a loader that knows no layers" },
		{ { .path = "p" }, { "/l/libOpenCL.so.1", true }, "not through /l/libOpenCL.so.1, which knows layers" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char text[512];
		tare_layer_explain(&rows[i].program, &rows[i].loader, text, sizeof text);
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
	snprintf(path, sizeof path, "%s/%s", folder, "libtare-opencl-layer.so");
	put_text(path, "");
	found = tare_layer_find(&error);
	assert_string_equal(found, path);
	free(found);
	// It is there and is no library; then one that ends before its own parts do.
	assert_int_equal(tare_layer_check(path, &error), -ELIBBAD);
	assert_non_null(strstr(error.message, path));
	char header[120] = "\177ELF\2\1\1";
	header[32] = 64; // e_phoff
	header[54] = 56; // e_phentsize
	header[56] = 1;  // e_phnum
	header[64] = 1;  // PT_LOAD
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
	assert_int_equal(rename("libtare-opencl-layer.so", "a:b/libtare-opencl-layer.so"), 0);
	setenv("TARE_LAYER_DIR", "a:b", 1);
	assert_null(tare_layer_find(&error));
	assert_non_null(strstr(error.message, "colon"));
	unsetenv("TARE_LAYER_DIR");
}

// ---- record.json

static char *document_of(char *const *program, const struct tare_launch_end *end)
{
	static const struct tare_record_options options = { .max_bytes = 1 << 20 };
	struct tare_record_document document = { .program = program, .options = &options, .job = "",
		                                 .ended = end != NULL, .end = end, .end_raw_ns = 99,
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
	struct tare_launch_end exited = { .status = 3, .user_ns = 5 }, died = { .status = -1, .signal = 9 };
	static const char *const keys[] = { "tare", "cwd", "start_raw_ns", "start_monotonic_ns",
		"start_realtime_ns", "user_cpu_ns", "system_cpu_ns", "max_resident_bytes", "host_name",
		"host_units", "kernel_release", "boot_id", "options", "layer" };
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
	static const struct { const char *argument, *written; } rows[] = {
		{ "a\"b\\c", "\"a\\\"b\\\\c\"" },
		{ "tab\there\x7f", "\"tab\\u0009here\\u007f\"" },
		{ "gr\xc3\xbc\xc3\x9f", "\"gr\xc3\xbc\xc3\x9f\"" },
		{ "\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xe2\x82\xac\xf0\x9f\x98\x80\"" },
		{ "\xff" "a", "\"\\ufffda\"" },
		{ "\xc3", "\"\\ufffd\"" },
		{ "\xc0\x80", "\"\\ufffd\\ufffd\"" },         // overlong
		{ "\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"" }, // a surrogate
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
	struct tare_trace_header header = { .version_major = 1, .byte_order = TARE_TRACE_BYTE_ORDER,
		                            .state = TARE_TRACE_ENDED, .calls_seen = calls,
		                            .windows = calls ? 2 : 1, .definition_windows = 1 };
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
	put_header("c", &header);
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
	assert_int_equal(survey.processes, 5);
	assert_int_equal(survey.silent, 1);
	assert_int_equal(survey.running, 1);
	assert_int_equal(survey.unreadable, 3);
	assert_int_equal(survey.calls, 84);
	assert_int_equal(survey.lost_records, 5);
	assert_int_equal(survey.lost_commands, 2);
	assert_int_equal(survey.stopped[TARE_TRACE_NO_SPACE], 1);
	assert_int_equal(survey.bytes, 6 * sizeof header + 5);
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
	(void)state;
	snprintf(variable, sizeof variable, "TARE_RECORD=%s", folder);
	snprintf(longer, sizeof longer, "TARE_RECORD=%s2", folder);
	assert_int_equal(tare_survey_alive(folder), 0);
	children[0] = start_sleeper(variable);
	children[1] = start_sleeper(longer);
	assert_int_equal(tare_survey_alive(folder), 1);
	for (size_t i = 0; i < 2; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
	assert_int_equal(tare_survey_alive(folder), 0);
}

static void a_loss_is_said_with_its_reason(void **state)
{
	static const struct { struct tare_survey survey; const char *says; } rows[] = {
		{ { 0 }, "" },
		{ { .recycled_records = 9, .recycled_commands = 1 }, "the 9 oldest records, 1 command among them" },
		{ { .lost_records = 1 }, "1 record, 0 commands among them, is lost: no room could be had in time" },
		{ { .lost_records = 8, .lost_commands = 3, .stopped[TARE_TRACE_MAX_SIZE] = 1 },
		  "8 records, 3 commands among them, are lost: --max-size was reached" },
		{ { .stopped[TARE_TRACE_FILE_LIMIT] = 2 }, "2 processes stopped recording: the limit on the size of files" },
		{ { .stopped[TARE_TRACE_NO_SPACE] = 1 }, "1 process stopped recording: the disk was full" },
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

#define IN_A_FOLDER(name) cmocka_unit_test_setup_teardown(name, open_folder, close_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_folder_is_named_after_the_output_or_the_program),
		cmocka_unit_test(network_file_systems_are_known_by_their_number),
		IN_A_FOLDER(what_was_there_decides),
		IN_A_FOLDER(a_trace_is_replaced_when_the_program_runs_and_nothing_else),
		IN_A_FOLDER(a_folder_is_one_recordings_until_it_ends),
		IN_A_FOLDER(leavings_of_a_killed_start_are_no_trace),
		IN_A_FOLDER(a_recording_inside_another_leaves_word_once),
		IN_A_FOLDER(no_room_is_said_before_the_program_starts),
		IN_A_FOLDER(ranks_of_one_job_join_and_others_do_not),
		IN_A_FOLDER(a_job_is_known_by_what_its_launcher_says),
		IN_A_FOLDER(what_is_recorded_locally_is_moved),
		cmocka_unit_test(the_layer_stands_before_those_that_were_there),
		cmocka_unit_test(the_recorder_is_told_every_option),
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
