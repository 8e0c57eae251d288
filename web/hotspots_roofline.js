// SPDX-License-Identifier: Apache-2.0
// The roofline: arithmetic done against bytes moved, of all kernels, under the device's ceilings. Hierarchical: a mark a level.
'use strict';

const PLOT = { left: 74, right: 150, top: 14, bottom: 46, width: 860, height: 430 };
const ROOF_LEVELS = [
	{ edge: 'l2-device', name: 'device memory', mark: 'circle', rates: [['measured_memory_bytes_per_s', 'measured'], ['paper_memory_bytes_per_s', 'paper']] },
	{ edge: 'l1-l2', name: 'L2', mark: 'square', rates: [['measured_l2_bytes_per_s', 'measured']] },
	{ edge: 'registers-l1', name: 'L1', mark: 'triangle', rates: [['measured_l1_bytes_per_s', 'measured']] },
];
const ROOF_KINDS = ['fp16', 'fp32', 'fp64'];

// Every mark: a kernel with FLOP, at each level whose bytes are known.
function rooflinePoints(kernels) {
	return kernels.flatMap((kernel, i) => ROOF_LEVELS.flatMap((level) => {
		const edge = kernel.edges.find((each) => each.edge === level.edge);
		const { flop_per_s: rate } = kernel.arithmetic;
		return rate > 0 && edge.flop_per_byte > 0 ? [{ kernel, number: i + 1, level, x: edge.flop_per_byte, y: rate, binding: edge.binding }] : [];
	}));
}

// Lines: slopes of memory, and the flat ones of arithmetic. Only what is known.
function rooflineCeilings(device) {
	const slopes = ROOF_LEVELS.flatMap((level) => level.rates.filter(([key]) => isKnown(device[key]))
		.map(([key, source]) => ({ name: `${level.name}, ${source}`, slope: device[key], source, text: rateOf(device[key]) })));
	const flats = ROOF_KINDS.flatMap((kind) => ['measured', 'paper'].filter((source) => isKnown(device[`${source}_${kind}_flop_per_s`]))
		.map((source) => ({ name: `${kind.toUpperCase()}, ${source}`, flat: device[`${source}_${kind}_flop_per_s`], source,
			text: flopOf(device[`${source}_${kind}_flop_per_s`]) })));
	return [...slopes, ...flats];
}

function decades(values) {
	const known = values.filter((value) => value > 0);
	return [Math.floor(Math.log10(Math.min(...known)) - 0.1), Math.ceil(Math.log10(Math.max(...known)) + 0.1)];
}

function rooflineScale(points, ceilings) {
	const flats = ceilings.filter((each) => each.flat), slopes = ceilings.filter((each) => each.slope);
	const ridges = flats.flatMap((flat) => slopes.map((slope) => flat.flat / slope.slope));
	const [x0, x1] = decades([...points.map((point) => point.x), ...ridges, ...(points.length || ridges.length ? [] : [1])]);
	const [y0, y1] = decades([...points.map((point) => point.y), ...flats.map((flat) => flat.flat), ...(flats.length || points.length ? [] : [1e9])]);
	const inner = { width: PLOT.width - PLOT.left - PLOT.right, height: PLOT.height - PLOT.top - PLOT.bottom };
	return { x0, x1, y0, y1,
		x: (value) => PLOT.left + inner.width * (Math.log10(value) - x0) / (x1 - x0),
		y: (value) => PLOT.top + inner.height * (1 - (Math.log10(value) - y0) / (y1 - y0)) };
}

