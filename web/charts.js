// SPDX-License-Identifier: Apache-2.0
// A plot of the result document as a Chart.js chart with intervals, a legend of buttons, and the
// same figures as a table.
'use strict';

const MOST_RANKED = 400;   // a canvas has a largest height
const plotViews = [];

// Chart.js has no intervals: whiskers at every point, a band along lines.
const intervalPlugin = {
	id: 'intervals',
	beforeDatasetsDraw(chart) {
		forEachShown(chart, (dataset, points) => {
			if (dataset.band)
				drawBand(chart, dataset, points);
		});
	},
	afterDatasetsDraw(chart) {
		forEachShown(chart, (dataset, points) => {
			drawWhiskers(chart, dataset, points);
			if (dataset.dot)
				drawDots(chart, dataset, points);
		});
	},
};

function forEachShown(chart, draw) {
	const { ctx, chartArea: area } = chart;
	ctx.save();
	ctx.beginPath();
	ctx.rect(area.left, area.top - 1, area.width + 1, area.height + 2);
	ctx.clip();
	chart.data.datasets.forEach((dataset, i) => {
		if (!chart.isDatasetVisible(i))
			return;
		const elements = chart.getDatasetMeta(i).data;
		draw(dataset, dataset.data.map((point, j) => ({ point, element: elements[j] })));
	});
	ctx.restore();
}

function hasInterval({ point }) {
	return isKnown(point.low) && isKnown(point.high) && isKnown(point.value);
}

// Where an end of an interval lies; below a logarithmic axis it ends at the axis.
function valuePixel(chart, value) {
	const scale = chart.options.indexAxis === 'y' ? chart.scales.x : chart.scales.y;
	return scale.getPixelForValue(scale.type === 'logarithmic' && value <= 0 ? scale.min : value);
}

function drawBand(chart, dataset, points) {
	const { ctx } = chart;
	ctx.fillStyle = faded(dataset.colour, 0.2);
	let run = [];
	const finish = () => {
		if (run.length > 1) {
			ctx.beginPath();
			for (const at of run)
				ctx.lineTo(at.element.x, valuePixel(chart, at.point.high));
			for (const at of run.slice().reverse())
				ctx.lineTo(at.element.x, valuePixel(chart, at.point.low));
			ctx.closePath();
			ctx.fill();
		}
		run = [];
	};
	for (const at of points)
		if (hasInterval(at))
			run.push(at);
		else
			finish();
	finish();
}

function drawWhiskers(chart, dataset, points) {
	const { ctx } = chart;
	const sideways = chart.options.indexAxis === 'y';
	ctx.strokeStyle = dataset.whisker;
	ctx.lineWidth = 1.25;
	for (const at of points) {
		if (!hasInterval(at))
			continue;
		const from = valuePixel(chart, at.point.low);
		const to = valuePixel(chart, at.point.high);
		const thickness = sideways ? at.element.height : at.element.width;
		const cap = Math.max(1.5, Math.min(4, (thickness || 8) / 3));
		const centre = sideways ? at.element.y : at.element.x;
		const line = (a, b, c, d) => (sideways ? (ctx.moveTo(b, a), ctx.lineTo(d, c)) :
			(ctx.moveTo(a, b), ctx.lineTo(c, d)));
		ctx.beginPath();
		line(centre, from, centre, to);
		line(centre - cap, from, centre + cap, from);
		line(centre - cap, to, centre + cap, to);
		ctx.stroke();
	}
}

// Dots stand where the ends of bars would, side by side.
function drawDots(chart, dataset, points) {
	const { ctx } = chart;
	ctx.fillStyle = ctx.strokeStyle = dataset.colour;
	for (const { point, element } of points)
		if (isKnown(point.value))
			Chart.helpers.drawPoint(ctx, { pointStyle: dataset.dot, radius: 4, borderWidth: 1.5 }, element.x, element.y);
}

// How a plot is drawn. Bars of which each series has one point are a ranking: a row a series.
// On a logarithmic axis a bar's length means nothing, so there are dots instead.
function plotLayout(plot, logarithmic, width) {
	const points = plot.series.flatMap((series) => series.points);
	const ranked = plot.kind === 'bar' && plot.series.every((series) => series.points.length <= 1);
	const categories = [...new Set(points.map((point) => point[0]))].sort((a, b) => a - b);
	const barPixels = (width - 70) / (categories.length * (plot.series.length + 0.7));
	return {
		ranked,
		categories,
		bars: plot.kind === 'bar',
		dots: plot.kind === 'bar' && logarithmic,
		sideways: ranked || (plot.kind === 'bar' && barPixels < 7),
		rows: ranked ? Math.min(plot.series.length, MOST_RANKED) :
			categories.length * (plot.series.length + 1) * 0.42,
	};
}

