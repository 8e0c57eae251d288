// SPDX-License-Identifier: Apache-2.0
// A timeline: a lane an engine or stage, a bar from begin to end for each chunk. Bars are elements,
// so they print, follow the width, and can be reached by keyboard.
'use strict';

const BAR_COLOURS = 8;       // neighbouring chunks differ, and one chunk is found in every lane
const LANE_ROWS = 4;         // bars that overlap within a lane stand below each other
const LEAST_BAR_PIXELS = 5;  // on a narrow screen the chart scrolls rather than shrink below it
const timelineViews = [];

function timelineBars(plot) {
	return plot.series.map((series) => series.points
		.map(([, chunk, low, high]) => ({ lane: series.name, chunk, low, high }))
		.filter((bar) => isKnown(bar.low) && isKnown(bar.high) && bar.high >= bar.low)
		.sort((a, b) => a.low - b.low));
}

// Gives each bar the first row of its lane that is free when it begins.
function stackBars(bars) {
	const ends = [];
	for (const bar of bars) {
		const free = ends.findIndex((end) => end <= bar.low);
		bar.row = free >= 0 ? free : Math.min(ends.length, LANE_ROWS - 1);
		ends[bar.row] = Math.max(bar.high, ends[bar.row] || 0);
	}
	return Math.max(ends.length, 1);
}

function barText(plot, bar) {
	const at = (value) => formatValue(value, plot.x.unit, 4);
	const what = isKnown(bar.chunk) ? `, ${plot.y.title || 'chunk'} ${bar.chunk}` : '';
	return `${shorten(bar.lane, 60)}${what}: ${at(bar.low)} to ${at(bar.high)} (${at(bar.high - bar.low)})`;
}

function timelineFigure(plot, caption) {
	const lanes = timelineBars(plot);
	const all = lanes.flat();
	const view = { plot, lanes, from: Math.min(0, ...all.map((bar) => bar.low)), to: Math.max(...all.map((bar) => bar.high)) };
	const figure = h('figure', { class: 'plot', 'data-plot': shorten(plot.id || '', 80) }, h('figcaption', {}, caption));
	if (!all.length || !(view.to > view.from)) {
		figure.append(h('p', { class: 'muted' }, 'This chart has no bars: nothing of it could be measured.'));
		return figure;
	}
	view.area = h('div', { class: 'timeline', tabindex: 0, role: 'application', 'aria-roledescription': 'timeline',
		'aria-label': `${shorten(plot.title, 120)}. ${count(lanes.length, 'lane')}, ${count(all.length, 'bar')}, ` +
			`${formatValue(view.to - view.from, plot.x.unit)}. Arrow keys go from bar to bar; the same figures follow as a table.`,
		onkeydown: (event) => timelineKey(view, event),
		onpointerover: (event) => timelinePoint(view, event), onpointerdown: (event) => timelinePoint(view, event),
		onpointerleave: () => chooseBar(view, null), onblur: () => chooseBar(view, null) });
	view.tip = h('div', { class: 'tip', hidden: true });
	view.area.append(...lanes.map((bars, i) => timelineLane(view, plot.series[i].name, bars)), timelineAxis(view), view.tip);
	timelineViews.push(view);
	const longest = Math.max(...lanes.map((bars) => bars.length));
	view.area.style.setProperty('--least', `${Math.min(1600, longest * LEAST_BAR_PIXELS + 120)}px`);
	figure.append(h('div', { class: 'timeline-scroll' }, view.area), timelineTable(plot, all));
	return figure;
}

function timelineLane(view, name, bars) {
	const rows = stackBars(bars);
	const percent = (value) => `${(100 * value / (view.to - view.from)).toFixed(4)}%`;
	return h('div', { class: 'lane', style: `--rows:${rows}` }, h('span', { class: 'name', title: name.length > 40 ? shorten(name, 400) : null },
		h('bdi', {}, shorten(name || '(no name)', 40))),
		h('div', { class: 'track' }, bars.map((bar) => {
			bar.element = h('span', { class: 'bar', style: `left:${percent(bar.low - view.from)};` +
				`width:${percent(bar.high - bar.low)};--row:${bar.row}` }, h('span', { 'aria-hidden': 'true' },
				isKnown(bar.chunk) ? String(bar.chunk) : ''));
			bar.element.bar = bar;
			return bar.element;
		})));
}

