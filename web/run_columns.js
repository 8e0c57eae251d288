// SPDX-License-Identifier: Apache-2.0
// Columns of tables, and tables that are drawn as they are declared (docs/adding-a-column.md).
'use strict';

// ---- kinds of columns

function textColumn(title, key, options = {}) {
	return { title, value: (row) => row[key], show: (row) => (row[key] === null || row[key] === undefined || row[key] === '' ? '–' : words(row[key])), ...options };
}

function numberColumn(title, pick, show) {
	const value = typeof pick === 'string' ? (row) => row[pick] : pick;
	return { title, numeric: true, value, show: (row) => (isKnown(value(row)) ? show(value(row)) : 'n/a') };
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

const tableDeclarations = () => JSON.parse(document.getElementById('tables').textContent);

// What shows a value of a kind; others are shown as numbers.
const DECLARED_SHOW = {
	share: percentText, trend: percentText, bytes: formatBytes, time: formatNs, figure: formatNs, moment: formatNs,
	rate: (rate) => formatValue(rate, 'B/s'), clock: (hz) => formatValue(hz, 'Hz'), number: (value) => significant(value, 3), device: (number) => `#${number}`,
};

// The value where the column's path leads.
function declaredValue(column, row) {
	return column.path.reduce((at, key) => (at === null || at === undefined ? null : at[key]), row);
}

function declaredColumn(column) {
	const pick = (row) => declaredValue(column, row);
	const text = (show) => ({ title: column.title, value: pick, show: (row) => (isNothing(pick(row)) ? '–' : show(pick(row))) });
	switch (column.shown) {
	case 'name':
		return text((value) => dataText(value, 120));
	case 'text':
		return text((value) => dataText(value, 80));
	case 'word':
		return text(words);
	case 'category':
		return text((category) => categoryTitle(category).replace(/^idle: /, ''));
	case 'hash':
		return text((value) => value);
	case 'truth':
		return text((value) => (value ? 'yes' : 'no'));
	case 'sizes':
		return { ...text((value) => value.join(' × ') || 'auto'), value: (row) => (pick(row) || []).join(' × ') || null };
	default:
		return numberColumn(column.title, pick, DECLARED_SHOW[column.shown] || String);
	}
}

const isNothing = (value) => value === null || value === undefined || value === '';

// What people see of the columns: some only where a row has a value, or where there are several devices.
function declaredColumns(declaration, run, rows) {
	const says = (value) => !isNothing(value) && value !== 0 && value !== false;
	return declaration.columns.filter((column) => column.on_page && (!column.if_devices || run.devices.length > 1) &&
		(!column.if_any || rows.some((row) => says(declaredValue(column, row)))));
}

// A declared table: {declaration, columns}, what a row is about first, then buttons that lead to the timeline.
function declaredTable(id, run, jumps) {
	const declaration = tableDeclarations().find((table) => table.id === id);
	const [first, ...others] = declaredColumns(declaration, run, run[id]).map(declaredColumn);
	return { declaration, columns: [{ ...first, header: true, numeric: false }, ...(jumps ? [jumpColumn(jumps)] : []), ...others] };
}

// null where it is left out.
function declaredSection(id, run, jumps) {
	const { declaration, columns } = declaredTable(id, run, jumps);
	return run[id].length || declaration.nothing !== null ?
		reportTable(id, declaration.title, columns, run[id], declaration.nothing) : null;
}
