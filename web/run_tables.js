// SPDX-License-Identifier: Apache-2.0
// The tables of the report. Rows lead to where they are in the timeline.
'use strict';

// ---- jumping from a row

// Does something with the timeline, or says why it cannot.
function withTimeline(action) {
	if (timelineView)
		action(timelineView);
	else
		announce(document.getElementById('timeline-place').dataset.state || 'The timeline is still being read');
}

function deviceOfCommand({ commands, header }, row) {
	const queue = header.queues[commands.queue[row]];
	return queue ? queue.device : null;
}

// The first or longest command that fits, as a slice; null.
function foundCommand(view, fits, which) {
	const { commands } = view.timeline;
	let best = -1;
	const length = (row) => (isKnown(commands.end[row]) ? commands.end[row] - commands.start[row] : 0);
	for (let row = 0; row < commands.count; row++) {
		if (!fits(row))
			continue;
		if (which === 'first')
			return commandSlice(view, row);
		if (best < 0 || length(row) > length(best))
			best = row;
	}
	return best < 0 ? null : commandSlice(view, best);
}

// The first or longest call of a function, commands' own calls included.
function foundCall(view, name, which) {
	const { commands, calls, header } = view.timeline;
	let best = null;
	for (const [kind, table] of [['call', calls], ['command', commands]])
		for (let row = 0; row < table.count; row++) {
			if (functionName(header, table.function[row]) !== name)
				continue;
			const order = which === 'first' ? -table.enter[row] : table.exit[row] - table.enter[row];
			if (!best || order > best.order)
				best = { kind, id: row, order };
			if (which === 'first')
				break;
		}
	return best && { kind: best.kind, id: best.id, row: view.rowAt.get(`calls-${(best.kind === 'call' ? calls : commands).thread[best.id]}`) };
}

function foundPhase(view, phase, which) {
	const { phases, header } = view.timeline;
	let best = -1;
	for (let row = 0; row < phases.count; row++) {
		if (header.strings[phases.name[row]] !== phase.name || (header.strings[phases.domain[row]] || '') !== (phase.domain || ''))
			continue;
		if (best < 0 || (which === 'longest' && phases.to[row] - phases.from[row] > phases.to[best] - phases.from[best]))
			best = row;
	}
	return best < 0 ? null : { kind: 'phase', id: best };
}

// Selects a slice and shows it with its neighbourhood.
function jumpToSlice(view, slice) {
	if (!slice) {
		announce('It is not in the timeline');
		return;
	}
	setRange(view, null);
	chooseSlice(view, slice);
	zoomToTimes(view, ...timesOf(view, slice), 0.4);
	document.getElementById('timeline-section').scrollIntoView({ behavior: calmMotion.matches ? 'auto' : 'smooth' });
	view.canvas.focus({ preventScroll: true });
}

// A column of buttons: [[label, (row, view) => slice]].
function jumpColumn(jumps) {
	return { title: 'in the timeline', sortable: false, class: 'jumps', value: () => '', show: (row) => h('span', {}, jumps.map(([label, find]) =>
		[h('button', { type: 'button', class: 'link', 'data-jump': label,
			onclick: () => withTimeline((view) => jumpToSlice(view, find(row, view))) }, label), ' '])) };
}

// ---- the tables

function tasksSection(run) {
	const fits = (task, view) => (row) => {
		const kernel = isKernel(view.timeline, row);
		const name = kernel ? commandName(view.timeline, row) : '(native kernel)';
		return (kernel || kindName(view.timeline, row) === 'task') && name === task.name && deviceOfCommand(view.timeline, row) === task.device_number;
	};
	const jump = (which) => [which, (task, view) => foundCommand(view, fits(task, view), which)];
	return declaredSection('tasks', run, [jump('first'), jump('longest')]);
}

function transfersSection(run) {
	const fits = (transfer, { timeline }) => (row) => {
		const { commands, header } = timeline;
		return kindName(timeline, row) === transfer.kind && header.directions[commands.direction[row]] === transfer.direction &&
			(header.memory_kinds[commands.memory[row]] || null) === transfer.memory &&
			Boolean(commands.flags[row] & COMMAND_FLAGS.blocking) === transfer.blocking && deviceOfCommand(timeline, row) === transfer.device_number &&
			((between) => between ? between.from === transfer.from_device && between.to === transfer.to_device : transfer.from_device === null)(header.links[commands.link[row]]);
	};
	const jump = (which) => [which, (transfer, view) => foundCommand(view, fits(transfer, view), which)];
	return declaredSection('transfers', run, [jump('first'), jump('longest')]);
}

function apiSection(run) {
	const jump = (which) => [which, (row, view) => foundCall(view, row.function, which)];
	return declaredSection('api', run, [jump('first'), jump('longest')]);
}