function rooflineAxes(scale) {
	const lines = [];
	const bottom = PLOT.height - PLOT.bottom, right = PLOT.width - PLOT.right;
	for (let power = scale.x0; power <= scale.x1; power++) {
		const x = scale.x(10 ** power);
		lines.push(svg('line', { class: 'grid', x1: x, x2: x, y1: PLOT.top, y2: bottom }),
			svg('text', { class: 'tick', x, y: bottom + 18, 'text-anchor': 'middle' }, plain(10 ** power)));
	}
	for (let power = scale.y0; power <= scale.y1; power++) {
		const y = scale.y(10 ** power);
		lines.push(svg('line', { class: 'grid', x1: PLOT.left, x2: right, y1: y, y2: y }),
			svg('text', { class: 'tick', x: PLOT.left - 8, y: y + 4, 'text-anchor': 'end' }, scaled(10 ** power, decimalSteps(''), 3).trim()));
	}
	return [lines, svg('text', { class: 'axis', x: (PLOT.left + right) / 2, y: PLOT.height - 8, 'text-anchor': 'middle' }, 'FLOP a byte moved'),
		svg('text', { class: 'axis', transform: `translate(16 ${(PLOT.top + bottom) / 2}) rotate(-90)`, 'text-anchor': 'middle' }, 'FLOP/s')];
}

function ceilingLine(ceiling, scale, highest) {
	const [left, right, bottom] = [10 ** scale.x0, 10 ** scale.x1, 10 ** scale.y0];
	const from = ceiling.slope ? Math.max(left, bottom / ceiling.slope) : left;
	// Slopes end at the highest flat line.
	const to = ceiling.slope ? Math.min(right, highest / ceiling.slope) : right;
	const level = (x) => (ceiling.slope ? ceiling.slope * x : ceiling.flat);
	if (!(from < to))
		return null;
	return svg('g', { class: `ceiling ${ceiling.source}` }, svg('title', {}, `${ceiling.name}: ${ceiling.text}`),
		svg('line', { x1: scale.x(from), x2: scale.x(to), y1: scale.y(level(from)), y2: scale.y(level(to)) }));
}

// Names of the flat lines, at their right ends, a line of text apart.
function flatNames(ceilings, scale) {
	const flats = ceilings.filter((each) => each.flat).sort((a, b) => b.flat - a.flat);
	let free = -Infinity;
	return flats.map((ceiling) => {
		const y = Math.max(scale.y(ceiling.flat) + 4, free);
		free = y + 14;
		return svg('text', { class: 'slope', x: PLOT.width - PLOT.right + 6, y }, ceiling.name);
	});
}

// Names of the slopes, along them: on paper below the line, measured above it.
function slopeNames(ceilings, scale, highest) {
	const angle = -180 / Math.PI * Math.atan2(scale.y(1) - scale.y(10), scale.x(10) - scale.x(1));
	return ceilings.filter((each) => each.slope).map((ceiling) => {
		const x = Math.max(10 ** scale.x0, 10 ** scale.y0 / ceiling.slope) * 1.3;
		if (ceiling.slope * x * 10 > highest)
			return null;
		return svg('text', { class: 'slope', transform: `translate(${scale.x(x)} ${scale.y(ceiling.slope * x)}) rotate(${angle})`,
			dy: ceiling.source === 'paper' ? 14 : -6 }, ceiling.name);
	});
}

function markShape(kind, x, y) {
	if (kind === 'circle')
		return svg('circle', { cx: x, cy: y, r: 6 });
	if (kind === 'square')
		return svg('rect', { x: x - 5.5, y: y - 5.5, width: 11, height: 11 });
	return svg('path', { d: `M${x} ${y - 7}l6.5 11.5h-13z` });
}

function pointSentence(point) {
	return `${point.number} ${shortenName(point.kernel.name, 80)}, ${point.level.name}: ${significant(point.x)} FLOP a byte, ` +
		`${point.kernel.arithmetic.partial ? 'at least ' : ''}${flopOf(point.y)}${point.binding ? '; this level binds' : ''}`;
}

function rooflineMark(point, scale) {
	const x = scale.x(point.x), y = scale.y(point.y);
	return svg('g', { class: `point ${point.level.mark}${point.binding ? ' binding' : ''}`, tabindex: 0, role: 'img', 'aria-label': pointSentence(point) },
		svg('title', {}, pointSentence(point)), markShape(point.level.mark, x, y),
		svg('text', { x: x + 9, y: y - 7 }, String(point.number)));
}

