// SPDX-License-Identifier: Apache-2.0
// What the parts of a run are called and how they look: colours in light and dark, and a pattern, so
// that none is told by its colour alone.
'use strict';

// Categories of the ledger (src/analysis/ledger/ledger.h), in its order: title, light, dark, pattern, and the kind that
// its title names first.
const CATEGORIES = {
	kernel: ['kernels', '#0072B2', '#56B4E9', 'solid'],
	transfer_to_device: ['transfers not hidden, to device', '#C44E00', '#FF9548', 'solid'],
	transfer_from_device: ['transfers not hidden, to host', '#00805C', '#2EC99A', 'solid'],
	transfer_both_ways: ['transfers not hidden, both ways', '#8A6A00', '#E8CB4A', 'solid'],
	local_copy: ['copies and fills on the device', '#9A3D8F', '#E59AD0', 'solid'],
	before_first_call: ['before the first API call', '#6B7280', '#9AA3AF', 'dots', 'idle'],
	host_build: ['building kernels', '#B03A5B', '#FF8FA8', 'diagonal', 'idle'],
	host_load: ['loading kernels', '#8C3A7A', '#F0A0D8', 'dots', 'idle'],
	host_allocate: ['allocating memory', '#6B5BB5', '#A99BF5', 'back', 'idle'],
	host_blocking_copy: ['waiting for a blocking copy', '#A8552A', '#D98A5C', 'cross', 'idle'],
	host_wait: ['host was in a wait', '#1F6F8B', '#7FB6D6', 'horizontal', 'idle'],
	host_api: ['host was in other API calls', '#7A6A1F', '#C9B45C', 'vertical', 'idle'],
	host_release: ['host was releasing objects', '#7D4A86', '#D3A0DC', 'back', 'idle'],
	host_query: ['host was in queries', '#9C5221', '#E0A36B', 'horizontal', 'idle'],
	host_computing: ['host was computing', '#4A4A4A', '#C9CDD3', 'diagonal', 'idle'],
	host_off_cpu: ['host was off the CPU', '#6D747E', '#98A0AB', 'back', 'idle'],
	held: ['enqueued, not submitted', '#A3141B', '#FF8F8F', 'vertical', 'idle'],
	dependency: ['waiting for another command', '#0A7070', '#5FD0D0', 'cross', 'idle'],
	dispatch: ['submitted, not started', '#5A4FCF', '#9F97FF', 'dots', 'idle'],
	process_ended: ['the program had ended', '#7C8490', '#8B929C', 'horizontal', 'idle'],
	untimed: ['not timed: commands were in flight', '#8A4B00', '#F0B35C', 'dots'],
	not_recorded: ['not recorded', '#535B66', '#A9B1BC', 'cross'],
	unknown: ['unknown', '#535B66', '#A9B1BC', 'outline'],
};

function categoryTitle(name) {
	const kind = CATEGORIES[name] && CATEGORIES[name][4];
	return kind ? `${kind}: ${causeTitle(name)}` : causeTitle(name);
}

// The same where it is said elsewhere that the device was idle.
function causeTitle(name) {
	return CATEGORIES[name] ? CATEGORIES[name][0] : words(name);
}

// What a slice is painted with: {title, light, dark, pattern}. Numbers of them are kept a slice.
const PAINTS = [];
const PAINT_OF = { category: {}, kernel: [], role: {}, phase: [], engine: {} };

function addPaint(title, light, dark, pattern = 'solid') {
	PAINTS.push({ title, light, dark, pattern });
	return PAINTS.length - 1;
}

for (const [name, row] of Object.entries(CATEGORIES))
	PAINT_OF.category[name] = addPaint(categoryTitle(name), ...row.slice(1, 4));
PAINT_OF.engine = {
	toDevice: addPaint('copies to the device', '#C44E00', '#FF9548'),
	fromDevice: addPaint('copies to the host', '#00805C', '#2EC99A'),
	local: addPaint('copies and fills on the device', '#9A3D8F', '#E59AD0'),
	other: addPaint('markers, barriers and others', '#5B636E', '#A9B1BC'),
};
// Neighbouring kernels differ; the first is the ledger's.
for (const [light, dark] of [['#0072B2', '#56B4E9'], ['#4B55B8', '#8FA2FF'], ['#007C89', '#4FD0DC'],
	['#2B5C8A', '#7FA8D8'], ['#5B4FA0', '#B3A3F5'], ['#1D6E6E', '#7FD6C6']])
	PAINT_OF.kernel.push(addPaint('kernels', light, dark));
