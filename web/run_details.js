// SPDX-License-Identifier: Apache-2.0
// All that is known of what is selected or pointed at: the panel below the timeline and the tooltip.
'use strict';

const MOST_LINKS = 12;

// One field: title, text, and for the panel elements in place of the text.
function field(title, text, nodes = null) {
	return { title, text, nodes };
}

function durationText(ns) {
	return isKnown(ns) ? formatNs(ns, 4) : 'n/a';
}

function threadText(header, index) {
	return index < header.threads.length ? threadTitle(header, index) : 'n/a';
}

function processFields(header, index) {
	const process = header.threads[index] && header.processes[header.threads[index].process];
	return header.processes.length > 1 && process ? [field('process', `${process.name} (${process.pid})${process.host ? ` on ${process.host}` : ''}`)] : [];
}

function stackFields(timeline, stack) {
	const frames = stackFrames(timeline, stack);
	if (!frames.length)
		return [];
	return [field('called from', stackSite(timeline, stack) || frames[0]),
		field('call stack', frames.join(' < '), h('ol', { class: 'stack' }, frames.map((frame) => h('li', {}, dataText(frame)))))];
}

function queueText(header, index) {
	const queue = header.queues[index];
	return queue ? queueTitle(header, index) : 'n/a';
}

function deviceText(header, index) {
	const device = header.devices[index];
	return device ? `${header.devices.length > 1 ? `#${index} ` : ''}${device.name}` : 'n/a';
}

function shapeText({ shapes }, index) {
	if (index >= shapes.count)
		return 'n/a';
	const size = Math.max(1, Math.min(3, shapes.dimensions[index]));
	const axes = ['X', 'Y', 'Z'].slice(0, size);
	const join = (prefix) => axes.map((axis) => shapes[prefix + axis][index]).join(' × ');
	const chosen = axes.some((axis) => shapes[`local${axis}`][index] > 0);
	return `${join('global')}, in groups of ${chosen ? join('local') : "the runtime's choice"}`;
}

function untimedText(header, number) {
	const word = (header.untimed || [])[number];
	return UNTIMED_WORDS[word] || (word ? words(word) : 'not seen before the recording ended, or the queue has no profiling');
}

function commandTimes(commands, row) {
	const { enter, exit, submitted, start, end } = commands;
	return [field('enqueue', momentText(enter[row])), field('submit', momentText(submitted[row])),
		field('start', momentText(start[row])), field('end', momentText(end[row])),
		field('duration', durationText(end[row] - start[row])),
		field('in the call', durationText(exit[row] - enter[row])),
		field('enqueue to submit', durationText(submitted[row] - enter[row])),
		field('submit to start', durationText(start[row] - submitted[row]))];
}

function linkText({ kind, count }) {
	return kind === 'nvlink' ? `NVLink${count ? `, ${count} links` : ''}` : kind === 'direct' ? 'direct; NVLink or PCIe was not told' :
		kind === 'through_host' ? 'through the host' : 'n/a, not told';
}

function commandFields(view, row) {
	const { timeline } = view;
	const { commands, header } = timeline;
	const queue = header.queues[commands.queue[row]];
	const bytes = commands.amount[row];
	const length = commands.end[row] - commands.start[row];
	const kernel = isKernel(timeline, row);
	const direction = header.directions[commands.direction[row]];
	const memory = header.memory_kinds[commands.memory[row]];
	const fields = [field('name', commandName(timeline, row)), field('kind', kindName(timeline, row)),
		field('device', queue ? deviceText(header, queue.device) : 'n/a'), field('queue', queueText(header, commands.queue[row])),
		field('thread', threadText(header, commands.thread[row])), ...processFields(header, commands.thread[row]),
		field('call', functionName(header, commands.function[row]) + (commands.flags[row] & COMMAND_FLAGS.blocking ? ', blocking' : '')),
		...commandTimes(commands, row)];
	if (commands.part[row] === COMMAND_PARTS.run && commands.executedBy[row] < commands.count)
		fields.push(field('executed by', functionName(header, commands.function[commands.executedBy[row]])));
	if (!isKnown(length) && commands.part[row] !== COMMAND_PARTS.executes)
		fields.push(field('no device times', untimedText(header, commands.untimed[row])));
	if (kernel)
		fields.push(field('work', shapeText(timeline, commands.shape[row])));
	if (!kernel && isKnown(bytes)) {
		fields.push(field('bytes', `${formatBytes(bytes)}${bytes >= 1024 ? ` (${bytes})` : ''}`),
			field('rate', length > 0 ? formatValue(bytes / length * 1e9, 'B/s') : 'n/a'));
	}
	const between = header.links[commands.link[row]];
	if (between)
		fields.push(field('direction', `from ${deviceText(header, between.from)} to ${deviceText(header, between.to)}`),
			field('link', linkText(between)));
	else if (direction && direction !== 'none')
		fields.push(field('direction', words(direction)));
	if (memory)
		fields.push(field('host memory', words(memory)));
	return [...fields, ...launchFields(view, row), ...linkFields(view, row), ...stackFields(timeline, commands.stack[row]),
		field('number', String(commands.number[row]))];
}