function chartPoint(point, key, layout, logarithmic) {
	const [, y, low, high] = point;
	// A logarithmic axis has no place for zero or less: a gap, and a sentence under the chart.
	const value = isKnown(y) && (!logarithmic || y > 0) ? y : NaN;
	const at = layout.sideways ? { x: value, y: key } : { x: key, y: value };
	return { ...at, value, low, high, given: point };
}

function datasetStyle(style, layout, points = 0) {
	const common = { colour: style.colour, whisker: style.colour, borderColor: style.colour };
	const bars = { categoryPercentage: 0.84, barPercentage: 0.92, maxBarThickness: 36 };
	if (layout.dots)
		return { ...common, ...bars, dot: style.mark, borderWidth: 0, backgroundColor: 'transparent' };
	if (layout.bars)
		return {
			...common, ...bars, whisker: themeColour('--text'), borderWidth: 1,
			backgroundColor: style.hatched && !layout.ranked ? hatch(style.colour) : style.colour,
		};
	return {
		...common, backgroundColor: style.colour, band: true, pointStyle: style.mark,
		// A point by itself has no line to be found by.
		pointRadius: points === 1 ? 6 : 3, pointHoverRadius: points === 1 ? 8 : 6, borderWidth: 1.75, pointBorderWidth: 1.5, borderDash: style.dash, spanGaps: false,
	};
}

function chartDatasets(plot, layout, logarithmic) {
	if (layout.ranked)
		return [{
			label: '', ...datasetStyle(seriesStyle(0), layout),
			data: plot.series.slice(0, MOST_RANKED).flatMap((series, i) => series.points.map((point) =>
				({ ...chartPoint(point, String(i), layout, logarithmic), name: series.name }))),
		}];
	return plot.series.map((series, i) => ({
		label: series.name, ...datasetStyle(plotStyle(plot, i), layout, series.points.length),
		data: series.points.map((point) =>
			chartPoint(point, layout.bars ? String(point[0]) : point[0], layout, logarithmic)),
	}));
}

// A name in lines of at most `width` letters, for the labels of a ranking.
function wrapped(text, width) {
	const lines = [''];
	for (const word of shorten(text || '(no name)', width * 2).split(' ')) {
		const last = lines.length - 1;
		if (lines[last] && lines[last].length + word.length >= width)
			lines.push(word);
		else
			lines[last] += (lines[last] ? ' ' : '') + word;
	}
	return lines.slice(0, 2).map((line, i) => shorten(i === 1 && lines.length > 2 ? `${line} …` : line, width));
}

function categoryAxis(plot, layout, width) {
	const letters = width < 560 ? 18 : 34;
	const keys = layout.ranked ? plot.series.slice(0, MOST_RANKED).map((_, i) => String(i)) :
		layout.categories.map(String);
	const text = (index) => (layout.ranked ? wrapped(plot.series[index].name, letters) :
		axisText(layout.categories[index], plot.x.unit));
	return {
		type: 'category', labels: keys, offset: true,
		title: { display: !layout.ranked, text: axisTitle(plot.x), color: themeColour('--muted') },
		grid: { display: false, borderColor: themeColour('--border') },
		ticks: { color: themeColour('--text'), autoSkip: false, maxRotation: 60,
			callback: (_, index) => text(index) },
	};
}

function chartOptions(plot, layout, logarithmic, width) {
	const drawn = plot.series.flatMap((series) => series.points)
		.filter((point) => isKnown(point[1]) && (!logarithmic || point[1] > 0));
	const finite = (pick) => drawn.flatMap(pick).filter(isKnown);
	const valueAxis = axisOptions(plot.y, logarithmic, finite((point) => point.slice(1)), {});
	const keyAxis = layout.bars ? categoryAxis(plot, layout, width) :
		axisOptions(plot.x, plot.x.scale === 'logarithmic', finite((point) => [point[0]]),
			{ beginAtZero: false });
	return {
		// No resizeDelay: Chart.js 3 would then update a chart that has been destroyed meanwhile.
		animation: false, responsive: true, maintainAspectRatio: false,
		indexAxis: layout.sideways ? 'y' : 'x', parsing: layout.bars ? undefined : false,
		normalized: !layout.bars,
		interaction: { mode: 'nearest', axis: layout.sideways ? 'y' : 'xy', intersect: false },
		scales: layout.sideways ? { x: valueAxis, y: keyAxis } : { x: keyAxis, y: valueAxis },
		plugins: {
			legend: { display: false },
			tooltip: { displayColors: !layout.ranked, callbacks: tooltipTexts(plot) },
		},
	};
}