for (const [name, title, light, dark] of [
	['other', 'calls that set', '#8A93A0', '#7D8794'], ['query', 'queries', '#9C5221', '#E0A36B'],
	['release', 'releases', '#7D4A86', '#D3A0DC'], ['command', 'calls that enqueue', '#55677C', '#93A8C0'],
	['wait', 'waits', '#C08A00', '#E8CB4A'], ['flush', 'flushes', '#3E7F4F', '#7CC58E'],
	['build', 'builds', '#B03A5B', '#FF8FA8'], ['allocate', 'allocations', '#6B5BB5', '#A99BF5'],
	['create', 'objects made', '#8A6A4A', '#C7A585'], ['start', 'platforms and devices', '#6B7280', '#9AA3AF'],
	['poll', 'polling', '#9A6A00', '#D9B45C'], ['callback', 'callbacks of the program', '#9A3D8F', '#E59AD0']])
	PAINT_OF.role[name] = addPaint(title, light, dark);
for (const [light, dark] of [['#5F6F52', '#A8BD94'], ['#7A5C68', '#CFA3B3'], ['#4F6D7A', '#9CC3D3']])
	PAINT_OF.phase.push(addPaint('phases', light, dark));

const ENGINE_TITLES = ['compute', 'copy to device', 'copy to host', 'within device'];
const UNTIMED_WORDS = {
	refused: 'the API refused them', failed: 'the command ended with an error', abandoned: 'the process ended first',
	no_room: 'too many commands were pending', reused: 'its event was used again before it was read', unusable: 'times came that cannot be',
	not_sampled: 'others of their kind stand for them',
};
// What a command has to do with a command list.
const COMMAND_PARTS = { alone: 0, executes: 1, executesMore: 2, run: 3 };

const COMMAND_FLAGS = { blocking: 2, noTimes: 32, nested: 128 };
const CALL_FAILED = 1;
const PHASE_FLAGS = { instant: 1, unended: 2, range: 4 };
const CONFIDENCES = { sure: 'it would be saved', likely: 'not all of it need be saved', possible: 'a model or a pattern says so' };

function paintColour(paint) {
	return isDark() ? PAINTS[paint].dark : PAINTS[paint].light;
}

// ---- contrast

function luminance(colour) {
	const [r, g, b] = [1, 3, 5].map((at) => {
		const part = parseInt(colour.slice(at, at + 2), 16) / 255;
		return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
	});
	return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

// Black or white, whichever reads better: at least 4.5 to 1 on any colour.
function inkOn(colour) {
	return luminance(colour) > 0.179 ? '#000000' : '#ffffff';
}

// ---- patterns

const PATTERN_TILE = 8;

function strokePattern(context, pattern) {
	const line = (x, y, u, v) => {
		context.moveTo(x, y);
		context.lineTo(u, v);
	};
	context.beginPath();
	for (const at of [-8, 0, 8]) {
		if (pattern === 'diagonal' || pattern === 'cross')
			line(at - 1, 9, at + 9, -1);
		if (pattern === 'back' || pattern === 'cross')
			line(at - 1, -1, at + 9, 9);
	}
	if (pattern === 'horizontal')
		line(0, 4, 8, 4);
	if (pattern === 'vertical')
		line(4, 0, 4, 8);
	context.stroke();
}

// A tile of the paint: lines of its colour on a tint of it over the page's background.
function paintTile(paint) {
	const colour = paintColour(paint);
	const { pattern } = PAINTS[paint];
	const tile = document.createElement('canvas');
	tile.width = tile.height = PATTERN_TILE;
	const context = tile.getContext('2d');
	if (pattern === 'solid') {
		context.fillStyle = colour;
		context.fillRect(0, 0, PATTERN_TILE, PATTERN_TILE);
		return tile;
	}
	context.fillStyle = themeColour('--back');
	context.fillRect(0, 0, PATTERN_TILE, PATTERN_TILE);
	context.fillStyle = faded(colour, pattern === 'outline' ? 0.12 : 0.25);
	context.fillRect(0, 0, PATTERN_TILE, PATTERN_TILE);
	context.fillStyle = context.strokeStyle = colour;
	context.lineWidth = 1.6;
	if (pattern === 'dots') {
		context.fillRect(1, 1, 2, 2);
		context.fillRect(5, 5, 2, 2);
	} else {
		strokePattern(context, pattern);
	}
	return tile;
}

// A small square in HTML that looks as the paint does in the timeline; follows the theme.
const swatches = [];

function paintSwatch(paint) {
	const element = h('span', { class: 'paint', 'aria-hidden': 'true' });
	swatches.push({ element, paint });
	return element;
}

function drawSwatches() {
	const tiles = new Map();
	for (const { element, paint } of swatches) {
		if (!tiles.has(paint))
			tiles.set(paint, paintTile(paint).toDataURL());
		element.style.backgroundImage = `url(${tiles.get(paint)})`;
		element.style.borderColor = paintColour(paint);
	}
}
