// SPDX-License-Identifier: Apache-2.0
// The page of counted kernels, all together.
'use strict';

function costText(run) {
	if (isKnown(run.counting_ns) && !isKnown(run.counted_wall_ns))
		return `The program ran once, in ${formatNs(run.recorded_wall_ns)}, of which counting took ${formatNs(run.counting_ns)}: that is in its times.`;
	if (!isKnown(run.recorded_wall_ns) || !isKnown(run.counted_wall_ns))
		return null;
	if (run.by_instructions)
		return `Times are of the recorded run, which took ${formatNs(run.recorded_wall_ns)}. Instructions were counted in a run of their own, which took ${formatNs(run.counted_wall_ns)}.`;
	return `The program ran twice: ${formatNs(run.recorded_wall_ns)} recorded, ${formatNs(run.counted_wall_ns)} counted` +
		`${isKnown(run.counting_ns) ? `, of which counting took ${formatNs(run.counting_ns)}` : ''}. Times are of the first run.`;
}

function headOf(run) {
	return [h('div', { class: 'top' }, h('h1', {}, 'What each kernel is bound by'), h('div', { class: 'actions' }, themeToggle())),
		h('p', { class: 'device' }, dataText(run.device.name), run.device.cores ? `, ${count(run.device.cores, 'core')}` : null),
		costText(run) ? h('p', { class: 'note' }, costText(run)) : null].filter(Boolean);
}

// The kernel that takes most of the time, in one sentence.
function firstVerdict(run) {
	const kernel = run.kernels.find((each) => !each.not_counted);
	if (run.device.no_counters)
		return h('section', { class: 'verdict' }, h('p', {}, h('strong', {}, 'n/a: no counters here: '), dataText(run.device.no_counters)),
			run.by_instructions ? h('p', {}, 'Instructions were counted instead. What binds a kernel is not known from them. Bytes are those that instructions load and store ' +
				'in global, constant and local memory, at the level of L1: what came from which cache or memory is not known.') : null);
	if (!kernel)
		return null;
	return h('section', { class: 'verdict', 'aria-label': 'Verdict' }, h('p', {}, dataText(shortenName(kernel.name, 160)), ` (${shareOf(100 * kernel.share)} of the kernels' time): `,
		h('strong', {}, dataText(kernel.verdict.text, 900))));
}

function keyOfBars() {
	return h('p', { class: 'note' }, 'Time of the cores: ', ['active', 'stalled', 'idle'].map((name, i) =>
		[h('span', { class: `core-time sample ${name}`, 'aria-hidden': 'true' }, h('span', { class: name })), ` ${['issuing', 'stalled', 'without work'][i]} `]),
	'A bound with “?” is not decided: the figures’ errors allow each of those named.');
}

function buildHotspots(run) {
	const sections = [h('section', { id: 'kernels-section' }, heading(2, 'Kernels'), kernelTable(run), run.device.no_counters ? null : keyOfBars()), timelineSection(run), rooflineSection(run), kernelsSection(run)].filter(Boolean);
	document.getElementById('head').append(...headOf(run));
	document.getElementById('contents').append(h('ul', {}, sections.map((section) =>
		h('li', {}, h('a', { href: `#${section.id}` }, section.querySelector('h2').textContent)))));
	document.getElementById('content').append(...[firstVerdict(run), ...sections].filter(Boolean));
	document.getElementById('foot').append(h('p', {}, `Written by tare ${run.version}, ${run.format}. Of max: of what the device sustains, by its own counters. ` +
		'Of measured: of what tare peak and tare bandwidth measured here. Times faster are upper bounds. ',
	h('button', { type: 'button', onclick: () => download('hotspots.json', 'application/json', JSON.stringify(run)) }, 'Download as JSON')));
}

// Paper shows every kernel, and is light.
let closedBeforePrint = [];
window.addEventListener('beforeprint', () => {
	printing = true;
	document.documentElement.classList.add('printing');
	closedBeforePrint = [...document.querySelectorAll('details.kernel:not([open])')];
	for (const details of closedBeforePrint) {
		details.makeBody();
		details.open = true;
	}
});
window.addEventListener('afterprint', () => {
	printing = false;
	document.documentElement.classList.remove('printing');
	for (const details of closedBeforePrint)
		details.open = false;
});

try {
	buildHotspots(JSON.parse(document.getElementById('hotspots').textContent));
} catch (error) {
	document.getElementById('content').append(h('p', { class: 'banner bad' },
		`This page could not be drawn: ${error.message}. The data is in its source, in the element "hotspots".`));
	throw error;
}