function tooltipTexts(plot) {
	return {
		title: ([item]) => (item ? shorten(item.raw.name ||
			`${plot.x.title || ''} ${formatValue(item.raw.given[0], plot.x.unit)}`.trim(), 80) : ''),
		label: (item) => {
			const [, y, low, high] = item.raw.given;
			const name = item.raw.name ? '' : `${shorten(item.dataset.label, 60)}: `;
			const range = isKnown(low) && isKnown(high) ?
				` (${formatValue(low, plot.y.unit)} to ${formatValue(high, plot.y.unit)})` : '';
			return `${name}${formatValue(y, plot.y.unit)}${range}`;
		},
	};
}

function chartSummary(plot, layout) {
	const values = plot.series.flatMap((series) => series.points.map((point) => point[1])).filter(isKnown);
	const kind = layout.ranked ? 'Ranking' : layout.bars ? 'Bar chart' : 'Line chart';
	const range = values.length ? `; ${plot.y.title || 'values'} from ` +
		`${formatValue(Math.min(...values), plot.y.unit)} to ${formatValue(Math.max(...values), plot.y.unit)}` : '';
	return `${shorten(plot.title, 120)}. ${kind} of ${count(plot.series.length, 'series', 'series')}, ` +
		`${count(values.length, 'point')}${shorten(range, 160)}. The same figures follow as a table.`;
}

// Builds the chart anew: for another theme, another width, another axis.
function drawPlot(view) {
	const width = printing ? PRINT_WIDTH : view.box.clientWidth || 800;
	const layout = plotLayout(view.plot, view.logarithmic, width);
	if (view.chart)
		view.chart.destroy();
	const height = layout.sideways ? layout.rows * 30 + 70 : printing || width < 560 ? 300 : 380;
	view.box.style.height = `${Math.round(height)}px`;
	// When printing begins the page still has the screen's width.
	view.box.style.width = printing ? `${PRINT_WIDTH}px` : '';
	view.width = width;
	view.canvas.setAttribute('aria-label', chartSummary(view.plot, layout));
	view.chart = new Chart(view.canvas, {
		type: layout.bars ? 'bar' : 'line',
		data: { datasets: chartDatasets(view.plot, layout, view.logarithmic) },
		options: chartOptions(view.plot, layout, view.logarithmic, width),
		plugins: [intervalPlugin],
	});
	view.hidden.forEach((index) => view.chart.hide(index));
	drawLegend(view, layout);
}

function drawLegend(view, layout) {
	if (layout.ranked || view.plot.series.length < 2) {
		view.legend.replaceChildren();
		return;
	}
	view.legend.replaceChildren(allToggle(view, layout), ...view.plot.series.map((series, index) => {
		const button = h('button', {
			type: 'button', class: 'series', 'aria-pressed': String(!view.hidden.has(index)),
			title: series.name.length > 60 ? shorten(series.name, 400) : null,
			onclick: () => {
				const hide = !view.hidden.has(index);
				view.hidden[hide ? 'add' : 'delete'](index);
				view.chart[hide ? 'hide' : 'show'](index);
				button.setAttribute('aria-pressed', String(!hide));
				const all = view.legend.querySelector('button.all');
				if (all)
					all.replaceWith(allToggle(view, layout));
			},
		}, swatch(plotStyle(view.plot, index), layout, series.points.length), h('bdi', {}, shorten(series.name || '(no name)', 60)));
		return button;
	}));
}

// With many series one wants to see a few: all off, then some on.
function allToggle(view, layout) {
	if (view.plot.series.length <= 6)
		return '';
	const none = view.hidden.size === view.plot.series.length;
	return h('button', {
		type: 'button', class: 'series all', onclick: () => {
			view.hidden = new Set(none ? [] : view.plot.series.keys());
			view.plot.series.forEach((_, index) => view.chart.setDatasetVisibility(index, none));
			view.chart.update('none');
			drawLegend(view, layout);
			view.legend.querySelector('button').focus();
		},
	}, none ? 'Show all' : 'Hide all');
}

