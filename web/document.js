// SPDX-License-Identifier: Apache-2.0
// The result document as the page uses it. The only place that knows the keys of tare.result/1.
'use strict';

// The text of an inlined JSON element exactly as tare wrote it: the page's writer spells < > and
// the two line separators as escapes, so that data cannot end the element.
function inlinedText(id) {
	const plain = { u003c: '<', u003e: '>', u2028: '\u2028', u2029: '\u2029' };
	// Escapes are read from left to right, so that "\\u003c" (a backslash, then text) stays.
	return document.getElementById(id).textContent
		.replace(/\\(\\|u003c|u003e|u2028|u2029)/g, (whole, name) => plain[name] || whole);
}

function readDocument() {
	const raw = JSON.parse(document.getElementById('tare-result').textContent);
	const rows = JSON.parse(document.getElementById('tare-facts').textContent);
	const tables = JSON.parse(document.getElementById('tare-tables').textContent);
	if (typeof raw !== 'object' || raw === null || !String(raw.schema).startsWith('tare.result/'))
		throw new Error('the data in this page is not a tare result');
	return readResult(raw, { rows, tables }, '');
}

// One document; `own` is what tare's tables say, `prefix` keeps the ids of a part's sections apart from the others'.
function readResult(raw, own, prefix) {
	return {
		prefix,
		level: prefix ? 3 : 2,   // of its sections' headings
		schema: raw.schema,
		version: raw.tool ? raw.tool.version : null,
		writtenAt: raw.written_at,
		command: raw.command,
		interrupted: raw.interrupted === true,
		parameters: raw.parameters || {},
		host: raw.host || {},
		devices: raw.devices || (raw.device ? [raw.device] : []),
		listsDevices: Array.isArray(raw.devices) && !isSeveral(raw),
		absences: raw.absences || [],
		clock: raw.clock || null,
		kernelTimestamp: raw.kernel_timestamp || {},
		telemetry: raw.telemetry || null,
		warnings: raw.warnings || [],
		conclusions: raw.conclusions || [],
		plots: raw.plots || [],
		shown: raw.tables || [],
		cells: (raw.cells || []).map(readCell),
		parts: (raw.parts || []).map((part, i) => readResult(part, own, `part-${i + 1}-`)),
		factRows: own.rows,
		tables: own.tables,
	};
}

// Of one command on several devices: its parts are of the same command, one a device.
function isSeveral(result) {
	return (result.parts || []).length > 0 && result.parts[0].command === result.command;
}

// What --device takes for the first device of a part: "cuda:0".
function deviceWord(result) {
	const [device] = result.devices;
	return device ? `${device.backend}:${device.index}` : null;
}

// What tells a part from the others.
function partTitle(whole, part) {
	return isSeveral(whole) && part.devices.length ? `${deviceWord(part)} ${deviceName(part.devices[0])}` :
		part.command.charAt(0).toUpperCase() + part.command.slice(1);
}

// The document itself and its parts.
function allResults(result) {
	return [...result.parts, result];
}

function readCell(raw, index) {
	const ci = raw.ci || [null, null];
	const cell = {
		index,
		raw,
		labels: raw.labels || {},
		quantity: raw.quantity,
		unit: raw.unit,
		source: raw.source,
		method: raw.method || null,
		absent: raw.absent || null,
		converged: raw.converged === true,
		verified: raw.verified,
		n: raw.n || 0,
		min: raw.min,
		median: raw.median,
		p95: raw.p95,
		max: raw.max,
		low: ci[0],
		high: ci[1],
		autocorrelation: raw.autocorrelation,
		effectiveN: raw.effective_n,
		outliers: raw.outliers || null,
		drifting: raw.drifting === true,
		quantised: raw.quantised === true,
		rate: raw.rate || null,
		samples: raw.samples || [],
	};
	cell.title = cellTitle(cell);
	return cell;
}

function countsBytes(name) {
	return name === 'bytes' || name.endsWith('_bytes');
}

function labelText(name, value) {
	if (name === 'best' || name === 'control')
		return value === 1 ? 'yes' : '';
	return countsBytes(name) && isKnown(value) ? formatBytes(value) : String(value);
}

// "share-of-paper" as "share of paper"; a speed-up stays one.
function whatText(what) {
	return words(what).replaceAll('-', ' ').replace(/speed up/g, 'speed-up');
}

// "host-to-device, 64 KB": what tells this cell from its neighbours.
function cellTitle(cell) {
	const named = Object.entries(cell.labels).filter(([name]) => (name !== 'group' || !('what' in cell.labels)) &&
		name !== 'best' && name !== 'control');
	const parts = named.map(([name, value]) =>
		typeof value === 'string' || countsBytes(name) ? labelText(name, value) :
			`${words(name)} ${value}`);
	return parts.length ? parts.join(', ') : words(cell.quantity);
}

// Names of the labels of these cells in order of first appearance.
function labelNames(cells) {
	return [...new Set(cells.flatMap((cell) => Object.keys(cell.labels)))];
}

function groupBy(items, key) {
	const groups = new Map();
	for (const item of items)
		groups.set(key(item), [...(groups.get(key(item)) || []), item]);
	return [...groups];
}

// Nanoseconds in one unit of the cell's figures; null when they are no times.
function nsPerUnit(unit) {
	return { ps: 1e-3, ns: 1, us: 1e3, 'µs': 1e3, ms: 1e6, s: 1e9 }[unit] || null;
}

function cellNs(cell, value) {
	return isKnown(value) ? value * nsPerUnit(cell.unit) : null;
}

function fact(device, key) {
	const entry = device && device.facts ? device.facts[key] : null;
	return entry && entry.value !== null && entry.value !== undefined ? entry : null;
}

function factText(device, key) {
	const entry = fact(device, key);
	return entry ? formatValue(entry.value, entry.unit, 4).toString() : null;
}

function deviceName(device) {
	const name = fact(device, 'name');
	return name ? String(name.value) : 'unnamed device';
}

const SOURCES = {
	device: 'the device\'s own time stamps',
	host: 'the host\'s clock',
	model: 'computed from measured figures',
};
