// SPDX-License-Identifier: Apache-2.0
// The timeline's data, from base64 to typed arrays; docs/page-run.md has the format.
'use strict';

const NO_ROW = 0xffffffff;    // no row, no object, not known: in arrays of Uint32
const NO_LANE = 255;          // has no place in its row: no times, no engine, or too many at once
const TIMELINE_VERSION = 1;
const BASE64_CHUNK = 1 << 20; // characters; a multiple of 4
const TURN_MS = 30;           // decoding lets the page draw that often

// A sink that counts how far decoding is, and gives the page a turn now and then.
function decodingTurns(progress) {
	let last = performance.now();
	return async (fraction) => {
		if (performance.now() - last < TURN_MS)
			return;
		if (progress)
			progress(fraction);
		await new Promise((resolve) => setTimeout(resolve));
		last = performance.now();
	};
}

// Browsers of before 2025 have no fromBase64.
function bytesOfBase64(text) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const part = atob(text);
	const bytes = new Uint8Array(part.length);
	for (let i = 0; i < part.length; i++)
		bytes[i] = part.charCodeAt(i);
	return bytes;
}

async function writeBase64(text, writer, turn) {
	for (let at = 0; at < text.length; at += BASE64_CHUNK) {
		await writer.write(bytesOfBase64(text.slice(at, at + BASE64_CHUNK)));
		await turn(0.5 * at / text.length);
	}
	await writer.close();
}

async function readAll(stream) {
	const parts = [];
	let length = 0;
	const reader = stream.getReader();
	for (;;) {
		const { done, value } = await reader.read();
		if (done)
			break;
		parts.push(value);
		length += value.length;
	}
	const bytes = new Uint8Array(length);
	let at = 0;
	for (const part of parts) {
		bytes.set(part, at);
		at += part.length;
	}
	return bytes;
}

async function inflateBase64(base64, turn) {
	const stream = new DecompressionStream('deflate');
	// A stream that is cut short fails in both ends; the reader's failure is the one to tell.
	const written = writeBase64(base64.trim(), stream.writable.getWriter(), turn).catch(() => {});
	const bytes = await readAll(stream.readable);
	await written;
	return bytes;
}

// Integers as sign and magnitude in seven bits a byte; minus zero stands for what is not known.
function decodeIntegers(bytes, column, values, base) {
	const unknown = values instanceof Float64Array ? NaN : NO_ROW;
	const delta = column.type === 'delta';
	let at = column.offset;
	let previous = 0;
	for (let row = 0; row < column.count; row++) {
		let byte = bytes[at++];
		const negative = byte & 1;
		let magnitude = (byte & 0x7f) >> 1;
		let scale = 64;
		while (byte & 0x80) {
			byte = bytes[at++];
			magnitude += (byte & 0x7f) * scale;
			scale *= 128;
		}
		if (negative && magnitude === 0) {
			values[row] = unknown;
			continue;
		}
		let value = negative ? -magnitude : magnitude;
		if (delta)
			value = previous += value;
		values[row] = base ? value + base[row] : value;
	}
	if (at !== column.offset + column.bytes)
		throw new Error('a column of the timeline is not as long as its header says');
	return values;
}

// One column: Uint8Array as it is, Uint32Array where `indices` has its name, else Float64Array.
function decodeColumn(bytes, columns, name, indices, done) {
	const column = columns[name];
	if (column.type === 'u8')
		return bytes.slice(column.offset, column.offset + column.count);
	if (column.type !== 'varint' && column.type !== 'delta')
		throw new Error(`the timeline has a column of type ${column.type}, which this page does not know`);
	const values = indices.has(name) ? new Uint32Array(column.count) : new Float64Array(column.count);
	return decodeIntegers(bytes, column, values, column.relative_to ? done[column.relative_to] : null);
}

const INDEX_COLUMNS = new Set(['number', 'thread', 'queue', 'object', 'shape', 'function', 'waits', 'stack',
	'command', 'device', 'name', 'domain', 'depth', 'parent', 'site', 'frames', 'text',
	'executed_by', 'phase', 'link']);

