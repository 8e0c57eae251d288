// SPDX-License-Identifier: Apache-2.0
// Wheel, pointers and keys of the timeline.
'use strict';

const ZOOM_STEP = 1.4;
const PAN_SHARE = 0.2;       // of the width, by a key
const GRAB_PIXELS = 4;       // a smaller movement is a click
const REACH_PIXELS = 4;      // a bar this near is meant
const SCROLL_QUIET_MS = 250; // a wheel that was scrolling the page goes on doing so

// ---- what lies under a point

function sliceAt(view, x, y) {
	if (x < view.gutter || y < RULER_PIXELS)
		return null;
	const at = timeAt(view, x);
	const reach = REACH_PIXELS * spanOf(view) / (view.width - view.gutter);
	for (const row of view.rows) {
		const line = Math.floor((y - lineY(view, row, 0)) / (LINE_PIXELS + LINE_GAP));
		if (line >= 0 && line < row.lanes.length)
			return nearestSlice(row, row.lanes[line], at, reach);
	}
	return null;
}

function pointIn(view, event) {
	const box = view.canvas.getBoundingClientRect();
	return { x: event.clientX - box.left, y: event.clientY - box.top };
}

function hoverAt(view, event) {
	const { x, y } = pointIn(view, event);
	const slice = sliceAt(view, x, y);
	view.pointerX = x > view.gutter ? x : null;
	const same = slice && view.hover && slice.kind === view.hover.kind && slice.id === view.hover.id && slice.row === view.hover.row;
	if (!same && (slice || view.hover)) {
		view.hover = slice;
		redraw(view);
	}
	showTip(view, slice, x, y);
}

function endHover(view) {
	if (view.hover)
		redraw(view);
	view.hover = null;
	view.pointerX = null;
	view.tip.hidden = true;
}

// ---- wheel

let lastPageScroll = -Infinity;

function onWheel(view, event) {
	const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
	if (!event.ctrlKey && !event.shiftKey && !sideways && performance.now() - lastPageScroll < SCROLL_QUIET_MS)
		return;
	const { x } = pointIn(view, event);
	if (x < view.gutter && !event.ctrlKey && !event.shiftKey)
		return;
	event.preventDefault();
	view.glide = (view.glide || 0) + 1;
	const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
	if (sideways || event.shiftKey)
		panBy(view, (sideways ? event.deltaX : event.deltaY) * unit);
	else
		zoomAt(view, x, Math.exp(Math.max(-1, Math.min(1, event.deltaY * unit / 400))));
	endHover(view);
}

// ---- pointers: drag, pinch, shift and drag for a range

function onPointerDown(view, event) {
	if (event.button !== 0)
		return;
	view.canvas.focus({ preventScroll: true });
	view.canvas.setPointerCapture(event.pointerId);
	const point = pointIn(view, event);
	view.glide = (view.glide || 0) + 1;
	view.pointers.set(event.pointerId, point);
	if (view.pointers.size === 1) {
		const ranging = event.shiftKey || point.y < RULER_PIXELS;
		view.grab = { ...point, from: view.from, to: view.to, scroll: view.scroller.scrollTop, moved: false, ranging,
			start: timeAt(view, point.x) };
	} else {
		view.grab = null;
		view.pinch = pinchOf(view);
	}
	endHover(view);
}

function pinchOf(view) {
	const [a, b] = [...view.pointers.values()];
	return { middle: (a.x + b.x) / 2, apart: Math.max(20, Math.abs(a.x - b.x)) };
}

function onPointerMove(view, event) {
	if (!view.pointers.has(event.pointerId)) {
		hoverAt(view, event);
		return;
	}
	const point = pointIn(view, event);
	view.pointers.set(event.pointerId, point);
	if (view.pinch && view.pointers.size === 2) {
		const now = pinchOf(view);
		panBy(view, view.pinch.middle - now.middle);
		zoomAt(view, now.middle, view.pinch.apart / now.apart);
		view.pinch = now;
	} else if (view.grab) {
		dragTo(view, point);
	}
}

function dragTo(view, { x, y }) {
	const { grab } = view;
	if (!grab.moved && Math.hypot(x - grab.x, y - grab.y) < GRAB_PIXELS)
		return;
	grab.moved = true;
	if (grab.ranging) {
		const at = Math.max(view.from, Math.min(timeAt(view, x), view.to));
		setRange(view, Math.min(at, grab.start), Math.max(at, grab.start));
		return;
	}
	const shift = (grab.x - x) * (grab.to - grab.from) / (view.width - view.gutter);
	view.scroller.scrollTop = grab.scroll + grab.y - y;
	showTimes(view, grab.from + shift, grab.to + shift);
}