function phaseName({ phases, header }, row) {
	const domain = phases.domain[row] && phases.domain[row] !== NO_ROW ? `${header.strings[phases.domain[row]]}/` : '';
	return domain + (header.strings[phases.name[row]] || '(no name)');
}

// The phase that its thread was in when it enqueued the command, which may run after that has ended.
function launchFields(view, row) {
	const { commands, phases } = view.timeline;
	const phase = commands.phase[row];
	if (phase === NO_ROW)
		return [];
	if (phase >= phases.count)
		return [field('launched in', 'a phase that is not in this page')];
	const text = `${phaseName(view.timeline, phase)} at ${momentText(phases.from[phase])}`;
	return [field('launched in', text, h('button', { type: 'button', class: 'link',
		onclick: () => chooseSlice(view, { kind: 'phase', id: phase }) }, shorten(text, 80)))];
}

function linkFields(view, row) {
	const { found, others } = waitedFor(view.timeline, row);
	const waiters = waitersOf(view.timeline, row);
	return [field('waits for', `${count(found.length, 'command')}${others ? ` and ${count(others, 'event')} of other kinds` : ''}`,
		linkList(view, found, others)), field('waited for by', count(waiters.length, 'command'), linkList(view, waiters, 0))];
}

function linkList(view, rows, others) {
	if (!rows.length && !others)
		return h('span', {}, 'none');
	const shown = Array.from(rows.slice(0, MOST_LINKS));
	return h('span', { class: 'links' }, shown.map((row) => h('button', { type: 'button', class: 'link',
		onclick: () => chooseSlice(view, commandSlice(view, row)) }, shortenName(commandName(view.timeline, row), 40),
	` at ${momentText(isKnown(view.timeline.commands.start[row]) ? view.timeline.commands.start[row] : view.timeline.commands.enter[row])}`)),
	rows.length > shown.length ? ` and ${rows.length - shown.length} more` : null,
	others ? ` ${count(others, 'event')} that no command of this page has` : null);
}

function callFields({ timeline }, row) {
	const { calls, header } = timeline;
	const fields = [field('name', functionName(header, calls.function[row])),
		field('kind', `call: ${words(header.roles[calls.role[row]] || 'unknown')}`), field('thread', threadText(header, calls.thread[row])),
		...processFields(header, calls.thread[row]),
		field('enter', momentText(calls.enter[row])), field('exit', momentText(calls.exit[row])),
		field('duration', durationText(calls.exit[row] - calls.enter[row]))];
	if (calls.countOf[row] > 1)
		fields.push(field('calls', `${calls.countOf[row]} in a row`), field('inside them', durationText(calls.inside[row])));
	if (calls.device[row] < header.devices.length)
		fields.push(field('device', deviceText(header, calls.device[row])));
	if (calls.bytes[row] > 0)
		fields.push(field('bytes', formatBytes(calls.bytes[row])));
	if (calls.flags[row] & CALL_FAILED)
		fields.push(field('result', `failed with ${calls.result[row]}`));
	return [...fields, ...stackFields(timeline, calls.stack[row]), field('number', String(calls.number[row]))];
}