function rooflineSvg(points, ceilings) {
	const scale = rooflineScale(points, ceilings);
	const flats = ceilings.filter((each) => each.flat).map((each) => each.flat);
	const highest = flats.length ? Math.max(...flats) : 10 ** scale.y1;
	return svg('svg', { class: 'roofline', viewBox: `0 0 ${PLOT.width} ${PLOT.height}`, role: 'group', 'aria-labelledby': 'roofline-title roofline-desc' },
		svg('title', { id: 'roofline-title' }, 'Roofline'),
		svg('desc', { id: 'roofline-desc' }, [...ceilings.map((each) => `${each.name}: ${each.text}`), ...points.map(pointSentence)].join('. ')),
		rooflineAxes(scale), ceilings.map((ceiling) => ceilingLine(ceiling, scale, highest)), slopeNames(ceilings, scale, highest), flatNames(ceilings, scale),
		points.map((point) => rooflineMark(point, scale)));
}

function rooflineTables(points, ceilings) {
	return h('details', { class: 'figures' }, h('summary', {}, 'The figures as tables'),
		sortableTable('Roofline: kernels', [
			{ title: 'kernel', header: true, value: (point) => `${point.number} ${point.kernel.name}` }, { title: 'level', value: (point) => point.level.name },
			{ title: 'FLOP a byte', numeric: true, value: (point) => point.x, show: (point) => significant(point.x) },
			{ title: 'FLOP/s', numeric: true, value: (point) => point.y, show: (point) => flopOf(point.y) },
			{ title: 'binds', value: (point) => (point.binding ? 'yes' : 'no') }], points),
		sortableTable('Roofline: ceilings', [{ title: 'ceiling', header: true, value: (each) => each.name },
			{ title: 'value', numeric: true, value: (each) => each.slope || each.flat, show: (each) => each.text }], ceilings));
}

function rooflineNotes(run, ceilings) {
	const without = run.kernels.filter((kernel) => !(kernel.arithmetic.flop_per_s > 0));
	const partial = run.kernels.filter((kernel) => kernel.arithmetic.partial && kernel.arithmetic.flop_per_s > 0);
	const drawn = new Set(rooflinePoints(run.kernels).map((point) => point.kernel));
	const dry = run.kernels.filter((kernel) => kernel.arithmetic.flop_per_s > 0 && !drawn.has(kernel));
	const list = (kernels) => kernels.map((kernel) => run.kernels.indexOf(kernel) + 1).join(', ');
	return [
		run.by_instructions ? 'Bytes of L1 are those that instructions ask for; its ceiling is that of local memory. A compiler may keep in registers what instructions ask for: then a kernel lies above it.' : null,
		ceilings.some((each) => each.source === 'measured') ? null : 'No ceiling was measured here: tare peak does that, and is kept for later.',
		without.length ? `Not drawn, since no floating-point operation or no rate of it is known: ${list(without)}.` : null,
		dry.length ? `Not drawn, since they moved no bytes, or these are of launches that differ: ${list(dry)}.` : null,
		partial.length ? `At least as high as drawn, since ${run.by_instructions ? 'functions such as sin are no operations' : 'a kind of operation was not counted (those of matrix engines never are)'}: ${list(partial)}.` : null,
	].filter(Boolean).map((text) => h('p', { class: 'note' }, text));
}

function rooflineSection(run) {
	const points = rooflinePoints(run.kernels), ceilings = rooflineCeilings(run.device);
	const body = points.length || ceilings.length ?
		h('figure', { class: 'plot' }, h('p', { class: 'note key' }, 'Numbers are the kernels’ rows. ● device memory, ■ L2, ▲ L1; filled: that level binds. Solid lines: measured here; dashed: on paper.'),
			h('div', { class: 'scroll bare', role: 'region', 'aria-label': 'Roofline', tabindex: 0 }, rooflineSvg(points, ceilings)), rooflineTables(points, ceilings)) :
		h('p', {}, 'n/a: neither floating-point operations nor ceilings are known.');
	return h('section', { id: 'roofline-section' }, heading(2, 'Roofline'), body, rooflineNotes(run, ceilings));
}
