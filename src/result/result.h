// SPDX-License-Identifier: Apache-2.0
// The result document: what every measuring command yields and every writer reads. Its JSON form
// is tare.result/1 (result/schema/result.schema.json). Plain data: whoever holds the document may
// read it; strings belong to the document.
//
// Whoever builds a document checks nothing on the way. A builder without memory marks what it was
// building as failed; a builder of what has failed does nothing; one that returns a pointer then
// returns a spare, which takes everything and is shown nowhere. tare_result_status tells at the
// end, and no writer writes a document that has failed.
#pragma once
#include "base/error.h"
#include "model/fact.h"
#include "model/statistics/clock_fit.h"
#include "model/statistics/statistics.h"
#include "model/telemetry.h"
#include "result/kernels.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TARE_RESULT_SCHEMA "tare.result/1"

// A name with a text or a whole number. Cells, parameters and host facts are lists of these.
struct tare_label {
	char *name;
	char *text; // NULL when it is a number
	int64_t number;
};

struct tare_labels {
	struct tare_label *at;
	size_t count;
	bool failed; // memory ran out: some are missing
};

enum tare_verified {
	TARE_NOT_VERIFIABLE, // nothing to verify: a launch of an empty kernel
	TARE_VERIFIED,
	TARE_WRONG, // the destination did not hold what was sent
};

// The same figure as a rate: `work` per sample over the time. What is a bound of the time from
// above is one of the rate from below: min comes from the longest sample, p95 is the rate that 95 %
// of the samples reached. NaN where the time is unknown or not above 0.
struct tare_rate {
	bool present;
	double work; // of one sample: bytes
	char *unit;  // "GB/s" (10^9)
	double min, median, p95, ci_low, ci_high;
};

// Why a cell has no figure, as far as code has to know; the sentence is in `absent`. Of a live run:
// documents do not hold it.
enum tare_absence {
	TARE_ABSENT_OTHER,
	TARE_ABSENT_NO_TURN,     // the budget ran out before its turn
	TARE_ABSENT_NO_TIME,     // left out from the beginning: the budget is too short for it
	TARE_ABSENT_INTERRUPTED, // before the first sample
};

struct tare_cell {
	struct tare_labels labels; // line, bytes, ...: what tells this cell from its neighbours
	char *quantity;            // "time", "residual", "bandwidth"
	char *unit;                // of samples and summary: "ns", "ps"
	char *source;              // "device", "host" or "model"
	char *method;              // how it was measured, one sentence; may be NULL
	int64_t *samples;          // raw, in the order in which they were taken
	struct tare_summary summary;
	struct tare_rate rate;
	bool converged;
	enum tare_verified verified;
	char *absent; // why there is no figure; NULL when there is one
	enum tare_absence absence;
	bool failed; // memory ran out while it was filled in
};

struct tare_axis {
	char *title;
	char *unit;
	bool logarithmic;
};

struct tare_point {
	double x, y;
	double low, high; // interval; NaN when there is none
};

struct tare_plot_series {
	char *name;
	struct tare_point *points;
	size_t count;
	bool failed; // memory ran out: points are missing
};

// TIMELINE: a series is a lane (an engine, a stage), a point is a bar from x = low to high, and its
// y is the number of what ran (a chunk, from 0); the y axis has no unit.
enum tare_plot_kind { TARE_PLOT_LINE, TARE_PLOT_BAR, TARE_PLOT_TIMELINE };

struct tare_plot {
	char *id; // "bandwidth-small"
	char *title;
	char *note; // one sentence under the chart; may be NULL
	enum tare_plot_kind kind;
	struct tare_axis x, y;
	struct tare_plot_series *series;
	size_t count;
	bool failed;                   // memory ran out while it was filled in
	struct tare_plot_series spare; // what tare_plot_add_series returns then
};

struct tare_warning {
	char *id;      // stable word: "not-converged"
	char *message; // what is so
	char *action;  // what to do about it
	bool options;  // the action begins with options for the command; not in documents
};

// What follows from the figures, in plain words: the verdict of `overlap`.
struct tare_conclusion {
	char *id;   // stable word: "worth-it"
	char *text; // one or two sentences
};

// One physical device as one or several backends see it.
struct tare_device_entry {
	char *backend; // "opencl"
	char *backend_title;
	uint32_t index;  // within the backend: opencl:0
	uint32_t number; // the same physical device has the same number under every backend
	char *same_by;   // "UUID", "PCI address": why it is one with an earlier entry; or NULL
	struct tare_facts facts;
	struct tare_engine *engines;
	size_t engine_count;
	struct tare_kernel_list *kernels; // of a file built for it; owned; NULL: nobody asked
	bool failed;                      // memory ran out while it was filled in
};

