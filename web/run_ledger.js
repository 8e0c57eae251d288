// SPDX-License-Identifier: Apache-2.0
// Where the time went: a bar a device, whose parts sum to the wall time.
'use strict';

const LABEL_SHARE = 0.07; // of the bar; a smaller part has its name in the table only

function ledgerBar(ledger) {
	const parts = ledger.parts.filter((part) => part.ns > 0);
	const text = parts.map((part) => `${categoryTitle(part.category)} ${shareText(part.ns, ledger.wall_ns)}`).join(', ');
	return h('div', { class: 'ledger-bar', role: 'img', 'aria-label': `${ledger.name}: ${text || 'no time'}` }, parts.map((part) => {
		const swatch = paintSwatch(PAINT_OF.category[part.category] ?? PAINT_OF.category.unknown);
		swatch.classList.add('part');
		swatch.style.flexGrow = String(part.ns / ledger.wall_ns);
		swatch.title = `${categoryTitle(part.category)}: ${formatNs(part.ns)}, ${shareText(part.ns, ledger.wall_ns)}`;
		if (part.ns >= LABEL_SHARE * ledger.wall_ns)
			swatch.append(h('span', { class: 'plate' }, shareText(part.ns, ledger.wall_ns)));
		return swatch;
	}));
}

// The longest idle piece of a cause, from the timeline, or the report's list of long gaps.
function longestGap(view, device, category) {
	const { gaps, header } = view.timeline;
	const cause = header.causes.indexOf(category);
	let best = -1;
	for (let row = 0; row < gaps.count; row++)
		if (gaps.cause[row] === cause && (device === null || gaps.device[row] === device) &&
			(best < 0 || gaps.to[row] - gaps.from[row] > gaps.to[best] - gaps.from[best]))
			best = row;
	return best < 0 ? null : { kind: 'gap', id: best };
}

function longestOfCategory(view, device, category) {
	const { header } = view.timeline;
	const direction = { transfer_to_device: 'to_device', transfer_from_device: 'from_device', local_copy: 'local' }[category];
	const fits = category === 'kernel' ? (row) => isKernel(view.timeline, row) : direction ? (row) =>
		header.directions[view.timeline.commands.direction[row]] === direction : null;
	return fits ? foundCommand(view, (row) => fits(row) && (device === null || deviceOfCommand(view.timeline, row) === device), 'longest')
		: longestGap(view, device, category);
}

function ledgerTable(run, ledger) {
	const columns = [
		{ title: 'where', header: true, value: (part) => categoryTitle(part.category),
			show: (part) => h('span', {}, paintSwatch(PAINT_OF.category[part.category] ?? PAINT_OF.category.unknown), ' ', categoryTitle(part.category)) },
		{ title: 'time', numeric: true, value: (part) => part.ns, show: (part) => formatNs(part.ns) },
		{ title: 'share', numeric: true, value: (part) => part.ns, show: (part) => shareText(part.ns, ledger.wall_ns) },
		jumpColumn([['longest', (part, view) => longestOfCategory(view, ledger.device_number, part.category)]]),
	];
	return sortableTable(`Where the time of ${ledger.name} went`, columns, ledger.parts.filter((part) => part.ns > 0));
}

function matrixTable(ledger) {
	const columns = [{ title: 'host', header: true, value: (row) => words(row.host) }, { title: 'device', value: (row) => words(row.device) },
		{ title: 'time', numeric: true, value: (row) => row.ns, show: (row) => formatNs(row.ns) },
		{ title: 'share', numeric: true, value: (row) => row.ns, show: (row) => shareText(row.ns, ledger.wall_ns) }];
	return h('details', { class: 'figures' }, h('summary', {}, 'States of host and device together'),
		sortableTable(`States of host and device together, ${ledger.name}`, columns, [...ledger.matrix].sort((a, b) => b.ns - a.ns)));
}

function ledgerElements(run) {
	if (!(run.wall_ns > 0))
		return [h('p', {}, 'The run, or the part that was asked for, has no length: there is no time to account for.')];
	if (!run.ledgers.length)
		return [h('p', {}, 'What the devices did is not known.')];
	const devices = run.ledgers.filter((ledger) => ledger.scope === 'device');
	// Devices may be alike.
	const shown = devices.length === 1 ? devices : run.ledgers.map((ledger) =>
		(ledger.scope === 'device' ? { ...ledger, name: `#${ledger.device_number} ${ledger.name}` } : ledger));
	return shown.map((ledger) => h('div', { class: 'ledger' }, heading(3, dataText(ledger.name)), ledgerBar(ledger), ledgerTable(run, ledger),
		h('p', { class: 'note' }, [ledger.hidden_to_device_ns + ledger.hidden_from_device_ns > 0 ?
			`${formatNs(ledger.hidden_to_device_ns + ledger.hidden_from_device_ns)} of transfers were hidden behind kernels.` : null,
		ledger.ambiguous_ns > 0 ? `${formatNs(ledger.ambiguous_ns)} lie so near to a boundary that the clocks' error may put them on the other side.` : null]
			.filter(Boolean).join(' ')), matrixTable(ledger)));
}
