// SPDX-License-Identifier: Apache-2.0
// The timeline as a part of the page: its canvas, its buttons, what is selected in it.
'use strict';

const MOST_TIMELINE_SHARE = 0.72; // of the window's height

let timelineView = null; // the one of this page, when its data has been read

// ---- selecting

// A command where it ran or, without device times, where it was enqueued.
function commandSlice(view, id) {
	const { commands } = view.timeline;
	const timed = commands.start[id] === commands.start[id];
	const rows = rowsOf(view, { kind: 'command', id });
	return { kind: 'command', id, row: rows.find((row) => (row.kind === 'calls') !== timed && holds(row, 'command', id)) || rows[0] };
}

function holds(row, kind, id) {
	return row.lanes.some((lanes) => lanes.some((lane) => lane.source.kind === kind && indexInLane(lane, id) >= 0));
}

// Selects a slice, or nothing. Shows it, unless `reveal` is false.
function chooseSlice(view, slice, { reveal = true } = {}) {
	view.selected = slice;
	if (slice && !slice.row)
		slice.row = rowsOf(view, slice).find((row) => holds(row, slice.kind, slice.id)) || rowsOf(view, slice)[0];
	showDetails(view);
	announce(selectionText(view));
	if (slice && reveal) {
		revealTimes(view, ...timesOf(view, slice));
		revealRow(view, slice.row);
	}
	redraw(view);
}

function revealRow(view, row) {
	if (!row)
		return;
	const { scroller } = view;
	const top = row.y;
	const bottom = RULER_PIXELS + row.y + row.height + ROW_GAP;
	if (top < scroller.scrollTop)
		scroller.scrollTop = Math.max(0, top - GROUP_PIXELS);
	else if (bottom > scroller.scrollTop + view.height)
		scroller.scrollTop = bottom - view.height;
}

// The next or previous slice of the row; without a selection the first that is in sight.
function stepSlice(view, direction) {
	if (!view.selected) {
		const row = view.rows[0];
		const slice = row && nearestSlice(row, row.lanes.flat(), Math.max(view.from, view.least), Infinity);
		if (slice)
			chooseSlice(view, slice);
		return;
	}
	const { row, id, kind } = view.selected;
	const next = row && neighbour(row, id, kind, direction);
	if (next)
		chooseSlice(view, next);
	else
		announce(direction > 0 ? 'This is the last of its row' : 'This is the first of its row');
}

// To the row above or below: what is there at that time.
function stepRow(view, direction) {
	if (!view.selected || !view.selected.row) {
		stepSlice(view, 1);
		return;
	}
	const [from, to] = timesOf(view, view.selected);
	const row = view.rows[view.rows.indexOf(view.selected.row) + direction];
	const slice = row && nearestSlice(row, row.lanes.flat(), (from + to) / 2, Infinity);
	if (slice)
		chooseSlice(view, slice);
	else
		announce(direction > 0 ? 'This is the lowest row' : 'This is the highest row');
}

function zoomToSlice(view) {
	if (view.selected)
		zoomToTimes(view, ...timesOf(view, view.selected));
}

// ---- the range

function setRange(view, from, to) {
	view.range = from === null ? null : { from, to };
	view.rangeNote.textContent = view.range ? rangeText(view) : '';
	redraw(view);
}

function rangeOfSlice(view) {
	if (!view.selected)
		return;
	setRange(view, ...timesOf(view, view.selected));
	announce(rangeText(view));
}

// How long the range is, and how much of it each engine was busy.
function rangeText(view) {
	const { from, to } = view.range;
	const shares = to > from ? view.rows.filter((row) => row.kind === 'engine').map((row) => {
		const busy = row.lanes[0].reduce((sum, lane) => sum + coveredTime(lane, from, to), 0);
		return `${row.title} ${significant(100 * busy / (to - from), 3)} %${row.lanes.length > 1 ? ' (first lane)' : ''}`;
	}) : [];
	return `Range: ${formatNs(to - from, 5)}, from ${momentText(from)}${shares.length ? `; busy: ${shares.join(', ')}` : ''}`;
}

// ---- jumping from elsewhere on the page

// Shows and selects a place of the report: {command (its number), call, from_ns, to_ns, device_number}.
function jumpTo(view, place) {
	const { timeline } = view;
	const command = isKnown(place.command) ? rowOfNumber(timeline.commands, place.command) : -1;
	const call = isKnown(place.call) ? rowOfNumber(timeline.calls, place.call) : -1;
	if (command >= 0)
		chooseSlice(view, commandSlice(view, command));
	else if (call >= 0)
		chooseSlice(view, { kind: 'call', id: call });
	const slice = command >= 0 || call >= 0 ? view.selected : null;
	if (isKnown(place.from_ns) && isKnown(place.to_ns)) {
		setRange(view, place.from_ns, place.to_ns);
		const [from, to] = slice ? timesOf(view, slice) : [place.from_ns, place.to_ns];
		zoomToTimes(view, Math.min(from, place.from_ns), Math.max(to, place.to_ns));
	} else if (slice) {
		zoomToSlice(view);
	}
	if (!slice)
		announce(view.range ? rangeText(view) : 'Its place is not in the timeline');
	document.getElementById('timeline-section').scrollIntoView({ behavior: calmMotion.matches ? 'auto' : 'smooth' });
	view.canvas.focus({ preventScroll: true });
}

