// SPDX-License-Identifier: Apache-2.0
// Columns of tables, and tables that are drawn as they are declared (docs/adding-a-column.md).
'use strict';

// ---- kinds of columns

function textColumn(title, key, options = {}) {
	return { title, value: (row) => row[key], show: (row) => (row[key] === null || row[key] === undefined || row[key] === '' ? '–' : words(row[key])), ...options };
}

const timeColumn = (title, pick) => numberColumn(title, pick, (ns) => formatNs(ns));
const countColumn = (title, pick) => numberColumn(title, pick, (value) => String(value));
const shareColumn = (title, pick) => numberColumn(title, pick, percentText);
const rateColumn = (title, pick) => numberColumn(title, pick, (rate) => formatValue(rate, 'B/s'));
const bytesColumn = (title, pick) => numberColumn(title, pick, formatBytes);
const nameColumn = (title, key) => ({ title, header: true, value: (row) => row[key], show: (row) => dataText(row[key] === null ? '–' : row[key], 120) });

function deviceColumns(run) {
	return run.devices.length > 1 ? [textColumn('device', 'device', { show: (row) => (row.device ? dataText(row.device) : 'n/a') })] : [];
}

function reportTable(id, title, columns, rows, nothing) {
	return pageSection(id, `${title}${rows.length ? ` (${rows.length})` : ''}`,
		rows.length ? sortableTable(title, columns, rows, { filter: true, class: 'wide' }) : h('p', { class: 'muted' }, nothing));
}

function pageSection(id, title, ...children) {
	return h('section', { id, 'aria-labelledby': `${id}-title` }, h('h2', { id: `${id}-title` }, title), children);
}

// ---- declared tables

// What people see of the columns: some only where a row has a value, or where there are several devices.
function declaredColumns(declaration, run, rows) {
	const says = (value) => !isNothing(value) && value !== 0 && value !== false;
	return declaration.columns.filter((column) => column.on_page && (!column.if_devices || run.devices.length > 1) &&
		(!column.if_any || rows.some((row) => says(declaredValue(column, row)))));
}

// Devices may be alike: their number tells them apart.
function runColumn(column, run) {
	const declared = declaredColumn(column);
	return column.path.join('.') === 'device' && run.devices.length > 1 ?
		{ ...declared, show: (row) => (isKnown(row.device_number) && row.device ? dataText(`#${row.device_number} ${row.device}`, 80) : declared.show(row)) } : declared;
}

// A declared table: {declaration, columns}, what a row is about first, then buttons that lead to the timeline.
function declaredTable(id, run, jumps) {
	const declaration = declarationOf(id);
	const [first, ...others] = declaredColumns(declaration, run, run[id]).map((column) => runColumn(column, run));
	return { declaration, columns: [{ ...first, header: true, numeric: false }, ...(jumps ? [jumpColumn(jumps)] : []), ...others] };
}

// null where it is left out.
function declaredSection(id, run, jumps) {
	const { declaration, columns } = declaredTable(id, run, jumps);
	return run[id].length || declaration.nothing !== null ?
		reportTable(id, declaration.title, columns, run[id], declaration.nothing) : null;
}
