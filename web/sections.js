// SPDX-License-Identifier: Apache-2.0
// The sections below the headline: what to do, figures, device, clock, method, raw data.
'use strict';

function section(id, title, ...content) {
	return h('section', { id, 'aria-labelledby': `${id}-title` }, h('h2', { id: `${id}-title` }, title), content);
}

function adviceSection(result) {
	if (!result.warnings.length && result.listsDevices)
		return null;
	if (!result.warnings.length)
		return section('advice', 'What to do', h('p', { class: 'muted' }, 'Nothing: there are no warnings.'));
	const groups = groupBy(result.warnings, (warning) => warning.action || '')
		.sort(([a], [b]) => Boolean(b) - Boolean(a));
	return section('advice', 'What to do', h('ol', { class: 'advice' }, groups.map(([action, warnings]) => h('li', {},
		action ? h('p', { class: 'action' }, dataText(sentence(action))) : null,
		warnings.map((warning) => h('p', { class: 'why' }, dataText(sentence(warning.message || warning.id))))))));
}

// A sentence begins with a capital, unless it begins with something to type.
function sentence(text) {
	return /^(?!tare )[a-z]+[ ,]/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}

function chartsSection(result) {
	const overview = sampleOverview(result.cells);
	if (result.plots.length || overview)
		return section('charts', 'Charts', missingLines(result), result.plots.map(plotFigure), overview);
	return result.listsDevices ? null :
		section('charts', 'Charts', h('p', { class: 'muted' }, 'This result has no charts.'));
}

// Lines without a single figure are in no chart: they are named, with the reason.
function missingLines(result) {
	const missing = groupBy(result.cells.filter((cell) => cell.labels.line !== undefined), (cell) => cell.labels.line)
		.filter(([, cells]) => cells.every((cell) => cell.absent));
	return missing.length ? h('ul', { class: 'missing' }, missing.map(([line, cells]) =>
		h('li', {}, 'Not in the charts: ', dataText(lineTitle(line)), ', ', notAvailable(cells[0].absent)))) : null;
}

// ---- figures

function figuresSection(result) {
	if (result.listsDevices && !result.cells.length)
		return null;
	if (!result.cells.length)
		return section('figures', 'Figures', h('p', { class: 'muted' }, 'This result has no figures.'));
	const measured = result.cells.filter((cell) => cell.source !== 'model');
	const models = result.cells.filter((cell) => cell.source === 'model');
	return section('figures', 'Figures',
		h('p', { class: 'note' }, 'Medians; ± is the wider half of the median\'s 95 % interval. ',
			h('span', { class: 'tools' }, 'Click a header to sort, samples to see them in full.')),
		groupBy(measured, cellFamily).map(([family, cells]) => cellTable(family, cells)),
		models.length ? [h('h3', {}, 'Computed from the measured figures'), modelTable(models)] : null);
}

function groupBy(items, key) {
	const groups = new Map();
	for (const item of items)
		groups.set(key(item), [...(groups.get(key(item)) || []), item]);
	return [...groups];
}

// Cells that share a table: same quantity, and times with times.
function cellFamily(cell) {
	return nsPerUnit(cell.unit) ? words(cell.quantity) : `${words(cell.quantity)}, ${cell.unit}`;
}

function labelColumns(cells) {
	return labelNames(cells).map((name, index) => {
		const numeric = cells.every((cell) => typeof cell.labels[name] !== 'string');
		return { title: name === 'bytes' ? 'size' : words(name), numeric, header: index === 0,
			value: (cell) => cell.labels[name],
			show: (cell) => (cell.labels[name] === undefined ? '' : labelText(name, cell.labels[name])) };
	});
}

