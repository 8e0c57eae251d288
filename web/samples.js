// SPDX-License-Identifier: Apache-2.0
// The raw samples, seen: a strip a cell, all cells on one axis, and one cell in full.
'use strict';

const OVERVIEW_MOST = 60;

// Shares of the samples in `bins` equal parts of [low, high], equal in ratio when logarithmic.
function histogram(values, low, high, bins, logarithmic) {
	const place = logarithmic ? Math.log : (value) => value;
	const from = place(low);
	const width = place(high) - from || 1;
	const counts = new Array(bins).fill(0);
	for (const value of values)
		counts[Math.max(0, Math.min(bins - 1, Math.floor(bins * (place(value) - from) / width)))]++;
	return counts;
}

function extremes(values) {
	let low = Infinity;
	let high = -Infinity;
	for (const value of values) {
		low = Math.min(low, value);
		high = Math.max(high, value);
	}
	return [low, high];
}

// A mirrored outline of counts over [from, to] of a drawing `height` high.
function outline(counts, from, to, height) {
	const most = Math.max(...counts);
	const step = (to - from) / counts.length;
	const top = [];
	const bottom = [];
	counts.forEach((n, i) => {
		const half = n ? Math.max(0.6, (height / 2 - 1) * n / most) : 0;
		const left = (from + i * step).toFixed(1);
		const right = (from + (i + 1) * step).toFixed(1);
		top.push(`${left} ${(height / 2 - half).toFixed(1)}`, `${right} ${(height / 2 - half).toFixed(1)}`);
		bottom.push(`${left} ${(height / 2 + half).toFixed(1)}`, `${right} ${(height / 2 + half).toFixed(1)}`);
	});
	return `M${top.join('L')}L${bottom.reverse().join('L')}Z`;
}

function describeSamples(cell) {
	const text = (value) => formatValue(value, cell.unit);
	return `${shorten(cell.title, 120)}: ${count(cell.n, 'sample')}, least ${text(cell.min)}, ` +
		`median ${text(cell.median)}, 95th percentile ${text(cell.p95)}, greatest ${text(cell.max)}`;
}

// The samples of one cell between their own least and greatest: the shape, not the place.
function sampleStrip(cell) {
	if (cell.samples.length < 2)
		return null;
	const [low, high] = extremes(cell.samples);
	const logarithmic = low > 0;
	const counts = low === high ? [1] : histogram(cell.samples, low, high, 36, logarithmic);
	const at = (value) => 2 + 116 * (low === high ? 0.5 : logarithmic ?
		Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low));
	return svg('svg', { class: 'strip', viewBox: '0 0 120 22', role: 'img', 'aria-label': describeSamples(cell) },
		svg('path', { class: 'shape', d: low === high ? outline(counts, 57, 63, 22) : outline(counts, 2, 118, 22) }),
		isKnown(cell.median) ? svg('path', { class: 'median', d: `M${at(cell.median)} 1V21` }) : null);
}

// All cells on one logarithmic axis of time: what each call costs. Cells that are told apart by
// sizes and schedules are in charts of their own.
function sampleOverview(cells, level) {
	const timed = cells.filter((cell) => cell.samples.length > 1 && nsPerUnit(cell.unit) && cell.labels.what !== undefined);
	if (timed.length < 2 || timed.length > OVERVIEW_MOST)
		return null;
	const spans = timed.map((cell) => extremes(cell.samples.filter((sample) => sample > 0))
		.map((value) => cellNs(cell, value))).filter(([low]) => Number.isFinite(low));
	if (!spans.length)
		return null;
	const low = Math.min(...spans.map((span) => span[0])) / 1.25;
	const high = Math.max(...spans.map((span) => span[1])) * 1.25;
	const place = (ns) => 1000 * Math.log(ns / low) / Math.log(high / low);
	const ticks = decimalTicks(low, high, 7);
	return h('figure', { class: 'plot overview' },
		h('figcaption', {}, heading(level, 'Every sample, on one axis'),
			h('p', { class: 'note' }, 'The shape shows where the samples lie (logarithmic); the line is the ' +
				'median, the box its 95 % interval, the small tick the 95th percentile.')),
		groupBy(timed, (cell) => cell.labels.group).map(([group, members]) => [
			group === undefined ? null : heading(level + 1, dataText(group)),
			members.map((cell) => overviewRow(cell, place, ticks))]),
		h('div', { class: 'row axis', 'aria-hidden': 'true' }, h('span'), h('div', { class: 'ticks' },
			ticks.map((tick) => h('span', { style: `left:${(place(tick) / 10).toFixed(2)}%` }, formatNs(tick)))), h('span')));
}

