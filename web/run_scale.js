// SPDX-License-Identifier: Apache-2.0
// The part of the run that the timeline shows: from time to pixels and back, zooming, panning, ticks.
'use strict';

const LEAST_SPAN_NS = 20;

function spanOf(view) {
	return view.to - view.from;
}

function pixelAt(view, ns) {
	return view.gutter + (ns - view.from) * (view.width - view.gutter) / spanOf(view);
}

function timeAt(view, x) {
	return view.from + (x - view.gutter) * spanOf(view) / (view.width - view.gutter);
}

// Shows [from, to), kept within what there is and wide enough to be drawn.
function showTimes(view, from, to) {
	const { least, most } = view;
	const span = Math.min(Math.max(to - from, LEAST_SPAN_NS), most - least);
	const middle = (from + to) / 2;
	view.from = Math.min(Math.max(to - from === span ? from : middle - span / 2, least), most - span);
	view.to = view.from + span;
	redraw(view);
}

// `factor` below 1 zooms in; the time at pixel x stays there.
function zoomAt(view, x, factor) {
	const at = timeAt(view, x);
	const span = Math.min(Math.max(spanOf(view) * factor, LEAST_SPAN_NS), view.most - view.least);
	const part = (at - view.from) / spanOf(view);
	showTimes(view, at - part * span, at - part * span + span);
}

function panBy(view, pixels) {
	const shift = pixels * spanOf(view) / (view.width - view.gutter);
	showTimes(view, view.from + shift, view.from + shift + spanOf(view));
}

// Where to go is shown in between, unless the reader wants no motion.
const calmMotion = window.matchMedia('(prefers-reduced-motion: reduce)');
const GLIDE_MS = 180;

function glideTo(view, from, to) {
	const start = { from: view.from, to: view.to, at: performance.now() };
	const turn = view.glide = (view.glide || 0) + 1;
	if (calmMotion.matches || document.hidden) {
		showTimes(view, from, to);
		return;
	}
	const step = () => {
		if (view.glide !== turn)
			return;
		const part = Math.min(1, (performance.now() - start.at) / GLIDE_MS);
		const eased = part * (2 - part);
		showTimes(view, start.from + (from - start.from) * eased, start.to + (to - start.to) * eased);
		if (part < 1)
			requestAnimationFrame(step);
	};
	step();
}

// Shows a slice with some room on both sides.
function zoomToTimes(view, from, to, share = 0.6) {
	const span = Math.max((to - from) / share, LEAST_SPAN_NS);
	const middle = (from + to) / 2;
	glideTo(view, middle - span / 2, middle + span / 2);
}

// Brings a slice into sight without changing the scale, unless it is too small or too large to see.
function revealTimes(view, from, to) {
	const width = (to - from) / spanOf(view);
	const hidden = from < view.from || to > view.to;
	if (width > 1 || (hidden && width < 0.002))
		zoomToTimes(view, from, to, 0.3);
	else if (hidden)
		glideTo(view, (from + to) / 2 - spanOf(view) / 2, (from + to) / 2 + spanOf(view) / 2);
}

// ---- the ruler

// Ticks at 1, 2 or 5 times a power of ten, at least `room` pixels apart.
function rulerTicks(view, room) {
	const least = room * spanOf(view) / (view.width - view.gutter);
	const power = 10 ** Math.floor(Math.log10(least));
	const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= least) || 10 * power;
	const ticks = [];
	for (let i = Math.ceil(view.from / step); i * step <= view.to; i++)
		ticks.push(i * step);
	return { ticks, step };
}

// Every tick in the unit of the step, with the digits that tell it from the next: "12.345 ms".
function tickText(ns, step) {
	const size = Math.max(Math.abs(ns), step);
	const [factor, unit] = TIME_STEPS.slice(1).filter(([each]) => size >= each).pop() || TIME_STEPS[1];
	const decimals = Math.max(0, Math.min(9, -Math.floor(Math.log10(step / factor) + 1e-9)));
	return `${(ns / factor).toFixed(decimals)} ${unit}`;
}

// A moment to the nanosecond where it matters: "1.234567890 s".
function momentText(ns) {
	if (!isKnown(ns))
		return 'n/a';
	const sign = ns < 0 ? '−' : '';
	const size = Math.abs(ns);
	const [factor, unit] = TIME_STEPS.slice(1).filter(([each]) => size >= each).pop() || TIME_STEPS[1];
	const decimals = Math.round(Math.log10(factor));
	return `${sign}${(size / factor).toFixed(decimals)} ${unit}`;
}
