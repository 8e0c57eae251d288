// SPDX-License-Identifier: Apache-2.0
// Tables that sort by any column, with mouse or keyboard; what is not known sorts last.
'use strict';

// Columns: {title, value(row) -> number, text or null; show(row) -> text or element (default: the
// value); numeric; sortable (default true); header: true for the row's own header; class}.
function sortableTable(caption, columns, rows, options = {}) {
	const body = h('tbody');
	const entries = rows.map((row) => ({ row, element: tableRow(columns, row) }));
	const headers = columns.map((column, index) => {
		const label = h('span', {}, column.title, column.unit ? h('span', { class: 'unit' }, ` ${column.unit}`) : null);
		const cell = h('th', { scope: 'col', class: cellClass(column), 'aria-sort': column.sortable === false ? null : 'none' });
		cell.append(column.sortable === false || rows.length < 2 ? label :
			h('button', { type: 'button', class: 'sort', onclick: () => sortBy(index) }, label));
		return cell;
	});
	body.append(...entries.map((entry) => entry.element));

	function sortBy(index) {
		const descending = headers[index].getAttribute('aria-sort') === 'ascending';
		const order = descending ? -1 : 1;
		const value = columns[index].value;
		// Array.sort is stable: rows that are equal keep the order of the last sort.
		entries.sort((a, b) => compareValues(value(a.row), value(b.row), order));
		headers.forEach((header, i) => {
			if (header.hasAttribute('aria-sort'))
				header.setAttribute('aria-sort', i !== index ? 'none' : descending ? 'descending' : 'ascending');
		});
		closeDetails(body);
		body.append(...entries.map((entry) => entry.element));
		announce(`Sorted by ${columns[index].title}, ${descending ? 'descending' : 'ascending'}`);
	}

	const table = h('table', { class: options.class || null },
		h('caption', { class: options.showCaption ? null : 'visually-hidden' }, caption),
		h('thead', {}, h('tr', {}, headers)), body);
	const region = h('div', { class: rows.length > 40 ? 'scroll tall' : 'scroll', role: 'region', 'aria-label': shorten(caption, 120), tabindex: 0 }, table);
	return options.filter && rows.length > 12 ? [filterBox(entries, caption), region] : region;
}

function cellClass(column) {
	return [column.numeric ? 'number' : null, column.class].filter(Boolean).join(' ') || null;
}

function tableRow(columns, row) {
	return h('tr', {}, columns.map((column) => {
		const shown = column.show ? column.show(row) : column.value(row);
		return h(column.header ? 'th' : 'td', { scope: column.header ? 'row' : null, class: cellClass(column) },
			typeof shown === 'string' ? dataText(shown) : shown);
	}));
}

function compareValues(a, b, order) {
	const noA = a === null || a === undefined || Number.isNaN(a);
	const noB = b === null || b === undefined || Number.isNaN(b);
	if (noA || noB)
		return noA - noB;
	if (typeof a === 'number' && typeof b === 'number')
		return order * (a - b);
	return order * String(a).localeCompare(String(b), 'en', { numeric: true });
}

// Rows that were opened below a row go when the order changes.
function closeDetails(body) {
	for (const button of body.querySelectorAll('button[aria-expanded="true"]'))
		button.click();
}

function filterBox(entries, caption) {
	const shown = h('span', { class: 'muted', role: 'status' });
	const texts = entries.map((entry) => entry.element.textContent.toLowerCase());
	const input = h('input', {
		type: 'search', placeholder: 'any words of them', oninput: () => {
			const wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean);
			let left = 0;
			closeDetails(entries[0].element.parentNode);
			entries.forEach((entry, i) => {
				entry.element.hidden = !wanted.every((word) => texts[i].includes(word));
				left += !entry.element.hidden;
			});
			shown.textContent = wanted.length ? `${left} of ${count(entries.length, 'row')}` : '';
		},
	});
	return h('p', { class: 'filter' }, h('label', {}, `Show rows with `, input), ' ', shown,
		h('span', { class: 'visually-hidden' }, ` in ${shorten(caption, 120)}`));
}

// Whether the series hardly share their x: a distribution's points, not sizes.
function scattered(plot) {
	const counts = plot.series.map((series) => series.points.length);
	const xs = plot.series.map((series) => new Set(series.points.map((point) => point[0])));
	const all = new Set(xs.flatMap((set) => [...set]));
	return xs.some((set, i) => set.size < counts[i]) || all.size > 1.5 * Math.max(...counts);
}

// The figures of a chart: a row for each x, a column for each series; a ranking has a row a series.
function plotTable(plot) {
	const unit = plot.y.unit;
	const ranked = plot.series.every((series) => series.points.length <= 1) && plot.kind === 'bar';
	const spread = (point) => {
		const text = point ? formatSpread(point[1], point[2], point[3]) : null;
		return text ? h('span', { class: 'spread' }, ` ${text}`) : null;
	};
	const figure = (point) => (point && isKnown(point[1]) ?
		[formatValue(point[1], unit), spread(point)] : notAvailable(null));
	let columns, rows;
	if (!ranked && scattered(plot)) {
		columns = [{ title: 'series', header: true, value: (row) => row.name },
			{ title: plot.x.title || 'x', numeric: true, value: (row) => row.point[0],
				show: (row) => formatValue(row.point[0], plot.x.unit) },
			{ title: plot.y.title || 'value', numeric: true, value: (row) => row.point[1], show: (row) => figure(row.point) }];
		rows = plot.series.flatMap((series) => series.points.map((point) => ({ name: series.name, point })));
	} else if (ranked) {
		columns = [{ title: 'what', header: true, value: (series) => series.name },
			{ title: plot.y.title || 'value', numeric: true, show: (series) => figure(series.points[0]),
				value: (series) => (series.points[0] ? series.points[0][1] : null) }];
		rows = plot.series;
	} else {
		const byX = plot.series.map((series) => new Map(series.points.map((point) => [point[0], point])));
		columns = [{ title: plot.x.title || 'x', header: true, numeric: true, value: (x) => x,
			show: (x) => formatValue(x, plot.x.unit) }];
		plot.series.forEach((series, i) => columns.push({
			title: shorten(series.name, 60), numeric: true,
			value: (x) => (byX[i].get(x) || [])[1], show: (x) => figure(byX[i].get(x)),
		}));
		rows = [...new Set(plot.series.flatMap((series) => series.points.map((point) => point[0])))]
			.filter(isKnown).sort((a, b) => a - b);
	}
	return h('details', { class: 'figures' }, h('summary', {}, 'The figures as a table'),
		sortableTable(`${plot.title}: ${plot.y.title || 'values'}${unit ? `, ${unit}` : ''}`, columns, rows));
}