function cellTable(family, cells) {
	const timed = nsPerUnit(cells[0].unit) !== null;
	const unit = timed ? timeColumnUnit(cells.map((cell) => cellNs(cell, cell.median))) : { unit: cells[0].unit, ns: 1 };
	const scale = (cell, value) => (timed ? cellNs(cell, value) / unit.ns : value);
	const figure = (title, pick, more) => ({
		title, unit: unit.unit, numeric: true,
		value: (cell) => (isKnown(pick(cell)) ? scale(cell, pick(cell)) : null),
		show: (cell) => (isKnown(pick(cell)) ? brief(scale(cell, pick(cell))) : 'n/a'), ...more,
	});
	const rates = [...new Set(cells.filter((cell) => cell.rate).map((cell) => cell.rate.unit))];
	const columns = [...labelColumns(cells),
		{ title: 'time by', value: (cell) => cell.source },
		...rates.map((rate) => ({ title: 'rate', unit: rate, numeric: true, class: 'main',
			value: (cell) => (cell.rate && cell.rate.unit === rate ? cell.rate.median : null),
			show: (cell) => (cell.rate && isKnown(cell.rate.median) ? significant(cell.rate.median) : 'n/a') })),
		figure('median', (cell) => cell.median, { class: rates.length ? null : 'main' }),
		{ title: '±', numeric: true, show: (cell) => formatSpread(cell.median, cell.low, cell.high) || 'n/a',
			value: (cell) => (cell.median ? (cell.high - cell.low) / cell.median : null) },
		figure('least', (cell) => cell.min), figure('95th pct.', (cell) => cell.p95),
		{ title: 'n', numeric: true, value: (cell) => cell.n, show: (cell) => (cell.absent ? 'n/a' : String(cell.n)) },
		{ title: 'samples', sortable: false, value: () => null, show: detailButton, class: 'samples' },
		{ title: 'state', value: stateText, show: stateElement, class: 'state' }];
	return [h('h3', {}, family.charAt(0).toUpperCase() + family.slice(1)),
		sortableTable(`Figures: ${family}`, columns, cells, { filter: true, class: 'wide' })];
}

function stateText(cell) {
	if (cell.absent)
		return `not available: ${cell.absent}`;
	return [cell.verified === false ? 'WRONG DATA' : null, cell.converged ? 'converged' : 'not converged',
		cell.verified === true ? 'verified' : null, cell.drifting ? 'drifts' : null,
		cell.quantised ? 'timer-limited' : null].filter(Boolean).join(', ');
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

function modelTable(cells) {
	return sortableTable('Computed figures', [...labelColumns(cells),
		{ title: 'quantity', value: (cell) => words(cell.quantity) },
		{ title: 'value', numeric: true, class: 'main', value: (cell) => cell.median,
			show: (cell) => (cell.absent ? 'n/a' : formatComputed(cell.median, cell.unit)) },
		{ title: '95 % interval', numeric: true, value: (cell) => cell.high - cell.low,
			show: (cell) => (isKnown(cell.low) && isKnown(cell.high) ?
				`${formatComputed(cell.low, cell.unit)} to ${formatComputed(cell.high, cell.unit)}` : 'n/a') },
		{ title: 'how', value: (cell) => cell.absent || cell.method, class: 'how',
			show: (cell) => (cell.absent ? notAvailable(cell.absent) : cell.method || '') }], cells);
}

// ---- device

function originText(entry) {
	return { system: 'operating system', measured: 'measured', formula: 'by formula', guess: 'a guess' }[entry.origin] ||
		entry.origin;
}

function factValue(device, row) {
	const entry = device.facts ? device.facts[row.key] : null;
	if (!entry || entry.value === null || entry.value === undefined)
		return notAvailable(entry && entry.reason ? entry.reason : 'not in this result');
	return [dataText(formatValue(entry.value, entry.unit, 4)), entry.origin === 'driver' ? null :
		h('span', { class: entry.origin === 'guess' ? 'origin caution' : 'origin' }, ` (${originText(entry)})`)];
}

// Facts nobody asked for say nothing about the device.
function isAsked(device, row) {
	const entry = device.facts ? device.facts[row.key] : null;
	return Boolean(entry) && !(entry.value === null && entry.reason === 'not asked');
}

function enginesText(device) {
	return (device.engines || []).map((engine) =>
		h('li', {}, `${engine.class} ${engine.index}: `, dataText(engine.title), engine.known ? '' :
			h('span', { class: 'caution' }, ' (a guess)')));
}

function deviceTable(result, entries) {
	const rows = result.factRows.filter((row) => entries.some((device) => isAsked(device, row)));
	const header = (device) => `${device.backend_title || device.backend} (${device.backend}:${device.index})`;
	const engines = entries.some((device) => (device.engines || []).length);
	return h('div', { class: 'scroll', role: 'region', 'aria-label': 'Device facts', tabindex: 0 },
		h('table', { class: 'facts' },
			h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'fact'),
				entries.map((device) => h('th', { scope: 'col' }, dataText(header(device)))))),
			groupBy(rows, (row) => row.group).map(([group, members]) => h('tbody', {},
				h('tr', { class: 'group' }, h('th', { colspan: entries.length + 1, scope: 'rowgroup' }, group)),
				members.map((row) => h('tr', {}, h('th', { scope: 'row' }, row.title),
					entries.map((device) => h('td', {}, factValue(device, row))))))),
			engines ? h('tbody', {}, h('tr', {}, h('th', { scope: 'row' }, 'engines, each'),
				entries.map((device) => h('td', {}, h('ul', {}, enginesText(device)))))) : null));
}

