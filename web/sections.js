// SPDX-License-Identifier: Apache-2.0
// The sections below the headline: what to do, figures, device, clock, method, raw data.
'use strict';

const LONG_CONCLUSION = 1200;

function section(result, id, title, ...content) {
	const whole = result.prefix + id;
	return h('section', { id: whole, 'aria-labelledby': `${whole}-title` },
		h(`h${result.level}`, { id: `${whole}-title` }, title), content);
}

// What follows from the figures: the first sentence of each conclusion stands out.
function verdict(result) {
	if (!result.conclusions.length)
		return null;
	const said = result.conclusions.map(({ text }) => {
		const whole = String(text);
		const end = whole.indexOf('. ') < 0 ? whole.length : whole.indexOf('. ') + 1;
		return [h('strong', {}, dataText(whole.slice(0, end), LONG_CONCLUSION)), end < whole.length ?
			[' ', dataText(whole.slice(end + 1), LONG_CONCLUSION)] : null];
	});
	return h('div', { class: 'verdict', role: 'group', 'aria-label': 'What follows' },
		said.length > 1 ? h('ul', {}, said.map((each) => h('li', {}, each))) : h('p', {}, said[0]));
}

function adviceSection(result) {
	if (!result.warnings.length && (result.listsDevices || result.prefix || result.parts.length))
		return null;
	if (!result.warnings.length)
		return section(result, 'advice', 'What to do', h('p', { class: 'muted' }, 'Nothing: there are no warnings.'));
	const groups = groupBy(result.warnings, (warning) => warning.action || '')
		.sort(([a], [b]) => Boolean(b) - Boolean(a));
	return section(result, 'advice', 'What to do', h('ol', { class: 'advice' }, groups.map(([action, warnings]) => h('li', {},
		action ? h('p', { class: 'action' }, dataText(sentence(action))) : null,
		warnings.map((warning) => h('p', { class: 'why' }, dataText(sentence(warning.message || warning.id))))))));
}

// A sentence begins with a capital, unless it begins with something to type.
function sentence(text) {
	return /^(?!tare )[a-z]+[ ,]/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}

function chartsSection(result) {
	const overview = sampleOverview(result.cells, result.level + 1);
	if (result.plots.length || overview)
		return section(result, 'charts', 'Charts', missingLines(result),
			result.plots.map((plot) => plotFigure(plot, result.level + 1)), overview);
	return result.listsDevices || result.parts.length ? null :
		section(result, 'charts', 'Charts', h('p', { class: 'muted' }, 'This result has no charts.'));
}

// A part of a document with all that is its own; device, host and clock are those of the whole.
function partSection(whole, part) {
	const id = part.prefix.slice(0, -1);
	const title = partTitle(whole, part);
	return h('section', { id, class: 'part', 'aria-labelledby': `${id}-title` },
		h('h2', { id: `${id}-title` }, dataText(title)), interruptedBanner(part), verdict(part),
		atAGlance(part), adviceSection(part), chartsSection(part), figuresSection(part));
}

// Lines without a single figure are in no chart: they are named, with the reason.
function missingLines(result) {
	const missing = groupBy(result.cells.filter((cell) => cell.labels.line !== undefined), (cell) => cell.labels.line)
		.filter(([, cells]) => cells.every((cell) => cell.absent));
	return missing.length ? h('ul', { class: 'missing' }, missing.map(([line, cells]) =>
		h('li', {}, 'Not in the charts: ', dataText(lineTitle(line)), ', ', notAvailable(cells[0].absent)))) : null;
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
function isAsked(result, device, row) {
	const entry = device.facts ? device.facts[row.key] : null;
	return Boolean(entry) && !(entry.value === null && entry.reason === result.tables.not_asked);
}

function enginesText(device) {
	return (device.engines || []).map((engine) =>
		h('li', {}, `${engine.class} ${engine.index}: `, dataText(engine.title), engine.known ? '' :
			h('span', { class: 'caution' }, ' (a guess)')));
}

function deviceTable(result, entries) {
	const rows = result.factRows.filter((row) => entries.some((device) => isAsked(result, device, row)));
	const header = (device) => `${device.backend_title || device.backend} (${device.backend}:${device.index})`;
	const engines = entries.some((device) => (device.engines || []).length);
	const without = entries.some((device) => device.kernels && device.kernels.absent);
	return h('div', { class: 'scroll', role: 'region', 'aria-label': 'Device facts', tabindex: 0 },
		h('table', { class: 'facts' },
			h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'fact'),
				entries.map((device) => h('th', { scope: 'col' }, dataText(header(device)))))),
			groupBy(rows, (row) => row.group).map(([group, members]) => h('tbody', {},
				h('tr', { class: 'group' }, h('th', { colspan: entries.length + 1, scope: 'rowgroup' }, group)),
				members.map((row) => h('tr', {}, h('th', { scope: 'row' }, row.title),
					entries.map((device) => h('td', {}, factValue(device, row))))))),
			engines ? h('tbody', {}, h('tr', {}, h('th', { scope: 'row' }, 'engines, each'),
				entries.map((device) => h('td', {}, h('ul', {}, enginesText(device)))))) : null,
			without ? h('tbody', {}, h('tr', {}, h('th', { scope: 'row' }, 'kernels built for it'),
				entries.map((device) => h('td', {}, device.kernels && device.kernels.absent ? notAvailable(device.kernels.absent) : '')))) : null));
}

// A part that lists devices knows the device under every API, and stands for this section.
function deviceSection(result) {
	const lists = result.parts.find((part) => part.listsDevices);
	if (!lists)
		return devicesAndHost(result, result);
	const host = Object.keys(result.host).length ? result.host : lists.host;
	return devicesAndHost(result, { ...lists, host, absences: [...lists.absences, ...result.absences] },
		interruptedBanner(lists), verdict(lists), adviceSection(lists));
}

