// SPDX-License-Identifier: Apache-2.0
// The kernels: a row each, then each with its verdict, its memory hierarchy and its counters.
'use strict';

const OPEN_AT_FIRST = 3;

function coreTimeBar(time) {
	if (!isKnown(time.active))
		return notAvailable(isKnown(time.idle) ? `without work ${shareOf(time.idle)}` : null);
	const part = (name) => h('span', { class: name, style: `flex-grow:${Math.max(time[name], 0)}` });
	return h('span', { class: 'core-time', role: 'img', 'aria-label': coreTimeSentence(time), title: coreTimeSentence(time) },
		part('active'), part('stalled'), part('idle'));
}

function kernelLink(kernel, number) {
	return kernel.not_counted ? dataText(shortenName(kernel.name, 120)) :
		h('a', { href: `#kernel-${number}`, onclick: () => { document.getElementById(`kernel-${number}`).open = true; } }, dataText(shortenName(kernel.name, 120)));
}

// Of a device without counters there are times, and what instructions ask for where they were counted.
function isShown(run, { id, path, on_page: onPage }) {
	if (!onPage || ((path[0] === 'asked' || path[0] === 'arithmetic') && !run.by_instructions))
		return false;
	return !(run.device.no_counters ? ['time', 'verdict'] : ['launches', 'mean_ns']).includes(path[0]);
}

// A declared column of kernels; the last says why a kernel was not counted.
function kernelColumn(column, i, all) {
	const declared = declaredColumn(column);
	return { id: column.id, ...declared, show: (row) => (i + 1 === all.length && row.not_counted ? notAvailable(row.not_counted) : declared.show(row)) };
}

function kernelTable(run) {
	const numbers = new Map(run.kernels.map((kernel, i) => [kernel, i + 1]));
	const unit = timeColumnUnit(run.kernels.map((kernel) => kernel.total_ns));
	const own = {
		name: { title: 'kernel', header: true, value: (kernel) => kernel.name, show: (kernel) => kernelLink(kernel, numbers.get(kernel)) },
		total_ns: { title: 'total', unit: unit.unit, numeric: true, value: (kernel) => kernel.total_ns, show: (kernel) => significant(kernel.total_ns / unit.ns) },
	};
	const columns = declarationOf('kernels').columns.filter((column) => isShown(run, column))
		.map(kernelColumn)
		.map((column) => ({ ...column, ...own[column.id] }));
	const bars = columns.findIndex((column) => column.id === 'time_idle') + 1;
	if (bars)
		columns.splice(bars, 0, { title: 'time of the cores', sortable: false, value: () => null, show: (kernel) => coreTimeBar(kernel.time) });
	return sortableTable('Kernels, by their share of the time', [{ title: '#', numeric: true, value: (kernel) => numbers.get(kernel) }, ...columns], run.kernels,
		{ class: 'kernels', filter: true });
}

function counterText(role, value) {
	if (!isKnown(value))
		return 'n/a';
	return { '%': shareOf, B: bytesOf, ns: formatNs }[role.unit]?.(value) ?? significant(value, 4);
}

function counterTable(run, kernel) {
	const rows = run.counters.map((role) => ({ role, value: kernel.counters[role.key] })).filter((row) => row.value.state !== 'not-asked');
	const figure = (title, member) => ({ title, numeric: true, value: (row) => row.value[member],
		show: (row) => (row.value.state === 'counted' ? counterText(row.role, row.value[member]) : notAvailable(run.states[row.value.state])) });
	return h('details', { class: 'figures' }, h('summary', {}, 'All counters'),
		sortableTable(`Counters of ${shortenName(kernel.name, 80)}, a launch`, [
			{ title: 'counter', header: true, value: (row) => row.role.title }, figure('mean', 'mean'), figure('least', 'least'), figure('most', 'most'),
			{ title: 'launches', numeric: true, value: (row) => row.value.launches }, { title: 'group', numeric: true, value: (row) => row.value.group },
		], rows));
}

function limitTable(kernel) {
	const { of: { columns } } = declarationOf('kernels').columns.find((column) => column.id === 'verdict_limits');
	const [first, ...others] = columns.map(declaredColumn);
	return h('details', { class: 'figures' }, h('summary', {}, 'How near each limit was'),
		sortableTable(`Limits of ${shortenName(kernel.name, 80)}`, [{ ...first, header: true }, ...others], kernel.verdict.limits));
}

function kernelFacts(kernel) {
	const { arithmetic } = kernel;
	return [
		`${isKnown(kernel.duration_ns) ? formatNs(kernel.duration_ns) : 'n/a'} a launch${kernel.duration_counted ? '' : ' (recorded)'}, ` +
			`${count(kernel.launches, 'launch', 'launches')}, ${kernel.counted_launches} counted.`,
		kernel.cores,
		arithmetic.flop_per_s > 0 ? `${arithmetic.partial ? 'At least ' : ''}${flopOf(arithmetic.flop_per_s)}` +
			`${isKnown(arithmetic.measured_share) ? `, ${shareOf(arithmetic.measured_share)} of the ${arithmetic.kind.toUpperCase()} ceiling measured here` : ''}.` : null,
		isKnown(kernel.imbalance) ? `Imbalance: the mean core had no work in ${shareOf(kernel.imbalance)} of the busiest core's time.` :
			'Imbalance between the cores: n/a, no counters of single cores.',
		kernel.given,
	].filter(Boolean).join(' ');
}

function kernelElement(run, kernel, number) {
	const { verdict } = kernel;
	const body = () => [
		h('div', { class: 'verdict' }, h('p', {}, h('strong', {}, dataText(verdict.text, 900))), verdict.margin ? h('p', { class: 'note' }, verdict.margin) : null,
			verdict.advice ? h('p', {}, verdict.advice) : null),
		verdict.contradictions.map((text) => h('p', { class: 'banner' }, text)),
		h('p', { class: 'note' }, dataText(kernelFacts(kernel), 900)),
		hierarchyFigure(kernel, `hierarchy-${number}`), limitTable(kernel), counterTable(run, kernel)];
	const details = h('details', { class: 'kernel', id: `kernel-${number}` },
		h('summary', {}, h('span', { class: 'rank' }, String(number)), ' ', dataText(shortenName(kernel.name, 160)), ' ', h('span', { class: 'muted' }, verdict.short)));
	let made = false;
	const make = () => {
		if (!made)
			details.append(...body().flat(Infinity).filter(Boolean));
		made = true;
	};
	details.addEventListener('toggle', () => { if (details.open) make(); });
	details.makeBody = make;
	return details;
}

function kernelsSection(run) {
	const elements = run.kernels.map((kernel, i) => (kernel.not_counted ? null : kernelElement(run, kernel, i + 1))).filter(Boolean);
	for (const element of elements.slice(0, OPEN_AT_FIRST)) {
		element.makeBody();
		element.open = true;
	}
	return h('section', { id: 'details-section' }, heading(2, 'Each kernel'), elements.length ? elements : h('p', {}, 'No kernel was counted.'));
}
