// SPDX-License-Identifier: Apache-2.0
// The first screen: what was measured, on what, the figures that matter, what to do.
'use strict';

const MOST_CARDS = 6;

function pageTitle(result) {
	const command = result.command.charAt(0).toUpperCase() + result.command.slice(1);
	if (result.listsDevices) {
		const devices = new Set(result.devices.map((device) => device.number)).size;
		return devices ? count(devices, 'device') : 'No device found';
	}
	if (isSeveral(result))
		return `${command} of ${count(result.devices.length, 'device')}`;
	const [device] = allResults(result).reverse().flatMap((each) => each.devices);
	return device ? `${command} of ${deviceName(device)}` : command;
}

// "CUDA 13.0 · driver 580.159 · PCIe 5.0 x16 · clock: 32 ns ticks, fit ±40 ns"
function deviceLine(result) {
	const [device] = allResults(result).reverse().flatMap((each) => each.devices);
	if (result.listsDevices || isSeveral(result) || !device)
		return [];
	const parts = [device.backend_title || device.backend];
	const version = factText(device, 'api_version');
	if (version)
		parts[0] = version.startsWith(parts[0]) ? version : `${parts[0]} ${version}`;
	if (factText(device, 'driver'))
		parts.push(`driver ${factText(device, 'driver').replace(/^driver /i, '')}`);
	const [link, most] = [factText(device, 'link_now'), factText(device, 'link_max')];
	if (link)  // a GPU that idles lowers it
		parts.push(most && most !== link ? `${link} (at most ${most})` : link);
	const timed = [result, ...result.parts].find(({ clock }) => clock && clock.rate);
	parts.push(clockLine((timed || result).clock), ...telemetryParts(result.telemetry));
	return parts;
}

// ["1.98 GHz while measured", "no throttling"]
function telemetryParts(telemetry) {
	if (!telemetry || telemetry.absent)
		return [];
	const held = heldBack(telemetry);
	return [telemetry.clock ? `${formatValue(telemetry.clock.median, 'Hz')} while measured` : null,
		!telemetry.throttle ? null : held.length ? `slowed down by ${held.map(([name]) => name).join(', ')}` : 'no throttling']
		.filter(Boolean);
}

function clockLine(clock) {
	if (!clock || !clock.rate)
		return 'no device clock: host time only';
	const { rate, fit } = clock;
	const step = 1e9 * rate.resolution_ticks * rate.hz_denominator / rate.hz_numerator;
	return `clock: ${formatNs(step)} steps, ${fit ? `fit ±${formatNs(fit.residual_ns)}` : 'no fit to the host\'s'}`;
}

function headSection(result) {
	return [h('div', { class: 'top' }, h('h1', {}, dataText(pageTitle(result))),
		h('div', { class: 'actions' }, themeToggle())),
		h('p', { class: 'device' }, deviceLine(result).map((part, i) => [i ? h('span', { class: 'dot' }, ' · ') : null,
			dataText(part)])),
		interruptedBanner(result)];
}

function interruptedBanner(result) {
	return result.interrupted ? h('p', { class: 'banner' }, h('strong', {}, 'Interrupted: '),
		'this is what had been measured by then; figures may be missing.') : null;
}

// "216 figures: 208 converged, 2 not, 6 not available. All 105 transfers verified."
function completeness(cells) {
	if (!cells.length)
		return null;
	const present = cells.filter((cell) => !cell.absent);
	const settled = present.filter((cell) => cell.converged || cell.source === 'model').length;
	const wrong = present.filter((cell) => cell.verified === false).length;
	const right = present.filter((cell) => cell.verified === true).length;
	const parts = [`${count(cells.length, 'figure')}: ${settled} converged`];
	if (settled < present.length)
		parts.push(`${present.length - settled} not`);
	if (present.length < cells.length)
		parts.push(`${cells.length - present.length} not available`);
	const checks = wrong ? ` ${count(wrong, 'destination')} did not hold what was sent.` :
		right ? ' Every destination held what was sent.' : '';
	return h('p', { class: wrong ? 'bad full' : 'muted full' }, `${parts.join(', ')}.${checks}`);
}

