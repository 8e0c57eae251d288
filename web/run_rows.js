// SPDX-License-Identifier: Apache-2.0
// The rows of the timeline and what lies in them. A row has lanes; slices of one lane never overlap
// and are in order of time, so that what is seen of a lane is found by halving.
'use strict';

const MOST_LANES = 24;    // of a row; what does not find room in them is counted, not drawn
const INDEX_TURN_MS = 30;

// A source of slices: where they begin and end, and how they are painted and called.
function commandSource(timeline, times) {
	const { commands, header } = timeline;
	const call = times === 'call';
	const paints = call ? null : commandPaints(timeline);
	return { kind: 'command', call, from: call ? commands.enter : commands.start, to: call ? commands.exit : commands.end,
		paint: call ? () => PAINT_OF.role.command : (row) => paints[row],
		label: call ? (row) => functionName(header, commands.function[row]) : (row) => commandName(timeline, row) };
}

function callSource({ calls, header }) {
	return { kind: 'call', from: calls.enter, to: calls.exit,
		paint: (row) => PAINT_OF.role[header.roles[calls.role[row]]] || PAINT_OF.role.query,
		label: (row) => functionName(header, calls.function[row]) };
}

function callbackSource({ callbacks, header }) {
	return { kind: 'callback', from: callbacks.enter, to: callbacks.exit, paint: () => PAINT_OF.role.callback,
		label: (row) => `callback of ${functionName(header, callbacks.function[row])}` };
}

function phaseSource({ phases, header }) {
	return { kind: 'phase', from: phases.from, to: phases.to,
		paint: (row) => PAINT_OF.phase[phases.name[row] % PAINT_OF.phase.length],
		label: (row) => header.strings[phases.name[row]] || '(no name)' };
}

function gapSource({ gaps, header }) {
	const paints = header.causes.map((name) => PAINT_OF.category[name] ?? PAINT_OF.category.unknown);
	const titles = header.causes.map((name) => causeTitle(name || 'unknown'));
	return { kind: 'gap', from: gaps.from, to: gaps.to, paint: (row) => paints[gaps.cause[row]],
		label: (row) => titles[gaps.cause[row]] };
}

function functionName(header, index) {
	return header.functions[index] ? header.functions[index].name : '(unknown call)';
}

function kindName({ commands, header }, row) {
	return header.kinds[commands.kind[row]] || 'command';
}

function isKernel(timeline, row) {
	return kindName(timeline, row) === 'kernel';
}

// A kernel's name, else what the command does: "write".
function commandName(timeline, row) {
	const { commands, header } = timeline;
	if (!isKernel(timeline, row))
		return kindName(timeline, row);
	const name = header.strings[header.kernels[commands.object[row]]];
	return name || '(unknown kernel)';
}

// Kernels of one name look the same, whatever their program; the first has the ledger's colour.
function kernelPaints(timeline) {
	if (!timeline.kernelPaints) {
		const names = [...new Set(timeline.header.kernels)];
		timeline.kernelPaints = timeline.header.kernels.map((name) => PAINT_OF.kernel[names.indexOf(name) % PAINT_OF.kernel.length]);
	}
	return timeline.kernelPaints;
}

// Paints of all commands, found once: drawing asks for many of them a frame.
function commandPaints(timeline) {
	const { commands } = timeline;
	if (!timeline.commandPaints) {
		timeline.commandPaints = new Uint8Array(commands.count);
		for (let row = 0; row < commands.count; row++)
			timeline.commandPaints[row] = commandPaint(timeline, row);
	}
	return timeline.commandPaints;
}

function commandPaint(timeline, row) {
	const { commands, header } = timeline;
	if (isKernel(timeline, row) || kindName(timeline, row) === 'task')
		return kernelPaints(timeline)[commands.object[row]] ?? PAINT_OF.kernel[0];
	switch (header.directions[commands.direction[row]]) {
	case 'to_device': return PAINT_OF.engine.toDevice;
	case 'from_device': return PAINT_OF.engine.fromDevice;
	case 'local': case 'host': return PAINT_OF.engine.local;
	default: return commands.engine[row] === 3 ? PAINT_OF.engine.local : PAINT_OF.engine.other;
	}
}

// ---- lanes

