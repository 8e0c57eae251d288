// SPDX-License-Identifier: Apache-2.0
// Copies on random timers: of any rate and width, fast or slow, wrapping where they like, often
// several times within one copy. What tare tells of them is the script's within a tick of each
// counter, or it is refused with the reason; it is refused only where the counter cannot tell.
//   TARE_TEST_SEED=N   takes other timers
#include "base/random.h"
#include "levelzero_rig.h"
#include "measure/core/bench.h"
#include "measure/core/probe.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#define CASES 40
#define AT_ONCE 8
#define COPIES 4
#define READINGS 6
#define SKIPPED 77 // there is no loader

#define holds(condition, ...)                                                                      \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "line %d: not so: %s: ", __LINE__, #condition);            \
			fprintf(stderr, __VA_ARGS__);                                              \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

struct timers {
	uint64_t hz;
	uint32_t kernel_bits, global_bits;
	int ppm;
	uint64_t epoch;
	uint64_t bytes[COPIES]; // a copy takes 3 us and 1 us a byte
	char script[800];
};

static uint64_t some(struct tare_random *random, uint64_t low, uint64_t high)
{
	return low + tare_random_below(random, high - low + 1);
}

// Mostly what counters have, else anything that one could have.
static uint32_t some_bits(struct tare_random *random)
{
	static const uint32_t usual[] = { 32, 36, 56, 64 };

	return tare_random_below(random, 3) == 0 ? usual[tare_random_below(random, 4)]
	                                         : (uint32_t)some(random, 1, 64);
}

static uint64_t some_hz(struct tare_random *random)
{
	static const uint64_t usual[] = { 32768,    12000000, 12000048,  12048193,
		                          12500000, 19200000, 19230769,  24576000,
		                          25000000, 38400000, 1000000000 };

	return tare_random_below(random, 3) == 0
	           ? some(random, 1000, UINT64_C(1) << some(random, 11, 32))
	           : usual[tare_random_below(random, sizeof usual / sizeof *usual)];
}

static struct timers some_timers(uint64_t seed)
{
	struct tare_random random = { seed };
	struct timers made = {
		.hz = some_hz(&random),
		.kernel_bits = some_bits(&random),
		.global_bits = some_bits(&random),
		.ppm = (int)some(&random, 0, 1000) - 500,
		.epoch = tare_random_next(&random),
	};
	const struct tare_clock_rate rate = { made.hz, 1, made.kernel_bits, 1 };

	// About to wrap in every second case: within 20 ms, when the copies are at work.
	if (tare_random_below(&random, 2) == 0)
		made.epoch = tare_ticks_mask(&rate) - some(&random, 0, made.hz / 50);
	// Numbers of a script have 18 digits.
	made.epoch %= UINT64_C(1000000000000000000);
	for (int i = 0; i < COPIES; i++)
		made.bytes[i] = some(&random, 1, tare_random_below(&random, 2) ? 50 : 6000);
	snprintf(made.script, sizeof made.script,
	         "tare-device 1\n"
	         "device name \"clocks\" memory 1 GiB\n"
	         "timer rate %llu Hz bits %u drift %d ppm epoch %llu ticks\n"
	         "pair-timer rate %llu Hz bits %u drift %d ppm epoch %llu ticks\n"
	         "engine compute runs kernel,to-device,to-host,local\n"
	         "copy pinned device fixed 3 us rate 1 MB/s\n",
	         (unsigned long long)made.hz, made.kernel_bits, made.ppm,
	         (unsigned long long)made.epoch, (unsigned long long)made.hz, made.global_bits,
	         made.ppm, (unsigned long long)made.epoch);
	return made;
}

// What the counter says of a duration of the model.
static int64_t counted_ps(const struct timers *timers, int64_t ps)
{
	return ps + (int64_t)((__int128)ps * timers->ppm / 1000000);
}

static int64_t truth_ps(const struct timers *timers, int first, int last)
{
	int64_t ps = 0;

	for (int i = first; i <= last; i++)
		ps += 3000000 + (int64_t)timers->bytes[i] * 1000000;
	return counted_ps(timers, ps);
}

