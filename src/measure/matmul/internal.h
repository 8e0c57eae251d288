// SPDX-License-Identifier: Apache-2.0
// Shared by the files of `matmul`; nobody else's business.
#pragma once
#include "measure/core/bench.h"
#include "measure/core/blas.h"
#include "measure/core/precision.h"
#include "measure/core/telemetry.h"
#include "measure/matmul/check.h"
#include "measure/matmul/host_matmul.h"
#include "measure/matmul/matmul.h"

// What the loops of a rung do, for launching and for the model.
struct matmul_rung {
	const char *title;
	const char *module; // of kernels/; NULL: not ours
	const char *entry;  // of that module; NULL: not ours
	uint32_t group[2];  // work-items of a work-group
	uint32_t tile;      // elements of c in a group, each way
	// multiply-adds for each two floats read from global memory. Of sub-groups without what
	// they read of a, which goes by their size.
	uint32_t global_uses;
	// multiply-adds for each two floats read from local memory; 0: none used
	uint32_t local_uses;
	uint64_t local_bytes;
	// of the factors: FP32 but for some of the library's rungs
	enum tare_blas_precision precision;
};
extern const struct matmul_rung matmul_rungs[TARE_RUNG_COUNT];

static inline bool matmul_on_host(enum tare_rung rung)
{
	return rung == TARE_RUNG_SEQUENTIAL || rung == TARE_RUNG_HOST_BLAS;
}

static inline bool matmul_by_library(enum tare_rung rung)
{
	return rung >= TARE_RUNG_BLAS;
}
// Whether its factors have fewer bits than the other rungs': its time compares with theirs only
// for who can do with less.
static inline bool matmul_is_rounded(enum tare_rung rung)
{
	return rung > TARE_RUNG_BLAS;
}

enum { MATMUL_C, MATMUL_A, MATMUL_B, MATMUL_MATRICES };

struct matmul {
	struct tare_run *run;
	struct tare_bench bench;
	const struct tare_peaks *peaks;
	uint32_t n[TARE_MATMUL_SIZES]; // ascending
	size_t n_count;
	uint32_t rungs;
	bool untraced;                             // no kernels' times by the vendor's tracer
	struct tare_memory *host[MATMUL_MATRICES]; // at the largest n
	bool pinned;
	// The factors as the last rung took them, where that is not single precision; made when
	// first needed. [MATMUL_C] stays NULL.
	struct tare_memory *rounded[MATMUL_MATRICES];
	struct matmul_reference references[TARE_BLAS_PRECISION_COUNT][TARE_MATMUL_SIZES];
	struct tare_module *modules[TARE_RUNG_COUNT];
	struct tare_kernel *kernels[TARE_RUNG_COUNT];
	struct tare_host_blas *blas;
	char no_rung[TARE_RUNG_COUNT][320]; // why a rung is not there at all
	enum tare_absence no_rung_as[TARE_RUNG_COUNT];
	double tried_ns[TARE_RUNG_COUNT]; // one product of n = tried_n
	uint32_t tried_n[TARE_RUNG_COUNT];
	uint64_t kept_rank; // of the product whose raw stamps are kept
	char wrong[256];    // the first product that was, and where
	// While each product was sampled; readings 0: not told.
	struct tare_clock_range clocks[TARE_RUNG_COUNT][TARE_MATMUL_SIZES];
};

#define MATMUL_EVENTS 256

// One rung at one size.
struct matmul_product {
	struct matmul *matmul;
	enum tare_rung rung;
	uint32_t n;
	size_t size;     // index of n
	int64_t once_ns; // one product, as tried
	struct tare_memory *device[MATMUL_MATRICES];
	uint32_t batch;                           // kernels in a sample of the kernel's time
	struct tare_event *events[MATMUL_EVENTS]; // of some launches, in order
	uint32_t event_count;
	size_t mark; // of the clock's readings, when the measurement began
};

static inline double matmul_flop(uint32_t n)
{
	return 2.0 * n * n * n;
}
static inline uint64_t matmul_bytes(uint32_t n)
{
	return UINT64_C(4) * n * n;
}
// Of one of a rung's matrices on the device.
static inline uint64_t matmul_matrix_bytes(enum tare_rung rung, int matrix, uint32_t n)
{
	return matrix == MATMUL_C
	           ? matmul_bytes(n)
	           : (uint64_t)tare_precision_bytes(matmul_rungs[rung].precision) * n * n;
}

// Tiles of a side of the largest square of c that fits a shared cache of so many bytes, with the
// rows and columns that it is made of, in products of n; 0: not even one.
uint32_t matmul_square(uint64_t cache_bytes, uint32_t n);
// Bytes of the device's shared cache; 0: not known.
uint64_t matmul_cache_bytes(const struct matmul *matmul);

// ---- setup.c Lowers the list of sizes to what fits into memory (with a cell for what does
// not), opens the host's matrices and fills a and b with random numbers in [-1, 1). -ENOMEM: not
// even the smallest fits.
int matmul_open_matrices(struct matmul *matmul, struct tare_error *error);
// Builds every rung's kernel and launches it once, which is when some drivers compile (cells each);
// opens OpenBLAS. What is not there gets its reason.
int matmul_open_rungs(struct matmul *matmul, struct tare_error *error);
void matmul_close(struct matmul *matmul);
// A cell with the reason why a rung has no figure; n = 0: at any size.
void matmul_add_absent(struct matmul *matmul, enum tare_rung rung, uint32_t n,
                       enum tare_absence absence, const char *reason);
// A cell labelled with rung, n (0: none) and part.
struct tare_cell *matmul_add_cell(struct tare_result *result, enum tare_rung rung, uint32_t n,
                                  enum tare_part part, const char *quantity, const char *unit,
                                  const char *source);
