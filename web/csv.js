// SPDX-License-Identifier: Apache-2.0
// The table to download: the same as `tare render --csv` writes (src/report/result/csv.c).
'use strict';

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
	// The columns are declared once (src/report/result/tables/csv_cells.def), each with its path in a cell.
	const columns = result.tables.csv.map(([id]) => id);
	const paths = result.tables.csv.map(([, path]) => path.split('.'));
	const valueAt = (path, raw) => path.reduce((at, key) => (at === null || at === undefined ? undefined : at[key]), raw);
	const row = (each) => (cell) => [...labels.map((name) => cell.labels[name] ?? owner(each, name)),
		...paths.map((path) => valueAt(path, cell.raw))];
	// A label that is called as a column of every cell gets a prefix, as in csv.c.
	const headers = labels.map((name) => (name === 'command' || columns.includes(name) ? `label_${name}` : name));
	const meanwhile = (each) => telemetryRows(result, each.telemetry).map(([quantity, unit, n, value]) =>
		[...labels.map((name) => owner(each, name)), ...columns.map((name) => ({ quantity, unit, n, median: value, source: 'telemetry' })[name])]);
	return [[...(parted ? ['command'] : []), ...headers, ...columns],
		...all.flatMap((each) => [...each.cells.map(row(each)), ...meanwhile(each)].map((values) =>
			[...(parted ? [each.command] : []), ...values]))];
}

function telemetryRows(result, telemetry) {
	if (!telemetry || telemetry.absent)
		return [];
	const rows = result.tables.telemetry.filter(([key]) => telemetry[key]).flatMap(([key]) => {
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
			known ? entry.origin : null, known ? null : entry.reason || result.tables.not_asked];
	}));
	return [['device', 'backend', 'index', 'key', 'value', 'unit', 'origin', 'reason'], ...facts,
		...result.absences.map((absence) => [null, absence.backend, null, null, null, null, null, absence.reason])];
}
