// SPDX-License-Identifier: Apache-2.0
// Lanes as rectangles: at most one a pixel and lane, whatever the number of slices. What is narrower
// than a pixel is shaded by how much of the pixel is covered.
'use strict';

const SHADES = [0.4, 0.6, 0.8, 1];
const FULL_SHADE = SHADES.length - 1;
const PATTERN_PIXELS = 4;   // narrower slices have no pattern
const LABEL_PIXELS = 38;
const LETTER_PIXELS = 6.1;

// Colours and patterns of the theme, made once a theme.
function makeBrushes(context) {
	return PAINTS.map((paint, i) => {
		const colour = paintColour(i);
		const patterned = paint.pattern !== 'solid';
		return { shades: SHADES.map((opacity) => faded(colour, patterned ? 0.6 * opacity : opacity)),
			pattern: patterned ? context.createPattern(paintTile(i), 'repeat') : null,
			ink: patterned ? themeColour('--text') : inkOn(colour), plate: patterned ? themeColour('--back') : null };
	});
}

// Rectangles by how they are painted, so that each style is set once a frame.
class Strokes {
	constructor() {
		this.byStyle = new Map();
		this.labels = [];
		this.count = 0;
	}

	add(style, x, y, width, height) {
		let list = this.byStyle.get(style);
		if (!list)
			this.byStyle.set(style, list = []);
		list.push(x, y, width, height);
		this.count++;
	}

	paint(context, brushes) {
		for (const [style, list] of this.byStyle) {
			const brush = brushes[style >> 3];
			const shade = style & 7;
			context.fillStyle = shade === 7 ? brush.pattern : brush.shades[shade];
			for (let i = 0; i < list.length; i += 4)
				context.fillRect(list[i], list[i + 1], list[i + 2], list[i + 3]);
		}
		context.textBaseline = 'middle';
		for (const { text, x, y, paint, width, height } of this.labels) {
			const brush = brushes[paint];
			if (brush.plate) {
				context.fillStyle = brush.plate;
				context.fillRect(x - 2, y - height / 2 + 2, Math.min(width + 4, text.length * LETTER_PIXELS + 6), height - 4);
			}
			context.fillStyle = brush.ink;
			context.fillText(text, x, y, width);
		}
	}
}

const PATTERN_SHADE = 7;

function addSlice(strokes, view, lane, id, x0, x1, line) {
	const { source } = lane;
	const paint = source.paint(id);
	const left = Math.max(x0, view.gutter);
	const right = Math.min(x1, view.width);
	const dim = view.matches && !view.matches(source, id);
	const patterned = PAINTS[paint].pattern !== 'solid' && right - left >= PATTERN_PIXELS;
	// A line of the background tells neighbours apart where there is room for it.
	const width = Math.max(right - left - (right - left > 3 ? 1 : 0), 0.75);
	strokes.add((paint << 3) | (dim ? 0 : patterned ? PATTERN_SHADE : FULL_SHADE), left, line.y, width, line.height);
	if (right - left >= LABEL_PIXELS && !dim)
		addLabel(strokes, source.label(id), paint, left, right, line);
}

function addLabel(strokes, label, paint, left, right, line) {
	const letters = Math.floor((right - left - 8) / LETTER_PIXELS);
	const text = label.length <= letters ? label : shortenName(label, letters);
	strokes.labels.push({ text, paint, x: left + 4, y: line.y + line.height / 2 + 0.5, width: right - left - 8, height: line.height });
}

// What narrow slices cover of each pixel of a line, all its lanes together, and which paint most.
class Pixels {
	constructor(width) {
		this.cover = new Float64Array(width);
		this.most = new Float64Array(width);
		this.paint = new Uint8Array(width);
	}

	add(pixel, covered, paint) {
		// Slices without a length show, too.
		const seen = covered + 1e-6;
		this.cover[pixel] += seen;
		if (seen > this.most[pixel]) {
			this.most[pixel] = seen;
			this.paint[pixel] = paint;
		}
	}

	// Neighbours that look the same become one rectangle. Leaves all empty for the next line.
	emit(strokes, line) {
		const { cover, most, paint } = this;
		let from = 0;
		let style = -1;
		for (let at = 0; at <= cover.length; at++) {
			const next = at < cover.length && cover[at] > 0 ? (paint[at] << 3) | shadeOf(cover[at]) : -1;
			if (next === style)
				continue;
			if (style >= 0)
				strokes.add(style, from, line.y, at - from, line.height);
			style = next;
			from = at;
		}
		cover.fill(0);
		most.fill(0);
	}
}

function shadeOf(covered) {
	return Math.max(0, Math.min(FULL_SHADE, Math.ceil(covered * SHADES.length - 1e-3) - 1));
}

// The paint of the longest of a few of the slices from `i` up to `next`.
const PAINT_SAMPLES = 4;

function paintOfMany({ ids, busy, source }, i, next) {
	const step = Math.max(1, Math.ceil((next - i) / PAINT_SAMPLES));
	let longest = i;
	for (let at = i + step; at < next; at += step)
		if (busy[at + 1] - busy[at] > busy[longest + 1] - busy[longest])
			longest = at;
	return source.paint(ids[longest]);
}

// The slices from `i` on that begin in one pixel and are narrower than it. Gives the first after them.
function addDense(view, lane, i, hint, pixels) {
	const { busy } = lane;
	const pixel = Math.floor(pixelAt(view, lane.starts[i]));
	const pixelNs = spanOf(view) / (view.width - view.gutter);
	let next = gallop(lane, i, timeAt(view, pixel + 1), hint);
	if (next - 1 > i && busy[next] - busy[next - 1] >= pixelNs)
		next--;
	if (pixel >= view.gutter)
		pixels.add(pixel, (busy[next] - busy[i]) / pixelNs, paintOfMany(lane, i, next));
	return next;
}

// The first slice after `i` that begins at or after `at`; `step` is how far off it may be.
function gallop({ starts }, i, at, step) {
	let low = i + 1;
	let high = low;
	while (high < starts.length && starts[high] < at) {
		low = high + 1;
		high += step;
		step *= 2;
	}
	high = Math.min(high, starts.length);
	while (low < high) {
		const middle = (low + high) >> 1;
		if (starts[middle] < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

function addLane(strokes, view, lane, line, pixels) {
	const { ids, source } = lane;
	const scale = (view.width - view.gutter) / spanOf(view);
	let hint = 1;
	for (let i = firstEndingAfter(lane, view.from); i < ids.length;) {
		const from = lane.starts[i];
		if (from >= view.to)
			break;
		const x0 = view.gutter + (from - view.from) * scale;
		const x1 = view.gutter + (source.to[ids[i]] - view.from) * scale;
		if (x1 - x0 < 1) {
			const next = addDense(view, lane, i, hint, pixels);
			hint = Math.max(1, (next - i) >> 1);
			i = next;
		} else {
			addSlice(strokes, view, lane, ids[i], x0, x1, line);
			i++;
		}
	}
}
