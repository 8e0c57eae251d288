// SPDX-License-Identifier: Apache-2.0
// The tables that the text shows, and every figure in lists by kind and group.
'use strict';

// The page lists the figures one by one itself, with their samples.
const LISTS = ['latency', 'bandwidth_cells'];

function figuresSection(result) {
	if ((result.listsDevices || result.parts.length) && !result.cells.length)
		return null;
	if (!result.cells.length)
		return section(result, 'figures', 'Figures', h('p', { class: 'muted' }, 'This result has no figures.'));
	const measured = result.cells.filter((cell) => cell.source !== 'model');
	const models = result.cells.filter((cell) => cell.source === 'model');
	const level = result.level + 1;
	const lists = [tablesOf(measured).map(([title, cells]) => figureList(title, cells, level, cellTable)),
		models.length ? [heading(level, 'Computed from the measured figures'),
			tablesOf(models).map(([title, cells]) => figureList(title, cells, level + 1, modelTable))] : null];
	const shown = shownTables(result, level);
	return section(result, 'figures', 'Figures',
		h('p', { class: 'note' }, 'Medians; ± is the wider half of the median\'s 95 % interval. ',
			h('span', { class: 'tools' }, 'Click a header to sort, samples to see them in full.')),
		shown,
		shown.length ? [missingReasons(result.cells), h('details', { class: 'figures' },
			h('summary', {}, `All ${result.cells.length} in full`), lists)] : lists);
}

// The tables that the text shows, but for lists.
function shownTables(result, level) {
	const declaration = ({ id }) => result.tables.declared.find((table) => table.id === id);
	return result.shown.filter(({ id }) => !LISTS.includes(id)).map((table) =>
		[heading(level, [table.title, table.subject].filter(Boolean).join(': ')), resultTable(table, declaration(table))]);
}

// Cells that share a table: those of one quantity, apart by group where the groups have labels of
// their own, so that no table has columns that are empty. Where each cell says what it is, a group is
// a column like any other.
function tablesOf(cells) {
	const model = cells.length && cells[0].source === 'model';
	return groupBy(cells, model ? () => '' : cellFamily).flatMap(([family, members]) => {
		const groups = groupBy(members, (cell) => cell.labels.group);
		const kinds = new Set(groups.map(([, own]) => labelNames(own).sort().join()));
		const apart = kinds.size > 1 && groups.every(([group]) => group !== undefined) &&
			(model || members.some((cell) => cell.labels.what === undefined));
		return (apart ? groups : [['', members]]).map(([group, own]) =>
			[[words(group), family].filter(Boolean).join(': '), own]);
	});
}

function figureList(title, cells, level, table) {
	const shown = title.charAt(0).toUpperCase() + title.slice(1);
	return [title ? heading(level, dataText(shown)) : null, table(shown, cells)];
}

// Why figures are missing, each reason once, and what the star means.
function missingReasons(cells) {
	const reasons = groupBy(cells.filter((cell) => cell.absent), (cell) => cell.absent);
	const starred = cells.some((cell) => !cell.absent && !cell.converged && cell.source !== 'model');
	return [reasons.length ? h('ul', { class: 'missing note' }, reasons.map(([reason, own]) => h('li', {},
		dataText(own.slice(0, 4).map((cell) => cell.title).join('; ') + (own.length > 4 ? ` and ${own.length - 4} more` : '')),
		': ', notAvailable(reason)))) : null,
	starred ? h('p', { class: 'note' }, '* not converged') : null];
}

// ---- lists

// Cells of the same quantity, and times with times.
function cellFamily(cell) {
	return nsPerUnit(cell.unit) ? words(cell.quantity) : `${words(cell.quantity)}, ${cell.unit}`;
}

// The labels by which the cells differ; a group has a table of its own, or a column.
function rowLabels(cells) {
	const one = new Set(cells.map((cell) => cell.labels.group)).size === 1;
	return labelNames(cells).filter((name) => name !== 'group' || !one);
}

// A column a label.
function labelColumns(cells) {
	return rowLabels(cells).map((name, index) => {
		const numeric = cells.every((each) => typeof each.labels[name] !== 'string');
		const value = (cell) => cell.labels[name];
		return { title: countsBytes(name) ? 'size' : words(name), numeric, header: index === 0, value,
			show: (cell) => (value(cell) === undefined ? '' : labelText(name, value(cell))) };
	});
}

