// SPDX-License-Identifier: Apache-2.0
// What `matmul` needs before it measures: matrices, kernels, libraries; and the cells that stand
// for one thing done once.
#include "measure/matmul/internal.h"

#include "backend/call.h"
#include "backend/kernels.h"
#include "base/units.h"
#include "measure/host/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

// Of the first product of a rung, or less where all sizes asked for are smaller.
#define FIRST_N 8u
// A vendor's library may compile for minutes at its first call. It is not called where the other
// rungs have taken longer than the whole budget already, and than this.
#define SET_UP_NS INT64_C(5000000000)

// ---- memory

static uint64_t fact_count(const struct matmul *matmul, enum tare_fact_id id)
{
	const struct tare_facts *facts = matmul->run->facts;

	return facts && facts->fact[id].present ? facts->fact[id].count : 0;
}

static bool lives_in_host_memory(const struct matmul *matmul)
{
	const struct tare_facts *facts = matmul->run->facts;

	return fact_count(matmul, TARE_FACT_UNIFIED) ||
	       (facts && tare_facts_type(facts) == TARE_DEVICE_CPU);
}

// Whether matrices of n fit; else why not. A quarter of all memory stays free.
static bool fits(const struct matmul *matmul, uint32_t n, char *why, size_t size)
{
	uint64_t bytes = matmul_bytes(n), total = fact_count(matmul, TARE_FACT_MEMORY);
	uint64_t most = fact_count(matmul, TARE_FACT_MEMORY_MAX_ALLOCATION);
	char text[TARE_UNIT_TEXT], there[TARE_UNIT_TEXT];

	tare_format_bytes(bytes, text);
	if (most && bytes > most) {
		snprintf(why, size, "one matrix takes %s, the device allocates %s at most", text,
		         tare_format_bytes(most, there));
		return false;
	}
	if (total && MATMUL_MATRICES * bytes > total / 4 * 3) {
		snprintf(why, size,
		         "three matrices of %s do not fit into three quarters of the device's %s",
		         text, tare_format_bytes(total, there));
		return false;
	}
	if (matmul->run->simulated)
		return true;
	struct tare_host_memory memory = tare_host_memory_free("");
	uint64_t matrices = lives_in_host_memory(matmul) ? 2 * MATMUL_MATRICES : MATMUL_MATRICES;
	// The reference of a large product takes about one more.
	if (memory.known && (matrices + 1) * bytes > memory.bytes / 4 * 3) {
		snprintf(why, size,
		         "matrices of %s each do not fit into three quarters of the host's free %s",
		         text, tare_format_bytes(memory.bytes, there));
		return false;
	}
	return true;
}

static int open_host(struct matmul *matmul, uint64_t bytes, struct tare_error *error)
{
	enum tare_memory_kind kind = TARE_MEMORY_PINNED;
	int status = 0;

	for (int i = 0; status == 0 && i < MATMUL_MATRICES; i++) {
		status =
		    tare_memory_create(matmul->run->device, kind, bytes, &matmul->host[i], error);
		if (status == 0 && !matmul->host[i]->host)
			status = tare_fail(error, ENOTSUP, "the host may not touch pinned memory");
		if (i == 0 && kind == TARE_MEMORY_PINNED &&
		    (status == -ENOTSUP || status == -ENOSYS || status == -EINVAL)) {
			tare_memory_free(matmul->host[0]);
			matmul->host[0] = NULL;
			kind = TARE_MEMORY_PAGEABLE;
			status = 0;
			i--;
		}
	}
	matmul->pinned = kind == TARE_MEMORY_PINNED;
	return status;
}

static void close_host(struct matmul *matmul)
{
	for (int i = 0; i < MATMUL_MATRICES; i++) {
		tare_memory_free(matmul->host[i]);
		tare_memory_free(matmul->rounded[i]);
		matmul->host[i] = matmul->rounded[i] = NULL;
	}
}

static void fill_random(struct matmul *matmul, struct tare_memory *memory, uint64_t salt)
{
	struct tare_random random = { .state = matmul->run->seed ^ salt };
	float *at = memory->host;

	for (uint64_t i = 0; i < memory->bytes / sizeof *at; i++)
		at[i] = (float)(tare_random_next(&random) >> 40) * 0x1p-23f - 1;
}

// Takes the largest size off the list, with cells that say why.
static void drop_largest(struct matmul *matmul, const char *why)
{
	uint32_t n = matmul->n[--matmul->n_count];

	for (int rung = 0; rung < TARE_RUNG_COUNT; rung++)
		if (matmul->rungs >> rung & 1)
			matmul_add_absent(matmul, (enum tare_rung)rung, n, TARE_ABSENT_OTHER, why);
}

