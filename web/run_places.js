// SPDX-License-Identifier: Apache-2.0
// The tables of phases and of call sites, where the run has any.
'use strict';

function partOf(phase, names) {
	const parts = (phase.ledger && phase.ledger.parts) || phase.parts || [];
	return parts.length ? parts.filter((part) => names(part.category)).reduce((sum, part) => sum + part.ns, 0) : null;
}

function phasesSection(run) {
	if (!run.phases.length)
		return null;
	const share = (names) => (phase) => {
		const ns = partOf(phase, names);
		return isKnown(ns) && phase.covered_ns > 0 ? ns / phase.covered_ns : null;
	};
	const jump = (which) => [which, (phase, view) => foundPhase(view, phase, which)];
	const busy = (category) => category === 'kernel' || /^(transfer_|local_copy)/.test(category);
	const table = reportTable('phases', 'Phases', [nameColumn('phase', 'name'), textColumn('domain', 'domain', { show: (row) => dataText(row.domain || '–') }),
		jumpColumn([jump('first'), jump('longest')]), countColumn('n', 'count'), countColumn('without an end', 'unended'), timeColumn('total', 'total_ns'),
		timeColumn('covered', 'covered_ns'), timeColumn('median', 'median_ns'), timeColumn('max', 'max_ns'),
		shareColumn('kernels', share((category) => category === 'kernel')), shareColumn('transfers', share((category) => /^transfer_/.test(category))),
		shareColumn('idle', share((category) => !busy(category))), countColumn('commands', 'commands')], run.phases, '');
	table.append(h('p', { class: 'note' }, 'Shares are of the time in which at least one was open, whatever other threads did then. Phases of several threads overlap; each counts in the total.',
		run.phases_left_out > 0 ? ` ${run.phases_left_out} more names have no row.` : null));
	return table;
}

function sitesSection(run) {
	const list = run.sites;
	if (!list.length)
		return null;
	const text = (site) => site.site || 'n/a';
	const jump = (which) => [which, (site, view) => foundSite(view, text(site), site.what, which)];
	return reportTable('sites', 'Call sites', [{ title: 'site', header: true, value: text, show: (site) => dataText(text(site), 120) },
		textColumn('kind', 'kind'), textColumn('what', 'what', { show: (row) => dataText(row.what || '–', 80) }), jumpColumn([jump('first'), jump('longest')]),
		countColumn('n', 'count'), countColumn('stacks', 'stacks'), bytesColumn('bytes', 'bytes'), timeColumn('device time', 'device_ns'),
		timeColumn('in the calls', 'host_ns'), timeColumn('gaps before them', 'gaps_ns')], list, '');
}

// The first or longest command or call of a site: `what` is the kernel's name, the kind or the call.
function foundSite(view, site, what, which) {
	const { timeline } = view;
	const { header, commands, calls, stacks } = timeline;
	const wanted = Array.from(stacks.site, (text) => header.strings[text] === site);
	const command = foundCommand(view, (row) => wanted[commands.stack[row]] === true && (!what || commandName(timeline, row) === what ||
		functionName(header, commands.function[row]) === what), which);
	if (command)
		return command;
	let best = -1;
	for (let row = 0; row < calls.count; row++)
		if (wanted[calls.stack[row]] === true && (!what || functionName(header, calls.function[row]) === what) &&
			(best < 0 || (which === 'longest' && calls.exit[row] - calls.enter[row] > calls.exit[best] - calls.enter[best])))
			best = row;
	return best < 0 ? null : { kind: 'call', id: best };
}