function overviewRow(cell, place, ticks) {
	const positive = cell.samples.filter((sample) => sample > 0).map((sample) => cellNs(cell, sample));
	const [low, high] = extremes(positive);
	const left = Math.max(place(low) - 1, 0);
	const right = place(high) + 1;
	const bins = Math.max(1, Math.min(60, Math.round((right - left) / 8)));
	const counts = low === high ? [1] : histogram(positive, low, high, bins, true);
	const mark = (value, name, from, to) => (cellNs(cell, value) > 0 ? svg('path', { class: name,
		'vector-effect': 'non-scaling-stroke', d: `M${place(cellNs(cell, value)).toFixed(1)} ${from}V${to}` }) : null);
	const box = cellNs(cell, cell.low) > 0 && cellNs(cell, cell.high) > 0;
	const boxFrom = box ? place(cellNs(cell, cell.low)) : 0;
	return h('div', { class: 'row' },
		h('span', { class: 'name' }, dataText(cell.title), h('span', { class: 'muted' }, ` ${cell.source} time`)),
		svg('svg', { viewBox: '0 0 1000 28', preserveAspectRatio: 'none', role: 'img', 'aria-label': describeSamples(cell) },
			ticks.map((tick) => svg('path', { class: 'grid', 'vector-effect': 'non-scaling-stroke',
				d: `M${place(tick).toFixed(1)} 0V28` })),
			positive.length ? svg('path', { class: 'shape', d: outline(counts, left, right, 28) }) : null,
			box ? svg('rect', { class: 'box', x: boxFrom.toFixed(1), y: 5, height: 18,
				width: Math.max(place(cellNs(cell, cell.high)) - boxFrom, 1).toFixed(1) }) : null,
			mark(cell.median, 'median', 1, 27), mark(cell.p95, 'p95', 9, 19)),
		h('span', { class: 'figure' }, formatValue(cell.median, cell.unit), ' ',
			h('span', { class: 'spread' }, formatSpread(cell.median, cell.low, cell.high) || '±n/a')));
}

// One cell in full: how its samples spread, and in which order they came.
function sampleDetail(cell) {
	const unit = nsPerUnit(cell.unit) ? timeColumnUnit(cell.samples.map((sample) => cellNs(cell, sample))) : null;
	const values = cell.samples.map((sample) => (unit ? cellNs(cell, sample) / unit.ns : sample));
	const title = unit ? unit.unit : cell.unit;
	const facts = [['samples', String(cell.n)], ['least', formatValue(cell.min, cell.unit)],
		['median', formatValue(cell.median, cell.unit)],
		['95 % interval', isKnown(cell.low) ? `${formatValue(cell.low, cell.unit, 4)} to ${formatValue(cell.high, cell.unit, 4)}` : 'n/a'],
		['95th percentile', formatValue(cell.p95, cell.unit)], ['greatest', formatValue(cell.max, cell.unit)],
		['outliers', cell.outliers ? `${cell.outliers.mild} mild, ${cell.outliers.severe} severe` : 'n/a'],
		['autocorrelation', isKnown(cell.autocorrelation) ? cell.autocorrelation.toFixed(2) : 'n/a'],
		['worth independent samples', isKnown(cell.effectiveN) ? cell.effectiveN.toFixed(0) : 'n/a']];
	return h('div', { class: 'detail' },
		h('dl', { class: 'inline' }, facts.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value)))),
		cell.method ? h('p', {}, dataText(cell.method)) : null,
		h('div', { class: 'pair' }, detailChart('How often each time was seen', spreadChart(values, title), cell),
			detailChart('In the order in which they were taken', orderChart(values, title), cell)));
}

const detailViews = new Set();

function detailChart(title, build, cell) {
	const canvas = h('canvas', { role: 'img', 'aria-label': `${title}. ${describeSamples(cell)}` });
	const view = { draw: () => {
		if (view.chart)
			view.chart.destroy();
		view.chart = new Chart(canvas, build());
	} };
	detailViews.add(view);
	// Chart.js needs the canvas in the document to size it.
	requestAnimationFrame(() => canvas.isConnected && view.draw());
	const figure = h('figure', {}, h('figcaption', {}, title), h('div', { class: 'canvas small' }, canvas));
	figure.release = () => {
		detailViews.delete(view);
		if (view.chart)
			view.chart.destroy();
	};
	return figure;
}

function detailOptions(x, y, scale) {
	const axis = (title, more) => ({
		title: { display: true, text: title, color: themeColour('--muted') },
		ticks: { color: themeColour('--muted'), maxRotation: 0, callback: (value) => plain(value) },
		grid: { color: themeColour('--grid'), borderColor: themeColour('--border') }, ...more,
	});
	return { animation: false, responsive: true, maintainAspectRatio: false,
		plugins: { legend: { display: false }, tooltip: { displayColors: false } },
		scales: { x: axis(x, { type: 'linear', ...scale.x }), y: axis(y, { type: 'linear', ...scale.y }) } };
}

function spreadChart(values, unit) {
	const [low, high] = extremes(values);
	const bins = low === high ? 1 : Math.min(40, new Set(values).size);
	const counts = histogram(values, low, high, bins, false);
	const step = (high - low) / bins || 1;
	return () => ({
		type: 'bar',
		data: { datasets: [{ data: counts.map((n, i) => ({ x: low + (i + 0.5) * step, y: n })),
			backgroundColor: seriesStyle(0).colour, barPercentage: 1, categoryPercentage: 1 }] },
		options: detailOptions(`time, ${unit}`, 'samples', { x: { offset: false, min: low - step / 2, max: high + step / 2 },
			y: { beginAtZero: true } }),
	});
}

function orderChart(values, unit) {
	return () => ({
		type: 'scatter',
		data: { datasets: [{ data: values.map((value, i) => ({ x: i + 1, y: value })),
			backgroundColor: faded(seriesStyle(0).colour, 0.6), pointRadius: 1.8, borderWidth: 0 }] },
		options: detailOptions('sample', `time, ${unit}`, { x: { min: 0, max: values.length + 1 }, y: { grace: '5%' } }),
	});
}