int matmul_open_matrices(struct matmul *matmul, struct tare_error *error)
{
	struct tare_error said = { 0 };
	char why[320] = "";
	int status = -ENOMEM;

	while (matmul->n_count) {
		uint32_t n = matmul->n[matmul->n_count - 1];
		status = -ENOMEM;
		if (fits(matmul, n, why, sizeof why)) {
			status = open_host(matmul, matmul_bytes(n), &said);
			if (status != -ENOMEM)
				break;
			close_host(matmul);
			snprintf(why, sizeof why, "%.300s", said.message);
		}
		if (matmul->n_count == 1)
			return tare_fail(error, ENOMEM, "no room for matrices of %u x %u: %s", n, n,
			                 why);
		drop_largest(matmul, why);
	}
	if (status < 0) {
		if (error)
			*error = said;
		return status;
	}
	fill_random(matmul, matmul->host[MATMUL_A], UINT64_C(0x6d61740000000061));
	fill_random(matmul, matmul->host[MATMUL_B], UINT64_C(0x6d61740000000062));
	return 0;
}

// ---- rungs

static void refuse(struct matmul *matmul, enum tare_rung rung, const char *why)
{
	snprintf(matmul->no_rung[rung], sizeof matmul->no_rung[rung], "%.310s", why);
}

// Whether the device's work-groups and local memory are large enough.
static void check_limits(struct matmul *matmul, enum tare_rung rung)
{
	const struct matmul_rung *row = &matmul_rungs[rung];
	struct tare_kernel_facts facts = { .max_group_size = -1 };
	uint64_t group = (uint64_t)row->group[0] * row->group[1];
	uint64_t most = fact_count(matmul, TARE_FACT_WORK_GROUP);
	uint64_t local = fact_count(matmul, TARE_FACT_LOCAL_MEMORY);
	char why[200], needed[TARE_UNIT_TEXT], there[TARE_UNIT_TEXT];

	if (tare_kernel_facts(matmul->kernels[rung], &facts, NULL) == 0 &&
	    facts.max_group_size > 0 && (most == 0 || (uint64_t)facts.max_group_size < most))
		most = (uint64_t)facts.max_group_size;
	if (most && group > most) {
		snprintf(why, sizeof why,
		         "needs work-groups of %llu, the device takes %llu at most",
		         (unsigned long long)group, (unsigned long long)most);
		refuse(matmul, rung, why);
	} else if (local && row->local_bytes > local) {
		snprintf(why, sizeof why, "needs %s of local memory, the device has %s",
		         tare_format_bytes(row->local_bytes, needed),
		         tare_format_bytes(local, there));
		refuse(matmul, rung, why);
	}
}

static int build_rung(struct matmul *matmul, enum tare_rung rung, bool first,
                      struct tare_error *error)
{
	const struct matmul_rung *row = &matmul_rungs[rung];
	struct tare_error why = { 0 };
	struct tare_host_time begin = tare_run_now(matmul->run);
	int status = tare_kernel_build(matmul->run->device, row->module, row->entry,
	                               &matmul->modules[rung], &matmul->kernels[rung], NULL, &why);
	int64_t ns = tare_host_elapsed_ns(begin, tare_run_now(matmul->run));

	if (tare_device_is_gone(status) || status == -ENOMEM || status == -EINTR) {
		if (error)
			*error = why;
		return status;
	}
	// Its module has no such kernel where the language knows no sub-groups.
	if (status < 0 && rung == TARE_RUNG_SUB_GROUPS && !matmul->run->simulated)
		tare_error_prefix(&why, "needs sub-groups (of OpenCL cl_khr_subgroups or "
		                        "cl_intel_subgroups)");
	if (status < 0) {
		refuse(matmul, rung, why.message);
		return 0;
	}
	check_limits(matmul, rung);
	matmul_add_once(
	    matmul, rung, 0, TARE_PART_BUILD, ns,
	    rung == TARE_RUNG_SUB_GROUPS
	        ? "host time to build a module of this kernel alone, once: a driver that "
	          "keeps builds of earlier runs is faster, and some compile again at "
	          "the first launch"
	    : first ? "host time to build the module with all of tare's rungs and take "
	              "this kernel, once: a driver that keeps builds of earlier runs "
	              "is faster, and some compile again at the first launch"
	            : "the same module built again for this kernel, once; the "
	              "driver may have kept the build before");
	return 0;
}