function queuesSection(run) {
	const jump = ['first', (queue, view) => foundCommand(view, (row) => {
		const itsQueue = view.timeline.header.queues[view.timeline.commands.queue[row]];
		return itsQueue && itsQueue.number === queue.number && itsQueue.process === queue.process;
	}, 'first')];
	return declaredSection('queues', run, [jump]);
}

function buildsSection(run) {
	const jump = ['show', (build, view) => {
		const { calls, header } = view.timeline;
		const at = firstRowFrom(calls.enter, calls.count, build.at_ns);
		for (let row = at; row < calls.count && calls.enter[row] === build.at_ns; row++)
			if (functionName(header, calls.function[row]) === build.function)
				return { kind: 'call', id: row };
		return null;
	}];
	return declaredSection('builds', run, [jump]);
}

function firstRowFrom(times, rowCount, at) {
	let low = 0;
	let high = rowCount;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (times[middle] < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

// A table of two columns: what, and how much.
function factsTable(caption, facts) {
	const shown = facts.filter((fact) => fact[1] !== undefined);
	return sortableTable(caption, [{ title: 'what', header: true, value: (fact) => fact[0] },
		{ title: 'figure', numeric: true, value: (fact) => fact[1], show: (fact) => (fact[2] ? fact[2](fact[1]) : String(fact[1])) }], shown);
}

const orNa = (show) => (value) => (isKnown(value) ? show(value) : 'n/a');

function memorySection(run) {
	const { memory } = run;
	const peak = isKnown(memory.peak_at_ns) ? h('p', {}, h('button', { type: 'button', onclick: () => withTimeline((view) =>
		jumpTo(view, { from_ns: memory.peak_at_ns, to_ns: memory.peak_at_ns })) }, `Show the peak, at ${formatNs(memory.peak_at_ns)}`)) : null;
	return pageSection('memory', 'Memory', h('p', { class: 'note' }, 'Of memory objects, by the sizes asked for.'), factsTable('Memory', [
		['objects made', memory.objects], ['bytes in all', memory.bytes, formatBytes], ['most at once', memory.peak_bytes, formatBytes],
		['objects not released', memory.held_at_end]]), peak);
}

const COST_WORDS = { own_code: ', our own code only', calibration: ', by calibration', unrecorded_runs: ', by runs without it' };

function coverageSection(run) {
	const { coverage } = run;
	const reasons = Object.entries(coverage.unobserved_by).filter((entry) => entry[1]).map(([reason, number]) => [`not observed: ${UNTIMED_WORDS[reason] || words(reason)}`, number]);
	return pageSection('coverage', 'What the figures rest on', factsTable('Coverage', [['commands enqueued', coverage.enqueued],
		['commands with device times', coverage.completed], ['commands not observed', coverage.unobserved], ...reasons,
		['commands lost', coverage.lost_commands], ['enqueues that the API refused', coverage.failed], ['commands never flushed', coverage.never_flushed],
		['calls', coverage.calls], ['calls passed on without a record', coverage.passed_calls], ['records dropped', coverage.dropped],
		['damaged windows', coverage.damaged_windows], ['objects not found', coverage.unresolved], ['times against causality', coverage.contradictions],
		[`cost of recording${COST_WORDS[coverage.cost_source] || ''}`, coverage.cost_ns, orNa(formatNs)], ['at least', coverage.cost_low_ns, orNa(formatNs)],
		['at most', coverage.cost_high_ns, orNa(formatNs)], ['its share of the wall time', coverage.cost_share, percentText],
		['of it, the driver for profiling and events', coverage.driver_cost_ns, orNa(formatNs)],
		["CPU time of the recorder's own threads", coverage.helper_cpu_ns, orNa(formatNs)]]), clocksTable(run), processesTable(run));
}

function clocksTable(run) {
	return run.clock.devices.length ? [heading(3, 'Clocks'), sortableTable('Clocks of the devices', [nameColumn('device', 'device'), countColumn('process', 'process'),
		{ title: 'source', value: (row) => ({ none: 'not known', same: "the host's own clock", pairs: 'fit over pairs of readings', causal: 'bounded by the calls' })[row.source] || row.source },
		numberColumn('error', 'residual_ns', (ns) => `±${formatNs(ns)}`), numberColumn('device\'s clock', 'drift_ppm', driftText),
		countColumn('rests on', 'pairs'), countColumn('contradictions', 'contradictions')], run.clock.devices)] : null;
}

function processesTable(run) {
	return run.processes.length ? [heading(3, 'Processes'), sortableTable('Processes', declaredTable('processes', run).columns, run.processes)] : null;
}