function deviceSection(result) {
	const groups = groupBy(result.devices, (device) => device.number);
	const one = groups.length === 1;
	const content = groups.map(([, entries]) => {
		const same = entries.map((entry) => entry.same_by).find(Boolean);
		return [one ? null : h('h3', {}, dataText(deviceName(entries[0]))),
			entries.length > 1 ? h('p', { class: 'note' }, `One device under ${count(entries.length, 'API')}`,
				same ? [', recognised by its ', dataText(same)] : null, '.') : null,
			deviceTable(result, entries)];
	});
	if (groups.length)
		content.unshift(h('p', { class: 'note' }, 'As the driver says, where nothing else is said.'));
	else
		content.push(h('p', { class: 'muted' }, 'This result names no device.'));
	if (result.absences.length)
		content.push(h('h3', {}, 'Backends without a device'), h('ul', { class: 'advice plain' },
			result.absences.map((absence) => h('li', {},
				absence.action ? h('p', { class: 'action' }, dataText(sentence(absence.action))) : null,
				h('p', { class: 'why' }, dataText(absence.backend), ': ', dataText(absence.reason))))));
	const host = labelList(result.host);
	if (host)
		content.push(h('h3', {}, 'Host'), host);
	return section('device', one || !groups.length ? 'Device' : 'Devices', content);
}

function labelList(labels) {
	const entries = Object.entries(labels);
	return entries.length ? h('dl', { class: 'list' }, entries.map(([name, value]) => {
		const [title, text] = namedValue(name, value);
		return [h('dt', {}, dataText(title)), h('dd', {}, dataText(text))];
	})) : null;
}

// A unit in a name belongs to the value: "memory_bytes": 8192 is "memory", "8 KB".
function namedValue(name, value) {
	const unit = { bytes: 'B', ns: 'ns', hz: 'Hz', s: 's' }[String(name).split('_').pop()];
	if (unit && isKnown(value) && name.includes('_'))
		return [words(name.slice(0, name.lastIndexOf('_'))), formatValue(value, unit)];
	return [words(name), String(value)];
}

// ---- clock

function clockSection(result) {
	const { clock } = result;
	if (result.listsDevices)
		return null;
	if (!clock || !clock.rate)
		return section('clock', 'Clock', h('p', {}, notAvailable((clock && clock.note) ||
			'no device clock was used; every time is the host\'s')));
	const { rate, fit } = clock;
	const tick = 1e9 * rate.hz_denominator / rate.hz_numerator;
	const wrap = tick * 2 ** rate.valid_bits;
	const rows = [['tick', `${formatNs(tick, 4)} (${formatValue(rate.hz_numerator / rate.hz_denominator, 'Hz', 4)})`],
		['smallest step', `${formatNs(tick * rate.resolution_ticks, 4)} (${count(rate.resolution_ticks, 'tick')})`],
		['valid bits', `${rate.valid_bits}: wraps after ${wrapText(wrap)}`],
		['shortest time between two stamps', isKnown(clock.floor_ns) ? formatNs(clock.floor_ns) : notAvailable('not measured')],
		['error of the mapping to host time', fit ? `at most ${formatNs(fit.residual_ns)}` : notAvailable(clock.note || 'no clock pairs')]];
	if (fit)
		rows.push(['drift against the host', `${significant(fit.drift_ppm)} ppm ±${significant(fit.drift_error_ppm, 2)}`],
			['clock pairs', `${fit.pairs}, the tightest taken within ${formatNs(fit.tightest_bracket_ns)}`]);
	return section('clock', 'Clock', h('dl', { class: 'list' }, rows.map(([name, value]) =>
		[h('dt', {}, name), h('dd', {}, value)])), clock.note ? h('p', { class: 'note' }, dataText(clock.note)) : null);
}

function wrapText(ns) {
	const seconds = ns / 1e9;
	if (seconds < 120)
		return `${significant(seconds)} s`;
	if (seconds < 7200)
		return `${significant(seconds / 60)} minutes`;
	if (seconds < 172800)
		return `${significant(seconds / 3600)} hours`;
	return seconds < 6.3e7 ? `${significant(seconds / 86400)} days` : `${significant(seconds / 31557600)} years`;
}

