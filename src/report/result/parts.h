// SPDX-License-Identifier: Apache-2.0
// The parts of the text report, one a command. Internal to src/report.
#pragma once
#include "base/units.h"
#include "report/report.h"
#include "report/terminal/write.h"

// The tables of a document by its command, without the line of device and clock.
void tare_text_body(struct tare_text *text, const struct tare_result *result);
void tare_text_devices(struct tare_text *text, const struct tare_result *result);
// The kernels of `devices --kernel`, a table a device and API; `more`: after the device's own
// facts.
bool tare_text_has_kernels(const struct tare_result *result);
void tare_text_kernels(struct tare_text *text, const struct tare_result *result, bool more);
void tare_text_latency(struct tare_text *text, const struct tare_result *result);
void tare_text_bandwidth(struct tare_text *text, const struct tare_result *result);
void tare_text_peak(struct tare_text *text, const struct tare_result *result);
void tare_text_matmul(struct tare_text *text, const struct tare_result *result);
void tare_text_overlap(struct tare_text *text, const struct tare_result *result);
void tare_text_checkup(struct tare_text *text, const struct tare_result *result);
// A document of several devices (tare_result_is_several): heads, tables and ends of all.
void tare_text_several(struct tare_text *text, const struct tare_result *result);

// A rule with a name in it, between the parts of a document.
void tare_text_heading(struct tare_text *text, const char *name);
#define TARE_TEXT_LINK 96
// The link as it was found, and at most; "" where it is not known.
const char *tare_text_link(const struct tare_device_entry *entry, char text[TARE_TEXT_LINK]);
// The line of device and clock.
void tare_text_head(struct tare_text *text, const struct tare_result *result);

// The line about the device while it was measured; nothing where it was not watched.
void tare_text_telemetry(struct tare_text *text, const struct tare_result *result);

// With -v: the raw stamps of one launch; nothing where there are none.
void tare_text_stamps(struct tare_text *text, const struct tare_result *result);
// What follows from the figures.
void tare_text_conclusions(struct tare_text *text, const struct tare_result *result);
// That, unless the result has parts (its writer has said it then), what to do, and whether the
// command was interrupted.
void tare_text_end(struct tare_text *text, const struct tare_result *result);

// The label's text or number as a person reads it (bytes as "64 KB"). Returns buffer.
const char *tare_text_label(const struct tare_label *label, char *buffer, size_t size);
// A schedule of `overlap` in words: "32 chunks, 3 queues, interleaved"; brief: in 30 columns.
const char *tare_text_schedule(const struct tare_cell *cell, bool brief, char *text, size_t size);
// Half the interval of a cell's median: "1.2 %", or where a part of the median means nothing (a
// figure around zero, a model's) the half-width itself times `scale`. "?" when it is not known,
// nothing for a model without one; with a "*" when the cell did not converge. Returns buffer.
const char *tare_text_plus_minus(const struct tare_cell *cell, double scale,
                                 char buffer[TARE_UNIT_TEXT]);

// Why figures are missing, or with `methods` how they were measured (after an empty line): a
// paragraph a reason, with the names of those that share it.
struct tare_text_why {
	bool methods, apart; // apart: after an empty line, where there is a reason
	enum tare_text_style style;
	const char *lead;
	// The name of a cell, and which cells it is about; NULL: all.
	void (*name)(const struct tare_cell *cell, FILE *file);
	bool (*about)(const struct tare_cell *cell);
};
void tare_text_reasons(struct tare_text *text, const struct tare_result *result,
                       const struct tare_text_why *why);
// What --device takes for it: "cuda:0". Returns text.
const char *tare_text_device(const struct tare_device_entry *entry, char text[64]);
// A fact as text; "" where it is not known.
const char *tare_text_fact(const struct tare_device_entry *entry, enum tare_fact_id id);