// The same with a single sample of `ns`.
void matmul_add_once(struct matmul *matmul, enum tare_rung rung, uint32_t n, enum tare_part part,
                     int64_t ns, const char *method);

// ---- plan.c
// Tells how far it has come: "trying naive, n = 256"; n 0: none.
void matmul_say(struct matmul *matmul, const char *doing, enum tare_rung rung, uint32_t n);
// Tries every rung at every size once, smallest first, as long as products fit into the budget.
// products[] has room for all; *count: those to be measured.
int matmul_try_all(struct matmul *matmul, struct matmul_product *products, size_t *count,
                   struct tare_error *error);

// ---- device.c, host.c: each adds a measurement's figures and functions
void matmul_plan_device(struct matmul_product *product, struct tare_measurement *measurement);
void matmul_plan_host(struct matmul_product *product, struct tare_measurement *measurement);
// The device's memory of a product, with its factors in it; close it also after a failure.
int matmul_open_product(struct matmul_product *product, struct tare_error *error);
void matmul_close_product(struct matmul_product *product);
// One product on the timed queue, by one launch or by one call of the library.
int matmul_launch_once(struct matmul_product *product, struct tare_event **event,
                       struct tare_error *error);
// A figure labelled with the product and `part`.
struct tare_figure *matmul_figure(struct matmul_product *product,
                                  struct tare_measurement *measurement, enum tare_part part,
                                  const char *source, const char *method);
// Makes device memory, runs the product once within a limit, frees it. *ns: host time of the
// product alone. The allocation becomes a cell if add_cells.
int matmul_try_device(struct matmul_product *product, bool add_cells, int64_t *ns,
                      struct tare_error *error);
int matmul_try_host(struct matmul_product *product, int64_t *ns, struct tare_error *error);
// Host time of a launch of the first rung, from `count` of them in a row.
int matmul_time_launches(struct matmul_product *product, uint32_t count, int64_t *ns,
                         struct tare_error *error);
// ---- traced.c
// How many more measurements the kernels' own times may need, by the vendor's tracer.
size_t matmul_traceable(const struct matmul *matmul, const struct matmul_product *products,
                        size_t count);
// After everything that is timed: each kernel by the tracer, where there is one. Its figure becomes
// "kernel", and the one by the driver's stamps "kernel-stamps"; where it has none that one stays.
int matmul_trace(struct matmul *matmul, struct matmul_product *products, size_t count,
                 struct tare_error *error);
// ---- blas.c: the rungs of the vendor's library
// Makes sure that the host's factors are there in the product's precision: what copies in takes.
int matmul_round(struct matmul_product *product, struct tare_error *error);
// The host's memory of a matrix as the product's rung takes it.
struct tare_memory *matmul_host_matrix(const struct matmul_product *product, int matrix);
// Its spans of the device's memory.
struct tare_product matmul_library_product(const struct matmul_product *product);
// "The device's library": "cuBLAS 13.1.0", once one of its rungs has worked; else "".
const char *matmul_library_name(const struct matmul *matmul);
// The reference of the product's rounded factors. Returns 0 or -ENOMEM.
int matmul_make_reference(struct matmul_product *product, struct matmul_reference *reference);

// Compares the host's c with the reference of the product's size, which is made when first needed.
int matmul_verify(struct matmul_product *product, enum tare_verified *verified,
                  struct tare_error *error);

// ---- after measuring
// The figure of a product's part (source not "model"); NULL where there is none or it is absent.
const struct tare_cell *matmul_cell(const struct tare_result *result, enum tare_rung rung,
                                    uint32_t n, enum tare_part part);
// What stands for a rung's computing: "kernel", or the host's "total".
const struct tare_cell *matmul_kernel_cell(const struct tare_result *result, enum tare_rung rung,
                                           uint32_t n);
double matmul_cell_s(const struct tare_cell *cell);
// The value of a model cell; NaN where there is none.
double matmul_model(const struct tare_result *result, enum tare_rung rung, uint32_t n,
                    const char *what);
void matmul_add_models(struct matmul *matmul);
// A rung's share of its measured ceiling of arithmetic, each over its clock; NaN where one of the
// clocks is not known. size: the index of n.
double matmul_share_per_clock(const struct matmul *matmul, enum tare_rung rung, size_t size,
                              double share);
void matmul_add_plots(struct matmul *matmul);
void matmul_add_advice(struct matmul *matmul);

// Bytes that the loops of a rung ask of a level of memory for one product: what they would move if
// nothing nearer kept it. 0: that level is not used, or it is not known (a library).
enum matmul_level { MATMUL_MEMORY, MATMUL_CACHE, MATMUL_LOCAL, MATMUL_LEVELS };
const char *matmul_level_name(enum matmul_level level);
double matmul_required_bytes(enum tare_rung rung, uint32_t n, enum matmul_level level);
// The ceilings of a rung in FLOP/s, NaN where unknown.
struct matmul_roof {
	const char *name; // of the ceiling: "fp32"
	double flops;
};
// A ceiling of memory that a rung passes by more than this is none for it: what it asks for comes
// from nearer. Arithmetic comes from nowhere else: a rung that passes it is at it, and it was
// measured when the device was slower.
#define MATMUL_BROKEN 1.02
// What a rung's factors are bound by.
enum tare_ceiling matmul_compute_ceiling(enum tare_rung rung);
// The tightest measured ceiling that the rung has not broken at `achieved` FLOP/s; name NULL: none.
struct matmul_roof matmul_tightest(const struct tare_peaks *peaks, enum tare_rung rung, uint32_t n,
                                   double achieved);