static int64_t tick_ps(const struct timers *timers)
{
	return (int64_t)(UINT64_C(1000000000000) / timers->hz) + 1;
}

// Less than half a period: it must be told. More: it must not.
static bool may_be_told(const struct tare_clock_rate *rate, int64_t host_ns)
{
	double half_ticks = (double)(tare_ticks_mask(rate) >> 1) + 1;

	return rate->valid_bits == 64 ||
	       (double)host_ns * (double)rate->hz_numerator / 1e9 * 1.001 <= half_ticks;
}

static void use_script(const char *text)
{
	char path[] = "/tmp/tare-clocks-XXXXXX";
	int file = mkstemp(path);

	holds(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text), "%s\n", path);
	close(file);
	setenv("ZE_CPU_SCRIPT", path, 1);
	levelzero = tare_backend_find("levelzero");
	int status = levelzero->driver_open(NULL, &driver, &error);
	unlink(path);
	if (status == -ENOENT || status == -ENODEV)
		_exit(SKIPPED);
	must(status);
	must(levelzero->device_open(driver, 0, &device, &error));
}

static void check_span(const struct timers *timers, const struct tare_bench *bench,
                       struct tare_event *const *events, const int range[2], int64_t host_ns)
{
	int64_t ps = 0, truth = truth_ps(timers, range[0], range[1]);
	int status =
	    tare_bench_span_ps(bench, events[range[0]], events[range[1]], host_ns, &ps, &error);
	bool tellable = may_be_told(&bench->rate, host_ns);

	// A copy whose stamps all happen to be 0 looks as if the driver had written none.
	if (status == -ENODATA && strstr(error.message, "wrote no stamps"))
		return;
	holds(tellable == (status == 0), "%d after %lld ns: %s\n", status, (long long)host_ns,
	      status < 0 ? error.message : "");
	if (status < 0) {
		holds(status == -EOVERFLOW && strstr(error.message, "half its period"), "%s\n",
		      error.message);
		return;
	}
	holds(llabs(ps - truth) <= tick_ps(timers), "%lld ps, not %lld +- %lld\n", (long long)ps,
	      (long long)truth, (long long)tick_ps(timers));
}

// The copies between two written timestamps of the other counter.
static void check_written(const struct timers *timers, const uint64_t *written, int64_t host_ns)
{
	int64_t truth = truth_ps(timers, 0, COPIES - 1), ps;
	struct tare_clock_rate rate;

	must(tare_clock_rate(device, TARE_CLOCK_PAIRS, &rate, &error));
	holds(rate.valid_bits == timers->global_bits, "%u\n", rate.valid_bits);
	if (tare_clock_can_tell(&rate, host_ns, &error) < 0) {
		holds(!may_be_told(&rate, host_ns), "%s\n", error.message);
		return;
	}
	ps = tare_ticks_to_ps(&rate, tare_ticks_elapsed(&rate, (struct tare_ticks){ written[0] },
	                                                (struct tare_ticks){ written[1] }));
	holds(llabs(ps - truth) <= tick_ps(timers), "%lld ps, not %lld\n", (long long)ps,
	      (long long)truth);
}

// The drift, by readings some ms apart: right within the error that is told, or refused.
static void check_fit(const struct timers *timers)
{
	struct tare_clock_pair pairs[READINGS];
	struct tare_clock_rate rate;
	struct tare_clock_fit fit;

	must(tare_clock_rate(device, TARE_CLOCK_PAIRS, &rate, &error));
	for (int i = 0; i < READINGS; i++) {
		must(tare_clock_pair(device, &pairs[i], &error));
		tare_device_pause(device, MS / 2 << i);
	}
	if (tare_clock_fit(&rate, pairs, READINGS, &fit, &error) < 0) {
		holds(rate.valid_bits < 40 && strstr(error.message, "starts again every"), "%s\n",
		      error.message);
		return;
	}
	// By the host's clock a fast device's nanosecond is short.
	double off = fit.drift_ppm + timers->ppm / (1 + timers->ppm / 1e6);
	holds(off <= fit.drift_error_ppm && -off <= fit.drift_error_ppm, "%g +- %g ppm\n",
	      fit.drift_ppm, fit.drift_error_ppm);
}

