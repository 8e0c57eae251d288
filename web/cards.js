// SPDX-License-Identifier: Apache-2.0
// The cards of peak, matmul and overlap; their labels are those of src/measure/{peak,matmul,overlap}.h.
'use strict';

function isRated(cell) {
	return !cell.absent && cell.verified !== false && cell.rate && isKnown(cell.rate.median);
}

function fastest(cells) {
	return cells.filter(isRated).reduce((best, cell) =>
		(best && best.rate.median >= cell.rate.median ? best : cell), null);
}

// A rate to be read: 66900 GFLOP/s are 66.9 TFLOP/s.
function splitRate(rate) {
	const known = /^G(FLOP|op)\/s$/.exec(rate.unit);
	return known ? splitUnit(scaled(rate.median * 1e9, decimalSteps(`${known[1]}/s`))) :
		[significant(rate.median), rate.unit];
}

function rateCard(title, cell, notes) {
	const [value, unit] = splitRate(cell.rate);
	const spread = spreadNote(cell, formatSpread(cell.median, cell.low, cell.high));
	return card(title, [value, h('span', { class: 'unit' }, ` ${unit}`)],
		[[spread, `${cell.source} time`].filter(Boolean).join(', '), ...notes]);
}

// ---- peak

const CEILINGS = [
	['compute', 'type', 'fp32', 'FP32', 'peak_fp32_flops'], ['memory', 'op', 'read', 'Memory, read', 'peak_memory_rate'],
	['tensor', 'type', 'bf16', 'Tensor, BF16', 'peak_bf16_tensor_flops'], ['tensor', 'type', 'fp16', 'Tensor, FP16', 'peak_fp16_tensor_flops'],
	['tensor', 'type', 'tf32', 'Tensor, TF32', 'peak_tf32_tensor_flops'],
	['compute', 'type', 'fp64', 'FP64', 'peak_fp64_flops'], ['memory', 'op', 'copy', 'Memory, copy', 'peak_memory_rate'],
	['compute', 'type', 'fp16', 'FP16', null], ['local', null, null, 'Local memory', 'peak_local_memory_rate'],
	['compute', 'type', 'int32', 'INT32', null], ['memory', 'op', 'write', 'Memory, write', 'peak_memory_rate'],
	['memory', 'op', 'triad', 'Memory, triad', 'peak_memory_rate'],
];

// What the paper says of it, from the device's facts.
function theoryNote(result, cell, key) {
	const known = key ? fact(result.devices[0], key) : null;
	if (!known || !isKnown(known.value) || known.value <= 0 || !cell.rate.unit.startsWith('G'))
		return null;
	return `${significant(100 * cell.rate.median * 1e9 / known.value)} % of ${formatValue(known.value, known.unit)} (${originText(known)})`;
}

function ceilingCell(result, name, quantity) {
	return result.cells.find((cell) => cell.labels.group === 'ceiling' && cell.labels.what === name &&
		cell.quantity === quantity && !cell.absent && isKnown(cell.median));
}

// What the ceiling is the median of: a faster one may be too unsure (src/measure/core/peaks.h).
function ceilingOf(result, name, cells) {
	const known = ceilingCell(result, name, 'attainable');
	return (known && cells.find((cell) => isRated(cell) && Math.abs(cell.rate.median - known.median) <= 1e-9 * known.median)) ||
		fastest(cells);
}

// The clock while it was sampled, and what the rate is by that clock.
function clockNotes(result, name) {
	const [clock, share, each, slowed] = ['clock', 'share at the clock', 'per clock and unit', 'slowed down']
		.map((quantity) => ceilingCell(result, name, quantity));
	if (!clock)
		return [];
	return [[`at ${formatValue(clock.median * 1e6, 'Hz')}`, share ? `${significant(share.median)} % of the paper's there` : null,
		each ? `${significant(each.median)} ${each.unit} a clock and unit` : null].filter(Boolean).join(', '),
	slowed && slowed.median > 0 ? `slowed down in ${significant(slowed.median)} % of the readings` : null];
}

