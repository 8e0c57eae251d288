// SPDX-License-Identifier: Apache-2.0
// The timeline's picture: ruler, rows with their titles, what is selected, and the arrows.
'use strict';

const RULER_PIXELS = 26;
const LINE_PIXELS = 17;
const LINE_GAP = 1;
const ROW_GAP = 7;
const GROUP_PIXELS = 22;
const NARROW_PIXELS = 560;  // a narrower timeline has its titles above the rows
const TITLE_PIXELS = 15;
const CANVAS_FONT = '11px system-ui, "Segoe UI", Roboto, "Liberation Sans", Arial, sans-serif';
const PAPER_HEIGHT = 1000;
const PAPER_PIXELS = 800;   // so wide that letters can be read on A4
const MOST_ARROWS = 200;
const ARROW_HEAD = 5;

function groupTitle(view, group) {
	const { header } = view.timeline;
	if (group === 'threads')
		return 'Threads: calls of the API';
	if (group === 'queues')
		return 'Queues: commands by the device’s clock';
	const device = header.devices[Number(group.slice('device-'.length))];
	return `Device: ${device.name || 'no name'}`;
}

// Heights and places of the rows; `y` from the top of the rows.
function layOut(view) {
	let y = 2;
	let group = null;
	view.narrow = view.cssWidth < NARROW_PIXELS;
	view.gutter = view.narrow ? 0 : Math.round(Math.min(190, view.cssWidth * 0.16));
	view.groups = [];
	for (const row of view.rows) {
		if (row.group !== group) {
			({ group } = row);
			view.groups.push({ group, y });
			y += GROUP_PIXELS;
		}
		row.y = y;
		row.linesY = y + (view.narrow ? TITLE_PIXELS : 0);
		row.height = row.linesY - y + row.lanes.length * (LINE_PIXELS + LINE_GAP);
		y += row.height + ROW_GAP;
	}
	view.rowsHeight = y;
}

function lineY(view, row, line) {
	return RULER_PIXELS + row.linesY + line * (LINE_PIXELS + LINE_GAP) - view.scroll;
}

// ---- frames

function redraw(view) {
	if (view.frame)
		return;
	view.frame = requestAnimationFrame(() => {
		view.frame = 0;
		drawFrame(view);
	});
}

// Sizes the canvas to its place on the page and to the pixels of the screen.
function fitCanvas(view) {
	const { canvas } = view;
	const ratio = window.devicePixelRatio || 1;
	const width = printing ? PAPER_PIXELS : view.scroller.clientWidth;
	const height = printing ? Math.min(view.wantedHeight, PAPER_HEIGHT) : view.scroller.clientHeight;
	if (!width || !height)
		return false;
	view.cssWidth = view.width = width;
	view.height = height;
	if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
		canvas.style.width = `${width}px`;
		canvas.style.height = `${height}px`;
	}
	view.context.setTransform(ratio, 0, 0, ratio, 0, 0);
	return true;
}

// Colours change with the theme only.
function themeOf(view) {
	const dark = isDark();
	if (!view.theme || view.theme.dark !== dark) {
		const names = ['back', 'panel', 'text', 'muted', 'border', 'grid', 'accent', 'bad'];
		view.theme = { dark, brushes: makeBrushes(view.context) };
		for (const name of names)
			view.theme[name] = themeColour(`--${name}`);
	}
	return view.theme;
}

// How long the frames took that were drawn last, for whoever measures.
const FRAMES_KEPT = 512;

function drawFrame(view) {
	const began = performance.now();
	if (!view.width)
		return;
	const { context } = view;
	const theme = themeOf(view);
	view.scroll = printing ? 0 : view.scroller.scrollTop;
	context.font = CANVAS_FONT;
	context.fillStyle = theme.back;
	context.fillRect(0, 0, view.width, view.height);
	drawRange(view, theme);
	const ruler = rulerTicks(view, view.narrow ? 70 : 100);
	drawGrid(view, theme, ruler);
	drawGroups(view, theme);
	drawRows(view, theme);
	drawSelection(view, theme);
	drawTitles(view, theme);
	drawRuler(view, theme, ruler);
	view.frameTimes.push(performance.now() - began);
	if (view.frameTimes.length > FRAMES_KEPT)
		view.frameTimes.shift();
	if (view.onFrame)
		view.onFrame();
}