function gapFields(view, row) {
	const { gaps, header } = view.timeline;
	const ender = gaps.command[row];
	const ends = ender < view.timeline.commands.count;
	return [field('name', categoryTitle(header.causes[gaps.cause[row]] || 'unknown')), field('kind', 'idle time of the device'),
		field('device', deviceText(header, gaps.device[row])), field('start', momentText(gaps.from[row])),
		field('end', momentText(gaps.to[row])), field('duration', durationText(gaps.to[row] - gaps.from[row])),
		field('ended by', ends ? commandName(view.timeline, ender) : 'no command', ends ? linkList(view, [ender], 0) : null),
		...(ends ? stackFields(view.timeline, view.timeline.commands.stack[ender]) : [])];
}

function phaseFields({ timeline }, row) {
	const { phases, header } = timeline;
	const flags = phases.flags[row];
	return [field('name', header.strings[phases.name[row]] || '(no name)'),
		field('kind', flags & PHASE_FLAGS.instant ? 'mark' : 'phase'),
		...(phases.domain[row] && phases.domain[row] !== NO_ROW ? [field('domain', header.strings[phases.domain[row]])] : []),
		field('marked by', header.phase_sources[phases.source[row]] || 'n/a'), field('thread', threadText(header, phases.thread[row])),
		...processFields(header, phases.thread[row]), field('start', momentText(phases.from[row])),
		field('end', momentText(phases.to[row]) + (flags & PHASE_FLAGS.unended ? ' (its end was not seen)' : '')),
		field('duration', durationText(phases.to[row] - phases.from[row]))];
}

function callbackFields({ timeline }, row) {
	const { callbacks, header } = timeline;
	return [field('name', `callback given to ${functionName(header, callbacks.function[row])}`), field('kind', 'callback of the program'),
		field('thread', threadText(header, callbacks.thread[row])), field('enter', momentText(callbacks.enter[row])),
		field('exit', momentText(callbacks.exit[row])), field('duration', durationText(callbacks.exit[row] - callbacks.enter[row]))];
}

function sliceFields(view, { kind, id }) {
	return { command: commandFields, call: callFields, gap: gapFields, phase: phaseFields, callback: callbackFields }[kind](view, id);
}

// ---- panel and tooltip

function showDetails(view) {
	const { selected, details } = view;
	if (!selected) {
		details.replaceChildren(h('p', { class: 'muted' }, 'Nothing is selected. Click a bar, or press n in the timeline.'));
		return;
	}
	const fields = sliceFields(view, selected);
	details.replaceChildren(h('h4', {}, dataText(fields[0].text)),
		h('p', { class: 'actions' }, h('button', { type: 'button', onclick: () => zoomToSlice(view) }, 'Zoom to it'),
			h('button', { type: 'button', onclick: () => stepSlice(view, -1) }, 'Previous in its row'),
			h('button', { type: 'button', onclick: () => stepSlice(view, 1) }, 'Next in its row')),
		h('dl', { class: 'fields' }, fields.slice(1).map(({ title, text, nodes }) =>
			h('div', {}, h('dt', {}, title), h('dd', { 'data-field': title }, nodes || dataText(text))))));
}

// What a screen reader is told of a selection: the first that one would ask.
function selectionText(view) {
	if (!view.selected)
		return 'Nothing selected';
	const fields = sliceFields(view, view.selected);
	const value = (title) => (fields.find((each) => each.title === title) || { text: null }).text;
	const began = value('start') && value('start') !== 'n/a' ? value('start') : value('enqueue') || value('enter');
	const where = view.selected.row ? `, ${view.selected.row.title}` : '';
	return `${fields[0].text}, ${value('kind')}, ${value('duration')} at ${began}${where}`;
}

function showTip(view, slice, x, y) {
	const { tip } = view;
	tip.hidden = !slice;
	if (!slice)
		return;
	tip.replaceChildren(...sliceFields(view, slice).map(({ title, text }, i) => (i === 0 ?
		h('strong', {}, shorten(text, 80)) : h('span', {}, `${title}: ${shorten(text, 120)}`))));
	const left = x + 16 + tip.offsetWidth > view.cssWidth ? Math.max(0, x - 16 - tip.offsetWidth) : x + 16;
	tip.style.left = `${left}px`;
	tip.style.top = `${Math.max(0, Math.min(y + 12, view.height - tip.offsetHeight))}px`;
}
