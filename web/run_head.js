// SPDX-License-Identifier: Apache-2.0
// The first screen: what ran, how it ended, what is wrong with the figures, what bounds it.
'use strict';

function runTitle(run) {
	return run.program || (run.processes[0] && run.processes[0].command_line) || run.trace.name;
}

function shareText(part, whole) {
	if (!isKnown(part) || !(whole > 0))
		return 'n/a';
	const percent = 100 * part / whole;
	return percent > 0 && percent < 0.1 ? '<0.1 %' : `${percent.toFixed(1)} %`;
}

function factsLine(run) {
	const whole = run.trace.run_ns === run.wall_ns;
	const threads = run.processes.reduce((sum, process) => sum + process.threads, 0);
	return [`${formatNs(run.wall_ns)}${whole ? '' : ` of ${formatNs(run.trace.run_ns)}`} wall`, count(run.processes.length, 'process', 'processes'),
		count(threads, 'thread'), count(run.devices.length, 'device')].join(', ');
}

function endText(run) {
	if (run.exit_signal)
		return `The program was ended by signal ${run.exit_signal}.`;
	if (run.exit_status)
		return `The program ended with exit status ${run.exit_status}.`;
	return null;
}

// Whether none was enqueued, or none is known: the verdict says why.
function noCommandText(run) {
	const why = run.summary.why_no_command;
	return `No command was ${why && why !== 'none_enqueued' ? 'recorded' : 'enqueued'}`;
}

// What the report is about, where it is not the whole run.
function viewText(run) {
	const { view, trace } = run;
	const parts = [view.from_ns > 0 || view.to_ns < trace.run_ns ? `from ${momentText(view.from_ns)} to ${momentText(view.to_ns)}` : null,
		isKnown(view.process) ? `process ${view.process}` : null, isKnown(view.device) ? `device ${view.device}` : null,
		view.kernel ? `kernels that match ${view.kernel}` : null, view.phase ? `phases that match ${view.phase}` : null].filter(Boolean);
	return parts.length ? `The tables are about a part of the run: ${parts.join('; ')}.` : null;
}

function timedText(run) {
	const { enqueued, completed } = run.coverage;
	if (!enqueued)
		return `${noCommandText(run)}.`;
	if (!completed)
		return `${count(enqueued, 'command')} recorded; none has times of the device, so no share of its time is known.`;
	return `${count(enqueued, 'command')} recorded, ${completed === enqueued ? 'all' : completed} timed.`;
}

function wallText(run) {
	return run.trace.start_realtime_ns ? `Recorded ${new Date(run.trace.start_realtime_ns / 1e6).toISOString().slice(0, 19).replace('T', ' ')} UTC.` : null;
}

function problemList(run) {
	if (!run.problems.length)
		return null;
	return h('section', { class: 'banner problems', 'aria-label': 'What is wrong with the figures' }, h('ul', {}, run.problems.map((problem) =>
		h('li', {}, problem.concerns_figures ? h('strong', {}, 'Figures are concerned: ') : null, dataText(problem.text, 600), '.'))));
}

function headElements(run) {
	return [h('div', { class: 'top' }, h('h1', {}, dataText(runTitle(run))), h('div', { class: 'actions' }, themeToggle())),
		h('p', { class: 'device' }, factsLine(run)),
		h('p', { class: 'device' }, dataText(run.devices.map((device) => (run.devices.length > 1 ? `#${device.number} ` : '') + device.name).join(', ') || 'no device', 600)),
		h('p', { class: 'note' }, [timedText(run), endText(run), viewText(run), wallText(run)].filter(Boolean).join(' ')), problemList(run)].filter(Boolean);
}

const RUN_PARTS = {
	start_up: ['Start-up', '#6B7280', '#9AA3AF', 'dots'], working: ['Working part', '#0072B2', '#56B4E9', 'solid'],
	tear_down: ['Tear-down', '#7D4A86', '#D3A0DC', 'diagonal'],
};
for (const part of Object.keys(RUN_PARTS))
	RUN_PARTS[part].paint = addPaint(...RUN_PARTS[part]);
const NAMED_SHARE = 0.02; // of a part of the run; less is told together

// What a part went into: the largest first.
function wentIntoText(part) {
	const whole = part.to_ns - part.from_ns;
	const named = part.went_into.filter((row) => row.ns >= NAMED_SHARE * whole).sort((a, b) => b.ns - a.ns);
	const left = whole - named.reduce((sum, row) => sum + row.ns, 0);
	return [...named.map((row) => `${row.words} ${formatNs(row.ns)} (${shareText(row.ns, whole)})`),
		left > 0 ? `others ${formatNs(left)} (${shareText(left, whole)})` : null].filter(Boolean).join(', ');
}

// The run in time; null where the report is about a part of it, or nearly all of it is the working part.
function partsElement(run) {
	const { parts } = run.summary;
	if (!parts.length)
		return null;
	const texts = parts.map((part) => `${RUN_PARTS[part.part][0]} ${formatNs(part.to_ns - part.from_ns)}, ${shareText(part.to_ns - part.from_ns, run.wall_ns)}`);
	return h('section', { class: 'run-parts', 'aria-label': 'Parts of the run' },
		h('div', { class: 'part-bar', role: 'img', 'aria-label': `Parts of the run: ${texts.join('; ')}` }, parts.map((part, i) => {
			const swatch = paintSwatch(RUN_PARTS[part.part].paint);
			swatch.classList.add('part');
			swatch.style.flexGrow = String(part.share);
			swatch.title = texts[i];
			if (part.share >= 0.12)
				swatch.append(h('span', { class: 'plate' }, `${RUN_PARTS[part.part][0]} ${shareText(part.to_ns - part.from_ns, run.wall_ns)}`));
			return swatch;
		})),
		h('ul', { class: 'part-list' }, parts.map((part, i) => h('li', {}, paintSwatch(RUN_PARTS[part.part].paint), ' ', texts[i]))),
		parts.filter((part) => part.part !== 'working' && part.share >= 0.02).map((part) =>
			h('p', { class: 'note' }, `${RUN_PARTS[part.part][0]} went into ${wentIntoText(part)}.`)));
}

function verdictElement(run) {
	const { verdict, evidence } = run.summary;
	return h('section', { class: 'verdict', 'aria-label': 'Verdict' }, h('p', {}, h('strong', {}, dataText(`${verdict}.`, 900))),
		evidence ? h('p', { class: 'note' }, dataText(`${evidence}.`, 800)) : null);
}

function summaryCards(run) {
	const { summary } = run;
	const card = (title, value, note) => h('li', { class: value === 'n/a' ? 'card none' : 'card' }, h('h3', {}, title),
		h('p', { class: 'big' }, value), note ? h('p', { class: 'note' }, note) : null);
	return h('ul', { class: 'cards' }, card('Device busy', percentText(summary.device_utilisation), 'any device, of the wall time'),
		card('Kernels', percentText(summary.kernel_share), 'of the wall time'),
		card('Transfers', percentText(summary.transfer_share), `${percentText(summary.exposed_transfer_share)} not hidden behind kernels`),
		card('Enqueue calls', formatNs(summary.launch_ns), isKnown(summary.mean_launch_ns) ? `${formatNs(summary.mean_launch_ns)} each` : 'none'),
		card('CPUs busy', isKnown(summary.cpu_utilisation) ? significant(summary.cpu_utilisation, 3) : 'n/a', 'on average'));
}
