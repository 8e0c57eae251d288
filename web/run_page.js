// SPDX-License-Identifier: Apache-2.0
// Builds the page: the report first, then the timeline, which may be large.
'use strict';

const PARTS_LEFT_OUT = ['commands', 'calls', 'waits', 'callbacks', 'phases', 'gaps'];

function readRun() {
	const run = JSON.parse(document.getElementById('report').textContent);
	if (typeof run !== 'object' || run === null || !String(run.format).startsWith('tare.report/'))
		throw new Error('the data in this page is not a report of tare');
	return { ...run, findings: run.findings || [], unjudged: run.unjudged || [], phases: run.phases || [], sites: run.sites || [] };
}

function contentsLinks(sections) {
	return h('ul', {}, sections.map((part) => h('li', {}, h('a', { href: `#${part.id}` }, part.querySelector('h2').textContent.replace(/ \(\d+\)$/, '')))));
}

function timelineSection() {
	return h('section', { id: 'timeline-section', 'aria-labelledby': 'timeline-title' }, h('h2', { id: 'timeline-title' }, 'Timeline'),
		h('p', { id: 'timeline-text', class: 'note' }, 'Wheel or + and − zoom, drag or the arrow keys move, a click or n and p select; the tables above and below lead here.'),
		h('div', { id: 'timeline-notes' }), h('div', { id: 'timeline-place' }, h('p', { class: 'muted', id: 'timeline-progress', role: 'status' }, 'Reading the timeline …')));
}

function runSections(run) {
	return [pageSection('findings', `What to change, by what it costs${run.findings.length ? ` (${run.findings.length})` : ''}`, findingsElements(run)),
		pageSection('ledger', 'Where the time went', ledgerElements(run)), timelineSection(), gapsSection(run), phasesSection(run), tasksSection(run),
		transfersSection(run), sitesSection(run), apiSection(run), buildsSection(run), queuesSection(run), memorySection(run),
		coverageSection(run), declaredSection('devices', run)].filter(Boolean);
}

function buildPage(run) {
	document.title = `${shorten(runTitle(run), 120)} - tare`;
	const sections = runSections(run);
	document.getElementById('head').append(...headElements(run));
	document.getElementById('contents').append(contentsLinks(sections));
	document.getElementById('content').append(...[partsElement(run), verdictElement(run), summaryCards(run)].filter(Boolean), ...sections);
	document.getElementById('foot').append(h('p', {}, dataText(`Written by tare ${run.tool.version}, ${run.format}, from ${run.trace.name}. `),
		h('button', { type: 'button', onclick: () => download(`${run.trace.name}.json`, 'application/json', JSON.stringify(run)) }, 'Download the report as JSON')));
	drawSwatches();
}

// ---- the timeline, after the report is on the screen

function nextFrame() {
	return new Promise((resolve) => setTimeout(resolve, 30));
}

// What a reader must know of the timeline before trusting it.
function timelineNotes(run, timeline, rows) {
	const { header, commands } = timeline;
	const notes = [];
	if (header.left_out) {
		const parts = PARTS_LEFT_OUT.filter((part) => header.left_out[part] > 0).map((part) => `${header.left_out[part]} ${part}`);
		notes.push(`Left out of the timeline: ${parts.join(', ') || 'something'}${header.left_out.why ? `; ${header.left_out.why}` : ''}. The tables are about all of the run.`);
	}
	const untimed = commands.start.reduce((sum, at, row) => sum + (at !== at && commands.part[row] !== COMMAND_PARTS.executes), 0);
	if (commands.count && untimed === commands.count)
		notes.push('No command has times of the device: there are no rows of queues and devices, only the calls.');
	else if (untimed)
		notes.push(`${count(untimed, 'command')} of ${commands.count} ${untimed === 1 ? 'has' : 'have'} no times of the device and ${untimed === 1 ? 'is' : 'are'} shown as calls only.`);
	if (!commands.count && rows.list.length)
		notes.push(`${noCommandText(run)}: only calls and phases are shown.`);
	if (rows.crowded)
		notes.push(`${count(rows.crowded, 'bar')} found no room in ${MOST_LANES} lanes and ${rows.crowded === 1 ? 'is' : 'are'} not drawn.`);
	return notes;
}

function emptyText(run, timeline) {
	if (!(timeline.header.run_ns > 0) || !(run.wall_ns > 0))
		return 'There is no timeline: the run, or the part that was asked for, has no length.';
	return 'There is no timeline: no command, no call and no phase was recorded in this part of the run.';
}

// Says why there is none; what would lead there says so, too.
function withoutTimeline(text, bad = false) {
	const place = document.getElementById('timeline-place');
	place.dataset.state = text;
	place.replaceChildren(h('p', { class: bad ? 'banner bad' : null }, text));
	document.getElementById('timeline-text').remove();
	return null;
}

async function readTimeline(run) {
	const progress = document.getElementById('timeline-progress');
	const place = document.getElementById('timeline-place');
	await nextFrame();
	const began = performance.now();
	const element = document.getElementById('timeline');
	const base64 = element.textContent;
	element.remove();
	const timeline = await decodeTimeline(base64, (done) => { progress.textContent = `Reading the timeline: ${Math.round(60 * done)} %`; });
	if (!timeline)
		return withoutTimeline('The timeline was left out: it did not fit into what --page-size allows. The tables are complete; a larger --page-size shows it.');
	const rows = await buildRows(timeline, (done) => { progress.textContent = `Reading the timeline: ${Math.round(60 + 40 * done)} %`; });
	if (!rows.list.length || !(timeline.header.run_ns > 0))
		return withoutTimeline(emptyText(run, timeline));
	const view = openTimeline(timeline, rows, place);
	document.getElementById('timeline-notes').append(...timelineNotes(run, timeline, rows).map((text) => h('p', { class: 'banner' }, text)));
	view.loadedMs = performance.now() - began;
	return view;
}

// ---- paper and themes

function redrawAll() {
	drawSwatches();
	if (timelineView)
		resizeTimeline(timelineView);
}

// Paper is light; afterwards the screen is as it was.
function setPrinting(on) {
	if (printing === on)
		return;
	printing = on;
	document.documentElement.classList.toggle('printing', on);
	redrawAll();
}

onThemeChange(redrawAll);
window.addEventListener('beforeprint', () => setPrinting(true));
window.addEventListener('afterprint', () => setPrinting(false));

// Settles when the page is complete: with the timeline's view, null without one.
let pageReady;
try {
	const run = readRun();
	buildPage(run);
	pageReady = readTimeline(run).catch((error) =>
		withoutTimeline(`The timeline could not be drawn: ${error.message}. The tables are complete.`, true));
} catch (error) {
	document.getElementById('content').append(h('p', { class: 'banner bad' },
		`This page could not be drawn: ${error.message}. The data is in its source, in the element "report".`));
	throw error;
}
