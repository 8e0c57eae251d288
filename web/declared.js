// SPDX-License-Identifier: Apache-2.0
// Columns of tables as they are declared (docs/adding-a-column.md).
'use strict';

function percentText(share) {
	return isKnown(share) ? `${(100 * share).toFixed(1)} %` : 'n/a';
}

// Of a hundred, as the text writes it.
function pointsText(percent) {
	if (!isKnown(percent))
		return 'n/a';
	return percent > 0 && percent < 0.1 ? '<0.1 %' : `${percent.toFixed(percent < 9.95 ? 1 : 0)} %`;
}

function numberColumn(title, pick, show) {
	const value = typeof pick === 'string' ? (row) => row[pick] : pick;
	return { title, numeric: true, value, show: (row) => (isKnown(value(row)) ? show(value(row)) : 'n/a') };
}

// What shows a value of a kind; others are shown as numbers.
const DECLARED_SHOW = {
	share: percentText, trend: percentText, bytes: formatBytes, time: formatNs, figure: formatNs, moment: formatNs,
	clock: (hz) => formatValue(hz, 'Hz'), number: (value) => significant(value, 3), device: (number) => `#${number}`,
	short: (value) => significant(value, 3), ratio: (value) => value.toFixed(2), percent: (value) => `${value.toFixed(0)} %`,
	points: pointsText,
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
		return text(causeTitle);
	case 'hash':
		return text((value) => value);
	case 'truth':
		return text((value) => (value ? 'yes' : 'no'));
	case 'sizes':
		return { ...text((value) => value.join(' × ') || 'auto'), value: (row) => (pick(row) || []).join(' × ') || null };
	default:
		return numberColumn(column.title, pick, column.shown === 'rate' ? (value) => formatValue(value, column.unit) : DECLARED_SHOW[column.shown] || String);
	}
}

const isNothing = (value) => value === null || value === undefined || value === '';

const tableDeclarations = () => JSON.parse(document.getElementById('tables').textContent);

const declarationOf = (id) => tableDeclarations().find((table) => table.id === id);

// ---- tables of results

const NO_FIGURE = { not_measured: 'n/a', wrong_data: 'WRONG DATA' };

// A column of a table of a result, or where it is there several times one for each of its titles.
// A row's marks say which figures are missing or unsure.
function resultColumns(column, { titles, rows }) {
	const one = (title, path, name) => {
		const { value, show, numeric } = declaredColumn({ ...column, title, path });
		const mark = (row) => (row.marks || {})[name];
		return { title, unit: ['number', 'short'].includes(column.shown) ? column.unit_name : null, numeric, value,
			show: (row) => (isNothing(value(row)) ? NO_FIGURE[mark(row)] || '' : mark(row) === 'not_converged' ?
				h('span', {}, show(row), h('span', { class: 'caution', title: 'not converged' }, '*')) : show(row)) };
	};
	if (!(column.id in rows[0]))
		return [];
	return column.several ? titles[column.id].map((title, at) => one(title, [column.id, at], `${column.id}/${title}`)) :
		[one(column.title, column.path, column.id)];
}

// A table of a result's document; what the part is about is the title of its first column.
function resultTable(table, declaration) {
	const [first, ...others] = declaration.columns.flatMap((column) => resultColumns(column, table));
	return sortableTable([table.title, table.subject].filter(Boolean).join(': '),
		[{ ...first, title: table.subject || first.title, header: true, numeric: false }, ...others], table.rows, { class: 'wide' });
}