// Sorts rows of a source by where they begin. They nearly are in that order, as a rule; where they
// are not, a sort of pairs is as quick.
function sortByStart(ids, from) {
	let moves = 0;
	for (let i = 1; i < ids.length; i++) {
		const id = ids[i];
		const at = from[id];
		let j = i;
		while (j > 0 && from[ids[j - 1]] > at) {
			ids[j] = ids[j - 1];
			j--;
		}
		ids[j] = id;
		moves += i - j;
		if (moves > 16 * ids.length + 1000)
			return ids.sort((a, b) => from[a] - from[b] || a - b);
	}
	return ids;
}

// `busy` has the time in the slices before each: what is covered between two of them is a difference.
function makeLane(source, ids) {
	const { from, to } = source;
	const starts = new Float64Array(ids.length);
	const busy = new Float64Array(ids.length + 1);
	for (let i = 0; i < ids.length; i++) {
		starts[i] = from[ids[i]];
		busy[i + 1] = busy[i] + Math.max(0, to[ids[i]] - starts[i]);
	}
	return { source, ids, starts, busy };
}

// The first slice of a lane that ends after `at`; slices of no length at `at` count.
function firstEndingAfter(lane, at) {
	const { ids, source: { to } } = lane;
	let low = 0;
	let high = ids.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (to[ids[middle]] < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

// The first slice that begins at or after `at`.
function firstFrom({ starts }, at) {
	let low = 0;
	let high = starts.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (starts[middle] < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

// How much of [from, to) is covered by slices of the lane.
function coveredTime(lane, from, to) {
	const first = firstEndingAfter(lane, from);
	const last = firstFrom(lane, to);
	if (last <= first)
		return 0;
	const { ids, busy, source } = lane;
	const before = Math.max(0, from - source.from[ids[first]]);
	const after = Math.max(0, source.to[ids[last - 1]] - to);
	return Math.max(0, busy[last] - busy[first] - before - after);
}

// Rows of a table by a key, each list in the order of the table. `keyOf` gives -1 for none.
function groupRows(rowCount, groups, keyOf) {
	const counts = new Uint32Array(groups);
	const keys = new Int32Array(rowCount);
	for (let row = 0; row < rowCount; row++) {
		const key = keyOf(row);
		keys[row] = key;
		if (key >= 0)
			counts[key]++;
	}
	const lists = Array.from(counts, (size) => new Uint32Array(size));
	counts.fill(0);
	for (let row = 0; row < rowCount; row++)
		if (keys[row] >= 0)
			lists[keys[row]][counts[keys[row]]++] = row;
	return lists;
}

// Lanes from a column of lane numbers.
function lanesByNumber(source, ids, laneOf, rows) {
	const most = ids.reduce((largest, id) => (laneOf[id] !== NO_LANE && laneOf[id] > largest ? laneOf[id] : largest), -1);
	const lists = groupRows(ids.length, Math.min(most + 1, MOST_LANES), (i) => {
		const lane = laneOf[ids[i]];
		if (lane < MOST_LANES)
			return lane;
		rows.crowded++;
		return -1;
	});
	return lists.map((list) => makeLane(source, sortByStart(list.map((i) => ids[i]), source.from)));
}

// ---- all rows

function indexTurns(progress) {
	let last = performance.now();
	return async (done) => {
		if (performance.now() - last < INDEX_TURN_MS)
			return;
		progress(done);
		await new Promise((resolve) => setTimeout(resolve));
		last = performance.now();
	};
}

function threadTitle(header, index) {
	const thread = header.threads[index];
	const name = thread.helper ? "tare's own thread" : thread.name || 'thread';
	return header.processes.length > 1 ? `${name} ${thread.tid} (process ${thread.process})` : `${name} ${thread.tid}`;
}

function queueTitle(header, index) {
	const queue = header.queues[index];
	const where = header.processes.length > 1 ? ` (process ${queue.process})` : '';
	return `queue ${queue.number}${queue.out_of_order ? ', out of order' : ''}${where}`;
}

// Calls of a thread and its commands' calls share the lanes of their depths.
function depthLanes(sources, rows) {
	const lanes = [];
	for (const { source, ids, depth } of sources) {
		if (!ids.length)
			continue;
		const list = lanesByNumber(source, ids, depth, rows);
		list.forEach((lane, i) => {
			if (lane.ids.length)
				(lanes[i] = lanes[i] || []).push(lane);
		});
	}
	return Array.from(lanes, (lane) => lane || []);
}

async function addThreads(timeline, rows, turn) {
	const { commands, calls, callbacks, phases, header } = timeline;
	const threads = header.threads.length;
	const known = (thread) => (thread < threads ? thread : -1);
	// Runs of a list are in the call of the command that executes it.
	const threadOf = (table) => (row) => (table === commands && commands.part[row] === COMMAND_PARTS.run ? -1 : known(table.thread[row]));
	const lists = [commands, calls, callbacks, phases].map((table) => groupRows(table.count, threads, threadOf(table)));
	const sources = [commandSource(timeline, 'call'), callSource(timeline), callbackSource(timeline), phaseSource(timeline)];
	const firstLane = new Uint8Array(callbacks.count);
	for (let i = 0; i < threads; i++) {
		if (lists[3][i].length)
			rows.add({ group: 'threads', title: `${threadTitle(header, i)}: phases`, thread: i, kind: 'phases',
				lanes: lanesByNumber(sources[3], lists[3][i], phases.lane, rows).map((lane) => [lane]) });
		await turn(0.1 + 0.4 * i / threads);
		const lanes = depthLanes([{ source: sources[0], ids: lists[0][i], depth: commands.depth },
			{ source: sources[1], ids: lists[1][i], depth: calls.depth }], rows);
		if (lists[2][i].length)
			rows.add({ group: 'threads', title: `${threadTitle(header, i)}: callbacks`, thread: i, kind: 'callbacks',
				lanes: lanesByNumber(sources[2], lists[2][i], firstLane, rows).map((lane) => [lane]) });
		if (lanes.length)
			rows.add({ group: 'threads', title: threadTitle(header, i), thread: i, kind: 'calls', lanes });
		await turn(0.1 + 0.4 * (i + 1) / threads);
	}
}

async function addQueues(timeline, rows, turn) {
	const { commands, header } = timeline;
	const source = commandSource(timeline, 'device');
	const lists = groupRows(commands.count, header.queues.length, (row) =>
		(commands.queue[row] < header.queues.length && commands.start[row] === commands.start[row] ? commands.queue[row] : -1));
	for (const [i, ids] of lists.entries()) {
		if (ids.length)
			rows.add({ group: 'queues', title: queueTitle(header, i), queue: i, kind: 'queue', device: header.queues[i].device,
				lanes: lanesByNumber(source, ids, commands.lane, rows).map((lane) => [lane]) });
		await turn(0.5 + 0.25 * i / lists.length);
	}
}

async function addEngines(timeline, rows, turn) {
	const { commands, gaps, header } = timeline;
	const source = commandSource(timeline, 'device');
	const devices = header.devices.length;
	const lists = groupRows(commands.count, 4 * devices, (row) => {
		const queue = header.queues[commands.queue[row]];
		const timed = commands.start[row] === commands.start[row] && commands.engine[row] < 4;
		return timed && queue && queue.device !== null && queue.device < devices ? 4 * queue.device + commands.engine[row] : -1;
	});
	const idle = groupRows(gaps.count, devices, (row) => (gaps.device[row] < devices ? gaps.device[row] : -1));
	const causes = gapSource(timeline);
	for (let device = 0; device < devices; device++) {
		const prefix = devices > 1 ? `#${device} ` : '';
		for (let engine = 0; engine < 4; engine++) {
			const ids = lists[4 * device + engine];
			if (ids.length)
				rows.add({ group: `device-${device}`, title: prefix + ENGINE_TITLES[engine], device, engine, kind: 'engine',
					lanes: lanesByNumber(source, ids, commands.engineLane, rows).map((lane) => [lane]) });
			await turn(0.75 + 0.25 * (4 * device + engine) / (4 * devices));
		}
		if (idle[device].length)
			rows.add({ group: `device-${device}`, title: `${prefix}idle, by cause`, device, kind: 'gaps',
				lanes: [[makeLane(causes, sortByStart(idle[device], gaps.from))]] });
	}
}

// The rows from top to bottom; `lanes` of a row are lists of lanes that share a line.
// {list, crowded (slices that found no lane)}.
async function buildRows(timeline, progress) {
	const rows = { list: [], crowded: 0, add(row) { this.list.push(row); } };
	const turn = indexTurns(progress);
	await addThreads(timeline, rows, turn);
	await addQueues(timeline, rows, turn);
	await addEngines(timeline, rows, turn);
	return rows;
}
