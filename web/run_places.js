// SPDX-License-Identifier: Apache-2.0
// The tables of phases, of idle gaps and of call sites, where the run has any.
'use strict';

function phasesSection(run) {
	const jump = (which) => [which, (phase, view) => foundPhase(view, phase, which)];
	const table = declaredSection('phases', run, [jump('first'), jump('longest')]);
	if (table)
		table.append(h('p', { class: 'note' }, 'Shares are of the time in which at least one was open, whatever other threads did then. Phases of several threads overlap; each counts in the total.',
			run.phases_left_out > 0 ? ` ${run.phases_left_out} more names have no row.` : null));
	return table;
}

function sitesSection(run) {
	const jump = (which) => [which, (site, view) => foundSite(view, site.site, site.what, which)];
	return declaredSection('sites', run, [jump('first'), jump('longest')]);
}

// The longest first, whatever the device. Each leads to the piece of it that most of it was spent on.
function gapsSection(run) {
	const jump = ['show', (gap, view) => longestPiece(view, gap)];
	const table = declaredSection('gaps', { ...run, gaps: [...run.gaps].sort((a, b) => b.ns - a.ns) }, [jump]);
	if (table)
		table.append(h('p', { class: 'note' }, 'The longest times in which a device ran nothing, and the call site of the command that ended each.'));
	return table;
}

function longestPiece(view, gap) {
	const { gaps, header } = view.timeline;
	const cause = header.causes.indexOf(gap.cause);
	let best = -1;
	for (let row = 0; row < gaps.count; row++)
		if (gaps.cause[row] === cause && gaps.device[row] === gap.device_number && gaps.from[row] >= gap.from_ns && gaps.to[row] <= gap.to_ns &&
			(best < 0 || gaps.to[row] - gaps.from[row] > gaps.to[best] - gaps.from[best]))
			best = row;
	return best < 0 ? null : { kind: 'gap', id: best };
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
