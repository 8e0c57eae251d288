// SPDX-License-Identifier: Apache-2.0
#include "model/fact.h"

#include "base/units.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

const struct tare_fact_row tare_fact_rows[TARE_FACT_COUNT_OF] = {
#define X(id, key, type, unit, group, title)                                                       \
	[TARE_FACT_##id] = { key, TARE_FACT_##type, unit, group, title },
	TARE_FACTS(X)
#undef X
};

void tare_fact_set_text(struct tare_facts *facts, enum tare_fact_id id,
                        enum tare_fact_origin origin, const char *text)
{
	struct tare_fact *fact = &facts->fact[id];
	*fact = (struct tare_fact){ .present = true, .origin = origin };
	snprintf(fact->text, sizeof fact->text, "%s", text);
}

void tare_fact_set_count(struct tare_facts *facts, enum tare_fact_id id,
                         enum tare_fact_origin origin, uint64_t value)
{
	facts->fact[id] = (struct tare_fact){ .present = true, .origin = origin, .count = value };
}

void tare_fact_set_rate(struct tare_facts *facts, enum tare_fact_id id,
                        enum tare_fact_origin origin, double per_second)
{
	facts->fact[id] =
	    (struct tare_fact){ .present = true, .origin = origin, .rate = per_second };
}

static const char *const type_names[TARE_DEVICE_TYPES] = {
	[TARE_DEVICE_OTHER] = "other",
	[TARE_DEVICE_GPU] = "GPU",
	[TARE_DEVICE_ACCELERATOR] = "accelerator",
	[TARE_DEVICE_CPU] = "CPU",
	[TARE_DEVICE_FPGA] = "FPGA",
	[TARE_DEVICE_VPU] = "VPU",
	[TARE_DEVICE_SIMULATED] = "simulated",
};

void tare_facts_set_type(struct tare_facts *facts, enum tare_device_type type)
{
	tare_fact_set_text(facts, TARE_FACT_TYPE, TARE_ORIGIN_DRIVER, type_names[type]);
}

enum tare_device_type tare_facts_type(const struct tare_facts *facts)
{
	const struct tare_fact *fact = &facts->fact[TARE_FACT_TYPE];
	int type = fact->present ? TARE_DEVICE_TYPES - 1 : TARE_DEVICE_OTHER;

	// Documents hold the name.
	while (type > TARE_DEVICE_OTHER && strcasecmp(fact->text, type_names[type]) != 0)
		type--;
	return (enum tare_device_type)type;
}

void tare_facts_doubt(struct tare_facts *facts, enum tare_doubt doubt, const char *note)
{
	facts->doubt = doubt;
	tare_fact_set_text(facts, TARE_FACT_NOTE, TARE_ORIGIN_DRIVER, note);
}

const char *tare_fact_text(const struct tare_facts *facts, enum tare_fact_id id)
{
	return facts->fact[id].present ? facts->fact[id].text : "";
}

void tare_fact_absent(struct tare_facts *facts, enum tare_fact_id id, const char *reason_format,
                      ...)
{
	struct tare_fact *fact = &facts->fact[id];
	va_list arguments;

	*fact = (struct tare_fact){ .present = false };
	va_start(arguments, reason_format);
	vsnprintf(fact->text, sizeof fact->text, reason_format, arguments);
	va_end(arguments);
}

const char *tare_fact_reason(const struct tare_facts *facts, enum tare_fact_id id)
{
	return facts->fact[id].text[0] ? facts->fact[id].text : TARE_FACT_NOT_ASKED;
}

bool tare_fact_says_guessed(const struct tare_facts *facts, enum tare_fact_id id)
{
	const char *text = facts->fact[id].text;
	size_t length = strlen(text), own = sizeof TARE_FACT_GUESSED - 1;

	return tare_fact_rows[id].type == TARE_FACT_TEXT && length >= own &&
	       memcmp(text + length - own, TARE_FACT_GUESSED, own) == 0;
}

static const char *format_rate(double rate, const char *unit, char *text, size_t size)
{
	static const char *const prefixes[] = { "", "k", "M", "G", "T", "P" };
	char number[TARE_UNIT_TEXT];
	int prefix = 0;

	while (prefix < 5 && rate >= 999.5) {
		rate /= 1000;
		prefix++;
	}
	snprintf(text, size, "%s %s%s", tare_format_significant(rate, 3, number), prefixes[prefix],
	         unit);
	return text;
}

const char *tare_fact_format(const struct tare_facts *facts, enum tare_fact_id id, char *text,
                             size_t size)
{
	const struct tare_fact *fact = &facts->fact[id];
	char number[TARE_UNIT_TEXT];

	if (!fact->present) {
		snprintf(text, size, "n/a");
		return text;
	}
	switch (tare_fact_rows[id].type) {
	case TARE_FACT_TEXT:
		snprintf(text, size, "%s", fact->text);
		break;
	case TARE_FACT_COUNT:
		snprintf(text, size, "%llu%s%s", (unsigned long long)fact->count,
		         tare_fact_rows[id].unit[0] ? " " : "", tare_fact_rows[id].unit);
		break;
	case TARE_FACT_BYTES:
		snprintf(text, size, "%s", tare_format_bytes(fact->count, number));
		break;
	case TARE_FACT_HZ:
		snprintf(text, size, "%s", tare_format_hz((double)fact->count, number));
		break;
	case TARE_FACT_NS:
		snprintf(text, size, "%s", tare_format_ns(fact->rate, number));
		break;
	case TARE_FACT_RATE:
		format_rate(fact->rate, tare_fact_rows[id].unit, text, size);
		break;
	case TARE_FACT_BOOL:
		snprintf(text, size, "%s", fact->count ? "yes" : "no");
		break;
	}
	return text;
}

const char *const tare_origin_names[] = {
	[TARE_ORIGIN_DRIVER] = "driver",     [TARE_ORIGIN_SYSTEM] = "system",
	[TARE_ORIGIN_MEASURED] = "measured", [TARE_ORIGIN_FORMULA] = "formula",
	[TARE_ORIGIN_GUESS] = "guess",       NULL,
};

const char *tare_origin_name(enum tare_fact_origin origin)
{
	return tare_origin_names[origin];
}