// A backend that gave no device, and why.
struct tare_backend_absence {
	char *backend;
	char *reason;
	char *action; // what to install or set; may be NULL
};

struct tare_clock_quality {
	bool present; // a device clock was used at all
	struct tare_clock_rate rate;
	bool fitted;
	struct tare_clock_fit fit;
	int64_t floor_ns; // back-to-back stamps; -1 unknown
	char *note;       // "device offers no clock pairs; ..." ; may be NULL
};

// What the device did while it was measured.
struct tare_telemetry_section {
	bool present; // a measurement was watched, or could not be
	char *absent; // why nothing is known; NULL when something is
	struct tare_telemetry_summary summary;
	struct tare_telemetry *readings; // raw, in the order in which they were taken; not in JSON
	size_t count;
	bool failed; // memory ran out: readings are missing. Of its own: a thread adds them
};

struct tare_result {
	char *version;           // of tare
	char *written_at;        // RFC 3339 UTC, at first the time of tare_result_new;
	                         // "1970-01-01T00:00:00Z" on the simulated device
	char *command;           // "bandwidth"
	struct tare_labels host; // hostname is not among them: results get shared
	struct tare_labels parameters;
	struct tare_device_entry *devices; // all for `devices`, else those that were asked for
	size_t device_count;
	struct tare_backend_absence *absences;
	size_t absence_count;
	struct tare_clock_quality clock;
	struct tare_telemetry_section telemetry;
	struct tare_labels
	    kernel_timestamp; // raw stamps of one launch (measure/core/raw_stamps.h),
	                      // where the API has both counters; else empty
	struct tare_cell *cells;
	size_t cell_count;
	struct tare_plot *plots;
	size_t plot_count;
	struct tare_warning *warnings;
	size_t warning_count;
	struct tare_conclusion *conclusions;
	size_t conclusion_count;
	// The documents of a command that runs others (`checkup`), or of the devices that it
	// measured one after the other, each complete in itself; its own cells, plots and warnings
	// are then about the whole. Owned. Parts have no parts.
	struct tare_result **parts;
	size_t part_count;
	bool interrupted; // the user stopped it; what was measured is here
	bool failed;      // memory ran out while it was built; tare_result_status looks deeper
	// What the adding functions return when they fail.
	struct tare_cell spare_cell;
	struct tare_plot spare_plot;
	struct tare_device_entry spare_device;
};

// A new document for `command`. NULL when memory ran out. The adding functions below return a
// pointer that is valid until the next addition of the same kind, and never NULL.
struct tare_result *tare_result_new(const char *command);
void tare_result_free(struct tare_result *result);

// 0, or -ENOMEM: memory ran out while the document, a part of it, a cell or a plot was built, and
// it is not whole.
int tare_result_status(const struct tare_result *result);

// Marks a document as failed: its builder had no memory of its own.
void tare_result_fail(struct tare_result *result);

// Replaces *field, a string of the document or of its clock or telemetry, by a copy of text (NULL
// allowed). Returns 0 or -ENOMEM.
int tare_result_set_text(struct tare_result *result, char **field, const char *text);

// Gives the document of a simulated device its date: the same on every machine and day.
void tare_result_set_timeless(struct tare_result *result);

// Whether it is of one command on several devices: its parts are of the same command, one a device.
bool tare_result_is_several(const struct tare_result *result);

// Sets or replaces; return 0 or -ENOMEM, which the list remembers.
int tare_labels_set_text(struct tare_labels *labels, const char *name, const char *text);
int tare_labels_set_number(struct tare_labels *labels, const char *name, int64_t number);
// Sets all that `from` has in `labels` too.
void tare_labels_copy(struct tare_labels *labels, const struct tare_labels *from);
// Releases them and leaves none.
void tare_labels_clear(struct tare_labels *labels);
// The label of that name, or NULL.
const struct tare_label *tare_labels_find(const struct tare_labels *labels, const char *name);

// A cell's label as text ("" when it has none of that name, or a number) and as a number (-1 when
// it has none, or a text), and whether it is this text.
const char *tare_cell_text(const struct tare_cell *cell, const char *name);
int64_t tare_cell_number(const struct tare_cell *cell, const char *name);
bool tare_cell_has_text(const struct tare_cell *cell, const char *name, const char *text);

struct tare_cell *tare_result_add_cell(struct tare_result *result, const char *quantity,
                                       const char *unit, const char *source);