function onPointerUp(view, event) {
	const { grab } = view;
	view.pointers.delete(event.pointerId);
	view.pinch = null;
	if (grab && !grab.moved && event.type === 'pointerup') {
		const { x, y } = pointIn(view, event);
		if (grab.ranging)
			setRange(view, null);
		chooseSlice(view, sliceAt(view, x, y), { reveal: false });
	}
	if (grab && grab.moved && grab.ranging && view.range)
		announce(rangeText(view));
	view.grab = null;
}

// ---- keys

const TIMELINE_KEYS = {
	ArrowLeft: (view) => panBy(view, -PAN_SHARE * view.width),
	ArrowRight: (view) => panBy(view, PAN_SHARE * view.width),
	ArrowUp: (view) => stepRow(view, -1),
	ArrowDown: (view) => stepRow(view, 1),
	a: (view) => panBy(view, -PAN_SHARE * view.width),
	d: (view) => panBy(view, PAN_SHARE * view.width),
	w: (view) => zoomAt(view, view.pointerX || anchorX(view), 1 / ZOOM_STEP),
	s: (view) => zoomAt(view, view.pointerX || anchorX(view), ZOOM_STEP),
	'+': (view) => zoomAt(view, anchorX(view), 1 / ZOOM_STEP),
	'=': (view) => zoomAt(view, anchorX(view), 1 / ZOOM_STEP),
	'-': (view) => zoomAt(view, anchorX(view), ZOOM_STEP),
	'0': (view) => glideTo(view, view.least, view.most),
	Home: (view) => showTimes(view, view.least, view.least + spanOf(view)),
	End: (view) => showTimes(view, view.most - spanOf(view), view.most),
	PageUp: (view) => view.scroller.scrollBy(0, -view.height * 0.8),
	PageDown: (view) => view.scroller.scrollBy(0, view.height * 0.8),
	n: (view) => stepSlice(view, 1),
	p: (view) => stepSlice(view, -1),
	f: (view) => zoomToSlice(view),
	Enter: (view) => view.selected && view.details.focus(),
	Escape: (view) => (view.range ? setRange(view, null) : chooseSlice(view, null)),
	r: (view) => rangeOfSlice(view),
	'/': (view) => view.searchInput.focus(),
	'?': (view) => { view.help.open = !view.help.open; },
};

const KEY_WORDS = [['← →, A D', 'earlier, later'], ['+ −, W S, wheel', 'zoom'], ['0', 'all of the run'], ['Home, End', 'its beginning, its end'],
	['n, p', 'next, previous bar of the row'], ['↑ ↓', 'row above, below'], ['f', 'zoom to what is selected'], ['Enter', 'its fields'],
	['r, Shift and drag', 'measure a range'], ['/', 'find a name'], ['Shift and wheel, drag', 'move'], ['Page Up, Page Down', 'scroll the rows'],
	['Esc', 'nothing selected']];

function middleX(view) {
	return (view.gutter + view.width) / 2;
}

// Keys zoom about what is selected when it can be seen, else about the middle.
function anchorX(view) {
	if (view.selected) {
		const [from, to] = timesOf(view, view.selected);
		const x = pixelAt(view, (from + to) / 2);
		if (x > view.gutter && x < view.width)
			return x;
	}
	return middleX(view);
}

function onKey(view, event) {
	if (event.ctrlKey || event.altKey || event.metaKey)
		return;
	const action = TIMELINE_KEYS[event.key] || TIMELINE_KEYS[event.key.toLowerCase()];
	if (!action)
		return;
	event.preventDefault();
	action(view);
}

function listenToTimeline(view) {
	const { canvas } = view;
	canvas.addEventListener('wheel', (event) => onWheel(view, event), { passive: false });
	canvas.addEventListener('pointerdown', (event) => onPointerDown(view, event));
	canvas.addEventListener('pointermove', (event) => onPointerMove(view, event));
	for (const name of ['pointerup', 'pointercancel'])
		canvas.addEventListener(name, (event) => onPointerUp(view, event));
	canvas.addEventListener('pointerleave', () => endHover(view));
	canvas.addEventListener('dblclick', () => zoomToSlice(view));
	canvas.addEventListener('keydown', (event) => onKey(view, event));
	view.scroller.addEventListener('scroll', () => redraw(view));
	window.addEventListener('scroll', () => { lastPageScroll = performance.now(); }, { passive: true });
	new ResizeObserver(() => resizeTimeline(view)).observe(view.scroller);
}
