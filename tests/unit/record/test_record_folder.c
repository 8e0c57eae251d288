// SPDX-License-Identifier: Apache-2.0
// The folder of a trace: who may have it, what becomes of what was there.
#include "record_folder.h"

#include "record/folder.h"
#include "record/nested.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>

static void a_folder_is_named_after_the_output_or_the_program(void **state)
{
	static const struct {
		const char *output, *program, *name;
	} rows[] = {
		{ NULL, "app", "app.tare" },
		{ NULL, "/usr/bin/app", "app.tare" },
		{ NULL, "./my.tare", "my.tare.tare" },
		{ "run", "app", "run.tare" },
		{ "run.tare", "app", "run.tare" },
		{ "a/b/run.tare///", "app", "a/b/run.tare" },
		{ "/tmp/run/", "app", "/tmp/run.tare" },
		{ ".tare", "app", ".tare.tare" },
		{ "/", "app", NULL },
		{ ".", "app", NULL },
		{ "a/..", "app", NULL },
		{ "", "app", NULL },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_error error = { 0 };
		char *name = tare_record_folder_name(rows[i].output, rows[i].program, &error);
		if (rows[i].name)
			assert_string_equal(name, rows[i].name);
		else
			assert_true(!name && error.code == -EINVAL &&
			            strstr(error.message, "-o DIR"));
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
	static const struct {
		int there;
		bool force;
		int status;
		const char *says;
	} rows[] = {
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
		assert_int_equal(tare_record_folder_claim(&claim, &claimed, &error),
		                 rows[i].status);
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
		assert_non_null(
		    strstr(error.message, "another tare record is recording into run.tare"));
	}
	assert_true(is_there("run.tare/h-1-1.trace"));
	// Who was killed leaves the same document and no lock.
	tare_record_folder_free(&first);
	assert_int_equal(tare_record_folder_claim(&claim, &second, &error), 0);
	tare_record_folder_begun(&second);
	assert_false(is_there("run.tare/h-1-1.trace"));
	tare_record_folder_free(&second);
}

// A claim by another process, with --force; for wait_claim.
static pid_t start_claim(int lock)
{
	struct tare_record_claim claim = claim_of("run", true);
	struct tare_record_folder claimed;
	pid_t child = fork();

	if (child != 0)
		return child;
	close(lock);
	_exit(-tare_record_folder_claim(&claim, &claimed, NULL));
}

static int wait_claim(pid_t child)
{
	int status = 0;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return -WEXITSTATUS(status);
}

// The kernel cannot exchange one lock for the other without a gap, in which others may come.
static void a_recording_that_has_just_begun_is_not_mistaken_for_a_killed_one(void **state)
{
	int lock, status = 0;
	(void)state;
	assert_int_equal(mkdir("run.tare", 0777), 0);
	put_text("run.tare/record.json", "{\"format\": \"tare.record/1\", \"end_raw_ns\": null}");
	// On a machine that is so slow that all waits run out the gap may be missed now and then.
	for (int turn = 0; turn < 5 && status != -EBUSY; turn++) {
		lock = open("run.tare", O_RDONLY | O_DIRECTORY);
		assert_true(lock >= 0);
		assert_int_equal(flock(lock, LOCK_EX), 0);
		pid_t child = start_claim(lock);
		usleep(30000); // it waits for the decision
		assert_int_equal(flock(lock, LOCK_UN), 0);
		usleep(30000); // it has looked again
		assert_int_equal(flock(lock, LOCK_SH), 0);
		status = wait_claim(child);
		close(lock);
	}
	assert_int_equal(status, -EBUSY);
	assert_int_equal(wait_claim(start_claim(-1)), 0);
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
	assert_false(tare_nested_take(folder, heard, sizeof heard));
	unsetenv("TARE_RECORD");
	tare_nested_tell("/t/nobody.tare");
	assert_false(tare_nested_take(folder, heard, sizeof heard));
	setenv("TARE_RECORD", folder, 1);
	tare_nested_tell("/t/first-of-two.tare");
	tare_nested_tell("/t/b.tare");
	unsetenv("TARE_RECORD");
	assert_true(tare_nested_take(folder, heard, sizeof heard));
	assert_string_equal(heard, "/t/b.tare");
	assert_false(tare_nested_take(folder, heard, sizeof heard));
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
	snprintf(text, sizeof text,
	         "{\"format\": \"tare.record/1\",\n  \"end_raw_ns\": null,\n  \"job\": \"%s\"}",
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
	put_text("job.tare/record.json",
	         "{\"format\": \"tare.record/1\", \"end_raw_ns\": 5, \"job\": \"12_7\"}");
	assert_int_equal(tare_record_folder_claim(&claim, &third, &error), -EEXIST);
	unsetenv("PMIX_NAMESPACE");
}

static void a_job_is_known_by_what_its_launcher_says(void **state)
{
	static const struct {
		const char *set[3][2], *job;
	} rows[] = {
		{ { { "SLURM_STEP_NUM_TASKS", "2" },
		    { "SLURM_JOB_ID", "77" },
		    { "SLURM_STEP_ID", "3" } },
		  "77.3" },
		{ { { "SLURM_STEP_NUM_TASKS", "1" },
		    { "SLURM_JOB_ID", "77" },
		    { "SLURM_STEP_ID", "3" } },
		  "" },
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_folder_is_named_after_the_output_or_the_program),
		cmocka_unit_test(network_file_systems_are_known_by_their_number),
		IN_A_FOLDER(what_was_there_decides),
		IN_A_FOLDER(a_trace_is_replaced_when_the_program_runs_and_nothing_else),
		IN_A_FOLDER(a_folder_is_one_recordings_until_it_ends),
		IN_A_FOLDER(a_recording_that_has_just_begun_is_not_mistaken_for_a_killed_one),
		IN_A_FOLDER(leavings_of_a_killed_start_are_no_trace),
		IN_A_FOLDER(a_recording_inside_another_leaves_word_once),
		IN_A_FOLDER(no_room_is_said_before_the_program_starts),
		IN_A_FOLDER(ranks_of_one_job_join_and_others_do_not),
		IN_A_FOLDER(a_job_is_known_by_what_its_launcher_says),
		IN_A_FOLDER(what_is_recorded_locally_is_moved),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
