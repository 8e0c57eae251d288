// SPDX-License-Identifier: Apache-2.0
// The device over time: a track a counter under what the recording says ran, and the same as tables.
'use strict';

const TRACK = { width: 1000, height: 48, left: 190, gap: 10 };

function trackValue(series, value) {
	return series.unit === '%' ? shareOf(value) : rateOf(value);
}

function trackSentence(series) {
	const limit = isKnown(series.at_limit) ? `, at 60 % and more in ${shareOf(100 * series.at_limit)}` : '';
	return `${series.title}: ${trackValue(series, series.mean)} on average, ${trackValue(series, series.peak)} at most, ` +
		`at work in ${shareOf(100 * series.at_work)} of the time${limit}`;
}

// What the recording knows, in the form of a counter.
function recordedTracks(timeline) {
	return [['kernels', 'recorded kernels'], ['copies', 'recorded transfers']].map(([key, title]) => {
		const means = timeline[key].map((value) => 100 * value);
		const mean = means.reduce((sum, value) => sum + value, 0) / means.length;
		return { key, title, unit: '%', means, peaks: means, mean, peak: Math.max(...means),
			at_work: means.filter((value) => value > 1).length / means.length, at_limit: null };
	});
}

// A closed line along the values; where there is no sample there is a hole.
function trackPath(values, whole) {
	const step = TRACK.width / values.length;
	let path = '';
	values.forEach((value, i) => {
		if (isKnown(value) && value > 0)
			path += `M${(i * step).toFixed(1)} ${TRACK.height}v${(-TRACK.height * Math.min(1, value / whole)).toFixed(1)}h${step.toFixed(1)}V${TRACK.height}z`;
	});
	return path;
}

function trackOf(series, row) {
	const whole = series.unit === '%' ? 100 : series.peak || 1;
	return svg('g', { class: 'track', tabindex: 0, role: 'img', 'aria-label': trackSentence(series),
		transform: `translate(0 ${row * (TRACK.height + TRACK.gap)})` },
	svg('title', {}, trackSentence(series)),
	svg('text', { x: TRACK.left - 8, y: 20, 'text-anchor': 'end' }, series.title),
	svg('text', { x: TRACK.left - 8, y: 38, 'text-anchor': 'end', class: 'more' }, `to ${trackValue(series, whole)}`),
	svg('g', { transform: `translate(${TRACK.left} 0)` },
		svg('rect', { class: 'back', width: TRACK.width, height: TRACK.height }),
		svg('path', { class: 'peaks', d: trackPath(series.peaks, whole) }),
		svg('path', { class: 'means', d: trackPath(series.means, whole) })));
}

function timelineSums(all) {
	const value = (pick) => ({ show: (series) => trackValue(series, pick(series)) });
	const own = { title: { header: true }, mean: value((series) => series.mean), peak: value((series) => series.peak), at_work: { show: (series) => shareOf(100 * series.at_work) },
		at_limit: { show: (series) => (isKnown(series.at_limit) ? shareOf(100 * series.at_limit) : notAvailable('its maximum is not known')) } };
	return sortableTable('The device over time', declarationOf('series').columns.filter((column) => column.on_page)
		.map((column) => ({ ...declaredColumn(column), ...own[column.id] })), all);
}

// Fifty parts of the run in figures: what the tracks show.
function timelineParts(timeline, all) {
	const parts = 50, each = timeline.kernels.length / parts;
	const rows = Array.from({ length: parts }, (_, part) => ({ from: part * timeline.run_ns / parts, values: all.map((series) => {
		const known = series.means.slice(part * each, (part + 1) * each).filter(isKnown);
		return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
	}) }));
	return h('details', { class: 'figures' }, h('summary', {}, 'Over time in figures'), sortableTable('Means over fifty parts of the run', [
		{ title: 'from', header: true, numeric: true, value: (row) => row.from, show: (row) => formatNs(row.from) },
		...all.map((series, i) => ({ title: series.title, numeric: true, value: (row) => row.values[i], show: (row) => trackValue(series, row.values[i]) })),
	], rows));
}

function timelineSection(run) {
	const timeline = run.timeline;
	if (!timeline)
		return null;
	const all = [...recordedTracks(timeline), ...timeline.series];
	const height = all.length * (TRACK.height + TRACK.gap);
	return h('section', { id: 'timeline-section' }, heading(2, 'The device over time'),
		h('div', { class: 'scroll' }, svg('svg', { class: 'tracks', viewBox: `0 0 ${TRACK.left + TRACK.width} ${height}`, role: 'group',
			'aria-label': 'Counters of the whole device, from the program’s start to its end' }, all.map(trackOf))),
		h('p', { class: 'note' }, `${count(timeline.samples, 'sample')} of ${formatNs(timeline.interval_ns)}, of ${timeline.api}’s device ${timeline.device} and all that ran there, ` +
			`over ${shareOf(100 * timeline.sampled)} of the run of ${formatNs(timeline.run_ns)}. Dark: means; light: peaks of a sample. ` +
			`A sample may lie ${formatNs(timeline.residual_ns)} elsewhere beside the recorded times. Reading them took ${formatNs(timeline.cpu_ns)} of CPU time.` +
			(timeline.losses ? ` Samples were lost ${count(timeline.losses, 'time')}.` : '') +
			(timeline.untrusted ? ` ${count(timeline.untrusted, 'value')} were saturated, wrapped or in doubt, and are in no figure.` : '')),
		timelineSums(all), timelineParts(timeline, all));
}