static void run_case(const struct timers *timers)
{
	use_script(timers->script);
	struct tare_memory *host = NULL, *there = new_memory(TARE_MEMORY_DEVICE);
	struct tare_queue *queue = new_queue(TARE_QUEUE_IN_ORDER, 0, true);
	struct tare_event *events[COPIES];
	struct tare_bench bench = { .device = device };
	struct tare_gate *gate = NULL;

	must(tare_memory_create(device, TARE_MEMORY_PINNED, BYTES, &host, &error));
	must(tare_clock_rate(device, TARE_CLOCK_STAMPS, &bench.rate, &error));
	holds(bench.rate.hz_numerator == timers->hz && bench.rate.hz_denominator == 1 &&
	          bench.rate.valid_bits == timers->kernel_bits,
	      "%llu / %llu Hz\n", (unsigned long long)bench.rate.hz_numerator,
	      (unsigned long long)bench.rate.hz_denominator);
	struct tare_host_time begin = tare_device_now(device);
	must(tare_gate_shut(queue, &gate, &error));
	must(tare_append_clock(queue, (struct tare_span){ host, 0, 8 }, &error));
	for (int i = 0; i < COPIES; i++) {
		struct tare_operation one = copy(host, 64, there, 0, timers->bytes[i]);
		must(tare_append(queue, &one, &events[i], &error));
	}
	must(tare_append_clock(queue, (struct tare_span){ host, 8, 8 }, &error));
	must(tare_gate_open(gate, &error));
	must(tare_finish(queue, LIMIT, &error));
	int64_t host_ns = tare_host_elapsed_ns(begin, tare_device_now(device));
	for (int i = 0; i < COPIES; i++)
		check_span(timers, &bench, events, (const int[]){ i, i }, host_ns);
	check_span(timers, &bench, events, (const int[]){ 0, COPIES - 1 }, host_ns);
	check_written(timers, host->host, host_ns);
	check_fit(timers);
}

static pid_t start_case(uint64_t seed)
{
	struct timers timers = some_timers(seed);
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0) {
		alarm(60);
		run_case(&timers);
		_exit(0);
	}
	return child;
}

static void durations_are_the_scripts_or_refused(void **state)
{
	const char *given = getenv("TARE_TEST_SEED");
	uint64_t seed = given ? strtoull(given, NULL, 0) : 2026;
	pid_t children[AT_ONCE];
	int failed = 0;

	(void)state;
	for (int i = 0; i < CASES; i += AT_ONCE) {
		for (int k = 0; k < AT_ONCE; k++)
			children[k] = start_case(seed + (uint64_t)(i + k));
		for (int k = 0; k < AT_ONCE; k++) {
			int status = 1;
			if (children[k] > 0 && waitpid(children[k], &status, 0) == children[k] &&
			    (status == 0 || (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)))
				continue;
			failed++;
			print_error("TARE_TEST_SEED=%llu: status %d, under\n%s\n",
			            (unsigned long long)(seed + (uint64_t)(i + k)), status,
			            some_timers(seed + (uint64_t)(i + k)).script);
		}
	}
	assert_int_equal(failed, 0);
}

static ze_result_t ZE_APICALL no_list(ze_context_handle_t of, ze_device_handle_t on,
                                      const ze_command_queue_desc_t *wanted,
                                      ze_command_list_handle_t *list)
{
	(void)of, (void)on, (void)wanted, (void)list;
	return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
}

// What measures says so itself; the probe only must not use the queue that it does not have.
static void a_device_without_queues_can_be_probed(void **state)
{
	if (open_levelzero())
		skip_test();
	must(open_device(state));
	calls()->zeCommandListCreateImmediate = no_list;
	must(tare_probe(device, &error));
	close_device(state);
	close_levelzero(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations_are_the_scripts_or_refused),
		// Last: the children of the one above open the driver under scripts.
		cmocka_unit_test(a_device_without_queues_can_be_probed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
