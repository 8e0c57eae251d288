// SPDX-License-Identifier: Apache-2.0
// Numbers as tare's text output writes them (src/base/units.c): sizes binary, rates decimal.
'use strict';

// What a device's clock does against the host's, in parts of a million.
function driftText(ppm) {
	return isKnown(ppm) ? `${ppm < 0 ? 'loses' : 'gains'} ${significant(Math.abs(ppm))} µs a second` : 'n/a';
}

function isKnown(value) {
	return typeof value === 'number' && Number.isFinite(value);
}

// `digits` significant digits without exponent: 2081, 55.6, 0.0041.
function significant(value, digits = 3) {
	if (!isKnown(value))
		return 'n/a';
	if (value === 0)
		return '0';
	const magnitude = Math.floor(Math.log10(Math.abs(value)) + 1e-12);
	const decimals = Math.min(Math.max(digits - 1 - magnitude, 0), 20);
	return value.toFixed(decimals);
}

// Like significant(), but a whole number stays whole: 8, not 8.00.
function brief(value, digits = 3) {
	return Number.isInteger(value) ? value.toFixed(0) : significant(value, digits);
}

// Up to three significant digits and no trailing zeros, for axes: 0.5, not 0.500.
function plain(value) {
	return significant(value).replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');
}

function scaled(value, steps, digits) {
	const size = Math.abs(value);
	let [factor, unit] = steps[0];
	for (const step of steps)
		if (size >= step[0] * 0.9995)
			[factor, unit] = step;
	return `${brief(value / factor, digits)} ${unit}`;
}

const TIME_STEPS = [[1e-3, 'ps'], [1, 'ns'], [1e3, 'µs'], [1e6, 'ms'], [1e9, 's']];
const BYTE_STEPS = [[1, 'B'], [2 ** 10, 'KB'], [2 ** 20, 'MB'], [2 ** 30, 'GB'], [2 ** 40, 'TB']];

function decimalSteps(unit) {
	return [[1, unit], [1e3, `k${unit}`], [1e6, `M${unit}`], [1e9, `G${unit}`], [1e12, `T${unit}`],
		[1e15, `P${unit}`]];
}

function formatNs(ns, digits = 3) {
	return ns === 0 ? '0 ns' : scaled(ns, TIME_STEPS, digits);
}

// "8 KB", "1.5 GB", "12345 B": exact where it can be, else three digits.
function formatBytes(bytes) {
	if (bytes < 1024 || !Number.isInteger(bytes))
		return scaled(bytes, BYTE_STEPS);
	let unit = 0;
	let value = bytes;
	while (value >= 1024 && unit < BYTE_STEPS.length - 1) {
		value /= 1024;
		unit++;
	}
	const short = Number(value.toPrecision(3)) === value ? String(value) : null;
	if (short)
		return `${short} ${BYTE_STEPS[unit][1]}`;
	return bytes < 100000 ? `${bytes} B` : `${significant(value)} ${BYTE_STEPS[unit][1]}`;
}

// A figure that was computed is never exact to the byte.
function formatComputed(value, unit) {
	return unit === 'B' && isKnown(value) ? scaled(value, BYTE_STEPS) : formatValue(value, unit);
}

// A value with its unit, scaled to be read.
function formatValue(value, unit, digits = 3) {
	if (value === true || value === false)
		return value ? 'yes' : 'no';
	if (typeof value === 'string')
		return value;
	if (!isKnown(value))
		return 'n/a';
	switch (unit) {
	case 'B':
		return formatBytes(value);
	case 'ns':
		return formatNs(value, digits);
	case 'ps':
		return formatNs(value / 1e3, digits);
	case 'Hz':
	case 'B/s':
	case 'FLOP/s':
	case 'op/s':
		return scaled(value, decimalSteps(unit), digits);
	default:
		return unit && unit !== '1' ? `${brief(value, digits)} ${unit}` : brief(value, digits);
	}
}

// Half-width of the interval relative to the value, as "±0.4 %"; null when there is no interval.
function formatSpread(value, low, high) {
	if (!isKnown(value) || !isKnown(low) || !isKnown(high) || value === 0)
		return null;
	const percent = 100 * Math.max(high - value, value - low) / Math.abs(value);
	if (percent > 0 && percent < 0.05)
		return '±<0.1 %';
	return `±${percent < 9.95 ? percent.toFixed(1) : percent.toFixed(0)} %`;
}

// The unit in which a whole column of times reads best; the column's header names it.
function timeColumnUnit(nanoseconds) {
	const known = nanoseconds.filter((ns) => isKnown(ns) && ns > 0).sort((a, b) => a - b);
	const middle = known.length ? known[Math.floor(known.length / 2)] : 1e3;
	if (middle < 500)
		return { unit: 'ns', ns: 1 };
	if (middle < 5e6)
		return { unit: 'µs', ns: 1e3 };
	return { unit: 'ms', ns: 1e6 };
}

// "host-to-device" stays; "work_group" becomes "work group".
function words(name) {
	return String(name).replaceAll('_', ' ');
}

function count(number, one, many = `${one}s`) {
	return `${number} ${number === 1 ? one : many}`;
}