// "host-to-device" as "host → device".
function lineTitle(line) {
	return String(line).replace(/-to-/g, ' → ').replaceAll('_', ' ');
}

// Of the cells of one line and size the first is the line's figure (src/measure/bandwidth/bandwidth.h): the
// host's time where the device's stamps leave something out.
function mainCells(cells) {
	const sizes = new Set();
	return cells.filter((cell) => {
		const known = !cell.absent && cell.rate && isKnown(cell.rate.median) && !sizes.has(cell.labels.bytes);
		if (known)
			sizes.add(cell.labels.bytes);
		return known;
	});
}

function card(title, figure, notes) {
	return h('li', { class: 'card' }, h('h3', {}, dataText(title)), h('p', { class: 'big' }, figure),
		notes.filter(Boolean).map((note) => h('p', { class: 'small' }, typeof note === 'string' ? dataText(note) : note)));
}

function absentCard(title, reason) {
	return h('li', { class: 'card none' }, h('h3', {}, dataText(title)), h('p', { class: 'big' }, 'n/a'),
		h('p', { class: 'small' }, dataText(reason)));
}

function spreadNote(cell, spread) {
	const settled = cell.converged || cell.source === 'model';
	// Ten independent samples would give an interval: more have none only if they follow each other.
	const few = cell.n === 1 ? 'is too few' : 'are too few';
	const why = cell.n > 10 ? 'that depend on each other: no interval' : `${few} for an interval`;
	const unsettled = spread ? 'not converged' : `${count(cell.n, 'sample')} ${why}`;
	return [spread || (settled ? '±n/a' : null), settled ? null : unsettled,
		cell.verified === false ? 'WRONG DATA' : null].filter(Boolean).join(', ');
}

function atSize(cell) {
	return isKnown(cell.labels.bytes) ? ` at ${formatBytes(cell.labels.bytes)}` : '';
}

// What the fit says, but the rate, which is measured. A latency whose interval includes zero is none.
function fitNotes(cells) {
	return cells.filter((cell) => cell.source === 'model' && !cell.absent && (cell.unit === 'ns' || cell.unit === 'B'))
		.map((cell) => `${words(cell.labels.fit || cell.quantity)} ` +
			(cell.low <= 0 ? 'lost in the noise' : formatComputed(cell.median, cell.unit)));
}

// A card a line: its rate at the largest size, then the fit's latency and half-rate size.
function rateCards(result) {
	const lines = new Map();
	for (const cell of result.cells)
		if (cell.labels.line !== undefined)
			lines.set(cell.labels.line, [...(lines.get(cell.labels.line) || []), cell]);
	return [...lines].map(([line, cells]) => {
		// What lasts is the rate of the largest size; a smaller one may fit a cache.
		const rated = mainCells(cells).sort((a, b) => (a.labels.bytes || 0) - (b.labels.bytes || 0));
		const last = rated[rated.length - 1];
		if (!last) {
			const absent = cells.find((cell) => cell.absent);
			return absent ? absentCard(lineTitle(line), absent.absent) : null;
		}
		const best = rated.reduce((most, cell) => (most.rate.median >= cell.rate.median ? most : cell));
		return card(lineTitle(line), [significant(last.rate.median), h('span', { class: 'unit' }, ` ${last.rate.unit}`)],
			[[spreadNote(last, formatSpread(last.median, last.low, last.high)), `${last.source} time${atSize(last)}`].join(', '),
				best.rate.median > 1.05 * last.rate.median ? `at most ${significant(best.rate.median)}${atSize(best)}` : null,
				fitNotes(cells).join(', ')]);
	}).filter(Boolean);
}

// What a person asks first: launches, copies, a wait. Groups are those of `latency`.
function firstAsked(cells) {
	const places = { launch: 3, copy: 2, synchronise: 1 };
	const first = cells.filter((cell) => !cell.absent && (places[cell.labels.group] || 0) > 0 &&
		places[cell.labels.group]-- > 0);
	const rest = cells.filter((cell) => !first.includes(cell));
	return [...first, ...rest.filter((cell) => !cell.absent), ...rest.filter((cell) => cell.absent)];
}