function drawRows(view, theme) {
	const strokes = new Strokes();
	if (!view.pixels || view.pixels.cover.length !== view.width)
		view.pixels = new Pixels(view.width);
	for (const row of view.rows)
		row.lanes.forEach((lanes, i) => {
			const line = { y: lineY(view, row, i), height: LINE_PIXELS };
			if (line.y + line.height < RULER_PIXELS || line.y > view.height)
				return;
			for (const lane of lanes)
				addLane(strokes, view, lane, line, view.pixels);
			view.pixels.emit(strokes, line);
		});
	strokes.paint(view.context, theme.brushes);
	view.rectangles = strokes.count;
}

function drawGrid(view, theme, { ticks }) {
	view.context.fillStyle = theme.grid;
	for (const tick of ticks)
		view.context.fillRect(Math.round(pixelAt(view, tick)), RULER_PIXELS, 1, view.height);
}

function drawRuler(view, theme, { ticks, step }) {
	const { context } = view;
	context.fillStyle = theme.panel;
	context.fillRect(0, 0, view.width, RULER_PIXELS);
	context.fillStyle = theme.border;
	context.fillRect(0, RULER_PIXELS - 1, view.width, 1);
	context.textBaseline = 'middle';
	for (const tick of ticks) {
		const x = Math.round(pixelAt(view, tick));
		if (x < view.gutter)
			continue;
		context.fillStyle = theme.muted;
		context.fillRect(x, RULER_PIXELS - 7, 1, 6);
		const text = tickText(tick, step);
		if (x + 4 + text.length * LETTER_PIXELS < view.width)
			context.fillText(text, x + 4, RULER_PIXELS / 2);
	}
	context.fillStyle = theme.text;
	if (!view.narrow)
		context.fillText(`shown: ${formatNs(spanOf(view))}`, 6, RULER_PIXELS / 2);
	if (view.range)
		drawRangeText(view, theme);
}

function drawGroups(view, theme) {
	const { context } = view;
	for (const { y } of view.groups) {
		context.fillStyle = theme.panel;
		context.fillRect(0, RULER_PIXELS + y - view.scroll, view.width, GROUP_PIXELS - 4);
	}
}

function drawGroupTitles(view, theme) {
	const { context } = view;
	context.fillStyle = theme.text;
	context.font = `bold ${CANVAS_FONT}`;
	for (const { group, y } of view.groups)
		context.fillText(shorten(groupTitle(view, group), Math.floor(view.width / 6.6)), 6, RULER_PIXELS + y - view.scroll + (GROUP_PIXELS - 4) / 2);
	context.font = CANVAS_FONT;
}

function drawTitles(view, theme) {
	const { context } = view;
	if (!view.narrow) {
		// What reaches out of the rows to the left is covered, but not the groups.
		for (const row of view.rows) {
			const y = lineY(view, row, 0) - ROW_GAP;
			context.fillStyle = theme.back;
			context.fillRect(0, y, view.gutter - 1, row.height + 2 * ROW_GAP);
			context.fillStyle = theme.border;
			context.fillRect(view.gutter - 1, y, 1, row.height + 2 * ROW_GAP);
		}
		for (const { y } of view.groups) {
			context.fillStyle = theme.panel;
			context.fillRect(0, RULER_PIXELS + y - view.scroll, view.gutter, GROUP_PIXELS - 4);
		}
	}
	context.textBaseline = 'middle';
	drawGroupTitles(view, theme);
	for (const row of view.rows) {
		const y = view.narrow ? RULER_PIXELS + row.y - view.scroll + TITLE_PIXELS / 2 : lineY(view, row, 0) + LINE_PIXELS / 2;
		const room = view.narrow ? view.width - 8 : view.gutter - 12;
		context.fillStyle = view.selected && view.selected.row === row ? theme.accent : theme.muted;
		context.fillText(shorten(row.title, Math.floor(room / 5.6)), view.narrow ? 4 : 10, y, room);
	}
}

// ---- what is selected