// ---- method and data

function methodSection(result) {
	const groups = groupBy(result.cells, (cell) => `${cell.source}\n${cell.method}`).map(([, cells]) => cells);
	const present = (cells) => cells.filter((cell) => !cell.absent);
	const range = (cells) => extremes(present(cells).map((cell) => cell.n));
	const columns = [
		{ title: 'what', header: true, value: methodSubject },
		{ title: 'how', value: (cells) => cells[0].method,
			show: (cells) => (cells[0].method ? dataText(cells[0].method) : notAvailable('the result does not say')) },
		{ title: 'source', value: (cells) => cells[0].source, show: (cells) => SOURCES[cells[0].source] || cells[0].source },
		{ title: 'samples', numeric: true, value: (cells) => range(cells)[1],
			show: (cells) => rangeText(present(cells).length ? range(cells) : null, cells[0].source) },
		{ title: 'converged', numeric: true, value: (cells) => present(cells).filter((cell) => cell.converged).length / cells.length,
			show: (cells) => (cells[0].source === 'model' ? 'n/a' : `${present(cells).filter((cell) => cell.converged).length} of ${cells.length}`) }];
	const parameters = labelList(result.parameters);
	if (result.listsDevices && !result.cells.length && !parameters)
		return null;
	return section('method', 'How each figure was measured',
		result.cells.length ? [h('p', {}, 'Each figure is the median of its samples; none was dropped. Its 95 % interval is ' +
			'widened where samples depend on each other and is never narrower than the timer\'s step. Sampling went on ' +
			'until the interval was within 1 %, or the budget was used: then it says "not converged".'),
		sortableTable('How each figure was measured', columns, groups, { class: 'methods' })] : null,
		!result.cells.length && !result.listsDevices ? h('p', { class: 'muted' }, 'Nothing was measured.') : null,
		parameters ? [h('h3', {}, 'Parameters'), parameters] : null);
}

// Names what the cells of one method have in common, or how many they are.
function methodSubject(cells) {
	const first = labelNames(cells)[0];
	const values = first ? [...new Set(cells.map((cell) => labelText(first, cell.labels[first])))] : [];
	if (!values.length)
		return words(cells[0].quantity);
	return values.length <= 4 ? values.map((value) => shorten(value, 60)).join(', ') :
		`${values.slice(0, 3).map((value) => shorten(value, 60)).join(', ')} and ${values.length - 3} more`;
}

function rangeText(range, source) {
	if (source === 'model' || !range)
		return 'n/a';
	return range[0] === range[1] ? String(range[0]) : `${range[0]} to ${range[1]}`;
}

function dataSection(result) {
	const name = `tare-${String(result.command).replace(/[^a-z0-9]+/gi, '-').slice(0, 40)}`;
	return section('data', 'Raw data', h('p', {}, 'Everything on this page, with every sample, as tare wrote it. ' +
		'Drawn again from the file by ', h('code', {}, 'tare render FILE.json --html PAGE.html'), '.'),
	h('p', { class: 'downloads' },
		h('button', { type: 'button', id: 'download-json', onclick: () =>
			download(`${name}.json`, 'application/json', inlinedText('tare-result')) }, 'Download JSON'), ' ',
		result.cells.length ? h('button', { type: 'button', id: 'download-csv', onclick: () =>
			download(`${name}.csv`, 'text/csv', cellsAsCsv(result.cells)) }, 'Download CSV') : null));
}

// The same columns as `tare render --csv` (src/report/csv.c).
function cellsAsCsv(cells) {
	const labels = labelNames(cells);
	const quote = (value) => {
		const text = value === null || value === undefined ? '' : String(value);
		return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
	};
	const header = [...labels, 'quantity', 'unit', 'n', 'min', 'median', 'p95', 'ci_low', 'ci_high', 'converged',
		'source', 'verified', 'rate_unit', 'rate_min', 'rate_median', 'rate_p95', 'rate_ci_low',
		'rate_ci_high', 'absent'];
	const rows = cells.map((cell) => {
		const rate = cell.rate || { ci: [] };
		return [...labels.map((name) => cell.labels[name]), cell.quantity, cell.unit, cell.n,
			cell.min, cell.median, cell.p95, cell.low, cell.high, cell.converged, cell.source, cell.verified,
			rate.unit, rate.min, rate.median, rate.p95, rate.ci[0], rate.ci[1], cell.absent];
	});
	return [header, ...rows].map((row) => `${row.map(quote).join(',')}\r\n`).join('');
}