function timeCards(result) {
	return firstAsked(result.cells.filter((cell) => cell.source !== 'model' || result.cells.length < MOST_CARDS))
		.map((cell) => {
			if (cell.absent)
				return absentCard(cell.title, cell.absent);
			const [value, unit] = splitUnit(formatValue(cell.median, cell.unit));
			return card(cell.title, [value, h('span', { class: 'unit' }, ` ${unit}`)],
				[`${spreadNote(cell, formatSpread(cell.median, cell.low, cell.high))}${cell.source === 'model' ? '' :
					`, ${cell.source} time, n ${cell.n}`}`]);
		});
}

function splitUnit(text) {
	const gap = text.indexOf(' ');
	return gap < 0 ? [text, ''] : [text.slice(0, gap), text.slice(gap + 1)];
}

function deviceCards(result) {
	const byNumber = new Map();
	for (const device of result.devices)
		byNumber.set(device.number, [...(byNumber.get(device.number) || []), device]);
	return [...byNumber.values()].map((entries) => {
		const first = entries[0];
		const of = (key) => entries.map((entry) => factText(entry, key)).find(Boolean);
		const seen = entries.map((entry) => `${entry.backend}:${entry.index}`).join(', ');
		const same = entries.map((entry) => entry.same_by).find(Boolean);
		return h('li', { class: 'card wide' }, h('h3', {}, dataText(deviceName(first))),
			h('p', {}, [of('type'), of('memory_bytes'), of('link_now')].filter(Boolean).map((text, i) =>
				[i ? ', ' : null, dataText(text)])),
			h('p', { class: 'small' }, [['peak_fp32_flops', 'FP32'], ['peak_memory_rate', 'memory'], ['peak_link_rate', 'link']]
				.map(([key, name]) => (of(key) ? `${name} ${of(key)}` : null)).filter(Boolean).join(', ') || 'peaks: n/a'),
			h('p', { class: 'small' }, h('code', {}, dataText(`--device ${first.backend}:${first.index}`)),
				entries.length > 1 ? dataText(` seen as ${seen}: one device${same ? `, by ${same}` : ''}`) : null));
	});
}

function cardsOf(result) {
	if (result.listsDevices)
		return deviceCards(result);
	const own = { peak: peakCards, matmul: matmulCards, overlap: overlapCards }[result.command];
	const cards = own ? own(result) : [];
	if (cards.length)
		return cards;
	return result.cells.some((cell) => cell.rate) ? rateCards(result) : timeCards(result);
}

// The figures of one document that are asked for first.
function atAGlance(result) {
	const cards = cardsOf(result);
	const shown = result.listsDevices ? cards : cards.slice(0, MOST_CARDS);
	const empty = result.listsDevices ? 'No backend found a device: the reasons follow.' : 'Nothing was measured.';
	return [shown.length ? h('ul', { class: 'cards' }, shown) : h('p', { class: 'muted' }, empty),
		cards.length > shown.length ? h('p', { class: 'muted' }, `and ${cards.length - shown.length} more: `,
			h('a', { href: `#${result.prefix}figures` }, 'all figures'), '.') : null,
		completeness(result.cells)];
}

// Of each part its first figure; the rest is where the link leads.
function partCards(result) {
	return result.parts.filter((part) => !part.listsDevices).map((part) => {
		const cards = cardsOf(part);
		const known = cards.filter((each) => !each.classList.contains('none'));
		const first = known.find((each) => each.querySelector('h3').textContent === lineTitle('host-to-device')) ||
			known[0] || cards[0];
		if (!first)
			return null;
		first.prepend(h('p', { class: 'small' }, h('a', { href: `#${part.prefix.slice(0, -1)}` }, dataText(isSeveral(result) ? partTitle(result, part) : part.command))));
		return first;
	}).filter(Boolean);
}

function headlineSection(result) {
	const parted = result.parts.length > 0;
	return h('section', { id: 'headline', 'aria-label': 'At a glance' }, verdict(result),
		parted ? [h('ul', { class: 'cards' }, partCards(result)),
			completeness(allResults(result).flatMap((each) => each.cells))] : atAGlance(result));
}