function camelCase(name) {
	return name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
}

// Columns come after those that they are relative to.
async function decodeTable(bytes, columns, turn, fraction) {
	const table = {};
	const names = Object.keys(columns);
	for (const name of names) {
		table[name] = decodeColumn(bytes, columns, name, INDEX_COLUMNS, table);
		await turn(fraction);
	}
	const decoded = { count: names.length ? columns[names[0]].count : 0 };
	for (const name of names)
		decoded[camelCase(name)] = table[name];
	return decoded;
}

// In the file a command has the number of those it waits for; the page wants where they are.
function placeWaits(commands, waits) {
	commands.firstWait = new Uint32Array(commands.count).fill(NO_ROW);
	waits.last = new Uint8Array(waits.count);
	let at = 0;
	for (let row = 0; row < commands.count; row++) {
		if (!commands.waits[row])
			continue;
		commands.firstWait[row] = at;
		at += commands.waits[row];
		waits.last[at - 1] = 1;
	}
}

function placeInside(calls) {
	calls.inside = new Float64Array(calls.count);
	for (let row = 0; row < calls.count; row++)
		calls.inside[row] = calls.exit[row] - calls.enter[row] - calls.outside[row];
}

function placeFrames(stacks) {
	stacks.firstFrame = new Uint32Array(stacks.count);
	for (let row = 1; row < stacks.count; row++)
		stacks.firstFrame[row] = stacks.firstFrame[row - 1] + stacks.frames[row - 1];
}

function decodeHeader(bytes) {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	const text = new TextDecoder();
	if (bytes.length < 16 || text.decode(bytes.subarray(0, 8)) !== 'tareline')
		throw new Error('the timeline in this page is damaged');
	if (view.getUint32(8, true) !== TIMELINE_VERSION)
		throw new Error(`the timeline has version ${view.getUint32(8, true)}, this page reads ${TIMELINE_VERSION}`);
	const length = view.getUint32(12, true);
	return { header: JSON.parse(text.decode(bytes.subarray(16, 16 + length))), columnsAt: 16 + length };
}

// {header, commands, waits, calls, gaps, callbacks, phases, shapes, memories, stacks, frames}: columns
// as typed arrays under their names in camel case. Times are ns from the start of the run, NaN where
// they are not known. null: the page has no timeline, see docs/page-run.md, "Size". `progress` is told
// how much is done, 0 to 1.
async function decodeTimeline(base64, progress) {
	const turn = decodingTurns(progress);
	if (!base64.trim())
		return null;
	const bytes = await inflateBase64(base64, turn);
	const { header, columnsAt } = decodeHeader(bytes);
	const columnBytes = bytes.subarray(columnsAt);
	const timeline = { header };
	const names = Object.keys(header.tables);
	for (const [i, name] of names.entries())
		timeline[name] = await decodeTable(columnBytes, header.tables[name], turn, 0.5 + 0.5 * i / names.length);
	placeWaits(timeline.commands, timeline.waits);
	placeInside(timeline.calls);
	placeFrames(timeline.stacks);
	return timeline;
}

// The row of a command or call by its number in the recording, as the report's JSON names it;
// -1 when it was left out.
function rowOfNumber(table, number) {
	let low = 0;
	let high = table.count - 1;
	while (low <= high) {
		const middle = (low + high) >> 1;
		if (table.number[middle] === number)
			return middle;
		if (table.number[middle] < number)
			low = middle + 1;
		else
			high = middle - 1;
	}
	return -1;
}

// The texts of a stack's frames, the innermost first; none for NO_ROW.
function stackFrames(timeline, stack) {
	if (stack >= timeline.stacks.count)
		return [];
	const first = timeline.stacks.firstFrame[stack];
	return Array.from(timeline.frames.text.subarray(first, first + timeline.stacks.frames[stack]),
		(text) => timeline.header.strings[text]);
}

// Where a stack belongs to, in short: "step.c:214"; '' when it is not known.
function stackSite(timeline, stack) {
	return stack < timeline.stacks.count ? timeline.header.strings[timeline.stacks.site[stack]] : '';
}