function devicesAndHost(whole, result, ...first) {
	const groups = groupBy(result.devices, (device) => device.number);
	const one = groups.length === 1;
	const content = groups.map(([, entries]) => {
		const same = entries.map((entry) => entry.same_by).find(Boolean);
		return [one ? null : h('h3', {}, dataText(deviceName(entries[0]))),
			entries.length > 1 ? h('p', { class: 'note' }, `One device under ${count(entries.length, 'API')}`,
				same ? [', recognised by its ', dataText(same)] : null, '.') : null,
			deviceTable(result, entries)];
	});
	if (result.listsDevices)
		content.push(...shownTables(result, 3));
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
	return section(whole, 'device', one || !groups.length ? 'Device' : 'Devices', first, content);
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
	const timed = [result, ...result.parts].find(({ clock }) => clock && clock.rate);
	const { clock } = timed || result;
	if (result.listsDevices)
		return null;
	if (!clock || !clock.rate)
		return section(result, 'clock', 'Clock', h('p', {}, notAvailable((clock && clock.note) ||
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
		// The fit maps the device's time to the host's: what it adds the device's clock loses.
		rows.push(['clock against the host\'s', `the device's ${driftText(-fit.drift_ppm)} (±${significant(fit.drift_error_ppm, 2)})`],
			['clock pairs', `${fit.pairs}, the tightest taken within ${formatNs(fit.tightest_bracket_ns)}`]);
	return section(result, 'clock', 'Clock', h('dl', { class: 'list' }, rows.map(([name, value]) =>
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

// ---- what the device did meanwhile

// What held the clock back, with its share of the readings; idling does not.
function heldBack(telemetry) {
	return Object.entries((telemetry.throttle || {}).reasons || {}).filter(([key]) => key !== 'idle')
		.map(([key, share]) => [key === 'other' ? 'another reason' : words(key), share]);
}

// "1.98 GHz, from 1.76 GHz to 1.98 GHz"
function telemetryRange({ unit, low, median, mean, high }) {
	const middle = unit === 'W' ? `${formatValue(mean, unit)} on average` : formatValue(median, unit);
	const bounds = [low, high].map((value) => formatValue(value, unit));
	return bounds[0] === bounds[1] ? middle : `${middle}, from ${bounds[0]} to ${bounds[1]}`;
}

function telemetrySection(result) {
	const { telemetry } = result;
	if (!telemetry || result.listsDevices)
		return null;
	if (telemetry.absent)
		return section(result, 'meanwhile', 'While measuring', h('p', {}, notAvailable(telemetry.absent)));
	const rows = result.tables.telemetry.map(([key, name]) => [name, telemetry[key] ? telemetryRange(telemetry[key]) :
		notAvailable('the driver does not tell')]);
	const held = heldBack(telemetry);
	rows.push(['held back', !telemetry.throttle ? notAvailable('the driver does not tell') : held.length ?
		held.map(([name, share]) => `${name} in ${significant(100 * share, 2)} % of the readings`).join(', ') : 'no'],
	['readings', `${telemetry.readings}, ${telemetry.loaded} of them while the device was not idle`]);
	return section(result, 'meanwhile', 'While measuring', h('dl', { class: 'list' }, rows.map(([name, value]) =>
		[h('dt', {}, name), h('dd', {}, value)])));
}

// ---- method and data

function methodSection(result) {
	const measured = allResults(result).filter((each) => each.cells.length || Object.keys(each.parameters).length);
	const any = measured.some((each) => each.cells.length);
	const parted = result.parts.length > 0;
	const name = (each) => (parted ? h('h3', {}, dataText(each === result ? 'all together' :
		isSeveral(result) ? partTitle(result, each) : each.command)) : null);
	if (result.listsDevices && !measured.length)
		return null;
	return section(result, 'method', 'How each figure was measured',
		any ? h('p', {}, 'Each figure is the median of its samples; none was dropped. Its 95 % interval is ' +
			'widened where samples depend on each other and is never narrower than the timer\'s step. Sampling went on ' +
			'until the interval was within 1 %, or the budget was used: then it says "not converged".') : null,
		!any && !result.listsDevices ? h('p', { class: 'muted' }, 'Nothing was measured.') : null,
		measured.map((each) => [name(each), each.cells.length ? methodTable(each) : null,
			labelList(each.kernelTimestamp) ? [heading(parted ? 4 : 3, 'Kernel timestamp of one launch'),
				labelList(each.kernelTimestamp)] : null,
			labelList(each.parameters) ? [heading(parted ? 4 : 3, 'Parameters'), labelList(each.parameters)] : null]));
}

function methodTable(result) {
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
	return sortableTable(`How each figure was measured${result.prefix ? `: ${result.command}` : ''}`, columns, groups, { class: 'methods' });
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
	return section(result, 'data', 'Raw data', h('p', {}, 'Everything on this page, with every sample, as tare wrote it. ' +
		'Drawn again from the file by ', h('code', {}, 'tare render FILE.json --html PAGE.html'), '.'),
	h('p', { class: 'downloads' },
		h('button', { type: 'button', id: 'download-json', onclick: () =>
			download(`${name}.json`, 'application/json', inlinedText('tare-result')) }, 'Download JSON'), ' ',
		allResults(result).some((each) => each.cells.length) || result.listsDevices ?
			h('button', { type: 'button', id: 'download-csv', onclick: () =>
				download(`${name}.csv`, 'text/csv', JSON.parse(document.getElementById('tare-csv').textContent)) }, 'Download CSV') : null));
}
