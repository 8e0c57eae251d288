// SPDX-License-Identifier: Apache-2.0
// The table to download: the same as `tare render --csv` writes (src/report/result/csv.c).
'use strict';

const FIGURE_COLUMNS = ['quantity', 'unit', 'n', 'min', 'median', 'p95', 'ci_low', 'ci_high', 'converged', 'source',
	'verified', 'rate_unit', 'rate_min', 'rate_median', 'rate_p95', 'rate_ci_low', 'rate_ci_high', 'absent'];

function resultAsCsv(result) {
	const rows = result.command === 'devices' ? deviceRows(result) : cellRows(result);
	const quote = (value) => {
		const text = value === null || value === undefined ? '' : String(value);
		return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
	};
	return rows.map((row) => `${row.map(quote).join(',')}\r\n`).join('');
}

function cellRows(result) {
	const all = allResults(result);
	const several = isSeveral(result);
	const found = labelNames(all.flatMap((each) => each.cells));
	const labels = several ? ['device', ...found.filter((name) => name !== 'device')] : found;
	const parted = result.parts.length > 0;
	const owner = (each, name) => (several && name === 'device' && each !== result ? deviceWord(each) : undefined);
	const row = (each) => (cell) => {
		const rate = cell.rate || { ci: [] };
		return [...labels.map((name) => cell.labels[name] ?? owner(each, name)), cell.quantity, cell.unit, cell.n,
			cell.min, cell.median, cell.p95, cell.low, cell.high, cell.converged, cell.source, cell.verified,
			rate.unit, rate.min, rate.median, rate.p95, rate.ci[0], rate.ci[1], cell.absent];
	};
	// A label that is called as a column of every cell gets a prefix, as in csv.c.
	const headers = labels.map((name) => (name === 'command' || FIGURE_COLUMNS.includes(name) ? `label_${name}` : name));
	const meanwhile = (each) => telemetryRows(each.telemetry).map(([quantity, unit, n, value]) =>
		[...labels.map((name) => owner(each, name)), ...FIGURE_COLUMNS.map((name) => ({ quantity, unit, n, median: value, source: 'telemetry' })[name])]);
	return [[...(parted ? ['command'] : []), ...headers, ...FIGURE_COLUMNS],
		...all.flatMap((each) => [...each.cells.map(row(each)), ...meanwhile(each)].map((values) =>
			[...(parted ? [each.command] : []), ...values]))];
}

function telemetryRows(telemetry) {
	if (!telemetry || telemetry.absent)
		return [];
	const rows = TELEMETRY_VALUES.filter(([key]) => telemetry[key]).flatMap(([key]) => {
		const { unit, n, low, median, mean, high } = telemetry[key];
		return [['lowest', low], ['median', median], ['mean', mean], ['highest', high]]
			.map(([name, value]) => [`${key}_${name}`, unit, n, value]);
	});
	const { throttle } = telemetry;
	return [...rows, ...(throttle ? [['slowed_share', '', throttle.n, throttle.slowed_share]] : [])]
		.filter(([, , , value]) => isKnown(value));
}

function deviceRows(result) {
	const facts = result.devices.flatMap((device) => result.factRows.map((row) => {
		const entry = (device.facts || {})[row.key] || {};
		const known = entry.value !== null && entry.value !== undefined;
		return [device.number, device.backend, device.index, row.key, known ? entry.value : null, row.unit,
			known ? entry.origin : null, known ? null : entry.reason || 'not asked'];
	}));
	return [['device', 'backend', 'index', 'key', 'value', 'unit', 'origin', 'reason'], ...facts,
		...result.absences.map((absence) => [null, absence.backend, null, null, null, null, null, absence.reason])];
}
