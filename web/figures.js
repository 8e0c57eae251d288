// SPDX-License-Identifier: Apache-2.0
// Every figure in tables: by kind and group, and where two labels span a grid, as that grid.
'use strict';

// Labels whose values become columns of a grid. Of a computed figure it is what was computed.
const GRID_LABELS = ['part', 'stage'];

function figuresSection(result) {
	if ((result.listsDevices || result.parts.length) && !result.cells.length)
		return null;
	if (!result.cells.length)
		return section(result, 'figures', 'Figures', h('p', { class: 'muted' }, 'This result has no figures.'));
	const measured = result.cells.filter((cell) => cell.source !== 'model');
	const models = result.cells.filter((cell) => cell.source === 'model');
	const level = result.level + 1;
	return section(result, 'figures', 'Figures',
		h('p', { class: 'note' }, 'Medians; ± is the wider half of the median\'s 95 % interval. ',
			h('span', { class: 'tools' }, 'Click a header to sort, samples to see them in full.')),
		tablesOf(measured).map(([title, cells]) => figureTables(title, cells, level, cellTable)),
		models.length ? [heading(level, 'Computed from the measured figures'),
			tablesOf(models).map(([title, cells]) => figureTables(title, cells, level + 1, modelTable))] : null);
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

// A grid with the whole list folded below it, or the list.
function figureTables(title, cells, level, table) {
	const shown = title.charAt(0).toUpperCase() + title.slice(1);
	const grid = gridTable(shown, cells);
	return [title ? heading(level, dataText(shown)) : null, grid ? [grid,
		h('details', { class: 'figures' }, h('summary', {}, `All ${cells.length} in full`), table(shown, cells))] :
		table(shown, cells)];
}

// ---- grids

// What a grid's columns stand for: the values of a label, or of what was computed the quantities of
// one thing. Null when there is nothing of the kind.
function gridColumn(cells) {
	const label = (name) => (cell) => cell.labels[name];
	const several = (pick) => cells.every((cell) => pick(cell) !== undefined) && new Set(cells.map(pick)).size > 1;
	if (cells[0].source !== 'model') {
		const found = GRID_LABELS.find((name) => several(label(name)));
		return found ? { name: found, label: found, of: label(found), title: words } : null;
	}
	const things = new Set(cells.map((cell) => JSON.stringify(cell.labels)));
	if (several((cell) => cell.quantity) && things.size > 1 && things.size <= cells.length / 1.5)
		return { name: 'quantity', label: null, of: (cell) => cell.quantity, title: words };
	return several(label('what')) ? { name: 'what', label: 'what', of: label('what'),
		title: whatText } : null;
}

// Labels that few columns have (the level of a rate, the launches in a batch), or of which a column
// has one value only (a share is the kernel's), make no rows; where a column has several figures for
// one row it is split by them.
function gridColumns(cells, across) {
	const columns = groupBy(cells, across.of);
	const distinct = (own, name) => new Set(own.map((cell) => cell.labels[name]).filter((value) => value !== undefined)).size;
	const most = (test) => columns.filter(([, own]) => test(own)).length > columns.length / 2;
	const names = rowLabels(cells).filter((name) => name !== across.label);
	const rows = names.filter((name) => most((own) => distinct(own, name) > 0) &&
		(distinct(cells, name) === 1 || most((own) => distinct(own, name) > 1)));
	const rowOf = (cell) => JSON.stringify(rows.map((name) => cell.labels[name]));
	const unique = (own) => new Set(own.map(rowOf)).size === own.length;
	const split = columns.flatMap(([value, own]) => {
		const more = unique(own) ? [] : names.filter((name) => !rows.includes(name) && distinct(own, name) > 1);
		return groupBy(own, (cell) => [across.title(value), ...more.filter((name) => cell.labels[name] !== undefined)
			.map((name) => labelText(name, cell.labels[name]))].join(', '));
	});
	return { rows, rowOf, columns: split };
}

// A row for each combination of the labels, a column for each value of the grid's. Null where it
// would have a single row.
function gridTable(title, cells) {
	const across = gridColumn(cells);
	if (!across)
		return null;
	const { rows: names, rowOf, columns } = gridColumns(cells, across);
	const rows = groupBy(cells, rowOf).map(([, own]) => own);
	if (rows.length < 2 || !names.length)
		return null;
	const figures = columns.map(([name, own]) => {
		const unit = columnUnit(own);
		const members = new Map(own.slice().reverse().map((cell) => [rowOf(cell), cell]));
		const at = (row) => members.get(rowOf(row[0]));
		return { title: name, unit: unit.unit, numeric: true, value: (row) => (at(row) ? unit.of(at(row)) : null),
			show: (row) => gridFigure(at(row), unit) };
	});
	const table = sortableTable(`${title ? `${title}, ` : ''}by ${across.name}`,
		[...labelColumns(cells, names, (row) => row[0]), ...figures], rows, { class: 'wide grid' });
	return [table, gridReasons(cells)];
}

// One unit for a column, unless its figures are too far apart to be read in one, or have several.
function columnUnit(cells) {
	const [low, high] = extremes(cells.map((cell) => Math.abs(cell.median)).filter((value) => isKnown(value) && value > 0));
	const same = new Set(cells.map((cell) => cell.unit)).size === 1;
	const narrow = !(high / low > 1e4);
	if (narrow && cells.every((cell) => nsPerUnit(cell.unit))) {
		const unit = timeColumnUnit(cells.map((cell) => cellNs(cell, cell.median)));
		return { unit: unit.unit, of: (cell) => (isKnown(cell.median) ? cellNs(cell, cell.median) / unit.ns : null) };
	}
	const mixed = !same || ['B', 'B/s', 'FLOP/s', 'Hz', 'ns', 'ps'].includes(cells[0].unit);
	const of = (cell) => (nsPerUnit(cell.unit) ? cellNs(cell, cell.median) : cell.median);
	return { unit: mixed || cells[0].unit === '1' ? null : cells[0].unit, mixed, of };
}

function gridFigure(cell, unit) {
	if (!cell)
		return '';
	if (cell.absent || !isKnown(cell.median))
		return h('span', { class: 'na', title: cell.absent ? shorten(cell.absent, 400) : null }, 'n/a');
	const spread = cell.source === 'model' ? null : formatSpread(cell.median, cell.low, cell.high);
	return h('span', { class: cell.verified === false ? 'bad' : null },
		unit.mixed ? formatComputed(cell.median, cell.unit) : brief(unit.of(cell)),
		spread ? h('span', { class: 'spread' }, ` ${spread}`) : null,
		cell.verified === false ? ' WRONG DATA' : cell.converged || cell.source === 'model' ? null :
			h('span', { class: 'caution', title: 'not converged' }, '*'));
}

// Under a grid: why figures are missing, each reason once, and what the star means.
function gridReasons(cells) {
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

// A column a label; `cell` is the one of a row to ask.
function labelColumns(cells, names = rowLabels(cells), cell = (row) => row) {
	return names.map((name, index) => {
		const numeric = cells.every((each) => typeof each.labels[name] !== 'string');
		const value = (row) => cell(row).labels[name];
		return { title: countsBytes(name) ? 'size' : words(name), numeric, header: index === 0, value,
			show: (row) => (value(row) === undefined ? '' : labelText(name, value(row))) };
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