// The legend's sample of a series: its bar, or its line with its mark.
function swatch(style, layout, points) {
	const canvas = h('canvas', { width: 52, height: 28, 'aria-hidden': 'true', class: 'swatch' });
	const context = canvas.getContext('2d');
	context.scale(2, 2);
	if (layout.bars && !layout.dots) {
		context.fillStyle = style.hatched ? hatch(style.colour) : style.colour;
		context.strokeStyle = style.colour;
		context.fillRect(6, 1, 12, 12);
		context.strokeRect(6, 1, 12, 12);
		return canvas;
	}
	context.strokeStyle = context.fillStyle = style.colour;
	context.lineWidth = 1.75;
	if (!layout.bars && points !== 1) {
		context.setLineDash(style.dash);
		context.beginPath();
		context.moveTo(0, 7);
		context.lineTo(26, 7);
		context.stroke();
		context.setLineDash([]);
	}
	Chart.helpers.drawPoint(context, { pointStyle: style.mark, radius: 4, borderWidth: 1.5 }, 13, 7);
	return canvas;
}

function axisToggle(view) {
	const values = view.plot.series.flatMap((series) => series.points.map((point) => point[1])).filter(isKnown);
	if (view.plot.y.unit === '%' || !values.some((value) => value > 0) || Math.max(...values) < 3 * Math.min(...values))
		return null;
	const text = () => (view.logarithmic ? 'Linear axis' : 'Logarithmic axis');
	const button = h('button', {
		type: 'button', class: 'plain axis', onclick: () => {
			view.logarithmic = !view.logarithmic;
			button.textContent = text();
			drawPlot(view);
			view.note();
		},
	}, text());
	return button;
}

// Points that the axis cannot show are named.
function lostPoints(view) {
	const values = view.plot.series.flatMap((series) => series.points.map((point) => point[1]));
	const lost = view.logarithmic ? values.filter((value) => isKnown(value) && value <= 0).length : 0;
	const more = view.plot.series.length - MOST_RANKED;
	const notes = [];
	if (lost)
		notes.push(`${count(lost, 'point is', 'points are')} zero or less and cannot be drawn on a ` +
			'logarithmic axis: see the table.');
	if (more > 0 && view.plot.series.every((series) => series.points.length <= 1))
		notes.push(`The chart shows the first ${MOST_RANKED} of ${view.plot.series.length}: see the table.`);
	return notes.join(' ');
}

// Whether most points are below a twentieth of the greatest.
function dwarfed(plot) {
	const values = plot.series.flatMap((series) => series.points.map((point) => point[1])).filter(isKnown);
	const most = Math.max(...values);
	return values.filter((value) => value < most / 20).length > values.length / 2;
}

function plotFigure(plot, level) {
	const points = plot.series.flatMap((series) => series.points);
	const caption = [heading(level, dataText(plot.title || 'Untitled chart')),
		plot.note ? h('p', { class: 'note' }, dataText(plot.note)) : null];
	if (!points.some((point) => isKnown(point[0]) && isKnown(point[1])))
		return h('figure', { class: 'plot' }, h('figcaption', {}, caption),
			h('p', { class: 'muted' }, 'This chart has no points: nothing of it could be measured.'));
	if (plot.kind === 'timeline')
		return timelineFigure(plot, caption);
	const view = { plot, logarithmic: plot.y.scale === 'logarithmic', hidden: new Set(), chart: null };
	view.canvas = h('canvas', { role: 'img' });
	view.box = h('div', { class: 'canvas' }, view.canvas);
	view.legend = h('div', { class: 'legend', role: 'group', 'aria-label': 'Series shown' });
	const lost = h('p', { class: 'note' });
	const hint = h('p', { class: 'note tools' });
	view.note = () => {
		lost.textContent = lostPoints(view);
		hint.textContent = !view.logarithmic && plot.kind === 'bar' && dwarfed(plot) ?
			'The longest bars dwarf the others: switch their series off, or take the logarithmic axis.' : '';
	};
	view.note();
	plotViews.push(view);
	return h('figure', { class: 'plot', 'data-plot': shorten(plot.id || '', 80) },
		h('figcaption', {}, caption), view.legend, view.box, lost, hint,
		h('div', { class: 'tools' }, axisToggle(view)), plotTable(plot));
}

function drawPlots() {
	plotViews.forEach(drawPlot);
}

// Another width may ask for bars that lie; Chart.js itself follows small changes.
let resizeTimer = 0;
window.addEventListener('resize', () => {
	clearTimeout(resizeTimer);
	resizeTimer = setTimeout(() => plotViews.forEach((view) => {
		if (view.box.clientWidth && Math.abs(view.box.clientWidth - view.width) > 40)
			drawPlot(view);
	}), 150);
});
