// SPDX-License-Identifier: Apache-2.0
// Search by name in the timeline: kernels, kinds of commands, calls, phases.
'use strict';

// Rows of commands, calls and phases whose names have all the words; in the order of time.
function searchTimeline(timeline, text) {
	const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
	const fits = (name) => Boolean(name) && wanted.every((word) => name.toLowerCase().includes(word));
	const { commands, calls, phases, header } = timeline;
	const kernels = header.kernels.map((string) => fits(header.strings[string]));
	const functions = header.functions.map((each) => fits(each.name));
	const kinds = header.kinds.map(fits);
	const strings = new Map();
	const stringFits = (index) => {
		if (!strings.has(index))
			strings.set(index, fits(header.strings[index]));
		return strings.get(index);
	};
	const kernelKind = header.kinds.indexOf('kernel');
	const marks = {
		command: (row) => functions[commands.function[row]] || kinds[commands.kind[row]] ||
			(commands.kind[row] === kernelKind && kernels[commands.object[row]] === true),
		call: (row) => functions[calls.function[row]] === true,
		phase: (row) => stringFits(phases.name[row]),
	};
	const found = { command: matching(commands.count, marks.command), call: matching(calls.count, marks.call),
		phase: matching(phases.count, marks.phase) };
	return { text, marks, found, count: found.command.length + found.call.length + found.phase.length };
}

function matching(rowCount, fits) {
	const rows = new Uint32Array(rowCount);
	let found = 0;
	for (let row = 0; row < rowCount; row++)
		if (fits(row))
			rows[found++] = row;
	return rows.slice(0, found);
}

const SEARCH_KINDS = ['command', 'call', 'phase'];

function searchTimes(timeline, kind) {
	return kind === 'phase' ? timeline.phases.from : timeline[`${kind}s`].enter;
}

// What was found next to (at, kind, row): the nearest one after (direction 1) or before it. At the
// end it goes on at the beginning.
function nextFound(timeline, search, current, direction) {
	let best = null;
	for (const kind of SEARCH_KINDS) {
		const times = searchTimes(timeline, kind);
		const rows = search.found[kind];
		const before = (row) => (times[row] - current.at || SEARCH_KINDS.indexOf(kind) - current.kind || row - current.row) < 0;
		let low = 0;
		let high = rows.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (before(rows[middle]))
				low = middle + 1;
			else
				high = middle;
		}
		const same = rows[low] === current.row && SEARCH_KINDS.indexOf(kind) === current.kind;
		const i = direction > 0 ? low + (same ? 1 : 0) : low - 1;
		if (i < 0 || i >= rows.length)
			continue;
		const order = [times[rows[i]], SEARCH_KINDS.indexOf(kind)];
		if (!best || direction * (order[0] - best.order[0] || order[1] - best.order[1]) < 0)
			best = { kind, id: rows[i], order };
	}
	return best;
}

// How many lie before it: "3 of 120".
function placeFound(timeline, search, { kind, id }) {
	const at = searchTimes(timeline, kind)[id];
	let place = 0;
	for (const each of SEARCH_KINDS) {
		const times = searchTimes(timeline, each);
		const rows = search.found[each];
		let low = 0;
		let high = rows.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			const order = times[rows[middle]] - at || SEARCH_KINDS.indexOf(each) - SEARCH_KINDS.indexOf(kind) || rows[middle] - id;
			if (order < 0)
				low = middle + 1;
			else
				high = middle;
		}
		place += low;
	}
	return place + 1;
}

function currentPlace(view) {
	const { selected, timeline } = view;
	if (selected && SEARCH_KINDS.includes(selected.kind))
		return { at: searchTimes(timeline, selected.kind)[selected.id], kind: SEARCH_KINDS.indexOf(selected.kind), row: selected.id };
	return { at: view.from, kind: -1, row: -1 };
}

function stepFound(view, direction) {
	if (!view.search || !view.search.count) {
		view.found.textContent = view.search ? `Nothing is called "${view.search.text}"` : '';
		return;
	}
	const start = direction > 0 ? { at: -Infinity, kind: -1, row: -1 } : { at: Infinity, kind: 9, row: -1 };
	const next = nextFound(view.timeline, view.search, currentPlace(view), direction) || nextFound(view.timeline, view.search, start, direction);
	chooseSlice(view, next.kind === 'command' ? commandSlice(view, next.id) : { kind: next.kind, id: next.id });
	view.found.textContent = `${placeFound(view.timeline, view.search, next)} of ${view.search.count}`;
}

function startSearch(view, text) {
	view.search = text.trim() ? searchTimeline(view.timeline, text.trim()) : null;
	const { search } = view;
	view.matches = search ? (source, id) => !search.marks[source.kind] || search.marks[source.kind](id) : null;
	view.found.textContent = !search ? '' : search.count ? `${search.count} found` : `Nothing is called "${shorten(search.text, 60)}"`;
	redraw(view);
}

function searchBox(view) {
	view.found = h('span', { class: 'muted', role: 'status' });
	const input = h('input', { type: 'search', id: 'timeline-search', placeholder: 'kernel, call or phase',
		oninput: () => {
			clearTimeout(view.searchDelay);
			view.searchDelay = setTimeout(() => startSearch(view, input.value), 150);
		},
		onkeydown: (event) => {
			if (event.key !== 'Enter')
				return;
			event.preventDefault();
			clearTimeout(view.searchDelay);
			if (!view.search || view.search.text !== input.value.trim())
				startSearch(view, input.value);
			stepFound(view, event.shiftKey ? -1 : 1);
		} });
	view.searchInput = input;
	const step = (text, label, direction) => h('button', { type: 'button', 'aria-label': label, onclick: () => stepFound(view, direction) }, text);
	return h('span', { class: 'search' }, h('label', {}, 'Find ', input), step('‹', 'Previous found', -1),
		step('›', 'Next found', 1), ' ', view.found);
}
