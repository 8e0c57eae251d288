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
	return kernel.not_counted ? dataText(shorten(kernel.name, 120)) :
		h('a', { href: `#kernel-${number}`, onclick: () => { document.getElementById(`kernel-${number}`).open = true; } }, dataText(shorten(kernel.name, 120)));
}

// Without counters: times, and what instructions ask for where they were counted.
function timeColumns(run) {
	const edge = (row) => row.kernel.edges.find((each) => each.edge === 'registers-l1');
	const asked = (title, value, show) => ({ title, numeric: true, value, show: (row) => (row.kernel.not_counted ? notAvailable(row.kernel.not_counted) : show(value(row))) });
	return [
		{ title: 'launches', numeric: true, value: (row) => row.kernel.launches },
		{ title: 'a launch', numeric: true, value: (row) => row.kernel.mean_ns, show: (row) => (isKnown(row.kernel.mean_ns) ? formatNs(row.kernel.mean_ns) : notAvailable(null)) },
		...(run.by_instructions ? [asked('bytes asked', (row) => edge(row).bytes_per_s, rateOf), asked('arithmetic', (row) => row.kernel.arithmetic.flop_per_s, flopOf),
			asked('FLOP a byte', (row) => edge(row).flop_per_byte, (value) => (isKnown(value) ? significant(value) : 'n/a'))] : [])];
}

function kernelTable(run) {
	const rows = run.kernels.map((kernel, i) => ({ kernel, number: i + 1 }));
	const unit = timeColumnUnit(run.kernels.map((kernel) => kernel.total_ns));
	const percent = (title, value) => ({ title, numeric: true, value, show: (row) => shareOf(value(row)) });
	return sortableTable('Kernels, by their share of the time', [
		{ title: '#', numeric: true, value: (row) => row.number },
		{ title: 'kernel', header: true, value: (row) => row.kernel.name, show: (row) => kernelLink(row.kernel, row.number) },
		{ title: 'total', unit: unit.unit, numeric: true, value: (row) => row.kernel.total_ns, show: (row) => significant(row.kernel.total_ns / unit.ns) },
		percent('share', (row) => 100 * row.kernel.share),
		...(run.device.no_counters ? timeColumns(run) : [
		percent('issuing', (row) => row.kernel.time.active), percent('stalled', (row) => row.kernel.time.stalled), percent('without work', (row) => row.kernel.time.idle),
		{ title: 'time of the cores', sortable: false, value: () => null, show: (row) => coreTimeBar(row.kernel.time) },
		{ title: 'bound by', value: (row) => row.kernel.verdict.short,
			show: (row) => (row.kernel.not_counted ? notAvailable(row.kernel.not_counted) : row.kernel.verdict.short) }]),
	], rows, { class: 'kernels', filter: true });
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
		sortableTable(`Counters of ${shorten(kernel.name, 80)}, a launch`, [
			{ title: 'counter', header: true, value: (row) => row.role.title }, figure('mean', 'mean'), figure('least', 'least'), figure('most', 'most'),
			{ title: 'launches', numeric: true, value: (row) => row.value.launches }, { title: 'group', numeric: true, value: (row) => row.value.group },
		], rows));
}

function limitTable(kernel) {
	const share = (member) => ({ title: member, numeric: true, value: (limit) => limit[member], show: (limit) => shareOf(limit[member]) });
	return h('details', { class: 'figures' }, h('summary', {}, 'How near each limit was'),
		sortableTable(`Limits of ${shorten(kernel.name, 80)}`, [
			{ title: 'limit', header: true, value: (limit) => limit.limit }, { title: 'by', value: (limit) => limit.counter || 'not counted' },
			share('share'), share('low'), share('high')], kernel.verdict.limits));
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
		h('summary', {}, h('span', { class: 'rank' }, String(number)), ' ', dataText(shorten(kernel.name, 160)), ' ', h('span', { class: 'muted' }, verdict.short)));
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