function cellTable(title, cells) {
	const timed = nsPerUnit(cells[0].unit) !== null;
	const unit = timed ? timeColumnUnit(cells.map((cell) => cellNs(cell, cell.median))) : { unit: cells[0].unit, ns: 1 };
	const scale = (cell, value) => (timed ? cellNs(cell, value) / unit.ns : value);
	const figure = (title, pick, more) => ({
		title, unit: unit.unit, numeric: true,
		value: (cell) => (isKnown(pick(cell)) ? scale(cell, pick(cell)) : null),
		show: (cell) => (isKnown(pick(cell)) ? brief(scale(cell, pick(cell))) : 'n/a'), ...more,
	});
	const rates = [...new Set(cells.filter((cell) => cell.rate).map((cell) => cell.rate.unit))];
	const rate = { title: 'rate', unit: rates.length === 1 ? rates[0] : null, numeric: true, class: 'main',
		value: (cell) => (cell.rate ? cell.rate.median : null),
		show: (cell) => rateText(cell, rates.length > 1) };
	const columns = [...labelColumns(cells),
		{ title: 'time by', value: (cell) => cell.source }, ...(rates.length ? [rate] : []),
		figure('median', (cell) => cell.median, { class: rates.length ? null : 'main' }),
		{ title: '±', numeric: true, show: (cell) => formatSpread(cell.median, cell.low, cell.high) || 'n/a',
			value: (cell) => (cell.median ? (cell.high - cell.low) / cell.median : null) },
		figure('least', (cell) => cell.min), figure('95th pct.', (cell) => cell.p95),
		{ title: 'n', numeric: true, value: (cell) => cell.n, show: (cell) => (cell.absent ? 'n/a' : String(cell.n)) },
		{ title: 'samples', sortable: false, value: () => null, show: detailButton, class: 'samples' },
		{ title: 'state', value: stateText, show: stateElement, class: 'state' }];
	return sortableTable(`Figures: ${title}`, columns, cells, { filter: true, class: 'wide' });
}

// With its unit where a table has several. What has no work to speak of has no rate.
function rateText(cell, named) {
	if (!cell.rate)
		return cell.absent ? 'n/a' : '';
	return significant(cell.rate.median) + (named && isKnown(cell.rate.median) ? ` ${cell.rate.unit}` : '');
}

function stateText(cell) {
	if (cell.absent)
		return `not available: ${cell.absent}`;
	return [cell.verified === false ? 'WRONG DATA' : null, cell.converged ? 'converged' : 'not converged',
		cell.verified === true ? 'verified' : null, cell.drifting ? 'drifts' : null,
		cell.quantised && !cell.converged ? 'timer-limited' : null].filter(Boolean).join(', ');
}

function stateElement(cell) {
	if (cell.absent)
		return notAvailable(cell.absent);
	return h('span', { class: cell.verified === false ? 'bad' : cell.converged ? null : 'caution' }, stateText(cell));
}

// The strip of samples opens a row with them in full.
function detailButton(cell) {
	if (cell.samples.length < 2)
		return cell.absent ? '' : 'one';
	let opened = null;
	const button = h('button', {
		type: 'button', class: 'plain', 'aria-expanded': 'false', title: 'Show the samples',
		'aria-label': `Samples of ${shorten(cell.title, 120)}, ${cell.source} time`,
		onclick: () => {
			if (opened) {
				opened.querySelectorAll('figure').forEach((figure) => figure.release());
				opened.remove();
				opened = null;
			} else {
				const row = button.closest('tr');
				opened = h('tr', { class: 'opened' }, h('td', { colspan: row.cells.length }, sampleDetail(cell)));
				row.after(opened);
			}
			button.setAttribute('aria-expanded', String(Boolean(opened)));
		},
	}, sampleStrip(cell));
	return button;
}

function modelTable(title, cells) {
	return sortableTable(`Computed figures${title ? `: ${title}` : ''}`, [...labelColumns(cells),
		{ title: 'quantity', value: (cell) => words(cell.quantity) },
		{ title: 'value', numeric: true, class: 'main', value: (cell) => cell.median,
			show: (cell) => (cell.absent ? 'n/a' : formatComputed(cell.median, cell.unit)) },
		{ title: '95 % interval', numeric: true, value: (cell) => cell.high - cell.low,
			show: (cell) => (isKnown(cell.low) && isKnown(cell.high) ?
				`${formatComputed(cell.low, cell.unit)} to ${formatComputed(cell.high, cell.unit)}` : 'n/a') },
		{ title: 'how', value: (cell) => cell.absent || cell.method, class: 'how',
			show: (cell) => (cell.absent ? notAvailable(cell.absent) : cell.method || '') }], cells);
}