// What was measured, and how: one sentence, copied.
int tare_cell_set_method(struct tare_cell *cell, const char *method);
// Takes over the samples of a finished series and its summary, which is made anew when samples came
// after the last decision; verdict says converged or not. Returns 0 or -ENOMEM (the series keeps
// its samples).
int tare_cell_take_series(struct tare_cell *cell, struct tare_series *series,
                          enum tare_verdict verdict);
// Adds the rate view: `work` (bytes) per sample, printed in `unit` = `scale` per second (1e9 for
// GB/s). Call after tare_cell_take_series. cell->unit must be "ns" or "ps".
int tare_cell_set_rate(struct tare_cell *cell, double work, const char *unit, double scale);
// Bounds of a cell's rate, in its unit, for telling two figures apart: the interval of the median,
// or of at least three samples too few for one their whole range. False: neither.
bool tare_cell_rate_bounds(const struct tare_cell *cell, double *low, double *high);
// The wider half of a time's interval over its median, as it is printed after ±; NaN: there is no
// interval, or the median is not above 0.
double tare_cell_spread(const struct tare_cell *cell);
// A figure of source "model": a value with an interval and no samples.
int tare_cell_set_model(struct tare_cell *cell, double value, double low, double high);
// Drops what figure there is and records why there is none. Returns 0 or -ENOMEM.
int tare_cell_set_absent(struct tare_cell *cell, const char *reason_format, ...)
    __attribute__((format(printf, 2, 3)));
// The same, and for code which reason it is.
int tare_cell_set_absent_as(struct tare_cell *cell, enum tare_absence absence,
                            const char *reason_format, ...) __attribute__((format(printf, 3, 4)));
// Nanoseconds in one unit of a cell of time, which is "ns" or "ps".
double tare_cell_unit_ns(const struct tare_cell *cell);
// Whether its figure is computed, not measured.
bool tare_cell_is_model(const struct tare_cell *cell);
// Sorts the cells: by the label `line` in order of first appearance, by the number `bytes`, by the
// other labels in the alphabet of their names (a cell without one comes first, numbers before
// texts), by quantity, by source (device, host, model); ties keep their order. The order of
// measuring is random, that of printing is not. Without memory to sort it is left as it is.
void tare_result_sort_cells(struct tare_result *result);

struct tare_plot *tare_result_add_plot(struct tare_result *result, const char *id,
                                       const char *title, enum tare_plot_kind kind);
int tare_plot_axes(struct tare_plot *plot, const char *x_title, const char *x_unit, bool x_log,
                   const char *y_title, const char *y_unit, bool y_log);
// The sentence under the chart, copied.
int tare_plot_set_note(struct tare_plot *plot, const char *note);
struct tare_plot_series *tare_plot_add_series(struct tare_plot *plot, const char *name);
int tare_plot_series_add(struct tare_plot_series *series, struct tare_point point);

int tare_result_warn(struct tare_result *result, const char *id, const char *action,
                     const char *message_format, ...) __attribute__((format(printf, 4, 5)));

// The same, but a warning of that id that is there already gets the new words.
int tare_result_warn_anew(struct tare_result *result, const char *id, const char *action,
                          const char *message_format, ...) __attribute__((format(printf, 4, 5)));

// The action of the latest warning of that id begins with options (`--budget 90 would do`): who
// shows it beside those of other commands or devices has to say which command takes them.
void tare_result_action_is_options(struct tare_result *result, const char *id);
// Puts the command before such actions: "--budget 90 would do" is advice for it alone.
void tare_result_name_options(struct tare_result *result, const char *command);

// Takes a warning back; none of that id is fine.
void tare_result_unwarn(struct tare_result *result, const char *id);

// Appends one reading of the device's telemetry. Returns 0 or -ENOMEM.
int tare_result_add_reading(struct tare_result *result, const struct tare_telemetry *reading);

int tare_result_conclude(struct tare_result *result, const char *id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Appends a part, which then belongs to the document. Returns 0, or -ENOMEM (it is freed).
int tare_result_add_part(struct tare_result *result, struct tare_result *part);

struct tare_device_entry *tare_result_add_device(struct tare_result *result);
// Copies the names of the backend and why the device is one with an earlier entry (may be NULL).
int tare_device_entry_name(struct tare_device_entry *device, const char *backend,
                           const char *backend_title, const char *same_by);
// Replaces its engines by copies of these.
int tare_device_entry_set_engines(struct tare_device_entry *device,
                                  const struct tare_engine *engines, size_t count);
int tare_result_add_absence(struct tare_result *result, const char *backend, const char *reason,
                            const char *action);

// Replaces *field (one of the document's strings) by a copy of text (NULL allowed).
int tare_set_string(char **field, const char *text);