function peakCards(result) {
	const cards = CEILINGS.map(([group, label, value, title, key]) => {
		const cells = result.cells.filter((cell) => cell.labels.group === group && (!label || cell.labels[label] === value));
		const name = { compute: value, local: 'local memory' }[group] || `${group} ${value}`;
		const best = ceilingOf(result, name, cells);
		if (!best) {
			const absent = cells.find((cell) => cell.absent);
			return absent ? absentCard(title, absent.absent) : null;
		}
		const how = isKnown(best.labels.width) ? `width ${best.labels.width}` : isKnown(best.labels.n) ? `n = ${best.labels.n}` : null;
		return rateCard(title, best, [theoryNote(result, best, key), how,
			...clockNotes(result, name)]);
	}).filter(Boolean);
	const isAbsent = (each) => each.classList.contains('none');
	return [...cards.filter((each) => !isAbsent(each)), ...cards.filter(isAbsent)];
}

// ---- matmul

// What was computed of a cell: figures of source "model" with the same labels.
function computedOf(result, cell, names) {
	return result.cells.filter((each) => each.source === 'model' && !each.absent && each.labels.what !== undefined &&
		isKnown(each.median) && names.every((name) => each.labels[name] === undefined ||
			each.labels[name] === cell.labels[name]) && each.labels[names[0]] !== undefined);
}

function computedNotes(result, cell, names, wanted) {
	return computedOf(result, cell, names).filter((each) => wanted.includes(each.labels.what))
		.map((each) => `${whatText(each.labels.what)} ${formatComputed(each.median, each.unit)}`);
}

// What is computed of a product and worth a note on its card.
const OF_A_PRODUCT = ['share-of-paper', 'share-of-measured', 'share-per-clock', 'speed-up-kernel', 'speed-up-total'];

// The ladder at the largest size: the fastest kernel first.
function matmulCards(result) {
	const kernels = result.cells.filter((cell) => cell.labels.part === 'kernel' && isRated(cell) && isKnown(cell.labels.n));
	const largest = Math.max(...kernels.map((cell) => cell.labels.n));
	return kernels.filter((cell) => cell.labels.n === largest && cell.source === kernels.find((each) =>
		each.labels.rung === cell.labels.rung && each.labels.n === largest).source)
		.sort((a, b) => b.rate.median - a.rate.median).map((cell, i) =>
			rateCard(`${cell.labels.rung}, n = ${largest}`, cell, i && !result.tables.libraries.includes(cell.labels.rung) ? [] :
				computedNotes(result, cell, ['rung', 'n', 'part'], OF_A_PRODUCT).slice(0, 3)));
}

// ---- overlap

// The greatest gain, the engines, then the gains at the other ratios of kernel and copies.
function overlapCards(result) {
	const computed = (group, what) => result.cells.filter((cell) => cell.labels.group === group && cell.labels.what === what);
	const value = (cells, cycles) => cells.find((cell) => cell.labels.cycles === cycles && !cell.absent && isKnown(cell.median));
	const inSequence = result.cells.filter(({ labels }) => labels.group === 'concurrent' && labels.chunks === 1 && !labels.what);
	const gains = computed('bound', 'speed-up').filter((cell) => !cell.absent && isKnown(cell.median));
	const [best] = gains.slice().sort((a, b) => b.median - a.median);
	const cards = [...(best ? [best] : []), ...gains.filter((gain) => gain !== best)].map((gain) => {
		const share = value(computed('bound', 'share'), gain.labels.cycles);
		const bound = value(computed('bound', 'bound'), gain.labels.cycles);
		// What the speed-up rests on; without it the sum of the stages alone.
		const serial = value(inSequence, gain.labels.cycles) || value(computed('bound', 'serial'), gain.labels.cycles);
		return card(isKnown(gain.labels.cycles) ? `Speed-up at ${gain.labels.cycles} cycles` : 'Speed-up',
			[significant(gain.median), h('span', { class: 'unit' }, ' ×')],
			[share ? `${shareText(share)} of the bound` : null,
				serial && bound ? `one after the other ${formatComputed(serial.median, serial.unit)}, bound ` +
					formatComputed(bound.median, bound.unit) : null]);
	});
	const [revealed] = computed('engines', 'revealed').filter((cell) => isKnown(cell.median));
	const [claimed] = computed('engines', 'claimed');
	if (revealed)
		cards.splice(1, 0, card('Engines at work at once', [brief(revealed.median)],
			[claimed && isKnown(claimed.median) ? `the device claims ${brief(claimed.median)}` : 'the device claims none']));
	return cards;
}

function shareText(cell) {
	return cell.unit === '%' ? `${significant(cell.median)} %` : `${significant(100 * cell.median)} %`;
}