function timelineAxis(view) {
	const ticks = linearTicks(view.from, view.to, 6);
	const left = (tick) => 100 * (tick - view.from) / (view.to - view.from);
	return h('div', { class: 'lane axis', 'aria-hidden': 'true' }, h('span', { class: 'name' }, axisTitle(view.plot.x)),
		h('div', { class: 'track ticks' }, ticks.map((tick) =>
			h('span', { style: `left:${left(tick).toFixed(2)}%`, class: left(tick) > 96 ? 'last' : null },
				axisText(tick, view.plot.x.unit)))));
}

// ---- what is pointed at

function timelinePoint(view, event) {
	const element = event.target.closest('.bar');
	chooseBar(view, element ? element.bar : null);
}

function chooseBar(view, bar) {
	if (view.chosen === bar)
		return;
	view.chosen = bar;
	for (const each of view.lanes.flat()) {
		each.element.classList.toggle('chosen', each === bar);
		each.element.classList.toggle('same', Boolean(bar) && each !== bar && each.chunk === bar.chunk);
	}
	view.tip.hidden = !bar;
	if (!bar)
		return;
	view.tip.textContent = barText(view.plot, bar);
	placeTip(view, bar.element);
}

// Above the bar, within the part of the chart that is on the screen.
function placeTip(view, element) {
	const area = view.area.getBoundingClientRect();
	const shown = view.area.parentNode.getBoundingClientRect();
	const at = element.getBoundingClientRect();
	const least = Math.max(shown.left, area.left) - area.left;
	const most = Math.min(shown.right, area.right) - area.left - view.tip.offsetWidth;
	view.tip.style.left = `${Math.max(least, Math.min(at.left - area.left, most))}px`;
	view.tip.style.top = `${at.bottom - area.top + 3}px`;
}

function timelineKey(view, event) {
	const lane = view.lanes.findIndex((bars) => bars.includes(view.chosen));
	const steps = { ArrowRight: 1, ArrowLeft: -1 };
	let bar = null;
	if (event.key === 'Escape')
		return chooseBar(view, null);
	if (event.key === 'Home' || event.key === 'End' || lane < 0)
		bar = /^(Arrow|Home|End)/.test(event.key) ? view.lanes[Math.max(lane, 0)].at(event.key === 'End' ? -1 : 0) : null;
	else if (steps[event.key])
		bar = view.lanes[lane][view.lanes[lane].indexOf(view.chosen) + steps[event.key]] || view.chosen;
	else if (event.key === 'ArrowDown' || event.key === 'ArrowUp')
		bar = beside(view.lanes[lane + (event.key === 'ArrowDown' ? 1 : -1)] || [], view.chosen) || view.chosen;
	if (!bar)
		return undefined;
	event.preventDefault();
	chooseBar(view, bar);
	announce(barText(view.plot, bar));
	bar.element.scrollIntoView({ block: 'nearest', inline: 'nearest' });
	return placeTip(view, bar.element);
}

// The bar of the same chunk in another lane, else the first that ends after this one begins.
function beside(bars, bar) {
	return bars.find((each) => each.chunk === bar.chunk) || bars.find((each) => each.high > bar.low);
}

// ---- drawing

// Colours of the theme, and numbers where there is room for them.
function drawTimelines() {
	for (const view of timelineViews) {
		view.area.style.width = printing ? `${PRINT_WIDTH}px` : '';
		const digits = 7;
		const width = view.area.querySelector('.track').clientWidth;
		for (const bar of view.lanes.flat()) {
			bar.element.style.setProperty('--bar', seriesStyle(Math.abs(Math.trunc(bar.chunk || 0)) % BAR_COLOURS).colour);
			const room = width * (bar.high - bar.low) / (view.to - view.from);
			bar.element.classList.toggle('narrow', room < 6 + digits * String(bar.chunk).length);
		}
	}
}

window.addEventListener('resize', () => drawTimelines());

function timelineTable(plot, bars) {
	const time = (title, pick) => ({ title, numeric: true, value: pick, show: (bar) => formatValue(pick(bar), plot.x.unit, 4) });
	return h('details', { class: 'figures' }, h('summary', {}, 'The figures as a table'),
		sortableTable(`${plot.title}: bars`, [{ title: 'lane', header: true, value: (bar) => bar.lane },
			{ title: plot.y.title || 'chunk', numeric: true, value: (bar) => bar.chunk,
				show: (bar) => (isKnown(bar.chunk) ? String(bar.chunk) : 'n/a') },
			time('begin', (bar) => bar.low), time('end', (bar) => bar.high),
			time('duration', (bar) => bar.high - bar.low)], bars));
}