// The first product of a device's rung, a small one: whether it works here at all.
static int launch_first(struct matmul *matmul, enum tare_rung rung, struct tare_error *error)
{
	uint32_t n = matmul->n[0] < FIRST_N ? matmul->n[0] : FIRST_N;
	struct matmul_product product = { .matmul = matmul, .rung = rung, .n = n };
	struct tare_error why = { 0 };
	int64_t ns = 0;
	int status = matmul_try_device(&product, false, &ns, &why);

	if (tare_device_is_gone(status) || status == -EINTR) {
		if (error)
			*error = why;
		return status;
	}
	if (status < 0) {
		refuse(matmul, rung, why.message);
		return 0;
	}
	matmul_add_once(matmul, rung, 0, TARE_PART_FIRST_LAUNCH, ns,
	                "host time of the first product, a small one, from its launch to the "
	                "return of finish, once: some drivers compile or load only now");
	return 0;
}

// The library comes last, so that this knows what the others took.
static void refuse_slow_library(struct matmul *matmul, enum tare_rung rung,
                                struct tare_host_time begin)
{
	int64_t budget_ns = matmul->run->budget_ns;
	int64_t ns = tare_host_elapsed_ns(begin, tare_run_now(matmul->run));
	char why[200], taken[TARE_UNIT_TEXT];

	if (ns <= (budget_ns > SET_UP_NS ? budget_ns : SET_UP_NS))
		return;
	snprintf(why, sizeof why,
	         "left out: building the other kernels took %s s, longer than the budget; "
	         "--rungs %s measures it alone",
	         tare_format_significant((double)ns * 1e-9, 2, taken), tare_rung_name(rung));
	refuse(matmul, rung, why);
	matmul->no_rung_as[rung] = TARE_ABSENT_NO_TIME;
}

// The rung of squares is not built for sizes that are none for it: plan.c says of each why.
static bool has_a_size(const struct matmul *matmul, enum tare_rung rung)
{
	uint64_t cache = matmul_cache_bytes(matmul);
	uint32_t tile = matmul_rungs[rung].tile;

	for (size_t i = 0; rung == TARE_RUNG_CACHED && i < matmul->n_count; i++) {
		uint32_t square = matmul_square(cache, matmul->n[i]);
		if (square >= 2 && square < (matmul->n[i] + tile - 1) / tile)
			return true;
	}
	return rung != TARE_RUNG_CACHED;
}

int matmul_open_rungs(struct matmul *matmul, struct tare_error *error)
{
	struct tare_host_time begin = tare_run_now(matmul->run);
	struct tare_error why = { 0 };
	bool first = true;
	int status = 0;

	for (int i = 0; status == 0 && i < TARE_RUNG_COUNT; i++) {
		enum tare_rung rung = (enum tare_rung)i;
		if (!(matmul->rungs >> i & 1))
			continue;
		if (tare_run_interrupted(matmul->run))
			return tare_fail(error, EINTR, "interrupted");
		matmul_say(matmul, "building", rung, 0);
		if (matmul_on_host(rung) && matmul->run->simulated &&
		    !(rung == TARE_RUNG_SEQUENTIAL && matmul->run->device->host_rate > 0))
			refuse(matmul, rung, "virtual time: no figure of this machine may enter");
		else if (rung == TARE_RUNG_HOST_BLAS && !matmul->run->simulated &&
		         tare_host_blas_open(&matmul->blas, &why) < 0)
			refuse(matmul, rung, why.message);
		else if (rung == TARE_RUNG_CACHED && matmul_cache_bytes(matmul) == 0)
			refuse(matmul, rung,
			       "the device does not tell the size of its shared cache");
		else if (!has_a_size(matmul, rung))
			continue;
		else if (matmul_rungs[rung].entry) {
			status = build_rung(matmul, rung, first, error);
			first &= rung == TARE_RUNG_SUB_GROUPS;
		} else if (matmul_by_library(rung)) {
			refuse_slow_library(matmul, rung, begin);
		}
		if (status == 0 && !matmul_on_host(rung) && !matmul->no_rung[rung][0])
			status = launch_first(matmul, rung, error);
	}
	return status;
}

void matmul_close(struct matmul *matmul)
{
	for (int i = 0; i < TARE_RUNG_COUNT; i++) {
		tare_kernel_free(matmul->kernels[i]);
		tare_module_free(matmul->modules[i]);
	}
	for (size_t i = 0; i < TARE_BLAS_PRECISION_COUNT * TARE_MATMUL_SIZES; i++)
		matmul_reference_free(
		    &matmul->references[i / TARE_MATMUL_SIZES][i % TARE_MATMUL_SIZES]);
	tare_host_blas_close(matmul->blas);
	close_host(matmul);
}
