// SPDX-License-Identifier: Apache-2.0
// What to change: the findings, the costliest first, each with its place in the timeline.
'use strict';

const MOST_PLACES = 5;

// "2.40 s to 2.90 s", "up to 572 ms (estimate 110 ms)", and the same as shares of the wall time.
function rangeOfCost(low, best, high, wall) {
	const range = (from, to) => (from === to || to.startsWith('<') ? to : low > 0 ? `${from} to ${to}` : `up to ${to}`);
	const estimate = high - low >= 0.05 * high && best < 0.95 * high ? ` (estimate ${formatNs(best)})` : '';
	return { span: range(formatNs(low), formatNs(high)) + estimate, share: range(shareText(low, wall), shareText(high, wall)) };
}

function placeText(place) {
	return [place.what ? shortenName(place.what, 60) : null, place.site ? shortenName(place.site, 60) : null, `at ${momentText(place.from_ns)}`,
		place.count > 1 ? `${place.count} times` : null, place.cost_ns > 0 ? `${formatNs(place.cost_ns)} together` : null].filter(Boolean).join(', ');
}

function placeButtons(finding) {
	const places = finding.places.slice(0, MOST_PLACES);
	if (!places.length)
		return null;
	return h('ul', { class: 'places' }, places.map((place, i) => h('li', {}, h('button', { type: 'button', class: i ? 'link' : null,
		onclick: () => withTimeline((view) => jumpTo(view, place)) }, i ? placeText(place) : `Show in the timeline: ${placeText(place)}`))));
}

function figureText(figure) {
	const unit = /(?:^|_)(ns|bytes)$/.exec(figure.name);
	const perSecond = /_bytes_per_second$/.test(figure.name);
	if (!isKnown(figure.value))
		return 'n/a';
	if (perSecond)
		return formatValue(figure.value, 'B/s');
	if (unit)
		return unit[1] === 'ns' ? formatNs(figure.value) : formatBytes(figure.value);
	return /share$/.test(figure.name) ? percentText(figure.value) : brief(figure.value);
}

function figureList(finding) {
	if (!finding.figures.length)
		return null;
	return h('details', { class: 'figures' }, h('summary', {}, 'The figures it rests on'), h('dl', { class: 'list' }, finding.figures.map((figure) =>
		[h('dt', {}, words(figure.name).replace(/ (ns|bytes per second|bytes)$/, '') || figure.name),
			h('dd', {}, figureText(figure), figure.source ? h('span', { class: 'origin' }, ` (${figure.source})`) : null)])));
}

function findingElement(run, finding, rank) {
	const { span, share } = rangeOfCost(finding.cost_low_ns, finding.cost_ns, finding.cost_high_ns, run.wall_ns);
	const meaning = CONFIDENCES[finding.confidence];
	const device = run.devices.length > 1 && finding.device ? ` on ${finding.device}` : '';
	return h('li', { class: 'finding', 'data-id': finding.id }, h('p', { class: 'cost' }, h('span', { class: 'rank' }, String(rank)), ' ',
		h('strong', {}, span), ` (${share} of the wall time), ${finding.source === 'model' ? 'by a model' : 'measured'}; `,
		h('span', { class: `confidence ${finding.confidence}` }, finding.confidence), meaning ? h('span', { class: 'muted' }, `: ${meaning}`) : null),
	heading(3, dataText(finding.title), device), h('p', {}, dataText(`${finding.evidence}.`, 800)),
	h('p', { class: 'action' }, 'Next: ', dataText(`${finding.advice}.`, 800)),
	finding.shared_ns > 0 ? h('p', { class: 'note' }, `${formatNs(finding.shared_ns)} of the time it is about is claimed by findings above, too: costs do not add up.`) : null,
	placeButtons(finding), figureList(finding));
}

function textOfNone(run) {
	if (run.summary.bound === 'nothing')
		return 'None: no command was recorded.';
	return run.unjudged.length ? 'None of those that could be judged.' : 'None: nothing that tare looks for costs enough to stand out from the noise.';
}

function findingsElements(run) {
	const list = run.findings.length ? [
		h('p', { class: 'note' }, `Together they cost about ${formatNs(run.findings_together_ns)} of the ${formatNs(run.wall_ns)}; what two of them claim is counted once.`),
		h('ol', { class: 'findings' }, run.findings.map((finding, i) => findingElement(run, finding, i + 1)))] :
		[h('p', {}, textOfNone(run))];
	if (run.unjudged.length)
		list.push(h('details', { class: 'figures' }, h('summary', {}, `What could not be judged (${run.unjudged.length})`),
			h('ul', {}, run.unjudged.map((text) => h('li', {}, dataText(text, 400))))));
	return list;
}