// Where a slice is drawn: its line and pixels. A command is in the row of its queue, its device's
// engine and the calls of its thread.
function placesOf(view, selected) {
	if (!selected)
		return [];
	const places = [];
	for (const row of rowsOf(view, selected))
		row.lanes.forEach((lanes, i) => {
			for (const lane of lanes)
				if (lane.source.kind === selected.kind && indexInLane(lane, selected.id) >= 0)
					places.push({ row, y: lineY(view, row, i), from: lane.source.from[selected.id], to: lane.source.to[selected.id],
						call: lane.source.call === true });
		});
	return places;
}

function drawSelection(view, theme) {
	const { context } = view;
	for (const [slice, colour, width] of [[view.hover, theme.muted, 1.5], [view.selected, theme.text, 2.5]])
		for (const place of placesOf(view, slice)) {
			const x0 = Math.max(pixelAt(view, place.from), view.gutter - 4);
			const x1 = Math.min(Math.max(pixelAt(view, place.to), x0 + 3), view.width + 4);
			if (x1 < view.gutter || x0 > view.width)
				continue;
			context.strokeStyle = colour;
			context.lineWidth = width;
			context.strokeRect(x0, place.y - 0.5, x1 - x0, LINE_PIXELS + 1);
		}
	if (view.selected && view.selected.kind === 'command')
		drawArrows(view, theme);
}

// From the end of what the command waited for to its start, from its end to those that waited for
// it, and from the call to the command.
function drawArrows(view, theme) {
	const arrows = arrowsOf(view, view.selected.id);
	for (const arrow of arrows.slice(0, MOST_ARROWS)) {
		const y0 = arrow.fromY + LINE_PIXELS / 2;
		const y1 = arrow.toY + LINE_PIXELS / 2;
		drawArrow(view, pixelAt(view, arrow.from), y0, pixelAt(view, arrow.to), y1, arrow.kind === 'call' ? theme.accent : theme.bad,
			arrow.kind === 'call' ? [4, 3] : []);
	}
}

function drawArrow(view, x0, y0, x1, y1, colour, dash) {
	const { context } = view;
	if (Math.max(x0, x1) < view.gutter || Math.min(x0, x1) > view.width)
		return;
	// Far outside of the canvas a curve costs much and shows nothing.
	const limit = (x) => Math.min(Math.max(x, -2000), view.width + 2000);
	const [a, b] = [limit(x0), limit(x1)];
	const bend = Math.max(12, Math.min(60, Math.abs(b - a) / 2));
	context.strokeStyle = context.fillStyle = colour;
	context.lineWidth = 1.5;
	context.setLineDash(dash);
	context.beginPath();
	context.moveTo(a, y0);
	context.bezierCurveTo(a + bend, y0, b - bend, y1, b - ARROW_HEAD, y1);
	context.stroke();
	context.setLineDash([]);
	context.beginPath();
	context.moveTo(b, y1);
	context.lineTo(b - ARROW_HEAD - 2, y1 - ARROW_HEAD + 1);
	context.lineTo(b - ARROW_HEAD - 2, y1 + ARROW_HEAD - 1);
	context.fill();
}

// ---- the range

function drawRange(view, theme) {
	if (!view.range)
		return;
	const x0 = pixelAt(view, view.range.from);
	const x1 = pixelAt(view, view.range.to);
	view.context.fillStyle = faded(theme.accent, 0.16);
	view.context.fillRect(x0, 0, Math.max(1, x1 - x0), view.height);
}

function drawRangeText(view, theme) {
	const { context, range } = view;
	const x0 = Math.max(pixelAt(view, range.from), view.gutter);
	const x1 = Math.min(pixelAt(view, range.to), view.width);
	if (x1 < view.gutter || x0 > view.width)
		return;
	const text = formatNs(range.to - range.from, 4);
	const width = text.length * LETTER_PIXELS + 10;
	const at = Math.max(view.gutter, Math.min((x0 + x1 - width) / 2, view.width - width));
	context.fillStyle = theme.accent;
	context.fillRect(x0, RULER_PIXELS - 4, Math.max(1, x1 - x0), 3);
	context.fillRect(at, 3, width, RULER_PIXELS - 9);
	context.fillStyle = inkOn(theme.accent);
	context.fillText(text, at + 5, RULER_PIXELS / 2 - 1);
}
