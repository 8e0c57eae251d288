// SPDX-License-Identifier: Apache-2.0
// Findings as JSON.
#include "report/run/json_run.h"

#if TARE_HAVE_JSON

static json_t *figures(struct tare_json *json, const struct tare_finding *finding)
{
	json_t *list = json_array();

	for (size_t i = 0; i < finding->figure_count; i++) {
		const struct tare_finding_figure *figure = &finding->figures[i];
		json_t *object = json_object();
		tare_json_put(json, object, "name", tare_json_text(figure->name));
		tare_json_put(json, object, "value", tare_json_number(figure->value));
		tare_json_put(json, object, "source", tare_json_text(figure->source));
		tare_json_push(json, list, object);
	}
	return list;
}

static json_t *places(struct tare_json *json, const struct tare_report *run,
                      const struct tare_finding *finding)
{
	const struct tare_recording *recording = run->recording;
	json_t *list = json_array();

	for (size_t i = 0; i < finding->place_count; i++) {
		const struct tare_finding_place *place = &finding->places[i];
		const char *what = tare_finding_what(recording, place);
		const char *site = run->symbols && place->stack < recording->stack_count
		                       ? tare_symbols_text(run->symbols, place->stack)
		                       : NULL;
		json_t *object = json_object();
		tare_json_put(json, object, "from_ns",
		              json_integer(place->from_ns - recording->start_ns));
		tare_json_put(json, object, "to_ns",
		              json_integer(place->to_ns - recording->start_ns));
		tare_json_put(json, object, "command", tare_json_index(place->command));
		tare_json_put(json, object, "what", what[0] ? tare_json_text(what) : json_null());
		tare_json_put(json, object, "site",
		              site && site[0] ? tare_json_text(site) : json_null());
		tare_json_put(json, object, "count", tare_json_unsigned(place->count));
		tare_json_put(json, object, "cost_ns", json_integer(place->cost_ns));
		tare_json_push(json, list, object);
	}
	return list;
}

static json_t *finding_of(struct tare_json *json, const struct tare_report *run,
                          const struct tare_finding *finding)
{
	json_t *object = json_object();
	int64_t claims_ns = 0;

	for (size_t i = 0; i < finding->claim_count; i++)
		claims_ns += finding->claims[i].to_ns - finding->claims[i].from_ns;
	tare_json_put(json, object, "id", tare_json_text(finding->id));
	tare_json_put(json, object, "title", tare_json_text(finding->title));
	tare_json_put(json, object, "evidence", tare_json_text(finding->evidence));
	tare_json_put(json, object, "cost_ns", json_integer(finding->cost_ns));
	tare_json_put(json, object, "cost_low_ns", json_integer(finding->cost_low_ns));
	tare_json_put(json, object, "cost_high_ns", json_integer(finding->cost_high_ns));
	tare_json_put(json, object, "source",
	              tare_json_text(finding->modelled ? "model" : "measured"));
	tare_json_put(json, object, "confidence",
	              tare_json_text(tare_confidence_name(finding->confidence)));
	tare_json_put(json, object, "advice", tare_json_text(finding->advice));
	tare_json_put(json, object, "occurrences", tare_json_unsigned(finding->occurrences));
	tare_json_put_device(json, object, run->recording, finding->device);
	tare_json_put(json, object, "figures", figures(json, finding));
	tare_json_put(json, object, "places", places(json, run, finding));
	tare_json_put(json, object, "claims_ns", json_integer(claims_ns));
	tare_json_put(json, object, "shared_ns", json_integer(finding->shared_ns));
	return object;
}

void tare_json_put_findings(struct tare_json *json, const struct tare_report *run, json_t *root)
{
	const struct tare_findings *findings = run->findings;
	json_t *list = json_array();
	json_t *unjudged = json_array();

	for (size_t i = 0; i < findings->count; i++)
		tare_json_push(json, list, finding_of(json, run, &findings->at[i]));
	for (size_t i = 0; i < findings->unjudged_count; i++)
		tare_json_push(json, unjudged, tare_json_text(findings->unjudged[i]));
	tare_json_put(json, root, "findings", list);
	tare_json_put(json, root, "findings_together_ns", json_integer(findings->together_ns));
	tare_json_put(json, root, "unjudged", unjudged);
}

#endif
