// SPDX-License-Identifier: Apache-2.0
// The memory hierarchy of a kernel: boxes for the levels, edges with what was moved. The table beside it has the same texts.
'use strict';

const BOX = { x: 12, width: 190, height: 40 };
const LEVELS = [
	{ name: 'Registers', y: 8 }, { name: 'L1, shared memory', y: 112 }, { name: 'L2', y: 216, height: 112 },
	{ name: 'Device memory', y: 392 },
];
const DOWN = ['registers-l1', 'l1-l2', 'l2-device'];
const SIDES = [{ name: 'Host memory', edge: 'host', y: 216 }, { name: 'Other devices', edge: 'peer', y: 288 }];
const SIDE_X = 500;

function levelBox(x, y, width, height, name) {
	return svg('g', { class: 'level', 'aria-hidden': 'true' }, svg('rect', { x, y, width, height, rx: 6 }),
		svg('text', { x: x + width / 2, y: y + height / 2 + 5, 'text-anchor': 'middle' }, name));
}

// A thicker line for a fuller edge; one without a share is dashed.
function edgeWidth(edge) {
	return isKnown(edge.share) ? 1.5 + 10 * Math.min(edge.share, 100) / 100 : 1.5;
}

function edgeGroup(edge, line, texts) {
	return svg('g', { class: ['edge', edge.binding ? 'binding' : null, isKnown(edge.bytes) ? null : 'unknown'].filter(Boolean).join(' '),
		tabindex: 0, role: 'img', 'aria-label': edgeSentence(edge), 'data-edge': edge.edge },
	svg('title', {}, edgeSentence(edge)), svg('line', { ...line, 'stroke-width': edgeWidth(edge) }), texts);
}

function downEdge(edge, index) {
	const from = LEVELS[index].y + (LEVELS[index].height || BOX.height), to = LEVELS[index + 1].y;
	const x = BOX.x + BOX.width / 2, middle = (from + to) / 2;
	const texts = edgeTexts(edge);
	const first = isKnown(edge.bytes) ? `${texts.bytes}  ·  ${texts.rate}  ·  ${texts.share} of max` : 'n/a';
	const second = isKnown(edge.bytes) ? `${texts.measured} of measured  ·  ${texts.given} what was given` : texts.remark || '';
	return edgeGroup(edge, { x1: x, x2: x, y1: from, y2: to }, [
		svg('text', { x: x + 16, y: middle - 3, class: 'figures' }, first, edge.binding ? svg('tspan', { class: 'mark' }, '  ◄ binds') : null),
		svg('text', { x: x + 16, y: middle + 14, class: 'more' }, second)]);
}

function sideEdge(edge, side) {
	const texts = edgeTexts(edge);
	const from = BOX.x + BOX.width, y = side.y + BOX.height / 2;
	return edgeGroup(edge, { x1: from, x2: SIDE_X, y1: y, y2: y }, [
		svg('text', { x: from + 10, y: y - 8, class: 'figures' }, isKnown(edge.bytes) ? `${texts.bytes}  ·  ${texts.rate}` : 'n/a'),
		svg('text', { x: from + 10, y: y + 18, class: 'more' }, texts.remark || '')]);
}

function hierarchySvg(kernel, id) {
	const edges = new Map(kernel.edges.map((edge) => [edge.edge, edge]));
	return svg('svg', { class: 'hierarchy', viewBox: '0 0 700 440', role: 'group', 'aria-labelledby': `${id}-title ${id}-desc` },
		svg('title', { id: `${id}-title` }, `Memory hierarchy of ${shortenName(kernel.name, 120)}`),
		svg('desc', { id: `${id}-desc` }, kernel.edges.map(edgeSentence).join('. ')),
		DOWN.map((name, i) => downEdge(edges.get(name), i)), SIDES.map((side) => sideEdge(edges.get(side.edge), side)),
		LEVELS.map((level) => levelBox(BOX.x, level.y, BOX.width, level.height || BOX.height, level.name)),
		SIDES.map((side) => levelBox(SIDE_X, side.y, 170, BOX.height, side.name)));
}

function hierarchyTable(kernel) {
	const text = (name, title, value) => ({ title, numeric: true, value: (edge) => edge[value], show: (edge) => edgeTexts(edge)[name] });
	return sortableTable(`Traffic of ${shortenName(kernel.name, 80)}, a launch`, [
		{ title: 'between', header: true, value: (edge) => edgeTexts(edge).title },
		text('bytes', 'moved', 'bytes'), text('rate', 'rate', 'bytes_per_s'), text('share', 'of max', 'share'),
		text('measured', 'of measured', 'measured_share'), text('given', '× given', 'over_compulsory'),
		{ title: 'remark', value: (edge) => [edge.binding ? 'binds' : null, edge.remark].filter(Boolean).join('; ') },
	], kernel.edges, { class: 'edges' });
}

function hierarchyFigure(kernel, id) {
	return h('figure', { class: 'plot' }, h('div', { class: 'scroll bare', role: 'region', 'aria-label': `Memory hierarchy of ${shortenName(kernel.name, 80)}`, tabindex: 0 }, hierarchySvg(kernel, id)), hierarchyTable(kernel));
}
