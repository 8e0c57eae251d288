// SPDX-License-Identifier: Apache-2.0
// Slices as things that can be found and selected, and what hangs together: rows, neighbours, and
// which command waits for which.
'use strict';

// Rows in which a slice is drawn.
function rowsOf(view, { kind, id }) {
	const { timeline, rowAt } = view;
	const { commands, header } = timeline;
	let keys;
	if (kind === 'command') {
		const queue = header.queues[commands.queue[id]];
		keys = [`queue-${commands.queue[id]}`, `calls-${commands.thread[id]}`];
		if (queue && commands.engine[id] < 4)
			keys.push(`engine-${queue.device}-${commands.engine[id]}`);
	} else if (kind === 'gap') {
		keys = [`gaps-${timeline.gaps.device[id]}`];
	} else {
		const table = { call: 'calls', callback: 'callbacks', phase: 'phases' }[kind];
		keys = [`${table}-${timeline[table].thread[id]}`];
	}
	return keys.map((key) => rowAt.get(key)).filter(Boolean);
}

function rowKey(row) {
	switch (row.kind) {
	case 'queue': return `queue-${row.queue}`;
	case 'engine': return `engine-${row.device}-${row.engine}`;
	case 'gaps': return `gaps-${row.device}`;
	default: return `${row.kind}-${row.thread}`;
	}
}

// The place of a table's row in a lane; -1: it lies in another.
function indexInLane(lane, id) {
	const { from } = lane.source;
	if (from[id] !== from[id])
		return -1;
	for (let i = firstFrom(lane, from[id]); i < lane.ids.length && from[lane.ids[i]] === from[id]; i++)
		if (lane.ids[i] === id)
			return i;
	return -1;
}

// The slice of a row that comes next in time (direction 1) or before (-1); null at the end.
function neighbour(row, id, kind, direction) {
	const own = row.lanes.flat().find((lane) => lane.source.kind === kind && indexInLane(lane, id) >= 0);
	if (!own)
		return null;
	const at = own.source.from[id];
	let best = null;
	for (const lane of row.lanes.flat()) {
		const { from, kind: itsKind } = lane.source;
		const order = (other) => (from[other] - at) || (itsKind === kind ? other - id : itsKind < kind ? -1 : 1);
		let i = firstFrom(lane, at);
		if (direction > 0) {
			while (i < lane.ids.length && order(lane.ids[i]) <= 0)
				i++;
		} else {
			while (i < lane.ids.length && order(lane.ids[i]) < 0)
				i++;
			i--;
		}
		if (i < 0 || i >= lane.ids.length)
			continue;
		const found = lane.ids[i];
		if (!best || direction * (from[found] - best.at) < 0 || (from[found] === best.at && direction * order(found) < direction * best.order))
			best = { kind: itsKind, id: found, row, at: from[found], order: order(found) };
	}
	return best && { kind: best.kind, id: best.id, row };
}

// The slice of a line nearest to a time, at most `reach` ns away; null: none.
function nearestSlice(row, lanes, at, reach) {
	let best = null;
	for (const lane of lanes) {
		const { from, to, kind } = lane.source;
		const next = firstFrom(lane, at);
		for (const i of [next - 1, next]) {
			if (i < 0 || i >= lane.ids.length)
				continue;
			const id = lane.ids[i];
			const away = Math.max(from[id] - at, at - to[id], 0);
			if (away <= reach && (!best || away < best.away || (away === best.away && to[id] - from[id] < best.length)))
				best = { kind, id, row, away, length: to[id] - from[id] };
		}
	}
	return best && { kind: best.kind, id: best.id, row };
}

// The time a selected slice takes where it is selected: of a command in a thread's row, its call.
function timesOf(view, { kind, id, row }) {
	const { commands } = view.timeline;
	if (kind === 'command') {
		const timed = commands.start[id] === commands.start[id];
		const call = row ? row.kind === 'calls' : !timed;
		return call || !timed ? [commands.enter[id], commands.exit[id]] : [commands.start[id], commands.end[id]];
	}
	const table = view.timeline[{ call: 'calls', callback: 'callbacks', gap: 'gaps', phase: 'phases' }[kind]];
	return kind === 'gap' || kind === 'phase' ? [table.from[id], table.to[id]] : [table.enter[id], table.exit[id]];
}

// ---- dependencies

// Commands that a command waits for; `others` more are no commands of this page.
function waitedFor(timeline, id) {
	const { commands, waits } = timeline;
	const found = [];
	let others = 0;
	let i = commands.firstWait[id];
	if (i === NO_ROW)
		return { found, others };
	for (;; i++) {
		if (waits.command[i] < commands.count)
			found.push(waits.command[i]);
		else
			others++;
		if (waits.last[i] || i + 1 >= waits.count)
			return { found, others };
	}
}

// Commands that wait for a command. The index is made when it is first asked for.
function waitersOf(timeline, id) {
	const { commands, waits } = timeline;
	if (!timeline.waiters) {
		const heads = new Uint32Array(commands.count + 1);
		for (let i = 0; i < waits.count; i++)
			if (waits.command[i] < commands.count)
				heads[waits.command[i] + 1]++;
		for (let row = 0; row < commands.count; row++)
			heads[row + 1] += heads[row];
		const fill = heads.slice();
		const rows = new Uint32Array(heads[commands.count]);
		for (let row = 0; row < commands.count; row++)
			for (const other of waitedFor(timeline, row).found)
				rows[fill[other]++] = row;
		timeline.waiters = { heads, rows };
	}
	const { heads, rows } = timeline.waiters;
	return rows.subarray(heads[id], heads[id + 1]);
}

// Arrows of a command: {kind: 'wait' or 'call', from, to (times), fromY, toY, fromCommand, toCommand}.
function arrowsOf(view, id) {
	const { timeline } = view;
	const { commands } = timeline;
	const onDevice = (row) => placesOf(view, { kind: 'command', id: row }).find((place) => !place.call);
	const own = onDevice(id);
	const arrows = [];
	const link = (from, to, fromCommand, toCommand) => {
		if (from && to)
			arrows.push({ kind: 'wait', from: from.to, to: to.from, fromY: from.y, toY: to.y, fromCommand, toCommand });
	};
	for (const other of waitedFor(timeline, id).found.slice(0, MOST_ARROWS))
		link(onDevice(other), own, other, id);
	for (const other of waitersOf(timeline, id).subarray(0, MOST_ARROWS))
		link(own, onDevice(other), id, other);
	const caller = commands.part[id] === COMMAND_PARTS.run ? commands.executedBy[id] : id;
	const call = caller < commands.count && placesOf(view, { kind: 'command', id: caller }).find((place) => place.call);
	if (call && own)
		arrows.push({ kind: 'call', from: commands.enter[id], to: own.from, fromY: call.y, toY: own.y, fromCommand: caller, toCommand: id });
	return arrows;
}