// ---- building

function timelineTools(view) {
	const button = (text, label, action) => h('button', { type: 'button', 'aria-label': label, onclick: action }, text);
	view.rangeNote = h('p', { class: 'note range', role: 'status' });
	view.help = h('details', { class: 'keys' }, h('summary', {}, 'Keys'),
		h('dl', {}, KEY_WORDS.map(([keys, what]) => h('div', {}, h('dt', {}, keys), h('dd', {}, what)))));
	return h('div', { class: 'timeline-tools' }, searchBox(view), h('span', { class: 'zooming' },
		button('+', 'Zoom in', () => zoomAt(view, anchorX(view), 1 / ZOOM_STEP)),
		button('−', 'Zoom out', () => zoomAt(view, anchorX(view), ZOOM_STEP)),
		button('All', 'Show all of the run', () => glideTo(view, view.least, view.most))), view.help);
}

// What the colours mean: those that occur.
function timelineLegend(view) {
	const { timeline } = view;
	const used = new Set();
	for (const row of view.rows)
		for (const lane of row.lanes.flat())
			if (row.kind === 'gaps')
				timeline.header.causes.forEach((name, i) => timeline.gaps.cause.includes(i) && used.add(PAINT_OF.category[name] ?? PAINT_OF.category.unknown));
			else
				for (let i = 0; i < lane.ids.length; i += Math.ceil(lane.ids.length / 5000))
					used.add(lane.source.paint(lane.ids[i]));
	const titles = new Set();
	return h('ul', { class: 'paints', 'aria-label': 'Colours of the timeline' }, [...used].sort((a, b) => a - b).filter((paint) =>
		!titles.has(PAINTS[paint].title) && titles.add(PAINTS[paint].title)).map((paint) =>
		h('li', {}, paintSwatch(paint), ' ', PAINTS[paint].title)));
}

function resizeTimeline(view) {
	view.cssWidth = printing ? PAPER_PIXELS : view.scroller.clientWidth;
	layOut(view);
	const room = Math.max(220, window.innerHeight * MOST_TIMELINE_SHARE);
	view.wantedHeight = view.rowsHeight + RULER_PIXELS + 4;
	view.scroller.style.height = `${Math.min(view.wantedHeight, printing ? PAPER_HEIGHT : room) + 2}px`; // its border
	if (fitCanvas(view)) {
		// The canvas stays where it is while the rows move below it.
		view.spacer.style.height = `${Math.max(0, view.wantedHeight - view.height)}px`;
		cancelAnimationFrame(view.frame);
		view.frame = 0;
		drawFrame(view);
	}
}

// The first and last moment of anything that is drawn; a little more than the run where clocks differ.
function timelineBounds(timeline, rows) {
	let least = 0;
	let most = timeline.header.run_ns;
	for (const { ids, source } of rows.flatMap((row) => row.lanes.flat())) {
		if (!ids.length) // all of it was left out
			continue;
		least = Math.min(least, source.from[ids[0]]);
		most = Math.max(most, source.to[ids[ids.length - 1]]);
	}
	return { least, most: Math.max(most, least + LEAST_SPAN_NS) };
}

function makeTimelineView(timeline, rows) {
	const { header } = timeline;
	const view = { timeline, rows: rows.list, rowAt: new Map(rows.list.map((row) => [rowKey(row), row])), ...timelineBounds(timeline, rows.list),
		selected: null, hover: null, range: null, search: null, matches: null, pointers: new Map(), frameTimes: [], scroll: 0 };
	view.from = Math.max(view.least, header.from_ns);
	view.to = Math.min(view.most, header.to_ns);
	if (!(view.to - view.from >= LEAST_SPAN_NS) || header.to_ns - header.from_ns >= header.run_ns)
		Object.assign(view, { from: view.least, to: view.most });
	view.canvas = h('canvas', { tabindex: 0, role: 'application', 'aria-roledescription': 'timeline', 'aria-describedby': 'timeline-text',
		'aria-label': `Timeline: ${count(view.rows.length, 'row')}, ${count(timeline.commands.count, 'command')}, ` +
			`${count(timeline.calls.count, 'other call')}, ${formatNs(view.most - view.least)}. Press n for the first bar, ? for the keys.` });
	view.context = view.canvas.getContext('2d', { alpha: false });
	view.tip = h('div', { class: 'timeline-tip', hidden: true });
	view.spacer = h('div', { 'aria-hidden': 'true' });
	view.scroller = h('div', { class: 'timeline-rows' }, h('div', { class: 'timeline-canvas' }, view.canvas, view.tip), view.spacer);
	view.details = h('div', { class: 'timeline-details', tabindex: -1, role: 'region', 'aria-label': 'What is selected' });
	return view;
}

// Puts the timeline into `place` of the page. Null when there is nothing to draw.
function openTimeline(timeline, rows, place) {
	const view = makeTimelineView(timeline, rows);
	place.replaceChildren(timelineTools(view), view.scroller, view.rangeNote, timelineLegend(view), view.details);
	showDetails(view);
	drawSwatches();
	listenToTimeline(view);
	resizeTimeline(view);
	timelineView = view;
	return view;
}
